//! Accounts and pools of Batch.

use serde_json::{Value, json};

use crate::{
    recordings::path,
    rig::{Reply, Rig, SUBSCRIPTION, everywhere, set},
};

fn batch(rest: &str) -> String {
    let path = path("rg", &format!("Microsoft.Batch/batchAccounts/{rest}"));
    format!("{path}?api-version=2024-07-01")
}

fn pool(nodes: u64) -> Value {
    json!({"properties": {
        "vmSize": "Standard_D4s_v5",
        "deploymentConfiguration": {"virtualMachineConfiguration": {
            "imageReference": {
                "publisher": "microsoft-dsvm", "offer": "ubuntu-hpc", "sku": "2204",
                "version": "latest",
            },
            "nodeAgentSkuId": "batch.node.ubuntu 22.04",
        }},
        "scaleSettings": {"fixedScale": {"targetDedicatedNodes": nodes}},
    }})
}

/// A sandbox with a group `rg` and an account `learning` in it.
async fn accounted(rig: Rig) -> Rig {
    let first = rig
        .put(&batch("learning"), json!({"location": "eastus"}))
        .await
        .expect(202);
    assert_eq!(first.body, Value::Null);
    assert_eq!(first.header("azure-asyncoperation"), "");
    let running = rig.follow(first.header("location")).await.expect(202);
    assert_eq!(running.header("retry-after"), "15");
    rig.pass(15);
    let done = rig.follow(running.header("location")).await.expect(200);
    assert_eq!(done.text("/properties/provisioningState"), "Succeeded");
    rig
}

async fn ready() -> Rig {
    let rig = Rig::new().await;
    rig.group("rg").await;
    accounted(rig).await
}

#[tokio::test]
async fn an_account_has_keys_that_stay_until_they_are_made_anew() {
    let rig = ready().await;
    let keys = rig.post(&batch("learning/listKeys")).await.expect(200);
    assert_eq!(keys.text("/accountName"), "learning");
    let again = rig.post(&batch("learning/listKeys")).await.expect(200);
    assert_eq!(keys.body, again.body);
    let body = Some(json!({"keyName": "Primary"}));
    let fresh = rig
        .send("POST", &batch("learning/regenerateKeys"), body)
        .await
        .expect(200);
    assert_ne!(fresh.text("/primary"), keys.text("/primary"));
    assert_eq!(fresh.text("/secondary"), keys.text("/secondary"));
    let shown = rig.get(&batch("learning")).await.expect(200);
    assert_eq!(shown.body.get("keyGenerations"), None);
    let check = everywhere(
        "Microsoft.Batch",
        "locations/eastus/checkNameAvailability",
        "2024-07-01",
    );
    let name = |name: &str| Some(json!({"name": name, "type": "Microsoft.Batch/batchAccounts"}));
    let taken = rig.send("POST", &check, name("learning")).await.expect(200);
    assert_eq!(taken.text("/reason"), "AlreadyExists");
    let free = rig.send("POST", &check, name("other")).await.expect(200);
    assert_eq!(free.body, json!({"nameAvailable": true}));
}

#[tokio::test]
async fn a_wrong_account_is_refused() {
    let rig = ready().await;
    for (name, location, status) in [
        ("Learning", "eastus", 400),
        ("l", "eastus", 400),
        ("other", "nowhere", 400),
    ] {
        let body = json!({"location": location});
        rig.put(&batch(name), body).await.expect(status);
    }
    let keys = everywhere("Microsoft.Batch", "locations/nowhere/quotas", "2024-07-01");
    rig.get(&keys).await.expect(400);
    rig.get(&batch("gone")).await.expect(404);
    rig.delete(&batch("gone")).await.expect(204);
}

