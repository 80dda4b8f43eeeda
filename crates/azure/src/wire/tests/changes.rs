//! Bodies of writes: new resources, and changes to what is live.

use super::*;

fn sample_machine() -> (Resource, Value) {
    let live = sample!("vm-in-list");
    let mut resource = decode(ResourceKind::VirtualMachine, &live).expect("a resource");
    if let Properties::VirtualMachine(machine) = &mut resource.properties {
        let network =
            ArmId::resource_group("s", "rg").in_group("Microsoft.Network/virtualNetworks", "v");
        machine.network.subnet = Some(network.child("subnets", "nodes"));
    }
    (resource, live)
}

fn changed(
    change: impl FnOnce(&mut VirtualMachine),
    attributes: &[&str],
    live: &Value,
) -> Vec<Change> {
    let (mut resource, _) = sample_machine();
    if let Properties::VirtualMachine(machine) = &mut resource.properties {
        change(machine);
    }
    let attributes: Vec<String> = attributes.iter().map(ToString::to_string).collect();
    patch::changes(&resource, &attributes, live).expect("changes")
}

#[test]
fn the_body_of_a_new_machine_is_what_compute_takes() {
    let (resource, _) = sample_machine();
    let body = encode(&resource).expect("a body");
    assert_eq!(body.pointer("/properties/timeCreated"), None);
    for absent in [
        "priority",
        "evictionPolicy",
        "billingProfile",
        "securityProfile",
    ] {
        assert_eq!(body["properties"].get(absent), None, "{absent}");
    }
    let nic = &body["properties"]["networkProfile"];
    assert_eq!(nic["networkApiVersion"], "2020-11-01");
    assert_eq!(
        nic["networkInterfaceConfigurations"][0]["properties"]["deleteOption"],
        "Delete"
    );
    let key = "/properties/osProfile/linuxConfiguration/ssh/publicKeys/0/path";
    assert_eq!(
        body.pointer(key),
        Some(&json!("/home/vmtest/.ssh/authorized_keys"))
    );
    assert!(!body.to_string().contains("null"), "{body}");
}

#[test]
fn a_key_that_is_not_known_yet_cannot_be_sent() {
    let (mut resource, _) = sample_machine();
    if let Properties::VirtualMachine(machine) = &mut resource.properties {
        machine.ssh_keys = Known::AfterApply;
    }
    assert_eq!(encode(&resource), Err(EncodeError::Unknown("ssh_keys")));
}

#[test]
fn a_resize_sends_the_size_and_nothing_else() {
    let (_, live) = sample_machine();
    let changes = changed(
        |machine| machine.size = "Standard_D4s_v5".into(),
        &["size"],
        &live,
    );
    let body = json!({"properties": {"hardwareProfile": {"vmSize": "Standard_D4s_v5"}}});
    assert_eq!(changes, [Change::Patch(body)]);
}

#[test]
fn a_machine_joins_and_leaves_a_capacity_reservation_group() {
    let (_, live) = sample_machine();
    let group = ArmId::resource_group("s", "rg")
        .in_group("Microsoft.Compute/capacityReservationGroups", "kept");
    let joins = changed(
        |machine| machine.capacity_reservation = Some(group.clone()),
        &["capacity_reservation"],
        &live,
    );
    let body = |id: Value| json!({"properties": {"capacityReservation": {"capacityReservationGroup": {"id": id}}}});
    assert_eq!(joins, [Change::Patch(body(json!(group.as_str())))]);
    let leaves = changed(|_| {}, &["capacity_reservation"], &live);
    assert_eq!(leaves, [Change::Patch(body(Value::Null))]);
}

#[test]
fn a_machine_joins_and_leaves_a_proximity_placement_group() {
    let (_, live) = sample_machine();
    let group = ArmId::resource_group("s", "rg")
        .in_group("Microsoft.Compute/proximityPlacementGroups", "near");
    let attributes = ["proximity_placement_group"];
    let joins = changed(
        |machine| machine.proximity_placement_group = Some(group.clone()),
        &attributes,
        &live,
    );
    let body = |group: Value| json!({"properties": {"proximityPlacementGroup": group}});
    assert_eq!(joins, [Change::Patch(body(json!({"id": group.as_str()})))]);
    let leaves = changed(|_| {}, &attributes, &live);
    assert_eq!(leaves, [Change::Patch(body(json!({})))]);
}

