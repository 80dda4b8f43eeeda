//! Nonsense in bodies, and many requests at once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::rig::{KEY, Rig, compute, disk, group, id, machine, network, set, vm};

/// The paths of a value and of everything in it.
fn places(value: &Value, path: &str, into: &mut Vec<String>) {
    into.push(path.to_owned());
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                places(value, &format!("{path}/{name}"), into);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                places(value, &format!("{path}/{at}"), into);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn bodies(subnet: &str) -> Vec<(String, Value)> {
    let mut all = vec![
        (
            group("other"),
            json!({"location": "eastus", "tags": {"a": "b"}}),
        ),
        (vm("vm1"), spot(subnet)),
        (
            disk("d"),
            json!({"location": "eastus", "sku": {"name": "Premium_LRS"}, "properties": {
                "creationData": {"createOption": "Empty"}, "diskSizeGB": 8,
            }}),
        ),
        (
            compute("sshPublicKeys/k"),
            json!({"location": "eastus", "properties": {"publicKey": KEY}}),
        ),
        (
            format!(
                "{}/providers/Microsoft.Resources/tags/default?api-version=2021-04-01",
                id(&group("rg"))
            ),
            json!({"operation": "Merge", "properties": {"tags": {"a": "b"}}}),
        ),
    ];
    all.extend(network_bodies(subnet));
    all
}

/// A VM with many members.
fn spot(subnet: &str) -> Value {
    let mut body = machine("Standard_D4s_v5", subnet);
    for (place, value) in [
        ("/properties/priority", json!("Spot")),
        ("/properties/billingProfile", json!({"maxPrice": 5})),
        ("/zones", json!(["1"])),
        ("/identity", json!({"type": "SystemAssigned"})),
        (
            "/properties/storageProfile/dataDisks",
            json!([{"lun": 0, "createOption": "Empty", "diskSizeGB": 8}]),
        ),
    ] {
        set(&mut body, place, value);
    }
    body
}

fn network_bodies(subnet: &str) -> [(String, Value); 5] {
    let configuration = json!({"name": "ip", "properties": {
        "subnet": {"id": subnet}, "privateIPAddress": "10.40.0.9", "privateIPAllocationMethod": "Static",
    }});
    let rule = json!({"name": "ssh", "properties": {
        "protocol": "Tcp", "access": "Allow", "direction": "Inbound", "priority": 100,
        "sourceAddressPrefix": "*", "sourcePortRange": "*",
        "destinationAddressPrefix": "*", "destinationPortRange": "22",
    }});
    [
        (
            "networkInterfaces/nic",
            json!({"ipConfigurations": [configuration]}),
        ),
        (
            "networkSecurityGroups/guard",
            json!({"securityRules": [rule]}),
        ),
        (
            "publicIPAddresses/ip",
            json!({"dnsSettings": {"domainNameLabel": "label"}}),
        ),
        (
            "natGateways/nat",
            json!({"publicIpAddresses": [{"id": "/nowhere"}]}),
        ),
        (
            "virtualNetworks/second",
            json!({
                "addressSpace": {"addressPrefixes": ["10.50.0.0/16"]},
                "subnets": [{"name": "one", "properties": {"addressPrefix": "10.50.0.0/24"}}],
            }),
        ),
    ]
    .map(|(rest, properties)| {
        let body =
            json!({"location": "eastus", "sku": {"name": "Standard"}, "properties": properties});
        (network(rest), body)
    })
}

/// A sandbox without limits on requests.
async fn patient() -> Rig {
    Rig::with(|options| tensorform_emulator::Options {
        throttling: false,
        ..options
    })
    .await
}

#[tokio::test]
async fn nonsense_anywhere_in_a_body_is_answered() {
    let rig = patient().await;
    let subnet = rig.ground().await;
    let nonsense = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5e300),
        json!(""),
        json!("¿/../%00 \u{0}"),
        json!([]),
        json!([[{}]]),
        json!({}),
        json!({"x": {"y": []}}),
    ];
    let mut refused = 0;
    for (path, body) in bodies(&subnet) {
        let mut found = Vec::new();
        places(&body, "", &mut found);
        for place in found {
            for value in &nonsense {
                let mut wrong = body.clone();
                *wrong.pointer_mut(&place).expect("a place") = value.clone();
                for method in ["PUT", "PATCH"] {
                    let reply = rig.send(method, &path, Some(wrong.clone())).await;
                    assert!(
                        reply.status < 500 || reply.status == 501,
                        "{method} {path} {place} {value}: {}",
                        reply.body
                    );
                    refused += u32::from(reply.status >= 400);
                }
            }
            rig.pass(60);
        }
    }
    assert!(refused > 1_000, "{refused}");
    rig.get("/sandbox").await.expect(200);
}

