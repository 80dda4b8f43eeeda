//! Zones: the open ones, an even and stable spread, and which node goes when a pool shrinks.

use std::collections::BTreeMap;

use model::{
    address::Address,
    catalog::Catalog,
    live::{Answer, Live, SizeFact},
    plan::Plan,
    resource::ResourceKind,
    spec::{DataDisk, DiskType, Pool, SizeChoice, Spec, Stage, Workload, Zones},
    units::{Region, SizeName},
};
use tensorform_planner::Planned;

use crate::support::{
    actions, applied, codes, empty, good_plan, live_stack, planned, planned_with, pool, spec, vm,
};

const CPU: &str = "Standard_E8as_v7";
const ETHERNET: &str = "Standard_NC24ads_A100_v4";
const INFINIBAND: &str = "Standard_ND96isr_H100_v5";

fn named(stage: Stage, workload: Workload, size: &str, count: u32) -> Pool {
    Pool {
        size: SizeChoice::Named(SizeName::from(size)),
        count: Some(count),
        ..pool(stage, workload)
    }
}

fn cpu(count: u32) -> Spec {
    spec(named(Stage::Training, Workload::Small, CPU, count))
}

fn with_zones(mut spec: Spec, zones: &Zones) -> Spec {
    for pool in spec.pools.values_mut() {
        pool.zones = zones.clone();
    }
    spec
}

/// A world in which the region has these sizes in zones 1 to 3, some of them closed.
fn world(closed: &[&str]) -> Live {
    let sizes = [CPU, ETHERNET, INFINIBAND].map(|name| {
        let fact = SizeFact {
            name: SizeName::from(name),
            family: String::new(),
            zones: ["1", "2", "3"].map(str::to_owned).into(),
            restricted: None,
            restricted_zones: closed.iter().map(|zone| (*zone).to_owned()).collect(),
            capabilities: BTreeMap::new(),
        };
        (SizeName::from(name), fact)
    });
    let mut live = empty();
    live.facts
        .sizes
        .insert(Region::new("eastus"), Answer::Known(sizes.into()));
    live
}

/// The zone of every VM that is there after the plan, by index.
fn zones_of(plan: &Plan) -> BTreeMap<u32, Option<String>> {
    let vms = plan.steps.iter().filter_map(|step| {
        let vm = step.after.as_ref()?.virtual_machine()?;
        Some((step.address.node_index()?, vm.zones.first().cloned()))
    });
    vms.collect()
}

fn in_order(plan: &Plan) -> Vec<String> {
    let zones = zones_of(plan).into_values();
    zones.map(Option::unwrap_or_default).collect()
}

fn set_zone(live: &mut Live, index: u32, zone: &str) {
    let vm = vm(live, index).resource.as_mut();
    if let Some(vm) = vm.and_then(|resource| resource.virtual_machine_mut()) {
        vm.zones = vec![zone.to_owned()];
    }
}

fn deleted(plan: &Plan) -> Vec<String> {
    let gone = plan.changes().filter(|step| step.after.is_none());
    gone.map(|step| step.address.to_string()).collect()
}

fn why(plan: &Plan) -> String {
    plan.pools["train"].why.join("\n")
}

#[test]
fn five_nodes_are_two_two_and_one_and_stay_so() {
    let spec = with_zones(cpu(5), &Zones::Listed(vec![1, 2, 3]));
    let plan = good_plan(&spec, &world(&[]));
    assert_eq!(in_order(&plan), ["1", "2", "3", "1", "2"]);
    assert_eq!(plan.pools["train"].zones, ["1", "2", "3"]);
    let live = applied(&plan, &world(&[]));
    assert_eq!(actions(&good_plan(&spec, &live)), []);
    let auto = good_plan(&cpu(5), &world(&[]));
    assert_eq!(in_order(&auto), ["1", "2", "3", "1", "2"]);
    let live = applied(&auto, &world(&[]));
    assert_eq!(actions(&good_plan(&cpu(5), &live)), []);
}

#[test]
fn a_smaller_pool_loses_nodes_of_the_fullest_zone() {
    let live = |zones: [&str; 5]| {
        let mut live = live_stack(&cpu(5));
        for (index, zone) in (0..).zip(zones) {
            set_zone(&mut live, index, zone);
        }
        live
    };
    let check = |zones: [&str; 5], count: u32, gone: &[&str]| {
        let live = live(zones);
        let plan = good_plan(&cpu(count), &live);
        assert_eq!(deleted(&plan), gone, "{zones:?} to {count}");
        assert_eq!(plan.changes().count(), gone.len(), "nothing else changes");
        let again = good_plan(&cpu(count), &applied(&plan, &live));
        assert_eq!(actions(&again), [], "{zones:?} to {count}");
    };
    check(["1", "2", "3", "1", "2"], 4, &["pool.train[4].vm"]);
    check(["1", "1", "1", "2", "3"], 4, &["pool.train[2].vm"]);
    check(
        ["1", "1", "1", "2", "3"],
        3,
        &["pool.train[2].vm", "pool.train[1].vm"],
    );
    check(["3", "3", "3", "3", "3"], 4, &["pool.train[4].vm"]);
    check(["1", "2", "3", "1", "2"], 5, &[]);
}

