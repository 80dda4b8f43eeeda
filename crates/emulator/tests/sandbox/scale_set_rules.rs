//! What scale sets refuse, and what becomes of instances that Azure takes or does not give.

use serde_json::{Value, json};

use crate::{
    flexible::flexible,
    rig::{Reply, Rig, SUBSCRIPTION, set},
    scale_sets::{act, ids, instances, made, power, scale_set, uniform, usage},
};

#[tokio::test]
async fn limits_of_placement_groups_are_kept() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let refused = |reply: Reply, status: u16, code: &str, word: &str| {
        let reply = reply.expect(status);
        assert_eq!(reply.code(), code);
        let message = reply.text("/error/message");
        assert!(message.contains(word), "{message}");
    };
    let mut body = uniform("Standard_D2s_v5", &subnet, 101);
    set(&mut body, "/properties/singlePlacementGroup", json!(true));
    let reply = rig.put(&scale_set("pool"), body).await;
    refused(reply, 409, "OperationNotAllowed", "total limit of '100'");
    let reply = rig
        .put(
            &scale_set("pool"),
            uniform("Standard_D2s_v5", &subnet, 1_001),
        )
        .await;
    refused(reply, 409, "OperationNotAllowed", "total limit of '1000'");
    let rack = uniform("Standard_ND128isr_GB300_v6", &subnet, 18);
    let reply = rig.put(&scale_set("pool"), rack).await;
    refused(reply, 400, "BadRequest", "Vertical Connect Feature");
    let mut spread = flexible("Standard_NC24ads_A100_v4", &subnet, 201);
    set(
        &mut spread,
        "/properties/platformFaultDomainCount",
        json!(2),
    );
    let reply = rig.put(&scale_set("pool"), spread).await;
    refused(reply, 409, "OperationNotAllowed", "total limit of '200'");
    let reply = rig
        .put(
            &scale_set("pool"),
            uniform("Standard_ND128isr_GB300_v6", &subnet, 18),
        )
        .await;
    refused(reply, 400, "BadRequest", "Vertical Connect Feature");
    made(&rig, uniform("Standard_D2s_v5", &subnet, 101)).await;
    let body = json!({"properties": {"singlePlacementGroup": true}});
    let reply = rig.patch(&scale_set("pool"), body).await;
    refused(
        reply,
        409,
        "PropertyChangeNotAllowed",
        "singlePlacementGroup",
    );
}

#[tokio::test]
async fn a_flexible_set_has_no_single_placement_group_and_makes_no_spare_vms() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    for member in ["singlePlacementGroup", "overprovision"] {
        let mut body = flexible("Standard_D2s_v5", &subnet, 1);
        set(&mut body, &format!("/properties/{member}"), json!(true));
        let reply = rig.put(&scale_set("pool"), body).await.expect(400);
        assert_eq!(reply.text("/error/target"), member);
    }
}

#[tokio::test]
async fn what_a_set_is_never_changes() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    made(&rig, uniform("Standard_D2s_v5", &subnet, 2)).await;
    for (place, value, target) in [
        (
            "/properties/platformFaultDomainCount",
            json!(1),
            "platformFaultDomainCount",
        ),
        (
            "/properties/orchestrationMode",
            json!("Flexible"),
            "orchestrationMode",
        ),
    ] {
        let mut body = uniform("Standard_D2s_v5", &subnet, 2);
        set(&mut body, place, value);
        let reply = rig.put(&scale_set("pool"), body).await.expect(409);
        assert_eq!(reply.text("/error/target"), target);
    }
}