#[test]
fn a_resize_takes_the_disk_controller_along() {
    let (_, live) = sample_machine();
    let changes = changed(
        |machine| {
            machine.size = "Standard_D4s_v6".into();
            machine.disk_controller = Some(DiskController::Nvme);
        },
        &["disk_controller", "size"],
        &live,
    );
    let body = json!({"properties": {
        "hardwareProfile": {"vmSize": "Standard_D4s_v6"},
        "storageProfile": {"diskControllerType": "NVMe"}}});
    assert_eq!(changes, [Change::Patch(body)]);
}

#[test]
fn an_os_disk_on_the_node_is_cached_read_only() {
    let (mut resource, _) = sample_machine();
    if let Properties::VirtualMachine(machine) = &mut resource.properties {
        machine.os_disk.ephemeral = Some(EphemeralPlacement::NvmeDisk);
    }
    let body = encode(&resource).expect("a body");
    let storage = &body["properties"]["storageProfile"];
    assert_eq!(storage.get("diskControllerType"), None, "Azure's choice");
    assert_eq!(
        (
            &storage["osDisk"]["caching"],
            &storage["osDisk"]["diffDiskSettings"]
        ),
        (
            &json!("ReadOnly"),
            &json!({"option": "Local", "placement": "NvmeDisk"})
        )
    );
}

#[test]
fn a_disk_is_attached_beside_those_that_are_there() {
    let (_, mut live) = sample_machine();
    let foreign = json!({"lun": 7, "name": "theirs", "createOption": "Attach", "managedDisk": {"id": "/subscriptions/s/x"}});
    live["properties"]["storageProfile"]["dataDisks"] = json!([foreign, {"lun": 1, "name": "old"}]);
    let disk = ArmId::resource_group("s", "rg").in_group("Microsoft.Compute/disks", "d0");
    let attach = |machine: &mut VirtualMachine| {
        machine.data_disks.insert(
            0,
            DataDiskAttachment {
                disk,
                caching: "ReadOnly".into(),
                delete_with_vm: false,
            },
        );
    };
    let attributes = [
        "data_disks.0.disk",
        "data_disks.0.caching",
        "data_disks.1.disk",
    ];
    let changes = changed(attach, &attributes, &live);
    let [Change::Patch(body)] = changes.as_slice() else {
        panic!("one patch: {changes:?}");
    };
    let disks = body["properties"]["storageProfile"]["dataDisks"]
        .as_array()
        .expect("a list");
    let luns: Vec<u64> = disks
        .iter()
        .filter_map(|disk| disk["lun"].as_u64())
        .collect();
    assert_eq!(luns, [7, 0], "7 is somebody else's, 1 was to go");
    assert_eq!(disks[0], foreign);
}

#[test]
fn an_os_disk_is_changed_at_its_own_resource() {
    let (_, live) = sample_machine();
    let grow = |machine: &mut VirtualMachine| {
        machine.os_disk.size_gb = 512;
        machine.size = "Standard_D4s_v5".into();
    };
    let changes = changed(grow, &["os_disk.size_gb", "size"], &live);
    let [Change::PatchDisk(disk, body), Change::Patch(_)] = changes.as_slice() else {
        panic!("two writes: {changes:?}");
    };
    assert_eq!(disk.name(), "vma0_disk1_e87c3503b6ca44fab081e3eb413e3a47");
    assert_eq!(*body, json!({"properties": {"diskSizeGB": 512}}));
}

#[test]
fn what_cannot_change_in_place_is_refused_before_anything_is_sent() {
    let (resource, live) = sample_machine();
    for attribute in [
        "image.version",
        "zones",
        "ssh_keys",
        "priority.kind",
        "location",
    ] {
        let error = patch::changes(&resource, &[attribute.to_owned()], &live).expect_err(attribute);
        assert_eq!(error, EncodeError::Unchangeable(attribute.to_owned()));
    }
}

#[test]
fn writing_over_a_machine_keeps_its_interface_its_disk_and_foreign_tags() {
    let (mut resource, mut live) = sample_machine();
    live["tags"] = json!({"owner": "ops", "team": "x"});
    live["identity"] = json!({"type": "SystemAssigned", "principalId": "p", "tenantId": "t"});
    resource.tags.set("team", "ml");
    let body = patch::put_body(&resource, &live).expect("a body");
    let network = &body["properties"]["networkProfile"];
    assert_eq!(network.get("networkInterfaceConfigurations"), None);
    let nic = live
        .pointer("/properties/networkProfile/networkInterfaces/0/id")
        .expect("an id");
    assert_eq!(network["networkInterfaces"][0]["id"], *nic);
    assert_eq!(
        network["networkInterfaces"][0]["properties"]["deleteOption"],
        "Delete"
    );
    assert!(
        body.pointer("/properties/storageProfile/osDisk/managedDisk/id")
            .is_some()
    );
    assert_eq!(body["tags"], json!({"owner": "ops", "team": "ml"}));
    assert_eq!(body["identity"], json!({"type": "SystemAssigned"}));
}

