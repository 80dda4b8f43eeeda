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
        compute::{
            guest::{self, Host},
            quota::is_spot,
        },
    },
    store::{
        entry::{Entry, Operation, Power, Resource, Style, Work},
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

const ACTIONS: [Action; 8] = [
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
        name: "reimage",
        work: Work::UpdateMachine,
        meanwhile: None,
        needs_hardware: true,
    },
    Action {
        name: "runCommand",
        work: Work::UpdateMachine,
        meanwhile: None,
        needs_hardware: true,
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
    match name.as_str() {
        "simulateeviction" => return simulate(world, call, &vm),
        "generalize" => return Ok(generalize(world, &vm)),
        "capture" => return Err(no_capture()),
        "retrievebootdiagnosticsdata" => return boot_diagnostics(&vm),
        _ => {}
    }
    let action = ACTIONS
        .iter()
        .find(|action| action.name.eq_ignore_ascii_case(&name))
        .ok_or_else(|| not_served(call))?;
    check(action, &vm)?;
    let output = if action.name == "runCommand" {
        Some(command_output(call, &vm)?)
    } else {
        None
    };
    let timing = durations::machine(&name);
    let mut operation = act(world, call, &vm, action, (timing, Style::Compute));
    if output.is_some() {
        operation.output = output;
        world.put(Entry::Operation(Box::new(operation.clone())));
    }
    Ok(lro::announce(
        Answer::empty(202),
        call,
        &operation,
        Twin::Yes,
        timing.retry_after,
    ))
}

/// Acts on a VM of a Flexible scale set, with an operation that nobody polls; what does not fit
/// its state is left alone.
pub(crate) fn unseen(world: &mut World, call: &Call<'_>, vm: &Resource, name: &str) {
    let action = ACTIONS
        .iter()
        .find(|action| action.name.eq_ignore_ascii_case(name));
    let fits = |action: &&Action| vm.state() != "Deleting" && check(action, vm).is_ok();
    if let Some(action) = action.filter(fits) {
        let timing = durations::scale_set(&name.to_lowercase());
        act(world, call, vm, action, (timing, Style::Hidden));
    }
}

/// Begins an action on a VM.
fn act(
    world: &mut World,
    call: &Call<'_>,
    vm: &Resource,
    action: &Action,
    (timing, style): (Timing, Style),
) -> Operation {
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
        | Work::ResizePool
        | Work::Register
        | Work::Unregister
        | Work::Deploy => false,
    };
    let work = if done {
        Work::UpdateMachine
    } else {
        action.work
    };
    let operation = begin_as(world, call, vm, work, action.name, (timing, style));
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
    operation
}

/// Makes a VM ready to be an image, at once.
fn generalize(world: &mut World, vm: &Resource) -> Answer {
    world.change(&vm.id, |vm| {
        if let Some(machine) = &mut vm.hidden.machine {
            machine.generalized = true;
        }
    });
    Answer::empty(200)
}

/// Disks of the sandbox are managed, and those of such VMs are never captured.
fn no_capture() -> ArmError {
    ArmError::not_allowed(
        "Capture operation is only supported on Virtual Machines with blob based disks. Please \
         use the 'Image' resource APIs to create a managed Image from a Virtual Machine.",
    )
}

/// Where the guest's screen and log would be. The addresses lead nowhere.
fn boot_diagnostics(vm: &Resource) -> Result<Answer, ArmError> {
    let place = "/properties/diagnosticsProfile/bootDiagnostics/enabled";
    if crate::json::flag(&vm.body, place) != Some(true) {
        return Err(ArmError::new(
            409,
            "OperationNotAllowed",
            format!(
                "Retrieving boot diagnostics data requires boot diagnostics of VM '{}' to be \
                 enabled.",
                vm.name()
            ),
        ));
    }
    let id = text(&vm.body, "/properties/vmId").unwrap_or_default();
    let blob = |what: &str| format!("https://sandbox.invalid/{id}/{}.{what}", vm.name());
    Ok(Answer::json(
        200,
        json!({
            "consoleScreenshotBlobUri": blob("screenshot.bmp"),
            "serialConsoleLogBlobUri": blob("serialconsole.log"),
        }),
    ))
}

/// What a command says that was run: there is no guest to run it.
fn command_output(call: &Call<'_>, vm: &Resource) -> Result<Value, ArmError> {
    let own = vm.id.to_string();
    let fabric = ["availabilitySet", "virtualMachineScaleSet"]
        .iter()
        .find_map(|group| text(&vm.body, &format!("/properties/{group}/id")));
    run_in_guest(
        call,
        Host {
            size: text(&vm.body, "/properties/hardwareProfile/vmSize").unwrap_or_default(),
            fabric: fabric.unwrap_or(&own),
        },
    )
}

/// The result of a run command in the guest of a machine.
pub(crate) fn run_in_guest(call: &Call<'_>, host: Host<'_>) -> Result<Value, ArmError> {
    let given = crate::body::read(&call.incoming.text())?;
    if text(&given, "/commandId").is_none() {
        return Err(ArmError::missing_parameter("commandId"));
    }
    Ok(guest::result(host, &given, call.ailment.as_ref()))
}

fn is_off(power: Option<Power>) -> bool {
    matches!(power, None | Some(Power::Deallocated))
}

/// Refuses an action that does not fit the state of the VM.
fn check(action: &Action, vm: &Resource) -> Result<(), ArmError> {
    let power = vm.hidden.machine.as_ref().and_then(|machine| machine.power);
    let generalized = vm
        .hidden
        .machine
        .as_ref()
        .is_some_and(|machine| machine.generalized);
    if generalized && action.work == Work::Start {
        return Err(ArmError::not_allowed(format!(
            "Operation '{}' is not allowed on VM '{}' since the VM is generalized.",
            action.name,
            vm.name()
        )));
    }
    if action.name == "runCommand" && power != Some(Power::Running) {
        return Err(ArmError::not_allowed(
            "The operation requires the VM to be running (or set to run).",
        ));
    }
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
    begin_as(world, call, vm, work, title, (timing, Style::Compute))
}

fn begin_as(
    world: &mut World,
    call: &Call<'_>,
    vm: &Resource,
    work: Work,
    title: &str,
    (timing, style): (Timing, Style),
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
            style,
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
    let operation = match lro::deletion(world, &vm) {
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
