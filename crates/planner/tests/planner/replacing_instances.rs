//! `--replace` with an instance of a scale set: the new one comes before the old one goes.

use model::{
    catalog::Catalog,
    diag::Severity,
    live::Live,
    plan::{Action, Operation, Plan, ReasonCode},
    resource::tags,
    spec::Spec,
};
use tensorform_planner::Planned;

use crate::{
    scale_sets::{ethernet, fabric, live_set, step, with_count},
    support::{live_stack, options, planned_with, spec},
};

fn replacing(spec: &Spec, live: &Live, addresses: &[&str]) -> Planned {
    let mut options = options();
    let named = addresses.iter().map(|one| one.parse().expect("an address"));
    options.permissions.replace = named.collect();
    planned_with(spec, Catalog::embedded(), live, &options)
}

fn good(planned: Planned) -> Plan {
    let errors = planned.diagnostics.has_errors();
    assert!(!errors, "{:#?}", planned.diagnostics);
    planned.plan.expect("a plan")
}

fn said(planned: &Planned, code: &str) -> Vec<(Severity, String)> {
    let found = planned.diagnostics.iter();
    found
        .filter(|finding| finding.code.as_str() == code)
        .map(|finding| (finding.severity, finding.message.clone()))
        .collect()
}

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn replace(instances: &[&str]) -> Operation {
    Operation::ReplaceInstances {
        instances: ids(instances),
    }
}

fn delete(instances: &[&str]) -> Operation {
    Operation::DeleteInstances {
        instances: ids(instances),
    }
}

fn capacity() -> Operation {
    Operation::Patch {
        attributes: ids(&["capacity"]),
    }
}

#[test]
fn a_node_of_a_set_is_replaced_by_a_new_one_that_comes_first() {
    let spec = spec(fabric(4));
    let live = live_stack(&spec);
    for address in [
        "pool.train[3]",
        "pool.train[3].vm",
        "pool.train.demo-train_3",
    ] {
        let planned = replacing(&spec, &live, &[address]);
        let message = "`demo-train` gets 1 new instance, and then loses 3".to_owned();
        assert_eq!(said(&planned, "STATE006"), [(Severity::Note, message)]);
        let plan = good(planned);
        let step = step(&plan);
        assert_eq!(
            (step.action, step.reason.code, &step.operations),
            (Action::Update, ReasonCode::Asked, &vec![replace(&["3"])]),
            "{address}"
        );
        let changed: Vec<&str> = plan.changes().map(|step| step.address.leaf()).collect();
        assert_eq!(changed, ["scale_set"], "nothing else changes");
    }
}

#[test]
fn new_nodes_need_quota_beside_the_old_ones() {
    let spec = spec(fabric(4));
    let live = live_stack(&spec);
    let plan = good(replacing(&spec, &live, &["pool.train[0]", "pool.train[2]"]));
    assert_eq!(step(&plan).operations, [replace(&["0", "2"])]);
    let needed = |name: &str| {
        let line = plan.quota.iter().find(|line| line.name == name);
        line.map(|line| line.needed)
    };
    assert_eq!(needed("cores"), Some(2 * 96));
    assert_eq!(needed("virtualMachines"), Some(2));
}

#[test]
fn what_a_run_left_halfway_is_gone_on_with() {
    let spec = spec(fabric(4));
    // The new one was made, and the old one is still there.
    let live = live_stack(&with_count(&spec, 5));
    let plan = good(replacing(&spec, &live, &["pool.train[1]"]));
    assert_eq!(step(&plan).operations, [delete(&["1"])]);
    // The old one went too.
    let mut live = live_stack(&with_count(&spec, 5));
    let (_, set, instances) = live_set(&mut live);
    set.capacity = 4;
    instances.retain(|one| one.id != "1");
    let planned = replacing(&spec, &live, &["pool.train[1]"]);
    let message = "`pool.train[1]` is gone or going already: nothing is replaced".to_owned();
    assert_eq!(said(&planned, "CHANGE006"), [(Severity::Note, message)]);
    assert!(!good(planned).has_changes);
}

#[test]
fn what_is_too_many_anyway_is_what_is_named() {
    let spec = spec(fabric(4));
    let live = live_stack(&with_count(&spec, 6));
    let named = ["pool.train[0]", "pool.train[1]", "pool.train[2]"];
    let plan = good(replacing(&spec, &live, &named));
    assert_eq!(
        step(&plan).operations,
        [delete(&["1", "2"]), replace(&["0"])],
        "two are too many, and one is replaced"
    );
}

#[test]
fn a_full_set_over_infiniband_loses_the_old_one_first_and_says_so() {
    let spec = spec(fabric(100));
    let live = live_stack(&spec);
    let planned = replacing(&spec, &live, &["pool.train[7]"]);
    let message = "`demo-train` is full: 7 goes before there is a new one: Azure may hand the same \
                   host back, or have none";
    let found = said(&planned, "CHANGE008");
    assert_eq!(found, [(Severity::Warning, message.to_owned())]);
    let plan = good(planned);
    assert_eq!(step(&plan).operations, [delete(&["7"]), capacity()]);
    // One below has room.
    let spec = with_count(&spec, 99);
    let plan = good(replacing(&spec, &live_stack(&spec), &["pool.train[7]"]));
    assert_eq!(step(&plan).operations, [replace(&["7"])]);
}

#[test]
fn nodes_of_flexible_sets_are_named_by_their_names() {
    let spec = spec(ethernet(12));
    let mut live = live_stack(&spec);
    for (index, one) in live_set(&mut live).2.iter_mut().enumerate() {
        one.name = format!("demo-train_a{index:02}");
        one.id.clone_from(&one.name);
    }
    let plan = good(replacing(&spec, &live, &["pool.train.demo-train_a03"]));
    assert_eq!(step(&plan).operations, [replace(&["demo-train_a03"])]);
    let planned = replacing(&spec, &live, &["pool.train[3]"]);
    let finding = planned
        .diagnostics
        .iter()
        .find(|one| one.code.as_str() == "CHANGE005");
    let finding = finding.expect("a refusal");
    assert_eq!(
        finding.message,
        "`--replace` names `pool.train[3]`, and `demo-train` has no such instance"
    );
    assert_eq!(
        finding.help[0],
        "`--replace` takes instances: `pool.train.demo-train_a00`, `pool.train.demo-train_a01`, \
         `pool.train.demo-train_a02`, `pool.train.demo-train_a03` and 8 more"
    );
}

#[test]
fn instances_that_cannot_be_replaced_are_refused() {
    let mut protected = fabric(4);
    protected.protect = true;
    let stack = spec(protected);
    let planned = replacing(&stack, &live_stack(&stack), &["pool.train[1]"]);
    assert_eq!(said(&planned, "CHANGE004").len(), 1);

    let stack = spec(fabric(4));
    let planned = replacing(&stack, &live_stack(&stack), &["pool.train[9]"]);
    assert_eq!(said(&planned, "CHANGE005").len(), 1);

    let mut live = live_stack(&stack);
    for resource in &mut live.resources {
        if resource
            .address()
            .is_some_and(|one| one.leaf() == "scale_set")
        {
            resource.tags.set(tags::POWER, "stopped");
        }
    }
    let planned = replacing(&stack, &live, &["pool.train[1]"]);
    let message = "`demo-train` is stopped, and a new instance of it would run".to_owned();
    assert_eq!(said(&planned, "CHANGE006"), [(Severity::Error, message)]);
}
