//! Run commands in guests of instances, which are single ones of Uniform sets.

use serde_json::{Value, json};

use crate::{
    rig::{Reply, Rig},
    scale_sets::{made, power, scale_set, uniform},
};

const H100: &str = "Standard_ND96isr_H100_v5";

fn body() -> Value {
    json!({
        "commandId": "RunShellScript",
        "script": ["check gpus 60 'nvidia-smi'", "check infiniband 60 'cat'"],
    })
}

async fn ask(rig: &Rig, rest: &str) -> Reply {
    let path = scale_set(&format!("{rest}/runCommand"));
    rig.send("POST", &path, Some(body())).await
}

/// What an instance says at the end of its command.
async fn said(rig: &Rig, instance: &str) -> String {
    let begun = ask(rig, &format!("pool/virtualMachines/{instance}")).await;
    let begun = begun.expect(202);
    rig.pass(17);
    let result = rig.follow(begun.header("location")).await.expect(200);
    result.text("/value/0/message").to_owned()
}

#[tokio::test]
async fn instances_of_a_set_share_a_partition_key() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    made(&rig, uniform(H100, &subnet, 2)).await;
    let first = said(&rig, "0").await;
    let second = said(&rig, "1").await;
    assert!(first.contains("no guest"), "{first}");
    assert_eq!(first.matches("NVIDIA H100").count(), 8, "{first}");
    assert_eq!(first, second);
    assert_eq!(power(&rig, "0").await, "PowerState/running");
}

#[tokio::test]
async fn only_running_instances_are_asked() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    made(&rig, uniform(H100, &subnet, 1)).await;
    let missing = ask(&rig, "pool/virtualMachines/7").await;
    missing.expect(404);
    let whole = ask(&rig, "pool").await;
    whole.expect(501);
    let path = scale_set("pool/virtualMachines/0/deallocate");
    rig.post(&path).await.expect(202);
    rig.pass(40);
    let off = ask(&rig, "pool/virtualMachines/0").await;
    assert_eq!(off.expect(409).code(), "OperationNotAllowed");
}

#[tokio::test]
async fn a_rule_makes_one_guest_say_something_else() {
    let rig = Rig::faulty(
        "rules:\n\
         - name: own words\n  \
           match: {type: Microsoft.Compute/virtualMachineScaleSets/virtualMachines/runCommand, name: 1}\n  \
           then: {guest: {output: nothing is well}}",
    )
    .await;
    // A rig with faults has its group already.
    let subnet = rig.network().await;
    made(&rig, uniform(H100, &subnet, 2)).await;
    assert!(said(&rig, "0").await.contains("NVIDIA H100"));
    let message = said(&rig, "1").await;
    assert!(message.contains("[stdout]\nnothing is well\n"), "{message}");
    assert!(!message.contains("NVIDIA"), "{message}");
}
