//! `stop` and `start`: nodes of pools give back their hardware, or get some again. The wish stands
//! in a tag of each, so that no plan does the opposite.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    diag::{At, Code, Diagnostic},
    live::{Instance, LiveResource, Power as State, Provisioning},
    plan::{Action, AttributeChange, Fingerprint, Operation, Reason, ReasonCode, Step},
    resource::{Resource, ResourceKind, Tags, tags},
};
use serde_json::Value;

use crate::{
    diff::{Changes, anew::stands_on_hardware, index::Index, instances::is_stopped},
    plan::Input,
    shape::{Allowed, Desired},
};

/// What is asked of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// Get hardware and run.
    Start,
    /// Give the hardware back; only disks are paid for then.
    Stop,
}

/// The steps for the nodes of the pools that the plan is about, and what they are to be.
pub(crate) fn run(wish: Power, input: Input<'_>, index: &Index<'_>) -> (Changes, Vec<Desired>) {
    let mut changes = Changes::default();
    let mut desired = Vec::new();
    let mut without: BTreeSet<&String> = input.options.targets.iter().collect();
    let mut services = BTreeMap::new();
    for (address, live) in index.ours() {
        let pool = input
            .options
            .targets
            .iter()
            .find(|pool| address.pool_name() == Some(pool));
        let (Some(pool), Some(resource)) = (pool, &live.resource) else {
            continue;
        };
        let has_power = [
            ResourceKind::VirtualMachine,
            ResourceKind::VirtualMachineScaleSet,
        ];
        if let Some(service) = service_of(resource.kind()) {
            services.insert(pool, service);
        }
        if !has_power.contains(&resource.kind()) {
            continue;
        }
        without.remove(pool);
        if wish == Power::Stop && stands_on_hardware(resource) {
            changes.diagnostics.push(never_stops(address));
        }
        let step = step(wish, address, live, resource, index.instances(&live.id));
        desired.push(Desired {
            address: step.address.clone(),
            id: step.id.clone(),
            resource: step.after.clone().unwrap_or_else(|| resource.clone()),
            needs: Vec::new(),
            allowed: Allowed::default(),
        });
        changes.steps.push(step);
    }
    for pool in without {
        let finding = nothing_to(wish, pool, services.get(pool).copied());
        changes.diagnostics.push(finding);
    }
    (changes, desired)
}

/// Why there is nothing to start or to stop in a pool.
fn nothing_to(wish: Power, pool: &str, service: Option<(&str, &str)>) -> Diagnostic {
    let does = match wish {
        Power::Start => "start",
        Power::Stop => "stop",
    };
    let (message, help) = match service {
        Some((service, key)) => (
            format!(
                "`{pool}` is a pool of {service}, which has no nodes to {does}: they come and go by number"
            ),
            format!("change `count`, or let `{key}` decide it; without nodes a pool costs nothing"),
        ),
        None => (
            format!("`{pool}` has no nodes: there is nothing to {does}"),
            "`tensorform status` shows what is live; `apply` makes what the spec wants".to_owned(),
        ),
    };
    Diagnostic::new(Code::TargetUnknown, At::Nowhere, message).with_help(help)
}

/// The service that decides about the nodes of a kind of pool, and the key by which it may.
fn service_of(kind: ResourceKind) -> Option<(&'static str, &'static str)> {
    let services = [
        (ResourceKind::BatchPool, ("Batch", "batch.autoscale")),
        (ResourceKind::AgentPool, ("AKS", "aks.autoscale")),
        (ResourceKind::NodeArray, ("CycleCloud", "the scheduler")),
    ];
    let mut of_kind = services.into_iter().filter(|(one, _)| *one == kind);
    of_kind.next().map(|(_, service)| service)
}

/// Azure does not deallocate what would be gone with its hardware.
fn never_stops(address: &Address) -> Diagnostic {
    let message = "the OS disk stands on the node, so that Azure does not deallocate it";
    Diagnostic::new(Code::ChangeRefused, At::Resource(address.clone()), message)
        .with_help("`count: 0` gives the nodes back, with all that is on them")
        .with_help("`disks.os.ephemeral: none` makes nodes whose OS disk stays")
}

fn step(
    wish: Power,
    address: &Address,
    live: &LiveResource,
    resource: &Resource,
    instances: &[Instance],
) -> Step {
    let mut after = resource.clone();
    let mut operations = Vec::new();
    let mut attributes = Vec::new();
    if live.state.provisioning != Provisioning::Failed
        && live.state.provisioning != Provisioning::Succeeded
    {
        operations.push(Operation::Settle);
    }
    // The wish comes first: whatever fails after it, the next apply goes on in its direction.
    match wish {
        Power::Stop => after.tags.set(tags::POWER, tags::STOPPED),
        Power::Start => {
            after.tags.remove(tags::POWER);
        }
    }
    if is_stopped(live) != (wish == Power::Stop) {
        let mut set = Tags::default();
        let mut remove = Vec::new();
        match wish {
            Power::Stop => set.set(tags::POWER, tags::STOPPED),
            Power::Start => remove.push(tags::POWER.to_owned()),
        }
        operations.push(Operation::MergeTags { set, remove });
        let word = |is_there: bool| {
            if is_there {
                Value::from(tags::STOPPED)
            } else {
                Value::Null
            }
        };
        attributes.push(AttributeChange {
            path: format!("tags.{}", tags::POWER),
            before: word(wish == Power::Start),
            after: word(wish == Power::Stop),
            effect: Action::Update,
        });
    }
    let acts = act(wish, live, resource.kind(), instances);
    let action = match (wish, acts.is_some(), operations.is_empty()) {
        (_, false, true) => Action::NoOp,
        (_, false, false) => Action::Update,
        (Power::Stop, true, _) => Action::StopUpdate,
        (Power::Start, true, _) => Action::Start,
    };
    operations.extend(acts);
    Step {
        address: address.clone(),
        kind: resource.kind(),
        id: live.id.clone(),
        action,
        operations,
        reason: Reason {
            code: ReasonCode::Asked,
            attributes,
        },
        before: Some(resource.clone()),
        after: Some(after),
        needs: Vec::new(),
        fingerprint: Fingerprint::new(Some(live.values())),
        alternates: Vec::new(),
    }
}

/// What gives a resource hardware or takes it; nothing where it is as it is to be.
fn act(
    wish: Power,
    live: &LiveResource,
    kind: ResourceKind,
    instances: &[Instance],
) -> Option<Operation> {
    if kind == ResourceKind::VirtualMachine {
        let is_off = matches!(
            live.state.power,
            Some(State::Deallocated | State::Deallocating)
        );
        let runs = live.state.power == Some(State::Running);
        return match wish {
            Power::Stop => (!is_off).then_some(Operation::Deallocate),
            Power::Start => (!runs).then_some(Operation::Start),
        };
    }
    let concerned = instances.iter().filter(|one| {
        let is_there = !one.is_going() && !one.never_made();
        is_there && (one.is_away() == (wish == Power::Start))
    });
    let mut instances: Vec<String> = concerned.map(|one| one.id.clone()).collect();
    instances.sort_by_key(|id| (id.parse::<u64>().ok(), id.clone()));
    (!instances.is_empty()).then_some(match wish {
        Power::Stop => Operation::DeallocateInstances { instances },
        Power::Start => Operation::StartInstances { instances },
    })
}
