//! Which recordings of the services beside Compute and Network the sandbox agrees with.

use serde_json::{Value, json};

use crate::{
    recordings::{path, rig},
    replay::{Difference, agree},
    rig::{Rig, everywhere, group, id},
    samples::{judge, read},
};

#[tokio::test]
async fn accounts_of_batch_agree() {
    let rig = rig("asotest-rg-exnatv", "westus2").await;
    agree(
        &rig,
        "batch-account",
        &[Difference(
            0,
            "*CoreQuota*",
            "a subscription without quota there",
        )],
    )
    .await;
}

#[tokio::test]
async fn quotas_and_sizes_of_batch_agree() {
    let rig = Rig::new().await;
    agree(
        &rig,
        "batch-location-quotas-and-skus",
        &[Difference(0, "/value/*", "sizes of the catalogue")],
    )
    .await;
}

#[tokio::test]
async fn identities_and_their_credentials_agree() {
    let rig = Rig::new().await;
    agree(&rig, "managed-identity", &[]).await;
}

#[tokio::test]
async fn the_recorded_refusal_to_delete_a_locked_group_agrees() {
    let name = "cliautomation01000001";
    let rig = rig(name, "westus").await;
    let lock = "Microsoft.Authorization/locks/kept?api-version=2020-05-01";
    rig.put(
        &path(name, lock),
        json!({"properties": {"level": "CanNotDelete"}}),
    )
    .await
    .expect(201);
    let place = Difference(6, "/error/message", "the lock was on a storage account");
    agree(&rig, "scope-locked-409", &[place]).await;
}

#[tokio::test]
async fn a_new_principal_is_unknown_for_a_while_as_recorded() {
    let rig = Rig::new().await;
    agree(&rig, "role-assignment-principal-not-found", &[]).await;
}

#[tokio::test]
async fn balancers_agree() {
    let rig = rig("asotest-rg-isodfv", "westeurope").await;
    agree(&rig, "load-balancer", &[]).await;
}

#[tokio::test]
async fn usages_of_the_network_agree() {
    let rig = Rig::new().await;
    agree(
        &rig,
        "network-usages",
        &[Difference(0, "*/currentValue", "in use there")],
    )
    .await;
}

/// A cluster in a group of this name, as the recordings found it.
async fn cluster(group: &str, location: &str, name: &str, version: &str, pool: &str) -> Rig {
    let rig = rig(group, location).await;
    let rest = format!("Microsoft.ContainerService/managedClusters/{name}");
    rig.put(
        &format!("{}?api-version=2023-10-01", path(group, &rest)),
        json!({"location": location, "identity": {"type": "SystemAssigned"}, "properties": {
            "dnsPrefix": "aso", "kubernetesVersion": version,
            "networkProfile": {"networkPlugin": "azure"},
            "agentPoolProfiles": [{
                "name": pool, "mode": "System", "count": 1, "vmSize": "Standard_DS2_v2",
                "enableAutoScaling": false, "enableNodePublicIP": false,
                "enableEncryptionAtHost": false, "enableUltraSSD": false, "upgradeSettings": {},
            }],
        }}),
    )
    .await
    .expect(201);
    rig.pass(224);
    rig
}

#[tokio::test]
async fn agent_pools_are_made_changed_and_deleted_as_recorded() {
    let rig = cluster(
        "asotest-rg-rhrpbh",
        "westus3",
        "asotest-mc-kpgpep",
        "1.28",
        "ap1",
    )
    .await;
    agree(&rig, "aks-agent-pool-crud", &[]).await;
}

#[tokio::test]
async fn a_pool_of_gpus_agrees() {
    let rig = cluster(
        "clitest000001",
        "eastus",
        "cliakstest000002",
        "1.22.11",
        "c000003",
    )
    .await;
    let explained = [Difference(11, "*/scaleDownMode", "an older answer")];
    agree(&rig, "aks-gpu-nd96asr-node-pool", &explained).await;
}

