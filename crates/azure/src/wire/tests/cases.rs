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
        machine
            .image
            .marketplace()
            .map(|image| image.version.as_str()),
        Some("18.04.202401161"),
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
    let image = machine.image.marketplace().expect("a marketplace image");
    assert_eq!(image.publisher, "canonical".into());
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
fn an_interface_has_the_name_that_was_asked_for() {
    let check = |live: &str, asked: &str| assert_eq!(asked_name(live), asked);
    check("demo-p-0-nic-0a1b2c3d", "demo-p-0-nic");
    check("demo-p-0-nic", "demo-p-0-nic");
    check("demo-p-0-nic-0a1b2c3", "demo-p-0-nic-0a1b2c3");
    check("deadbeef", "deadbeef");
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
