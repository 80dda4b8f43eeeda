//! Accounts and pools of Batch there and back.

use serde_json::json;

use super::*;
use crate::wire::{decode, encode};
use model::resource::{Properties, Resource, ResourceKind, Tags};

/// A pool as its GET answers it: more members than a request may have.
fn body() -> Value {
    json!({
        "id": "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Batch/batchAccounts/demo/pools/demo-train",
        "location": "eastus",
        "etag": "W/\"0x8D4EDFEBFADF4AB\"",
        "tags": {"team": "ml"},
        "identity": {"type": "UserAssigned", "userAssignedIdentities": {
            "/subscriptions/s/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/u":
                {"principalId": "p", "clientId": "c"},
        }},
        "properties": {
            "provisioningState": "Succeeded", "allocationState": "Steady",
            "currentDedicatedNodes": 6, "currentLowPriorityNodes": 0,
            "vmSize": "STANDARD_D4S_V5",
            "interNodeCommunication": "Enabled", "taskSlotsPerNode": 13,
            "taskSchedulingPolicy": {"nodeFillType": "Pack"},
            "deploymentConfiguration": {"virtualMachineConfiguration": {
                "imageReference": {"publisher": "microsoft-dsvm", "offer": "ubuntu-hpc", "sku": "2204", "version": "22.04.1"},
                "nodeAgentSkuId": "batch.node.ubuntu 22.04",
                "osDisk": {"diskSizeGB": 128, "caching": "None", "managedDisk": {"storageAccountType": "Premium_LRS"}},
                "dataDisks": [{"lun": 3, "diskSizeGB": 64, "caching": "ReadOnly", "storageAccountType": "StandardSSD_LRS"}],
                "containerConfiguration": {"type": "DockerCompatible", "containerImageNames": ["b", "a"]},
                "securityProfile": {"securityType": "trustedLaunch", "uefiSettings": {"secureBootEnabled": true, "vTpmEnabled": true}},
            }},
            "scaleSettings": {"fixedScale": {"targetDedicatedNodes": 6, "targetLowPriorityNodes": 0, "resizeTimeout": "PT15M"}},
            "networkConfiguration": {
                "subnetId": "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes",
                "publicIPAddressConfiguration": {"provision": "NoPublicIPAddresses"},
                "enableAcceleratedNetworking": true,
            },
            "resizeOperationStatus": {"errors": [{"code": "AllocationFailed", "message": "old"}]},
        },
    })
}

fn read(body: &Value) -> BatchPool {
    let resource = decode(ResourceKind::BatchPool, body).expect("a pool");
    resource.batch_pool().expect("a pool").clone()
}

fn written(pool: BatchPool) -> Value {
    encode(&Resource {
        tags: Tags::default(),
        properties: Properties::BatchPool(Box::new(pool)),
    })
    .expect("a body")
}

#[test]
fn a_pool_is_the_same_there_and_back() {
    let pool = read(&body());
    assert_eq!(
        (pool.nodes, pool.task_slots, pool.inter_node),
        (6, 13, true)
    );
    assert_eq!(pool.identities.len(), 1);
    let mut sent = written(pool.clone());
    assert_eq!(
        sent.pointer("/properties/scaleSettings"),
        Some(&json!({"fixedScale": {"targetDedicatedNodes": 6, "targetLowPriorityNodes": 0}}))
    );
    for read_only in [
        "/location",
        "/etag",
        "/properties/allocationState",
        "/properties/currentDedicatedNodes",
    ] {
        assert_eq!(sent.pointer(read_only), None, "{read_only}");
    }
    sent["location"] = json!("eastus");
    assert_eq!(read(&sent), pool);
}

#[test]
fn spot_nodes_and_formulas_are_read_as_they_were_written() {
    let mut pool = read(&body());
    pool.priority = VmPriority::Spot {
        eviction: Eviction::Delete,
        max_price: Decimal::NEGATIVE_ONE,
    };
    let mut sent = written(pool.clone());
    sent["location"] = json!("eastus");
    assert_eq!(read(&sent), pool);
    pool.nodes = 9;
    pool.autoscale = Some(BatchAutoscale {
        formula: BatchAutoscale::bounded("$x = 1;", (0, 9), true),
        interval_minutes: 90,
    });
    let mut sent = written(pool.clone());
    assert_eq!(sent.pointer("/properties/scaleSettings/fixedScale"), None);
    sent["location"] = json!("eastus");
    assert_eq!(read(&sent), pool);
    // Azure may write the same span in another way.
    sent["properties"]["scaleSettings"]["autoScale"]["evaluationInterval"] = json!("PT1H30M");
    assert_eq!(read(&sent), pool);
    // A formula of somebody else says nothing of bounds.
    sent["properties"]["scaleSettings"]["autoScale"]["formula"] =
        json!("$TargetDedicatedNodes = 3;");
    sent["properties"]["currentDedicatedNodes"] = json!(3);
    assert_eq!(read(&sent).nodes, 3);
}

