//! Instances of Flexible sets: ordinary VMs that name their set.

use std::collections::BTreeMap;

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{KIND, network, profile};
use crate::{
    call::Call,
    durations,
    error::ArmError,
    json::{items, number, remove, same, set, text},
    lro::{self, Plan},
    routes::compute::{machine::create, reservation},
    store::{
        entry::{Resource, Style, Work},
        scale_set::{Model, ScaleSet},
        world::World,
    },
};

/// Where a VM names its set.
const MEMBERSHIP: &str = "/properties/virtualMachineScaleSet/id";

/// What becomes of a set's VMs.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// So many new ones.
    pub(crate) more: u64,
    /// These go.
    pub(crate) fewer: Vec<ArmId>,
}

/// The VMs of a set.
pub(crate) fn machines<'a>(
    world: &'a World,
    set: &Resource,
) -> impl Iterator<Item = &'a Resource> + use<'a> {
    machines_after(world, set, None)
}

/// The VMs of a set by their ids, from behind `after`.
pub(crate) fn machines_after<'a>(
    world: &'a World,
    set: &Resource,
    after: Option<&str>,
) -> impl Iterator<Item = &'a Resource> + use<'a> {
    let key = set.id.key().to_owned();
    world
        .users_after(set.id.key(), after)
        .filter(|user| user.is("Microsoft.Compute/virtualMachines"))
        .filter(move |vm| text(&vm.body, MEMBERSHIP).is_some_and(|id| same(id, &key)))
}

/// Compares a set with what is wanted; the newest VMs go first.
pub(crate) fn plan(world: &World, set: &Resource, wanted: Option<u64>) -> Change {
    let profiled = set
        .hidden
        .scale_set
        .as_deref()
        .and_then(ScaleSet::latest)
        .is_some();
    let mut change = Change::default();
    let Some(wanted) = wanted.filter(|_| profiled) else {
        return change;
    };
    let mut living: Vec<&Resource> = machines(world, set)
        .filter(|vm| vm.state() != "Deleting")
        .collect();
    let count = u64::try_from(living.len()).unwrap_or(u64::MAX);
    change.more = wanted.saturating_sub(count);
    living.sort_by(|a, b| (b.created, b.id.key()).cmp(&(a.created, a.id.key())));
    let surplus = usize::try_from(count.saturating_sub(wanted)).unwrap_or(usize::MAX);
    change.fewer = living
        .into_iter()
        .take(surplus)
        .map(|vm| vm.id.clone())
        .collect();
    change
}

/// What so many new VMs use of each quota.
pub(crate) fn needs(world: &World, set: &Resource, count: u64) -> BTreeMap<String, u64> {
    let Some(model) = set.hidden.scale_set.as_deref().and_then(ScaleSet::latest) else {
        return BTreeMap::new();
    };
    let there = machines(world, set).count();
    let there = u64::try_from(there).unwrap_or(0);
    let bodies: Vec<Value> = (0..count)
        .map(|at| body(set, model, "new", there + at))
        .collect();
    let mut needed = reservation::of_new(world, &set.id, &bodies);
    needed.extend(network::public_addresses(&model.profile, count));
    needed
}

/// Makes and deletes VMs.
pub(crate) fn apply(
    world: &mut World,
    call: &Call<'_>,
    id: &ArmId,
    change: Change,
) -> Result<(), ArmError> {
    let Change { more, fewer } = change;
    for machine in &fewer {
        delete(world, call, machine);
    }
    let Some(set) = world.resource(id).cloned() else {
        return Ok(());
    };
    let Some(model) = set.hidden.scale_set.as_deref().and_then(ScaleSet::latest) else {
        return Ok(());
    };
    let there = u64::try_from(machines(world, &set).count()).unwrap_or(0);
    for at in 0..more {
        make(world, call, &set, model, there + at)?;
    }
    Ok(())
}

/// Begins to delete a VM, with an operation that nobody polls.
pub(crate) fn delete(world: &mut World, call: &Call<'_>, machine: &ArmId) {
    let Some(vm) = world.resource(machine).cloned() else {
        return;
    };
    if let Some(running) = &vm.operation {
        lro::preempt(world, running);
    }
    let operation = lro::begin(
        world,
        call,
        &Plan {
            target: machine,
            location: &vm.location,
            style: Style::Hidden,
            work: Work::Delete,
            title: "DeleteVirtualMachine",
            timing: durations::scale_set("delete instances"),
        },
    );
    world.change(machine, |vm| {
        vm.set_state("Deleting");
        vm.operation = Some(operation.id.clone());
    });
}

