//! What operations do to the world when their time has come.

use model::ids::ArmId;
use serde_json::Value;

use crate::{
    durations::{GRAVE, RESERVATION},
    json::{items, same, text},
    lro,
    routes::{
        compute::{disk, quota, reservation, scale_set},
        network::{self, renew},
        services,
    },
    store::{
        entry::{
            Entry, Failure, Operation, Power, Provider, Reservation, Resource, State, Style,
            Tombstone, Work, group_key, resource_key,
        },
        world::World,
    },
};

/// Ends an operation: its effects, and what its URL answers from now on.
pub(crate) fn finish(world: &mut World, operation: Operation) {
    let mut operation = operation;
    if of_scale_set(world, &operation) {
        scale_set::finish::finish(world, &operation);
        end(world, operation);
        return;
    }
    let current = world.resource(&operation.target).is_none_or(|resource| {
        resource
            .operation
            .as_ref()
            .is_none_or(|id| *id == operation.id)
    });
    if current || matches!(operation.work, Work::Settle | Work::Evict) {
        match operation.failure.clone() {
            Some(failure) => fail(world, &mut operation, &failure),
            None => succeed(world, &mut operation),
        }
    }
    end(world, operation);
}

/// Whether an operation is about instances of a scale set; deletion of the set itself is not.
fn of_scale_set(world: &World, operation: &Operation) -> bool {
    let set = world.resource(&operation.target);
    set.is_some_and(|set| set.hidden.scale_set.is_some())
        && (operation.work != Work::Delete || !operation.instances.is_empty())
}

fn end(world: &mut World, operation: Operation) {
    let mut operation = operation;
    operation.state = match &operation.failure {
        Some(failure) => State::Failed {
            code: failure.code.clone(),
            message: failure.message.clone(),
        },
        None => State::Succeeded,
    };
    world.put(Entry::Operation(Box::new(operation)));
}

fn succeed(world: &mut World, operation: &mut Operation) {
    let target = operation.target.clone();
    match operation.work {
        // Deployments are done by their provider, which needs more than the world.
        Work::Nothing | Work::Deploy => {}
        Work::Settle => settle(world, operation, "Succeeded"),
        Work::CreateMachine | Work::Start => {
            machine(world, &target, "Succeeded", Some(Power::Running), 1);
        }
        Work::UpdateMachine => machine(world, &target, "Succeeded", None, 0),
        Work::PowerOff => machine(world, &target, "Succeeded", Some(Power::Stopped), 1),
        Work::Deallocate => machine(world, &target, "Succeeded", Some(Power::Deallocated), 3),
        Work::ResizePool => services::pool::resized(world, &target, None),
        Work::Evict => evict(world, &target),
        Work::Delete => delete(world, &target),
        Work::DeleteGroup => delete_group(world, &target),
        Work::Register => register(world, operation, "Registered"),
        Work::Unregister => register(world, operation, "NotRegistered"),
    }
}

fn fail(world: &mut World, operation: &mut Operation, failure: &Failure) {
    let target = operation.target.clone();
    match operation.work {
        Work::Settle => settle(world, operation, "Failed"),
        Work::CreateMachine => {
            let power = failure.allocated.then_some(Power::Running);
            machine(world, &target, "Failed", power, 1);
            if !failure.allocated {
                reserve(world, &target);
            }
        }
        Work::UpdateMachine => {
            if !failure.allocated
                && let Some(size) = &operation.old_size
            {
                take_size_back(world, &target, size);
            }
            machine(world, &target, "Failed", None, 0);
        }
        Work::Start => {
            let power = if failure.allocated {
                Power::Running
            } else {
                Power::Deallocated
            };
            machine(world, &target, "Failed", Some(power), 1);
        }
        Work::PowerOff | Work::Deallocate => {
            machine(world, &target, "Failed", Some(Power::Running), 1);
        }
        Work::Delete => {
            world.change(&target, |resource| {
                resource.set_state("Failed");
                resource.operation = None;
            });
            // The network around a subnet is free again.
            if let Some(parent) = target.parent() {
                world.change(&parent, |parent| parent.operation = None);
            }
        }
        Work::DeleteGroup => {
            if let (Some(subscription), group) = (target.subscription(), target.name())
                && let Some(mut group) = world.group(subscription, group).cloned()
            {
                "Succeeded".clone_into(&mut group.state);
                world.put(Entry::Group(group));
            }
        }
        Work::ResizePool => services::pool::resized(world, &target, Some(failure)),
        Work::Nothing | Work::Evict | Work::Register | Work::Unregister | Work::Deploy => {}
    }
    world.change(&target, |resource| {
        if let Some(machine) = &mut resource.hidden.machine {
            machine.failure = Some(failure.clone());
        }
    });
}

