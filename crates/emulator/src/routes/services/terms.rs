//! The terms of marketplace plans, per subscription, and whether a VM may have a plan.

use model::ids::ArmId;
use serde_json::{Value, json};

use crate::{
    call::Call,
    error::ArmError,
    http::{Answer, Method},
    json::{flag, set, text},
    routes::common::{self, not_served},
    store::{entry::Resource, world::World},
    text::Seeded,
    types,
};

const KIND: &str = "Microsoft.MarketplaceOrdering/agreements";

/// A plan of an offer of a publisher.
struct Offered<'a> {
    publisher: &'a str,
    offer: &'a str,
    plan: &'a str,
}

impl Offered<'_> {
    /// Where it is kept what a subscription thinks of it.
    fn id(&self, subscription: &str) -> Option<ArmId> {
        format!(
            "/subscriptions/{subscription}/providers/{KIND}/{}/offers/{}/plans/{}",
            self.publisher, self.offer, self.plan
        )
        .parse()
        .ok()
    }

    fn accepted(&self, world: &World, subscription: &str) -> bool {
        self.id(subscription)
            .and_then(|id| world.resource(&id))
            .is_some_and(|kept| flag(&kept.body, "/properties/accepted") == Some(true))
    }
}

/// Answers a request on terms: in the newer form below `offerTypes`, in the older one below
/// `agreements`.
pub(super) fn answer(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let name = |at: usize| call.path.name(at);
    let kind = call.path.kind();
    let open = call.path.is_open();
    if kind == "offertypes/publishers/offers/plans/agreements" && !open {
        let plan = Offered {
            publisher: name(1),
            offer: name(2),
            plan: name(3),
        };
        return current(world, call, &plan);
    }
    if kind == "agreements" && open && call.method() == Method::Get {
        return Ok(list(world, call));
    }
    let plan = Offered {
        publisher: name(0),
        offer: name(1),
        plan: name(2),
    };
    let action = kind.strip_prefix("agreements/offers/plans");
    match (call.method(), action) {
        (Method::Get, Some("")) if !open => {}
        (Method::Post, Some("/sign")) => keep(world, call, &plan, true),
        (Method::Post, Some("/cancel")) => keep(world, call, &plan, false),
        _ => return Err(not_served(call)),
    }
    plan.id(call.subscription())
        .and_then(|id| world.resource(&id))
        .map(|kept| Answer::json(200, older(kept)))
        .ok_or_else(|| {
            ArmError::new(
                404,
                "NotFound",
                "The subscription has no agreement for this plan.",
            )
        })
}

fn current(world: &mut World, call: &Call<'_>, plan: &Offered<'_>) -> Result<Answer, ArmError> {
    match call.method() {
        Method::Get => {}
        Method::Put => {
            let row = types::named(
                "Microsoft.MarketplaceOrdering/offerTypes/publishers/offers/plans/agreements",
            );
            let given = call.body(row.ok_or_else(|| not_served(call))?)?;
            let accepted = flag(&given, "/properties/accepted").unwrap_or(false);
            keep(world, call, plan, accepted);
        }
        Method::Head | Method::Patch | Method::Post | Method::Delete | Method::Other => {
            return Err(not_served(call));
        }
    }
    Ok(Answer::json(200, show(world, call, plan)))
}

fn list(world: &World, call: &Call<'_>) -> Answer {
    let value: Vec<Value> = world
        .of_kind(call.subscription(), KIND, None)
        .map(older)
        .collect();
    Answer::json(200, json!({"value": value}))
}

/// An agreement in the older form.
fn older(kept: &Resource) -> Value {
    let accepted = flag(&kept.body, "/properties/accepted") == Some(true);
    let (state, day) = if accepted {
        ("Active", "signDate")
    } else {
        ("Canceled", "cancelDate")
    };
    let mut shown = json!({
        "id": kept.id.as_str(),
        "name": kept.name(),
        "type": KIND,
        "properties": {
            "publisher": text(&kept.body, "/properties/publisher"),
            "offer": text(&kept.body, "/properties/product"),
            "state": state,
        },
    });
    let changed = kept.changed.precise();
    set(&mut shown, &format!("/properties/{day}"), json!(changed));
    shown
}

