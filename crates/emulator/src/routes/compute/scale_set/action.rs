//! Actions on scale sets and on their instances, and deletion of both.

use serde_json::{Value, json};

use super::{finish, flexible, instance::Seen, is_flexible, serve};
use crate::{
    call::Call,
    durations::{self, EVICTION, Timing},
    error::ArmError,
    http::Answer,
    json::{flag, items, number, same, set, text},
    lro::{self, Plan, Twin},
    routes::{
        common::not_served,
        compute::{
            guest::Host,
            machine::{action as machine_action, preconditions},
        },
    },
    store::{
        entry::{Entry, Operation, Power, Resource, Style, Work},
        scale_set::{Instance, Provisioning},
        world::World,
    },
};

/// What an action does to each instance.
struct Action {
    name: &'static str,
    work: Work,
    /// The power state while it runs.
    meanwhile: Option<Power>,
    /// Whether the ids of instances must be given.
    needs_ids: bool,
}

const fn action(name: &'static str, work: Work, meanwhile: Option<Power>) -> Action {
    Action {
        name,
        work,
        meanwhile,
        needs_ids: false,
    }
}

const ACTIONS: [Action; 10] = [
    action("start", Work::Start, Some(Power::Starting)),
    action("powerOff", Work::PowerOff, Some(Power::Stopping)),
    action("restart", Work::Start, None),
    action("deallocate", Work::Deallocate, Some(Power::Deallocating)),
    action("redeploy", Work::UpdateMachine, None),
    action("reimage", Work::UpdateMachine, None),
    action("reimageAll", Work::UpdateMachine, None),
    Action {
        needs_ids: true,
        ..action("manualUpgrade", Work::UpdateMachine, None)
    },
    Action {
        needs_ids: true,
        ..action("delete", Work::Delete, None)
    },
    action(RUN_COMMAND, Work::UpdateMachine, None),
];

/// Of single instances alone.
const RUN_COMMAND: &str = "runCommand";

