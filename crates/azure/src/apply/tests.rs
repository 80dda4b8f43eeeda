//! Steps made by hand against a small world, at the wire.

mod world;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use model::{
    plan::{Action, Ending, Event, Failure, Operation, Outcome},
    resource::{ResourceKind, Tags, VirtualMachine, tags},
};
use serde_json::{Value, json};
use tokio::sync::watch;

use self::world::*;
use super::Interrupt;
use crate::testing::Act;

fn failure(outcome: &Outcome) -> Failure {
    let failed = outcome
        .steps
        .iter()
        .find_map(|(_, _, ending)| match ending {
            Ending::Failed(failure) => Some(failure.clone()),
            Ending::Done | Ending::Skipped { .. } | Ending::NotStarted => None,
        });
    failed.unwrap_or_else(|| panic!("no failure in {outcome:?}"))
}

fn endings(outcome: &Outcome) -> Vec<&'static str> {
    let word = |ending: &Ending| match ending {
        Ending::Done => "done",
        Ending::Failed(_) => "failed",
        Ending::Skipped { .. } => "skipped",
        Ending::NotStarted => "not started",
    };
    outcome
        .steps
        .iter()
        .map(|(_, _, ending)| word(ending))
        .collect()
}

/// A world with one VM of ours, and a step on it.
async fn with_vm(
    world: &World,
    operations: Vec<Operation>,
    change: impl FnOnce(&mut VirtualMachine),
) -> model::plan::Step {
    let (outcome, _) = world.apply(vec![create_vm(0)]).await;
    assert!(outcome.reached(), "{outcome:?}");
    let id = vm_id("demo-p-0");
    let mut desired = machine("demo-p-0");
    change(&mut desired);
    let mut step = step(
        "pool.p[0].vm",
        &id,
        Action::Update,
        operations,
        Some(vm(desired)),
    );
    step.fingerprint = world.fingerprint(ResourceKind::VirtualMachine, &id).await;
    step
}

fn resize(attributes: &[&str]) -> Vec<Operation> {
    let attributes = attributes.iter().map(ToString::to_string).collect();
    vec![Operation::Patch { attributes }]
}

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
async fn a_change_goes_with_the_etag_it_read() {
    let world = World::calm().await;
    let step = with_vm(&world, resize(&["size"]), |machine| {
        machine.size = "Standard_D4s_v5".into();
    })
    .await;
    let (outcome, _) = world.apply(vec![step]).await;
    assert!(outcome.reached(), "{outcome:?}");
    let seen = world.server.seen();
    let patch = seen.last().expect("a request");
    let patch = if patch.method == "PATCH" {
        patch
    } else {
        seen.iter()
            .rfind(|seen| seen.method == "PATCH")
            .expect("a PATCH")
    };
    assert_eq!(
        patch.json(),
        json!({"properties": {"hardwareProfile": {"vmSize": "Standard_D4s_v5"}}})
    );
    assert_eq!(patch.header("if-match"), "\"1\"");
}

#[tokio::test]
async fn a_resource_that_changed_since_the_plan_is_refused_before_any_write() {
    let world = World::calm().await;
    let step = with_vm(&world, resize(&["size"]), |machine| {
        machine.size = "Standard_D4s_v5".into();
    })
    .await;
    let id = vm_id("demo-p-0");
    let mut body = world.body(&id).expect("a body");
    body["properties"]["hardwareProfile"]["vmSize"] = json!("Standard_D8s_v5");
    world.put(&id, body);
    let (outcome, _) = world.apply(vec![step]).await;
    let failure = failure(&outcome);
    assert_eq!(failure.code, "ChangedSincePlan");
    assert_eq!(
        failure.message,
        "changed since the plan: `size` was `Standard_D2s_v5` and is `Standard_D8s_v5`"
    );
    assert_eq!(outcome.writes, 0);
}

