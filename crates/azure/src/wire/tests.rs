//! Every kind there and back, and what real answers look like.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    ids::ArmId,
    live::{Power, Provisioning},
    resource::{
        BastionHost, DataDiskAttachment, Disk, ImageReference, Known, MarketplaceImage, NatGateway,
        NetworkInterface, NetworkSecurityGroup, OsDisk, Properties, ProximityPlacementGroup,
        PublicIpAddress, Resource, ResourceGroup, ResourceKind, Security, SecurityRule,
        SshPublicKey, Subnet, System, Tags, VirtualMachine, VirtualNetwork, VmPriority,
    },
    spec::{DiskController, DiskType, EphemeralPlacement, Eviction},
    units::{CaseInsensitive, Region, SizeName},
};
use proptest::prelude::*;
use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    DecodeError, EncodeError, VmDisks, decode, decode_with, encode, patch, patch::Change, state,
    virtual_machine::asked_name,
};

/// A recorded answer; each file names where it comes from.
macro_rules! sample {
    ($name:literal) => {{
        let text = include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/src/wire/samples/",
            $name,
            ".json"
        ));
        let sample: Value = serde_json::from_str(text).expect("a sample");
        sample["body"].clone()
    }};
}

fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9-]{0,14}[a-z0-9]"
}

fn id(kind: &'static str) -> impl Strategy<Value = ArmId> {
    (name(), name())
        .prop_map(move |(group, name)| ArmId::resource_group("s", &group).in_group(kind, &name))
}

fn region() -> impl Strategy<Value = Region> {
    prop_oneof![Just("eastus"), Just("koreacentral"), Just("West US 2")].prop_map(Region::new)
}

fn cidr() -> impl Strategy<Value = String> {
    (0_u8..=255, 0_u8..=255, 8_u8..=30).prop_map(|(a, b, bits)| format!("10.{a}.{b}.0/{bits}"))
}

fn disk_type() -> impl Strategy<Value = DiskType> {
    prop_oneof![
        Just(DiskType::Premium),
        Just(DiskType::PremiumV2),
        Just(DiskType::StandardSsd),
        Just(DiskType::StandardHdd),
        Just(DiskType::Ultra),
    ]
}

fn zones() -> impl Strategy<Value = Vec<String>> {
    proptest::option::of("[1-3]").prop_map(|zone| zone.into_iter().collect())
}

fn rule() -> impl Strategy<Value = SecurityRule> {
    (
        100_u32..=4096,
        prop_oneof![Just("Inbound"), Just("Outbound")],
        prop_oneof![Just("Allow"), Just("Deny")],
        prop_oneof![Just("Tcp"), Just("*")],
        proptest::collection::btree_set(cidr(), 1..4),
        proptest::collection::btree_set((1_u16..9000).prop_map(|port| port.to_string()), 1..4),
    )
        .prop_map(
            |(priority, direction, access, protocol, sources, ports)| SecurityRule {
                priority,
                direction: direction.into(),
                access: access.into(),
                protocol: protocol.into(),
                sources,
                ports,
            },
        )
}

fn keys() -> impl Strategy<Value = BTreeSet<String>> {
    proptest::collection::btree_set("ssh-ed25519 [A-Za-z0-9+/]{20}", 1..3)
}

fn priority() -> impl Strategy<Value = VmPriority> {
    let price = prop_oneof![
        Just(Decimal::NEGATIVE_ONE),
        (1_i64..10_000_000).prop_map(|price| Decimal::new(price, 5).normalize()),
    ];
    let eviction = prop_oneof![Just(Eviction::Delete), Just(Eviction::Deallocate)];
    prop_oneof![
        Just(VmPriority::Regular),
        (eviction, price).prop_map(|(eviction, max_price)| VmPriority::Spot {
            eviction,
            max_price
        }),
    ]
}

fn os_disk() -> impl Strategy<Value = OsDisk> {
    let placement = proptest::sample::select(&EphemeralPlacement::ALL);
    let ephemeral = proptest::option::of(placement);
    (name(), 1_u32..4096, disk_type(), any::<bool>(), ephemeral).prop_map(
        |(name, size_gb, disk_type, delete_with_vm, ephemeral)| OsDisk {
            name,
            size_gb,
            disk_type,
            delete_with_vm,
            ephemeral,
        },
    )
}

fn controller() -> impl Strategy<Value = Option<DiskController>> {
    proptest::option::of(proptest::sample::select(&DiskController::ALL))
}

