//! Members that recordings show and schemas do not: only where they are recorded.

use serde_json::{Value, json};

use crate::{
    compute_world::flexible_set,
    rig::{Rig, SUBSCRIPTION, compute, everywhere, set},
    scale_sets::{scale_set, uniform},
};

fn network(kind: &str, version: &str) -> String {
    format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.Network/{kind}?api-version={version}"
    )
}

#[tokio::test]
async fn the_lists_of_subscriptions_and_tenants_have_what_the_schema_requires() {
    let rig = Rig::new().await;
    for kind in ["subscriptions", "tenants"] {
        let list = rig
            .get(&format!("/{kind}?api-version=2022-12-01"))
            .await
            .expect(200);
        assert_eq!(list.items().len(), 1, "{kind}");
        assert_eq!(list.body.pointer("/nextLink"), Some(&json!("")), "{kind}");
        assert_eq!(list.body.pointer("/count"), None, "{kind}");
    }
}

#[tokio::test]
async fn allocations_of_pools_are_shown_by_single_reads_alone() {
    let rig = Rig::new().await;
    rig.ground().await;
    let version = "2024-03-01";
    let shows = |body: &Value| body.to_string().contains("ipamPoolPrefixAllocations");
    let one = rig
        .get(&network("virtualNetworks/net", version))
        .await
        .expect(200);
    assert!(shows(&one.body), "{}", one.body);
    let subnet = network("virtualNetworks/net/subnets/default", version);
    assert!(shows(&rig.get(&subnet).await.expect(200).body));
    for list in ["virtualNetworks", "virtualNetworks/net/subnets"] {
        let list = rig.get(&network(list, version)).await.expect(200);
        assert_eq!(list.items().len(), 1);
        assert!(!shows(&list.body), "{}", list.body);
    }
    let mut body = one.body;
    set(&mut body, "/tags", json!({"a": "b"}));
    let written = rig
        .put(&network("virtualNetworks/net", version), body)
        .await;
    assert!(!shows(&written.expect(200).body));
}

#[tokio::test]
async fn members_of_older_versions_are_not_shown_by_newer_ones() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.put(
        &network("natGateways/nat", "2024-03-01"),
        json!({"location": "eastus", "sku": {"name": "Standard"}}),
    )
    .await
    .expect(201);
    let nic = json!({"location": "eastus", "properties": {"ipConfigurations": [
        {"name": "ip", "properties": {"subnet": {"id": subnet}}},
    ]}});
    rig.put(&network("networkInterfaces/nic", "2024-03-01"), nic)
        .await
        .expect(201);
    rig.pass(30);
    let usages =
        |version: &str| everywhere("Microsoft.Network", "locations/eastus/usages", version);
    for (new, old, pointer) in [
        (
            network("natGateways/nat", "2024-03-01"),
            network("natGateways/nat", "2022-07-01"),
            "/sku/tier",
        ),
        (
            network("networkInterfaces/nic", "2024-03-01"),
            network("networkInterfaces/nic", "2022-01-01"),
            "/properties/allowPort25Out",
        ),
        (
            network("networkInterfaces/nic", "2024-03-01"),
            network("networkInterfaces/nic", "2022-01-01"),
            "/kind",
        ),
        (
            usages("2024-03-01"),
            usages("2023-09-01"),
            "/value/0/isAdjustable",
        ),
    ] {
        let shown = rig.get(&new).await.expect(200);
        assert_eq!(shown.body.pointer(pointer), None, "{new}");
        let shown = rig.get(&old).await.expect(200);
        assert!(
            shown.body.pointer(pointer).is_some(),
            "{old} {}",
            shown.body
        );
    }
}

#[tokio::test]
async fn lists_of_instances_have_no_more_than_the_schema() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let pointer = "/properties/resilientVMDeletionStatus";
    rig.put(&scale_set("pool"), uniform("Standard_D2s_v5", &subnet, 1))
        .await
        .expect(201);
    rig.put(&scale_set("flex"), flexible_set(&subnet))
        .await
        .expect(201);
    rig.pass(120);
    let one = rig
        .get(&scale_set("pool/virtualMachines/0"))
        .await
        .expect(200);
    assert_eq!(one.text(pointer), "Disabled");
    let list = rig
        .get(&scale_set("pool/virtualMachines"))
        .await
        .expect(200);
    let item = list.items().first().expect("an instance");
    assert_eq!(item.pointer(pointer), None);
    let list = rig
        .get(&scale_set("flex/virtualMachines"))
        .await
        .expect(200);
    let item = list.items().first().expect("an instance");
    assert_eq!(item.pointer("/properties/virtualMachineScaleSet"), None);
    // The VM itself says it.
    let name = item
        .pointer("/name")
        .and_then(Value::as_str)
        .expect("a name");
    let vm = rig
        .get(&compute(&format!("virtualMachines/{name}")))
        .await
        .expect(200);
    let of = vm
        .text("/properties/virtualMachineScaleSet/id")
        .to_lowercase();
    assert!(of.ends_with("/flex"), "{of}");
}

#[tokio::test]
async fn parts_with_paths_of_their_own_refuse_what_their_schemas_do_not_know() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let version = "2024-03-01";
    let frontends = json!([{"name": "front", "properties": {"publicIPAddress": {
        "id": network("publicIPAddresses/ip", "").trim_end_matches("?api-version="),
    }}}]);
    for (kind, properties) in [
        (
            "publicIPAddresses/ip",
            json!({"publicIPAllocationMethod": "Static"}),
        ),
        (
            "loadBalancers/lb",
            json!({"frontendIPConfigurations": frontends}),
        ),
    ] {
        let body =
            json!({"location": "eastus", "sku": {"name": "Standard"}, "properties": properties});
        rig.put(&network(kind, version), body).await.expect(201);
        rig.pass(5);
    }
    let front = network("loadBalancers/lb/frontendIPConfigurations/front", "");
    let front = front.trim_end_matches("?api-version=");
    let mut rule = json!({"location": "eastus", "properties": {
        "frontendIPConfiguration": {"id": front}, "protocol": "Tcp",
        "frontendPort": 50_000, "backendPort": 22,
    }});
    let path = network("loadBalancers/lb/inboundNatRules/ssh", version);
    set(&mut rule, "/properties/backendPorts", json!([22]));
    let refused = rig.put(&path, rule.clone()).await.expect(400);
    let told = refused.text("/error/details/0/message");
    assert!(
        told.contains("'backendPorts' on object of type 'InboundNatRule"),
        "{}",
        refused.body
    );
    rule["properties"]
        .as_object_mut()
        .expect("an object")
        .remove("backendPorts");
    rig.put(&path, rule).await.expect(201);
}
