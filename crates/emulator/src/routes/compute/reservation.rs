//! Capacity reservations: groups, reservations in them, and what VMs draw from them.
//!
//! Documented: a reservation draws the quota of its size; a VM that fits a free place in it
//! draws none, and one beyond the reserved number draws its own.

mod draw;

use std::collections::BTreeMap;

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{
    members, quota,
    write::{self, Wanted, wanted},
};
use crate::{
    call::Call,
    durations,
    error::ArmError,
    http::{Answer, Method},
    json::{default, items, number, remove, same, set, text},
    routes::common::{self, not_served, put_tags, tags},
    store::{entry::Resource, world::World},
    types::Type,
};

pub(crate) use self::draw::{of_machine, of_new, of_set};

const GROUP: &str = "Microsoft.Compute/capacityReservationGroups";
/// The type of reservations in groups.
pub(crate) const RESERVATION: &str =
    "Microsoft.Compute/capacityReservationGroups/capacityReservations";
const MACHINE: &str = "Microsoft.Compute/virtualMachines";

/// Documented: series that cannot be reserved.
const NOT_RESERVED: [&str; 3] = ["ND", "HB", "HC"];

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let served = call.path.kind() == row.path.to_lowercase();
    if !served {
        return Err(not_served(call));
    }
    match (call.method(), call.path.is_open()) {
        (Method::Get, true) => list(world, call, row),
        (Method::Get, false) => {
            let views = expands_view(call);
            common::resource(world, call).map(|found| Answer::json(200, show(world, found, views)))
        }
        (Method::Put, false) => put(world, call, row),
        (Method::Patch, false) => patch(world, call, row),
        (Method::Delete, false) => delete(world, call),
        _ => Err(not_served(call)),
    }
}

fn expands_view(call: &Call<'_>) -> bool {
    let query = call.query();
    query
        .get("$expand")
        .is_some_and(|expand| same(expand, "instanceView"))
}

fn list(world: &World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    if row.path == "capacityReservationGroups" {
        let size = call.setup.pages.others;
        return Ok(super::list(world, call, row, size, |group| {
            show(world, group, false)
        }));
    }
    let parent = write::parent(world, call, GROUP)?;
    let value: Vec<Value> = reservations(world, &parent.id)
        .map(|found| show(world, found, false))
        .collect();
    Ok(Answer::json(200, json!({"value": value})))
}

fn reservations<'a>(
    world: &'a World,
    group: &ArmId,
) -> impl Iterator<Item = &'a Resource> + use<'a> {
    world
        .below(&format!("{}/capacityreservations/", group.key()))
        .filter(|found| found.is(RESERVATION))
}

/// A group or a reservation as its GET shows it.
fn show(world: &World, resource: &Resource, view: bool) -> Value {
    let mut shown = common::base(resource);
    if resource.is(GROUP) {
        // A group does not tell its state, also while it goes.
        remove(&mut shown, "/properties/provisioningState");
        let all: Vec<Value> = reservations(world, &resource.id)
            .map(|found| json!({"id": found.id.as_str()}))
            .collect();
        if !all.is_empty() {
            set(&mut shown, "/properties/capacityReservations", json!(all));
        }
        let machines = members::users_of(world, resource, MACHINE);
        if !machines.is_empty() {
            set(
                &mut shown,
                "/properties/virtualMachinesAssociated",
                json!(machines),
            );
        }
        if view {
            let all = reservations(world, &resource.id);
            let views = all.map(|found| {
                let mut view = instance_view(world, found, resource);
                set(&mut view, "/name", json!(found.name()));
                view
            });
            let views: Vec<Value> = views.collect();
            set(
                &mut shown,
                "/properties/instanceView",
                json!({"capacityReservations": views}),
            );
        }
        return shown;
    }
    let Some(group) = resource.id.parent() else {
        return shown;
    };
    let machines: Vec<Value> = world
        .users(group.key())
        .filter(|user| user.is(MACHINE) && fits(resource, &user.body))
        .map(|user| json!({"id": user.id.as_str()}))
        .collect();
    if !machines.is_empty() {
        set(
            &mut shown,
            "/properties/virtualMachinesAssociated",
            json!(machines),
        );
    }
    if view {
        let view = world
            .resource(&group)
            .map(|group| instance_view(world, resource, group));
        set(&mut shown, "/properties/instanceView", json!(view));
    }
    shown
}