#[tokio::test]
async fn a_cluster_with_a_spot_pool_agrees() {
    let rig = rig("clitest000001", "westus2").await;
    let explained = [
        Difference(0, "*ersion", "the newest version is another one"),
        Difference(0, "*/scaleDownMode", "not shown of the first pool there"),
        Difference(0, "*qdn", "another random part"),
        Difference(0, "*FQDN", "another random part"),
        Difference(0, "/tags*", "another group"),
    ];
    agree(&rig, "aks-spot-node-pool", &explained).await;
}

#[tokio::test]
async fn terms_of_a_plan_agree() {
    let rig = Rig::new().await;
    let explained = [
        Difference(
            0,
            "/properties/*Link",
            "the texts of real terms are not known",
        ),
        Difference(0, "/properties/signature", "left out there"),
        Difference(0, "/properties/accepted", "accepted before there"),
    ];
    agree(&rig, "marketplace-agreement-accept", &explained).await;
}

#[tokio::test]
async fn schedules_agree() {
    let rig = rig("cli_test_vm_auto_shutdown000001", "westus").await;
    agree(&rig, "vm-auto-shutdown-devtestlab", &[]).await;
}

/// The request that a sample answers.
fn request(name: &str) -> (&'static str, String, Option<Value>) {
    let version = "?api-version=2023-01-31";
    let identity = |group: &str, name: &str| {
        let rest = format!("Microsoft.ManagedIdentity/userAssignedIdentities/{name}");
        format!("{}{version}", path(group, &rest))
    };
    let one = identity("rg", "one");
    let body = json!({"location": "westus2", "name": "one"});
    match name.rsplit_once("identities_").map(|(_, end)| end) {
        Some("PUT_201" | "PUT_200") => ("PUT", one, Some(body)),
        Some("GET_200") => ("GET", one, None),
        Some("GET_404") => ("GET", identity("rg", "two"), None),
        Some("list_GET_200") => ("GET", one.replace("/one?", "?"), None),
        Some("DELETE_200") => ("DELETE", one, None),
        Some("DELETE_404") => ("DELETE", identity("gone", "one"), None),
        other => panic!("no request for {other:?}"),
    }
}

#[tokio::test]
async fn single_answers_about_identities_have_the_recorded_shape() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let mut samples = read(include_str!("../samples/services.json"));
    let order = [
        "PUT_201",
        "PUT_200",
        "GET_200",
        "GET_404",
        "list_GET_200",
        "DELETE_200",
    ];
    samples.sort_by_key(|sample| {
        order
            .iter()
            .position(|end| sample.name.ends_with(&format!("identities_{end}")))
            .unwrap_or(order.len())
    });
    let mut differences = Vec::new();
    for sample in &samples {
        let (method, path, body) = request(&sample.name);
        let reply = rig.send(method, &path, body).await;
        let found = sample.differences(&reply);
        differences.extend(found.into_iter().map(|what| (sample.name.clone(), what)));
    }
    judge(&samples, &differences, &[]);
}

#[tokio::test]
async fn a_locked_group_is_not_deleted_as_recorded() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let account = path("rg", "Microsoft.ManagedIdentity/userAssignedIdentities/one");
    rig.put(
        &format!("{account}?api-version=2023-01-31"),
        json!({"location": "eastus"}),
    )
    .await
    .expect(201);
    let lock =
        format!("{account}/providers/Microsoft.Authorization/locks/keep?api-version=2020-05-01");
    rig.put(&lock, json!({"properties": {"level": "CanNotDelete"}}))
        .await
        .expect(201);
    let refused = rig.delete(&group("rg")).await.expect(409);
    // The words and values of the recorded refusal of the same kind.
    assert_eq!(
        refused.text("/error/message"),
        format!(
            "The scope '{}' cannot perform delete operation because following scope(s) are \
             locked: '{account}'. Please remove the lock and try again.",
            id(&group("rg"))
        )
    );
    assert_eq!(
        (refused.code(), refused.header("x-ms-failure-cause")),
        ("ScopeLocked", "gateway")
    );
    let list = everywhere("Microsoft.Authorization", "locks", "2020-05-01");
    assert_eq!(rig.get(&list).await.items().len(), 1);
    rig.delete(&lock).await.expect(200);
    rig.delete(&lock).await.expect(204);
    rig.delete(&group("rg")).await.expect(202);
}
