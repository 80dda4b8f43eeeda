//! Clusters of AKS and their pools.

use serde_json::{Value, json};

use crate::{
    recordings::path,
    rig::{Reply, Rig, SUBSCRIPTION, set},
};

fn aks(rest: &str) -> String {
    let path = path(
        "rg",
        &format!("Microsoft.ContainerService/managedClusters/{rest}"),
    );
    format!("{path}?api-version=2024-09-01")
}

fn cluster() -> Value {
    json!({"location": "eastus", "identity": {"type": "SystemAssigned"}, "properties": {
        "dnsPrefix": "train",
        "agentPoolProfiles": [{
            "name": "system", "mode": "System", "count": 1, "vmSize": "Standard_D4s_v5",
        }],
    }})
}

fn pool(count: u64) -> Value {
    json!({"properties": {"count": count, "vmSize": "Standard_D8s_v5", "mode": "User"}})
}

async fn ready() -> Rig {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let made = rig.put(&aks("one"), cluster()).await.expect(201);
    assert_eq!(made.text("/properties/provisioningState"), "Creating");
    let busy = rig
        .put(&aks("one/agentPools/gpu"), pool(1))
        .await
        .expect(409);
    assert_eq!(busy.text("/code"), "OperationNotAllowed");
    rig.pass(224);
    rig
}

async fn used(rig: &Rig, name: &str) -> u64 {
    let scope =
        format!("/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/locations/eastus");
    let path = format!("{scope}/providers/Microsoft.Quota/usages/{name}?api-version=2023-02-01");
    let usage = rig.get(&path).await.expect(200);
    let value = usage.body.pointer("/properties/usages/value");
    value.and_then(Value::as_u64).expect("a number")
}

#[tokio::test]
async fn nodes_of_a_pool_use_quota_and_give_it_back() {
    let rig = ready().await;
    assert_eq!(used(&rig, "cores").await, 4);
    let gpu = aks("one/agentPools/gpu");
    rig.put(&gpu, pool(2)).await.expect(201);
    assert_eq!(used(&rig, "cores").await, 20);
    let busy = rig.put(&gpu, pool(3)).await.expect(409);
    assert!(
        busy.text("/message").contains("in progress"),
        "{}",
        busy.body
    );
    rig.pass(79);
    let scaled = rig.put(&gpu, pool(3)).await.expect(200);
    assert_eq!(scaled.text("/properties/provisioningState"), "Scaling");
    rig.pass(79);
    rig.put(
        &format!("/sandbox/quota/{SUBSCRIPTION}/eastus"),
        json!({"cores": 30}),
    )
    .await
    .expect(204);
    let refused = rig.put(&gpu, pool(4)).await.expect(400);
    assert_eq!(refused.text("/code"), "ErrCode_InsufficientVCPUQuota");
    rig.delete(&gpu).await.expect(202);
    rig.pass(79);
    assert_eq!(used(&rig, "cores").await, 4);
    rig.delete(&aks("one")).await.expect(202);
    rig.pass(218);
    assert_eq!(used(&rig, "cores").await, 0);
    assert_eq!(
        rig.get(&aks("one")).await.expect(404).code(),
        "ResourceNotFound"
    );
}

#[tokio::test]
async fn a_cluster_that_cannot_be_is_refused_without_a_wrapper() {
    let rig = ready().await;
    let cases: [(&str, Value, u16, &str); 5] = [
        (
            "/properties/dnsPrefix",
            Value::Null,
            400,
            "InvalidParameter",
        ),
        (
            "/properties/agentPoolProfiles",
            json!([]),
            400,
            "InvalidParameter",
        ),
        ("/properties/speed", json!(1), 400, "UnmarshalError"),
        (
            "/properties/agentPoolProfiles",
            json!([{"name": "system", "mode": "System", "vmSize": "Standard_Nothing"}]),
            400,
            "BadRequest",
        ),
        (
            "/properties/agentPoolProfiles",
            json!([{"name": "system", "mode": "System", "vmSize": "Standard_D4s_v5",
                "vnetSubnetID": "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/no/subnets/no"}]),
            500,
            "GetVnetError",
        ),
    ];
    for (place, value, status, code) in cases {
        let mut body = cluster();
        set(&mut body, place, value);
        let refused = rig.put(&aks("two"), body).await.expect(status);
        assert_eq!(refused.text("/code"), code, "{place}");
    }
    let wrong = rig.put(&aks("one/agentPools/Big-Name"), pool(1)).await;
    wrong.expect(400);
    let last = rig.delete(&aks("one/agentPools/system")).await.expect(400);
    assert_eq!(last.text("/code"), "OperationNotAllowed");
    // Versions before 2024 ignore what they do not know.
    let mut body = cluster();
    set(&mut body, "/properties/speed", json!(1));
    let old = aks("two").replace("2024-09-01", "2023-10-01");
    let made = rig.put(&old, body).await.expect(201);
    assert_eq!(made.body.pointer("/properties/speed"), None);
}

