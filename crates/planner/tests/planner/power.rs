//! `stop` and `start`, and instances of scale sets that come back.

use model::{
    catalog::Catalog,
    live::{Live, Power},
    plan::{Action, Operation, Step},
    resource::tags,
    spec::{EphemeralPlacement, Spec, Stage, Workload},
};
use tensorform_planner::{Options, Power as Wish};

use crate::{
    scale_sets::{away, ethernet, going, live_set, step, with_count},
    support::{codes, good_plan, live_stack, options, planned_with, pool, spec, vm},
};

fn small() -> Spec {
    spec(pool(Stage::Training, Workload::Small))
}

fn powered(wish: Wish, live: &Live) -> model::plan::Plan {
    let mut options = options();
    options.power = Some(wish);
    options.targets = ["train".to_owned()].into();
    let planned = planned_with(&small(), Catalog::embedded(), live, &options);
    assert!(
        !planned.diagnostics.has_errors(),
        "{:?}",
        planned.diagnostics
    );
    let plan = planned.plan.expect("a plan");
    assert_eq!(plan.breaches(), Vec::<String>::new());
    plan
}

#[test]
fn stop_marks_and_deallocates_nodes_and_start_undoes_both() {
    let mut live = live_stack(&small());
    let plan = powered(Wish::Stop, &live);
    let steps: Vec<&Step> = plan.changes().collect();
    let [step] = steps.as_slice() else {
        panic!("one node: {steps:?}");
    };
    assert_eq!(step.action, Action::StopUpdate);
    assert!(
        matches!(
            step.operations.as_slice(),
            [Operation::MergeTags { .. }, Operation::Deallocate]
        ),
        "{:?}",
        step.operations
    );
    assert!(
        plan.cost.after.hourly_micros < plan.cost.before.hourly_micros,
        "only disks are paid for"
    );

    vm(&mut live, 0).state.power = Some(Power::Deallocated);
    vm(&mut live, 0).tags.set(tags::POWER, tags::STOPPED);
    let resource = vm(&mut live, 0).resource.as_mut().expect("a resource");
    resource.tags.set(tags::POWER, tags::STOPPED);
    assert!(!powered(Wish::Stop, &live).has_changes);
    assert!(!good_plan(&small(), &live).has_changes, "it is no drift");

    let plan = powered(Wish::Start, &live);
    let step = plan.changes().next().expect("a change");
    assert_eq!(step.action, Action::Start);
    assert!(
        matches!(
            step.operations.as_slice(),
            [Operation::MergeTags { .. }, Operation::Start]
        ),
        "{:?}",
        step.operations
    );
    assert!(plan.cost.after.hourly_micros > plan.cost.before.hourly_micros);
}

#[test]
fn a_pool_without_nodes_cannot_be_stopped() {
    let mut options = options();
    options.power = Some(Wish::Stop);
    for pool in ["train", "nosuch"] {
        options.targets = [pool.to_owned()].into();
        let planned = planned_with(
            &small(),
            Catalog::embedded(),
            &crate::support::empty(),
            &options,
        );
        assert!(
            codes(&planned.diagnostics).contains(&"PLAN006"),
            "{pool}: {:?}",
            planned.diagnostics
        );
    }
}

#[test]
fn nodes_whose_os_disk_would_go_are_not_stopped_but_start() {
    let spec = small();
    let mut live = live_stack(&spec);
    let resource = vm(&mut live, 0).resource.as_mut().expect("a resource");
    let machine = resource.virtual_machine_mut().expect("a machine");
    machine.os_disk.ephemeral = Some(EphemeralPlacement::CacheDisk);
    let mut options = options();
    options.targets = ["train".to_owned()].into();
    for (wish, refused) in [(Wish::Stop, true), (Wish::Start, false)] {
        options.power = Some(wish);
        let planned = planned_with(&spec, Catalog::embedded(), &live, &options);
        let found = codes(&planned.diagnostics).contains(&"CHANGE002");
        assert_eq!(found, refused, "{wish:?}: {:?}", planned.diagnostics);
    }
}

