//! Other ways to make a pool, recorded in the plan, and what keeps to them afterwards.

use std::collections::BTreeMap;

use model::{
    catalog::Catalog,
    live::{Answer, Live, UsageFact},
    plan::{Action, Plan, Scarcity},
    spec::{
        Budget, DataDisk, DiskType, Eviction, OnExceed, OnPartial, Pool, Priority, SizeChoice,
        Spec, Spot, Stage, Workload, Zones,
    },
    units::{SizeName, Span},
};
use rust_decimal::Decimal;

use crate::support::{
    actions, applied, codes, empty, generous, good_plan, live_stack, options, planned,
    planned_with, pool, spec, vm,
};

const FIRST: &str = "Standard_E8s_v5";
const SECOND: &str = "Standard_F8s_v2";

fn two_nodes() -> Pool {
    let mut pool = pool(Stage::Training, Workload::Small);
    pool.count = Some(2);
    pool.size = SizeChoice::Named(SizeName::from(FIRST));
    pool.zones = Zones::None;
    pool
}

fn falling_back(sizes: &[&str]) -> Spec {
    let mut pool = two_nodes();
    pool.fallback = sizes.iter().map(|size| SizeName::from(*size)).collect();
    spec(pool)
}

fn spot_or_regular() -> Spec {
    let mut pool = two_nodes();
    pool.stage = Stage::Inference;
    pool.priority = Priority::Spot(Spot {
        max_price: None,
        eviction: Eviction::Delete,
        fallback_to_regular: true,
    });
    spec(pool)
}

/// Labels of the other ways, which must be the same for all creations of the pool.
fn labels(plan: &Plan) -> Vec<String> {
    let mut all: Vec<Vec<String>> = plan
        .changes()
        .filter(|step| step.address.pool_name().is_some())
        .map(|step| {
            let others = step.alternates.iter();
            others.map(|other| other.label.clone()).collect()
        })
        .collect();
    all.dedup();
    assert_eq!(
        all.len(),
        1,
        "a number is one way of the whole pool: {all:?}"
    );
    all.pop().unwrap_or_default()
}

/// The world after the plan was applied in another way.
fn made(plan: &Plan, number: usize) -> Live {
    let taken = BTreeMap::from([("train".to_owned(), number)]);
    applied(&plan.taking(&taken), &empty())
}

#[test]
fn sizes_of_fallback_are_ways_of_the_whole_pool() {
    let plan = good_plan(&falling_back(&[SECOND, "Standard_D8s_v5"]), &empty());
    assert_eq!(labels(&plan), [SECOND, "Standard_D8s_v5"]);
    for number in [0, 1] {
        let taken = BTreeMap::from([("train".to_owned(), number)]);
        let other = plan.taking(&taken);
        assert_eq!(other.breaches(), Vec::<String>::new());
        for step in other.changes() {
            if let Some(vm) = step
                .after
                .as_ref()
                .and_then(|after| after.virtual_machine())
            {
                assert_eq!(vm.size.as_str(), labels(&plan)[number]);
            }
        }
    }
    let usual = Scarcity {
        wait_seconds: 0,
        min_count: None,
        rollback: false,
    };
    assert_eq!(plan.pools["train"].scarcity, Some(usual));
    let plain = good_plan(&falling_back(&[]), &empty());
    assert_eq!(labels(&plain), Vec::<String>::new());
    assert_eq!(plain.pools["train"].scarcity, None);
}

#[test]
fn what_was_made_in_another_way_stays_so() {
    let spec = falling_back(&[SECOND]);
    let live = made(&good_plan(&spec, &empty()), 0);
    let plan = good_plan(&spec, &live);
    assert_eq!(actions(&plan), []);
    assert_eq!(plan.pools["train"].size.as_str(), SECOND);
    // A node that is missing gets the size of the others, and no other way: nothing is mixed.
    let mut half = live.clone();
    half.resources
        .retain(|resource| resource.id.name() != "demo-train-1");
    let plan = good_plan(&spec, &half);
    assert_eq!(
        actions(&plan),
        [("pool.train[1].vm".to_owned(), Action::Create)]
    );
    assert_eq!(labels(&plan), Vec::<String>::new());
    // A size that left the list is no choice of the spec's any more.
    assert!(planned(&falling_back(&[]), &live).diagnostics.has_errors());
    // Chosen anew, the first size is taken, which needs permission.
    let mut anew = options();
    anew.reselect = true;
    let planned = planned_with(&spec, Catalog::embedded(), &live, &anew);
    assert!(codes(&planned.diagnostics).contains(&"CHANGE001"));
}

