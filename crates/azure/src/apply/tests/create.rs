//! Making resources.

use std::sync::atomic::{AtomicUsize, Ordering};

use model::{
    plan::{Action, Event, Operation},
    resource::{ResourceKind, tags},
};
use serde_json::json;

use super::{failure, world::*};
use crate::testing::Act;

#[tokio::test]
async fn a_machine_is_made_with_a_precondition_a_key_and_the_tags_of_the_run() {
    let world = World::calm().await;
    let (outcome, events) = world.apply(vec![create_vm(0)]).await;
    assert!(outcome.reached(), "{outcome:?}");
    assert_eq!((outcome.writes, outcome.interrupted), (1, false));
    let seen = world.server.seen();
    let put = seen
        .iter()
        .find(|seen| seen.method == "PUT")
        .expect("a PUT");
    assert_eq!(put.header("if-none-match"), "*");
    let body = put.json();
    let tags = &body["tags"];
    assert_eq!(tags[tags::STACK], "demo");
    assert_eq!(tags[tags::ADDRESS], "pool.p[0].vm");
    assert_eq!(tags[tags::CREATED], "2027-01-15T08:00:00Z");
    assert_eq!(
        (&tags[tags::RUN], &tags["team"]),
        (&json!("nonce-1"), &json!("ml"))
    );
    let key = "/properties/osProfile/linuxConfiguration/ssh/publicKeys/0/keyData";
    assert_eq!(body.pointer(key), Some(&json!("ssh-ed25519 AAAA")));
    let names: Vec<&str> = events
        .iter()
        .map(|event| match event {
            Event::RunStarted { .. } => "run",
            Event::StepStarted { .. } => "step",
            Event::Write {
                client_request_id, ..
            } => {
                assert_eq!(put.header("x-ms-client-request-id"), client_request_id);
                "write"
            }
            Event::Accepted { .. } => "accepted",
            Event::Waiting { .. } => "waiting",
            Event::StepFinished { .. } => "finished",
            Event::Moved { .. } => "moved",
            Event::Paused { .. } => "paused",
            Event::Interrupted => "interrupted",
            Event::RunFinished { .. } => "end",
        })
        .collect();
    assert_eq!(
        names,
        ["run", "step", "write", "accepted", "finished", "end"]
    );
}

#[tokio::test]
async fn a_machine_in_the_way_is_not_touched() {
    let world = World::calm().await;
    world.put(
        &vm_id("demo-p-0"),
        json!({"location": "eastus", "tags": {"owner": "ops"}}),
    );
    let (outcome, _) = world.apply(vec![create_vm(0)]).await;
    let failure = failure(&outcome);
    assert_eq!(failure.code, "AlreadyExists");
    assert!(failure.message.contains("no stack"), "{}", failure.message);
    assert_eq!(
        world.body(&vm_id("demo-p-0")).expect("a body")["tags"],
        json!({"owner": "ops"})
    );
}

#[tokio::test]
async fn a_machine_whose_acceptance_was_lost_is_known_by_the_nonce() {
    let world = World::with(|seen, _| {
        (seen.method == "PUT" && !seen.target.contains("again")).then_some(Act::HangUp)
    })
    .await;
    let (outcome, _) = world.apply(vec![create_vm(0)]).await;
    assert!(outcome.reached(), "{outcome:?}");
    // Once the connection holds, the retried request meets its own resource.
    let lost = AtomicUsize::new(0);
    let world = World::with(move |seen, _| {
        (seen.method == "PUT" && lost.fetch_add(1, Ordering::SeqCst) == 0).then_some(Act::HangUp)
    })
    .await;
    let (outcome, _) = world.apply(vec![create_vm(0)]).await;
    assert!(outcome.reached(), "{outcome:?}");
    let puts = world
        .server
        .seen()
        .iter()
        .filter(|seen| seen.method == "PUT")
        .count();
    assert_eq!((puts, outcome.writes), (2, 1));
}

