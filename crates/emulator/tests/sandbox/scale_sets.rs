//! Uniform scale sets: capacity, instances, actions and models.

use serde_json::{Value, json};

use crate::rig::{KEY, Reply, Rig, compute, everywhere, id, network, set};

/// The body of a Uniform set whose ids have no gaps.
pub(crate) fn uniform(size: &str, subnet: &str, capacity: u64) -> Value {
    json!({
        "location": "eastus",
        "tags": {"team": "ml"},
        "sku": {"name": size, "capacity": capacity},
        "properties": {
            "upgradePolicy": {"mode": "Manual"},
            "overprovision": false,
            "singlePlacementGroup": capacity <= 100,
            "virtualMachineProfile": {
                "storageProfile": {
                    "imageReference": {
                        "publisher": "microsoft-dsvm", "offer": "ubuntu-hpc", "sku": "2204",
                        "version": "latest",
                    },
                },
                "osProfile": {
                    "computerNamePrefix": "node",
                    "adminUsername": "azureuser",
                    "customData": "I2Nsb3VkLWNvbmZpZwo=",
                    "linuxConfiguration": {
                        "disablePasswordAuthentication": true,
                        "ssh": {"publicKeys": [{
                            "path": "/home/azureuser/.ssh/authorized_keys", "keyData": KEY,
                        }]},
                    },
                },
                "networkProfile": {"networkInterfaceConfigurations": [{
                    "name": "nic",
                    "properties": {"primary": true, "ipConfigurations": [{
                        "name": "ip", "properties": {"subnet": {"id": subnet}},
                    }]},
                }]},
            },
        },
    })
}

/// A set of the group `rg`.
pub(crate) fn scale_set(rest: &str) -> String {
    compute(&format!("virtualMachineScaleSets/{rest}"))
}

/// Makes a set and waits for its instances.
pub(crate) async fn made(rig: &Rig, body: Value) {
    rig.put(&scale_set("pool"), body).await.expect(201);
    rig.pass(48);
}

pub(crate) async fn instances(rig: &Rig) -> Vec<Value> {
    let reply = rig.get(&scale_set("pool/virtualMachines")).await;
    reply.expect(200).items().to_vec()
}

pub(crate) fn ids(instances: &[Value]) -> Vec<&str> {
    instances
        .iter()
        .filter_map(|one| one.get("instanceId").and_then(Value::as_str))
        .collect()
}

pub(crate) async fn power(rig: &Rig, instance: &str) -> String {
    let path = scale_set(&format!("pool/virtualMachines/{instance}/instanceView"));
    let view = rig.get(&path).await.expect(200);
    view.text("/statuses/1/code").to_owned()
}

/// What is used of a counter in eastus.
pub(crate) async fn usage(rig: &Rig, name: &str) -> u64 {
    let path = everywhere("Microsoft.Compute", "locations/eastus/usages", "2024-07-01");
    let reply = rig.get(&path).await.expect(200);
    let found = reply
        .items()
        .iter()
        .find(|one| one.pointer("/name/value").and_then(Value::as_str) == Some(name));
    found
        .and_then(|one| one.get("currentValue")?.as_u64())
        .unwrap_or(u64::MAX)
}

pub(crate) async fn act(rig: &Rig, action: &str, ids: &[&str]) -> Reply {
    let body = json!({"instanceIds": ids});
    rig.send("POST", &scale_set(&format!("pool/{action}")), Some(body))
        .await
}

#[tokio::test]
async fn a_set_makes_its_instances_and_draws_quota_for_them() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let reply = rig
        .put(&scale_set("pool"), uniform("Standard_D4s_v5", &subnet, 3))
        .await
        .expect(201);
    assert_eq!(reply.text("/properties/provisioningState"), "Creating");
    assert!(!reply.header("azure-asyncoperation").is_empty());
    assert_eq!(reply.header("retry-after"), "10");
    assert_eq!(
        reply
            .body
            .pointer("/properties/virtualMachineProfile/osProfile/customData"),
        None
    );
    let poll = rig.follow(reply.header("azure-asyncoperation")).await;
    assert_eq!(
        (poll.text("/status"), poll.header("retry-after")),
        ("InProgress", "61")
    );
    assert_eq!(usage(&rig, "standardDSv5Family").await, 12);
    assert_eq!(usage(&rig, "virtualMachines").await, 3);
    assert_eq!(usage(&rig, "virtualMachineScaleSets").await, 1);
    rig.pass(48);
    let shown = rig.get(&scale_set("pool")).await.expect(200);
    assert_eq!(shown.text("/properties/provisioningState"), "Succeeded");
    assert_eq!(shown.header("etag"), "\"2\"");
    let all = instances(&rig).await;
    assert_eq!(ids(&all), ["0", "1", "2"]);
    let computers: Vec<&str> = all
        .iter()
        .filter_map(|one| one.pointer("/properties/osProfile/computerName")?.as_str())
        .collect();
    assert_eq!(computers, ["node000000", "node000001", "node000002"]);
    assert_eq!(power(&rig, "2").await, "PowerState/running");
    let view = rig.get(&scale_set("pool/instanceView")).await.expect(200);
    let summary = view.body.pointer("/virtualMachine/statusesSummary");
    assert_eq!(
        summary,
        Some(&json!([{"code": "ProvisioningState/succeeded", "count": 3}]))
    );
}