/// A VM that found no hardware for its new size keeps the old one.
fn take_size_back(world: &mut World, id: &ArmId, size: &str) {
    world.change(id, |vm| {
        let place = "/properties/hardwareProfile/vmSize";
        crate::json::set(&mut vm.body, place, Value::from(size));
        vm.hidden.quota = quota::of_machine(&vm.body);
    });
}

/// A network or disk write is over.
fn settle(world: &mut World, operation: &mut Operation, state: &str) {
    let now = world.now();
    let done = |resource: &mut Resource| {
        resource.set_state(state);
        resource.changed = now;
        if state == "Succeeded" && resource.is(reservation::RESERVATION) {
            let place = "/properties/provisioningTime";
            crate::json::default(&mut resource.body, place, now.precise());
        }
        if resource.operation.as_deref() == Some(&operation.id) {
            resource.operation = None;
        }
    };
    world.change(&operation.target, done);
    network::public_ip::settled(world, &operation.target);
    if let Some(parent) = operation.target.parent() {
        world.change(&parent, |resource| {
            if resource.operation.as_deref() == Some(&operation.id) {
                resource.operation = None;
            }
        });
    } else {
        // Children that were written with their parent are done with it.
        let below: Vec<ArmId> = world
            .below(&format!("{}/", operation.target.key()))
            .filter(|child| {
                child.state() == "Updating" || child.operation.as_deref() == Some(&operation.id)
            })
            .map(|child| child.id.clone())
            .collect();
        for child in below {
            world.change(&child, done);
        }
    }
    if operation
        .target
        .resource_type()
        .to_lowercase()
        .starts_with("microsoft.network/")
    {
        renew(world, &operation.target);
    } else if operation.style == Style::Disk {
        operation.output = disk::output(world, &operation.target);
        disk::tell_holder(world, &operation.target);
    }
}

/// A VM operation is over.
fn machine(world: &mut World, id: &ArmId, state: &str, power: Option<Power>, counts: u64) {
    let now = world.now();
    world.change(id, |vm| {
        vm.set_state(state);
        vm.operation = None;
        vm.changed = now;
        count(vm, counts);
        if let Some(machine) = &mut vm.hidden.machine {
            machine.failure = None;
            machine.since = now;
            if power.is_some() {
                machine.power = power;
            }
        }
    });
}

/// Counts a VM's etag on.
pub(crate) fn count(vm: &mut Resource, by: u64) {
    let counter: u64 = vm.etag.parse().unwrap_or(0);
    vm.etag = (counter + by).to_string();
}

/// Interfaces of a VM that never got hardware stay reserved for it.
fn reserve(world: &mut World, machine: &ArmId) {
    let until = world.now().plus(world.facts().speed.shrink(RESERVATION));
    for nic in interfaces(world, machine) {
        world.change(&nic, |nic| {
            nic.hidden.reserved = Some(Reservation {
                machine: machine.clone(),
                until,
            });
        });
    }
}

fn interfaces(world: &World, machine: &ArmId) -> Vec<ArmId> {
    world
        .resource(machine)
        .map(|vm| {
            items(&vm.body, "/properties/networkProfile/networkInterfaces")
                .iter()
                .filter_map(|nic| text(nic, "/id")?.parse().ok())
                .collect()
        })
        .unwrap_or_default()
}

