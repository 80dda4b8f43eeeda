//! The walk over hand-made plans and over random ones.

use proptest::prelude::*;

use super::*;
use crate::plan::{Fingerprint, Reason, ReasonCode};

fn step(address: &str, action: Action, needs: &[&str]) -> Step {
    let parsed: Address = address.parse().expect(address);
    let group = ArmId::resource_group("s", "rg");
    let vnet = group.in_group("Microsoft.Network/virtualNetworks", "v");
    let (kind, id) = if parsed.leaf().starts_with("subnet") {
        (ResourceKind::Subnet, vnet.child("subnets", parsed.leaf()))
    } else {
        (
            ResourceKind::VirtualMachine,
            group.in_group("Microsoft.Compute/virtualMachines", address),
        )
    };
    Step {
        address: parsed,
        kind,
        id,
        action,
        operations: Vec::new(),
        reason: Reason {
            code: ReasonCode::Absent,
            attributes: Vec::new(),
        },
        before: None,
        after: None,
        needs: needs
            .iter()
            .map(|need| need.parse().expect("an address"))
            .collect(),
        fingerprint: Fingerprint::new(None),
        alternates: Vec::new(),
    }
}

fn walk(steps: &[Step]) -> Walk {
    Walk::new(steps, WalkLimits::default()).expect("no cycle")
}

#[test]
fn needs_end_first_and_deletes_run_reversed() {
    let mut forward = walk(&[
        step("a", Action::Create, &["b"]),
        step("b", Action::Update, &[]),
    ]);
    assert_eq!(forward.ready(), [1]);
    forward.finished(1, Ok(()));
    assert_eq!(forward.ready(), [0]);

    let mut reversed = walk(&[
        step("a", Action::Delete, &["b"]),
        step("b", Action::Delete, &[]),
    ]);
    assert_eq!(reversed.ready(), [0]);
    reversed.finished(0, Ok(()));
    assert_eq!(reversed.ready(), [1]);
}

#[test]
fn a_no_op_lets_its_dependents_start_at_once() {
    let mut walk = walk(&[
        step("a", Action::NoOp, &[]),
        step("b", Action::NoOp, &["a"]),
        step("c", Action::Create, &["b"]),
    ]);
    assert_eq!(walk.ready(), [2]);
}

#[test]
fn like_creations_double_on_acceptance() {
    let steps: Vec<Step> = (0..20)
        .map(|index| step(&format!("pool.p[{index}].vm"), Action::Create, &[]))
        .collect();
    let mut walk = walk(&steps);
    let mut batches = Vec::new();
    loop {
        let batch = walk.ready();
        if batch.is_empty() {
            break;
        }
        batches.push(batch.len());
        for index in batch {
            walk.accepted(index);
        }
    }
    assert_eq!(
        batches,
        [1, 2, 4, 8, 5],
        "nobody waits for an operation to end"
    );
}

#[test]
fn a_refusal_stops_the_ramp_and_a_later_failure_does_not() {
    let steps: Vec<Step> = (0..8)
        .map(|index| step(&format!("pool.p[{index}].vm"), Action::Create, &[]))
        .collect();
    let mut refused = walk(&steps);
    assert_eq!(refused.ready(), [0]);
    refused.finished(0, Err(Failure::default()));
    assert!(refused.is_over());
    let skipped = refused
        .outcome()
        .steps
        .iter()
        .filter(|(_, _, ending)| matches!(ending, Ending::Skipped { .. }))
        .count();
    assert_eq!(skipped, 7);

    let mut failed_later = walk(&steps);
    assert_eq!(failed_later.ready(), [0]);
    failed_later.accepted(0);
    assert_eq!(failed_later.ready(), [1, 2]);
    failed_later.finished(0, Err(Failure::default()));
    failed_later.accepted(1);
    assert_eq!(failed_later.ready(), [3, 4]);
}

