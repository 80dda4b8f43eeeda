//! What VMs and scale sets belong to, and what cannot go while something belongs to it.

use serde_json::{Value, json};

use crate::{
    error::ArmError,
    json::{set, text},
    store::{entry::Resource, world::World},
};

/// Where a body may name something that it belongs to, and the type of that.
const BELONGS: [(&str, &str); 6] = [
    ("availabilitySet", "Microsoft.Compute/availabilitySets"),
    (
        "virtualMachineScaleSet",
        "Microsoft.Compute/virtualMachineScaleSets",
    ),
    (
        "proximityPlacementGroup",
        "Microsoft.Compute/proximityPlacementGroups",
    ),
    ("host", "Microsoft.Compute/hostGroups/hosts"),
    ("hostGroup", "Microsoft.Compute/hostGroups"),
    (
        "capacityReservation/capacityReservationGroup",
        "Microsoft.Compute/capacityReservationGroups",
    ),
];

/// Things that a body says it belongs to must be there, of their type and in the same region.
pub(crate) fn check_references(world: &World, body: &Value, name: &str) -> Result<(), ArmError> {
    for (member, kind) in BELONGS {
        for place in ["/properties", "/properties/virtualMachineProfile"] {
            let Some(id) = text(body, &format!("{place}/{member}/id")) else {
                continue;
            };
            check_reference(world, body, name, (member, kind), id)?;
        }
    }
    Ok(())
}

fn check_reference(
    world: &World,
    body: &Value,
    name: &str,
    (member, kind): (&str, &str),
    id: &str,
) -> Result<(), ArmError> {
    let target = member.split('/').next_back().unwrap_or(member);
    let found = world
        .resource_by_key(&id.to_lowercase())
        .filter(|found| found.is(kind));
    let Some(found) = found else {
        return Err(ArmError::new(
            404,
            "NotFound",
            format!("The resource '{id}' that '{name}' names is not found."),
        )
        .with_target(target));
    };
    let location = text(body, "/location").unwrap_or_default();
    if !found.location.eq_ignore_ascii_case(location) {
        return Err(ArmError::new(
            400,
            "BadRequest",
            format!(
                "The resource '{id}' is in location '{}', and '{name}' which names it is in \
                 location '{location}'.",
                found.location
            ),
        )
        .with_target(target));
    }
    Ok(())
}

/// Documented: how many VMs an availability set has at most.
const AVAILABILITY_SET: usize = 200;

/// Refuses a VM that its availability set has no room for.
pub(crate) fn check_room(world: &World, body: &Value) -> Result<(), ArmError> {
    let set = text(body, "/properties/availabilitySet/id")
        .and_then(|id| world.resource_by_key(&id.to_lowercase()));
    let Some(set) = set else {
        return Ok(());
    };
    let count = users_of(world, set, "Microsoft.Compute/virtualMachines").len();
    if count < AVAILABILITY_SET {
        return Ok(());
    }
    Err(ArmError::not_allowed(format!(
        "The maximum number of virtual machines allowed in availability set '{}' is \
         {AVAILABILITY_SET}.",
        set.name()
    )))
}

/// References to all users of a resource that are of this type.
pub(crate) fn users_of(world: &World, resource: &Resource, kind: &str) -> Vec<Value> {
    world
        .users(resource.id.key())
        .filter(|user| user.is(kind))
        .map(|user| json!({"id": user.id.as_str()}))
        .collect()
}

/// Shows who belongs to a resource, list by list.
pub(crate) fn show_users(
    world: &World,
    resource: &Resource,
    shown: &mut Value,
    lists: &[(&str, &str)],
) {
    for (member, kind) in lists {
        let users = users_of(world, resource, kind);
        set(shown, &format!("/properties/{member}"), json!(users));
    }
}

/// Refuses to delete what something belongs to. That it is refused is documented.
pub(crate) fn check_unused(world: &World, resource: &Resource, what: &str) -> Result<(), ArmError> {
    let users: Vec<&str> = world
        .users(resource.id.key())
        .map(|user| user.id.as_str())
        .collect();
    if users.is_empty() {
        return Ok(());
    }
    Err(ArmError::not_allowed(format!(
        "{what} '{}' cannot be deleted. Before deleting it please ensure that it is not used. \
         Resources that use it: {}.",
        resource.name(),
        users.join(", ")
    )))
}