#[tokio::test]
async fn nodes_of_a_pool_come_with_time() {
    let rig = ready().await;
    let path = batch("learning/pools/train");
    let made = rig
        .send_with("PUT", &path, &[("if-none-match", "*")], Some(pool(2)))
        .await
        .expect(200);
    assert_eq!(made.text("/properties/allocationState"), "Resizing");
    assert_eq!(made.header("etag"), made.text("/etag"));
    let nodes = |shown: &Reply| {
        shown
            .body
            .pointer("/properties/currentDedicatedNodes")
            .and_then(Value::as_u64)
    };
    assert_eq!(nodes(&made), Some(0));
    let again = rig
        .send_with("PUT", &path, &[("if-none-match", "*")], Some(pool(2)))
        .await;
    again.expect(412);
    let scale =
        json!({"properties": {"scaleSettings": {"fixedScale": {"targetDedicatedNodes": 5}}}});
    let busy = rig.patch(&path, scale.clone()).await.expect(409);
    assert_eq!(busy.code(), "PoolBeingResized");
    rig.pass(48);
    let shown = rig.get(&path).await.expect(200);
    assert_eq!(shown.text("/properties/allocationState"), "Steady");
    assert_eq!(nodes(&shown), Some(2));
    let tag = made.header("etag");
    rig.send_with(
        "PATCH",
        &path,
        &[("if-match", "\"other\"")],
        Some(scale.clone()),
    )
    .await
    .expect(412);
    rig.send_with("PATCH", &path, &[("if-match", tag)], Some(scale))
        .await
        .expect(200);
    rig.pass(48);
    assert_eq!(nodes(&rig.get(&path).await), Some(5));
    let deleted = rig.delete(&path).await.expect(202);
    let state = rig.get(&path).await;
    assert_eq!(state.text("/properties/provisioningState"), "Deleting");
    rig.pass(15);
    rig.follow(deleted.header("location")).await.expect(200);
    let gone = rig.get(&path).await.expect(404);
    assert_eq!(gone.code(), "NotFound");
}

#[tokio::test]
async fn a_pool_says_why_its_nodes_did_not_come() {
    let faults = "rules:\n  - name: no capacity\n    match: {method: PUT, name: full}\n    \
                  then:\n      fail_in_operation: {code: AllocationFailed}\n";
    let rig = accounted(Rig::faulty(faults).await).await;
    let path = batch("learning/pools/full");
    rig.put(&path, pool(2)).await.expect(200);
    rig.pass(48);
    let shown = rig.get(&path).await;
    let error = "/properties/resizeOperationStatus/errors/0/code";
    assert_eq!(shown.text(error), "AllocationFailed");
    assert_eq!(shown.text("/properties/allocationState"), "Steady");
    rig.put(
        &format!("/sandbox/quota/{SUBSCRIPTION}/eastus"),
        json!({"batchDedicatedCores": 7, "batchPools": 2}),
    )
    .await
    .expect(204);
    let path = batch("learning/pools/large");
    rig.put(&path, pool(2)).await.expect(200);
    rig.pass(48);
    assert_eq!(rig.get(&path).await.text(error), "AccountCoreQuotaReached");
    let third = rig.put(&batch("learning/pools/third"), pool(0)).await;
    assert_eq!(third.expect(409).code(), "PoolQuotaReached");
    let account = rig.get(&batch("learning")).await;
    assert_eq!(
        account.body.pointer("/properties/dedicatedCoreQuota"),
        Some(&json!(7))
    );
}

#[tokio::test]
async fn a_pool_that_cannot_be_is_refused() {
    let rig = ready().await;
    for (place, value) in [
        ("/properties/vmSize", json!("Standard_Nothing")),
        ("/properties/vmSize", json!(null)),
        (
            "/properties/networkConfiguration",
            json!({"subnetId": "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/no/subnets/no"}),
        ),
        ("/properties/deploymentConfiguration", json!({})),
    ] {
        let mut body = pool(1);
        set(&mut body, place, value);
        let refused = rig.put(&batch("learning/pools/p"), body).await.expect(400);
        assert_eq!(refused.code(), "InvalidPropertyValue", "{place}");
    }
    let mut both = pool(1);
    set(
        &mut both,
        "/properties/scaleSettings/autoScale",
        json!({"formula": "$TargetDedicatedNodes=1"}),
    );
    rig.put(&batch("learning/pools/p"), both).await.expect(400);
    let orphan = rig.put(&batch("gone/pools/p"), pool(1)).await.expect(404);
    assert_eq!(orphan.code(), "ParentResourceNotFound");
}