#[test]
fn spans_are_read_in_whole_minutes_or_not_at_all() {
    for (text, expected) in [
        ("PT15M", Some(15)),
        ("PT1H30M", Some(90)),
        ("P1DT2H", Some(1_560)),
        ("PT5M0S", Some(5)),
        ("PT90S", None),
        ("15M", None),
        ("PT", Some(0)),
        ("PT5", None),
        ("PTM", None),
        ("P9999999999D", None),
    ] {
        assert_eq!(minutes(text), expected, "{text}");
    }
}

#[test]
fn an_old_reason_says_nothing_of_a_pool_that_has_its_nodes() {
    let mut pool = body();
    assert_eq!(resize(&pool), Some(Resize::Settled));
    assert_eq!(nodes(&pool), Some(6));
    pool["properties"]["currentDedicatedNodes"] = json!(4);
    assert_eq!(
        resize(&pool),
        Some(Resize::Short {
            code: "AllocationFailed".to_owned(),
            message: "4 of 6 nodes came: old".to_owned(),
        })
    );
    // Spot nodes that Azure took back are asked for again by Batch itself.
    pool["properties"]["resizeOperationStatus"] = json!({});
    assert_eq!(resize(&pool), Some(Resize::Settled));
    pool["properties"]["allocationState"] = json!("Resizing");
    assert_eq!(resize(&pool), Some(Resize::Running));
    pool["properties"]["scaleSettings"] =
        json!({"autoScale": {"formula": "$TargetDedicatedNodes = 1;"}});
    assert_eq!(
        resize(&pool),
        Some(Resize::Settled),
        "a formula never rests"
    );
    assert_eq!(resize(&json!({"properties": {}})), None);
}

#[test]
fn only_the_number_of_nodes_changes_in_place() {
    let pool = read(&body());
    let paths =
        |paths: &[&str]| -> Vec<String> { paths.iter().map(|path| (*path).to_owned()).collect() };
    let change = changes(&pool, &paths(&["nodes", "autoscale.formula"])).expect("a change");
    let scale = json!({"properties": {"scaleSettings": {"fixedScale": {
        "targetDedicatedNodes": 6, "targetLowPriorityNodes": 0,
    }}}});
    assert_eq!(change, [Change::Patch(scale)]);
    assert_eq!(
        changes(&pool, &paths(&["nodes", "size"])),
        Err(EncodeError::Unchangeable("size".to_owned()))
    );
}

#[test]
fn families_count_only_where_the_account_enforces_them() {
    let account = |enforced: bool| {
        json!({"properties": {
            "dedicatedCoreQuota": 100, "poolQuota": 20,
            "dedicatedCoreQuotaPerVMFamilyEnforced": enforced,
            "dedicatedCoreQuotaPerVMFamily": [{"name": "standardDSv5Family", "coreQuota": 0}],
        }})
    };
    let told = |body: &Value| -> Vec<(String, i64)> {
        let limits = limits(body).into_iter();
        limits.map(|fact| (fact.name, fact.limit)).collect()
    };
    let shared = [("dedicatedCores".to_owned(), 100), ("pools".to_owned(), 20)];
    assert_eq!(told(&account(false)), shared);
    assert_eq!(
        told(&account(true)).last(),
        Some(&("standardDSv5Family".to_owned(), 0))
    );
    assert_eq!(told(&Value::Null), []);
}

#[test]
fn a_start_task_is_written_without_touching_the_nodes() {
    let pool = read(&body());
    let changed = changes(&pool, &[BOOTSTRAP.to_owned()]).expect("a change");
    assert_eq!(changed, [Change::Patch(json!({"properties": {}}))]);
    let both = changes(&pool, &["nodes".to_owned(), BOOTSTRAP.to_owned()]).expect("a change");
    assert_eq!(
        both,
        [Change::Patch(
            json!({"properties": {"scaleSettings": scale(&pool)}})
        )]
    );
    let task = start_task("IyEvYmluL2Jhc2g=");
    let line = task["commandLine"].as_str().expect("a line");
    assert_eq!(line.matches('\'').count(), 2, "{line}");
    assert!(!line.contains(['"', '\n']), "{line}");
    assert_eq!(task["waitForSuccess"], true);
    assert_eq!(task["environmentSettings"][0]["value"], "IyEvYmluL2Jhc2g=");
}