/// The body of a new VM of a set.
fn body(set_: &Resource, model: &Model, computer: &str, place: u64) -> Value {
    let mut properties = model.profile.clone();
    for member in [
        "/timeCreated",
        "/extensionProfile",
        "/osProfile/computerNamePrefix",
    ] {
        remove(&mut properties, member);
    }
    set(
        &mut properties,
        "/hardwareProfile/vmSize",
        json!(model.size),
    );
    if properties.pointer("/osProfile").is_some() {
        set(&mut properties, "/osProfile/computerName", json!(computer));
        if model.password {
            set(&mut properties, "/osProfile/adminPassword", json!("kept"));
        }
    }
    set(
        &mut properties,
        "/virtualMachineScaleSet",
        json!({"id": set_.id.as_str()}),
    );
    if is_regular(set_, place) {
        for member in ["/priority", "/evictionPolicy", "/billingProfile"] {
            remove(&mut properties, member);
        }
    }
    if let Some(data) = &model.user_data {
        set(&mut properties, "/userData", json!(data));
    }
    let mut body = json!({"location": set_.location, "properties": properties});
    for member in ["tags", "plan", "identity"] {
        if let Some(value) = set_.body.get(member) {
            set(&mut body, &format!("/{member}"), value.clone());
        }
    }
    let zones = items(&set_.body, "/zones");
    let at = usize::try_from(place).unwrap_or(0) % zones.len().max(1);
    if let Some(zone) = zones.get(at) {
        set(&mut body, "/zones", json!([zone]));
    }
    body
}

/// Whether the VM at a place has regular priority by the set's mix of priorities.
fn is_regular(set: &Resource, place: u64) -> bool {
    let mix = "/properties/priorityMixPolicy";
    if set.body.pointer(mix).is_none() {
        return false;
    }
    let base = number(&set.body, &format!("{mix}/baseRegularPriorityCount")).unwrap_or(0);
    let share = number(
        &set.body,
        &format!("{mix}/regularPriorityPercentageAboveBase"),
    )
    .unwrap_or(0);
    let Some(above) = place.checked_sub(base) else {
        return true;
    };
    // Of the first n above the base, n × share / 100 are regular.
    (above + 1) * share / 100 > above * share / 100
}

fn make(
    world: &mut World,
    call: &Call<'_>,
    set_: &Resource,
    model: &Model,
    place: u64,
) -> Result<(), ArmError> {
    let mut stream = world.stream();
    let guid = stream.guid();
    let name = format!("{}_{}", set_.name(), guid.get(..8).unwrap_or_default());
    let prefix = format!("{}/osProfile/computerNamePrefix", profile::PLACE);
    let prefix = text(&set_.body, &prefix).unwrap_or_default();
    let computer = format!("{prefix}{}", stream.letters(6).to_uppercase());
    let group = set_
        .id
        .group_id()
        .ok_or_else(|| ArmError::missing_parameter("resourceGroup"))?;
    let id = group.in_group("Microsoft.Compute/virtualMachines", &name);
    let body = body(set_, model, &computer, place);
    create::member(world, call, &id, body, model.custom_data.clone())
}

/// Brings the number that a Flexible set says into line with its VMs.
pub(crate) fn recount(world: &mut World, machine: &Value) {
    let key = text(machine, MEMBERSHIP).map(str::to_lowercase);
    let named = key.and_then(|key| world.resource_by_key(&key)).cloned();
    let Some(set_) = named.filter(|found| found.is(KIND)) else {
        return;
    };
    if set_.body.pointer("/sku/capacity").is_none() {
        return;
    }
    let count = machines(world, &set_)
        .filter(|vm| vm.state() != "Deleting")
        .count();
    world.change(&set_.id, |set_| {
        set(&mut set_.body, "/sku/capacity", json!(count));
    });
}

/// A VM of a set by its name.
pub(crate) fn named<'a>(world: &'a World, set: &Resource, name: &str) -> Option<&'a Resource> {
    machines(world, set).find(|vm| same(vm.name(), name))
}
