//! Proximity placement groups and availability sets: kept at once, without operations.

use serde_json::{Value, json};

use super::{members, skus, write};
use crate::{
    call::Call,
    error::ArmError,
    http::{Answer, Method},
    json::{default, items, merge, number, same, set, text},
    routes::common::{self, check_name, location, not_served, put_tags, tags},
    store::{entry::Resource, world::World},
    types::Type,
};

const MACHINE: &str = "Microsoft.Compute/virtualMachines";
const AVAILABILITY_SET: &str = "Microsoft.Compute/availabilitySets";

/// Who can be in a proximity placement group: the list, and the type in it.
const IN_GROUP: [(&str, &str); 3] = [
    ("virtualMachines", MACHINE),
    ("virtualMachineScaleSets", super::scale_set::KIND),
    ("availabilitySets", AVAILABILITY_SET),
];

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let kind = call.path.kind();
    if kind == "availabilitysets/vmsizes" && call.method() == Method::Get {
        let found = common::resource(world, call)?;
        let value = skus::sizes(&found.location);
        return Ok(Answer::json(200, json!({"value": value})));
    }
    if kind != row.path.to_lowercase() {
        return Err(not_served(call));
    }
    match (call.method(), call.path.is_open()) {
        (Method::Get, true) => {
            let size = call.setup.pages.others;
            Ok(super::list(world, call, row, size, |found| {
                show(world, call, found)
            }))
        }
        (Method::Get, false) => {
            common::resource(world, call).map(|found| Answer::json(200, show(world, call, found)))
        }
        (Method::Put, false) => put(world, call, row),
        (Method::Patch, false) => patch(world, call, row),
        (Method::Delete, false) => delete(world, call),
        _ => Err(not_served(call)),
    }
}

/// A group or set as its GET shows it, with who is in it.
fn show(world: &World, call: &Call<'_>, resource: &Resource) -> Value {
    let mut shown = common::base(resource);
    if resource.is(AVAILABILITY_SET) {
        members::show_users(world, resource, &mut shown, &[("virtualMachines", MACHINE)]);
        return shown;
    }
    members::show_users(world, resource, &mut shown, &IN_GROUP);
    let wants_status = call
        .query()
        .get("includeColocationStatus")
        .is_some_and(|flag| same(flag, "true"));
    if wants_status {
        set(
            &mut shown,
            "/properties/colocationStatus",
            json!({
                "code": "ColocationStatus/Aligned",
                "level": "Info",
                "displayStatus": "Aligned",
                "message": "All resources in the proximity placement group are aligned.",
            }),
        );
    }
    shown
}

fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| not_served(call))?;
    let old = world.resource(&id).cloned();
    let place = location(&given, row, old.as_ref())?;
    let tags = tags(&given)?;
    let mut body = given;
    // Both list who is in them, which a request does not decide.
    crate::json::remove(&mut body, "/properties/virtualMachines");
    set(&mut body, "/location", json!(place));
    put_tags(&mut body, tags);
    if let Some(old) = &old {
        fixed(old, &body)?;
        let tags = body.get("tags").cloned();
        let mut merged = old.body.clone();
        if body.pointer("/properties/intent").is_some() {
            crate::json::remove(&mut merged, "/properties/intent");
        }
        crate::json::remove(&mut merged, "/tags");
        merge(&mut merged, &body);
        body = merged;
        if let Some(tags) = tags {
            set(&mut body, "/tags", tags);
        }
    }
    members::check_references(world, &body, id.name())?;
    let mut made = old
        .clone()
        .unwrap_or_else(|| common::new(world, id, row, &place, Value::Null));
    made.body = body;
    complete(&mut made)?;
    made.changed = world.now();
    // Recorded: availability sets answer 200 to their creation too.
    let created = old.is_none() && !made.is(AVAILABILITY_SET);
    let answer = Answer::json(if created { 201 } else { 200 }, common::base(&made));
    world.put_resource(made);
    Ok(answer)
}

fn patch(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let given = call.body(row)?;
    let mut found = common::resource(world, call)?.clone();
    fixed(&found, &given)?;
    merge(&mut found.body, &given);
    if let Some(tags) = tags(&given)? {
        put_tags(&mut found.body, Some(tags));
    }
    members::check_references(world, &found.body, found.name())?;
    found.changed = world.now();
    let answer = Answer::json(200, show(world, call, &found));
    world.put_resource(found);
    Ok(answer)
}