fn keep(world: &mut World, call: &Call<'_>, plan: &Offered<'_>, accepted: bool) {
    let (Some(id), Some(row)) = (plan.id(call.subscription()), types::named(KIND)) else {
        return;
    };
    let body = json!({"properties": {
        "publisher": plan.publisher, "product": plan.offer, "plan": plan.plan,
        "accepted": accepted,
    }});
    let kept = common::new(world, id, row, "", body);
    world.put_resource(kept);
}

/// The terms of a plan. The links lead nowhere; the texts behind real ones are not known here.
fn show(world: &World, call: &Call<'_>, plan: &Offered<'_>) -> Value {
    let Offered {
        publisher,
        offer,
        plan: name,
    } = plan;
    let words = format!("{publisher} {offer} {name}").to_lowercase();
    let mut stream = Seeded::of_text(call.setup.seed, &words);
    let caller = Seeded::of_text(call.setup.seed, "caller").guid();
    let now = world.now().precise();
    // Recorded: the answer to a PUT has the type where the kind of offer should stand.
    let kind = if call.setup.quirks && call.method() == Method::Put {
        "Microsoft.MarketplaceOrdering/offertypes"
    } else {
        "VirtualMachine"
    };
    let link = |what: &str| {
        format!("https://sandbox.example/{what}/{publisher}/{offer}/{name}").to_lowercase()
    };
    let mut shown = json!({
        "id": format!(
            "/subscriptions/{}/providers/Microsoft.MarketplaceOrdering/offerTypes/{kind}/publishers/{publisher}/offers/{offer}/plans/{name}/agreements/current",
            call.subscription()
        ),
        "name": name,
        "type": "Microsoft.MarketplaceOrdering/offertypes",
        "properties": {
            "publisher": publisher,
            "product": offer,
            "plan": name,
            "licenseTextLink": link("license"),
            "privacyPolicyLink": link("privacy"),
            "marketplaceTermsLink": link("terms"),
            "retrieveDatetime": now,
            "signature": stream.letters(102).to_uppercase(),
            "accepted": plan.accepted(world, call.subscription()),
        },
    });
    for member in ["created", "lastModified"] {
        for (end, value) in [
            ("By", &caller),
            ("ByType", &"ManagedIdentity".to_owned()),
            ("At", &now),
        ] {
            set(
                &mut shown,
                &format!("/systemData/{member}{end}"),
                json!(value),
            );
        }
    }
    shown
}

/// Refuses a VM with a plan whose terms the subscription has not accepted.
pub(crate) fn check(world: &World, call: &Call<'_>, body: &Value) -> Result<(), ArmError> {
    let Some(given) = body.get("plan").filter(|plan| plan.is_object()) else {
        return Ok(());
    };
    let of = |member: &str| text(given, &format!("/{member}")).unwrap_or_default();
    let plan = Offered {
        publisher: of("publisher"),
        offer: of("product"),
        plan: of("name"),
    };
    let subscription = call.subscription();
    if plan.accepted(world, subscription) {
        return Ok(());
    }
    let correlation = Seeded::of_text(call.setup.seed, &call.now.precise()).guid();
    Err(ArmError::new(
        400,
        "ResourcePurchaseValidationFailed",
        format!(
            "User failed validation to purchase resources. Error message: 'You have not accepted \
             the legal terms on this subscription: '{subscription}' for this plan. Before the \
             subscription can be used, you need to accept the legal terms of the image. To read \
             and accept legal terms, use the Azure CLI commands described at \
             https://go.microsoft.com/fwlink/?linkid=2110637 or the PowerShell commands available \
             at https://go.microsoft.com/fwlink/?linkid=862451. Alternatively, deploying via the \
             Azure portal provides a UI experience for reading and accepting the legal terms. \
             Offer details: publisher='{}' offer = '{}', sku = '{}', Correlation Id: \
             '{correlation}'.'",
            plan.publisher, plan.offer, plan.plan
        ),
    ))
}
