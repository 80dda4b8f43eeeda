//! What is read after an apply: as planned, perhaps old, or certainly otherwise.

use model::{
    catalog::Catalog,
    live::{Live, Power, Provisioning},
    plan::Plan,
    resource::tags,
    spec::{Spec, Stage, Workload},
    units::CaseInsensitive,
};
use tensorform_planner::{Unreached, unreached};

use crate::support::{
    applied, empty, good_plan, live_stack, options, planned_with, pool, spec, vm,
};

fn small() -> Spec {
    spec(pool(Stage::Training, Workload::Small))
}

/// The spec with a tag on everything.
fn tagged(value: &str) -> Spec {
    let mut spec = small();
    spec.tags
        .insert(CaseInsensitive::from("team"), value.to_owned());
    spec
}

fn found(plan: &Plan, live: &Live) -> Vec<(String, bool)> {
    let all = unreached(plan, live, Catalog::embedded());
    all.into_iter()
        .map(
            |Unreached {
                 address,
                 may_be_behind,
             }| (address.to_string(), may_be_behind),
        )
        .collect()
}

const VM: &str = "pool.train[0].vm";

#[test]
fn what_was_made_and_does_not_show_yet_may_be_old_news() {
    let plan = good_plan(&small(), &empty());
    let mut live = live_stack(&small());
    assert_eq!(found(&plan, &live), []);
    vm(&mut live, 0).state.provisioning = Provisioning::Creating;
    assert_eq!(found(&plan, &live), [(VM.to_owned(), true)]);
    vm(&mut live, 0).state.provisioning = Provisioning::Failed;
    vm(&mut live, 0).state.power = None;
    assert_eq!(found(&plan, &live), [(VM.to_owned(), false)]);
    live.resources
        .retain(|resource| resource.id.name() != "demo-train-0");
    assert_eq!(found(&plan, &live), [(VM.to_owned(), true)]);
}

#[test]
fn an_old_value_may_be_old_news_and_a_third_one_is_not() {
    let before = live_stack(&tagged("one"));
    let plan = good_plan(&tagged("two"), &before);
    let changed = plan.changes().count();
    assert!(changed > 5);
    let old = found(&plan, &before);
    assert_eq!(old.len(), changed);
    assert!(
        old.iter().all(|(_, may_be_behind)| *may_be_behind),
        "{old:?}"
    );
    let mut live = applied(&plan, &before);
    assert_eq!(found(&plan, &live), []);
    vm(&mut live, 0).tags.set("team", "three");
    let resource = vm(&mut live, 0).resource.as_mut().expect("a VM");
    resource.tags.set("team", "three");
    assert_eq!(found(&plan, &live), [(VM.to_owned(), false)]);
}

#[test]
fn what_was_not_touched_and_changed_is_certain() {
    let live = live_stack(&small());
    let plan = good_plan(&small(), &live);
    assert_eq!(plan.changes().count(), 0);
    let mut gone = live.clone();
    gone.resources
        .retain(|resource| resource.id.name() != "demo-train-0");
    assert_eq!(found(&plan, &gone), [(VM.to_owned(), false)]);
    let mut off = live;
    vm(&mut off, 0).state.power = Some(Power::Deallocated);
    assert_eq!(found(&plan, &off), [(VM.to_owned(), false)]);
}

#[test]
fn what_was_deleted_or_started_and_shows_otherwise_may_be_old_news() {
    let live = live_stack(&small());
    let mut destroy = options();
    destroy.destroy = true;
    let plan = planned_with(&small(), Catalog::embedded(), &live, &destroy)
        .plan
        .expect("a plan");
    let left = found(&plan, &live);
    assert_eq!(left.len(), live.resources.len());
    assert!(
        left.iter().all(|(_, may_be_behind)| *may_be_behind),
        "{left:?}"
    );

    let mut off = live;
    vm(&mut off, 0).state.power = Some(Power::Deallocated);
    let plan = good_plan(&small(), &off);
    assert_eq!(found(&plan, &off), [(VM.to_owned(), true)]);
    // Stopped on purpose meanwhile: as good as it was.
    vm(&mut off, 0).tags.set(tags::POWER, "stopped");
    assert_eq!(found(&plan, &off), []);
}
