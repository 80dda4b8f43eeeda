//! Networks, subnets, rules, addresses, gateways and interfaces.

use serde_json::{Value, json};

use crate::rig::{Reply, Rig, SUBSCRIPTION, everywhere, id, network, vm};

fn nic(subnet: &str, extra: Value) -> Value {
    let mut properties = json!({"subnet": {"id": subnet}});
    if let (Some(properties), Value::Object(extra)) = (properties.as_object_mut(), extra) {
        properties.extend(extra);
    }
    json!({
        "location": "eastus",
        "properties": {"ipConfigurations": [{"name": "ip", "properties": properties}]},
    })
}

fn address(reply: &Reply) -> &str {
    reply.text("/properties/ipConfigurations/0/properties/privateIPAddress")
}

#[tokio::test]
async fn a_network_and_its_subnets_share_an_etag_and_their_state() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let net = network("virtualNetworks/net");
    let subnet = format!("{subnet}?api-version=2024-03-01");
    let before = rig.get(&net).await.expect(200);
    assert!(before.text("/etag").starts_with("W/\""), "{}", before.body);
    assert_eq!(before.header("etag"), before.text("/etag"));
    assert_eq!(rig.get(&subnet).await.text("/etag"), before.text("/etag"));
    let second = network("virtualNetworks/net/subnets/second");
    let body = json!({"properties": {"addressPrefix": "10.40.4.0/24"}});
    rig.put(&second, body.clone()).await.expect(201);
    let during = rig.get(&subnet).await;
    assert_eq!(during.text("/properties/provisioningState"), "Updating");
    assert_ne!(during.text("/etag"), before.text("/etag"));
    let refused = rig.put(&second, body.clone()).await.expect(409);
    assert_eq!(refused.code(), "AnotherOperationInProgress");
    rig.pass(3);
    let after = rig.get(&subnet).await;
    assert_eq!(after.text("/properties/provisioningState"), "Succeeded");
    // Nothing changes: the etag stays and the answer says Succeeded at once.
    let etag = after.text("/etag").to_owned();
    let same = rig.put(&second, body).await.expect(200);
    assert_eq!(same.text("/properties/provisioningState"), "Succeeded");
    assert_eq!(same.text("/etag"), etag);
    assert!(!same.header("azure-asyncoperation").is_empty());
}

#[tokio::test]
async fn subnets_must_fit_and_not_overlap() {
    let rig = Rig::new().await;
    rig.ground().await;
    for (prefix, code) in [
        ("10.41.0.0/24", "NetcfgInvalidSubnet"),
        ("10.40.1.0/24", "NetcfgSubnetRangesOverlap"),
        ("10.40.9.0/40", "InvalidAddressPrefixFormat"),
        ("", "NoAddressPrefixOrPoolProvided"),
    ] {
        let properties = if prefix.is_empty() {
            json!({})
        } else {
            json!({"addressPrefix": prefix})
        };
        let path = network("virtualNetworks/net/subnets/second");
        let reply = rig.put(&path, json!({"properties": properties})).await;
        assert_eq!(reply.expect(400).code(), code, "{prefix}");
    }
    // A network written without its subnets removes them, which fails where one is used.
    rig.put(
        &network("networkInterfaces/nic"),
        nic(
            &id(&network("virtualNetworks/net/subnets/default")),
            json!({}),
        ),
    )
    .await
    .expect(201);
    let bare = json!({
        "location": "eastus", "properties": {"addressSpace": {"addressPrefixes": ["10.40.0.0/16"]}},
    });
    let refused = rig
        .put(&network("virtualNetworks/net"), bare.clone())
        .await
        .expect(400);
    assert_eq!(refused.code(), "InUseSubnetCannotBeDeleted");
    rig.delete(&network("networkInterfaces/nic"))
        .await
        .expect(202);
    rig.pass(4);
    let emptied = rig
        .put(&network("virtualNetworks/net"), bare)
        .await
        .expect(200);
    assert_eq!(
        emptied.body.pointer("/properties/subnets"),
        Some(&json!([]))
    );
}