fn data_disks() -> impl Strategy<Value = BTreeMap<u32, DataDiskAttachment>> {
    let caching = prop_oneof![Just("None"), Just("ReadOnly"), Just("ReadWrite")];
    let disk = (id("Microsoft.Compute/disks"), caching, any::<bool>()).prop_map(
        |(disk, caching, delete_with_vm)| DataDiskAttachment {
            disk,
            caching: caching.into(),
            delete_with_vm,
        },
    );
    proptest::collection::btree_map(0_u32..64, disk, 0..4)
}

fn interface() -> impl Strategy<Value = NetworkInterface> {
    let subnet = id("Microsoft.Network/virtualNetworks")
        .prop_map(|network| network.child("subnets", "nodes"));
    (
        name(),
        subnet,
        proptest::option::of(any::<bool>()),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(name, subnet, accelerated, delete_with_vm, public_address)| NetworkInterface {
                name,
                subnet: Some(subnet),
                accelerated,
                delete_with_vm,
                public_address,
            },
        )
}

fn security() -> impl Strategy<Value = Security> {
    prop_oneof![
        Just(Security::Standard),
        (any::<bool>(), any::<bool>())
            .prop_map(|(secure_boot, vtpm)| Security::TrustedLaunch { secure_boot, vtpm }),
    ]
}

fn machine() -> impl Strategy<Value = VirtualMachine> {
    let reserved = proptest::option::of(id("Microsoft.Compute/capacityReservationGroups"));
    let near = proptest::option::of(id("Microsoft.Compute/proximityPlacementGroups"));
    let hardware = (region(), zones(), priority(), (reserved, near), security());
    let guest = (name(), name(), keys());
    let parts = (os_disk(), controller(), data_disks(), interface());
    (hardware, guest, parts).prop_map(
        |(
            (
                location,
                zones,
                priority,
                (capacity_reservation, proximity_placement_group),
                security,
            ),
            (computer_name, admin_user, keys),
            (os_disk, disk_controller, data_disks, network),
        )| {
            VirtualMachine {
                location,
                zones,
                size: SizeName::from("Standard_ND96isr_H100_v5"),
                image: ImageReference::Marketplace(MarketplaceImage {
                    publisher: "microsoft-dsvm".into(),
                    offer: "ubuntu-hpc".into(),
                    sku: "2204".into(),
                    version: "22.04.2026010100".to_owned(),
                }),
                plan: None,
                os: System::Linux,
                password: None,
                priority,
                capacity_reservation,
                proximity_placement_group,
                computer_name,
                admin_user,
                ssh_keys: Known::Value(keys),
                os_disk,
                disk_controller,
                data_disks,
                network,
                security,
                identities: std::collections::BTreeSet::new(),
                reports_readiness: false,
            }
        },
    )
}

fn network() -> impl Strategy<Value = Properties> {
    (region(), proptest::collection::btree_set(cidr(), 1..3)).prop_map(
        |(location, address_space)| {
            Properties::VirtualNetwork(VirtualNetwork {
                location,
                address_space,
            })
        },
    )
}

fn subnet() -> impl Strategy<Value = Properties> {
    let group = proptest::option::of(id("Microsoft.Network/networkSecurityGroups"));
    let gateway = proptest::option::of(id("Microsoft.Network/natGateways"));
    (cidr(), any::<bool>(), group, gateway).prop_map(
        |(address_prefix, default_outbound_access, network_security_group, nat_gateway)| {
            Properties::Subnet(Subnet {
                address_prefix,
                default_outbound_access,
                network_security_group,
                nat_gateway,
            })
        },
    )
}

fn security_group() -> impl Strategy<Value = Properties> {
    let rules = proptest::collection::btree_map(name(), rule(), 0..4);
    (region(), rules).prop_map(|(location, rules)| {
        Properties::NetworkSecurityGroup(NetworkSecurityGroup { location, rules })
    })
}

fn gateway() -> impl Strategy<Value = Properties> {
    let addresses =
        proptest::collection::btree_set(id("Microsoft.Network/publicIPAddresses"), 0..3);
    (region(), addresses, 4_u32..=120).prop_map(|(location, public_ips, idle_timeout_minutes)| {
        Properties::NatGateway(NatGateway {
            location,
            public_ips,
            idle_timeout_minutes,
        })
    })
}

fn address() -> impl Strategy<Value = Properties> {
    let allocation = prop_oneof![Just("Static"), Just("Dynamic")];
    (region(), allocation).prop_map(|(location, allocation)| {
        Properties::PublicIpAddress(PublicIpAddress {
            location,
            sku: "Standard".into(),
            allocation: allocation.into(),
        })
    })
}

