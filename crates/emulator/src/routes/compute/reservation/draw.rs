//! What machines draw of quota, after what their capacity reservation group gives.

use std::collections::BTreeMap;

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{MACHINE, fits, reservations};
use crate::{
    catalogue,
    error::ArmError,
    json::{items, number, same, set, text},
    routes::compute::{quota, scale_set::network},
    store::{entry::Resource, scale_set::ScaleSet, world::World},
};

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
        let zone = |body: &Value| items(body, "/zones").first().cloned();
        if zone(&user.body) != zone(machine) {
            continue;
        }
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

/// What new VMs of a set draw of each quota, one body a VM, after what their capacity
/// reservation gives.
pub(crate) fn of_new(world: &World, set_: &ArmId, bodies: &[Value]) -> BTreeMap<String, u64> {
    let mut left: BTreeMap<String, u64> = BTreeMap::new();
    let mut uses: BTreeMap<String, u64> = BTreeMap::new();
    for body in bodies {
        let group = text(
            body,
            "/properties/capacityReservation/capacityReservationGroup/id",
        );
        let zone = items(body, "/zones").first().and_then(Value::as_str);
        // What the group does not have is refused where the VM is made.
        let places = || free(world, body, group, set_).ok().flatten().unwrap_or(0);
        let left = left
            .entry(zone.unwrap_or_default().to_owned())
            .or_insert_with(places);
        let mut own = quota::of_machine(body);
        if *left > 0 {
            *left -= 1;
            own.retain(|name, _| name == "virtualMachines");
        }
        for (name, amount) in own {
            *uses.entry(name).or_default() += amount;
        }
    }
    uses
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
        own.extend(network::public_addresses(&model.profile, 1));
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
