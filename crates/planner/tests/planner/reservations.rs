//! Pools in capacity reservation groups: what they draw, what a group must have, and where
//! their nodes go.

use std::collections::BTreeMap;

use model::{
    catalog::Catalog,
    ids::ArmId,
    live::{Answer, Live, Mode, ReservationFact, ReservationGroupFact},
    plan::{Action, Operation, Plan},
    spec::{Pool, SizeChoice, Spec, Stage, Workload, Zones},
    units::Region,
};

use crate::support::{
    applied, codes, empty, good_plan, live_stack, options, planned, planned_with, pool, spec,
};

const T4: &str = "Standard_NC4as_T4_v3";

fn group() -> ArmId {
    ArmId::resource_group("s", "kept")
        .in_group("Microsoft.Compute/capacityReservationGroups", "crg")
}

fn stranger(name: &str) -> ArmId {
    ArmId::resource_group("s", "theirs").in_group("Microsoft.Compute/virtualMachines", name)
}

fn places(size: &str, zone: Option<&str>, capacity: u32, taken: u32) -> ReservationFact {
    ReservationFact {
        size: size.into(),
        zone: zone.map(ToOwned::to_owned),
        capacity,
        allocated: (0..taken)
            .map(|number| stranger(&format!("vm{number}")))
            .collect(),
    }
}

/// A world whose group has these places.
fn with(live: &Live, reservations: Vec<ReservationFact>) -> Live {
    let mut live = live.clone();
    let fact = ReservationGroupFact {
        location: Region::new("eastus"),
        reservations,
    };
    live.facts
        .reservations
        .insert(group(), Answer::Known(Some(fact)));
    live
}

fn named(size: &str, count: u32) -> Pool {
    let mut pool = pool(Stage::Inference, Workload::Generative);
    pool.size = SizeChoice::Named(size.into());
    pool.count = Some(count);
    pool.capacity_reservation = Some(group());
    pool
}

fn told(spec: &Spec, live: &Live) -> Vec<String> {
    let found = planned(spec, live).diagnostics;
    let errors = found
        .iter()
        .filter(|finding| finding.severity == model::diag::Severity::Error);
    errors
        .map(|finding| format!("{}: {}", finding.code.as_str(), finding.message))
        .collect()
}

fn counters(plan: &Plan) -> Vec<&str> {
    let compute = plan.quota.iter().map(|line| line.name.as_str());
    compute
        .filter(|name| !name.contains("Ip") && !name.contains("IP"))
        .collect()
}

fn zones(plan: &Plan) -> Vec<Option<String>> {
    let vms = plan.steps.iter().filter_map(|step| step.after.as_ref());
    vms.filter_map(|after| Some(after.virtual_machine()?.zones.first().cloned()))
        .collect()
}

#[test]
fn nodes_in_a_reservation_draw_no_quota_of_their_family() {
    let live = with(&empty(), vec![places(T4, None, 2, 0)]);
    let plan = good_plan(&spec(named(T4, 2)), &live);
    assert_eq!(counters(&plan), ["virtualMachines"]);
    let vms = plan
        .steps
        .iter()
        .filter_map(|step| step.after.as_ref()?.virtual_machine());
    let groups: Vec<_> = vms.map(|vm| vm.capacity_reservation.clone()).collect();
    assert_eq!(groups, vec![Some(group()); 2]);
    let why = plan.pools["train"].why.join("\n");
    assert!(
        why.contains("draw from the capacity reservation group `crg`"),
        "{why}"
    );
    let again = good_plan(&spec(named(T4, 2)), &applied(&plan, &live));
    assert!(
        !again.has_changes,
        "{:#?}",
        again.changes().collect::<Vec<_>>()
    );
}

#[test]
fn a_plan_that_changes_nothing_does_not_ask_about_the_group() {
    let live = with(&empty(), vec![places(T4, None, 2, 0)]);
    let mut live = applied(&good_plan(&spec(named(T4, 2)), &live), &live);
    live.facts.reservations.clear();
    let planned = planned(&spec(named(T4, 2)), &live);
    assert!(planned.questions.is_empty());
    assert!(
        codes(&planned.diagnostics)
            .iter()
            .all(|code| !code.starts_with("RESERVE"))
    );
}