fn bastion() -> impl Strategy<Value = Properties> {
    let sku = prop_oneof![Just("Basic"), Just("Standard")];
    let network = id("Microsoft.Network/virtualNetworks");
    let address = id("Microsoft.Network/publicIPAddresses");
    (region(), sku, network, address, any::<bool>()).prop_map(
        |(location, sku, network, public_ip, tunneling)| {
            Properties::BastionHost(BastionHost {
                location,
                sku: sku.into(),
                subnet: network.child("subnets", "AzureBastionSubnet"),
                public_ip,
                tunneling,
            })
        },
    )
}

fn key() -> impl Strategy<Value = Properties> {
    (region(), keys()).prop_map(|(location, keys)| {
        let public_key = Known::Value(keys.into_iter().next().unwrap_or_default());
        Properties::SshPublicKey(SshPublicKey {
            location,
            public_key,
        })
    })
}

fn proximity_group() -> impl Strategy<Value = Properties> {
    region().prop_map(|location| {
        Properties::ProximityPlacementGroup(ProximityPlacementGroup { location })
    })
}

fn disk() -> impl Strategy<Value = Properties> {
    (region(), zones(), disk_type(), 1_u32..32768).prop_map(
        |(location, zones, disk_type, size_gb)| {
            Properties::Disk(Disk {
                location,
                zones,
                disk_type,
                size_gb,
            })
        },
    )
}

fn properties() -> impl Strategy<Value = Properties> {
    prop_oneof![
        region().prop_map(|location| Properties::ResourceGroup(ResourceGroup { location })),
        network(),
        subnet(),
        security_group(),
        address(),
        gateway(),
        bastion(),
        key(),
        proximity_group(),
        disk(),
        machine().prop_map(|machine| Properties::VirtualMachine(Box::new(machine))),
    ]
}

fn resource() -> impl Strategy<Value = Resource> {
    let tag = ("[a-zA-Z][a-z0-9]{0,8}", "[ -~]{0,12}");
    (properties(), proptest::collection::vec(tag, 0..4)).prop_map(|(properties, pairs)| {
        let mut tags = Tags::default();
        for (name, value) in pairs.into_iter().filter(|_| properties.kind().takes_tags()) {
            tags.set(name, value);
        }
        Resource { tags, properties }
    })
}

proptest! {
    #[test]
    fn decoding_gives_back_what_was_encoded(resource in resource()) {
        let body = encode(&resource).expect("a body");
        prop_assert_eq!(decode(resource.kind(), &body), Ok(resource));
    }

    /// What Azure does to a body between a PUT and a GET changes nothing.
    #[test]
    fn azures_spelling_is_settled(resource in resource()) {
        let mut body = encode(&resource).expect("a body");
        for member in ["location", "unknownFutureMember"] {
            body[member] = match member {
                "location" => json!(body["location"].as_str().map(str::to_uppercase)),
                _ => json!({"x": [1]}),
            };
        }
        if resource.kind() == ResourceKind::Subnet {
            body.as_object_mut().expect("an object").remove("location");
        }
        body["etag"] = json!("W/\"1\"");
        body["properties"]["provisioningState"] = json!("Succeeded");
        body["tags"]["tensorform-stack"] = json!("s");
        body["tags"]["Tensorform-Address"] = json!("a");
        prop_assert_eq!(decode(resource.kind(), &body), Ok(resource));
    }

    /// A live VM names its interface and says nothing about the subnet.
    #[test]
    fn a_live_machine_differs_only_in_what_is_write_only(machine in machine()) {
        let resource = Resource {
            tags: Tags::default(),
            properties: Properties::VirtualMachine(Box::new(machine.clone())),
        };
        let mut body = encode(&resource).expect("a body");
        let nic = ArmId::resource_group("S", "RG").in_group("Microsoft.Network/networkInterfaces", &machine.network.name);
        let option = if machine.network.delete_with_vm { "Delete" } else { "Detach" };
        body["properties"]["networkProfile"] =
            json!({"networkInterfaces": [{"id": nic, "properties": {"deleteOption": option}}]});
        let keys = body.pointer_mut("/properties/osProfile/linuxConfiguration/ssh/publicKeys").expect("keys");
        for key in keys.as_array_mut().expect("a list") {
            key["keyData"] = json!(format!("{} me@home\r\n", key["keyData"].as_str().expect("a key")));
        }
        let mut expected = machine;
        expected.network.subnet = None;
        expected.network.accelerated = None;
        expected.network.public_address = false;
        expected.network.name = asked_name(&expected.network.name).to_owned();
        let expected = Resource { properties: Properties::VirtualMachine(Box::new(expected)), ..resource };
        prop_assert_eq!(decode(ResourceKind::VirtualMachine, &body), Ok(expected));
    }
}

mod cases;
mod changes;
mod harmed;
