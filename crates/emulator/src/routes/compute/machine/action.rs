//! Power actions, evictions and deletion.

use serde_json::{Value, json};

use super::{not_deleting, preconditions};
use crate::{
    call::Call,
    durations::{self, EVICTION, Timing},
    error::ArmError,
    http::Answer,
    json::text,
    lro::{self, Plan, Twin},
    routes::{
        common::{self, not_served},
        compute::quota::is_spot,
    },
    store::{
        entry::{Operation, Power, Resource, Style, Work},
        world::World,
    },
};

/// What an action does and needs.
struct Action {
    name: &'static str,
    work: Work,
    /// The power state while it runs.
    meanwhile: Option<Power>,
    /// Whether the VM must hold hardware.
    needs_hardware: bool,
}

const ACTIONS: [Action; 6] = [
    Action {
        name: "start",
        work: Work::Start,
        meanwhile: Some(Power::Starting),
        needs_hardware: false,
    },
    Action {
        name: "powerOff",
        work: Work::PowerOff,
        meanwhile: Some(Power::Stopping),
        needs_hardware: true,
    },
    Action {
        name: "restart",
        work: Work::Start,
        meanwhile: None,
        needs_hardware: true,
    },
    Action {
        name: "redeploy",
        // Recorded: the etag stays, other than with a restart.
        work: Work::UpdateMachine,
        meanwhile: None,
        needs_hardware: true,
    },
    Action {
        name: "deallocate",
        work: Work::Deallocate,
        meanwhile: Some(Power::Deallocating),
        needs_hardware: false,
    },
    Action {
        name: "reapply",
        work: Work::UpdateMachine,
        meanwhile: None,
        needs_hardware: false,
    },
];

pub(crate) fn post(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let kind = call.path.kind();
    let name = kind.rsplit('/').next().unwrap_or_default().to_owned();
    let vm = common::resource(world, call)?.clone();
    not_deleting(&vm)?;
    if name == "simulateeviction" {
        return simulate(world, call, &vm);
    }
    let action = ACTIONS
        .iter()
        .find(|action| action.name.eq_ignore_ascii_case(&name))
        .ok_or_else(|| not_served(call))?;
    check(action, &vm)?;
    let power = vm.hidden.machine.as_ref().and_then(|machine| machine.power);
    // Starting what runs and stopping what is stopped is accepted and changes nothing.
    let done = match action.work {
        Work::Start => action.meanwhile.is_some() && power == Some(Power::Running),
        Work::PowerOff => power == Some(Power::Stopped),
        Work::Deallocate => is_off(power),
        Work::Nothing
        | Work::Settle
        | Work::CreateMachine
        | Work::UpdateMachine
        | Work::Evict
        | Work::Delete
        | Work::DeleteGroup
        | Work::Register
        | Work::Unregister
        | Work::Deploy => false,
    };
    let work = if done {
        Work::UpdateMachine
    } else {
        action.work
    };
    let timing = durations::machine(&name);
    let operation = begin(world, call, &vm, work, action.name, timing);
    let now = world.now();
    world.change(&vm.id, |vm| {
        vm.set_state("Updating");
        vm.operation = Some(operation.id.clone());
        if let (Some(machine), Some(meanwhile), false) =
            (&mut vm.hidden.machine, action.meanwhile, done)
        {
            machine.set_power(meanwhile, now);
        }
    });
    Ok(lro::announce(
        Answer::empty(202),
        call,
        &operation,
        Twin::Yes,
        timing.retry_after,
    ))
}

fn is_off(power: Option<Power>) -> bool {
    matches!(power, None | Some(Power::Deallocated))
}

/// Refuses an action that does not fit the state of the VM.
fn check(action: &Action, vm: &Resource) -> Result<(), ArmError> {
    let power = vm.hidden.machine.as_ref().and_then(|machine| machine.power);
    if action.needs_hardware && is_off(power) {
        return Err(ArmError::not_allowed(format!(
            "Operation '{}' is not allowed on VM '{}' since the VM is not running.",
            action.name,
            vm.name()
        )));
    }
    if action.work == Work::Deallocate && is_ephemeral(&vm.body) {
        return Err(ArmError::not_allowed(format!(
            "Operation 'deallocate' is not supported on VM '{}' since the VM is using ephemeral OS \
             disk.",
            vm.name()
        )));
    }
    Ok(())
}

fn is_ephemeral(body: &Value) -> bool {
    text(
        body,
        "/properties/storageProfile/osDisk/diffDiskSettings/option",
    )
    .is_some()
}

/// Begins an operation on a VM; a running one is preempted.
pub(crate) fn begin(
    world: &mut World,
    call: &Call<'_>,
    vm: &Resource,
    work: Work,
    title: &str,
    timing: Timing,
) -> Operation {
    if let Some(running) = &vm.operation {
        lro::preempt(world, running);
    }
    lro::begin(
        world,
        call,
        &Plan {
            target: &vm.id,
            location: &vm.location,
            style: Style::Compute,
            work,
            title,
            timing,
        },
    )
}

fn simulate(world: &mut World, call: &Call<'_>, vm: &Resource) -> Result<Answer, ArmError> {
    if !is_spot(&vm.body) {
        return Err(ArmError::not_allowed(
            "Operation 'simulateEviction' is allowed only for Spot Virtual Machines",
        ));
    }
    lro::begin(
        world,
        call,
        &Plan {
            target: &vm.id,
            location: &vm.location,
            style: Style::Hidden,
            work: Work::Evict,
            title: "simulateEviction",
            timing: Timing {
                takes: EVICTION,
                retry_after: None,
            },
        },
    );
    Ok(Answer::empty(204))
}

pub(crate) fn delete(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let Some(vm) = crate::routes::compute::existing(world, call) else {
        return Ok(Answer::empty(204));
    };
    preconditions(call, Some(&vm))?;
    let timing = durations::machine("delete");
    let running = vm
        .operation
        .as_ref()
        .and_then(|id| world.operation(id))
        .filter(|operation| operation.work == Work::Delete)
        .cloned();
    let operation = match running {
        // A repeated delete follows the one that runs.
        Some(operation) => operation,
        None => begin(
            world,
            call,
            &vm,
            Work::Delete,
            "DeleteVirtualMachine",
            timing,
        ),
    };
    world.change(&vm.id, |vm| {
        vm.body
            .pointer_mut("/properties/provisioningState")
            .into_iter()
            .for_each(|state| *state = json!("Deleting"));
        vm.operation = Some(operation.id.clone());
    });
    Ok(lro::announce(
        Answer::empty(202),
        call,
        &operation,
        Twin::Yes,
        timing.retry_after,
    ))
}