fn find(call: &Call<'_>) -> Result<&'static Action, ArmError> {
    let kind = call.path.kind();
    let name = kind.rsplit('/').next().unwrap_or_default();
    ACTIONS
        .iter()
        .find(|action| same(action.name, name))
        .ok_or_else(|| not_served(call))
}

/// An action on a set, for all instances or those that its body names.
pub(crate) fn on_set(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let set_ = serve::set_of(world, call)?.clone();
    if call.path.kind().ends_with("/setorchestrationservicestate") {
        return service_state(world, call, &set_);
    }
    let action = find(call)?;
    if action.name == RUN_COMMAND {
        return Err(not_served(call));
    }
    let given = match call.incoming.text().trim() {
        "" => json!({}),
        text => crate::body::read(text)?,
    };
    let ids: Option<Vec<String>> = given.get("instanceIds").map(|_| {
        items(&given, "/instanceIds")
            .iter()
            .filter_map(|id| id.as_str().map(str::to_owned))
            .collect()
    });
    if action.needs_ids && ids.as_ref().is_none_or(Vec::is_empty) {
        return Err(ArmError::missing_parameter("instanceIds"));
    }
    run(world, call, &set_, action, ids.as_deref())
}

/// An action on one instance; `*` stands for all.
pub(crate) fn on_instance(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let set_ = serve::set_of(world, call)?.clone();
    let id = call.path.name(1).to_owned();
    if id != "*" {
        serve::instance_of(&set_, &id)?;
    }
    if call.path.kind().ends_with("/simulateeviction") {
        return simulate(world, call, &set_, &id);
    }
    let action = find(call)?;
    if action.name == RUN_COMMAND {
        return run_command(world, call, &set_, &id, action);
    }
    run(world, call, &set_, action, Some(&[id]))
}

/// A command in the guest of one instance. Instances of a Flexible set are asked as the VMs that
/// they are.
fn run_command(
    world: &mut World,
    call: &Call<'_>,
    set_: &Resource,
    id: &str,
    action: &Action,
) -> Result<Answer, ArmError> {
    if is_flexible(&set_.body) {
        return Err(not_served(call));
    }
    let seen = serve::instance_of(set_, id)?;
    if seen.instance.power != Some(Power::Running) {
        return Err(ArmError::not_allowed(
            "The operation requires the VM to be running (or set to run).",
        ));
    }
    let fabric = set_.id.to_string();
    let host = Host {
        size: text(&set_.body, "/sku/name").unwrap_or_default(),
        fabric: &fabric,
    };
    let output = machine_action::run_in_guest(call, host)?;
    let ids = chosen(set_, Some(&[id.to_owned()]))?;
    let timing = durations::machine("runcommand");
    let mut operation = begin(world, call, set_, action.work, action.name, timing);
    let now = world.now();
    let number = operation.number;
    world.change(&set_.id, |set_| {
        operation.instances = change(set_, action, &ids, number, now);
    });
    operation.output = Some(output);
    world.put(Entry::Operation(Box::new(operation.clone())));
    Ok(announce(call, &operation, timing))
}

/// Deletes one instance.
pub(crate) fn delete_instance(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let set_ = serve::set_of(world, call)?.clone();
    let id = call.path.name(1).to_owned();
    if Seen::find(&set_, &id).is_none() && flexible::named(world, &set_, &id).is_none() {
        return Ok(Answer::empty(204));
    }
    let delete = ACTIONS
        .iter()
        .find(|action| action.work == Work::Delete)
        .ok_or_else(|| not_served(call))?;
    run(world, call, &set_, delete, Some(&[id]))
}

/// Recorded: the state of a service such as automatic repairs is taken note of by an operation.
fn service_state(world: &mut World, call: &Call<'_>, set_: &Resource) -> Result<Answer, ArmError> {
    let given = crate::body::read(&call.incoming.text())?;
    for member in ["serviceName", "action"] {
        if text(&given, &format!("/{member}")).is_none() {
            return Err(ArmError::missing_parameter(member));
        }
    }
    let timing = durations::scale_set("setorchestrationservicestate");
    let operation = begin(world, call, set_, Work::Nothing, "SetServiceState", timing);
    Ok(announce(call, &operation, timing))
}

fn run(
    world: &mut World,
    call: &Call<'_>,
    set_: &Resource,
    action: &Action,
    ids: Option<&[String]>,
) -> Result<Answer, ArmError> {
    if set_.state() == "Deleting" {
        return Err(ArmError::not_allowed(format!(
            "Operation is not allowed on VM scale set '{}' since it is marked for deletion.",
            set_.name()
        )));
    }
    let named = ids.filter(|ids| !ids.iter().any(|id| id == "*"));
    if action.work == Work::Deallocate && is_ephemeral(set_) {
        return Err(ArmError::not_allowed(format!(
            "Operation 'deallocate' is not supported on VM scale set '{}' since its VMs use \
             ephemeral OS disks.",
            set_.name()
        )));
    }
    let timing = durations::scale_set(&action.name.to_lowercase());
    if is_flexible(&set_.body) {
        on_machines(world, call, set_, action, named)?;
        let operation = begin(world, call, set_, Work::Nothing, action.name, timing);
        return Ok(announce(call, &operation, timing));
    }
    let ids = chosen(set_, named)?;
    let mut operation = begin(world, call, set_, action.work, action.name, timing);
    let now = world.now();
    let number = operation.number;
    let mut touched = Vec::new();
    world.change(&set_.id, |set_| {
        touched = change(set_, action, &ids, number, now);
    });
    operation.instances = touched;
    world.put(Entry::Operation(Box::new(operation.clone())));
    Ok(announce(call, &operation, timing))
}

fn is_ephemeral(set: &Resource) -> bool {
    text(
        &set.body,
        "/properties/virtualMachineProfile/storageProfile/osDisk/diffDiskSettings/option",
    )
    .is_some()
}

/// The instances that were named, or all that are not protected from actions on the set.
fn chosen(set: &Resource, named: Option<&[String]>) -> Result<Vec<u64>, ArmError> {
    let Some(named) = named else {
        let hidden = set.hidden.scale_set.as_deref();
        return Ok(hidden
            .into_iter()
            .flat_map(crate::store::scale_set::ScaleSet::living)
            .filter(|(_, instance)| !is_protected(instance))
            .map(|(id, _)| id)
            .collect());
    };
    let mut ids = Vec::new();
    for name in named {
        match Seen::find(set, name) {
            Some(seen) => ids.push(seen.id),
            None => return Err(unknown(name)),
        }
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

fn is_protected(instance: &Instance) -> bool {
    instance.own.as_ref().is_some_and(|own| {
        flag(
            own,
            "/properties/protectionPolicy/protectFromScaleSetActions",
        ) == Some(true)
    })
}

fn unknown(name: &str) -> ArmError {
    ArmError::invalid_parameter(
        "instanceIds",
        format!(
            "The provided instanceId {name} is not an active Virtual Machine Scale Set VM \
             instanceId."
        ),
    )
}

/// Begins the change of instances; answers which do change.
fn change(
    set: &mut Resource,
    action: &Action,
    ids: &[u64],
    operation: u64,
    now: crate::clock::Instant,
) -> Vec<u64> {
    let mut touched = Vec::new();
    let Some(hidden) = &mut set.hidden.scale_set else {
        return touched;
    };
    let newest = hidden.model;
    for id in ids {
        let Some(instance) = hidden.instances.get_mut(id) else {
            continue;
        };
        if is_done(instance, action) {
            continue;
        }
        instance.operation = Some(operation);
        instance.state = Provisioning::Updating;
        match action.name {
            "delete" => instance.state = Provisioning::Deleting,
            "manualUpgrade" => instance.model = newest,
            "reimage" | "reimageAll" => instance.reimaged += 1,
            _ => {}
        }
        if let Some(meanwhile) = action.meanwhile {
            instance.power = Some(meanwhile);
            instance.since = now;
        }
        touched.push(*id);
    }
    if action.work == Work::Delete {
        let gone = u64::try_from(touched.len()).unwrap_or(0);
        let capacity = number(&set.body, "/sku/capacity").unwrap_or(0);
        finish::set_capacity(set, capacity.saturating_sub(gone));
    }
    touched
}

/// Starting what runs and stopping what is stopped changes nothing.
fn is_done(instance: &Instance, action: &Action) -> bool {
    let power = instance.power;
    if instance.state == Provisioning::Deleting {
        return true;
    }
    match action.name {
        "start" => power == Some(Power::Running),
        "powerOff" => !instance.is_allocated() || power == Some(Power::Stopped),
        "deallocate" | "restart" | "redeploy" => !instance.is_allocated(),
        _ => false,
    }
}

fn begin(
    world: &mut World,
    call: &Call<'_>,
    set: &Resource,
    work: Work,
    title: &str,
    timing: Timing,
) -> Operation {
    lro::begin(
        world,
        call,
        &Plan {
            target: &set.id,
            location: &set.location,
            style: Style::Compute,
            work,
            title,
            timing,
        },
    )
}

fn announce(call: &Call<'_>, operation: &Operation, timing: Timing) -> Answer {
    lro::announce(
        Answer::empty(202),
        call,
        operation,
        Twin::Yes,
        timing.retry_after,
    )
}

/// An action on the VMs of a Flexible set, whose ids are their names.
fn on_machines(
    world: &mut World,
    call: &Call<'_>,
    set: &Resource,
    action: &Action,
    named: Option<&[String]>,
) -> Result<(), ArmError> {
    let machines: Vec<Resource> = match named {
        None => flexible::machines(world, set).cloned().collect(),
        Some(named) => named
            .iter()
            .map(|name| {
                flexible::named(world, set, name)
                    .cloned()
                    .ok_or_else(|| unknown(name))
            })
            .collect::<Result<_, _>>()?,
    };
    for vm in machines {
        if action.work == Work::Delete {
            flexible::delete(world, call, &vm.id);
            flexible::recount(world, &vm.body);
        } else if ["manualUpgrade", "reimageAll"].contains(&action.name) {
            return Err(ArmError::not_allowed(format!(
                "Operation '{}' is not supported on VM scale set '{}' with Flexible orchestration \
                 mode.",
                action.name,
                set.name()
            )));
        } else {
            machine_action::unseen(world, call, &vm, action.name);
        }
    }
    Ok(())
}

/// Begins to change one instance.
pub(crate) fn begin_update(
    world: &mut World,
    call: &Call<'_>,
    set: &Resource,
    id: u64,
) -> Operation {
    let timing = durations::scale_set("update instance");
    let mut operation = begin(
        world,
        call,
        set,
        Work::UpdateMachine,
        "UpdateInstance",
        timing,
    );
    operation.instances = vec![id];
    world.put(Entry::Operation(Box::new(operation.clone())));
    operation
}

/// Takes a Spot instance back after a while.
fn simulate(
    world: &mut World,
    call: &Call<'_>,
    set: &Resource,
    id: &str,
) -> Result<Answer, ArmError> {
    let seen = serve::instance_of(set, id)?;
    let priority = text(&seen.model.profile, "/priority").unwrap_or_default();
    if !same(priority, "Spot") && !same(priority, "Low") {
        return Err(ArmError::not_allowed(
            "Operation 'simulateEviction' is allowed only for Spot Virtual Machines",
        ));
    }
    let number = seen.id;
    let mut operation = lro::begin(
        world,
        call,
        &Plan {
            target: &set.id,
            location: &set.location,
            style: Style::Hidden,
            work: Work::Evict,
            title: "simulateEviction",
            timing: Timing {
                takes: EVICTION,
                retry_after: None,
            },
        },
    );
    operation.instances = vec![number];
    world.put(Entry::Operation(Box::new(operation)));
    Ok(Answer::empty(204))
}

/// Deletes a set and all its instances.
pub(crate) fn delete(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let Some(found) = crate::routes::compute::existing(world, call) else {
        return Ok(Answer::empty(204));
    };
    preconditions(call, Some(&found))?;
    let timing = durations::scale_set("delete set");
    let operation = if let Some(operation) = lro::deletion(world, &found) {
        operation
    } else {
        if let Some(running) = &found.operation {
            lro::preempt(world, running);
        }
        begin(
            world,
            call,
            &found,
            Work::Delete,
            "DeleteVMScaleSet",
            timing,
        )
    };
    world.change(&found.id, |found| {
        set(
            &mut found.body,
            "/properties/provisioningState",
            Value::from("Deleting"),
        );
        found.operation = Some(operation.id.clone());
    });
    Ok(announce(call, &operation, timing))
}