#[test]
fn subnets_of_one_network_never_overlap() {
    let mut walk = walk(&[
        step("network.subnet_a", Action::Create, &[]),
        step("network.subnet_b", Action::Update, &[]),
    ]);
    assert_eq!(walk.ready(), [0]);
    walk.accepted(0);
    assert!(walk.ready().is_empty());
    walk.finished(0, Ok(()));
    assert_eq!(walk.ready(), [1]);
}

#[test]
fn a_failure_skips_dependents_and_leaves_the_rest() {
    let mut walk = walk(&[
        step("a", Action::Update, &[]),
        step("b", Action::Create, &["a"]),
        step("c", Action::Update, &["b"]),
        step("d", Action::Update, &[]),
    ]);
    assert_eq!(walk.ready(), [0, 3]);
    walk.finished(0, Err(Failure::default()));
    walk.finished(3, Ok(()));
    assert!(walk.is_over());
    let because: Address = "a".parse().expect("an address");
    let endings: Vec<Ending> = walk
        .outcome()
        .steps
        .into_iter()
        .map(|(_, _, ending)| ending)
        .collect();
    let skipped = Ending::Skipped { because };
    assert_eq!(
        endings,
        [
            Ending::Failed(Failure::default()),
            skipped.clone(),
            skipped,
            Ending::Done
        ]
    );
}

#[test]
fn an_interrupt_starts_nothing_new() {
    let mut walk = walk(&[
        step("a", Action::Update, &[]),
        step("b", Action::Update, &["a"]),
    ]);
    assert_eq!(walk.ready(), [0]);
    walk.interrupt();
    walk.finished(0, Ok(()));
    assert!(walk.ready().is_empty());
    assert!(walk.is_over());
    assert_eq!(walk.outcome().steps[1].2, Ending::NotStarted);
}

#[test]
fn steps_that_wait_for_one_another_are_refused() {
    let steps = [
        step("a", Action::Create, &["b"]),
        step("b", Action::Create, &["a"]),
        step("c", Action::Create, &[]),
    ];
    let cycle = Walk::new(&steps, WalkLimits::default()).expect_err("a cycle");
    assert_eq!(cycle.0.len(), 2);
}

proptest! {
    /// Whatever the graph, the failures and the limits: the walk ends, nothing starts before
    /// what it needs, and every step has an ending.
    #[test]
    fn every_walk_ends(
        needs in proptest::collection::vec(proptest::collection::vec(0usize..30, 0..4), 1..30),
        actions in proptest::collection::vec(0usize..9, 30),
        fails in proptest::collection::vec(proptest::bool::weighted(0.1), 30),
        parallelism in 1usize..8,
    ) {
        let steps: Vec<Step> = needs.iter().enumerate().map(|(index, needs)| {
            let needs: Vec<String> = needs.iter().filter(|need| **need < index).map(|need| format!("pool.p[{need}].vm")).collect();
            let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
            step(&format!("pool.p[{index}].vm"), Action::ALL[actions[index]], &needs)
        }).collect();
        let Ok(mut walk) = Walk::new(&steps, WalkLimits { parallelism }) else {
            // Mixed deletes and updates can contradict one another; the planner never makes such plans.
            return Ok(());
        };
        let mut ended: BTreeSet<usize> = (0..steps.len()).filter(|index| !steps[*index].action.writes()).collect();
        let order = edges(&steps);
        while !walk.is_over() {
            let ready = walk.ready();
            prop_assert!(!ready.is_empty());
            prop_assert!(ready.len() <= parallelism);
            for index in ready {
                for (first, then) in &order {
                    prop_assert!(*then != index || ended.contains(first));
                }
                walk.finished(index, if fails[index] { Err(Failure::default()) } else { ended.insert(index); Ok(()) });
            }
        }
        for (_, _, ending) in walk.outcome().steps {
            prop_assert!(ending != Ending::NotStarted);
        }
    }
}