/// A wrong member, the status and code of its refusal, and what that names.
type Refusal = (&'static str, Value, u16, &'static str, &'static str);

fn refusals() -> [Refusal; 8] {
    [
        (
            "/properties/upgradePolicy",
            json!({}),
            400,
            "InvalidParameter",
            "upgradePolicy.mode",
        ),
        (
            "/sku/name",
            json!("Standard_X9"),
            400,
            "InvalidParameter",
            "vmSize",
        ),
        (
            "/sku/capacity",
            json!(-1),
            400,
            "InvalidParameter",
            "sku.capacity",
        ),
        (
            "/properties/virtualMachineProfile/networkProfile",
            json!({}),
            400,
            "InvalidParameter",
            "networkProfile",
        ),
        (
            "/properties/virtualMachineProfile/storageProfile/imageReference",
            json!({"publisher": "this publisher", "offer": "o", "sku": "s", "version": "latest"}),
            400,
            "InvalidParameter",
            "imageReference.publisher",
        ),
        (
            "/properties/virtualMachineProfile/evictionPolicy",
            json!("Delete"),
            409,
            "OperationNotAllowed",
            "evictionPolicy",
        ),
        (
            "/properties/nonsense",
            json!(1),
            400,
            "BadRequest",
            "vmScaleSet.properties.nonsense",
        ),
        (
            "/properties/virtualMachineProfile/storageProfile/osDisk",
            json!({"createOption": "FromImage", "diskSizeGB": 1}),
            409,
            "OperationNotAllowed",
            "osDisk.diskSizeGB",
        ),
    ]
}

#[tokio::test]
async fn what_azure_refuses_is_refused() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    for (place, value, status, code, target) in refusals() {
        let mut body = uniform("Standard_D4s_v5", &subnet, 1);
        set(&mut body, place, value);
        let reply = rig.put(&scale_set("pool"), body).await.expect(status);
        assert_eq!((reply.code(), reply.text("/error/target")), (code, target));
    }
}

#[tokio::test]
async fn what_a_set_names_must_be_there_and_fit() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let profile = "/properties/virtualMachineProfile";
    let good = || uniform("Standard_D4s_v5", &subnet, 1);
    let mut body = good();
    set(
        &mut body,
        &format!("{profile}/networkProfile"),
        json!({"networkInterfaceConfigurations": [{"name": "n", "properties": {
            "ipConfigurations": [{"name": "i", "properties": {"subnet": {"id": format!("{subnet}x")}}}],
        }}]}),
    );
    let reply = rig.put(&scale_set("pool"), body).await.expect(400);
    assert_eq!(reply.code(), "InvalidResourceReference");
    assert_eq!(
        rig.put(&scale_set("-x"), good()).await.expect(400).code(),
        "InvalidParameter"
    );
    // A size whose images must be of the second generation, and an image of the first.
    let mut body = uniform("Standard_NC24ads_A100_v4", &subnet, 1);
    set(
        &mut body,
        &format!("{profile}/storageProfile/imageReference"),
        crate::replay::image_of_first_generation(),
    );
    let reply = rig.put(&scale_set("pool"), body).await.expect(400);
    assert!(
        reply
            .text("/error/message")
            .contains("Hypervisor Generation")
    );
    assert_eq!(usage(&rig, "virtualMachineScaleSets").await, 0);
}

