//! The services beside Compute and Network.

use serde_json::{Value, json};

use crate::{
    recordings::path,
    rig::{Rig, SUBSCRIPTION, compute, everywhere, id, machine, network, set, vm},
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
    let nodes = |shown: &crate::rig::Reply| {
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

fn identity(name: &str) -> String {
    let rest = format!("Microsoft.ManagedIdentity/userAssignedIdentities/{name}");
    format!("{}?api-version=2023-01-31", path("rg", &rest))
}

#[tokio::test]
async fn a_vm_takes_only_identities_that_are_there() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let made = rig
        .put(&identity("reader"), json!({"location": "eastus"}))
        .await
        .expect(201);
    let owned = id(&identity("reader"));
    let mut body = machine("Standard_D4s_v5", &subnet);
    let with = |id: &str| json!({"type": "UserAssigned", "userAssignedIdentities": {id: {}}});
    set(&mut body, "/identity", with(&id(&identity("gone"))));
    let refused = rig.put(&vm("vm"), body.clone()).await.expect(400);
    assert_eq!(refused.code(), "FailedIdentityOperation");
    set(&mut body, "/identity", with(&owned));
    let vm = rig.put(&vm("vm"), body).await.expect(201);
    let given = vm
        .body
        .pointer("/identity/userAssignedIdentities")
        .and_then(|all| all.get(&owned));
    assert_eq!(
        given.and_then(|one| one.get("principalId")),
        made.body.pointer("/properties/principalId")
    );
}

#[tokio::test]
async fn roles_are_assigned_once_and_listed_by_scope() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let scope = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/rg");
    let assignment = |scope: &str, name: &str| {
        format!(
            "{scope}/providers/Microsoft.Authorization/roleAssignments/{name}?api-version=2022-04-01"
        )
    };
    let principal = "11111111-2222-3333-4444-555555555555";
    let reader = "acdd72a7-3385-48ef-bd42-f606fba81ae7";
    let body = json!({"properties": {
        "roleDefinitionId": format!("/providers/Microsoft.Authorization/roleDefinitions/{reader}"),
        "principalId": principal, "principalType": "ServicePrincipal",
    }});
    let (one, two) = (
        "aaaaaaaa-0000-0000-0000-000000000001",
        "aaaaaaaa-0000-0000-0000-000000000002",
    );
    rig.put(&assignment(&scope, one), body.clone())
        .await
        .expect(201);
    let twin = rig
        .put(&assignment(&scope, two), body.clone())
        .await
        .expect(409);
    assert_eq!(twin.code(), "RoleAssignmentExists");
    rig.put(&assignment(&scope, "name"), body.clone())
        .await
        .expect(400);
    let nowhere = format!("{scope}/providers/Microsoft.Compute/virtualMachines/gone");
    rig.put(&assignment(&nowhere, two), body.clone())
        .await
        .expect(404);
    let mut unknown = body.clone();
    let properties = unknown
        .pointer_mut("/properties")
        .and_then(Value::as_object_mut);
    properties.expect("properties").remove("principalType");
    let refused = rig.put(&assignment(&scope, two), unknown).await.expect(400);
    assert_eq!(refused.code(), "PrincipalNotFound");
    let list = |scope: &str, filter: &str| {
        format!(
            "{scope}/providers/Microsoft.Authorization/roleAssignments?api-version=2022-04-01&$filter={filter}"
        )
    };
    let subscription = format!("/subscriptions/{SUBSCRIPTION}");
    for (scope, filter, count) in [
        (&subscription, "", 1),
        (&subscription, "atScope()", 0),
        (&scope, "atScope()", 1),
        (&scope, &format!("principalId%20eq%20'{principal}'"), 1),
        (&scope, &format!("principalId%20eq%20'{two}'"), 0),
    ] {
        let found = rig.get(&list(scope, filter)).await.expect(200);
        assert_eq!(found.items().len(), count, "{scope} {filter}");
    }
    let deleted = rig.delete(&assignment(&scope, one)).await.expect(200);
    assert_eq!(deleted.text("/name"), one);
    rig.delete(&assignment(&scope, one)).await.expect(204);
    let roles = everywhere(
        "Microsoft.Authorization",
        "roleDefinitions?$filter=roleName%20eq%20'Contributor'",
        "2022-04-01",
    );
    assert_eq!(rig.get(&roles).await.items().len(), 1);
    let permissions =
        format!("{scope}/providers/Microsoft.Authorization/permissions?api-version=2022-04-01");
    let may = rig.get(&permissions).await.expect(200);
    assert_eq!(may.text("/value/0/actions/0"), "*");
}

