//! Scale sets there and back, as Azure answers them, and what a change of one is.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    ids::ArmId,
    live::{Power, Provisioning},
    resource::{
        ImageReference, InstanceDataDisk, InstanceInterface, InstanceOsDisk, Known,
        MarketplaceImage, Orchestration, Properties, Resource, ResourceKind, ScaleSet, Security,
        System, Tags, VmPriority,
    },
    spec::{DiskController, DiskType, EphemeralPlacement, Eviction},
    units::{CaseInsensitive, Region},
};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{super::patch, changes, instance_of_set};
use crate::wire::{EncodeError, decode, encode, patch::Change};

macro_rules! sample {
    ($name:literal) => {{
        let text = include_str!(concat!("../samples/", $name, ".json"));
        let sample: Value = serde_json::from_str(text).expect("a sample");
        sample["body"].clone()
    }};
}

fn image() -> ImageReference {
    ImageReference::Marketplace(MarketplaceImage {
        publisher: "microsoft-dsvm".into(),
        offer: "ubuntu-hpc".into(),
        sku: "2204".into(),
        version: "22.04.2".to_owned(),
    })
}

fn set(orchestration: Orchestration) -> ScaleSet {
    let is_uniform = orchestration == Orchestration::Uniform;
    let subnet = ArmId::resource_group("s", "rg")
        .in_group("Microsoft.Network/virtualNetworks", "demo-vnet")
        .child("subnets", "nodes");
    ScaleSet {
        location: Region::new("eastus"),
        zones: vec!["1".to_owned()],
        size: "Standard_ND96isr_H100_v5".into(),
        capacity: 4,
        orchestration,
        single_placement_group: is_uniform,
        overprovision: false,
        upgrade_policy: is_uniform.then(|| CaseInsensitive::from("Manual")),
        fault_domains: 1,
        os: System::Linux,
        image: image(),
        plan: None,
        priority: if is_uniform {
            VmPriority::Regular
        } else {
            VmPriority::Spot {
                eviction: Eviction::Delete,
                max_price: Decimal::new(125, 2),
            }
        },
        capacity_reservation: None,
        proximity_placement_group: None,
        computer_name_prefix: "demo-train".to_owned(),
        admin_user: "azureuser".to_owned(),
        ssh_keys: Known::Value(BTreeSet::from(["ssh-ed25519 AAAA".to_owned()])),
        os_disk: InstanceOsDisk {
            size_gb: 256,
            disk_type: DiskType::Premium,
            ephemeral: (!is_uniform).then_some(EphemeralPlacement::CacheDisk),
        },
        disk_controller: (!is_uniform).then_some(DiskController::Nvme),
        data_disks: BTreeMap::from([(
            3,
            InstanceDataDisk {
                size_gb: 1_024,
                disk_type: DiskType::PremiumV2,
                caching: "None".into(),
            },
        )]),
        network: InstanceInterface {
            name: "demo-train-nic".to_owned(),
            subnet,
            accelerated: true,
            public_address: false,
        },
        security: Security::TrustedLaunch {
            secure_boot: false,
            vtpm: true,
        },
        identities: BTreeSet::new(),
        reports_readiness: true,
    }
}

fn resource(set: ScaleSet) -> Resource {
    Resource {
        tags: Tags::default(),
        properties: Properties::VirtualMachineScaleSet(Box::new(set)),
    }
}

fn decoded(body: &Value) -> ScaleSet {
    let resource = decode(ResourceKind::VirtualMachineScaleSet, body).expect("a scale set");
    resource.scale_set().expect("a scale set").clone()
}

#[test]
fn a_set_is_read_as_it_was_written() {
    for orchestration in [Orchestration::Uniform, Orchestration::Flexible] {
        let set = set(orchestration);
        let body = encode(&resource(set.clone())).expect("a body");
        assert_eq!(decoded(&body), set);
    }
}

#[test]
fn an_infiniband_set_says_what_keeps_it_together() {
    let body = encode(&resource(set(Orchestration::Uniform))).expect("a body");
    let properties = &body["properties"];
    assert_eq!(
        body["sku"],
        json!({"name": "Standard_ND96isr_H100_v5", "tier": "Standard", "capacity": 4})
    );
    assert_eq!(properties["orchestrationMode"], "Uniform");
    assert_eq!(properties["singlePlacementGroup"], true);
    assert_eq!(properties["overprovision"], false);
    assert_eq!(properties["platformFaultDomainCount"], 1);
    assert_eq!(properties["upgradePolicy"], json!({"mode": "Manual"}));
    let network = &properties["virtualMachineProfile"]["networkProfile"];
    assert_eq!(network.get("networkApiVersion"), None);
    // The typed model writes it as `null`, which Compute refuses.
    assert_eq!(properties.get("timeCreated"), None);
    assert_eq!(properties["virtualMachineProfile"].get("timeCreated"), None);
}

