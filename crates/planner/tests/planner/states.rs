//! States of live resources: failed, half made, evicted, stopped.

use model::{
    catalog::Catalog,
    live::{Live, Power, Provisioning},
    plan::{Action, Operation, ReasonCode, Step},
    resource::tags,
    spec::{Spec, Stage, Workload},
};
use tensorform_planner::staleness;

use crate::support::{
    actions, codes, good_plan, live_stack, options, planned, planned_with, pool, spec, vm,
};

fn small() -> Spec {
    spec(pool(Stage::Training, Workload::Small))
}

fn only_change(live: &Live) -> Step {
    let plan = good_plan(&small(), live);
    assert_eq!(plan.changes().count(), 1, "{:?}", actions(&plan));
    plan.changes().next().cloned().expect("one change")
}

#[test]
fn a_vm_that_never_got_hardware_is_made_again() {
    for power in [None, Some(Power::Unknown)] {
        let mut live = live_stack(&small());
        vm(&mut live, 0).state.provisioning = Provisioning::Failed;
        vm(&mut live, 0).state.power = power;
        vm(&mut live, 0).state.message = Some("AllocationFailed".to_owned());
        let step = only_change(&live);
        assert_eq!(
            (step.action, step.reason.code),
            (Action::Repair, ReasonCode::FailedWithoutHardware)
        );
        assert_eq!(step.operations, [Operation::Put]);
        let planned = planned(&small(), &live);
        let finding = planned
            .diagnostics
            .iter()
            .find(|finding| finding.code.as_str() == "STATE002")
            .expect("said");
        assert!(finding.message.contains("AllocationFailed"));
    }
}

#[test]
fn of_three_vms_only_the_one_that_failed_is_made_again() {
    let mut spec = small();
    if let Some(pool) = spec.pools.get_mut("train") {
        pool.count = Some(3);
    }
    let mut live = live_stack(&spec);
    vm(&mut live, 1).state.provisioning = Provisioning::Failed;
    vm(&mut live, 1).state.power = None;
    let plan = planned(&spec, &live).plan.expect("a plan");
    let changes: Vec<_> = plan
        .changes()
        .map(|step| (step.address.to_string(), step.action))
        .collect();
    assert_eq!(changes, [("pool.train[1].vm".to_owned(), Action::Repair)]);
    for node in [0, 2] {
        let address = format!("pool.train[{node}].vm");
        let step = plan
            .steps
            .iter()
            .find(|step| step.address.to_string() == address);
        assert_eq!(
            step.map(|step| step.action),
            Some(Action::NoOp),
            "{address}"
        );
    }
}

#[test]
fn a_vm_that_runs_is_reported_and_never_deleted() {
    let mut live = live_stack(&small());
    vm(&mut live, 0).state.provisioning = Provisioning::Failed;
    let step = only_change(&live);
    assert_eq!(
        (step.action, step.reason.code),
        (Action::Repair, ReasonCode::FailedRunning)
    );
    assert_eq!(step.operations, [Operation::Reapply]);
    assert!(codes(&planned(&small(), &live).diagnostics).contains(&"STATE001"));
}

#[test]
fn an_evicted_or_deallocated_vm_is_started_unless_it_was_stopped_on_purpose() {
    let mut live = live_stack(&small());
    vm(&mut live, 0).state.power = Some(Power::Deallocated);
    let step = only_change(&live);
    assert_eq!(
        (step.action, step.reason.code),
        (Action::Start, ReasonCode::Deallocated)
    );
    assert_eq!(step.operations, [Operation::Start]);
    vm(&mut live, 0).state.evicted = true;
    assert_eq!(only_change(&live).reason.code, ReasonCode::Evicted);

    vm(&mut live, 0).tags.set(tags::POWER, "stopped");
    let plan = good_plan(&small(), &live);
    assert_eq!(actions(&plan), []);
    let compute = plan
        .cost
        .lines
        .iter()
        .filter(|line| line.kind == model::plan::CostKind::Compute)
        .count();
    assert_eq!(compute, 0, "a stopped VM pays only for its disks");
}

