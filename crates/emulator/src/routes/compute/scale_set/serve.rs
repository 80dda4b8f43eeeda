//! Which request on scale sets is which, and their lists.

use serde_json::{Value, json};

use super::{
    KIND, action, create, extension, flexible,
    instance::{self, Seen},
    interfaces::{interfaces, public_addresses},
    is_flexible, view,
};
use crate::{
    call::Call,
    catalogue,
    error::ArmError,
    gateway,
    http::{Answer, Method},
    json::{flag, remove, same, set, text},
    odata::Filter,
    routes::{
        common::{self, not_served, page, skip},
        compute::{self, machine},
    },
    store::{entry::Resource, world::World},
    types::Type,
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let kind = call.path.kind();
    let rest = kind.trim_start_matches("virtualmachinescalesets");
    match (call.method(), rest, call.path.is_open()) {
        (Method::Get, "", true) => {
            let size = call.setup.pages.others;
            Ok(compute::list(world, call, row, size, |set| {
                view::show(call, set)
            }))
        }
        (Method::Get, "", false) => common::resource(world, call).map(|set| get(call, set)),
        (Method::Put, "", false) => create::put(world, call, row),
        (Method::Patch, "", false) => create::patch(world, call, row),
        (Method::Delete, "", false) => action::delete(world, call),
        (Method::Get, "/instanceview", true) => {
            set_of(world, call).map(|set| Answer::json(200, view::instance_view(world, set)))
        }
        (Method::Get, "/skus", true) => set_of(world, call).map(sizes),
        (Method::Get, "/osupgradehistory", true) => {
            set_of(world, call).map(|_| Answer::json(200, json!({"value": []})))
        }
        (Method::Get, "/virtualmachines", true) => list(world, call),
        (Method::Get, "/virtualmachines", false) => one(world, call),
        (Method::Put, "/virtualmachines", false) => put_instance(world, call, row),
        (Method::Delete, "/virtualmachines", false) => action::delete_instance(world, call),
        (Method::Get, "/virtualmachines/instanceview", true) => instance_view(world, call),
        (
            Method::Get,
            "/networkinterfaces"
            | "/virtualmachines/networkinterfaces"
            | "/virtualmachines/networkinterfaces/ipconfigurations",
            _,
        ) => interfaces(world, call),
        (
            Method::Get,
            "/publicipaddresses"
            | "/virtualmachines/networkinterfaces/ipconfigurations/publicipaddresses",
            true,
        ) => public_addresses(world, call),
        (_, "/extensions", _) => extension::answer(world, call, row),
        (Method::Post, _, true) if rest.starts_with("/virtualmachines/") => {
            action::on_instance(world, call)
        }
        (Method::Post, _, true) => action::on_set(world, call),
        _ => Err(not_served(call)),
    }
}

/// The set that a path names, whatever stands behind it.
pub(crate) fn set_of<'a>(world: &'a World, call: &Call<'_>) -> Result<&'a Resource, ArmError> {
    let name = call.path.name(0);
    let id =
        model::ids::ArmId::resource_group(call.subscription(), call.group()).in_group(KIND, name);
    world
        .resource(&id)
        .ok_or_else(|| match world.tombstone(&id, call.now) {
            Some(_) => missing(),
            None => gateway::not_found(KIND, name, call.group()),
        })
}

pub(crate) fn missing() -> ArmError {
    ArmError::new(
        404,
        "NotFound",
        "The entity was not found in this Azure location.",
    )
}

/// The instance of a Uniform set with this id.
pub(crate) fn instance_of<'a>(set: &'a Resource, id: &str) -> Result<Seen<'a>, ArmError> {
    Seen::find(set, id).ok_or_else(missing)
}

fn expands(call: &Call<'_>, what: &str) -> bool {
    let query = call.query();
    query
        .get("$expand")
        .unwrap_or_default()
        .to_lowercase()
        .contains(what)
}

