//! What the end of an operation does to a scale set and its instances.

use serde_json::json;

use crate::{
    json::{number, same, set, text},
    routes::compute::reservation,
    store::{
        entry::{Failure, Operation, Power, Resource, Work},
        scale_set::{Instance, Provisioning},
        world::World,
    },
    work,
};

/// Ends an operation on a set or its instances.
pub(crate) fn finish(world: &mut World, operation: &Operation) {
    let Some(mut set) = world.resource(&operation.target).cloned() else {
        return;
    };
    let failure = operation.failure.as_ref();
    let now = world.now();
    let evicted = instances(&mut set, operation, now);
    if evicted > 0 {
        let capacity = number(&set.body, "/sku/capacity").unwrap_or(0);
        set_capacity(&mut set, capacity.saturating_sub(evicted));
    }
    if set.operation.as_deref() == Some(&operation.id) {
        set.operation = None;
        set.set_state(if failure.is_some() {
            "Failed"
        } else {
            "Succeeded"
        });
        // Recorded: counted again at the end of the creation of a Uniform set alone.
        if operation.title == "CreateVMScaleSet" && !super::is_flexible(&set.body) {
            work::count(&mut set, 1);
        }
        level(&mut set);
    }
    if matches!(operation.work, Work::Start) {
        work::count(&mut set, 1);
    }
    set.changed = now;
    if let Ok(uses) = reservation::of_set(world, &set) {
        set.hidden.quota = uses;
    }
    world.put_resource(set);
}

/// Ends the operation on each of its instances; answers how many were evicted and are gone.
fn instances(set: &mut Resource, operation: &Operation, now: crate::clock::Instant) -> u64 {
    let policy = text(
        &set.body,
        "/properties/virtualMachineProfile/evictionPolicy",
    )
    .unwrap_or("Deallocate")
    .to_owned();
    let failure = operation.failure.as_ref();
    let mut evicted = 0;
    let Some(hidden) = &mut set.hidden.scale_set else {
        return evicted;
    };
    for id in &operation.instances {
        let Some(instance) = hidden.instances.get_mut(id) else {
            continue;
        };
        if operation.work == Work::Evict {
            if same(&policy, "Delete") {
                hidden.instances.remove(id);
                evicted += 1;
            } else {
                power(instance, Power::Deallocated, now);
                instance.operation = None;
                instance.state = Provisioning::Succeeded;
            }
            continue;
        }
        if instance.operation != Some(operation.number) {
            continue;
        }
        instance.operation = None;
        let failure =
            failure.filter(|_| operation.unplaced.is_empty() || operation.unplaced.contains(id));
        if instance.state == Provisioning::Deleting && failure.is_none() {
            hidden.instances.remove(id);
            continue;
        }
        end(instance, operation.work, failure, now);
    }
    hidden.forget_models();
    evicted
}

/// How many instances a set says it has.
pub(crate) fn set_capacity(resource: &mut Resource, capacity: u64) {
    set(&mut resource.body, "/sku/capacity", json!(capacity));
}

/// Recorded: after a write, instances have their set's etag.
fn level(set: &mut Resource) {
    let etag: u64 = set.etag.parse().unwrap_or(1);
    if let Some(hidden) = &mut set.hidden.scale_set {
        for instance in hidden.instances.values_mut() {
            instance.etag = instance.etag.max(etag);
        }
    }
}

fn power(instance: &mut Instance, power: Power, now: crate::clock::Instant) {
    instance.power = Some(power);
    instance.since = now;
}

fn end(
    instance: &mut Instance,
    doing: Work,
    failure: Option<&Failure>,
    now: crate::clock::Instant,
) {
    instance.failure = failure.cloned();
    instance.since = now;
    instance.state = if failure.is_some() {
        Provisioning::Failed
    } else {
        Provisioning::Succeeded
    };
    let allocated = failure.is_none_or(|failure| failure.allocated);
    match doing {
        Work::CreateMachine if instance.power.is_none() => {
            instance.power = allocated.then_some(Power::Running);
        }
        Work::Start => {
            instance.power = Some(if allocated {
                Power::Running
            } else {
                Power::Deallocated
            });
        }
        Work::PowerOff => {
            instance.power = Some(if failure.is_none() {
                Power::Stopped
            } else {
                Power::Running
            });
        }
        Work::Deallocate => {
            instance.power = Some(if failure.is_none() {
                Power::Deallocated
            } else {
                Power::Running
            });
        }
        Work::CreateMachine
        | Work::Nothing
        | Work::Settle
        | Work::UpdateMachine
        | Work::Evict
        | Work::Delete
        | Work::DeleteGroup
        | Work::ResizePool
        | Work::Register
        | Work::Unregister
        | Work::Deploy => {}
    }
}