#[test]
fn live_nodes_of_the_first_way_get_no_other() {
    let spec = falling_back(&[SECOND]);
    let live = live_stack(&spec);
    let mut more = spec.clone();
    more.pools.get_mut("train").expect("a pool").count = Some(3);
    let plan = good_plan(&more, &live);
    assert_eq!(labels(&plan), Vec::<String>::new());
    assert_eq!(plan.pools["train"].size.as_str(), FIRST);
}

#[test]
fn spot_that_falls_back_is_regular_and_stays_so() {
    let spec = spot_or_regular();
    let plan = good_plan(&spec, &empty());
    assert_eq!(plan.pools["train"].priority, "spot");
    assert_eq!(labels(&plan), [format!("{FIRST} at the regular price")]);
    let live = made(&plan, 0);
    let again = good_plan(&spec, &live);
    assert_eq!(actions(&again), []);
    assert_eq!(again.pools["train"].priority, "regular");
    // Without permission to fall back, regular nodes are not what the spec asks for.
    let mut only_spot = spec;
    let pool = only_spot.pools.get_mut("train").expect("a pool");
    pool.priority = Priority::Spot(Spot {
        max_price: None,
        eviction: Eviction::Delete,
        fallback_to_regular: false,
    });
    assert!(planned(&only_spot, &live).diagnostics.has_errors());
}

#[test]
fn a_pool_in_one_zone_may_move_to_another_with_its_disks() {
    let mut pool = two_nodes();
    pool.zones = Zones::Listed(vec![2]);
    pool.disks.data.push(DataDisk {
        size_gb: 64,
        disk_type: DiskType::Premium,
        lun: 0,
    });
    assert_eq!(
        labels(&good_plan(&spec(pool.clone()), &empty())),
        Vec::<String>::new()
    );
    pool.count = Some(1);
    pool.zones = Zones::Listed(vec![2, 3]);
    let plan = good_plan(&spec(pool), &empty());
    assert_eq!(labels(&plan), ["zone 3"]);
    let other = plan.taking(&BTreeMap::from([("train".to_owned(), 0)]));
    for step in other
        .changes()
        .filter(|step| step.address.pool_name().is_some())
    {
        let document = step.after.as_ref().expect("made").document();
        assert_eq!(
            document["zones"],
            serde_json::json!(["3"]),
            "{}",
            step.address
        );
    }
}

#[test]
fn a_pool_over_zones_may_do_without_each_of_them() {
    let mut pool = two_nodes();
    pool.zones = Zones::Auto;
    pool.count = Some(5);
    let check = |pool: &Pool, expected: &[(&str, [&str; 5])]| {
        let spec = spec(pool.clone());
        let plan = good_plan(&spec, &empty());
        let names: Vec<&str> = expected.iter().map(|(label, _)| *label).collect();
        assert_eq!(labels(&plan), names);
        for (number, (label, zones)) in expected.iter().enumerate() {
            let taken = BTreeMap::from([("train".to_owned(), number)]);
            let other = plan.taking(&taken);
            assert_eq!(other.breaches(), Vec::<String>::new());
            let vms = other.steps.iter().filter_map(|step| {
                let vm = step.after.as_ref()?.virtual_machine()?;
                vm.zones.first().map(String::as_str)
            });
            assert_eq!(vms.collect::<Vec<_>>(), zones, "{label}");
            // What was made so stays so, and its nodes have nowhere to go.
            let again = good_plan(&spec, &made(&plan, number));
            assert_eq!(actions(&again), [], "{label}");
        }
    };
    // Five in zones 1, 2, 3, 1, 2: those that are not in the full zone stay where they are.
    check(
        &pool,
        &[
            ("zones 2, 3", ["3", "2", "3", "2", "2"]),
            ("zones 1, 3", ["1", "3", "3", "1", "1"]),
            ("zones 1, 2", ["1", "2", "1", "1", "2"]),
        ],
    );
    pool.zones = Zones::Listed(vec![1, 2]);
    check(&pool, &[("zone 2", ["2"; 5]), ("zone 1", ["1"; 5])]);
    // A zone that no node is in yet is open too.
    pool.zones = Zones::Auto;
    pool.count = Some(2);
    let plan = good_plan(&spec(pool), &empty());
    assert_eq!(labels(&plan), ["zones 2, 3", "zones 1, 3"]);
}

