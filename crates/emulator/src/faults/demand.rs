//! Machines that need hardware: those that a request is about to make, start or resize.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    json::{flag, items, same, text},
    routes::compute::{
        quota,
        scale_set::{self, instance::Seen},
    },
    store::{
        entry::{Entry, Operation, Power, Resource, State, Work, resource_key},
        scale_set::{Instance, Provisioning},
        world::World,
    },
};

/// Where a machine is to stand, and under which constraints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) size: String,
    pub(crate) location: String,
    pub(crate) zone: Option<String>,
    pub(crate) spot: bool,
    /// What it belongs to.
    pub(crate) groupings: BTreeSet<Grouping>,
    /// Whether its interfaces are accelerated.
    pub(crate) accelerated: bool,
    /// Whether its OS disk is an ephemeral one.
    pub(crate) ephemeral: bool,
}

/// What machines can belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Grouping {
    ScaleSet,
    AvailabilitySet,
    ProximityPlacementGroup,
    CapacityReservationGroup,
}

impl Grouping {
    /// All of them, under the names that a faults file has for them.
    pub(super) const ALL: [(&str, Self); 4] = [
        ("scale_set", Self::ScaleSet),
        ("availability_set", Self::AvailabilitySet),
        ("proximity_placement_group", Self::ProximityPlacementGroup),
        ("capacity_reservation_group", Self::CapacityReservationGroup),
    ];

    fn member(self) -> &'static str {
        match self {
            Self::ScaleSet => "virtualMachineScaleSet",
            Self::AvailabilitySet => "availabilitySet",
            Self::ProximityPlacementGroup => "proximityPlacementGroup",
            Self::CapacityReservationGroup => "capacityReservation/capacityReservationGroup",
        }
    }
}

fn groupings(bodies: &[&Value]) -> BTreeSet<Grouping> {
    let named = |grouping: Grouping| {
        let place = format!("/{}/id", grouping.member());
        bodies.iter().any(|body| text(body, &place).is_some())
    };
    let all = Grouping::ALL.into_iter().map(|(_, grouping)| grouping);
    all.filter(|grouping| named(*grouping)).collect()
}

fn is_ephemeral(properties: &Value) -> bool {
    let place = "/storageProfile/osDisk/diffDiskSettings/option";
    text(properties, place).is_some()
}

const ACCELERATED: &str = "/properties/enableAcceleratedNetworking";

impl Placement {
    /// That of a single VM, or of one in a Flexible set.
    pub(crate) fn of_machine(world: &World, vm: &Resource) -> Self {
        let body = &vm.body;
        let properties = body.get("properties").unwrap_or(&Value::Null);
        let accelerated = items(properties, "/networkProfile/networkInterfaces")
            .iter()
            .filter_map(|nic| world.resource_by_key(&text(nic, "/id")?.to_lowercase()))
            .any(|nic| flag(&nic.body, ACCELERATED) == Some(true));
        let zone = items(body, "/zones").first().and_then(Value::as_str);
        Self {
            size: text(properties, "/hardwareProfile/vmSize")
                .unwrap_or_default()
                .to_owned(),
            location: vm.location.clone(),
            zone: zone.map(str::to_owned),
            spot: quota::is_spot(body),
            groupings: groupings(&[properties]),
            accelerated,
            ephemeral: is_ephemeral(properties),
        }
    }

    /// That of an instance of a Uniform set.
    pub(crate) fn of_instance(seen: Seen<'_>) -> Self {
        let Seen {
            set,
            instance,
            model,
            ..
        } = seen;
        let profile = &model.profile;
        let own = set.body.get("properties").unwrap_or(&Value::Null);
        let mut groupings = groupings(&[profile, own]);
        groupings.insert(Grouping::ScaleSet);
        let priority = text(profile, "/priority").unwrap_or_default();
        Self {
            size: model.size.clone(),
            location: set.location.clone(),
            zone: instance.zone.clone(),
            spot: same(priority, "Spot") || same(priority, "Low"),
            groupings,
            accelerated: items(profile, "/networkProfile/networkInterfaceConfigurations")
                .iter()
                .any(|nic| flag(nic, ACCELERATED) == Some(true)),
            ephemeral: is_ephemeral(profile),
        }
    }
}