#[tokio::test]
async fn somebody_elses_machine_is_not_taken_for_ours_after_a_lost_answer() {
    let lost = AtomicUsize::new(0);
    let world = World::with(move |seen, _| {
        let first = seen.method == "PUT" && lost.fetch_add(1, Ordering::SeqCst) == 0;
        first.then(|| Act::error(504, "GatewayTimeout"))
    })
    .await;
    let theirs = json!({"location": "eastus", "tags": {"tensorform-run": "nonce-2", "tensorform-stack": "demo", "tensorform-address": "a"}});
    world.put(&vm_id("demo-p-0"), theirs);
    let (outcome, _) = world.apply(vec![create_vm(0)]).await;
    let failure = failure(&outcome);
    assert_eq!(failure.code, "AlreadyExists");
    assert!(
        failure.message.contains("`a` of the stack `demo`"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn kinds_without_a_precondition_are_looked_at_right_before() {
    let world = World::calm().await;
    let id = group().in_group("Microsoft.Compute/disks", "d");
    let make = || {
        step(
            "pool.p[0].data_disk[0]",
            &id,
            Action::Create,
            vec![Operation::Create],
            Some(disk(64)),
        )
    };
    let (outcome, _) = world.apply(vec![make()]).await;
    assert!(outcome.reached(), "{outcome:?}");
    let methods: Vec<String> = world
        .server
        .seen()
        .iter()
        .map(|seen| seen.method.clone())
        .collect();
    assert_eq!(methods, ["GET", "PUT"]);
    // The same run again finds what it made; another run is refused.
    let (outcome, _) = world.apply(vec![make()]).await;
    assert_eq!((outcome.reached(), outcome.writes), (true, 0));
    let mut body = world.body(&id).expect("a body");
    body["tags"][tags::RUN] = json!("nonce-0");
    world.put(&id, body);
    let (outcome, _) = world.apply(vec![make()]).await;
    assert_eq!(
        (failure(&outcome).code.as_str(), outcome.writes),
        ("AlreadyExists", 0)
    );
}

#[tokio::test]
async fn a_repair_demands_no_absence() {
    let world = World::calm().await;
    let mut repair = create_vm(0);
    repair.action = Action::Repair;
    repair.operations = vec![Operation::Delete, Operation::Create];
    world.put(
        &vm_id("demo-p-0"),
        json!({"location": "eastus", "properties": {}}),
    );
    repair.fingerprint = world
        .fingerprint(ResourceKind::VirtualMachine, &vm_id("demo-p-0"))
        .await;
    let (outcome, _) = world.apply(vec![repair]).await;
    assert!(outcome.reached(), "{outcome:?}");
    assert_eq!(
        world.writes(),
        [
            "DELETE virtualMachines/demo-p-0",
            "PUT virtualMachines/demo-p-0"
        ]
    );
    assert!(
        world
            .server
            .seen()
            .iter()
            .all(|seen| seen.header("if-none-match").is_empty())
    );
}

#[tokio::test]
async fn a_failed_creation_says_what_it_left_behind() {
    let world = World::with(|seen, _| {
        let answer = match (seen.method.as_str(), seen.target.contains("operations")) {
            ("PUT", _) => {
                let url = format!("http://{}/operations/1", seen.header("host"));
                Act::json(201, &json!({})).with("azure-asyncoperation", url)
            }
            ("GET", true) => Act::json(
                200,
                &json!({"status": "Failed", "error": {"code": "AllocationFailed", "message": "full"}}),
            ),
            _ => return None,
        };
        Some(answer)
    })
    .await;
    let (outcome, _) = world.apply(vec![create_vm(0)]).await;
    let failed = failure(&outcome);
    assert_eq!(
        (
            failed.code.as_str(),
            failed.kind.as_str(),
            failed.left_behind
        ),
        ("AllocationFailed", "capacity", false)
    );
    world.put(
        &vm_id("demo-p-0"),
        json!({"location": "eastus", "properties": {}}),
    );
    let (outcome, _) = world.apply(vec![create_vm(0)]).await;
    assert!(failure(&outcome).left_behind);
}

#[tokio::test]
async fn somebody_elses_write_is_waited_for() {
    let reads = AtomicUsize::new(0);
    let world = World::with(move |seen, _| {
        let read = reads.fetch_add(1, Ordering::SeqCst);
        let state = if read < 3 { "Updating" } else { "Succeeded" };
        let body = json!({"location": "eastus", "properties": {"provisioningState": state, "diskSizeGB": 64}, "sku": {"name": "Premium_LRS"}});
        (seen.method == "GET").then(|| Act::json(200, &body))
    })
    .await;
    let id = group().in_group("Microsoft.Compute/disks", "d");
    let settle = step(
        "pool.p[0].data_disk[0]",
        &id,
        Action::Repair,
        vec![Operation::Settle],
        Some(disk(64)),
    );
    let (outcome, _) = world.apply(vec![settle]).await;
    assert_eq!((outcome.reached(), outcome.writes), (true, 0));
}

#[tokio::test]
async fn a_machine_that_is_being_deleted_is_waited_for_and_made_anew() {
    let reads = AtomicUsize::new(0);
    let world = World::with(move |seen, _| {
        let deleting = seen.method == "GET" && reads.fetch_add(1, Ordering::SeqCst) < 2;
        deleting.then(|| {
            Act::json(
                200,
                &json!({"properties": {"provisioningState": "Deleting"}}),
            )
        })
    })
    .await;
    let mut anew = create_vm(0);
    anew.operations = vec![Operation::AwaitGone, Operation::Create];
    let (outcome, _) = world.apply(vec![anew]).await;
    assert!(outcome.reached(), "{outcome:?}");
    assert_eq!(world.writes(), ["PUT virtualMachines/demo-p-0"]);
}