#[test]
fn a_way_for_which_quota_lacks_is_left_out_and_said() {
    let spec = falling_back(&[SECOND, "Standard_D8s_v5"]);
    let mut live = empty();
    live.facts = generous();
    let region = model::units::Region::new("eastus");
    let short = UsageFact {
        name: "standardFSv2Family".to_owned(),
        display_name: "Standard FSv2 Family vCPUs".to_owned(),
        limit: 10,
        used: 4,
    };
    if let Some(Answer::Known(counters)) = live.facts.compute_quota.get_mut(&region) {
        counters.push(short);
    }
    let planned = planned(&spec, &live);
    assert!(
        !planned.diagnostics.has_errors(),
        "{:?}",
        planned.diagnostics
    );
    let mut findings = planned.diagnostics.iter();
    let finding = findings.find(|finding| finding.code.as_str() == "SIZE011");
    assert_eq!(
        finding.expect("it is said").message,
        "without capacity, Standard_F8s_v2 is not tried: quota `standardFSv2Family` in eastus: limit 10, used 4, needed 16, short by 10"
    );
    assert_eq!(labels(&planned.plan.expect("a plan")), ["Standard_D8s_v5"]);
}

#[test]
fn a_fallback_that_cannot_work_is_left_out_and_said() {
    let planned = planned(&falling_back(&["Standard_Nonsense_v9", SECOND]), &empty());
    assert!(!planned.diagnostics.has_errors());
    let finding = planned
        .diagnostics
        .iter()
        .find(|finding| finding.code.as_str() == "SIZE011")
        .expect("said");
    assert!(
        finding.message.contains("Standard_Nonsense_v9"),
        "{finding:?}"
    );
    assert_eq!(labels(&planned.plan.expect("a plan")), [SECOND]);
}

#[test]
fn a_way_that_the_budget_does_not_allow_is_left_out_and_said() {
    let mut spec = falling_back(&["Standard_F64as_v6", SECOND]);
    let all = labels(&good_plan(&spec, &empty()));
    spec.budget = Some(Budget {
        hourly: Some(Decimal::from(2)),
        monthly: None,
        currency: "USD".to_owned(),
        on_exceed: OnExceed::Error,
    });
    let planned = planned(&spec, &empty());
    assert!(
        !planned.diagnostics.has_errors(),
        "{:?}",
        planned.diagnostics
    );
    let plan = planned.plan.expect("a plan");
    let affordable: Vec<String> = all
        .into_iter()
        .filter(|label| label != "Standard_F64as_v6")
        .collect();
    assert_eq!(labels(&plan), affordable);
    let mut findings = planned.diagnostics.iter();
    let finding = findings.find(|finding| finding.code.as_str() == "SIZE011");
    let message = &finding.expect("it is said").message;
    let says = "Standard_F64as_v6 is not tried: the stack costs";
    assert!(message.contains(says), "{message}");
}

#[test]
fn what_the_spec_says_of_capacity_stands_in_the_plan() {
    let mut pool = two_nodes();
    pool.capacity.wait = Span::from_seconds(7_200);
    pool.capacity.min_count = Some(1);
    pool.capacity.on_partial = OnPartial::Rollback;
    let plan = good_plan(&spec(pool), &empty());
    let expected = Scarcity {
        wait_seconds: 7_200,
        min_count: Some(1),
        rollback: true,
    };
    assert_eq!(plan.pools["train"].scarcity, Some(expected));
}

#[test]
fn a_node_of_another_way_that_never_got_hardware_is_made_again_as_it_is() {
    let spec = falling_back(&[SECOND]);
    let mut live = made(&good_plan(&spec, &empty()), 0);
    let broken = vm(&mut live, 1);
    broken.state.provisioning = model::live::Provisioning::Failed;
    broken.state.power = None;
    let plan = good_plan(&spec, &live);
    assert_eq!(
        actions(&plan),
        [("pool.train[1].vm".to_owned(), Action::Repair)]
    );
}
