//! Pools without capacity: other ways, pauses, and what stays.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use model::{
    plan::{Alternate, Event, Outcome, Plan, PoolImage, PoolPlan, Scarcity},
    resource::tags,
    spec::Eviction,
};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{super::Interrupt, endings, world::*};
use crate::testing::{Act, Seen};

const NOTHING: Scarcity = Scarcity {
    wait_seconds: 0,
    min_count: None,
    rollback: false,
};

fn pool(scarcity: Scarcity) -> PoolPlan {
    PoolPlan {
        size: "Standard_D2s_v5".into(),
        count: 3,
        image: PoolImage {
            kind: "dsvm".to_owned(),
            urn: "p:o:s:1.0.0".to_owned(),
        },
        priority: "regular".to_owned(),
        zones: Vec::new(),
        scarcity: Some(scarcity),
        placement: "none".to_owned(),
        grouping: "vms".to_owned(),
        orchestrator: "manual".to_owned(),
        memory: None,
        throughput: None,
        parallelism: None,
        formulas: Vec::new(),
        rules: Vec::new(),
        why: Vec::new(),
        choices: Vec::new(),
        candidates: Vec::new(),
    }
}

/// Three nodes, with sizes that are tried after the first.
fn three(scarcity: Scarcity, sizes: &[&str]) -> Plan {
    let others: Vec<Alternate> = sizes
        .iter()
        .map(|size| Alternate {
            label: (*size).to_owned(),
            attributes: BTreeMap::from([("size".to_owned(), json!(size))]),
        })
        .collect();
    with_others(scarcity, &others)
}

fn with_others(scarcity: Scarcity, others: &[Alternate]) -> Plan {
    let steps = (0..3).map(|index| {
        let mut step = create_vm(index);
        step.alternates = others.to_vec();
        step
    });
    let mut plan = plan(steps.collect());
    plan.pools.insert("p".to_owned(), pool(scarcity));
    plan
}

/// Whether a request makes a VM of the size under the name.
fn makes(seen: &Seen, name: &str, size: &str) -> bool {
    seen.method == "PUT"
        && seen.target.contains(&format!("/{name}?"))
        && seen.json()["properties"]["hardwareProfile"]["vmSize"] == size
}

struct Ran {
    outcome: Outcome,
    events: Vec<Event>,
    waits: Vec<Duration>,
}

async fn run(world: &World, plan: &Plan) -> Ran {
    let sink = Remember::default();
    let (_sender, interrupt) = watch::channel(Interrupt::No);
    let (outcome, clock) = world.apply_plan(plan, &sink, interrupt).await;
    Ran {
        outcome,
        events: sink.events(),
        waits: clock.waits(),
    }
}

fn sizes(world: &World) -> Vec<Option<Value>> {
    (0..3)
        .map(|index| world.body(&vm_id(&format!("demo-p-{index}"))))
        .map(|body| Some(body?["properties"]["hardwareProfile"]["vmSize"].clone()))
        .collect()
}

fn moves(events: &[Event]) -> Vec<(String, String)> {
    let mut moves = Vec::new();
    for event in events {
        if let Event::Moved { to, because, .. } = event {
            moves.push((to.clone(), because.clone()));
        }
        if let Event::Paused {
            seconds, because, ..
        } = event
        {
            moves.push((format!("{seconds} s"), because.clone()));
        }
    }
    moves
}

/// A world where the last node finds no room in these sizes.
async fn without_room(sizes: &'static [&'static str], code: &'static str) -> World {
    World::with(move |seen, _| {
        let refused = sizes.iter().any(|size| makes(seen, "demo-p-2", size));
        refused.then(|| Act::error(409, code))
    })
    .await
}

#[tokio::test]
async fn the_whole_pool_moves_so_that_it_is_never_of_mixed_sizes() {
    let world = without_room(&["Standard_D2s_v5", "B"], "AllocationFailed").await;
    let ran = run(&world, &three(NOTHING, &["B", "C"])).await;
    assert!(ran.outcome.reached(), "{:?}", ran.outcome);
    assert_eq!(ran.outcome.taken, BTreeMap::from([("p".to_owned(), 1)]));
    assert_eq!(sizes(&world), vec![Some(json!("C")); 3]);
    let told = ["B", "C"].map(|to| (to.to_owned(), "AllocationFailed".to_owned()));
    assert_eq!(moves(&ran.events), told);
    // Two nodes of each way that did not do were there, and were removed.
    let deletes = world
        .writes()
        .into_iter()
        .filter(|write| write.starts_with("DELETE"));
    assert_eq!(deletes.count(), 4);
    assert!(ran.waits.is_empty(), "another way needs no pause");
}