#[test]
fn a_gap_is_filled_where_the_fewest_nodes_are() {
    let mut live = live_stack(&cpu(5));
    for (index, zone) in (0..).zip(["1", "1", "1", "2", "3"]) {
        set_zone(&mut live, index, zone);
    }
    let smaller = good_plan(&cpu(4), &live);
    let live = applied(&smaller, &live);
    let plan = good_plan(&cpu(6), &live);
    assert_eq!(
        zones_of(&plan),
        BTreeMap::from(
            [(0, "1"), (1, "1"), (2, "2"), (3, "2"), (4, "3"), (5, "3")]
                .map(|(index, zone)| (index, Some(zone.to_owned())))
        )
    );
    assert_eq!(plan.changes().count(), 2);
}

#[test]
fn live_zones_stay_whatever_is_closed_later() {
    let live = applied(&good_plan(&cpu(3), &world(&[])), &world(&[]));
    let mut closed = live.clone();
    closed.facts = world(&["1", "3"]).facts;
    assert_eq!(actions(&good_plan(&cpu(3), &closed)), []);
    let plan = good_plan(&cpu(4), &closed);
    assert_eq!(in_order(&plan), ["1", "2", "3", "2"]);
}

#[test]
fn the_open_zone_is_taken_and_zone_numbers_are_explained() {
    let plan = good_plan(&cpu(1), &world(&["1", "3"]));
    assert_eq!(in_order(&plan), ["2"]);
    let why = why(&plan);
    assert!(
        why.contains("zone 2: zones 1, 3 are closed to the subscription"),
        "{why}"
    );
    assert!(
        why.contains("zone numbers are the subscription's own"),
        "{why}"
    );
}

#[test]
fn a_listed_zone_that_is_closed_is_refused_and_regional_is_offered() {
    let all_closed = world(&["1", "2", "3"]);
    let listed = planned(&with_zones(cpu(1), &Zones::Listed(vec![1])), &all_closed);
    assert!(listed.plan.is_none());
    let message = "`Standard_E8as_v7` cannot be in zone 1: every zone of eastus is closed to the subscription; `zones: none` would do, which is regional";
    assert_eq!(errors(&listed), [message]);
    for zones in [&Zones::None, &Zones::Auto] {
        let plan = good_plan(&with_zones(cpu(1), zones), &all_closed);
        assert_eq!(in_order(&plan), [""], "regional");
    }
    let one_closed = world(&["1"]);
    let listed = planned(&with_zones(cpu(1), &Zones::Listed(vec![1, 2])), &one_closed);
    assert_eq!(
        errors(&listed),
        ["`Standard_E8as_v7` cannot be in zone 1; open zones: 2, 3"]
    );
    let mut findings = listed.diagnostics.iter();
    let finding = findings.find(|finding| finding.code.as_str() == "SIZE003");
    let ways = &finding.expect("a refusal").help;
    assert!(
        ways.contains(&"`zones: none` would do".to_owned()),
        "{ways:?}"
    );
}

fn errors(planned: &Planned) -> Vec<&str> {
    let errors = planned
        .diagnostics
        .iter()
        .filter(|finding| finding.severity == model::diag::Severity::Error);
    errors.map(|finding| finding.message.as_str()).collect()
}

#[test]
fn infiniband_nodes_are_in_one_zone_at_most() {
    let one = spec(named(Stage::Training, Workload::Generative, INFINIBAND, 1));
    let plan = good_plan(&one, &world(&[]));
    assert_eq!(in_order(&plan), [""], "one placement group needs no zone");
    let plan = good_plan(&one, &world(&["1"]));
    assert_eq!(in_order(&plan), ["2"], "a zone is closed");
    let listed = with_zones(one, &Zones::Listed(vec![1, 3]));
    let plan = good_plan(&listed, &world(&["1"]));
    assert_eq!(in_order(&plan), ["3"], "one of those listed is enough");
    assert!(codes(&planned(&listed, &world(&["1", "3"])).diagnostics).contains(&"SIZE003"));
}

#[test]
fn nodes_that_train_together_over_ethernet_share_a_zone_unless_the_spec_lists_several() {
    let trains = spec(named(Stage::Training, Workload::Generative, ETHERNET, 3));
    let plan = good_plan(&trains, &world(&["1"]));
    assert_eq!(in_order(&plan), ["2", "2", "2"]);
    assert!(
        why(&plan).contains("nodes that train together share one zone"),
        "{}",
        why(&plan)
    );
    let mut live = applied(&plan, &world(&["1"]));
    live.facts = world(&[]).facts;
    let four = spec(named(Stage::Training, Workload::Generative, ETHERNET, 4));
    assert_eq!(in_order(&good_plan(&four, &live)), ["2", "2", "2", "2"]);
    let listed = with_zones(trains, &Zones::Listed(vec![1, 2, 3]));
    assert_eq!(in_order(&good_plan(&listed, &world(&[]))), ["1", "2", "3"]);
    let serves = spec(named(Stage::Inference, Workload::Generative, ETHERNET, 3));
    assert_eq!(in_order(&good_plan(&serves, &world(&[]))), ["1", "2", "3"]);
}