fn get(call: &Call<'_>, set_: &Resource) -> Answer {
    let mut shown = view::show(call, set_);
    let data = set_
        .hidden
        .scale_set
        .as_deref()
        .and_then(|hidden| hidden.latest()?.user_data.clone());
    if expands(call, "userdata")
        && let Some(data) = data
    {
        let place = format!("{}/userData", super::profile::PLACE);
        set(&mut shown, &place, json!(data));
    }
    tagged(shown)
}

/// An answer with the etag of its body in the header too.
fn tagged(shown: Value) -> Answer {
    machine::update::with_etag(Answer::json(200, shown))
}

/// Recorded: every size that the region offers, with how many instances a set of it can have.
fn sizes(set: &Resource) -> Answer {
    let single = flag(&set.body, "/properties/singlePlacementGroup") == Some(true);
    let most = if single { 100 } else { 1_000 };
    let value: Vec<Value> = catalogue::offers(&set.location)
        .into_iter()
        .flat_map(model::catalog::RegionOffers::iter)
        .map(|offer| {
            json!({
                "resourceType": KIND,
                "sku": {"name": offer.size.as_str(), "tier": "Standard"},
                "capacity": {
                    "minimum": 0, "maximum": most, "defaultCapacity": 1, "scaleType": "Automatic",
                },
            })
        })
        .collect();
    Answer::json(200, json!({"value": value}))
}

fn one(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let set_ = set_of(world, call)?;
    let id = call.path.name(1);
    if is_flexible(&set_.body) {
        let vm = flexible::named(world, set_, id).ok_or_else(missing)?;
        return Ok(tagged(machine_as_instance(call, vm)));
    }
    let seen = instance_of(set_, id)?;
    let mut shown = instance::show(call, seen);
    if expands(call, "userdata")
        && let Some(data) = instance::user_data(seen)
    {
        set(&mut shown, "/properties/userData", data);
    }
    if expands(call, "instanceview") {
        set(&mut shown, "/properties/instanceView", instance::view(seen));
        return Ok(Answer::json(200, shown));
    }
    Ok(tagged(shown))
}

/// A VM of a Flexible set in the list of instances.
fn machine_as_instance(call: &Call<'_>, vm: &Resource) -> Value {
    let mut shown = machine::view::show(call, vm);
    set(&mut shown, "/instanceId", json!(vm.name()));
    // An instance of the schema does not say what it is one of.
    remove(&mut shown, "/properties/virtualMachineScaleSet");
    shown
}

fn instance_view(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let set_ = set_of(world, call)?;
    let id = call.path.name(1);
    if is_flexible(&set_.body) {
        let vm = flexible::named(world, set_, id).ok_or_else(missing)?;
        return Ok(Answer::json(200, machine::view::instance(vm)));
    }
    Ok(Answer::json(200, instance::view(instance_of(set_, id)?)))
}

/// The list of instances.
fn list(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let set_ = set_of(world, call)?;
    let filter = match call.query().get("$filter") {
        Some(filter) => Some(
            Filter::parse(filter)
                .map_err(|error| ArmError::invalid_parameter("$filter", error.to_string()))?,
        ),
        None => None,
    };
    let size = call.setup.pages.virtual_machines;
    let after = skip(call);
    if is_flexible(&set_.body) {
        let items = flexible::machines_after(world, set_, after.as_deref())
            .map(|vm| (vm.id.key().to_owned(), machine_as_instance(call, vm)));
        return Ok(page(call, items, size));
    }
    let after: Option<u64> = after.and_then(|after| after.parse().ok());
    let selects = call
        .query()
        .get("$select")
        .is_some_and(|select| select.to_lowercase().contains("instanceview"));
    let views = expands(call, "instanceview");
    let items = Seen::all(set_)
        .filter(|seen| after.is_none_or(|after| seen.id > after))
        .filter(|seen| filter.as_ref().is_none_or(|filter| fits(*seen, filter)))
        .map(|seen| {
            (
                seen.id.to_string(),
                shown_in_list(call, seen, views, selects),
            )
        });
    Ok(page(call, items, size))
}

