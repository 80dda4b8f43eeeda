//! Recorded answers, and changes to what is live.

use super::*;

fn decoded(kind: ResourceKind, body: &Value) -> Resource {
    decode(kind, body).expect("a resource")
}

fn decoded_machine(body: &Value) -> VirtualMachine {
    let Properties::VirtualMachine(machine) =
        decoded(ResourceKind::VirtualMachine, body).properties
    else {
        panic!("a machine");
    };
    *machine
}

#[test]
fn a_recorded_machine_is_read() {
    let machine = decoded_machine(&sample!("vm-in-list"));
    assert_eq!(machine.size, "standard_ds1_V2".into());
    assert_eq!(
        machine.image.version, "18.04.202401161",
        "the exact one, not `latest`"
    );
    assert_eq!(machine.priority, VmPriority::Regular);
    assert_eq!(machine.admin_user, "vmtest");
    assert_eq!(machine.os_disk.size_gb, 30);
    assert!(!machine.os_disk.delete_with_vm);
    assert_eq!(machine.network.name, "vmaVMNic0");
    assert!(machine.network.delete_with_vm);
    assert_eq!(
        (machine.network.subnet, machine.security),
        (None, Security::Standard)
    );
}

#[test]
fn other_recorded_machines_are_read() {
    let machine = decoded_machine(&sample!("vm-trusted-launch"));
    let expected = Security::TrustedLaunch {
        secure_boot: true,
        vtpm: true,
    };
    assert_eq!(machine.security, expected);
    assert_eq!(machine.image.publisher, "canonical".into());
    let machine = decoded_machine(&sample!("vm-low-priority"));
    let expected = VmPriority::Spot {
        eviction: Eviction::Deallocate,
        max_price: Decimal::from(50),
    };
    assert_eq!(machine.priority, expected);
    let machine = decoded_machine(&sample!("vm-password"));
    assert_eq!(machine.ssh_keys, Known::Value(BTreeSet::new()));
    assert!(!machine.network.delete_with_vm);
}

#[test]
fn other_recorded_kinds_are_read() {
    let network = decoded(ResourceKind::VirtualNetwork, &sample!("vnet"));
    let expected = Properties::VirtualNetwork(VirtualNetwork {
        location: Region::new("westus"),
        address_space: BTreeSet::from(["10.0.0.0/16".to_owned()]),
    });
    assert_eq!(network.properties, expected);
    let subnet = decoded(ResourceKind::Subnet, &sample!("subnet"));
    let expected = Properties::Subnet(Subnet {
        address_prefix: "10.42.3.0/24".to_owned(),
        default_outbound_access: true,
        network_security_group: None,
        nat_gateway: None,
    });
    assert_eq!(subnet.properties, expected);
    let group = decoded(ResourceKind::NetworkSecurityGroup, &sample!("nsg"));
    let expected = Properties::NetworkSecurityGroup(NetworkSecurityGroup {
        location: Region::new("westus"),
        rules: BTreeMap::new(),
    });
    assert_eq!(group.properties, expected, "default rules do not count");
    let Properties::NatGateway(gateway) =
        decoded(ResourceKind::NatGateway, &sample!("nat-gateway")).properties
    else {
        panic!("a gateway");
    };
    assert_eq!(
        (gateway.public_ips.len(), gateway.idle_timeout_minutes),
        (1, 4)
    );
    let Properties::PublicIpAddress(address) =
        decoded(ResourceKind::PublicIpAddress, &sample!("public-ip")).properties
    else {
        panic!("an address");
    };
    assert_eq!(
        (address.sku, address.allocation),
        ("standard".into(), "static".into())
    );
    let Properties::SshPublicKey(key) =
        decoded(ResourceKind::SshPublicKey, &sample!("ssh-key")).properties
    else {
        panic!("a key");
    };
    assert_eq!(
        key.public_key,
        Known::Value("ssh-rsa AAAAREDACTED".to_owned())
    );
    let group = decoded(ResourceKind::ResourceGroup, &sample!("group"));
    assert_eq!(group.tags.get("createdat"), Some("2001-02-03T04:05:06Z"));
}

#[test]
fn what_cannot_be_expressed_is_an_error() {
    let error = decode(ResourceKind::Disk, &sample!("disk-zrs")).expect_err("a type of its own");
    assert_eq!(
        error.to_string(),
        "`sku.name` is `Premium_ZRS`, which this version cannot express"
    );
    let check = |place: &str, value: Value| {
        let mut body = sample!("vm-in-list");
        let (parent, member) = place.rsplit_once('/').expect("a place");
        body.pointer_mut(parent).expect("a parent")[member] = value;
        let error = decode(ResourceKind::VirtualMachine, &body).expect_err(place);
        assert!(matches!(error, DecodeError::Unsupported { .. }), "{error}");
    };
    check("/properties/priority", json!("Reserved"));
    check(
        "/properties/securityProfile",
        json!({"securityType": "ConfidentialVM"}),
    );
    let error = decode(ResourceKind::VirtualMachine, &json!({"location": "x"}));
    assert_eq!(
        error,
        Err(DecodeError::Missing(
            "properties.hardwareProfile.vmSize".to_owned()
        ))
    );
    for nonsense in [json!(null), json!([]), json!(1), json!({"properties": []})] {
        for kind in ResourceKind::ALL {
            decode(*kind, &nonsense).expect_err("nothing to read");
        }
    }
}