#[tokio::test]
async fn nonsense_in_paths_and_queries_is_answered() {
    let rig = patient().await;
    rig.ground().await;
    let zeros = tensorform_emulator::SUBSCRIPTION;
    for path in [
        "/".to_owned(),
        "//".to_owned(),
        "/subscriptions//resourceGroups".to_owned(),
        format!(
            "/subscriptions/{zeros}/resourceGroups//providers/Microsoft.Compute/virtualMachines"
        ),
        format!("/subscriptions/{zeros}/providers/Microsoft.Compute"),
        format!("/subscriptions/{zeros}/providers/Microsoft.Compute/locations"),
        format!("/subscriptions/{zeros}/providers/Microsoft.Compute/locations/x/operations/y"),
        format!("/subscriptions/{zeros}/providers/Microsoft.Compute/locations/x/publishers/y/z"),
        format!("/subscriptions/{zeros}/operationresults/%00"),
        format!(
            "/subscriptions/{zeros}/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/net/subnets"
        ),
        format!("/subscriptions/{zeros}/resourceGroups/rg/a/b/c/d/e"),
        format!("/subscriptions/{zeros}/resources"),
        "/providers/Microsoft.Compute".to_owned(),
        "/api/retail/prices".to_owned(),
        "/sandbox/quota".to_owned(),
    ] {
        for query in [
            "",
            "$filter=(((&",
            "$top=-1&$skiptoken=%%%&",
            "$skip=99999999999999999999&",
            "&&==&",
        ] {
            for method in ["GET", "PUT", "DELETE", "POST", "PATCH", "OPTIONS"] {
                let target = format!("{path}?{query}api-version=2024-07-01");
                let reply = rig.send(method, &target, None).await;
                assert!(
                    reply.status < 500 || reply.status == 501,
                    "{method} {target}: {}",
                    reply.body
                );
            }
        }
    }
    rig.get("/sandbox").await.expect(200);
}

#[tokio::test]
async fn requests_at_once_do_not_get_in_each_others_way() {
    let rig = patient().await;
    let subnet = rig.ground().await;
    let endpoint = rig.sandbox.endpoint().to_owned();
    let mut tasks = tokio::task::JoinSet::new();
    for at in 0..50 {
        let (endpoint, body) = (
            endpoint.clone(),
            machine("Standard_D4s_v5", &subnet).to_string(),
        );
        tasks.spawn(async move {
            let path = vm(&format!("vm{at}"));
            let headers = [("authorization", "Bearer t")];
            let reply = Rig::send_to(&endpoint, "PUT", &path, &headers, Some(&body)).await;
            reply.expect("an answer").expect(201);
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.expect("a VM");
    }
    rig.pass(8);
    let nics = rig.get(&network("networkInterfaces")).await.expect(200);
    let addresses: BTreeSet<&str> = nics
        .items()
        .iter()
        .filter_map(|nic| {
            nic.pointer("/properties/ipConfigurations/0/properties/privateIPAddress")?
                .as_str()
        })
        .collect();
    assert_eq!(addresses.len(), 50);
    let vms = rig.get(&compute("virtualMachines")).await.expect(200);
    let ids: BTreeSet<&str> = vms
        .items()
        .iter()
        .filter_map(|vm| vm.pointer("/properties/vmId")?.as_str())
        .collect();
    assert_eq!(ids.len(), 50);
}
