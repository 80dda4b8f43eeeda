//! Pools in proximity placement groups: the group of their own, others that exist, zones, and a
//! change of size.

use model::{
    catalog::Catalog,
    diag::Code,
    ids::ArmId,
    live::{Answer, Live, Mode, ProximityGroupFact, Question},
    plan::{Action, Operation, Plan},
    resource::ResourceKind,
    spec::{Pool, ProximityGroup, SizeChoice, Stage, Workload, Zones},
    units::{Region, SizeName},
};

use crate::support::{
    applied, empty, good_plan, live_stack, options, planned, planned_with, pool, spec,
};

const E8: &str = "Standard_E8s_v5";
const F8: &str = "Standard_F8s_v2";

fn near(group: ProximityGroup, count: u32) -> Pool {
    let mut pool = pool(Stage::Inference, Workload::Small);
    pool.size = SizeChoice::Named(E8.into());
    pool.count = Some(count);
    pool.proximity_placement_group = Some(group);
    pool
}

fn theirs() -> ArmId {
    ArmId::resource_group("s", "theirs")
        .in_group("Microsoft.Compute/proximityPlacementGroups", "near")
}

fn existing(count: u32) -> Pool {
    near(ProximityGroup::Existing(theirs()), count)
}

fn with(live: &Live, edit: impl FnOnce(&mut ProximityGroupFact)) -> Live {
    let mut live = live.clone();
    let mut fact = ProximityGroupFact {
        location: Region::new("eastus"),
        zone: None,
        sizes: std::collections::BTreeSet::new(),
        aligned: Some(true),
    };
    edit(&mut fact);
    live.facts
        .proximity_groups
        .insert(theirs(), Answer::Known(Some(fact)));
    live
}

fn told(pool: Pool, live: &Live) -> Vec<String> {
    let found = planned(&spec(pool), live).diagnostics;
    let ours = found
        .iter()
        .filter(|finding| finding.code.as_str().starts_with("PROXIMITY"));
    ours.map(|finding| format!("{} {}", finding.code.as_str(), finding.message))
        .collect()
}

fn groups_and_zones(plan: &Plan) -> Vec<(Option<ArmId>, Vec<String>)> {
    let after = plan.steps.iter().filter_map(|step| step.after.as_ref());
    after
        .filter_map(|after| {
            let vm = after
                .virtual_machine()
                .map(|vm| (&vm.proximity_placement_group, &vm.zones));
            let set = after
                .scale_set()
                .map(|set| (&set.proximity_placement_group, &set.zones));
            let (group, zones) = vm.or(set)?;
            Some((group.clone(), zones.clone()))
        })
        .collect()
}

#[test]
fn a_group_of_its_own_is_made_before_the_nodes_and_holds_them_in_one_zone() {
    let plan = good_plan(&spec(near(ProximityGroup::Own, 3)), &empty());
    let group = plan
        .steps
        .iter()
        .find(|step| step.kind == ResourceKind::ProximityPlacementGroup)
        .expect("a group");
    assert_eq!(
        group.address.to_string(),
        "pool.train.proximity_placement_group"
    );
    assert_eq!(group.id.name(), "demo-train-ppg");
    let nodes = groups_and_zones(&plan);
    assert_eq!(
        nodes,
        vec![(Some(group.id.clone()), vec!["1".to_owned()]); 3]
    );
    for step in plan
        .steps
        .iter()
        .filter(|step| step.kind == ResourceKind::VirtualMachine)
    {
        assert!(step.needs.contains(&group.address), "{:?}", step.needs);
    }
    let again = good_plan(
        &spec(near(ProximityGroup::Own, 3)),
        &applied(&plan, &empty()),
    );
    assert!(
        !again.has_changes,
        "{:#?}",
        again.changes().collect::<Vec<_>>()
    );
}

#[test]
fn a_scale_set_is_in_the_group_too() {
    let plan = good_plan(&spec(near(ProximityGroup::Own, 12)), &empty());
    let nodes = groups_and_zones(&plan);
    assert_eq!(nodes.len(), 1, "{nodes:?}");
    assert_eq!(nodes[0].0.as_ref().map(ArmId::name), Some("demo-train-ppg"));
    assert_eq!(nodes[0].1, ["1"]);
}

#[test]
fn nodes_leave_the_group_before_it_is_deleted() {
    let live = live_stack(&spec(near(ProximityGroup::Own, 2)));
    let mut loose = near(ProximityGroup::Own, 2);
    loose.proximity_placement_group = None;
    loose.allow_stop = true;
    let plan = good_plan(&spec(loose), &live);
    let changes: Vec<(String, Action)> = plan
        .changes()
        .map(|step| (step.address.to_string(), step.action))
        .collect();
    assert_eq!(
        changes,
        [
            ("pool.train[0].vm".to_owned(), Action::StopUpdate),
            ("pool.train[1].vm".to_owned(), Action::StopUpdate),
            (
                "pool.train.proximity_placement_group".to_owned(),
                Action::Delete
            ),
        ]
    );
    let vm = plan.changes().next().expect("a VM");
    let patch = Operation::Patch {
        attributes: vec!["proximity_placement_group".to_owned()],
    };
    assert_eq!(
        vm.operations,
        [Operation::Deallocate, patch, Operation::Start]
    );
    // A step that deletes is waited for by what it needs: edges of deletions run the other way.
    assert!(
        vm.needs
            .iter()
            .any(|need| need.leaf() == "proximity_placement_group"),
        "{:?}",
        vm.needs
    );
}