#[tokio::test]
async fn a_lock_refuses_writes_where_it_says_read_only() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let lock = format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.Authorization/locks/l?api-version=2020-05-01"
    );
    let body = |level: &str| json!({"properties": {"level": level}});
    rig.put(&lock, body("Never")).await.expect(400);
    rig.put(&lock, body("ReadOnly")).await.expect(201);
    let refused = rig
        .put(&identity("one"), json!({"location": "eastus"}))
        .await
        .expect(409);
    assert!(refused.text("/error/message").contains("write operation"));
    rig.put(&lock, body("CanNotDelete")).await.expect(200);
    rig.put(&identity("one"), json!({"location": "eastus"}))
        .await
        .expect(201);
    rig.delete(&identity("one")).await.expect(409);
}

#[tokio::test]
async fn interfaces_are_in_pools_of_balancers() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let balancer = network("loadBalancers/front");
    let body = json!({"location": "eastus", "sku": {"name": "Standard"}, "properties": {
        "frontendIPConfigurations": [{"name": "in", "properties": {"subnet": {"id": subnet}}}],
        "backendAddressPools": [{"name": "nodes"}],
    }});
    let made = rig.put(&balancer, body.clone()).await.expect(201);
    assert_eq!(
        made.text("/properties/frontendIPConfigurations/0/properties/privateIPAddress"),
        "10.40.0.4"
    );
    let pool = made.text("/properties/backendAddressPools/0/id").to_owned();
    let nic = network("networkInterfaces/nic");
    let interface = |pool: &str| {
        json!({"location": "eastus", "properties": {"ipConfigurations": [{
            "name": "ip", "properties": {
                "subnet": {"id": subnet}, "loadBalancerBackendAddressPools": [{"id": pool}],
            },
        }]}})
    };
    let wrong = rig
        .put(&nic, interface(&format!("{pool}s")))
        .await
        .expect(400);
    assert_eq!(wrong.code(), "InvalidResourceReference");
    let nic_made = rig.put(&nic, interface(&pool)).await.expect(201);
    assert_eq!(
        nic_made.text("/properties/ipConfigurations/0/properties/privateIPAddress"),
        "10.40.0.5"
    );
    let shown = rig
        .get(&format!("{pool}?api-version=2024-03-01"))
        .await
        .expect(200);
    assert!(
        shown
            .text("/properties/backendIPConfigurations/0/id")
            .ends_with("/networkInterfaces/nic/ipConfigurations/ip")
    );
    rig.delete(&balancer).await.expect(400);
    let mut none = body;
    set(&mut none, "/properties/backendAddressPools", json!([]));
    rig.put(&balancer, none).await.expect(400);
    rig.delete(&nic).await.expect(202);
    rig.pass(5);
    rig.delete(&balancer).await.expect(202);
    rig.pass(10);
    rig.get(&balancer).await.expect(404);
}

#[tokio::test]
async fn a_bastion_host_wants_its_subnet_and_a_standard_address() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let own = network("virtualNetworks/net/subnets/AzureBastionSubnet");
    let prefix = json!({"properties": {"addressPrefix": "10.40.8.0/26"}});
    rig.put(&own, prefix).await.expect(201);
    rig.pass(3);
    let address = network("publicIPAddresses/door");
    let body = json!({"location": "eastus", "sku": {"name": "Standard"}});
    rig.put(&address, body).await.expect(201);
    rig.pass(1);
    let bastion = network("bastionHosts/door");
    let host = |subnet: &str| {
        json!({"location": "eastus", "properties": {"ipConfigurations": [{
            "name": "ip",
            "properties": {"subnet": {"id": subnet}, "publicIPAddress": {"id": id(&address)}},
        }]}})
    };
    rig.put(&bastion, host(&subnet)).await.expect(400);
    let made = rig.put(&bastion, host(&id(&own))).await.expect(201);
    assert_eq!(made.text("/properties/provisioningState"), "Updating");
    assert_eq!(made.header("retry-after"), "10");
    rig.pass(421);
    let shown = rig.get(&bastion).await;
    assert_eq!(shown.text("/properties/provisioningState"), "Succeeded");
    rig.delete(&address).await.expect(400);
    rig.delete(&bastion).await.expect(202);
    rig.pass(371);
    rig.get(&bastion).await.expect(404);
}

#[tokio::test]
async fn what_an_unserved_action_gets_says_so() {
    let rig = ready().await;
    let refused = rig.post(&batch("learning/fly")).await.expect(501);
    assert_eq!(
        refused.header("x-tensorform-sandbox"),
        "operation not served"
    );
    let usages = everywhere("Microsoft.Network", "locations/eastus/usages", "2024-03-01");
    assert_eq!(rig.get(&usages).await.items().len(), 46);
    rig.get(&compute("virtualMachines")).await.expect(200);
}