#[tokio::test]
async fn interfaces_get_the_first_free_address() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let first = rig
        .put(&network("networkInterfaces/a"), nic(&subnet, json!({})))
        .await
        .expect(201);
    assert_eq!(address(&first), "10.40.0.4");
    assert_eq!(first.text("/properties/provisioningState"), "Succeeded");
    let fixed = json!({"privateIPAddress": "10.40.0.5", "privateIPAllocationMethod": "Static"});
    let second = rig
        .put(&network("networkInterfaces/b"), nic(&subnet, fixed.clone()))
        .await;
    assert_eq!(address(&second.expect(201)), "10.40.0.5");
    let third = rig
        .put(&network("networkInterfaces/c"), nic(&subnet, json!({})))
        .await
        .expect(201);
    assert_eq!(address(&third), "10.40.0.6");
    let again = rig
        .put(&network("networkInterfaces/a"), nic(&subnet, json!({})))
        .await
        .expect(200);
    assert_eq!(address(&again), "10.40.0.4");
    for (wanted, code) in [
        ("10.40.0.5", "PrivateIPAddressInUse"),
        ("10.40.0.1", "PrivateIPAddressInReservedRange"),
        ("10.99.0.9", "PrivateIPAddressNotInSubnet"),
    ] {
        let wish = json!({"privateIPAddress": wanted, "privateIPAllocationMethod": "Static"});
        let reply = rig
            .put(&network("networkInterfaces/d"), nic(&subnet, wish))
            .await;
        assert_eq!(reply.expect(400).code(), code, "{wanted}");
    }
    let elsewhere = json!({
        "location": "westus",
        "properties": {"ipConfigurations": [{"name": "ip", "properties": {"subnet": {"id": subnet}}}]},
    });
    let reply = rig
        .put(&network("networkInterfaces/d"), elsewhere)
        .await
        .expect(400);
    assert_eq!(reply.code(), "InvalidResourceReference");
}

#[tokio::test]
async fn a_small_subnet_runs_full() {
    let rig = Rig::new().await;
    rig.ground().await;
    let small = network("virtualNetworks/net/subnets/small");
    rig.put(
        &small,
        json!({"properties": {"addressPrefix": "10.40.8.0/29"}}),
    )
    .await
    .expect(201);
    let waits = rig
        .put(
            &network("networkInterfaces/early"),
            nic(&id(&small), json!({})),
        )
        .await;
    let waits = waits.expect(429);
    assert_eq!(waits.code(), "RetryableError");
    assert_eq!(
        waits.text("/error/details/0/code"),
        "ReferencedResourceNotProvisioned"
    );
    rig.pass(3);
    for at in 0..3 {
        let path = network(&format!("networkInterfaces/n{at}"));
        rig.put(&path, nic(&id(&small), json!({})))
            .await
            .expect(201);
    }
    let full = rig
        .put(
            &network("networkInterfaces/n3"),
            nic(&id(&small), json!({})),
        )
        .await;
    assert_eq!(full.expect(400).code(), "SubnetIsFull");
}

#[tokio::test]
async fn rules_of_a_security_group_are_resources() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let rule = |priority: u32| {
        json!({
            "protocol": "Tcp", "access": "Allow", "direction": "Inbound", "priority": priority,
            "sourceAddressPrefix": "*", "sourcePortRange": "*",
            "destinationAddressPrefix": "*", "destinationPortRange": "22",
        })
    };
    let group = network("networkSecurityGroups/guard");
    let body = json!({"location": "eastus", "properties": {
        "securityRules": [{"name": "ssh", "properties": rule(100)}],
    }});
    let made = rig.put(&group, body).await.expect(201);
    assert_eq!(made.text("/properties/securityRules/0/name"), "ssh");
    let defaults = made.body.pointer("/properties/defaultSecurityRules");
    assert_eq!(defaults.and_then(Value::as_array).map(Vec::len), Some(6));
    rig.pass(1);
    let other = network("networkSecurityGroups/guard/securityRules/other");
    let clash = rig
        .put(&other, json!({"properties": rule(100)}))
        .await
        .expect(400);
    assert_eq!(clash.code(), "SecurityRuleConflict");
    let wrong = rig
        .put(&other, json!({"properties": rule(99)}))
        .await
        .expect(400);
    assert_eq!(wrong.code(), "SecurityRuleInvalidPriority");
    rig.put(&other, json!({"properties": rule(101)}))
        .await
        .expect(201);
    rig.pass(1);
    let ssh = network("networkSecurityGroups/guard/securityRules/ssh");
    assert_eq!(
        rig.get(&ssh)
            .await
            .expect(200)
            .text("/properties/provisioningState"),
        "Succeeded"
    );
    rig.delete(&ssh).await.expect(202);
    rig.pass(10);
    assert_eq!(rig.get(&ssh).await.expect(404).code(), "NotFound");
    let listed = rig
        .get(&network("networkSecurityGroups/guard/securityRules"))
        .await;
    assert_eq!(listed.expect(200).text("/value/0/name"), "other");
}