/// Checks and fills in what Azure fills in.
fn complete(made: &mut Resource) -> Result<(), ArmError> {
    if !made.is(AVAILABILITY_SET) {
        default(
            &mut made.body,
            "/properties/proximityPlacementGroupType",
            "Standard",
        );
        return Ok(());
    }
    default(&mut made.body, "/sku/name", "Classic");
    default(&mut made.body, "/properties/platformUpdateDomainCount", 5);
    default(&mut made.body, "/properties/platformFaultDomainCount", 2);
    for (member, most) in [
        ("platformUpdateDomainCount", 20),
        ("platformFaultDomainCount", 3),
    ] {
        let place = format!("/properties/{member}");
        if !number(&made.body, &place).is_some_and(|count| (1..=most).contains(&count)) {
            return Err(ArmError::invalid_parameter(
                member,
                format!(
                    "The specified value for '{member}' is not valid. The value must be in the \
                     range 1 to {most}."
                ),
            ));
        }
    }
    made.hidden.quota.insert("availabilitySets".to_owned(), 1);
    Ok(())
}

fn fixed(old: &Resource, given: &Value) -> Result<(), ArmError> {
    for (place, name) in [
        ("/zones", "zones"),
        (
            "/properties/proximityPlacementGroupType",
            "proximityPlacementGroupType",
        ),
        (
            "/properties/platformFaultDomainCount",
            "platformFaultDomainCount",
        ),
        (
            "/properties/platformUpdateDomainCount",
            "platformUpdateDomainCount",
        ),
    ] {
        let wanted = given.pointer(place).filter(|wanted| !wanted.is_null());
        let same_as_before = match (wanted, old.body.pointer(place)) {
            (None, _) => true,
            (Some(Value::String(wanted)), Some(Value::String(had))) => same(wanted, had),
            (Some(wanted), Some(had)) => wanted == had,
            (Some(Value::Array(wanted)), None) => wanted.is_empty(),
            (Some(_), None) => false,
        };
        if !same_as_before {
            return Err(ArmError::property_change(name));
        }
    }
    Ok(())
}

fn delete(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let Some(found) = super::existing(world, call) else {
        return Ok(Answer::empty(204));
    };
    if found.is(AVAILABILITY_SET) {
        if !members::users_of(world, &found, MACHINE).is_empty() {
            return Err(ArmError::not_allowed(format!(
                "Availability Set '{}' cannot be deleted. Before deleting an Availability Set \
                 please ensure that it does not contain any VM.",
                found.name()
            )));
        }
    } else {
        members::check_unused(world, &found, "Proximity placement group")?;
    }
    Ok(write::remove(world, &found))
}

/// Whether a VM's size and zone are among those that its placement group is meant for.
pub(crate) fn check_intent(world: &World, body: &Value) -> Result<(), ArmError> {
    let group = text(body, "/properties/proximityPlacementGroup/id")
        .and_then(|id| world.resource_by_key(&id.to_lowercase()));
    let Some(group) = group else {
        return Ok(());
    };
    let zone = items(body, "/zones").first();
    let meant = items(&group.body, "/zones").first();
    if let (Some(meant), Some(zone)) = (meant, zone)
        && meant != zone
    {
        return Err(ArmError::new(
            400,
            "BadRequest",
            format!(
                "The zone {zone} is not the zone {meant} of proximity placement group '{}'.",
                group.name()
            ),
        ));
    }
    Ok(())
}

/// Documented: a VM on its hardware stays in its placement group. The text follows similar
/// refusals.
pub(crate) fn check_move(old: &Resource, body: &Value) -> Result<(), ArmError> {
    let group = "/properties/proximityPlacementGroup/id";
    let (had, wanted) = (text(&old.body, group), text(body, group));
    let stays = match (had, wanted) {
        (Some(had), Some(wanted)) => same(had, wanted),
        (had, wanted) => had.is_some() == wanted.is_some(),
    };
    let machine = old.hidden.machine.as_ref();
    if stays || !machine.is_some_and(crate::store::entry::Machine::is_allocated) {
        return Ok(());
    }
    Err(ArmError::not_allowed(
        "Updating proximity placement group of VM is not allowed while the VM is running. Please \
         stop/deallocate the VM and retry the operation.",
    )
    .with_target("proximityPlacementGroup"))
}
