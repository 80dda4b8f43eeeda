//! Which recordings the sandbox agrees with, and where it differs.

use serde_json::{Value, json};
use tensorform_emulator::{Faults, Options};

use crate::{
    replay::{Difference, agree, image_of_first_generation},
    rig::{Rig, SUBSCRIPTION},
};

/// What follows from the image, which is another one here.
pub(crate) const IMAGE: [Difference; 2] = [
    Difference(
        0,
        "*/storageProfile/imageReference/*",
        "the image is withdrawn",
    ),
    Difference(
        0,
        "*/storageProfile/osDisk/diskSizeGB",
        "the size of the other image",
    ),
];

pub(crate) const SYSTEM_VERSION: Difference = Difference(
    0,
    "/properties/instanceView/osVersion",
    "the catalogue does not know it",
);

/// A sandbox with a group of this name and region.
pub(crate) async fn rig(group: &str, location: &str) -> Rig {
    let rig = Rig::new().await;
    rig.put(
        &format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}?api-version=2021-04-01"),
        json!({"location": location, "tags": {"cli": "yes"}}),
    )
    .await
    .expect(201);
    rig
}

pub(crate) fn path(group: &str, rest: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/{rest}")
}

/// Makes something and waits for it.
pub(crate) async fn ready(rig: &Rig, path: &str, version: &str, body: Value) {
    let reply = rig
        .put(&format!("{path}?api-version={version}"), body)
        .await;
    assert!([200, 201, 202].contains(&reply.status), "{}", reply.body);
    rig.pass(60);
}

pub(crate) async fn network(rig: &Rig, group: &str, name: &str, location: &str, prefix: &str) {
    ready(
        rig,
        &path(group, &format!("Microsoft.Network/virtualNetworks/{name}")),
        "2020-11-01",
        json!({
            "location": location,
            "properties": {"addressSpace": {"addressPrefixes": [prefix]}},
        }),
    )
    .await;
}

#[tokio::test]
async fn a_group_lives_and_dies_as_recorded() {
    let rig = Rig::new().await;
    agree(&rig, "resource-group", &[]).await;
}

#[tokio::test]
async fn a_group_in_no_region_is_refused_as_recorded() {
    let regions = Difference(0, "/error/message", "the regions of today");
    agree(&Rig::new().await, "resource-group-bad-location", &[regions]).await;
}

#[tokio::test]
async fn an_expired_token_is_refused_as_recorded() {
    let faults = Faults::parse("expired_tokens: [token]", "faults.yaml").expect("rules");
    let rig = Rig::with(|options| Options { faults, ..options }).await;
    let times = Difference(0, "/error/message", "tokens of the sandbox have no end");
    agree(&rig, "expired-token-401", &[times]).await;
}

#[tokio::test]
async fn tags_of_a_group_are_patched_as_recorded() {
    let group = "cli_test_tag_update_by_patch000001";
    let rig = rig(group, "westus").await;
    rig.put(
        &format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}?api-version=2021-04-01"),
        json!({"location": "westus", "tags": {
            "product": "azurecli", "cause": "automation", "test": "test_tag_update_by_patch",
            "date": "2024-02-26T00:00:00Z", "module": "resource",
        }}),
    )
    .await
    .expect(200);
    ready(
        &rig,
        &path(group, "Microsoft.Network/publicIPAddresses/cli_ip000004"),
        "2023-09-01",
        json!({"location": "westus", "sku": {"name": "Standard"}, "properties": {
            "publicIPAllocationMethod": "Static",
        }}),
    )
    .await;
    agree(&rig, "tags-patch", &[]).await;
}

#[tokio::test]
async fn networks_and_subnets_agree() {
    let group = "asotest-rg-wniggk";
    let rig = rig(group, "westus2").await;
    network(&rig, group, "asotest-vn-bxrysz", "westus2", "10.0.0.0/8").await;
    agree(&rig, "vnet-subnet", &[]).await;
}

