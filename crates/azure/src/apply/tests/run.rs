//! Deletes, and whole runs: refusals, interrupts, deadlines.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use model::{
    plan::{Action, Event, Fingerprint, Operation},
    resource::ResourceKind,
};
use serde_json::{Value, json};

use super::{endings, failure, world::*};
use crate::{Interrupt, Sink, SinkError, testing::Act};
use tokio::sync::watch;

fn delete(address: &str, id: &model::ids::ArmId) -> model::plan::Step {
    step(address, id, Action::Delete, vec![Operation::Delete], None)
}

#[tokio::test]
async fn deleting_what_is_absent_is_done() {
    let world = World::calm().await;
    let mut gone = delete("pool.p[0].vm", &vm_id("demo-p-0"));
    gone.fingerprint = Fingerprint::new(Some(std::collections::BTreeMap::new()));
    let (outcome, _) = world.apply(vec![gone]).await;
    assert_eq!((outcome.reached(), outcome.writes), (true, 0));
}

#[tokio::test]
async fn a_group_goes_only_when_it_is_empty() {
    let world = World::calm().await;
    let make = step(
        "resource_group",
        &group(),
        Action::Create,
        vec![Operation::Create],
        Some(resource_group()),
    );
    world.apply(vec![make, create_vm(0)]).await;
    let mut machine_step = delete("pool.p[0].vm", &vm_id("demo-p-0"));
    machine_step.fingerprint = world
        .fingerprint(ResourceKind::VirtualMachine, &vm_id("demo-p-0"))
        .await;
    machine_step.needs = vec!["resource_group".parse().expect("an address")];
    let mut group_step = delete("resource_group", &group());
    group_step.fingerprint = world
        .fingerprint(ResourceKind::ResourceGroup, &group())
        .await;
    let stranger = group().in_group("Microsoft.Storage/storageAccounts", "theirs");
    world.put(&stranger, json!({}));
    let (outcome, _) = world.apply(vec![group_step.clone(), machine_step]).await;
    assert_eq!(endings(&outcome), ["failed", "done"], "{outcome:?}");
    let failed = failure(&outcome);
    assert_eq!(failed.code, "GroupNotEmpty");
    assert!(
        failed.message.contains("storageaccounts/theirs"),
        "{}",
        failed.message
    );
    world
        .state
        .lock()
        .expect("no thread panics")
        .resources
        .remove(stranger.key());
    let (outcome, _) = world.apply(vec![group_step]).await;
    assert!(outcome.reached(), "{outcome:?}");
    assert!(
        world
            .state
            .lock()
            .expect("no thread panics")
            .resources
            .is_empty()
    );
}

#[tokio::test]
async fn what_is_protected_is_not_deleted() {
    let world = World::calm().await;
    let (outcome, _) = world.apply(vec![create_vm(0)]).await;
    assert!(outcome.reached(), "{outcome:?}");
    let id = vm_id("demo-p-0");
    let mut gone = delete("pool.p[0].vm", &id);
    gone.fingerprint = Fingerprint::new(Some(std::collections::BTreeMap::new()));
    let mut body = world.body(&id).expect("a body");
    body["tags"]["Tensorform-Protect"] = json!("true");
    world.put(&id, body);
    let (outcome, _) = world.apply(vec![gone]).await;
    assert_eq!(failure(&outcome).code, "Protected");
    assert!(world.body(&id).is_some());
}

#[tokio::test]
async fn a_busy_network_is_waited_out() {
    let refusals = AtomicUsize::new(0);
    let world = World::with(move |seen, _| {
        let busy = seen.method == "PUT" && refusals.fetch_add(1, Ordering::SeqCst) < 3;
        busy.then(|| Act::error(409, "AnotherOperationInProgress"))
    })
    .await;
    let id = group().in_group("Microsoft.Network/virtualNetworks", "demo-vnet");
    let make = step(
        "network.vnet",
        &id,
        Action::Create,
        vec![Operation::Create],
        Some(network("10.0.0.0/16")),
    );
    let (outcome, events) = world.apply(vec![make]).await;
    assert!(outcome.reached(), "{outcome:?}");
    let recorded = events
        .iter()
        .filter(|event| matches!(event, Event::Write { .. }))
        .count();
    assert_eq!(recorded, 4, "each try is recorded before it is sent");
    assert_eq!(outcome.writes, 1, "what is refused changes nothing");
    let waits = events
        .iter()
        .filter(|event| matches!(event, Event::Waiting { .. }))
        .count();
    assert_eq!(waits, 3);
}

