//! Capacity reservations: groups, reservations in them, and what VMs draw from them.
//!
//! Documented: a reservation draws the quota of its size; a VM that fits a free place in it
//! draws none, and one beyond the reserved number draws its own.

use std::collections::BTreeMap;

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{
    members, quota,
    write::{self, Wanted, wanted},
};
use crate::{
    call::Call,
    catalogue, durations,
    error::ArmError,
    http::{Answer, Method},
    json::{default, items, number, same, set, text},
    routes::common::{self, not_served, put_tags, tags},
    store::{entry::Resource, scale_set::ScaleSet, world::World},
    types::Type,
};

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
        set(
            &mut shown,
            "/properties/instanceView",
            json!({
                "utilizationInfo": {
                    "currentCapacity": number(&resource.body, "/sku/capacity"),
                    "virtualMachinesAllocated": machines,
                },
                "statuses": [{
                    "code": "ProvisioningState/succeeded",
                    "level": "Info",
                    "displayStatus": "Provisioning succeeded",
                    "time": resource.changed.precise(),
                }],
            }),
        );
    }
    shown
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

/// How many of a group's places for this VM are taken by others than this one.
fn taken(world: &World, group: &str, machine: &Value, except: &ArmId) -> u64 {
    let vcpus = text(machine, "/properties/hardwareProfile/vmSize")
        .and_then(catalogue::size)
        .map_or(1, |size| u64::from(size.vcpus));
    let mut taken = 0;
    for user in world.users(group).filter(|user| user.id != *except) {
        let same_size = |size: Option<&str>| {
            size.is_some_and(|size| {
                text(machine, "/properties/hardwareProfile/vmSize")
                    .is_some_and(|own| same(own, size))
            })
        };
        let drawn = user.hidden.quota.get("cores").copied().unwrap_or(0);
        if user.is(MACHINE) {
            let size = text(&user.body, "/properties/hardwareProfile/vmSize");
            taken += u64::from(same_size(size) && drawn == 0);
        } else if let Some(hidden) = &user.hidden.scale_set
            && same_size(hidden.latest().map(|model| model.size.as_str()))
        {
            let count = u64::try_from(hidden.instances.len()).unwrap_or(0);
            taken += count.saturating_sub(drawn / vcpus);
        }
    }
    taken
}

/// Free places for a VM in the group that it names; `None` where it names none.
fn free(
    world: &World,
    machine: &Value,
    group: Option<&str>,
    except: &ArmId,
) -> Result<Option<u64>, ArmError> {
    let Some(group) = group else {
        return Ok(None);
    };
    let key = group.to_lowercase();
    let Some(found) = world.resource_by_key(&key) else {
        return Ok(None);
    };
    let fitting: Vec<&Resource> = reservations(world, &found.id)
        .filter(|reservation| fits(reservation, machine))
        .collect();
    if fitting.is_empty() {
        return Err(ArmError::new(
            400,
            "BadRequest",
            format!(
                "Capacity reservation group '{}' has no capacity reservation for VM size {} in \
                 the zone of the virtual machine.",
                found.name(),
                text(machine, "/properties/hardwareProfile/vmSize").unwrap_or_default()
            ),
        )
        .with_target("capacityReservationGroup"));
    }
    let places: u64 = fitting
        .iter()
        .filter_map(|reservation| number(&reservation.body, "/sku/capacity"))
        .sum();
    Ok(Some(
        places.saturating_sub(taken(world, &key, machine, except)),
    ))
}

/// What a VM draws of each quota, after what its capacity reservation gives.
pub(crate) fn of_machine(
    world: &World,
    id: &ArmId,
    body: &Value,
) -> Result<BTreeMap<String, u64>, ArmError> {
    let mut uses = quota::of_machine(body);
    let group = text(
        body,
        "/properties/capacityReservation/capacityReservationGroup/id",
    );
    if free(world, body, group, id)?.is_some_and(|free| free > 0) {
        uses.retain(|name, _| name == "virtualMachines");
    }
    Ok(uses)
}

/// What a scale set draws of each quota: itself, and its instances if they are no VMs.
pub(crate) fn of_set(world: &World, set_: &Resource) -> Result<BTreeMap<String, u64>, ArmError> {
    let mut uses = BTreeMap::from([("virtualMachineScaleSets".to_owned(), 1)]);
    let Some(hidden) = set_.hidden.scale_set.as_deref() else {
        return Ok(uses);
    };
    let mut free = free_for(world, set_, hidden)?.unwrap_or(0);
    for instance in hidden.instances.values() {
        let Some(model) = hidden.models.get(&instance.model) else {
            continue;
        };
        let machine = json!({"properties": {
            "hardwareProfile": {"vmSize": model.size},
            "priority": model.profile.get("priority"),
        }});
        let mut own = quota::of_machine(&machine);
        if free > 0 {
            free -= 1;
            own.retain(|name, _| name == "virtualMachines");
        }
        own.extend(super::scale_set::network::public_addresses(
            &model.profile,
            1,
        ));
        for (name, amount) in own {
            *uses.entry(name).or_default() += amount;
        }
    }
    Ok(uses)
}

fn free_for(world: &World, set_: &Resource, hidden: &ScaleSet) -> Result<Option<u64>, ArmError> {
    let Some(model) = hidden.latest() else {
        return Ok(None);
    };
    let mut machine = json!({"properties": {"hardwareProfile": {"vmSize": model.size}}});
    if let Some(zone) = items(&set_.body, "/zones").first() {
        set(&mut machine, "/zones", json!([zone]));
    }
    let group = text(
        &model.profile,
        "/capacityReservation/capacityReservationGroup/id",
    );
    free(world, &machine, group, &set_.id)
}
