//! Stacks that live for a while: when they end, who remembers, and what starts them over.

use model::{
    address::Address,
    catalog::Catalog,
    diag::Severity,
    live::{Live, Owner},
    plan::{Action, Plan, ReasonCode},
    resource::{ResourceKind, tags},
    spec::{DataDisk, DiskType, Spec, Stage, Workload},
    units::{Span, Timestamp},
};
use tensorform_planner::{Options, Planned, outlived, staleness};

use crate::support::{actions, applied, codes, empty, options, planned_with, pool, spec};

const HOUR: u64 = 3_600;

fn lasting(hours: u64) -> Spec {
    let mut pool = pool(Stage::Training, Workload::Small);
    pool.count = Some(2);
    pool.disks.data.push(DataDisk {
        size_gb: 64,
        disk_type: DiskType::Premium,
        lun: 0,
    });
    Spec {
        lifetime: Some(Span::from_seconds(hours * HOUR)),
        ..spec(pool)
    }
}

/// Options so many seconds after the stack was planned.
fn after(seconds: u64) -> Options {
    Options {
        now: options().now.plus(Span::from_seconds(seconds)),
        ..options()
    }
}

fn renewing(seconds: u64) -> Options {
    Options {
        renew: true,
        ..after(seconds)
    }
}

fn planned(spec: &Spec, live: &Live, options: &Options) -> Planned {
    planned_with(spec, Catalog::embedded(), live, options)
}

fn good(spec: &Spec, live: &Live, options: &Options) -> Plan {
    let planned = planned(spec, live, options);
    assert!(
        !planned.diagnostics.has_errors(),
        "{:#?}",
        planned.diagnostics
    );
    let plan = planned.plan.expect("a plan");
    assert_eq!(plan.breaches(), Vec::<String>::new());
    plan
}

fn made(spec: &Spec) -> Live {
    applied(&good(spec, &empty(), &options()), &empty())
}

/// The tag that the stack's resources have, which must be one.
fn expiry(live: &Live) -> Option<Timestamp> {
    let tagged = live
        .resources
        .iter()
        .filter(|resource| {
            resource
                .resource
                .as_ref()
                .is_some_and(|it| it.kind().takes_tags())
        })
        .map(|resource| resource.tags.get(tags::EXPIRES).map(str::to_owned));
    let mut found: Vec<Option<String>> = tagged.collect();
    found.dedup();
    assert_eq!(found.len(), 1, "all say the same: {found:?}");
    let text = found.pop().flatten()?;
    Some(text.parse().expect("an RFC 3339 time"))
}

fn group_is_others(live: &mut Live) {
    for resource in &mut live.resources {
        if resource.address() == Some(&Address::resource_group()) {
            resource.owner = Owner::Foreign;
            resource.tags.retain(|_, _| false);
        }
    }
}

#[test]
fn what_is_made_says_when_it_ends_and_nothing_changes_until_then() {
    let spec = lasting(4);
    let plan = good(&spec, &empty(), &options());
    let lifetime = plan.lifetime.expect("a lifetime");
    assert_eq!(lifetime.starts, options().now);
    assert_eq!(lifetime.expires, after(4 * HOUR).now);
    assert!(!lifetime.over);
    let live = made(&spec);
    assert_eq!(expiry(&live), Some(after(4 * HOUR).now));
    for seconds in [0, 1, HOUR, 4 * HOUR - 1] {
        let plan = good(&spec, &live, &after(seconds));
        assert_eq!(actions(&plan), [], "after {seconds} s");
        assert_eq!(plan.lifetime, Some(lifetime), "after {seconds} s");
    }
}

#[test]
fn only_one_resource_remembers_when_the_lifetime_began() {
    let live = made(&lasting(4));
    let remembering: Vec<_> = live
        .resources
        .iter()
        .filter(|resource| resource.tags.get(tags::LIFETIME_START).is_some())
        .filter_map(|resource| resource.address())
        .collect();
    assert_eq!(remembering, [&Address::resource_group()]);
}