/// What a plan costs before and after, and the codes of its findings.
fn money(spec: &Spec, live: &Live, options: &Options) -> (i64, i64, Vec<String>) {
    let planned = planned_with(spec, Catalog::embedded(), live, options);
    let found = codes(&planned.diagnostics);
    let found = found.into_iter().map(ToOwned::to_owned).collect();
    let cost = planned.plan.expect("a plan").cost;
    (
        cost.before.hourly_micros.0,
        cost.after.hourly_micros.0,
        found,
    )
}

#[test]
fn new_instances_of_a_stopped_set_run_and_are_paid_for() {
    let spec = spec(ethernet(12));
    let mut live = live_stack(&spec);
    mark(&mut live, tags::STOPPED);
    for one in live_set(&mut live).2.iter_mut() {
        one.state = away();
    }
    let (stopped, after, found) = money(&spec, &live, &options());
    assert_eq!(stopped, after);
    assert!(!found.contains(&"STATE008".to_owned()), "{found:?}");
    let (before, after, found) = money(&with_count(&spec, 13), &live, &options());
    // What twelve machines without their disks cost is the difference between running and not.
    let (running, _, _) = money(&spec, &live_stack(&spec), &options());
    assert!(
        after - before > (running - stopped) / 12,
        "{after} {before}"
    );
    assert!(found.contains(&"STATE008".to_owned()), "{found:?}");
}

#[test]
fn nodes_that_run_though_they_were_stopped_are_said_and_paid_for() {
    let wide = spec(ethernet(12));
    let mut live = live_stack(&wide);
    mark(&mut live, tags::STOPPED);
    let (before, after, found) = money(&wide, &live, &options());
    assert_eq!(before, after, "a mark gives no hardware back");
    assert!(found.contains(&"STATE008".to_owned()), "{found:?}");

    let mut live = live_stack(&small());
    vm(&mut live, 0).tags.set(tags::POWER, tags::STOPPED);
    let (before, after, found) = money(&small(), &live, &options());
    assert_eq!(before, after);
    assert!(found.contains(&"STATE008".to_owned()), "{found:?}");
}

#[test]
fn a_stopped_node_that_is_replaced_runs_and_is_paid_for() {
    let running = live_stack(&small());
    let (all, _, _) = money(&small(), &running, &options());
    let mut live = running;
    vm(&mut live, 0).tags.set(tags::POWER, tags::STOPPED);
    vm(&mut live, 0).state.power = Some(Power::Deallocated);
    let mut options = options();
    options.permissions.replace = vec!["pool.train[0].vm".parse().expect("an address")];
    let (before, after, _) = money(&small(), &live, &options);
    assert!(before < after);
    assert_eq!(after, all);
}

/// Marks the set as stopped by somebody who asked for it.
pub(crate) fn mark(live: &mut Live, power: &str) {
    let mut sets = live.resources.iter_mut();
    let set = sets.find(|one| {
        one.resource
            .as_ref()
            .is_some_and(|it| it.scale_set().is_some())
    });
    let set = set.expect("the set");
    set.tags.set(model::resource::tags::POWER, power);
}

#[test]
fn instances_that_azure_took_back_are_started_again() {
    let spec = spec(ethernet(20));
    let mut live = live_stack(&spec);
    let (_, _, instances) = live_set(&mut live);
    for at in [4, 11] {
        instances[at].state = away();
    }
    instances[11].state.evicted = true;
    let plan = good_plan(&spec, &live);
    let step = step(&plan);
    assert_eq!(
        (step.action, step.reason.code),
        (Action::Start, model::plan::ReasonCode::Evicted)
    );
    let [Operation::StartInstances { instances }] = step.operations.as_slice() else {
        panic!("{:?}", step.operations);
    };
    assert_eq!(*instances, ["4", "11"]);
    // A smaller set lets those go that have no hardware, and starts nothing.
    let plan = good_plan(&with_count(&spec, 18), &live);
    assert_eq!(going(&plan), ["4", "11"]);
}