#[test]
fn a_pool_without_zones_stays_without() {
    let regional = with_zones(cpu(2), &Zones::None);
    let live = applied(&good_plan(&regional, &world(&[])), &world(&[]));
    let plan = good_plan(&cpu(3), &live);
    assert_eq!(in_order(&plan), ["", "", ""]);
    assert_eq!(plan.changes().count(), 1);
}

/// The plan that chooses anew, and its findings.
fn anew(spec: &Spec, live: &Live) -> Planned {
    let mut options = crate::support::options();
    options.reselect = true;
    options.permissions.allow_stop = true;
    planned_with(spec, Catalog::embedded(), live, &options)
}

#[test]
fn reselect_leaves_closed_and_crowded_zones_and_moves_no_more_than_that() {
    let mut live = live_stack(&cpu(5));
    for (index, zone) in (0..).zip(["1", "1", "1", "2", "3"]) {
        set_zone(&mut live, index, zone);
    }
    live.facts = world(&[]).facts;
    let moved = |live: &Live| in_order(&anew(&cpu(5), live).plan.expect("a plan"));
    assert_eq!(moved(&live), ["1", "1", "2", "2", "3"]);
    let again = good_plan(&cpu(5), &live);
    assert_eq!(actions(&again), [], "nothing moves unless it is asked for");
    live.facts = world(&["3"]).facts;
    assert_eq!(moved(&live), ["1", "1", "1", "2", "2"]);
    let even = applied(&good_plan(&cpu(5), &world(&[])), &world(&[]));
    let plan = anew(&cpu(5), &even).plan.expect("a plan");
    assert_eq!(actions(&plan), [], "an even spread stays");
    // Without zones they stay without.
    let regional = with_zones(cpu(2), &Zones::None);
    let live = applied(&good_plan(&regional, &world(&[])), &world(&[]));
    assert_eq!(actions(&anew(&cpu(2), &live).plan.expect("a plan")), []);
}

#[test]
fn a_node_with_data_disks_does_not_leave_its_zone() {
    let with_disk = |mut spec: Spec| {
        if let Some(pool) = spec.pools.get_mut("train") {
            pool.disks.data = vec![DataDisk {
                size_gb: 64,
                disk_type: DiskType::Premium,
                lun: 0,
            }];
        }
        spec
    };
    let spec = with_disk(cpu(2));
    let mut live = applied(&good_plan(&spec, &world(&[])), &world(&[]));
    live.facts = world(&["1"]).facts;
    assert_eq!(actions(&anew(&spec, &live).plan.expect("a plan")), []);
    // Who lists another zone is not led to believe that stopping would help.
    let refused = planned(&with_zones(spec, &Zones::Listed(vec![3])), &live);
    let found: Vec<(&str, String)> = refused
        .diagnostics
        .iter()
        .map(|finding| (finding.code.as_str(), finding.help.join("; ")))
        .collect();
    assert!(
        found.iter().any(|(code, _)| *code == "CHANGE002"),
        "{found:?}"
    );
    let stops = found.iter().filter(|(code, _)| *code == "CHANGE001");
    let helps: Vec<&str> = stops.map(|(_, help)| help.as_str()).collect();
    assert_eq!(
        helps,
        ["its data disks cannot follow: put the value back"; 2]
    );
}

#[test]
fn a_node_is_made_where_its_disk_is() {
    let mut spec = cpu(2);
    if let Some(pool) = spec.pools.get_mut("train") {
        pool.disks.data = vec![DataDisk {
            size_gb: 1024,
            disk_type: DiskType::Premium,
            lun: 0,
        }];
    }
    let mut live = applied(&good_plan(&spec, &world(&[])), &world(&[]));
    let gone = Address::vm("train", 1);
    live.resources
        .retain(|resource| resource.address() != Some(&gone));
    live.facts = world(&["2"]).facts;
    let plan = good_plan(&spec, &live);
    assert_eq!(
        actions(&plan),
        [("pool.train[1].vm".to_owned(), model::plan::Action::Create)]
    );
    assert_eq!(in_order(&plan), ["1", "2"]);
    let disks = plan
        .steps
        .iter()
        .filter(|step| step.kind == ResourceKind::Disk);
    assert_eq!(disks.count(), 2);
}

#[test]
fn what_nobody_may_read_is_taken_from_the_catalogue() {
    let planned = planned_with(
        &cpu(3),
        Catalog::embedded(),
        &empty(),
        &crate::support::options(),
    );
    let plan = planned.plan.expect("a plan");
    assert_eq!(in_order(&plan), ["1", "2", "3"]);
    assert!(codes(&planned.diagnostics).contains(&"SIZE009"));
}