#[tokio::test]
async fn instances_have_addresses_that_nobody_else_gets() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    made(&rig, uniform("Standard_D4s_v5", &subnet, 2)).await;
    rig.vm("alone", &subnet).await;
    let nics = rig
        .get(&scale_set("pool/networkInterfaces"))
        .await
        .expect(200);
    let addresses: Vec<&str> = nics
        .items()
        .iter()
        .filter_map(|nic| {
            nic.pointer("/properties/ipConfigurations/0/properties/privateIPAddress")?
                .as_str()
        })
        .collect();
    assert_eq!(addresses, ["10.40.0.4", "10.40.0.5"]);
    let shown = rig
        .get(&format!("{subnet}?api-version=2024-03-01"))
        .await
        .expect(200);
    let used = shown
        .body
        .pointer("/properties/ipConfigurations")
        .and_then(Value::as_array);
    assert_eq!(used.map(Vec::len), Some(3));
    let one = scale_set("pool/virtualMachines/1/networkInterfaces/nic");
    assert_eq!(rig.get(&one).await.expect(200).text("/name"), "nic");
    let refused = rig
        .delete(&network("virtualNetworks/net/subnets/default"))
        .await;
    assert_eq!(refused.expect(400).code(), "InUseSubnetCannotBeDeleted");
    let full = rig
        .put(
            &scale_set("large"),
            uniform("Standard_D2s_v5", &subnet, 1_000),
        )
        .await
        .expect(201);
    assert_eq!(full.text("/name"), "large");
    let refused = rig
        .put(&scale_set("more"), uniform("Standard_D2s_v5", &subnet, 100))
        .await;
    assert_eq!(refused.expect(400).code(), "SubnetIsFull");
}

#[tokio::test]
async fn capacity_goes_up_and_down() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    made(&rig, uniform("Standard_D4s_v5", &subnet, 2)).await;
    // Recorded: a PUT with the capacity alone keeps all else.
    let body = json!({"location": "eastus", "sku": {"name": "Standard_D4s_v5", "tier": "Standard", "capacity": 4}});
    let reply = rig.put(&scale_set("pool"), body).await.expect(200);
    assert_eq!(reply.text("/tags/team"), "ml");
    assert_eq!(ids(&instances(&rig).await), ["0", "1", "2", "3"]);
    assert_eq!(usage(&rig, "cores").await, 16);
    rig.pass(24);
    let body = json!({"sku": {"name": "Standard_D4s_v5", "capacity": 1}});
    rig.patch(&scale_set("pool"), body).await.expect(200);
    assert_eq!(usage(&rig, "cores").await, 16);
    rig.pass(24);
    assert_eq!(ids(&instances(&rig).await), ["0"]);
    assert_eq!(usage(&rig, "cores").await, 4);
    act(&rig, "delete", &["0"]).await.expect(202);
    rig.pass(24);
    assert!(instances(&rig).await.is_empty());
    let shown = rig.get(&scale_set("pool")).await.expect(200);
    assert_eq!(shown.body.pointer("/sku/capacity"), Some(&json!(0)));
}

#[tokio::test]
async fn a_write_goes_on_with_what_it_interrupts() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let first = rig
        .put(&scale_set("pool"), uniform("Standard_D4s_v5", &subnet, 2))
        .await
        .expect(201);
    rig.pass(10);
    let body = json!({"sku": {"name": "Standard_D4s_v5", "capacity": 3}});
    rig.patch(&scale_set("pool"), body).await.expect(200);
    let stopped = rig.follow(first.header("azure-asyncoperation")).await;
    assert_eq!(stopped.code(), "OperationPreempted");
    rig.pass(24);
    for instance in ["0", "1", "2"] {
        assert_eq!(power(&rig, instance).await, "PowerState/running");
    }
    let summary = rig.get(&scale_set("pool/instanceView")).await.expect(200);
    assert_eq!(
        summary
            .body
            .pointer("/virtualMachine/statusesSummary/0/count"),
        Some(&json!(3))
    );
}