#[tokio::test]
async fn subnets_of_one_network_wait_for_each_other_as_recorded() {
    let group = "asotest-rg-jcuvfd";
    let rig = rig(group, "westus2").await;
    network(&rig, group, "asotest-vn-qtdznt", "westus2", "10.0.0.0/8").await;
    agree(&rig, "subnets-of-one-vnet-409", &[]).await;
}

#[tokio::test]
async fn a_subnet_waits_for_its_network_as_recorded() {
    let group = "asotest-rg-ichwpb";
    let rig = rig(group, "westcentralus").await;
    network(&rig, group, "samplevnet", "westcentralus", "10.0.0.0/16").await;
    rig.put(
        &format!(
            "{}?api-version=2020-11-01",
            path(group, "Microsoft.Network/virtualNetworks/samplevnet")
        ),
        json!({
            "location": "westcentralus",
            "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/15"]}},
        }),
    )
    .await
    .expect(200);
    agree(
        &rig,
        "subnet-429-retryable-with-retry-after",
        &[
            Difference(
                59,
                "/error/details/0/message",
                "there a peering was written",
            ),
            Difference(
                0,
                "/properties/enableAcceleratedNetworking",
                "left out there, and shown in other recordings",
            ),
            Difference(66, "header azure-async*", "on half of the recorded answers"),
        ],
    )
    .await;
}

#[tokio::test]
async fn addresses_agree() {
    let rig = rig("asotest-rg-cyksbk", "westus2").await;
    agree(&rig, "public-ip", &[]).await;
}

#[tokio::test]
async fn security_groups_and_rules_agree() {
    let rig = rig("asotest-rg-ytfqcd", "westus2").await;
    agree(&rig, "nsg-and-rules", &[]).await;
}

#[tokio::test]
async fn a_gateway_waits_for_its_address_as_recorded() {
    let rig = rig("asotest-rg-fxaygr", "westus2").await;
    agree(&rig, "nat-gateway-429-retryable", &[]).await;
}

#[tokio::test]
async fn disks_agree() {
    let rig = rig("asotest-rg-klgdzo", "westus2").await;
    agree(&rig, "disk-create-delete-2024-03-02", &[]).await;
}

#[tokio::test]
async fn a_vm_is_made_changed_and_deleted_as_recorded() {
    let rig = Rig::new().await;
    agree(&rig, "vm-create-update-delete-full", &IMAGE).await;
}

/// An interface in a network of its own.
pub(crate) async fn interface(rig: &Rig, group: &str, location: &str, name: &str) -> String {
    network(rig, group, "before", location, "10.1.0.0/16").await;
    let subnet = path(
        group,
        "Microsoft.Network/virtualNetworks/before/subnets/one",
    );
    let body = json!({"properties": {"addressPrefix": "10.1.0.0/24"}});
    ready(rig, &subnet, "2020-11-01", body).await;
    let nic = path(
        group,
        &format!("Microsoft.Network/networkInterfaces/{name}"),
    );
    let configuration = json!({"name": "one", "properties": {"subnet": {"id": subnet}}});
    let body = json!({"location": location, "properties": {"ipConfigurations": [configuration]}});
    ready(rig, &nic, "2020-11-01", body).await;
    nic
}