#[tokio::test]
async fn a_refusal_stops_creations_of_the_same_kind() {
    let world = World::with(|seen, _| {
        let message = "exceeding approved standardDSv5Family Cores quota. Location: eastus, Current Limit: 4, Current Usage: 4, Additional Required: 2, (Minimum) New Limit Required: 6.";
        let body = json!({"error": {"code": "OperationNotAllowed", "message": message}});
        (seen.method == "PUT").then(|| Act::json(409, &body))
    })
    .await;
    let (outcome, _) = world.apply((0..20).map(create_vm).collect()).await;
    assert_eq!(world.writes().len(), 1, "one quota error costs one call");
    assert_eq!(outcome.writes, 0, "what is refused changes nothing");
    let failed = failure(&outcome);
    assert_eq!((failed.kind.as_str(), failed.left_behind), ("quota", false));
    assert_eq!(
        endings(&outcome)
            .iter()
            .filter(|ending| **ending == "skipped")
            .count(),
        19
    );
}

#[tokio::test]
async fn nothing_is_written_that_could_not_be_recorded() {
    let world = World::calm().await;
    let mut sink = Remember::default();
    sink.refuses_write = Some(1);
    let (_, interrupt) = watch::channel(Interrupt::No);
    let (outcome, _) = world
        .apply_with((0..8).map(create_vm).collect(), &sink, interrupt)
        .await;
    assert_eq!(world.writes(), ["PUT virtualMachines/demo-p-0"]);
    assert_eq!((outcome.writes, outcome.interrupted), (1, false));
    let endings = endings(&outcome);
    assert_eq!(endings[0], "done", "{outcome:?}");
    assert!(
        endings[1..].iter().all(|ending| *ending != "done"),
        "{endings:?}"
    );
    assert_eq!(failure(&outcome).code, "JournalFailed");
}

#[tokio::test]
async fn an_interrupt_lets_what_is_under_way_finish() {
    let (ask, interrupt) = watch::channel(Interrupt::No);
    let world = World::with(move |seen, _| {
        if seen.method == "PUT" {
            ask.send(Interrupt::Graceful).expect("a listener");
        }
        None
    })
    .await;
    let sink = Remember::default();
    let (outcome, _) = world
        .apply_with((0..8).map(create_vm).collect(), &sink, interrupt)
        .await;
    assert!(outcome.interrupted);
    let endings = endings(&outcome);
    assert_eq!((endings[0], endings[7]), ("done", "not started"));
    assert!(sink.events().contains(&Event::Interrupted));
    let Some(Event::RunFinished {
        done,
        failed,
        unknown,
        not_started,
    }) = sink.events().pop()
    else {
        panic!("the end");
    };
    assert_eq!((done + not_started, failed, unknown), (8, 0, 0));
}

/// Interrupts when the first step ends, before anybody heard of that.
struct InterruptsAtAnEnd {
    ask: watch::Sender<Interrupt>,
    told: Remember,
}

impl Sink for InterruptsAtAnEnd {
    fn emit(&self, event: &Event) -> Result<(), SinkError> {
        if matches!(event, Event::StepFinished { .. }) {
            self.ask.send_replace(Interrupt::Graceful);
        }
        self.told.emit(event)
    }
}

#[tokio::test]
async fn nothing_starts_after_an_interrupt_however_close() {
    let (ask, interrupt) = watch::channel(Interrupt::No);
    let world = World::calm().await;
    let told = Remember::default();
    let sink = InterruptsAtAnEnd { ask, told };
    let mut steps: Vec<_> = (0..4).map(create_vm).collect();
    let first = steps[0].address.clone();
    for step in &mut steps[1..] {
        step.needs = vec![first.clone()];
    }
    let (outcome, _) = world.apply_with(steps, &sink, interrupt).await;
    assert_eq!(endings(&outcome)[1..], ["not started"; 3]);
    let is_start = |event: &Event| matches!(event, Event::StepStarted { .. });
    let events = sink.told.events();
    assert_eq!(events.iter().filter(|event| is_start(event)).count(), 1);
}