#[tokio::test]
async fn overprovisioning_leaves_gaps_between_ids() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let mut body = uniform("Standard_D4s_v5", &subnet, 5);
    set(&mut body, "/properties/overprovision", json!(true));
    made(&rig, body).await;
    assert_eq!(ids(&instances(&rig).await), ["0", "1", "4", "5", "6"]);
    assert_eq!(usage(&rig, "cores").await, 20);
}

#[tokio::test]
async fn actions_change_the_instances_they_name() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    made(&rig, uniform("Standard_D4s_v5", &subnet, 3)).await;
    let reply = act(&rig, "deallocate", &["1"]).await.expect(202);
    assert!(!reply.header("location").is_empty());
    assert_eq!(power(&rig, "1").await, "PowerState/deallocating");
    rig.pass(35);
    assert_eq!(power(&rig, "1").await, "PowerState/deallocated");
    assert_eq!(power(&rig, "0").await, "PowerState/running");
    rig.post(&scale_set("pool/powerOff")).await.expect(202);
    rig.pass(11);
    assert_eq!(power(&rig, "0").await, "PowerState/stopped");
    assert_eq!(power(&rig, "1").await, "PowerState/deallocated");
    rig.post(&scale_set("pool/virtualMachines/1/start"))
        .await
        .expect(202);
    rig.pass(10);
    assert_eq!(power(&rig, "1").await, "PowerState/running");
    rig.post(&scale_set("pool/virtualMachines/*/start"))
        .await
        .expect(202);
    rig.pass(10);
    assert_eq!(power(&rig, "2").await, "PowerState/running");
    let disk = |one: &Value| {
        one.pointer("/properties/storageProfile/osDisk/name")
            .cloned()
    };
    let before: Vec<_> = instances(&rig).await.iter().map(disk).collect();
    act(&rig, "reimage", &["2"]).await.expect(202);
    rig.pass(72);
    let after: Vec<_> = instances(&rig).await.iter().map(disk).collect();
    assert_eq!(
        (before.first(), before.get(1)),
        (after.first(), after.get(1))
    );
    assert_ne!(before.get(2), after.get(2));
    for action in ["restart", "redeploy"] {
        act(&rig, action, &["*"]).await.expect(202);
        rig.pass(130);
    }
    let gone = act(&rig, "start", &["7"]).await.expect(400);
    assert_eq!(
        (gone.code(), gone.text("/error/target")),
        ("InvalidParameter", "instanceIds")
    );
    let gone = rig
        .get(&scale_set("pool/virtualMachines/7/instanceView"))
        .await;
    assert_eq!(gone.expect(404).code(), "NotFound");
    let reply = rig.post(&scale_set("pool/delete")).await.expect(400);
    assert_eq!(reply.text("/error/target"), "instanceIds");
}

#[tokio::test]
async fn a_new_model_waits_for_an_upgrade_by_hand() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    made(&rig, uniform("Standard_D4s_v5", &subnet, 2)).await;
    let body = json!({"sku": {"name": "Standard_D8s_v5", "capacity": 2}});
    rig.patch(&scale_set("pool"), body).await.expect(200);
    rig.pass(24);
    let latest = |one: &Value| one.pointer("/properties/latestModelApplied").cloned();
    let sizes = |one: &Value| one.pointer("/sku/name").cloned();
    let all = instances(&rig).await;
    assert_eq!(
        all.iter().filter_map(latest).collect::<Vec<_>>(),
        [json!(false), json!(false)]
    );
    assert_eq!(usage(&rig, "cores").await, 8);
    act(&rig, "manualupgrade", &["1"]).await.expect(202);
    rig.pass(33);
    let all = instances(&rig).await;
    assert_eq!(
        all.iter().filter_map(latest).collect::<Vec<_>>(),
        [json!(false), json!(true)]
    );
    assert_eq!(
        all.iter().filter_map(sizes).collect::<Vec<_>>(),
        [json!("Standard_D4s_v5"), json!("Standard_D8s_v5")]
    );
    assert_eq!(usage(&rig, "cores").await, 12);
    let filter = "pool/virtualMachines";
    let path = format!(
        "{}&$filter=properties/latestModelApplied%20eq%20false",
        scale_set(filter)
    );
    assert_eq!(ids(rig.get(&path).await.expect(200).items()), ["0"]);
    let body = json!({"properties": {"upgradePolicy": {"mode": "Automatic"}}});
    rig.patch(&scale_set("pool"), body).await.expect(200);
    rig.pass(24);
    let all = instances(&rig).await;
    assert_eq!(
        all.iter().filter_map(latest).collect::<Vec<_>>(),
        [json!(true), json!(true)]
    );
}