/// A VM with this interface, and whatever else is wanted of it.
pub(crate) async fn machine(rig: &Rig, path: &str, location: &str, nic: &str, extra: Value) {
    let name = path.rsplit('/').next().unwrap_or_default();
    let mut body = json!({
        "location": location,
        "properties": {
            "hardwareProfile": {"vmSize": "Standard_DS1_v2"},
            "storageProfile": {"imageReference": image_of_first_generation()},
            "osProfile": {
                "computerName": name, "adminUsername": "azureuser", "adminPassword": "Pass-word-1",
            },
            "networkProfile": {"networkInterfaces": [{"id": nic}]},
        },
    });
    merge(&mut body, extra);
    ready(rig, path, "2024-07-01", body).await;
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

#[tokio::test]
async fn power_operations_agree() {
    let group = "cli_test_vm_state_mod000001";
    let rig = rig(group, "eastus").await;
    let nic = interface(&rig, group, "eastus", "vm-state-modVMNic").await;
    let vm = path(group, "Microsoft.Compute/virtualMachines/vm-state-mod");
    let tags = json!({"tags": {"firsttag": "1", "secondtag": "2", "thirdtag": ""}});
    machine(&rig, &vm, "eastus", &nic, tags).await;
    let mut explained = IMAGE.to_vec();
    explained.push(SYSTEM_VERSION);
    explained.extend([
        Difference(
            0,
            "*/storageProfile/osDisk/*",
            "there it is an unmanaged disk",
        ),
        Difference(
            0,
            "*/instanceView/disks/0/name",
            "there it is an unmanaged disk",
        ),
        Difference(
            0,
            "*/extension*",
            "there an extension was added, a type not served",
        ),
        Difference(
            0,
            "/resources/*",
            "there an extension was added, a type not served",
        ),
        Difference(
            71,
            "/properties/instanceView/computerName",
            "said once with a domain",
        ),
        Difference(0, "header retry-after", "the recorder drops it"),
        Difference(75, "/etag", "counted by 2, elsewhere by 3"),
        Difference(76, "/etag", "counted by 2, elsewhere by 3"),
        Difference(
            84,
            "header x-ms-ratelimit-remaining-resource",
            "not on an empty list",
        ),
    ]);
    agree(&rig, "vm-power-ops-update-delete-2024-07-01", &explained).await;
}

#[tokio::test]
async fn spot_vms_agree() {
    let group = "cli_test_vm_priority_eviction_billing_000001";
    let rig = rig(group, "westus").await;
    let nic = interface(&rig, group, "westus", "vm1VMNic").await;
    let vm = path(group, "Microsoft.Compute/virtualMachines/vm1");
    let spot = json!({"tags": {}, "properties": {
        "priority": "Low",
        "evictionPolicy": "Deallocate",
        "billingProfile": {"maxPrice": 50.0},
        "storageProfile": {"osDisk": {
            "createOption": "FromImage",
            "name": "vm1_OsDisk_1_cc3a4e77eb744e74a89129b76ed76c6d",
        }},
    }});
    machine(&rig, &vm, "westus", &nic, spot).await;
    let mut explained = IMAGE.to_vec();
    explained.push(SYSTEM_VERSION);
    agree(&rig, "vm-spot-priority-and-billing-2024-07-01", &explained).await;
}

#[tokio::test]
async fn what_is_used_is_not_deleted_as_recorded() {
    let group = "cli_test_delete_dependent_resources000001";
    let location = "southcentralus";
    let rig = rig(group, location).await;
    let network = |rest: &str| path(group, &format!("Microsoft.Network/{rest}"));
    let nic = "networkInterfaces/cli-test-vm000002VMNic";
    let subnet = network("virtualNetworks/cli-test-vm000002VNET/subnets/cli-test-vm000002Subnet");
    let guard = network("networkSecurityGroups/cli-test-vm000002NSG");
    let address = network("publicIPAddresses/cli-test-vm000002PublicIP");
    for (path, body) in [
        (
            network("virtualNetworks/cli-test-vm000002VNET"),
            json!({"location": location, "properties": {
                "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
                "subnets": [{"name": "cli-test-vm000002Subnet", "properties": {"addressPrefix": "10.0.0.0/24"}}],
            }}),
        ),
        (guard.clone(), json!({"location": location})),
        (address.clone(), json!({"location": location})),
        (
            network(nic),
            json!({"location": location, "properties": {
                "networkSecurityGroup": {"id": guard},
                "ipConfigurations": [{"name": "ipconfigcli-test-vm000002", "properties": {
                    "subnet": {"id": subnet}, "publicIPAddress": {"id": address},
                }}],
            }}),
        ),
    ] {
        ready(&rig, &path, "2021-02-01", body).await;
    }
    let vm = path(group, "Microsoft.Compute/virtualMachines/cli-test-vm000002");
    machine(&rig, &vm, location, &network(nic), json!({})).await;
    let stripped = Difference(0, "header retry-after", "the recorder drops it");
    agree(&rig, "delete-order-vm-nic-nsg-ip-vnet", &[stripped]).await;
}