#[test]
fn writing_a_network_carries_its_subnets() {
    let live = sample!("vnet");
    let mut resource = decode(ResourceKind::VirtualNetwork, &live).expect("a resource");
    if let Properties::VirtualNetwork(network) = &mut resource.properties {
        network.address_space = BTreeSet::from(["10.0.0.0/8".to_owned()]);
    }
    let body = patch::put_body(&resource, &live).expect("a body");
    let subnets = body["properties"]["subnets"].as_array().expect("subnets");
    assert_eq!(subnets.len(), 1);
    assert_eq!(subnets[0]["properties"]["addressPrefix"], "10.0.0.0/24");
    assert_eq!(
        body["properties"]["addressSpace"]["addressPrefixes"],
        json!(["10.0.0.0/8"])
    );
    for read_only in ["provisioningState", "etag", "resourceGuid"] {
        assert!(!body.to_string().contains(read_only), "{read_only}");
    }
}

#[test]
fn a_changed_rule_leaves_the_others_alone() {
    let rule = |name: &str, priority: u32| {
        json!({"name": name, "etag": "e", "properties": {"provisioningState": "Succeeded", "priority": priority,
            "direction": "Inbound", "access": "Allow", "protocol": "Tcp", "sourcePortRange": "*",
            "sourceAddressPrefix": "10.0.0.0/8", "destinationAddressPrefix": "*", "destinationPortRange": "22"}})
    };
    let live = json!({"location": "eastus", "properties": {"securityRules":
        [rule("ssh", 100), rule("a.b", 200), rule("theirs", 300)], "subnets": [{"id": "x"}]}});
    let mut resource = decode(ResourceKind::NetworkSecurityGroup, &live).expect("a resource");
    if let Properties::NetworkSecurityGroup(group) = &mut resource.properties {
        group.rules.remove("theirs");
        group.rules.remove("a.b");
        group.rules.get_mut("ssh").expect("a rule").priority = 110;
    }
    let attributes = [
        "rules.ssh.priority".to_owned(),
        "rules.a.b.access".to_owned(),
    ];
    let changes = patch::changes(&resource, &attributes, &live).expect("changes");
    let [Change::Put(body)] = changes.as_slice() else {
        panic!("one write: {changes:?}");
    };
    let rules = body["properties"]["securityRules"]
        .as_array()
        .expect("rules");
    let priorities: Vec<(&str, u64)> = rules
        .iter()
        .filter_map(|rule| {
            Some((
                rule["name"].as_str()?,
                rule["properties"]["priority"].as_u64()?,
            ))
        })
        .collect();
    assert_eq!(priorities, [("theirs", 300), ("ssh", 110)]);
    assert_eq!(body["properties"].get("subnets"), None);
}

#[test]
fn a_subnet_lets_go_of_a_gateway() {
    let gateway = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/natGateways/n";
    let live = json!({"name": "nodes", "properties": {"addressPrefixes": ["10.0.0.0/24"],
        "natGateway": {"id": gateway}, "delegations": [{"name": "d"}]}});
    let mut resource = decode(ResourceKind::Subnet, &live).expect("a resource");
    if let Properties::Subnet(subnet) = &mut resource.properties {
        subnet.nat_gateway = None;
    }
    let changes = patch::changes(&resource, &["nat_gateway".to_owned()], &live).expect("changes");
    let [Change::Put(body)] = changes.as_slice() else {
        panic!("one write: {changes:?}");
    };
    assert_eq!(body["properties"].get("natGateway"), None);
    assert_eq!(body["properties"]["delegations"], json!([{"name": "d"}]));
}

#[test]
fn disks_and_keys_have_a_patch_of_their_own() {
    let disk = Resource {
        tags: Tags::default(),
        properties: Properties::Disk(Disk {
            location: Region::new("eastus"),
            zones: Vec::new(),
            disk_type: DiskType::Premium,
            size_gb: 2048,
        }),
    };
    let changes = patch::changes(&disk, &["size_gb".to_owned()], &json!({})).expect("changes");
    assert_eq!(
        changes,
        [Change::Patch(json!({"properties": {"diskSizeGB": 2048}}))]
    );
    assert!(patch::changes(&disk, &["zones".to_owned()], &json!({})).is_err());
    let name = CaseInsensitive::from("Tensorform-Run");
    assert!(super::super::is_run_tag(name.as_str()));
}