#[tokio::test]
async fn other_failures_and_pools_without_other_ways_stay_as_they_are() {
    let world = without_room(&["Standard_D2s_v5"], "RequestDisallowedByPolicy").await;
    let ran = run(&world, &three(NOTHING, &["B"])).await;
    assert_eq!(endings(&ran.outcome), ["done", "done", "failed"]);
    assert_eq!(moves(&ran.events), []);
    let world = without_room(&["Standard_D2s_v5"], "AllocationFailed").await;
    let ran = run(&world, &three(NOTHING, &[])).await;
    assert_eq!(endings(&ran.outcome), ["done", "done", "failed"]);
    assert_eq!(sizes(&world).iter().flatten().count(), 2, "a part is kept");
}

#[tokio::test]
async fn enough_nodes_are_kept_and_nothing_else_is_tried() {
    let world = without_room(&["Standard_D2s_v5"], "AllocationFailed").await;
    let enough = Scarcity {
        min_count: Some(2),
        ..NOTHING
    };
    let ran = run(&world, &three(enough, &["B"])).await;
    assert_eq!(endings(&ran.outcome), ["done", "done", "failed"]);
    assert_eq!(moves(&ran.events), []);
    assert_eq!(ran.outcome.taken, BTreeMap::new());
    let more = Scarcity {
        min_count: Some(3),
        ..NOTHING
    };
    let world = without_room(&["Standard_D2s_v5"], "AllocationFailed").await;
    assert!(run(&world, &three(more, &["B"])).await.outcome.reached());
}

#[tokio::test]
async fn a_rolled_back_pool_leaves_nothing_and_says_so() {
    let world = without_room(&["Standard_D2s_v5", "B"], "AllocationFailed").await;
    let scarcity = Scarcity {
        rollback: true,
        min_count: Some(1),
        ..NOTHING
    };
    let ran = run(&world, &three(scarcity, &["B"])).await;
    assert_eq!(endings(&ran.outcome), ["failed", "failed", "failed"]);
    assert_eq!(sizes(&world), [None, None, None]);
    let text = format!("{:?}", ran.outcome);
    assert_eq!(text.matches("RolledBack").count(), 2, "{text}");
    assert!(!text.contains("left_behind: true"), "{text}");
}

#[tokio::test]
async fn missing_nodes_are_tried_again_slowly_while_the_others_are_held() {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let world = World::with(move |seen, _| {
        let is_try = makes(seen, "demo-p-2", "Standard_D2s_v5");
        (is_try && counted.fetch_add(1, Ordering::SeqCst) < 7)
            .then(|| Act::error(409, "AllocationFailed"))
    })
    .await;
    let patient = Scarcity {
        wait_seconds: 7_200,
        ..NOTHING
    };
    let ran = run(&world, &three(patient, &[])).await;
    assert!(ran.outcome.reached(), "{:?}", ran.outcome);
    let waits: Vec<u64> = ran.waits.iter().map(Duration::as_secs).collect();
    assert_eq!(waits, [30, 60, 120, 240, 480, 600, 600]);
    let writes = world.writes();
    assert!(!writes.iter().any(|write| write.starts_with("DELETE")));
}

#[tokio::test]
async fn waiting_ends_with_the_time_that_the_spec_gives_it() {
    let world = without_room(&["Standard_D2s_v5", "B"], "AllocationFailed").await;
    let patient = Scarcity {
        wait_seconds: 100,
        ..NOTHING
    };
    let ran = run(&world, &three(patient, &["B"])).await;
    assert!(!ran.outcome.reached());
    let waits: Vec<u64> = ran.waits.iter().map(Duration::as_secs).collect();
    assert_eq!(waits, [30, 60, 10], "the last pause ends with the time");
    let told: Vec<String> = moves(&ran.events).into_iter().map(|(to, _)| to).collect();
    assert_eq!(told, ["B", "30 s", "B", "60 s", "B", "10 s", "B"]);
}