fn fits(seen: Seen<'_>, filter: &Filter) -> bool {
    filter.fits(&|field| {
        let field = field.to_lowercase();
        if field.ends_with("latestmodelapplied") {
            return Some((seen.instance.model == seen.hidden.model).to_string());
        }
        if field.ends_with("provisioningstate") {
            return Some(seen.instance.state.as_str().to_owned());
        }
        None
    })
}

fn shown_in_list(call: &Call<'_>, seen: Seen<'_>, views: bool, selects: bool) -> Value {
    let mut full = instance::show(call, seen);
    if !views {
        return full;
    }
    let view = instance::view(seen);
    if !selects {
        set(&mut full, "/properties/instanceView", view);
        return full;
    }
    // Recorded: a selection leaves little beside the view.
    json!({
        "id": seen.arm_id().as_str(),
        "instanceId": seen.id.to_string(),
        "properties": {
            "latestModelApplied": seen.instance.model == seen.hidden.model,
            "instanceView": view,
            "provisioningState": seen.instance.state.as_str(),
            "hardwareProfile": {},
        },
    })
}

/// What a body sets on an instance alone.
fn own_parts(given: &Value) -> Result<Value, ArmError> {
    let mut own = json!({});
    if let Some(tags) = common::tags(given)? {
        set(&mut own, "/tags", json!(tags));
    }
    for member in ["userData", "protectionPolicy"] {
        let place = format!("/properties/{member}");
        // Recorded: an empty policy is not shown again.
        let given = given.pointer(&place).filter(|value| **value != json!({}));
        if let Some(value) = given {
            set(&mut own, &place, value.clone());
        }
    }
    Ok(own)
}

/// Sets on an instance what can be set on one alone: tags, user data and protection.
fn put_instance(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let given = call.body(row)?;
    let set_ = set_of(world, call)?.clone();
    let seen = instance_of(&set_, call.path.name(1))?;
    let now_shown = instance::show(call, seen);
    for (place, name) in [
        (
            "/properties/hardwareProfile/vmSize",
            "hardwareProfile.vmSize",
        ),
        ("/properties/osProfile/adminUsername", "adminUsername"),
        ("/properties/osProfile/computerName", "computerName"),
    ] {
        let (wanted, had) = (text(&given, place), text(&now_shown, place));
        if wanted.is_some_and(|wanted| !had.is_some_and(|had| same(had, wanted))) {
            return Err(ArmError::property_change(name));
        }
    }
    let disks =
        |body: &Value| crate::json::items(body, "/properties/storageProfile/dataDisks").len();
    if disks(&given) != disks(&now_shown) {
        return Err(ArmError::new(
            501,
            "NotServedBySandbox",
            "The sandbox attaches no disks to instances of Uniform scale sets.",
        ));
    }
    let id = seen.id;
    let own = own_parts(&given)?;
    let user_data = own.pointer("/properties/userData").is_some();
    let operation = action::begin_update(world, call, &set_, id);
    world.change(&set_.id, |set_| {
        let hidden = set_.hidden.scale_set.as_mut();
        if let Some(instance) = hidden.and_then(|hidden| hidden.instances.get_mut(&id)) {
            instance.own = Some(own);
            instance.state = crate::store::scale_set::Provisioning::Updating;
            instance.operation = Some(operation.number);
            instance.etag += 1;
        }
    });
    let set_ = set_of(world, call)?;
    let mut shown = instance::show(call, instance_of(set_, &id.to_string())?);
    if user_data {
        // Recorded: shown until the operation has ended.
        set(&mut shown, "/properties/latestModelApplied", json!(false));
    }
    Ok(crate::lro::announce(
        tagged(shown),
        call,
        &operation,
        crate::lro::Twin::No,
        None,
    ))
}