#[test]
fn a_group_must_have_the_size_the_zone_and_the_region() {
    let there = vec![places("Standard_NC8as_T4_v3", Some("1"), 4, 0)];
    let check = |pool: Pool, live: &Live, expected: &str| {
        assert_eq!(told(&spec(pool), live), [format!("RESERVE001: {expected}")]);
    };
    let live = with(&empty(), there);
    check(
        named(T4, 1),
        &live,
        "the capacity reservation group `crg` does not reserve `Standard_NC4as_T4_v3`",
    );
    let mut zonal = named("Standard_NC8as_T4_v3", 1);
    zonal.zones = Zones::Listed(vec![2]);
    check(
        zonal.clone(),
        &live,
        "the capacity reservation group `crg` has `Standard_NC8as_T4_v3` in zone 1, the spec asks for zone 2",
    );
    zonal.zones = Zones::None;
    check(
        zonal,
        &live,
        "the capacity reservation group `crg` has `Standard_NC8as_T4_v3` in zone 1, the spec asks for no zone",
    );
    let mut elsewhere = spec(named("Standard_NC8as_T4_v3", 1));
    elsewhere.locations = vec![Region::new("westus2")];
    assert_eq!(
        told(&elsewhere, &live),
        ["RESERVE001: the capacity reservation group `crg` is in eastus, the pool in westus2"]
    );
    check(
        named("Standard_NC40ads_H100_v5", 1),
        &live,
        "Azure reserves no capacity of `Standard_NC40ads_H100_v5`",
    );
    // Questions are answered with a group that is not there.
    check(
        named(T4, 1),
        &empty(),
        &format!("there is no capacity reservation group `{}`", group()),
    );
}

#[test]
fn a_group_with_too_few_places_says_how_many_lack() {
    let live = with(&empty(), vec![places(T4, None, 4, 1)]);
    let found = planned(&spec(named(T4, 4)), &live).diagnostics;
    let finding = found.iter().next().expect("a finding");
    assert_eq!(
        finding.message,
        "the capacity reservation group `crg` has 4 places for `Standard_NC4as_T4_v3`, 1 taken by others, needed 4: 1 too few"
    );
    assert_eq!(
        finding.help,
        ["reserve at least 5, or use fewer nodes: 3 have a place"]
    );
    good_plan(&spec(named(T4, 3)), &live);
    // Our own nodes do not stand in the way of more.
    let before = good_plan(&spec(named(T4, 2)), &live);
    let mut grown = applied(&before, &live);
    let ours: Vec<ArmId> = grown
        .resources
        .iter()
        .filter(|resource| {
            resource
                .resource
                .as_ref()
                .is_some_and(|one| one.virtual_machine().is_some())
        })
        .map(|resource| resource.id.clone())
        .collect();
    let mut there = places(T4, None, 4, 1);
    there.allocated.extend(ours);
    grown = with(&grown, vec![there]);
    good_plan(&spec(named(T4, 3)), &grown);
    assert_eq!(told(&spec(named(T4, 4)), &grown).len(), 1);
}

#[test]
fn pools_that_share_a_group_are_added_up() {
    let live = with(&empty(), vec![places(T4, None, 3, 0)]);
    let mut both = spec(named(T4, 2));
    both.pools.insert("other".to_owned(), named(T4, 2));
    assert_eq!(
        told(&both, &live),
        [
            "RESERVE002: the capacity reservation group `crg` has 3 places for `Standard_NC4as_T4_v3`, 0 taken by others, needed 4: 1 too few"
        ]
    );
    both.pools.insert("other".to_owned(), named(T4, 1));
    good_plan(&both, &live);
}

#[test]
fn auto_takes_what_is_reserved_and_says_what_would_do_where_nothing_can_be() {
    let live = with(&empty(), vec![places("Standard_NC8as_T4_v3", None, 2, 0)]);
    let mut auto = named(T4, 2);
    auto.size = SizeChoice::Auto;
    let plan = good_plan(&spec(auto.clone()), &live);
    assert_eq!(plan.pools["train"].size.as_str(), "Standard_NC8as_T4_v3");
    let rejected = &plan.pools["train"].candidates;
    let reasons: BTreeMap<&str, usize> =
        rejected
            .iter()
            .flat_map(|one| &one.reasons)
            .fold(BTreeMap::new(), |mut all, reason| {
                *all.entry(reason.code.as_str()).or_default() += 1;
                all
            });
    assert!(reasons["reservation"] > 20, "{reasons:?}");
    let nothing = with(&empty(), Vec::new());
    let found = planned(&spec(auto), &nothing).diagnostics;
    let finding = found.iter().next().expect("a finding");
    assert_eq!(finding.code.as_str(), "SIZE002");
    assert!(
        finding
            .message
            .contains("cannot be reserved: the group `crg` has nothing"),
        "{}",
        finding.message
    );
    let ways = finding.help.join("\n");
    assert!(
        ways.contains("`capacity_reservation: null` would do"),
        "{ways}"
    );
}