#[test]
fn an_existing_group_must_fit() {
    assert_eq!(
        told(existing(1), &empty()),
        [format!(
            "PROXIMITY001 there is no proximity placement group `{}`",
            theirs()
        )]
    );
    let elsewhere = with(&empty(), |fact| fact.location = Region::new("westus2"));
    assert_eq!(
        told(existing(1), &elsewhere),
        ["PROXIMITY001 the proximity placement group `near` is in westus2, the pool in eastus"]
    );
    let meant = with(&empty(), |fact| {
        fact.sizes = [SizeName::from("Standard_D4s_v5")].into();
    });
    assert_eq!(
        told(existing(1), &meant),
        [
            "PROXIMITY001 the proximity placement group `near` is meant for `Standard_D4s_v5`, not for `Standard_E8s_v5`"
        ]
    );
    assert_eq!(
        told(existing(1), &with(&empty(), |_| {})),
        Vec::<String>::new()
    );
}

#[test]
fn nodes_go_where_an_existing_group_is() {
    let live = with(&empty(), |fact| fact.zone = Some("2".to_owned()));
    let plan = good_plan(&spec(existing(2)), &live);
    assert_eq!(
        groups_and_zones(&plan),
        vec![(Some(theirs()), vec!["2".to_owned()]); 2]
    );
    let mut elsewhere = existing(2);
    elsewhere.zones = Zones::Listed([3].into());
    assert_eq!(
        told(elsewhere, &live),
        ["PROXIMITY001 the proximity placement group `near` is in zone 2, a node in zone 3"]
    );
}

#[test]
fn nodes_of_several_zones_are_not_put_into_one_group() {
    let mut spread = near(ProximityGroup::Own, 3);
    spread.proximity_placement_group = None;
    let live = live_stack(&spec(spread));
    let mut pool = near(ProximityGroup::Own, 3);
    pool.allow_stop = true;
    assert_eq!(
        told(pool, &live),
        [
            "PROXIMITY001 nodes in the zones 1, 2, 3 cannot be in one proximity placement group, `demo-train-ppg`: it is in one datacentre"
        ]
    );
}

#[test]
fn infiniband_needs_no_group() {
    let mut pool = near(ProximityGroup::Own, 2);
    pool.stage = Stage::Training;
    pool.workload = Workload::Generative;
    pool.size = SizeChoice::Named("Standard_ND96asr_v4".into());
    assert_eq!(
        told(pool, &empty()),
        [
            "PROXIMITY001 `proximity_placement_group` does nothing for the InfiniBand size `Standard_ND96asr_v4`: its nodes are in one placement group anyway"
        ]
    );
}

#[test]
fn a_group_that_nobody_may_read_is_said_and_one_offline_is_not_asked_about() {
    let mut live = empty();
    live.facts
        .set_unknown(Question::ProximityGroup(theirs()), "you may not read it");
    let found = told(existing(1), &live);
    assert_eq!(
        found,
        [
            "PROXIMITY002 the proximity placement group `near` could not be read: you may not read it"
        ]
    );
    let offline = tensorform_planner::Options {
        mode: Mode::Offline,
        ..options()
    };
    let found = planned_with(
        &spec(existing(1)),
        Catalog::embedded(),
        &Live::default(),
        &offline,
    );
    assert!(
        !found
            .questions
            .iter()
            .any(|question| matches!(question, Question::ProximityGroup(_))),
        "{:?}",
        found.questions
    );
}

#[test]
fn a_resize_in_a_group_is_warned_about_where_nodes_run() {
    let live = live_stack(&spec(near(ProximityGroup::Own, 2)));
    let mut larger = near(ProximityGroup::Own, 2);
    larger.size = SizeChoice::Named(F8.into());
    larger.allow_stop = true;
    let planned = planned(&spec(larger.clone()), &live);
    assert!(
        !planned.diagnostics.has_errors(),
        "{:#?}",
        planned.diagnostics
    );
    let warned: Vec<&str> = planned
        .diagnostics
        .iter()
        .filter(|finding| finding.code == Code::ProximityResize)
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(
        warned,
        [
            "2 nodes of the pool `train` to be resized in the proximity placement group `demo-train-ppg`, whose datacentre may not have `Standard_F8s_v2`"
        ]
    );
    let mut loose = larger;
    loose.proximity_placement_group = None;
    assert_eq!(told(loose, &live), Vec::<String>::new());
}
