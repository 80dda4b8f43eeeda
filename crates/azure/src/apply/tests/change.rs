//! Changing resources.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use model::{
    plan::{Action, Operation},
    resource::{ResourceKind, Tags, VirtualMachine, tags},
};
use serde_json::json;

use super::{failure, world::*};
use crate::testing::Act;

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

/// What a step has written is no surprise to its next operation, however the spec spells it.
#[tokio::test]
async fn a_tag_in_capitals_is_the_steps_own_change() {
    let world = World::calm().await;
    let mut set = Tags::default();
    set.set("Team", "ml");
    let mut operations = vec![Operation::MergeTags {
        set,
        remove: Vec::new(),
    }];
    operations.extend(resize(&["size"]));
    let step = with_vm(&world, operations, |machine| {
        machine.size = "Standard_D4s_v5".into();
    })
    .await;
    let (outcome, _) = world.apply(vec![step]).await;
    assert!(outcome.reached(), "{outcome:?}");
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