#[tokio::test]
async fn a_second_interrupt_leaves_at_once() {
    let (ask, interrupt) = watch::channel(Interrupt::No);
    let asked = AtomicUsize::new(0);
    let world = World::with(move |seen, _| {
        if seen.target.contains("/operations/") {
            if asked.fetch_add(1, Ordering::SeqCst) == 2 {
                ask.send(Interrupt::Now).expect("a listener");
            }
            return Some(Act::json(200, &json!({"status": "InProgress"})));
        }
        let url = format!("http://{}/operations/1", seen.header("host"));
        (seen.method == "PUT").then(|| Act::json(201, &json!({})).with("azure-asyncoperation", url))
    })
    .await;
    let (outcome, _) = world
        .apply_with(vec![create_vm(0)], &Remember::default(), interrupt)
        .await;
    let failed = failure(&outcome);
    assert_eq!(
        (failed.code.as_str(), failed.left_behind),
        ("Interrupted", true)
    );
    assert!(outcome.interrupted);
}

#[tokio::test]
async fn an_interrupt_before_the_start_starts_nothing() {
    for interrupt in [Interrupt::Graceful, Interrupt::Now] {
        let (_, receiver) = watch::channel(interrupt);
        let world = World::calm().await;
        let (outcome, _) = world
            .apply_with(vec![create_vm(0)], &Remember::default(), receiver)
            .await;
        assert_eq!(
            (endings(&outcome), outcome.interrupted),
            (vec!["not started"], true)
        );
        assert!(world.server.seen().is_empty());
    }
}

#[tokio::test]
async fn an_operation_without_an_end_meets_the_deadline_of_its_step() {
    let world = World::with(|seen, _| {
        let url = format!("http://{}/operations/1", seen.header("host"));
        match seen.target.contains("/operations/") {
            true => Some(Act::json(200, &json!({"status": "InProgress"})).with("retry-after", 60)),
            false if seen.method == "PUT" => {
                Some(Act::json(201, &Value::Null).with("azure-asyncoperation", url))
            }
            false => None,
        }
    })
    .await;
    let (_, interrupt) = watch::channel(Interrupt::No);
    let (outcome, clock) = world
        .apply_with(vec![create_vm(0)], &Remember::default(), interrupt)
        .await;
    let failed = failure(&outcome);
    assert_eq!(
        (failed.code.as_str(), failed.kind.as_str()),
        ("StepDeadline", "deadline")
    );
    assert!(failed.unknown, "it may still end well");
    assert_eq!(clock.seconds().iter().sum::<u64>(), 90 * 60);
}

#[tokio::test]
async fn what_nobody_answers_is_unknown_and_a_refusal_is_a_failure() {
    // The operation of an accepted write is not to be reached any more.
    let lost = World::with(|seen, _| {
        let url = format!("http://{}/operations/1", seen.header("host"));
        match seen.target.contains("/operations/") {
            true => Some(Act::HangUp),
            false if seen.method == "PUT" => {
                Some(Act::json(201, &Value::Null).with("azure-asyncoperation", url))
            }
            false => None,
        }
    })
    .await;
    // The answer to the write itself never comes, and nothing is heard from then on.
    let is_silent = AtomicBool::new(false);
    let silent = World::with(move |seen, _| {
        is_silent.fetch_or(seen.method == "PUT", Ordering::SeqCst);
        is_silent.load(Ordering::SeqCst).then_some(Act::HangUp)
    })
    .await;
    for world in [lost, silent] {
        let sink = Remember::default();
        let (_, interrupt) = watch::channel(Interrupt::No);
        let (outcome, _) = world.apply_with(vec![create_vm(0)], &sink, interrupt).await;
        let failed = failure(&outcome);
        assert!(failed.unknown, "{failed:?}");
        assert!(
            failed
                .help
                .is_some_and(|help| help.contains("tensorform plan"))
        );
        assert_eq!((outcome.failed(), outcome.unknown()), (1, 1));
        let end = sink.events().pop().expect("the end");
        assert!(
            matches!(
                end,
                Event::RunFinished {
                    failed: 0,
                    unknown: 1,
                    ..
                }
            ),
            "{end:?}"
        );
    }
    let refusing = World::with(|seen, _| {
        (seen.method == "PUT").then(|| Act::error(409, "OperationNotAllowed"))
    })
    .await;
    let (outcome, _) = refusing.apply(vec![create_vm(0)]).await;
    assert!(!failure(&outcome).unknown);
}

#[tokio::test]
async fn steps_that_wait_for_one_another_are_refused_as_a_whole() {
    let world = World::calm().await;
    let mut steps = vec![create_vm(0), create_vm(1)];
    steps[0].needs = vec![steps[1].address.clone()];
    steps[1].needs = vec![steps[0].address.clone()];
    let (outcome, _) = world.apply(steps).await;
    assert_eq!(endings(&outcome), ["failed", "failed"]);
    assert!(world.server.seen().is_empty());
}