#[tokio::test]
async fn an_unrelated_change_between_read_and_write_is_no_failure() {
    // The entity tag moves on right after the first read for the write.
    let patches = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&patches);
    let world = World::with(move |seen, _| {
        let first = seen.method == "PATCH" && counted.fetch_add(1, Ordering::SeqCst) == 0;
        first.then(|| Act::error(412, "PreconditionFailed"))
    })
    .await;
    let step = with_vm(&world, resize(&["size"]), |machine| {
        machine.size = "Standard_D4s_v5".into();
    })
    .await;
    let (outcome, _) = world.apply(vec![step]).await;
    assert!(outcome.reached(), "{outcome:?}");
    assert_eq!(patches.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_change_whose_answer_was_lost_is_recognised() {
    let patches = AtomicUsize::new(0);
    let world = World::with(move |seen, _| {
        (seen.method == "PATCH" && patches.fetch_add(1, Ordering::SeqCst) == 0)
            .then_some(Act::HangUp)
    })
    .await;
    let step = with_vm(&world, resize(&["size"]), |machine| {
        machine.size = "Standard_D4s_v5".into();
    })
    .await;
    let (outcome, _) = world.apply(vec![step]).await;
    assert!(outcome.reached(), "{outcome:?}");
    let body = world.body(&vm_id("demo-p-0")).expect("a body");
    assert_eq!(
        body["properties"]["hardwareProfile"]["vmSize"],
        "Standard_D4s_v5"
    );
}

#[tokio::test]
async fn what_a_step_itself_changes_is_no_surprise_to_it() {
    let world = World::calm().await;
    let operations = vec![
        Operation::Deallocate,
        resize(&["size", "os_disk.size_gb"]).remove(0),
        Operation::Start,
    ];
    let step = with_vm(&world, operations, |machine| {
        machine.size = "Standard_D4s_v5".into();
        machine.os_disk.size_gb = 128;
    })
    .await;
    let os_disk = group().in_group("Microsoft.Compute/disks", "demo-p-0-os");
    world.put(&os_disk, json!({"properties": {"diskSizeGB": 64}}));
    let (outcome, _) = world.apply(vec![step]).await;
    assert!(outcome.reached(), "{outcome:?}");
    assert_eq!(
        world.writes()[1..],
        [
            "POST demo-p-0/deallocate",
            "PATCH disks/demo-p-0-os",
            "PATCH virtualMachines/demo-p-0",
            "POST demo-p-0/start"
        ]
    );
    assert_eq!(
        world.body(&os_disk).expect("a disk")["properties"]["diskSizeGB"],
        128
    );
}

#[tokio::test]
async fn an_action_whose_answer_was_lost_is_judged_by_its_effect() {
    let world = World::with(|seen, _| (seen.method == "POST").then_some(Act::HangUp)).await;
    let step = with_vm(&world, vec![Operation::Deallocate], |_| {}).await;
    let (outcome, _) = world.apply(vec![step]).await;
    assert!(outcome.reached(), "{outcome:?}");
    assert_eq!(world.writes()[1..], ["POST demo-p-0/deallocate"]);
}

#[tokio::test]
async fn tags_are_merged_and_foreign_ones_stay() {
    let world = World::calm().await;
    let mut set = Tags::default();
    set.set("team", "vision");
    let operation = Operation::MergeTags {
        set,
        remove: vec!["old".to_owned(), "never-there".to_owned()],
    };
    let mut step = with_vm(&world, vec![operation], |_| {}).await;
    let id = vm_id("demo-p-0");
    let mut body = world.body(&id).expect("a body");
    body["tags"]["old"] = json!("1");
    body["tags"]["owner"] = json!("ops");
    world.put(&id, body);
    step.fingerprint = world.fingerprint(ResourceKind::VirtualMachine, &id).await;
    let (outcome, _) = world.apply(vec![step]).await;
    assert!(outcome.reached(), "{outcome:?}");
    let tags = world.body(&id).expect("a body")["tags"].clone();
    assert_eq!(
        (&tags["team"], &tags["owner"], tags.get("old")),
        (&json!("vision"), &json!("ops"), None)
    );
    let removal = world.server.seen().pop().expect("a request");
    assert_eq!(
        removal.json(),
        json!({"operation": "Delete", "properties": {"tags": {"old": "1"}}})
    );
}

#[tokio::test]
async fn a_network_is_written_with_the_subnets_it_has_now() {
    let world = World::calm().await;
    let id = group().in_group("Microsoft.Network/virtualNetworks", "demo-vnet");
    let make = step(
        "network.vnet",
        &id,
        Action::Create,
        vec![Operation::Create],
        Some(network("10.0.0.0/16")),
    );
    world.apply(vec![make]).await;
    let mut body = world.body(&id).expect("a body");
    body["properties"]["subnets"] =
        json!([{"name": "theirs", "properties": {"addressPrefix": "10.0.9.0/24"}}]);
    world.put(&id, body);
    let change = resize(&["address_space"]);
    let mut change = step(
        "network.vnet",
        &id,
        Action::Update,
        change,
        Some(network("10.0.0.0/8")),
    );
    change.fingerprint = world.fingerprint(ResourceKind::VirtualNetwork, &id).await;
    let (outcome, _) = world.apply(vec![change]).await;
    assert!(outcome.reached(), "{outcome:?}");
    let body = world.body(&id).expect("a body");
    assert_eq!(body["properties"]["subnets"][0]["name"], "theirs");
    assert_eq!(
        body["properties"]["addressSpace"]["addressPrefixes"],
        json!(["10.0.0.0/8"])
    );
    assert_eq!(body["tags"][tags::STACK], "demo");
}

fn delete(address: &str, id: &model::ids::ArmId) -> model::plan::Step {
    step(address, id, Action::Delete, vec![Operation::Delete], None)
}

#[tokio::test]
async fn deleting_what_is_absent_is_done() {
    let world = World::calm().await;
    let mut gone = delete("pool.p[0].vm", &vm_id("demo-p-0"));
    gone.fingerprint = model::plan::Fingerprint::new(Some(std::collections::BTreeMap::new()));
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
    assert_eq!(outcome.writes, 4, "each try is recorded before it is sent");
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
    assert_eq!(outcome.writes, 1, "one quota error costs one call");
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
        not_started,
    }) = sink.events().pop()
    else {
        panic!("the end");
    };
    assert_eq!((done + not_started, failed), (8, 0));
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
    assert_eq!(clock.seconds().iter().sum::<u64>(), 90 * 60);
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