#[tokio::test]
async fn a_set_is_deleted_with_all_its_instances() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    made(&rig, uniform("Standard_D4s_v5", &subnet, 2)).await;
    rig.delete(&scale_set("pool")).await.expect(202);
    let busy = act(&rig, "start", &["0"]).await.expect(409);
    assert_eq!(busy.code(), "OperationNotAllowed");
    rig.pass(3);
    assert_eq!(
        rig.get(&scale_set("pool")).await.expect(404).code(),
        "NotFound"
    );
    let gone = rig
        .get(&scale_set("pool/virtualMachines"))
        .await
        .expect(404);
    assert_eq!(gone.code(), "NotFound");
    rig.pass(30);
    assert_eq!(
        rig.get(&scale_set("pool")).await.expect(404).code(),
        "ResourceNotFound"
    );
    assert_eq!(usage(&rig, "cores").await, 0);
    rig.delete(&scale_set("pool")).await.expect(204);
    rig.delete(&network("virtualNetworks/net/subnets/default"))
        .await
        .expect(202);
}

#[tokio::test]
async fn an_instance_keeps_what_is_set_on_it_alone() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    made(&rig, uniform("Standard_D4s_v5", &subnet, 2)).await;
    let path = scale_set("pool/virtualMachines/1");
    let mut body = rig.get(&path).await.expect(200).body;
    // Ahead of the schema, and not sent back by recorded clients.
    let properties = body.get_mut("properties").and_then(Value::as_object_mut);
    properties
        .expect("properties")
        .remove("resilientVMDeletionStatus");
    set(&mut body, "/tags", json!({"rank": "1"}));
    set(
        &mut body,
        "/properties/protectionPolicy",
        json!({"protectFromScaleIn": true}),
    );
    let reply = rig.put(&path, body.clone()).await.expect(200);
    assert_eq!(reply.text("/properties/provisioningState"), "Updating");
    rig.pass(1);
    assert_eq!(rig.get(&path).await.expect(200).text("/tags/rank"), "1");
    let scaled = json!({"sku": {"name": "Standard_D4s_v5", "capacity": 1}});
    rig.patch(&scale_set("pool"), scaled).await.expect(200);
    rig.pass(24);
    assert_eq!(ids(&instances(&rig).await), ["1"]);
    set(
        &mut body,
        "/properties/hardwareProfile",
        json!({"vmSize": "Standard_D8s_v5"}),
    );
    let reply = rig.put(&path, body).await.expect(409);
    assert_eq!(reply.code(), "PropertyChangeNotAllowed");
}

#[tokio::test]
async fn instances_come_in_pages() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    made(&rig, uniform("Standard_D2s_v5", &subnet, 120)).await;
    let mut next = scale_set("pool/virtualMachines");
    let mut seen = Vec::new();
    let mut pages = 0;
    while !next.is_empty() {
        let reply = rig.get(&next).await.expect(200);
        pages += 1;
        seen.extend(ids(reply.items()).iter().map(|id| (*id).to_owned()));
        reply
            .text("/nextLink")
            .replace(rig.sandbox.endpoint(), "")
            .clone_into(&mut next);
    }
    assert_eq!((pages, seen.len()), (3, 120));
    assert_eq!(seen.last().map(String::as_str), Some("119"));
}

#[tokio::test]
async fn extensions_are_part_of_the_profile() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    made(&rig, uniform("Standard_D4s_v5", &subnet, 1)).await;
    let path = scale_set("pool/extensions/gpu");
    let body = json!({"properties": {
        "publisher": "Microsoft.HpcCompute", "type": "NvidiaGpuDriverLinux", "typeHandlerVersion": "1.9",
        "protectedSettings": {"secret": "s"},
    }});
    let reply = rig.put(&path, body).await.expect(201);
    assert_eq!(reply.text("/properties/provisioningState"), "Creating");
    assert_eq!(reply.body.pointer("/properties/protectedSettings"), None);
    rig.pass(16);
    assert_eq!(
        rig.get(&path)
            .await
            .expect(200)
            .text("/properties/provisioningState"),
        "Succeeded"
    );
    let shown = rig.get(&scale_set("pool")).await.expect(200);
    let place = "/properties/virtualMachineProfile/extensionProfile/extensions/0/name";
    assert_eq!(shown.text(place), "gpu");
    let behind = rig
        .get(&scale_set("pool/virtualMachines/0"))
        .await
        .expect(200);
    assert_eq!(
        behind.body.pointer("/properties/latestModelApplied"),
        Some(&json!(false))
    );
    rig.delete(&path).await.expect(202);
    rig.pass(16);
    assert_eq!(rig.get(&path).await.expect(404).code(), "NotFound");
    assert_eq!(id(&path).rsplit('/').next(), Some("gpu"));
}
