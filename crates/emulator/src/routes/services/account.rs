//! Accounts of Batch, and what Batch says of a region.

use serde_json::{Value, json};

use super::serve::Draft;
use crate::{
    call::Call,
    catalogue,
    error::ArmError,
    http::{Answer, Method},
    json::{default, remove, same, set, text},
    routes::{
        common::{self, not_served},
        compute::{region_of, skus},
    },
    store::{entry::Resource, world::World},
    text::Seeded,
};

const KIND: &str = "Microsoft.Batch/batchAccounts";

/// Accounts that a subscription may have in a region, as recorded.
const ACCOUNTS: u64 = 1_000;

/// Virtual CPUs that a new account may use, of each kind; generous on purpose.
const CORES: u64 = 100_000;

/// The names of all limits.
pub(crate) const LIMITS: [&str; 4] = [
    "batchAccounts",
    "batchPools",
    "batchDedicatedCores",
    "batchLowPriorityCores",
];

/// A limit of an account or of its region: the world's, or the usual one.
pub(super) fn limit(world: &World, subscription: &str, location: &str, name: &str) -> u64 {
    let usual = match name {
        "batchAccounts" => ACCOUNTS,
        "batchPools" => 100,
        _ => CORES,
    };
    world
        .quota(subscription, location, name)
        .map_or(usual, |quota| quota.limit)
}

/// The body of an account.
pub(super) fn build(
    world: &mut World,
    call: &Call<'_>,
    draft: &mut Draft,
) -> Result<Value, ArmError> {
    if draft.old.is_none() {
        check_new(world, call, draft)?;
    }
    let mut body = draft.given.clone();
    let properties = "/properties";
    default(
        &mut body,
        &format!("{properties}/publicNetworkAccess"),
        "Enabled",
    );
    let mode = draft
        .kept("/properties/poolAllocationMode")
        .unwrap_or_else(|| {
            let given = text(&draft.given, "/properties/poolAllocationMode");
            json!(given.unwrap_or("BatchService"))
        });
    set(&mut body, &format!("{properties}/poolAllocationMode"), mode);
    default(
        &mut body,
        "/properties/encryption/keySource",
        "Microsoft.Batch",
    );
    default(
        &mut body,
        "/properties/allowedAuthenticationModes",
        json!(["SharedKey", "AAD", "TaskAuthenticationToken"]),
    );
    if text(&body, "/properties/autoStorage/storageAccountId").is_some() {
        let now = world.now().precise();
        default(
            &mut body,
            "/properties/autoStorage/authenticationMode",
            "StorageKeys",
        );
        default(&mut body, "/properties/autoStorage/lastKeySync", now);
    }
    identify(world, &mut body, draft)?;
    let node = draft
        .kept("/properties/nodeManagementEndpoint")
        .unwrap_or_else(|| {
            let place = &draft.place;
            json!(format!("{}.{place}.service.batch.azure.com", world.mint()))
        });
    set(&mut body, "/properties/nodeManagementEndpoint", node);
    set(
        &mut body,
        "/properties/provisioningState",
        json!("Succeeded"),
    );
    if let Some(keys) = draft.kept("/keyGenerations") {
        set(&mut body, "/keyGenerations", keys);
    }
    draft.quota.insert("batchAccounts".to_owned(), 1);
    Ok(body)
}

fn identify(world: &mut World, body: &mut Value, draft: &Draft) -> Result<(), ArmError> {
    default(body, "/identity/type", "None");
    if text(body, "/identity/type").is_some_and(|kind| !same(kind, "None")) {
        let old = draft.old.as_ref().map(|old| &old.body);
        crate::routes::compute::machine::profile::identify(world, &draft.id, body, old)?;
    }
    Ok(())
}

fn check_new(world: &World, call: &Call<'_>, draft: &Draft) -> Result<(), ArmError> {
    if let Some(message) = taken(world, &draft.place, draft.id.name()) {
        return Err(ArmError::new(409, "AccountAlreadyExists", message));
    }
    let subscription = call.subscription();
    let most = limit(world, subscription, &draft.place, "batchAccounts");
    if world.usage(subscription, &draft.place, "batchAccounts") >= most {
        return Err(ArmError::new(
            409,
            "SubscriptionQuotaExceeded",
            format!(
                "The regional Account quota of {most} Batch Accounts for the specified \
                 subscription has been reached."
            ),
        ));
    }
    let storage = text(&draft.given, "/properties/autoStorage/storageAccountId");
    match storage {
        Some(id) if world.resource_by_key(&id.to_lowercase()).is_none() => Err(ArmError::new(
            400,
            "InvalidRequestBody",
            format!("The specified storage account '{id}' does not exist."),
        )),
        Some(_) | None => Ok(()),
    }
}

/// What Batch says where a name is in use in a region, by whatever subscription.
fn taken(world: &World, location: &str, name: &str) -> Option<String> {
    let used = world.subscriptions().any(|subscription| {
        world
            .of_kind(&subscription.id, KIND, None)
            .any(|account| same(account.name(), name) && same(&account.location, location))
    });
    used.then(|| format!("An account named '{name}' is already in use."))
}