#[tokio::test]
async fn what_time_does_not_mend_is_not_waited_for() {
    for code in ["SkuNotAvailable", "OverconstrainedAllocationRequest"] {
        let world = without_room(&["Standard_D2s_v5"], code).await;
        let patient = Scarcity {
            wait_seconds: 7_200,
            ..NOTHING
        };
        let ran = run(&world, &three(patient, &[])).await;
        assert!(!ran.outcome.reached());
        assert!(ran.waits.is_empty(), "{code}: {:?}", ran.waits);
        // Another size may be sold, or not be constrained.
        let world = without_room(&["Standard_D2s_v5"], code).await;
        let ran = run(&world, &three(NOTHING, &["B"])).await;
        assert!(ran.outcome.reached(), "{code}");
    }
}

fn regular(label: &str) -> Alternate {
    Alternate {
        label: label.to_owned(),
        attributes: BTreeMap::from([("priority".to_owned(), json!({"kind": "regular"}))]),
    }
}

fn spot(plan: &mut Plan) {
    for step in &mut plan.steps {
        let after = step
            .after
            .as_mut()
            .and_then(|after| after.virtual_machine_mut());
        after.expect("a VM").priority = model::resource::VmPriority::Spot {
            eviction: Eviction::Delete,
            max_price: Decimal::NEGATIVE_ONE,
        };
    }
}

#[tokio::test]
async fn spot_falls_back_to_regular_whatever_spot_lacks() {
    let quota = json!({"error": {"code": "OperationNotAllowed", "message":
        "Operation could not be completed as it results in exceeding approved LowPriorityCores quota. Location: eastus, Current Limit: 3, Current Usage: 0, Additional Required: 4, (Minimum) New Limit Required: 4."}});
    let said = |code: &str| json!({"error": {"code": code, "message": "no"}});
    for (body, skips) in [
        (quota, true),
        (said("SkuNotAvailable"), false),
        (said("OverconstrainedZonalAllocationRequest"), false),
        (said("AllocationFailed"), false),
    ] {
        let answer = body.clone();
        let world = World::with(move |seen, _| {
            let is_spot = seen.method == "PUT" && seen.json()["properties"]["priority"] == "Spot";
            is_spot.then(|| Act::json(409, &answer))
        })
        .await;
        let mut other_size = regular("B");
        other_size.attributes = BTreeMap::from([("size".to_owned(), json!("B"))]);
        let mut plan = with_others(NOTHING, &[other_size, regular("regular")]);
        spot(&mut plan);
        let ran = run(&world, &plan).await;
        assert!(ran.outcome.reached(), "{body}: {:?}", ran.outcome);
        assert_eq!(ran.outcome.taken["p"], 1);
        let told: Vec<String> = moves(&ran.events).into_iter().map(|(to, _)| to).collect();
        // No other size has spot quota either.
        let expected: &[&str] = if skips {
            &["regular"]
        } else {
            &["B", "regular"]
        };
        assert_eq!(told, expected, "{body}");
    }
}

#[tokio::test]
async fn what_somebody_else_made_is_never_removed() {
    let world = without_room(&["Standard_D2s_v5"], "AllocationFailed").await;
    let theirs = json!({"location": "eastus", "tags": {tags::RUN: "another"},
        "properties": {"hardwareProfile": {"vmSize": "Standard_D2s_v5"}}});
    world.put(&vm_id("demo-p-2"), theirs.clone());
    let ran = run(&world, &three(NOTHING, &["B"])).await;
    assert!(!ran.outcome.reached());
    let there = world.body(&vm_id("demo-p-2")).expect("it stays");
    assert_eq!(there["tags"], theirs["tags"]);
}

/// A sink that interrupts once the run pauses.
struct Stops(Remember, watch::Sender<Interrupt>);

impl super::super::Sink for Stops {
    fn emit(&self, event: &Event) -> Result<(), crate::SinkError> {
        if matches!(event, Event::Paused { .. }) {
            self.1.send_replace(Interrupt::Graceful);
        }
        self.0.emit(event)
    }
}

#[tokio::test]
async fn an_interrupt_ends_the_waiting() {
    let world = without_room(&["Standard_D2s_v5"], "AllocationFailed").await;
    let patient = Scarcity {
        wait_seconds: 7_200,
        ..NOTHING
    };
    let plan = three(patient, &[]);
    let (sender, interrupt) = watch::channel(Interrupt::No);
    let sink = Stops(Remember::default(), sender);
    let (outcome, _) = world.apply_plan(&plan, &sink, interrupt).await;
    assert!(!outcome.reached());
    let tries = world.server.seen();
    let tries = tries
        .iter()
        .filter(|seen| makes(seen, "demo-p-2", "Standard_D2s_v5"));
    assert!(
        tries.count() <= 2,
        "nothing more is tried after the interrupt"
    );
}
