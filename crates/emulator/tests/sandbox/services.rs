//! The services beside Compute and Network.

use serde_json::{Value, json};

use crate::{
    recordings::path,
    rig::{Rig, SUBSCRIPTION, compute, everywhere, id, machine, network, set, vm},
    scale_sets::uniform,
};

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
}

#[tokio::test]
async fn roles_and_permissions_are_read() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let scope = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/rg");
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
async fn a_scale_set_is_behind_a_balancer_that_stays() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let balancer = network("loadBalancers/front");
    let body = json!({"location": "eastus", "sku": {"name": "Standard"}, "properties": {
        "frontendIPConfigurations": [{"name": "in", "properties": {"subnet": {"id": subnet}}}],
        "backendAddressPools": [{"name": "nodes"}],
    }});
    let made = rig.put(&balancer, body).await.expect(201);
    let pool = made.text("/properties/backendAddressPools/0/id").to_owned();
    let place = "/properties/virtualMachineProfile/networkProfile/networkInterfaceConfigurations/0\
                 /properties/ipConfigurations/0/properties/loadBalancerBackendAddressPools";
    let mut set_of = uniform("Standard_D4s_v5", &subnet, 1);
    set(&mut set_of, place, json!([{"id": format!("{pool}s")}]));
    let path = compute("virtualMachineScaleSets/nodes");
    let wrong = rig.put(&path, set_of.clone()).await.expect(400);
    assert_eq!(wrong.code(), "InvalidResourceReference");
    set(&mut set_of, place, json!([{"id": pool}]));
    rig.put(&path, set_of).await.expect(201);
    let kept = rig.delete(&balancer).await.expect(400);
    assert_eq!(kept.code(), "LoadBalancerInUseByVirtualMachineScaleSet");
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

fn storage(rest: &str) -> String {
    let path = path("rg", &format!("Microsoft.Storage/storageAccounts/{rest}"));
    format!("{path}?api-version=2023-01-01")
}

#[tokio::test]
async fn storage_accounts_have_names_keys_and_containers() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let account = storage("weights");
    let body = json!({
        "location": "eastus", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}, "properties": {},
    });
    let first = rig.put(&account, body.clone()).await.expect(202);
    assert_eq!(
        (first.header("retry-after"), &first.body),
        ("17", &Value::Null)
    );
    rig.follow(first.header("location")).await.expect(202);
    rig.pass(17);
    let made = rig.follow(first.header("location")).await.expect(200);
    assert_eq!(
        made.text("/properties/primaryEndpoints/blob"),
        "https://weights.blob.core.windows.net/"
    );
    rig.put(&account, body.clone()).await.expect(200);
    let check = everywhere("Microsoft.Storage", "checkNameAvailability", "2023-01-01");
    for (name, reason) in [
        ("weights", "AlreadyExists"),
        ("No", "AccountNameInvalid"),
        ("free123", ""),
    ] {
        let body = json!({"name": name, "type": "Microsoft.Storage/storageAccounts"});
        let found = rig.send("POST", &check, Some(body)).await.expect(200);
        assert_eq!(found.text("/reason"), reason);
    }
    rig.group("other").await;
    let elsewhere = account.replace("resourceGroups/rg/", "resourceGroups/other/");
    let taken = rig.put(&elsewhere, body).await.expect(409);
    assert_eq!(taken.code(), "StorageAccountAlreadyTaken");
    let keys = rig.post(&storage("weights/listKeys")).await.expect(200);
    assert_eq!(keys.text("/keys/1/keyName"), "key2");
    let container = storage("weights/blobServices/default/containers/checkpoints");
    rig.put(&container, json!({})).await.expect(201);
    let open = json!({"properties": {"publicAccess": "Blob"}});
    let refused = rig.put(&container, open).await.expect(409);
    assert_eq!(refused.code(), "PublicAccessNotPermitted");
    let all = storage("weights/blobServices/default/containers");
    assert_eq!(rig.get(&all).await.expect(200).items().len(), 1);
    let none = rig.get(&container.replace("checkpoints", "gone")).await;
    assert_eq!(none.expect(404).code(), "ContainerNotFound");
    rig.put(&container.replace("checkpoints", "a--b"), json!({}))
        .await
        .expect(400);
    rig.delete(&account).await.expect(200);
    rig.get(&container).await.expect(404);
    rig.delete(&account).await.expect(204);
}

