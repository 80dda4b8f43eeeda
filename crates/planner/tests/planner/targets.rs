//! Plans about some pools alone.

use std::collections::BTreeSet;

use model::{
    catalog::Catalog,
    live::Live,
    plan::{Action, Plan},
    spec::{SizeChoice, Spec, Stage, Workload},
    units::{Region, SizeName},
};
use tensorform_planner::{Options, Planned};

use crate::support::{actions, applied, codes, empty, options, planned_with, pool, spec};

/// Three pools, each with one node.
fn three() -> Spec {
    let mut spec = spec(pool(Stage::Training, Workload::Small));
    for name in ["serve", "spare"] {
        spec.pools
            .insert(name.to_owned(), pool(Stage::Inference, Workload::Small));
    }
    spec
}

fn about(names: &[&str]) -> Options {
    Options {
        targets: names.iter().map(|name| (*name).to_owned()).collect(),
        ..options()
    }
}

fn planned(spec: &Spec, live: &Live, names: &[&str]) -> Planned {
    planned_with(spec, Catalog::embedded(), live, &about(names))
}

fn good(spec: &Spec, live: &Live, names: &[&str]) -> Plan {
    let planned = planned(spec, live, names);
    assert!(
        !planned.diagnostics.has_errors(),
        "{:#?}",
        planned.diagnostics
    );
    let plan = planned.plan.expect("a plan");
    assert_eq!(plan.breaches(), Vec::<String>::new());
    plan
}

fn pools(plan: &Plan) -> BTreeSet<String> {
    let names = plan
        .changes()
        .filter_map(|step| step.address.pool_name().map(str::to_owned));
    names.collect()
}

#[test]
fn a_target_is_made_with_what_it_needs_and_nothing_else() {
    let plan = good(&three(), &empty(), &["serve"]);
    assert_eq!(pools(&plan), ["serve".to_owned()].into());
    assert_eq!(plan.targets, ["serve"]);
    assert_eq!(plan.pools.len(), 1);
    let shared = plan
        .steps
        .iter()
        .filter(|step| step.address.pool_name().is_none());
    assert_eq!(shared.count(), 7, "group, network and key");
    let planned = planned(&three(), &empty(), &["serve"]);
    assert!(codes(&planned.diagnostics).contains(&"PLAN005"));
    // The rest is made by a later plan, which finds nothing to change in what there is.
    let live = applied(&plan, &empty());
    let rest = good(&three(), &live, &[]);
    assert_eq!(
        pools(&rest),
        ["spare".to_owned(), "train".to_owned()].into()
    );
    assert!(rest.changes().all(|step| step.action == Action::Create));
}

#[test]
fn what_others_cost_stays_in_the_sum() {
    let whole = good(&three(), &empty(), &[]);
    let live = applied(&whole, &empty());
    let plan = good(&three(), &live, &["train"]);
    assert_eq!(actions(&plan), []);
    assert_eq!(plan.cost.before, whole.cost.after);
    assert_eq!(plan.cost.after, whole.cost.after);
}

#[test]
fn a_pool_that_left_the_spec_can_be_the_target_and_others_stay() {
    let live = applied(&good(&three(), &empty(), &[]), &empty());
    let mut shrunk = three();
    shrunk.pools.remove("serve");
    shrunk.pools.remove("spare");
    let plan = good(&shrunk, &live, &["serve"]);
    let expected = [("pool.serve[0].vm".to_owned(), Action::Delete)];
    assert_eq!(actions(&plan), expected);
    assert_eq!(plan.steps.len(), 1);
    assert_eq!(actions(&good(&shrunk, &live, &["train"])), []);
}

#[test]
fn what_is_wrong_with_other_pools_does_not_stop_a_target() {
    let mut spec = three();
    let spare = spec.pools.get_mut("spare").expect("a pool");
    spare.size = SizeChoice::Named(SizeName::from("Standard_Nonsense_v9"));
    let whole = planned(&spec, &empty(), &[]);
    assert!(whole.plan.is_none());
    let plan = good(&spec, &empty(), &["serve", "train"]);
    assert_eq!(
        pools(&plan),
        ["serve".to_owned(), "train".to_owned()].into()
    );
    assert!(planned(&spec, &empty(), &["spare"]).plan.is_none());
    // A region in which only the other pools find nothing is as good as any.
    spec.locations = vec![Region::new("eastus"), Region::new("westus2")];
    assert_eq!(
        good(&spec, &empty(), &["serve"]).scope.location.as_str(),
        "eastus"
    );
}

#[test]
fn a_target_that_nobody_knows_is_refused_with_the_nearest_name() {
    let planned = planned(&three(), &empty(), &["tarin"]);
    let finding = planned
        .diagnostics
        .iter()
        .find(|finding| finding.code.as_str() == "PLAN006")
        .expect("refused");
    assert_eq!(
        finding.message,
        "`--target` names `tarin`, and there is no such pool"
    );
    assert_eq!(finding.help, ["did you mean `train`?"]);
}

#[test]
fn what_is_to_be_replaced_is_of_a_pool_that_the_plan_is_about() {
    let spec = three();
    let live = applied(
        &good(&spec, &empty(), &["train", "serve", "spare"]),
        &empty(),
    );
    let mut options = about(&["train"]);
    for (address, refused) in [("pool.serve[0].vm", true), ("pool.train[0].vm", false)] {
        options.permissions.replace = vec![address.parse().expect("an address")];
        let planned = planned_with(&spec, Catalog::embedded(), &live, &options);
        let found = codes(&planned.diagnostics).contains(&"CHANGE005");
        assert_eq!(found, refused, "{:?}", planned.diagnostics);
    }
}