#[test]
fn when_the_time_is_over_all_goes_but_the_group() {
    let spec = lasting(4);
    let live = made(&spec);
    for seconds in [4 * HOUR, 4 * HOUR + 1, 1_000 * HOUR] {
        let planned = planned(&spec, &live, &after(seconds));
        assert!(codes(&planned.diagnostics).contains(&"LIFE001"));
        assert!(planned.questions.is_empty(), "what goes needs no answers");
        let plan = planned.plan.expect("a plan");
        assert_eq!(plan.breaches(), Vec::<String>::new());
        assert!(plan.lifetime.expect("a lifetime").over);
        assert!(plan.pools.is_empty());
        for step in &plan.steps {
            let expected = if step.kind == ResourceKind::ResourceGroup {
                (Action::NoOp, ReasonCode::Equal)
            } else {
                (Action::Delete, ReasonCode::Expired)
            };
            assert_eq!(
                (step.action, step.reason.code),
                expected,
                "{}",
                step.address
            );
        }
        assert_eq!(plan.steps.len(), live.resources.len());
        assert_eq!(
            plan.cost.after.hourly_micros,
            model::units::Micros::default()
        );
    }
}

#[test]
fn a_stack_that_ended_is_not_made_again_by_later_plans() {
    let spec = lasting(4);
    let ended = after(5 * HOUR);
    let live = made(&spec);
    let empty_group = applied(&good(&spec, &live, &ended), &live);
    assert_eq!(empty_group.resources.len(), 1);
    for seconds in [5 * HOUR, 50 * HOUR] {
        let plan = good(&spec, &empty_group, &after(seconds));
        assert_eq!(actions(&plan), []);
        assert!(plan.lifetime.expect("a lifetime").over);
    }
}

#[test]
fn renewing_starts_over_from_now() {
    let spec = lasting(4);
    let live = made(&spec);
    // Before the end: only tags change, nothing stops.
    let plan = good(&spec, &live, &renewing(3 * HOUR));
    assert_eq!(
        plan.lifetime.expect("a lifetime").expires,
        after(7 * HOUR).now
    );
    for (address, action) in actions(&plan) {
        assert_eq!(action, Action::Update, "{address}");
    }
    let renewed = applied(&plan, &live);
    assert_eq!(expiry(&renewed), Some(after(7 * HOUR).now));
    assert_eq!(actions(&good(&spec, &renewed, &after(6 * HOUR))), []);
    assert!(good(&spec, &renewed, &after(7 * HOUR)).has_changes);
    // After the end, with pools that are still there: they stay.
    let plan = good(&spec, &live, &renewing(9 * HOUR));
    assert!(plan.changes().all(|step| step.action == Action::Update));
    // After the end, when only the group is left: everything is made again.
    let empty_group = applied(&good(&spec, &live, &after(5 * HOUR)), &live);
    let plan = good(&spec, &empty_group, &renewing(9 * HOUR));
    let again = applied(&plan, &empty_group);
    assert_eq!(expiry(&again), Some(after(13 * HOUR).now));
    assert_eq!(actions(&good(&spec, &again, &after(10 * HOUR))), []);
}

#[test]
fn another_span_moves_the_end_and_none_takes_it_away() {
    let live = made(&lasting(4));
    let longer = good(&lasting(10), &live, &after(HOUR));
    assert!(longer.changes().all(|step| step.action == Action::Update));
    let moved = applied(&longer, &live);
    assert_eq!(expiry(&moved), Some(after(10 * HOUR).now));
    assert_eq!(actions(&good(&lasting(10), &moved, &after(2 * HOUR))), []);
    // Longer than what has passed already: the stack is alive again.
    assert!(
        !good(&lasting(10), &live, &after(5 * HOUR))
            .lifetime
            .expect("one")
            .over
    );
    // Shorter than what has passed already.
    assert!(
        good(&lasting(1), &live, &after(2 * HOUR))
            .lifetime
            .expect("one")
            .over
    );
    let forever = Spec {
        lifetime: None,
        ..lasting(4)
    };
    let plan = good(&forever, &live, &after(HOUR));
    assert_eq!(plan.lifetime, None);
    assert!(plan.changes().all(|step| step.action == Action::Update));
    let kept = applied(&plan, &live);
    assert_eq!(expiry(&kept), None);
    assert_eq!(actions(&good(&forever, &kept, &after(100 * HOUR))), []);
}