#[test]
fn a_deallocated_vm_is_changed_before_it_starts() {
    let mut live = live_stack(&small());
    vm(&mut live, 0).state.power = Some(Power::Deallocated);
    let mut larger = small();
    if let Some(pool) = larger.pools.get_mut("train") {
        pool.size = model::spec::SizeChoice::Named("Standard_E16as_v5".into());
    }
    let plan = good_plan(&larger, &live);
    let step = plan.changes().next().expect("a change");
    assert_eq!(step.action, Action::Start);
    assert_eq!(
        step.operations,
        [
            Operation::Patch {
                attributes: vec!["disk_controller".to_owned(), "size".to_owned()]
            },
            Operation::Start
        ]
    );
}

#[test]
fn a_write_under_way_is_waited_for() {
    let mut live = live_stack(&small());
    vm(&mut live, 0).state.provisioning = Provisioning::Creating;
    let step = only_change(&live);
    assert_eq!(
        (step.action, step.operations.as_slice()),
        (Action::Repair, &[Operation::Settle][..])
    );

    vm(&mut live, 0).state.provisioning = Provisioning::Deleting;
    let step = only_change(&live);
    assert_eq!(step.action, Action::Create);
    assert_eq!(step.operations, [Operation::AwaitGone, Operation::Create]);
}

#[test]
fn destroy_takes_what_is_half_made_or_half_gone() {
    let mut options = options();
    options.destroy = true;
    let operations = |provisioning: Provisioning| {
        let mut live = live_stack(&small());
        vm(&mut live, 0).state.provisioning = provisioning;
        let plan = planned_with(&small(), Catalog::embedded(), &live, &options)
            .plan
            .expect("a plan");
        let step = plan
            .steps
            .iter()
            .find(|step| step.address.to_string() == "pool.train[0].vm");
        step.map(|step| step.operations.clone()).unwrap_or_default()
    };
    assert_eq!(operations(Provisioning::Failed), [Operation::Delete]);
    assert_eq!(
        operations(Provisioning::Creating),
        [Operation::Settle, Operation::Delete]
    );
    assert_eq!(operations(Provisioning::Deleting), [Operation::AwaitGone]);
}

#[test]
fn a_saved_plan_goes_stale_only_by_what_it_relies_on() {
    let live = live_stack(&small());
    let mut larger = small();
    if let Some(pool) = larger.pools.get_mut("train") {
        pool.size = model::spec::SizeChoice::Named("Standard_E16as_v7".into());
    }
    let plan = good_plan(&larger, &live);
    assert!(staleness(&plan, &live).is_empty());

    let mut unrelated = live.clone();
    for resource in &mut unrelated.resources {
        if let Some(resource) = &mut resource.resource
            && resource.kind().takes_tags()
        {
            resource.tags.set("createdBy", "policy");
        }
    }
    assert!(
        staleness(&plan, &unrelated).is_empty(),
        "a stranger's tag changes nothing"
    );

    let mut resized = live.clone();
    if let Some(model::resource::Properties::VirtualMachine(vm)) = vm(&mut resized, 0)
        .resource
        .as_mut()
        .map(|resource| &mut resource.properties)
    {
        vm.size = "Standard_E32as_v7".into();
    }
    let stale = staleness(&plan, &resized);
    let message = stale
        .iter()
        .next()
        .map(|finding| finding.message.clone())
        .unwrap_or_default();
    assert!(
        message.contains("`size`") && message.contains("E8as_v7") && message.contains("E32as_v7"),
        "{message}"
    );

    let mut gone = live.clone();
    gone.resources
        .retain(|resource| resource.arm_type != "Microsoft.Compute/virtualMachines");
    assert!(
        staleness(&plan, &gone)
            .iter()
            .any(|finding| finding.message.contains("is absent now"))
    );
}

#[test]
fn what_is_in_a_group_that_goes_is_made_again_with_it() {
    let mut live = live_stack(&small());
    let group = live.resources.iter_mut().find(|one| {
        let address = one.address();
        address.is_some_and(|address| address.leaf() == "resource_group")
    });
    group.expect("the group").state.provisioning = Provisioning::Deleting;
    let plan = good_plan(&small(), &live);
    assert_eq!(plan.changes().count(), plan.steps.len(), "all of it");
    for step in plan.changes() {
        let expected = [Operation::AwaitGone, Operation::Create];
        assert_eq!(step.operations, expected, "{}", step.address);
    }
}