#[tokio::test]
async fn what_is_used_cannot_be_deleted() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let (guard, ip, gateway) = (
        network("networkSecurityGroups/guard"),
        network("publicIPAddresses/ip"),
        network("natGateways/nat"),
    );
    rig.put(&guard, json!({"location": "eastus"}))
        .await
        .expect(201);
    rig.put(
        &ip,
        json!({"location": "eastus", "sku": {"name": "Standard"}}),
    )
    .await
    .expect(201);
    rig.pass(1);
    let shown = rig.get(&ip).await.expect(200);
    assert!(
        shown.text("/properties/ipAddress").starts_with("100."),
        "{}",
        shown.body
    );
    let body = json!({"location": "eastus", "sku": {"name": "Standard"}, "properties": {
        "publicIpAddresses": [{"id": id(&ip)}],
    }});
    rig.put(&gateway, body).await.expect(201);
    rig.pass(10);
    let body = json!({"properties": {
        "addressPrefix": "10.40.0.0/22",
        "networkSecurityGroup": {"id": id(&guard)},
        "natGateway": {"id": id(&gateway)},
    }});
    rig.put(&format!("{subnet}?api-version=2024-03-01"), body)
        .await
        .expect(200);
    rig.pass(3);
    let shown = rig.get(&gateway).await.expect(200);
    assert_eq!(shown.text("/properties/subnets/0/id"), subnet);
    for (path, code) in [
        (&guard, "InUseNetworkSecurityGroupCannotBeDeleted"),
        (&ip, "PublicIPAddressCannotBeDeleted"),
        (&gateway, "InUseNatGatewayCannotBeDeleted"),
    ] {
        assert_eq!(rig.delete(path).await.expect(400).code(), code);
    }
    rig.vm("vm1", &subnet).await;
    let nic = rig.get(&vm("vm1")).await;
    let nic = nic.text("/properties/networkProfile/networkInterfaces/0/id");
    let refused = rig
        .delete(&format!("{nic}?api-version=2024-03-01"))
        .await
        .expect(400);
    assert_eq!(refused.code(), "NicInUse");
    let refused = rig
        .delete(&network("virtualNetworks/net"))
        .await
        .expect(400);
    assert_eq!(refused.code(), "InUseSubnetCannotBeDeleted");
}

#[tokio::test]
async fn network_usages_move_and_limit() {
    let rig = Rig::new().await;
    rig.ground().await;
    let usages = everywhere("Microsoft.Network", "locations/eastus/usages", "2024-03-01");
    let usage = |reply: &Reply, name: &str| {
        let found = reply
            .items()
            .iter()
            .find(|item| item.pointer("/name/value") == Some(&json!(name)));
        found.and_then(|item| item.get("currentValue")?.as_u64())
    };
    let before = rig.get(&usages).await.expect(200);
    assert_eq!(usage(&before, "VirtualNetworks"), Some(1));
    assert_eq!(usage(&before, "PublicIPAddresses"), Some(0));
    rig.put(
        &format!("/sandbox/quota/{SUBSCRIPTION}/eastus"),
        json!({"PublicIPAddresses": 1}),
    )
    .await
    .expect(204);
    let ip = |at: u32| network(&format!("publicIPAddresses/ip{at}"));
    rig.put(&ip(1), json!({"location": "eastus"}))
        .await
        .expect(201);
    let full = rig
        .put(&ip(2), json!({"location": "eastus"}))
        .await
        .expect(400);
    assert_eq!(full.code(), "PublicIPCountLimitReached");
    assert_eq!(usage(&rig.get(&usages).await, "PublicIPAddresses"), Some(1));
    rig.put(&ip(2), json!({"location": "westus"}))
        .await
        .expect(201);
}

#[tokio::test]
async fn a_network_patch_replaces_all_tags_at_once() {
    let rig = Rig::new().await;
    rig.ground().await;
    let net = network("virtualNetworks/net");
    rig.patch(&net, json!({"tags": {"a": "1"}}))
        .await
        .expect(200);
    let shown = rig
        .patch(&net, json!({"tags": {"b": "2"}}))
        .await
        .expect(200);
    assert_eq!(shown.body.get("tags"), Some(&json!({"b": "2"})));
    assert_eq!(shown.text("/properties/provisioningState"), "Succeeded");
}