#[test]
fn nodes_go_where_places_are_left() {
    let live = with(
        &empty(),
        vec![places(T4, Some("1"), 3, 0), places(T4, Some("2"), 2, 1)],
    );
    let plan = good_plan(&spec(named(T4, 4)), &live);
    let in_zone = |zone: &str| {
        let here = Some(zone.to_owned());
        zones(&plan).iter().filter(|found| **found == here).count()
    };
    assert_eq!((in_zone("1"), in_zone("2")), (3, 1));
    assert_eq!(
        told(&spec(named(T4, 5)), &live),
        [
            "RESERVE002: the capacity reservation group `crg` has 2 places for `Standard_NC4as_T4_v3` in zone 2, 1 taken by others, needed 2: 1 too few"
        ]
    );
    // A reservation without a zone takes nodes without one.
    let regional = with(&empty(), vec![places(T4, None, 4, 0)]);
    let plan = good_plan(&spec(named(T4, 4)), &regional);
    assert_eq!(zones(&plan), vec![None; 4]);
    // What trains together shares the zone that has room for it.
    let mut training = named(T4, 2);
    training.stage = Stage::Training;
    let uneven = with(
        &empty(),
        vec![places(T4, Some("1"), 1, 0), places(T4, Some("3"), 2, 0)],
    );
    let plan = good_plan(&spec(training), &uneven);
    assert_eq!(zones(&plan), vec![Some("3".to_owned()); 2]);
}

#[test]
fn a_live_node_joins_and_leaves_a_group_by_a_stop() {
    let mut outside = named(T4, 1);
    outside.capacity_reservation = None;
    let live = with(
        &live_stack(&spec(outside.clone())),
        vec![places(T4, None, 1, 0)],
    );
    let mut zoneless = live.clone();
    for resource in &mut zoneless.resources {
        if let Some(vm) = resource
            .resource
            .as_mut()
            .and_then(|one| one.virtual_machine_mut())
        {
            vm.zones.clear();
        }
    }
    let refused = planned(&spec(named(T4, 1)), &zoneless);
    assert_eq!(codes(&refused.diagnostics).first(), Some(&"CHANGE001"));
    let mut options = options();
    options.permissions.allow_stop = true;
    let change = |spec: &Spec, live: &Live| {
        let planned = planned_with(spec, Catalog::embedded(), live, &options);
        let plan = planned.plan.expect("a plan");
        let changes: Vec<_> = plan
            .changes()
            .map(|step| (step.action, step.operations.clone()))
            .collect();
        (changes, planned.diagnostics)
    };
    let attributes = vec!["capacity_reservation".to_owned()];
    let stop = vec![(
        Action::StopUpdate,
        vec![
            Operation::Deallocate,
            Operation::Patch { attributes },
            Operation::Start,
        ],
    )];
    let (joins, _) = change(&spec(named(T4, 1)), &zoneless);
    assert_eq!(joins, stop);
    let mut inside = zoneless.clone();
    for resource in &mut inside.resources {
        if let Some(vm) = resource
            .resource
            .as_mut()
            .and_then(|one| one.virtual_machine_mut())
        {
            vm.capacity_reservation = Some(group());
        }
    }
    let (leaves, _) = change(&spec(outside), &inside);
    assert_eq!(leaves, stop);
    // A group without a place for it is refused before the stop.
    let none = with(&zoneless, vec![places("Standard_D4s_v5", None, 1, 0)]);
    let (_, found) = change(&spec(named(T4, 1)), &none);
    assert!(codes(&found).contains(&"RESERVE001"), "{found:#?}");
}

#[test]
fn a_live_node_does_not_join_a_group_whose_places_are_in_other_zones() {
    let mut outside = named(T4, 1);
    outside.capacity_reservation = None;
    outside.zones = Zones::None;
    let live = live_stack(&spec(outside));
    let elsewhere = with(&live, vec![places(T4, Some("2"), 4, 0)]);
    let mut joins = named(T4, 1);
    joins.allow_stop = true;
    assert_eq!(
        told(&spec(joins), &elsewhere),
        [
            "RESERVE001: the capacity reservation group `crg` has places for `Standard_NC4as_T4_v3` in zone 2, and 1 node in no zone cannot draw from them"
        ]
    );
}

#[test]
fn a_set_draws_from_a_group_too() {
    let live = with(&empty(), vec![places(T4, None, 12, 0)]);
    let plan = good_plan(&spec(named(T4, 12)), &live);
    let set = plan
        .steps
        .iter()
        .find_map(|step| step.after.as_ref()?.scale_set());
    assert_eq!(set.expect("a set").capacity_reservation, Some(group()));
    assert_eq!(
        counters(&plan),
        ["virtualMachineScaleSets", "virtualMachines"]
    );
}

#[test]
fn what_a_group_has_is_unknown_offline_and_said_so() {
    let mut options = options();
    options.mode = Mode::Offline;
    let planned = planned_with(
        &spec(named(T4, 1)),
        Catalog::embedded(),
        &Live::default(),
        &options,
    );
    assert!(!planned.diagnostics.has_errors());
    let finding = planned
        .diagnostics
        .iter()
        .find(|finding| finding.code.as_str() == "RESERVE003")
        .expect("a warning");
    assert_eq!(
        finding.message,
        "what the capacity reservation group `crg` has could not be read: the plan is offline"
    );
}