#[tokio::test]
async fn etags_guard_clusters_and_pools() {
    let rig = ready().await;
    let gpu = aks("one/agentPools/gpu");
    let send =
        |headers: &'static [(&str, &str)]| rig.send_with("PUT", &gpu, headers, Some(pool(1)));
    send(&[("if-match", "*")]).await.expect(412);
    let made = send(&[("if-none-match", "*")]).await.expect(201);
    rig.pass(79);
    send(&[("if-none-match", "*")]).await.expect(412);
    let tag = made.text("/properties/eTag").to_owned();
    let with = |rig: &Rig, tag: &str| {
        let headers = [("if-match".to_owned(), tag.to_owned())];
        let gpu = gpu.clone();
        let path = gpu;
        let endpoint = rig.sandbox.endpoint().to_owned();
        async move {
            let headers: Vec<(&str, &str)> = headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .chain([("authorization", "Bearer token")])
                .collect();
            let body = pool(2).to_string();
            Rig::send_to(&endpoint, "PUT", &path, &headers, Some(&body))
                .await
                .expect("an answer")
        }
    };
    let changed: Reply = with(&rig, &tag).await;
    changed.expect(200);
    rig.pass(79);
    with(&rig, &tag).await.expect(412);
}

#[tokio::test]
async fn access_to_a_cluster_says_that_it_is_made_up() {
    let rig = ready().await;
    let given = rig
        .post(&aks("one/listClusterAdminCredential"))
        .await
        .expect(200);
    assert_eq!(given.text("/kubeconfigs/0/name"), "clusterAdmin");
    assert!(!given.text("/kubeconfigs/0/value").is_empty());
    let stopped = rig.post(&aks("one/stop")).await.expect(202);
    let running = rig.follow(stopped.header("azure-asyncoperation")).await;
    assert_eq!(running.text("/status"), "InProgress");
    rig.pass(106);
    let done = rig.follow(stopped.header("azure-asyncoperation")).await;
    assert_eq!(done.text("/status"), "Succeeded");
    rig.follow(stopped.header("location")).await.expect(204);
    let shown = rig.get(&aks("one")).await;
    assert_eq!(shown.text("/properties/powerState/code"), "Stopped");
    assert_eq!(
        shown.text("/properties/agentPoolProfiles/0/powerState/code"),
        "Stopped"
    );
}

#[tokio::test]
async fn a_cluster_that_fails_says_so_and_stays() {
    let faults = "rules:\n  - name: none\n    match: {method: PUT, name: one}\n    then:\n      \
                  fail_in_operation: {code: AllocationFailed}\n";
    let rig = Rig::faulty(faults).await;
    let made = rig.put(&aks("one"), cluster()).await.expect(201);
    rig.pass(224);
    let ended = rig.follow(made.header("azure-asyncoperation")).await;
    assert_eq!(
        (ended.text("/status"), ended.text("/error/code")),
        ("Failed", "AllocationFailed")
    );
    let shown = rig.get(&aks("one")).await.expect(200);
    assert_eq!(shown.text("/properties/provisioningState"), "Failed");
    let pool = rig.get(&aks("one/agentPools/system")).await.expect(200);
    assert_eq!(pool.text("/properties/provisioningState"), "Failed");
}

#[tokio::test]
async fn members_that_the_schema_does_not_know_are_refused_at_any_depth() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    for place in [
        "/properties/dnsPrefx",
        "/properties/agentPoolProfiles/0/vmSise",
        "/properties/networkProfile/podCdr",
    ] {
        let mut body = cluster();
        set(&mut body, "/properties/networkProfile", json!({}));
        set(&mut body, place, json!("x"));
        let refused = rig.put(&aks("one"), body.clone()).await.expect(400);
        let name = place.rsplit('/').next().expect("a name");
        assert!(refused.body.to_string().contains(name), "{}", refused.body);
        // Announced from 2024-01-01 on; before, they are dropped.
        let old = aks("old").replace("2024-09-01", "2023-10-01");
        let taken = rig.put(&old, body).await;
        assert!([201, 409].contains(&taken.status), "{}", taken.body);
    }
    rig.put(&aks("one"), cluster()).await.expect(201);
    rig.pass(224);
    let mut gpu = pool(1);
    set(&mut gpu, "/properties/gpuKind", json!("x"));
    rig.put(&aks("one/agentPools/gpu"), gpu).await.expect(400);
}
