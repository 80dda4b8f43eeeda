//! Making, running, evicting and deleting virtual machines.

use serde_json::{Value, json};

use crate::rig::{Reply, Rig, compute, everywhere, id, machine, vm};

fn power(view: &Reply) -> &str {
    view.text("/statuses/1/code")
}

async fn view(rig: &Rig, name: &str) -> Reply {
    rig.get(&compute(&format!("virtualMachines/{name}/instanceView")))
        .await
        .expect(200)
}

async fn act(rig: &Rig, name: &str, action: &str) -> Reply {
    rig.post(&compute(&format!("virtualMachines/{name}/{action}")))
        .await
}

#[tokio::test]
async fn a_vm_is_made_by_time_and_brings_its_parts_along() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let begun = rig
        .put(&vm("vm1"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(201);
    assert_eq!(begun.text("/properties/provisioningState"), "Creating");
    assert_eq!(begun.header("retry-after"), "10");
    assert_eq!(begun.text("/etag"), "\"1\"");
    for hidden in [
        "/properties/osProfile/customData",
        "/properties/networkProfile/networkInterfaceConfigurations",
    ] {
        assert!(begun.body.pointer(hidden).is_none(), "{hidden}");
    }
    let operation = begun.header("azure-asyncoperation").to_owned();
    assert!(
        operation.len() > 2_500 && operation.len() < 4_096,
        "{}",
        operation.len()
    );
    let running = rig.follow(&operation).await.expect(200);
    assert_eq!(running.text("/status"), "InProgress");
    assert_eq!(running.header("retry-after"), "35");
    rig.pass(7);
    assert_eq!(rig.follow(&operation).await.text("/status"), "InProgress");
    rig.pass(1);
    let done = rig.follow(&operation).await;
    assert_eq!(done.text("/status"), "Succeeded");
    assert!(!done.text("/endTime").is_empty());
    let made = rig.get(&vm("vm1")).await.expect(200);
    assert_eq!(made.header("etag"), "\"2\"");
    assert!(
        !made
            .text("/properties/storageProfile/imageReference/exactVersion")
            .is_empty()
    );
    assert_eq!(
        made.text("/properties/networkProfile/networkInterfaces/0/properties/deleteOption"),
        "Delete"
    );
    let nic = made.text("/properties/networkProfile/networkInterfaces/0/id");
    let nic = rig
        .get(&format!("{nic}?api-version=2024-03-01"))
        .await
        .expect(200);
    assert_eq!(nic.text("/properties/virtualMachine/id"), id(&vm("vm1")));
    let disk = made.text("/properties/storageProfile/osDisk/managedDisk/id");
    let disk = rig
        .get(&format!("{disk}?api-version=2024-03-02"))
        .await
        .expect(200);
    assert_eq!(disk.body.get("tags"), Some(&json!({"team": "ml"})));
    assert_eq!(disk.text("/managedBy"), id(&vm("vm1")));
}

#[tokio::test]
async fn a_vm_goes_through_its_power_states() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.put(&vm("vm1"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(201);
    assert_eq!(
        view(&rig, "vm1").await.text("/statuses/0/code"),
        "ProvisioningState/creating"
    );
    rig.pass(8);
    assert_eq!(power(&view(&rig, "vm1").await), "PowerState/running");
    for (action, seconds, during, after) in [
        ("powerOff", 8, "stopping", "stopped"),
        ("start", 11, "starting", "running"),
        ("restart", 37, "running", "running"),
        ("redeploy", 123, "running", "running"),
        ("deallocate", 24, "deallocating", "deallocated"),
        ("start", 11, "starting", "running"),
        ("reapply", 6, "running", "running"),
    ] {
        let begun = act(&rig, "vm1", action).await.expect(202);
        assert_eq!(begun.body, Value::Null);
        assert_eq!(
            power(&view(&rig, "vm1").await),
            format!("PowerState/{during}"),
            "{action}"
        );
        rig.pass(seconds - 1);
        let status = begun.header("azure-asyncoperation");
        assert_eq!(
            rig.follow(status).await.text("/status"),
            "InProgress",
            "{action}"
        );
        let result = begun.header("location");
        let waiting = rig.follow(result).await.expect(202);
        assert!(!waiting.header("location").is_empty());
        rig.pass(1);
        assert_eq!(
            rig.follow(status).await.text("/status"),
            "Succeeded",
            "{action}"
        );
        assert_eq!(rig.follow(result).await.expect(200).body, Value::Null);
        assert_eq!(
            power(&view(&rig, "vm1").await),
            format!("PowerState/{after}"),
            "{action}"
        );
    }
}

#[tokio::test]
async fn a_deallocated_vm_shows_and_takes_less() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("vm1", &subnet).await;
    act(&rig, "vm1", "deallocate").await.expect(202);
    rig.pass(24);
    let shown = rig.get(&vm("vm1")).await.expect(200);
    assert_eq!(shown.text("/properties/provisioningState"), "Succeeded");
    for hidden in ["managedDisk/storageAccountType", "diskSizeGB"] {
        let place = format!("/properties/storageProfile/osDisk/{hidden}");
        assert!(shown.body.pointer(&place).is_none(), "{place}");
    }
    let refused = act(&rig, "vm1", "restart").await.expect(409);
    assert_eq!(refused.code(), "OperationNotAllowed");
    act(&rig, "vm1", "deallocate").await.expect(202);
}

#[tokio::test]
async fn a_newer_operation_preempts_a_running_one() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("vm1", &subnet).await;
    let restart = act(&rig, "vm1", "restart").await.expect(202);
    rig.delete(&vm("vm1")).await.expect(202);
    let status = rig
        .follow(restart.header("azure-asyncoperation"))
        .await
        .expect(200);
    assert_eq!(status.text("/status"), "Failed");
    assert_eq!(status.code(), "OperationPreempted");
    let refused = act(&rig, "vm1", "start").await.expect(409);
    assert!(
        refused
            .text("/error/message")
            .contains("marked for deletion"),
        "{}",
        refused.body
    );
    rig.delete(&vm("vm1")).await.expect(202);
    rig.pass(27);
    rig.get(&vm("vm1")).await.expect(404);
}