/// What a reservation is used for: VMs on their hardware and instances of sets.
fn instance_view(world: &World, reservation: &Resource, group: &Resource) -> Value {
    let mut machines: Vec<Value> = Vec::new();
    for user in world.users(group.id.key()) {
        if user.is(MACHINE) {
            let machine = user.hidden.machine.as_ref();
            let allocated = machine.is_some_and(crate::store::entry::Machine::is_allocated);
            if allocated && fits(reservation, &user.body) {
                machines.push(json!({"id": user.id.as_str()}));
            }
        } else if let Some(hidden) = &user.hidden.scale_set {
            let size = hidden.latest().map(|model| model.size.as_str());
            let reserved = text(&reservation.body, "/sku/name");
            let zone = items(&reservation.body, "/zones")
                .first()
                .and_then(Value::as_str);
            let same_size = size
                .zip(reserved)
                .is_some_and(|(size, reserved)| same(size, reserved));
            let inside = hidden
                .instances
                .iter()
                .filter(|(_, instance)| same_size && instance.zone.as_deref() == zone);
            machines.extend(inside.map(|(number, _)| {
                let id = user.id.child("virtualMachines", &number.to_string());
                json!({"id": id.as_str()})
            }));
        }
    }
    json!({
        "utilizationInfo": {
            "currentCapacity": number(&reservation.body, "/sku/capacity"),
            "virtualMachinesAllocated": machines,
        },
        "statuses": [{
            "code": "ProvisioningState/succeeded",
            "level": "Info",
            "displayStatus": "Provisioning succeeded",
            "time": reservation.changed.precise(),
        }],
    })
}

fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let Wanted { old, made } = wanted(world, call, row, fixed)?;
    store(world, call, old.as_ref(), made)
}

fn patch(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let given = call.body(row)?;
    let old = common::resource(world, call)?.clone();
    fixed(&old, &given)?;
    let mut made = old.clone();
    crate::json::merge(&mut made.body, &given);
    if let Some(tags) = tags(&given)? {
        put_tags(&mut made.body, Some(tags));
    }
    store(world, call, Some(&old), made)
}

fn fixed(old: &Resource, given: &Value) -> Result<(), ArmError> {
    for (place, name) in [("/zones", "zones"), ("/sku/name", "sku.name")] {
        let wanted = given.pointer(place).filter(|wanted| !wanted.is_null());
        let differs = match (wanted, old.body.pointer(place)) {
            (Some(Value::String(wanted)), Some(Value::String(had))) => !same(wanted, had),
            (Some(wanted), had) => had != Some(wanted),
            (None, _) => false,
        };
        if differs {
            return Err(ArmError::property_change(name));
        }
    }
    Ok(())
}

fn store(
    world: &mut World,
    call: &Call<'_>,
    old: Option<&Resource>,
    made: Resource,
) -> Result<Answer, ArmError> {
    let mut made = made;
    if made.is(RESERVATION) {
        check(world, call, &made, old)?;
        made.hidden.quota = uses(&made);
        complete(world, &mut made, old.is_none());
    }
    let timing = durations::reservation(old.is_none());
    Ok(write::begin(world, call, made, old.is_none(), timing))
}

/// Recorded: what a new reservation shows beside what was given.
fn complete(world: &mut World, made: &mut Resource, new: bool) {
    if !new {
        return;
    }
    let id = world.mint();
    let now = world.now().precise();
    default(&mut made.body, "/properties/platformFaultDomainCount", 3);
    set(&mut made.body, "/properties/reservationId", json!(id));
    set(&mut made.body, "/properties/timeCreated", json!(now));
}