#[test]
fn a_flexible_set_says_nothing_that_it_does_not_know() {
    let body = encode(&resource(set(Orchestration::Flexible))).expect("a body");
    let properties = &body["properties"];
    assert_eq!(properties["orchestrationMode"], "Flexible");
    assert_eq!(properties["singlePlacementGroup"], false);
    assert_eq!(properties.get("overprovision"), None);
    assert_eq!(properties.get("upgradePolicy"), None);
    let profile = &properties["virtualMachineProfile"];
    assert_eq!(profile["networkProfile"]["networkApiVersion"], "2020-11-01");
    assert_eq!(
        profile["storageProfile"]["osDisk"]["deleteOption"],
        "Delete"
    );
    assert_eq!(profile["priority"], "Spot");
}

#[test]
fn what_azure_adds_to_a_set_is_no_difference() {
    let set = set(Orchestration::Flexible);
    let mut body = encode(&resource(set.clone())).expect("a body");
    // Recorded: Flexible sets answer a policy that nobody gave, and words in other case.
    body["properties"]["upgradePolicy"] = json!({"mode": "Manual"});
    body["properties"]["orchestrationMode"] = json!("flexible");
    body["properties"]["constrainedMaximumCapacity"] = json!(false);
    body["properties"]["virtualMachineProfile"]["billingProfile"]["maxPrice"] = json!("1.250");
    body["properties"]["virtualMachineProfile"]["timeCreated"] = json!("2024-08-26T09:42:42Z");
    assert_eq!(decoded(&body), set);
}

#[test]
fn recorded_sets_and_instances_are_read() {
    let set = decoded(&sample!("scale-set-uniform"));
    assert_eq!(
        (set.capacity, set.orchestration, set.fault_domains),
        (2, Orchestration::Uniform, 5)
    );
    assert!(set.single_placement_group && set.overprovision);
    assert_eq!(set.upgrade_policy, Some("Manual".into()));
    let instances = sample!("scale-set-instances");
    let all = instances["value"].as_array().expect("a list");
    let first = instance_of_set(&all[0]).expect("an instance");
    assert_eq!((first.id.as_str(), first.latest_model), ("1", Some(false)));
    assert_eq!(first.state.provisioning, Provisioning::Succeeded);
    assert_eq!(first.state.power, Some(Power::Running));
    assert_eq!(first.state.agent_ready, Some(true));
    assert!(!first.has_failed() && !first.is_away());
}

#[test]
fn one_patch_changes_a_set() {
    let attributes = ["capacity", "image.version", "priority.max_price"].map(str::to_owned);
    let changed =
        changes(&set(Orchestration::Flexible), &attributes, &Value::Null).expect("a change");
    let [Change::Patch(body)] = changed.as_slice() else {
        panic!("one PATCH: {changed:?}");
    };
    assert_eq!(
        body,
        &json!({
            "sku": {"name": "Standard_ND96isr_H100_v5", "tier": "Standard", "capacity": 4},
            "properties": {"virtualMachineProfile": {
                "storageProfile": {"imageReference": {
                    "publisher": "microsoft-dsvm", "offer": "ubuntu-hpc", "sku": "2204",
                    "version": "22.04.2",
                }},
                "billingProfile": {"maxPrice": 1.25},
            }},
        })
    );
    let refused = changes(
        &set(Orchestration::Uniform),
        &["size".to_owned()],
        &Value::Null,
    );
    assert_eq!(refused, Err(EncodeError::Unchangeable("size".to_owned())));
}

#[test]
fn a_set_that_is_written_again_keeps_identity_and_foreign_tags() {
    let after = resource(set(Orchestration::Uniform));
    let mut live = encode(&after).expect("a body");
    live["identity"] = json!({"type": "SystemAssigned", "principalId": "p", "tenantId": "t"});
    live["tags"] = json!({"owner": "somebody"});
    let body = patch::put_body(&after, &live).expect("a body");
    assert_eq!(body["identity"], json!({"type": "SystemAssigned"}));
    assert_eq!(body["tags"], json!({"owner": "somebody"}));
    assert_eq!(body["sku"]["capacity"], 4);
}

#[test]
fn what_a_set_cannot_do_without_is_missed() {
    let whole = encode(&resource(set(Orchestration::Uniform))).expect("a body");
    for place in [
        "/sku/name",
        "/sku/capacity",
        "/properties/virtualMachineProfile",
        "/properties/platformFaultDomainCount",
    ] {
        let mut body = whole.clone();
        let (parent, member) = place.rsplit_once('/').expect("a place");
        let parent = body.pointer_mut(parent).and_then(Value::as_object_mut);
        parent.expect("a member").remove(member);
        let read = decode(ResourceKind::VirtualMachineScaleSet, &body);
        let message = read.expect_err(place).to_string();
        let name = place.trim_start_matches('/').replace('/', ".");
        assert_eq!(message, format!("`{name}` is missing"));
    }
}