/// A machine that needs hardware.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    pub(crate) placement: Placement,
    /// The VM or the set, for messages.
    pub(crate) name: String,
    /// The operation that brings it up.
    pub(crate) operation: String,
    /// Which instance of a Uniform set it is.
    pub(crate) instance: Option<u64>,
    /// The lower-case id of the Flexible set that it is in.
    pub(crate) set: Option<String>,
    /// Whether it exists already and is to be started.
    pub(crate) starts: bool,
    /// Whether all machines of its operation come, or none.
    pub(crate) together: bool,
}

/// The machines that need hardware by what was done since so many changes had been made.
pub(crate) fn since(world: &World, mark: usize) -> Vec<Demand> {
    let before = world.before(mark);
    let mut demands = Vec::new();
    for operation in world.begun(mark) {
        if operation.state != State::Running || operation.failure.is_some() {
            continue;
        }
        let Some(target) = world.resource(&operation.target) else {
            continue;
        };
        let old = before
            .get(resource_key(target.id.key()).as_str())
            .copied()
            .map_or(Some(target), |entry| entry.and_then(Entry::as_resource));
        if target.hidden.machine.is_some() {
            if needs_hardware(operation, old) {
                demands.push(of_machine(world, operation, target));
            }
        } else if target.hidden.scale_set.is_some() {
            of_set(operation, (target, old), &mut demands);
        }
    }
    demands
}

/// Whether a VM comes to hardware that it did not have, by what it was before.
fn needs_hardware(operation: &Operation, old: Option<&Resource>) -> bool {
    let power = old
        .and_then(|old| old.hidden.machine.as_ref())
        .and_then(|machine| machine.power);
    let off = matches!(power, None | Some(Power::Deallocated | Power::Deallocating));
    match operation.work {
        Work::CreateMachine => true,
        Work::Start => off,
        Work::UpdateMachine => operation.old_size.is_some() && !off,
        Work::Nothing
        | Work::Settle
        | Work::PowerOff
        | Work::Deallocate
        | Work::ResizePool
        | Work::Evict
        | Work::Delete
        | Work::DeleteGroup
        | Work::Register
        | Work::Unregister
        | Work::Deploy => false,
    }
}

fn of_machine(world: &World, operation: &Operation, vm: &Resource) -> Demand {
    let set = text(&vm.body, "/properties/virtualMachineScaleSet/id").map(str::to_lowercase);
    Demand {
        placement: Placement::of_machine(world, vm),
        name: vm.name().to_owned(),
        operation: operation.id.clone(),
        instance: None,
        set,
        starts: operation.work == Work::Start,
        together: false,
    }
}

/// The instances of a Uniform set that come to hardware that they did not have.
fn of_set(
    operation: &Operation,
    (set, old): (&Resource, Option<&Resource>),
    demands: &mut Vec<Demand>,
) {
    let single = flag(&set.body, "/properties/singlePlacementGroup") == Some(true);
    let starts = operation.work == Work::Start;
    for id in &operation.instances {
        let Some(seen) = Seen::find(set, &id.to_string()) else {
            continue;
        };
        let had = old.and_then(|old| Seen::find(old, &id.to_string()));
        let off = |one: &Instance| !one.is_allocated() || one.power == Some(Power::Deallocating);
        let resized =
            |had: &Seen<'_>| !off(had.instance) && !same(&had.model.size, &seen.model.size);
        let wants = if starts {
            had.is_some_and(|had| off(had.instance))
        } else {
            seen.instance.state == Provisioning::Creating || had.as_ref().is_some_and(resized)
        };
        if wants {
            demands.push(Demand {
                placement: Placement::of_instance(seen),
                name: set.name().to_owned(),
                operation: operation.id.clone(),
                instance: Some(*id),
                set: None,
                starts,
                together: single,
            });
        }
    }
}

/// The running operations, begun since, on these sets: theirs fail with their machines.
pub(crate) fn operations_on(
    world: &World,
    mark: usize,
    sets: &BTreeSet<String>,
) -> BTreeMap<String, String> {
    world
        .begun(mark)
        .into_iter()
        .filter(|operation| operation.state == State::Running)
        .filter(|operation| sets.contains(operation.target.key()))
        .filter(|operation| {
            let set = world.resource(&operation.target);
            set.is_some_and(|set| scale_set::is_flexible(&set.body))
        })
        .map(|operation| (operation.target.key().to_owned(), operation.id.clone()))
        .collect()
}