#[tokio::test]
async fn quota_and_restrictions_hold_for_all_instances_together() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let quota = format!("/sandbox/quota/{SUBSCRIPTION}/eastus");
    rig.put(&quota, json!({"standardDSv5Family": 10}))
        .await
        .expect(204);
    let reply = rig
        .put(&scale_set("pool"), uniform("Standard_D4s_v5", &subnet, 3))
        .await
        .expect(409);
    assert!(
        reply
            .text("/error/message")
            .contains("Additional Required: 12")
    );
    made(&rig, uniform("Standard_D4s_v5", &subnet, 2)).await;
    let body = json!({"sku": {"name": "Standard_D4s_v5", "capacity": 3}});
    let reply = rig.patch(&scale_set("pool"), body).await.expect(409);
    assert!(
        reply
            .text("/error/message")
            .contains("Additional Required: 4")
    );
    let restrictions = format!("/sandbox/restrictions/{SUBSCRIPTION}/eastus");
    let body = json!([{"size": "Standard_D8s_v5", "zones": ["2"], "reason": "NotAvailableForSubscription"}]);
    rig.put(&restrictions, body).await.expect(204);
    rig.put(&quota, json!({"standardDSv5Family": 100}))
        .await
        .expect(204);
    let mut body = uniform("Standard_D8s_v5", &subnet, 2);
    set(&mut body, "/zones", json!(["1", "2"]));
    let reply = rig.put(&scale_set("zonal"), body.clone()).await.expect(409);
    assert_eq!(reply.code(), "SkuNotAvailable");
    set(&mut body, "/zones", json!(["1", "3"]));
    rig.put(&scale_set("zonal"), body).await.expect(201);
    let all = rig
        .get(&scale_set("zonal/virtualMachines"))
        .await
        .expect(200);
    let zones: Vec<_> = all
        .items()
        .iter()
        .filter_map(|one| one.get("zones").cloned())
        .collect();
    assert_eq!(zones, [json!(["1"]), json!(["3"])]);
}

#[tokio::test]
async fn spot_instances_are_evicted_as_their_policy_says() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let mut body = uniform("Standard_D4s_v5", &subnet, 2);
    let profile = "/properties/virtualMachineProfile";
    set(&mut body, &format!("{profile}/priority"), json!("Spot"));
    made(&rig, body.clone()).await;
    assert_eq!(usage(&rig, "lowPriorityCores").await, 8);
    assert_eq!(usage(&rig, "cores").await, 0);
    let evict = |id: &str| scale_set(&format!("pool/virtualMachines/{id}/simulateEviction"));
    rig.post(&evict("0")).await.expect(204);
    rig.pass(78);
    assert_eq!(power(&rig, "0").await, "PowerState/deallocated");
    assert_eq!(ids(&instances(&rig).await), ["0", "1"]);
    rig.delete(&scale_set("pool")).await.expect(202);
    rig.pass(3);
    set(
        &mut body,
        &format!("{profile}/evictionPolicy"),
        json!("Delete"),
    );
    made(&rig, body).await;
    rig.post(&evict("1")).await.expect(204);
    rig.pass(78);
    assert_eq!(ids(&instances(&rig).await), ["0"]);
    rig.put(
        &scale_set("regular"),
        uniform("Standard_D4s_v5", &subnet, 1),
    )
    .await
    .expect(201);
    let path = scale_set("regular/virtualMachines/0/simulateEviction");
    assert_eq!(
        rig.post(&path).await.expect(409).code(),
        "OperationNotAllowed"
    );
}

#[tokio::test]
async fn failed_allocations_leave_failed_instances() {
    let rig = Rig::faulty(
        "rules:\n  - match: {method: PUT, type: Microsoft.Compute/virtualMachineScaleSets, count: 1}\n    then:\n      fail_in_operation: {code: AllocationFailed}\n",
    )
    .await;
    let subnet = rig.network().await;
    let reply = rig
        .put(&scale_set("pool"), uniform("Standard_D4s_v5", &subnet, 2))
        .await
        .expect(201);
    rig.pass(48);
    let poll = rig.follow(reply.header("azure-asyncoperation")).await;
    assert_eq!(
        (poll.text("/status"), poll.code()),
        ("Failed", "AllocationFailed")
    );
    let shown = rig.get(&scale_set("pool")).await.expect(200);
    assert_eq!(shown.text("/properties/provisioningState"), "Failed");
    let view = rig
        .get(&scale_set("pool/virtualMachines/0/instanceView"))
        .await
        .expect(200);
    assert_eq!(
        view.text("/statuses/0/code"),
        "ProvisioningState/failed/AllocationFailed"
    );
    assert_eq!(view.body.pointer("/statuses/1"), None);
    act(&rig, "start", &["0", "1"]).await.expect(202);
    rig.pass(10);
    assert_eq!(power(&rig, "0").await, "PowerState/running");
}