#[test]
fn a_stack_that_had_no_lifetime_counts_from_its_creation() {
    let forever = Spec {
        lifetime: None,
        ..lasting(4)
    };
    let mut live = made(&forever);
    for resource in &mut live.resources {
        resource.tags.set(tags::CREATED, options().now.to_string());
    }
    let plan = good(&lasting(4), &live, &after(HOUR));
    assert_eq!(plan.lifetime.expect("one").expires, after(4 * HOUR).now);
    assert!(
        good(&lasting(4), &live, &after(5 * HOUR))
            .lifetime
            .expect("one")
            .over
    );
}

#[test]
fn what_is_protected_outlives_the_stack_with_what_it_needs() {
    let mut spec = lasting(4);
    for pool in spec.pools.values_mut() {
        pool.protect = true;
    }
    let live = made(&spec);
    let planned = planned(&spec, &live, &after(5 * HOUR));
    let protected: Vec<Severity> = planned
        .diagnostics
        .iter()
        .filter(|finding| finding.code.as_str() == "CHANGE004")
        .map(|finding| finding.severity)
        .collect();
    assert_eq!(protected, [Severity::Warning; 4], "two VMs, two disks");
    let plan = planned.plan.expect("a plan");
    assert!(!plan.has_changes, "{:?}", actions(&plan));
    assert_eq!(plan.cost.after, plan.cost.before, "what stays is paid for");
}

#[test]
fn in_a_group_of_others_the_public_key_remembers() {
    let spec = lasting(4);
    let mut world = empty();
    let group = made(&spec);
    world.resources.extend(
        group
            .resources
            .into_iter()
            .filter(|resource| resource.address() == Some(&Address::resource_group())),
    );
    group_is_others(&mut world);
    let live = applied(&good(&spec, &world, &options()), &world);
    assert_eq!(actions(&good(&spec, &live, &after(HOUR))), []);
    let plan = good(&spec, &live, &after(5 * HOUR));
    let left = applied(&plan, &live);
    let mut stays: Vec<String> = left
        .resources
        .iter()
        .map(|resource| resource.id.name().to_owned())
        .collect();
    stays.sort();
    assert_eq!(stays, ["demo-key", "rg-demo"]);
    assert_eq!(actions(&good(&spec, &left, &after(50 * HOUR))), []);
    assert!(good(&spec, &left, &renewing(50 * HOUR)).has_changes);
}

#[test]
fn a_saved_deletion_does_not_outlive_a_renewal_nor_a_saved_creation_its_end() {
    let spec = lasting(4);
    let live = made(&spec);
    let deletion = good(&spec, &live, &after(5 * HOUR));
    assert!(!staleness(&deletion, &live).has_errors());
    let renewed = applied(&good(&spec, &live, &renewing(5 * HOUR)), &live);
    assert!(staleness(&deletion, &renewed).has_errors());
    assert!(outlived(&deletion, after(50 * HOUR).now).is_none());
    let creation = good(&spec, &empty(), &options());
    assert!(outlived(&creation, after(4 * HOUR - 1).now).is_none());
    let finding = outlived(&creation, after(4 * HOUR).now).expect("refused");
    assert_eq!(finding.code.as_str(), "PLAN001");
}

#[test]
fn a_stack_that_ended_has_nothing_replaced() {
    let spec = lasting(1);
    let live = made(&spec);
    let mut options = after(2 * HOUR);
    options.permissions.replace = vec![
        "pool.nosuch[0].vm".parse().expect("an address"),
        "pool.train[0].vm".parse().expect("an address"),
    ];
    let planned = planned(&spec, &live, &options);
    let refused = codes(&planned.diagnostics);
    let refused = refused.iter().filter(|code| **code == "CHANGE006").count();
    assert_eq!(refused, 2, "{:?}", planned.diagnostics);
    assert!(planned.diagnostics.has_errors());
}