#[tokio::test]
async fn spot_vms_are_evicted_as_their_policy_says() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    for policy in ["Deallocate", "Delete"] {
        let mut body = machine("Standard_D4s_v5", &subnet);
        let properties = body.get_mut("properties").and_then(Value::as_object_mut);
        properties.expect("properties").extend([
            ("priority".to_owned(), json!("Spot")),
            ("evictionPolicy".to_owned(), json!(policy)),
            ("billingProfile".to_owned(), json!({"maxPrice": -1})),
        ]);
        rig.put(&vm(policy), body).await.expect(201);
        rig.pass(8);
        let accepted = act(&rig, policy, "simulateEviction").await.expect(204);
        assert_eq!(accepted.header("azure-asyncoperation"), "");
        rig.pass(76);
        assert_eq!(power(&view(&rig, policy).await), "PowerState/running");
        rig.pass(1);
    }
    assert_eq!(
        power(&view(&rig, "Deallocate").await),
        "PowerState/deallocated"
    );
    rig.get(&vm("Delete")).await.expect(404);
    rig.vm("regular", &subnet).await;
    let refused = act(&rig, "regular", "simulateEviction").await.expect(409);
    assert_eq!(refused.code(), "OperationNotAllowed");
}

#[tokio::test]
async fn an_eviction_ends_what_else_runs_on_the_vm() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let mut body = machine("Standard_D4s_v5", &subnet);
    crate::rig::set(&mut body, "/properties/priority", json!("Spot"));
    rig.put(&vm("vm1"), body).await.expect(201);
    rig.pass(8);
    act(&rig, "vm1", "simulateEviction").await.expect(204);
    rig.pass(60);
    let restart = act(&rig, "vm1", "restart").await.expect(202);
    rig.pass(17);
    let ended = rig
        .follow(restart.header("azure-asyncoperation"))
        .await
        .expect(200);
    assert_eq!(ended.code(), "OperationPreempted");
    rig.pass(60);
    assert_eq!(power(&view(&rig, "vm1").await), "PowerState/deallocated");
}

#[tokio::test]
async fn vms_are_listed_in_pages_of_fifty_with_their_states() {
    let rig = Rig::with(|options| tensorform_emulator::Options {
        throttling: false,
        ..options
    })
    .await;
    let subnet = rig.ground().await;
    for at in 0..60 {
        let body = machine("Standard_D4s_v5", &subnet);
        rig.put(&vm(&format!("vm{at:02}")), body).await.expect(201);
    }
    rig.pass(8);
    let everywhere = |query: &str| {
        everywhere(
            "Microsoft.Compute",
            &format!("virtualMachines{query}"),
            "2024-07-01",
        )
    };
    for start in [
        everywhere(""),
        everywhere("?statusOnly=true"),
        compute("virtualMachines"),
    ] {
        let first = rig.get(&start).await.expect(200);
        assert_eq!(first.items().len(), 50);
        let second = rig.follow(first.text("/nextLink")).await.expect(200);
        assert_eq!(second.items().len(), 10);
        assert!(second.body.get("nextLink").is_none());
        let states = start.contains("statusOnly");
        for item in first.items().iter().chain(second.items()) {
            let power = item.pointer("/properties/instanceView/statuses/1/code");
            assert_eq!(power.is_some(), states);
            assert_eq!(
                item.pointer("/properties/hardwareProfile").is_none(),
                states
            );
        }
    }
    let refused = rig
        .get(&everywhere("?$expand=instanceView"))
        .await
        .expect(400);
    assert_eq!(refused.code(), "InvalidParameter");
    let expanded = rig
        .get(&format!("{}&$expand=instanceView", vm("vm00")))
        .await
        .expect(200);
    assert_eq!(
        expanded.text("/properties/instanceView/statuses/1/code"),
        "PowerState/running"
    );
    assert_eq!(expanded.header("etag"), "");
}

#[tokio::test]
async fn identities_are_given_and_taken_away() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("vm1", &subnet).await;
    let given = rig
        .patch(&vm("vm1"), json!({"identity": {"type": "SystemAssigned"}}))
        .await
        .expect(200);
    let principal = given.text("/identity/principalId").to_owned();
    assert_eq!(principal.len(), 36);
    assert_eq!(
        given.text("/identity/tenantId"),
        tensorform_emulator::TENANT
    );
    rig.pass(8);
    let kept = rig
        .patch(&vm("vm1"), json!({"identity": {"type": "SystemAssigned"}}))
        .await
        .expect(200);
    assert_eq!(kept.text("/identity/principalId"), principal);
    let none = rig
        .patch(&vm("vm1"), json!({"identity": {"type": "None"}}))
        .await
        .expect(200);
    assert!(none.body.get("identity").is_none());
}

#[tokio::test]
async fn user_data_is_shown_on_request_alone() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let mut body = machine("Standard_D4s_v5", &subnet);
    crate::rig::set(&mut body, "/properties/userData", json!("aGVsbG8="));
    rig.put(&vm("vm1"), body).await.expect(201);
    let plain = rig.get(&vm("vm1")).await.expect(200);
    assert!(plain.body.pointer("/properties/userData").is_none());
    let asked = rig
        .get(&format!("{}&$expand=userData", vm("vm1")))
        .await
        .expect(200);
    assert_eq!(asked.text("/properties/userData"), "aGVsbG8=");
}