/// The account as its GET shows it.
pub(super) fn show(world: &World, call: &Call<'_>, account: &Resource) -> Value {
    let mut shown = common::base(account);
    remove(&mut shown, "/keyGenerations");
    let location = &account.location;
    let subscription = account.id.subscription().unwrap_or_default();
    let of = |name: &str| limit(world, subscription, location, name);
    // Recorded for neither; Microsoft's documentation: nodes count against the subscription then.
    let own = text(&shown, "/properties/poolAllocationMode") != Some("UserSubscription");
    let cores = of("batchDedicatedCores");
    let families: Vec<Value> = catalogue::families()
        .into_iter()
        .map(|family| json!({"name": family.name, "coreQuota": cores}))
        .collect();
    for (member, value) in [
        (
            "accountEndpoint",
            json!(format!("{}.{location}.batch.azure.com", account.name())),
        ),
        ("dedicatedCoreQuota", json!(cores)),
        ("dedicatedCoreQuotaPerVMFamily", json!(families)),
        ("dedicatedCoreQuotaPerVMFamilyEnforced", json!(true)),
        ("lowPriorityCoreQuota", json!(of("batchLowPriorityCores"))),
        ("poolQuota", json!(of("batchPools"))),
        ("activeJobAndJobScheduleQuota", json!(300)),
        ("privateEndpointConnections", json!([])),
    ] {
        set(&mut shown, &format!("/properties/{member}"), value);
    }
    for member in [
        "dedicatedCoreQuota",
        "dedicatedCoreQuotaPerVMFamily",
        "dedicatedCoreQuotaPerVMFamilyEnforced",
        "lowPriorityCoreQuota",
    ] {
        if !own {
            remove(&mut shown, &format!("/properties/{member}"));
        }
    }
    for (member, since) in [
        ("allowedAuthenticationModes", "2021-06-01"),
        ("nodeManagementEndpoint", "2022-10-01"),
    ] {
        if !call.since(since) {
            remove(&mut shown, &format!("/properties/{member}"));
        }
    }
    shown
}

/// The actions of an account: its keys.
pub(super) fn act(
    world: &mut World,
    call: &Call<'_>,
    account: Resource,
    action: &str,
) -> Result<Answer, ArmError> {
    let mut account = account;
    match action {
        "listkeys" => {}
        "regeneratekeys" => {
            let given = crate::body::read(&call.incoming.text())?;
            let wanted = text(&given, "/keyName").unwrap_or_default();
            let name = ["Primary", "Secondary"]
                .into_iter()
                .find(|name| same(name, wanted))
                .ok_or_else(|| {
                    ArmError::new(
                        400,
                        "InvalidRequestBody",
                        format!("The key '{wanted}' is neither 'Primary' nor 'Secondary'."),
                    )
                })?;
            let place = format!("/keyGenerations/{name}");
            let count = crate::json::number(&account.body, &place).unwrap_or(0) + 1;
            set(&mut account.body, &place, json!(count));
            world.put_resource(account.clone());
        }
        "syncautostoragekeys" => return Ok(Answer::empty(204)),
        _ => return Err(not_served(call)),
    }
    let key = |name: &str| {
        let count = crate::json::number(&account.body, &format!("/keyGenerations/{name}"));
        let text = format!("{} {name} {}", account.id.key(), count.unwrap_or(0));
        let mut key = Seeded::of_text(call.setup.seed, &text)
            .base64(86)
            .replace('-', "+")
            .replace('_', "/");
        key.push_str("==");
        key
    };
    Ok(Answer::json(
        200,
        json!({
            "accountName": account.name(),
            "primary": key("Primary"),
            "secondary": key("Secondary"),
        }),
    ))
}

/// What Batch says of a region.
pub(super) fn location(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let region = region_of(call)?;
    match (call.method(), call.path.kind().as_str()) {
        (Method::Get, "locations/quotas") => {
            let quota = limit(world, call.subscription(), region, "batchAccounts");
            Ok(Answer::json(200, json!({"accountQuota": quota})))
        }
        (Method::Get, "locations/virtualmachineskus") => {
            Ok(Answer::json(200, json!({"value": sizes(region)})))
        }
        (Method::Post, "locations/checknameavailability") => {
            let given = crate::body::read(&call.incoming.text())?;
            let name = text(&given, "/name").unwrap_or_default();
            Ok(Answer::json(200, available(world, region, name)))
        }
        _ => Err(not_served(call)),
    }
}

fn available(world: &World, region: &str, name: &str) -> Value {
    let rule = crate::types::named(KIND).and_then(|row| row.names);
    let invalid = rule.and_then(|rule| rule.check(name).err());
    if let Some(error) = invalid {
        return json!({
            "nameAvailable": false, "reason": "Invalid", "message": error.message,
        });
    }
    match taken(world, region, name) {
        Some(message) => {
            json!({"nameAvailable": false, "reason": "AlreadyExists", "message": message})
        }
        None => json!({"nameAvailable": true}),
    }
}

/// The sizes of a region that pools can have: all that it offers.
fn sizes(region: &str) -> Vec<Value> {
    catalogue::offers(region)
        .into_iter()
        .flat_map(model::catalog::RegionOffers::iter)
        .filter_map(|offer| {
            let size = catalogue::size(offer.size.as_str())?;
            let mut shown = json!({
                "name": size.name.as_str(),
                "capabilities": skus::capabilities(size, offer),
            });
            if let Some(family) = &size.family {
                set(&mut shown, "/familyName", json!(family.as_str()));
            }
            Some(shown)
        })
        .collect()
}