#[tokio::test]
async fn a_plan_needs_its_terms_accepted() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let image = compute("images/own");
    rig.vm("source", &subnet).await;
    rig.post(&compute("virtualMachines/source/deallocate"))
        .await
        .expect(202);
    rig.pass(25);
    rig.post(&compute("virtualMachines/source/generalize"))
        .await
        .expect(200);
    let body = json!({"location": "eastus", "properties": {
        "hyperVGeneration": "V2", "sourceVirtualMachine": {"id": id(&vm("source"))},
    }});
    rig.put(&image, body).await.expect(201);
    rig.pass(6);
    let mut planned = machine("Standard_D4s_v5", &subnet);
    set(
        &mut planned,
        "/properties/storageProfile/imageReference",
        json!({"id": id(&image)}),
    );
    set(
        &mut planned,
        "/plan",
        json!({"publisher": "shop", "product": "offer", "name": "plan"}),
    );
    let refused = rig.put(&vm("vm"), planned.clone()).await.expect(400);
    assert_eq!(refused.code(), "ResourcePurchaseValidationFailed");
    assert!(
        refused
            .text("/error/message")
            .contains("publisher='shop' offer = 'offer', sku = 'plan'")
    );
    let terms = |rest: &str| everywhere("Microsoft.MarketplaceOrdering", rest, "2021-01-01");
    let sign = terms("agreements/shop/offers/offer/plans/plan/sign");
    let signed = rig.post(&sign).await.expect(200);
    assert_eq!(signed.text("/properties/state"), "Active");
    let shown = rig
        .get(&terms(
            "offerTypes/virtualmachine/publishers/shop/offers/offer/plans/plan/agreements/current",
        ))
        .await
        .expect(200);
    assert_eq!(
        shown.body.pointer("/properties/accepted"),
        Some(&json!(true))
    );
    rig.put(&vm("vm"), planned.clone()).await.expect(201);
    rig.post(&sign.replace("/sign?", "/cancel?"))
        .await
        .expect(200);
    rig.put(&vm("vm2"), planned).await.expect(400);
}

#[tokio::test]
async fn quotas_are_read_by_scope_and_policies_say_nothing() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let quota = |namespace: &str, rest: &str| {
        format!(
            "/subscriptions/{SUBSCRIPTION}/providers/{namespace}/locations/eastus/providers/Microsoft.Quota/{rest}?api-version=2023-02-01"
        )
    };
    let cores = rig
        .get(&quota("Microsoft.Compute", "quotas/cores"))
        .await
        .expect(200);
    assert_eq!(
        cores.body.pointer("/properties/limit/value"),
        Some(&json!(200_000))
    );
    let all = rig
        .get(&quota("Microsoft.Network", "usages"))
        .await
        .expect(200);
    assert_eq!(all.items().len(), 46);
    rig.get(&quota("Microsoft.Nothing", "usages"))
        .await
        .expect(400);
    rig.get(&quota("Microsoft.Compute", "quotas/nothing"))
        .await
        .expect(404);
    rig.put(&quota("Microsoft.Compute", "quotas/cores"), json!({}))
        .await
        .expect(501);
    let policies = format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.PolicyInsights/checkPolicyRestrictions?api-version=2022-03-01"
    );
    let body = json!({"resourceDetails": {"resourceContent": {}}});
    let free = rig.send("POST", &policies, Some(body)).await.expect(200);
    assert_eq!(free.body.pointer("/fieldRestrictions"), Some(&json!([])));
}

#[tokio::test]
async fn what_an_unserved_action_gets_says_so() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    rig.put(&identity("one"), json!({"location": "eastus"}))
        .await
        .expect(201);
    let path = identity("one").replace("/one?", "/one/fly?");
    let refused = rig.post(&path).await.expect(501);
    assert_eq!(
        refused.header("x-tensorform-sandbox"),
        "operation not served"
    );
    let usages = everywhere("Microsoft.Network", "locations/eastus/usages", "2024-03-01");
    assert_eq!(rig.get(&usages).await.items().len(), 46);
    rig.get(&compute("virtualMachines")).await.expect(200);
}