#[test]
fn a_deallocated_machine_takes_from_its_disk_what_it_leaves_out() {
    let mut body = sample!("vm-in-list");
    let disk = body
        .pointer_mut("/properties/storageProfile/osDisk")
        .expect("a disk");
    disk.as_object_mut()
        .expect("an object")
        .remove("diskSizeGB");
    disk["managedDisk"]
        .as_object_mut()
        .expect("an object")
        .remove("storageAccountType");
    let id = disk["managedDisk"]["id"]
        .as_str()
        .expect("an id")
        .to_uppercase();
    assert!(decode(ResourceKind::VirtualMachine, &body).is_err());
    let mut disks = VmDisks::default();
    disks.add(
        &json!({"id": id.replace("/SUBSCRIPTIONS/", "/subscriptions/"),
        "sku": {"name": "StandardSSD_LRS"}, "properties": {"diskSizeGB": 64}}),
    );
    let resource = decode_with(ResourceKind::VirtualMachine, &body, &disks).expect("a machine");
    let Properties::VirtualMachine(machine) = resource.properties else {
        panic!("a machine");
    };
    assert_eq!(
        (machine.os_disk.size_gb, machine.os_disk.disk_type),
        (64, DiskType::StandardSsd)
    );
}

#[test]
fn a_rule_that_says_more_than_ours_differs_from_ours() {
    let rule = |extra: Value| {
        let mut properties = json!({"priority": 100, "direction": "Inbound", "access": "Allow",
            "protocol": "Tcp", "sourcePortRange": "*", "sourceAddressPrefix": "10.0.0.0/8",
            "destinationAddressPrefix": "*", "destinationPortRange": "22", "destinationPortRanges": []});
        for (name, value) in extra.as_object().expect("an object") {
            properties[name] = value.clone();
        }
        let body = json!({"location": "x", "properties": {"securityRules": [{"name": "a", "properties": properties}]}});
        decoded(ResourceKind::NetworkSecurityGroup, &body)
    };
    let plain = rule(json!({}));
    for extra in [
        json!({"destinationAddressPrefix": "10.1.0.0/16"}),
        json!({"sourcePortRange": "1000-2000"}),
        json!({"destinationApplicationSecurityGroups": [{"id": "/subscriptions/s/x"}]}),
        json!({"sourceAddressPrefixes": ["10.2.0.0/16"]}),
    ] {
        assert_ne!(rule(extra.clone()), plain, "{extra}");
    }
}

#[test]
fn states_are_read() {
    let state = state::of_body(&sample!("vm-with-view"));
    assert_eq!(state.provisioning, Provisioning::Succeeded);
    assert_eq!(
        (state.power, state.agent_ready),
        (Some(Power::Running), Some(false))
    );
    let state = state::of_body(&sample!("vm-low-priority"));
    assert_eq!((state.agent_ready, state.evicted), (Some(true), false));
    let failed = json!({"properties": {"provisioningState": "failed", "instanceView": {"statuses": [
        {"code": "ProvisioningState/failed/AllocationFailed", "message": "no room"}]}}});
    let state = state::of_body(&failed);
    assert_eq!(
        (state.provisioning, state.power),
        (Provisioning::Failed, None)
    );
    assert_eq!(state.message.as_deref(), Some("AllocationFailed: no room"));
}

#[test]
fn a_spot_machine_is_evicted_unless_somebody_stopped_it() {
    let body = |priority: &str, tags: Value| {
        json!({"tags": tags, "properties": {"priority": priority, "instanceView":
            {"statuses": [{"code": "PowerState/deallocated"}]}}})
    };
    let evicted = |body: Value| state::of_body(&body).evicted;
    assert!(evicted(body("Spot", json!({}))));
    assert!(evicted(body("Low", json!({}))));
    assert!(!evicted(body(
        "Spot",
        json!({"Tensorform-Power": "stopped"})
    )));
    assert!(!evicted(body("Regular", json!({}))));
}

fn sample_machine() -> (Resource, Value) {
    let live = sample!("vm-in-list");
    let mut resource = decoded(ResourceKind::VirtualMachine, &live);
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
    let mut resource = decoded(ResourceKind::VirtualNetwork, &live);
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
    let mut resource = decoded(ResourceKind::NetworkSecurityGroup, &live);
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
    let mut resource = decoded(ResourceKind::Subnet, &live);
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
