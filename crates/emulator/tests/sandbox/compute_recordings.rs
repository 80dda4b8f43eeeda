//! Recorded conversations about what stands around VMs.

use serde_json::json;

use crate::{
    recordings::{IMAGE, SYSTEM_VERSION, interface, machine, network, path, ready, rig},
    replay::{Difference, agree},
    rig::{Rig, SUBSCRIPTION},
};

#[tokio::test]
async fn placement_groups_agree() {
    let rig = rig("cli_test_ppg_cmds_000001", "westus").await;
    agree(&rig, "proximity-placement-group-2024-07-01", &[]).await;
}

#[tokio::test]
async fn intents_of_placement_groups_agree() {
    let group = "cli_test_ppg_intent_vm_sizes_and_zone_000001";
    let rig = rig(group, "eastus2").await;
    agree(&rig, "ppg-intent-vm-sizes-zone-2024-07-01", &[]).await;
}

#[tokio::test]
async fn capacity_reservations_agree() {
    let group = "cli_test_capacity_reservation_list_delete000001";
    let rig = rig(group, "centraluseuap").await;
    let loud = [
        Difference(
            1,
            "/id",
            "the group's name in capitals, in this answer alone",
        ),
        Difference(6, "/value/0/id", "the group's name in capitals"),
    ];
    agree(&rig, "capacity-reservation-2024-07-01", &loud).await;
}

#[tokio::test]
async fn placement_scores_agree() {
    let rig = rig("unused", "eastus").await;
    // There the subscription could not have the size in this region.
    let path = format!("/sandbox/restrictions/{SUBSCRIPTION}/eastus");
    let body = json!([{"size": "Standard_D2_v2", "reason": "NotAvailableForSubscription"}]);
    rig.put(&path, body).await.expect(204);
    agree(&rig, "spot-placement-scores", &[]).await;
}

#[tokio::test]
async fn an_image_that_is_none_is_refused_as_recorded() {
    let rig = rig("asotest-rg-rqqvxk", "westus2").await;
    agree(&rig, "vmss-400-invalid-parameter", &[]).await;
}

/// An interface in the subnet of another one.
async fn nic(rig: &Rig, group: &str, first: &str, name: &str) -> String {
    let first = rig.get(&format!("{first}?api-version=2020-11-01")).await;
    let subnet = first
        .expect(200)
        .text("/properties/ipConfigurations/0/properties/subnet/id")
        .to_owned();
    let nic = path(
        group,
        &format!("Microsoft.Network/networkInterfaces/{name}"),
    );
    let configuration = json!({"name": "one", "properties": {"subnet": {"id": subnet}}});
    let body = json!({"location": "eastus", "properties": {"ipConfigurations": [configuration]}});
    ready(rig, &nic, "2020-11-01", body).await;
    nic
}

#[tokio::test]
async fn evictions_of_vms_agree() {
    let group = "cli_test_vm_simulate_eviction000001";
    let rig = rig(group, "eastus").await;
    let first = interface(&rig, group, "eastus", "first").await;
    for (name, extra) in [
        ("vm-simualte-eviction1", json!({})),
        (
            "vm-simulate-eviction2",
            json!({"tags": {}, "properties": {
                "priority": "Spot", "evictionPolicy": "Deallocate", "billingProfile": {"maxPrice": -1.0},
            }}),
        ),
    ] {
        let nic = nic(&rig, group, &first, &format!("{name}VMNic")).await;
        let vm = path(group, &format!("Microsoft.Compute/virtualMachines/{name}"));
        machine(&rig, &vm, "eastus", &nic, extra).await;
    }
    let mut explained = IMAGE.to_vec();
    explained.push(SYSTEM_VERSION);
    agree(&rig, "vm-simulate-eviction", &explained).await;
}

#[tokio::test]
async fn a_scale_set_is_made_changed_and_deleted_as_recorded() {
    let group = "asotest-rg-isodfv";
    let rig = rig(group, "westeurope").await;
    network(&rig, group, "asotest-vn-jwrzui", "westeurope", "10.0.0.0/8").await;
    let subnet = path(
        group,
        "Microsoft.Network/virtualNetworks/asotest-vn-jwrzui/subnets/asotest-subnet-xvqhcm",
    );
    let body = json!({"properties": {"addressPrefix": "10.0.0.0/24"}});
    ready(&rig, &subnet, "2020-11-01", body).await;
    agree(&rig, "vmss-create-update-delete-full", &IMAGE).await;
}

#[tokio::test]
async fn instances_of_a_scale_set_are_acted_upon_as_recorded() {
    let group = "cli_test_vmss_create_and_modify000001";
    let rig = rig(group, "westus").await;
    network(&rig, group, "vmss1VNET", "westus", "10.0.0.0/16").await;
    let subnet = path(
        group,
        "Microsoft.Network/virtualNetworks/vmss1VNET/subnets/vmss1Subnet",
    );
    let body = json!({"properties": {"addressPrefix": "10.0.0.0/24"}});
    ready(&rig, &subnet, "2020-11-01", body).await;
    let guard = path(group, "Microsoft.Network/networkSecurityGroups/vmss1NSG");
    ready(&rig, &guard, "2020-11-01", json!({"location": "westus"})).await;
    let body = json!({
        "location": "westus", "tags": {},
        "sku": {"name": "Standard_DS1_v2", "capacity": 5},
        "properties": {
            "upgradePolicy": {"mode": "Manual"},
            "overprovision": true,
            "virtualMachineProfile": {
                "storageProfile": {
                    "imageReference": {
                        "publisher": "microsoft-dsvm", "offer": "dsvm-win-2022",
                        "sku": "winserver-2022", "version": "latest",
                    },
                    "osDisk": {"createOption": "FromImage", "caching": "ReadWrite"},
                },
                "osProfile": {
                    "computerNamePrefix": "vmss1e119", "adminUsername": "myadmin",
                    "adminPassword": "Pass-word-1",
                },
                "securityProfile": {
                    "securityType": "TrustedLaunch",
                    "uefiSettings": {"secureBootEnabled": true, "vTpmEnabled": true},
                },
                "networkProfile": {"networkInterfaceConfigurations": [{
                    "name": "vmss1e119Nic",
                    "properties": {
                        "primary": true, "networkSecurityGroup": {"id": guard},
                        "ipConfigurations": [{
                            "name": "vmss1e119IPConfig", "properties": {"subnet": {"id": subnet}},
                        }],
                    },
                }]},
            },
        },
    });
    let set = path(group, "Microsoft.Compute/virtualMachineScaleSets/vmss1");
    ready(&rig, &set, "2024-07-01", body).await;
    let mut explained = IMAGE.to_vec();
    explained.extend([
        Difference(
            0,
            "*/loadBalancerBackendAddressPools/*",
            "behind a load balancer there",
        ),
        Difference(0, "header retry-after", "the recorder drops it"),
        Difference(
            25,
            "/value/*/provisioningState",
            "two instances are updated there while their set says Succeeded",
        ),
        Difference(50, "/value/*", "there instance 1 went, here the highest"),
        Difference(
            63,
            "header x-ms-ratelimit-remaining-resource",
            "not on an empty list",
        ),
    ]);
    agree(&rig, "vmss-create-scale-instances-2024-07-01", &explained).await;
}