fn check(
    world: &World,
    call: &Call<'_>,
    made: &Resource,
    old: Option<&Resource>,
) -> Result<(), ArmError> {
    let size =
        text(&made.body, "/sku/name").ok_or_else(|| ArmError::missing_parameter("sku.name"))?;
    if number(&made.body, "/sku/capacity").is_none() {
        return Err(ArmError::missing_parameter("sku.capacity"));
    }
    let mut machine = json!({"properties": {"hardwareProfile": {"vmSize": size}}});
    let zones = items(&made.body, "/zones");
    if !zones.is_empty() {
        set(&mut machine, "/zones", json!(zones));
    }
    let place = super::machine::size::Place {
        subscription: call.subscription(),
        location: &made.location,
        name: made.name(),
        spot: false,
    };
    let found = super::machine::size::check(world, place, &machine)?;
    if NOT_RESERVED.contains(&found.series.as_str()) || is_hopper(found.name.as_str()) {
        // Quoted in an issue, of another size.
        return Err(ArmError::new(
            409,
            "NotSupported",
            format!("Capacity Reservation is not supported for VM size {size}."),
        ));
    }
    let group = made.id.parent();
    let group_zones = group
        .as_ref()
        .and_then(|group| world.resource(group))
        .map(|group| items(&group.body, "/zones").to_vec())
        .unwrap_or_default();
    if zones.iter().any(|zone| !group_zones.contains(zone)) {
        return Err(ArmError::invalid_parameter(
            "zones",
            "The zones of a capacity reservation must be among those of its group.",
        ));
    }
    let none = BTreeMap::new();
    let had = old.map_or(&none, |old| &old.hidden.quota);
    quota::check(world, call.subscription(), &made.location, had, &uses(made))
}

/// Documented: `NCads_H100_v5` cannot be reserved either.
fn is_hopper(name: &str) -> bool {
    let name = name.to_uppercase();
    name.starts_with("STANDARD_NC") && name.contains("_H100_")
}

/// What a reservation draws of each quota: the cores of all its places.
fn uses(reservation: &Resource) -> BTreeMap<String, u64> {
    let size = text(&reservation.body, "/sku/name").unwrap_or_default();
    let count = number(&reservation.body, "/sku/capacity").unwrap_or(0);
    let machine = json!({"properties": {"hardwareProfile": {"vmSize": size}}});
    let mut uses = quota::of_machine(&machine);
    uses.remove("virtualMachines");
    for amount in uses.values_mut() {
        *amount *= count;
    }
    uses
}

fn delete(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let Some(found) = super::existing(world, call) else {
        return Ok(Answer::empty(204));
    };
    if found.is(GROUP) {
        if reservations(world, &found.id).next().is_some() {
            return Err(ArmError::not_allowed(format!(
                "Capacity reservation group '{}' cannot be deleted. Before deleting it please \
                 ensure that it does not contain any capacity reservation.",
                found.name()
            )));
        }
        members::check_unused(world, &found, "Capacity reservation group")?;
    } else if let Some(group) = found.id.parent() {
        let used = world
            .users(group.key())
            .find(|user| user.is(MACHINE) && fits(&found, &user.body));
        if let Some(user) = used {
            return Err(ArmError::not_allowed(format!(
                "Capacity reservation '{}' cannot be deleted. Before deleting it please ensure \
                 that no virtual machine is allocated from it, such as {}.",
                found.name(),
                user.id
            )));
        }
    }
    Ok(write::begin_delete(
        world,
        call,
        &found,
        durations::RESERVATION_DELETE,
    ))
}

/// Whether a VM's size and zone are those of a reservation.
fn fits(reservation: &Resource, machine: &Value) -> bool {
    let size = text(machine, "/properties/hardwareProfile/vmSize").unwrap_or_default();
    let zone = items(machine, "/zones").first();
    text(&reservation.body, "/sku/name").is_some_and(|reserved| same(reserved, size))
        && items(&reservation.body, "/zones").first() == zone
}