/// Azure takes a Spot VM back, as its policy says, whatever else is running on it.
pub(crate) fn evict(world: &mut World, id: &ArmId) {
    let Some(vm) = world.resource(id) else {
        return;
    };
    let allocated = vm
        .hidden
        .machine
        .as_ref()
        .is_some_and(super::store::entry::Machine::is_allocated);
    let policy = text(&vm.body, "/properties/evictionPolicy").unwrap_or("Deallocate");
    let removes = same(policy, "Delete");
    if vm.state() == "Deleting" || !(allocated || removes) {
        return;
    }
    if let Some(running) = vm.operation.clone() {
        lro::preempt(world, &running);
    }
    if removes {
        delete(world, id);
    } else {
        machine(world, id, "Succeeded", Some(Power::Deallocated), 3);
    }
}

/// Removes a resource, and what a VM's delete options name with it.
fn delete(world: &mut World, id: &ArmId) {
    let Some(resource) = world.resource(id).cloned() else {
        return;
    };
    if resource.is("Microsoft.Compute/virtualMachines") {
        delete_with_machine(world, &resource.body);
    }
    if resource.is(scale_set::KIND) {
        let machines: Vec<ArmId> = scale_set::flexible::machines(world, &resource)
            .map(|vm| vm.id.clone())
            .collect();
        for machine in machines {
            delete(world, &machine);
        }
    }
    let below: Vec<String> = world
        .below(&format!("{}/", id.key()))
        .map(|child| child.id.key().to_owned())
        .collect();
    for child in below {
        world.remove(&resource_key(&child));
    }
    world.remove(&resource_key(id.key()));
    scale_set::flexible::recount(world, &resource.body);
    if let Some(parent) = id.parent() {
        world.change(&parent, |parent| parent.operation = None);
        renew(world, &parent);
    }
    if resource.kind.starts_with("Microsoft.Compute/") {
        let until = world.now().plus(world.facts().speed.shrink(GRAVE));
        world.put(Entry::Tombstone(Tombstone {
            id: id.clone(),
            until,
        }));
    }
}

fn wants_delete(value: &Value, pointer: &str) -> bool {
    text(value, pointer).is_some_and(|option| same(option, "Delete"))
}

fn delete_with_machine(world: &mut World, body: &Value) {
    let mut gone: Vec<String> = Vec::new();
    for nic in items(body, "/properties/networkProfile/networkInterfaces") {
        if wants_delete(nic, "/properties/deleteOption")
            && let Some(id) = text(nic, "/id")
        {
            gone.extend(addresses(world, id));
            gone.push(id.to_lowercase());
        }
    }
    let os_disk = body.pointer("/properties/storageProfile/osDisk");
    let data_disks = items(body, "/properties/storageProfile/dataDisks");
    for disk in os_disk.into_iter().chain(data_disks) {
        if wants_delete(disk, "/deleteOption")
            && let Some(id) = text(disk, "/managedDisk/id")
        {
            gone.push(id.to_lowercase());
        }
    }
    for id in gone {
        world.remove(&resource_key(&id));
    }
}

/// Public addresses of an interface that are deleted with it.
fn addresses(world: &World, nic: &str) -> Vec<String> {
    world
        .resource_by_key(&nic.to_lowercase())
        .map(|nic| {
            items(&nic.body, "/properties/ipConfigurations")
                .iter()
                .filter_map(|config| text(config, "/properties/publicIPAddress/id"))
                .map(str::to_lowercase)
                .filter(|id| {
                    world
                        .resource_by_key(id)
                        .is_some_and(|ip| wants_delete(&ip.body, "/properties/deleteOption"))
                })
                .collect()
        })
        .unwrap_or_default()
}

fn delete_group(world: &mut World, id: &ArmId) {
    let below: Vec<String> = world
        .below(&format!("{}/", id.key()))
        .map(|resource| resource.id.key().to_owned())
        .collect();
    for resource in below {
        world.remove(&resource_key(&resource));
    }
    world.remove(&group_key(id.subscription().unwrap_or_default(), id.name()));
}

fn register(world: &mut World, operation: &Operation, state: &str) {
    world.put(Entry::Provider(Provider {
        subscription: operation.subscription.clone(),
        namespace: operation.title.clone(),
        state: state.to_owned(),
    }));
}
