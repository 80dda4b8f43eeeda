//! A small stack, and the plainest planner that can bring it about.

use std::collections::BTreeMap;

use model::{
    address::Address,
    ids::ArmId,
    live::{Live, LiveResource, Owner, Power, Provisioning},
    plan::{Action, Ending, Failure, Fingerprint, Operation, Outcome, Reason, ReasonCode, Step},
    resource::{
        DataDiskAttachment, Disk, ImageReference, Known, MarketplaceImage, NatGateway,
        NetworkInterface, NetworkSecurityGroup, OsDisk, Properties, PublicIpAddress, Resource,
        ResourceGroup, ResourceKind, Security, SecurityRule, SshPublicKey, Subnet, System, Tags,
        VirtualMachine, VirtualNetwork, VmPriority, attributes,
    },
    spec::DiskType,
    units::Region,
};
use serde_json::Value;

/// The key that runs generate.
pub(crate) const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBqKZ1SKfVnXyBQwJdS6Wqv0cYzL8q1p3mXl5rY7Jd1E";

/// A resource that is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) address: Address,
    pub(crate) id: ArmId,
    pub(crate) resource: Resource,
    pub(crate) needs: Vec<Address>,
}

fn location() -> Region {
    Region::new("eastus")
}

pub(crate) fn group() -> ArmId {
    ArmId::resource_group(emulator::SUBSCRIPTION, "rg-demo")
}

pub(crate) fn id_of(kind: ResourceKind, name: &str) -> ArmId {
    group().in_group(kind.arm_type(), name)
}

pub(crate) fn subnet_id() -> ArmId {
    id_of(ResourceKind::VirtualNetwork, "demo-vnet").child("subnets", "nodes")
}

fn wanted(address: &str, id: ArmId, properties: Properties, needs: &[&str]) -> Wanted {
    let mut tags = Tags::default();
    if properties.kind().takes_tags() {
        tags.set("team", "ml");
    }
    let parse = |text: &str| text.parse().expect("an address");
    Wanted {
        address: parse(address),
        id,
        resource: Resource { tags, properties },
        needs: needs.iter().map(|need| parse(need)).collect(),
    }
}

fn security_group() -> Properties {
    let rule = SecurityRule {
        priority: 200,
        direction: "Inbound".into(),
        access: "Allow".into(),
        protocol: "Tcp".into(),
        sources: ["10.1.0.0/16".to_owned()].into(),
        ports: ["22".to_owned()].into(),
    };
    Properties::NetworkSecurityGroup(NetworkSecurityGroup {
        location: location(),
        rules: BTreeMap::from([("ssh".to_owned(), rule)]),
    })
}

fn subnet(nsg: &ArmId, nat: &ArmId) -> Properties {
    Properties::Subnet(Subnet {
        address_prefix: "10.40.0.0/20".to_owned(),
        default_outbound_access: false,
        network_security_group: Some(nsg.clone()),
        nat_gateway: Some(nat.clone()),
    })
}

/// The group and the network.
pub(crate) fn network() -> Vec<Wanted> {
    let nsg = id_of(ResourceKind::NetworkSecurityGroup, "demo-nsg");
    let nat = id_of(ResourceKind::NatGateway, "demo-nat");
    let nat_ip = id_of(ResourceKind::PublicIpAddress, "demo-nat-ip");
    let vnet = id_of(ResourceKind::VirtualNetwork, "demo-vnet");
    let location = location();
    let group_properties = Properties::ResourceGroup(ResourceGroup {
        location: location.clone(),
    });
    let network = Properties::VirtualNetwork(VirtualNetwork {
        location: location.clone(),
        address_space: ["10.40.0.0/16".to_owned()].into(),
    });
    let address = Properties::PublicIpAddress(PublicIpAddress {
        location: location.clone(),
        sku: "Standard".into(),
        allocation: "Static".into(),
    });
    let gateway = Properties::NatGateway(NatGateway {
        location: location.clone(),
        public_ips: [nat_ip.clone()].into(),
        idle_timeout_minutes: 4,
    });
    let key = Properties::SshPublicKey(SshPublicKey {
        location,
        public_key: Known::AfterApply,
    });
    let key_id = id_of(ResourceKind::SshPublicKey, "demo-key");
    let in_group = &["resource_group"];
    let subnet_needs = &["network.vnet", "network.nsg", "network.nat"];
    vec![
        wanted("resource_group", group(), group_properties, &[]),
        wanted("network.vnet", vnet, network, in_group),
        wanted("network.nsg", nsg.clone(), security_group(), in_group),
        wanted("network.nat_ip", nat_ip, address, in_group),
        wanted("network.nat", nat.clone(), gateway, &["network.nat_ip"]),
        wanted(
            "network.subnet",
            subnet_id(),
            subnet(&nsg, &nat),
            subnet_needs,
        ),
        wanted("access.ssh_key", key_id, key, in_group),
    ]
}

/// A node without data disks.
pub(crate) fn node(index: usize) -> Wanted {
    let name = format!("demo-p-{index}");
    let machine = VirtualMachine {
        location: location(),
        zones: Vec::new(),
        size: "Standard_D2s_v5".into(),
        image: ImageReference::Marketplace(MarketplaceImage {
            publisher: "microsoft-dsvm".into(),
            offer: "ubuntu-2204".into(),
            sku: "2204-gen2".into(),
            version: "latest".to_owned(),
        }),
        plan: None,
        os: System::Linux,
        password: None,
        priority: VmPriority::Regular,
        capacity_reservation: None,
        proximity_placement_group: None,
        computer_name: name.clone(),
        admin_user: "azureuser".to_owned(),
        ssh_keys: Known::AfterApply,
        os_disk: OsDisk {
            name: format!("{name}-os"),
            size_gb: 256,
            disk_type: DiskType::Premium,
            delete_with_vm: true,
            ephemeral: None,
        },
        disk_controller: None,
        data_disks: BTreeMap::new(),
        network: NetworkInterface {
            name: format!("{name}-nic"),
            subnet: Some(subnet_id()),
            accelerated: Some(true),
            delete_with_vm: true,
            public_address: false,
        },
        security: Security::TrustedLaunch {
            secure_boot: true,
            vtpm: true,
        },
        identities: std::collections::BTreeSet::new(),
        reports_readiness: false,
    };
    wanted(
        &format!("pool.p[{index}].vm"),
        id_of(ResourceKind::VirtualMachine, &name),
        Properties::VirtualMachine(Box::new(machine)),
        &["network.subnet", "access.ssh_key"],
    )
}

/// A data disk of a node.
pub(crate) fn data_disk(index: usize) -> Wanted {
    wanted(
        &format!("pool.p[{index}].data_disk[0]"),
        id_of(ResourceKind::Disk, &format!("demo-p-{index}-data-0")),
        Properties::Disk(Disk {
            location: location(),
            zones: Vec::new(),
            disk_type: DiskType::Premium,
            size_gb: 128,
        }),
        &["resource_group"],
    )
}

/// A node with a data disk, and the disk.
pub(crate) fn node_with_disk(index: usize) -> Vec<Wanted> {
    let disk = data_disk(index);
    let mut node = node(index);
    change_machine(&mut node, |machine| {
        let attachment = DataDiskAttachment {
            disk: disk.id.clone(),
            caching: "ReadOnly".into(),
            delete_with_vm: false,
        };
        machine.data_disks.insert(0, attachment);
    });
    node.needs.push(disk.address.clone());
    vec![disk, node]
}

/// The network and a node with a data disk: one of each kind.
pub(crate) fn small() -> Vec<Wanted> {
    let mut all = network();
    all.extend(node_with_disk(0));
    all
}

pub(crate) fn change_machine(wanted: &mut Wanted, change: impl FnOnce(&mut VirtualMachine)) {
    let Properties::VirtualMachine(machine) = &mut wanted.resource.properties else {
        panic!("{} is no machine", wanted.address);
    };
    change(machine);
}

/// A step.
pub(crate) fn step(
    wanted: &Wanted,
    live: Option<&LiveResource>,
    action: Action,
    operations: Vec<Operation>,
) -> Step {
    Step {
        address: wanted.address.clone(),
        kind: wanted.resource.kind(),
        id: wanted.id.clone(),
        action,
        operations,
        reason: Reason {
            code: ReasonCode::Differs,
            attributes: Vec::new(),
        },
        before: live.map(|live| {
            live.resource
                .clone()
                .unwrap_or_else(|| wanted.resource.clone())
        }),
        after: (action != Action::Delete).then(|| wanted.resource.clone()),
        needs: wanted.needs.clone(),
        fingerprint: Fingerprint::new(live.map(LiveResource::values)),
        alternates: Vec::new(),
    }
}

/// The steps from what is live to what is wanted; steps that do nothing are left in.
pub(crate) fn plan(live: &Live, all: &[Wanted]) -> Vec<Step> {
    all.iter()
        .map(|wanted| {
            let found = live.resources.iter().find(|live| live.id == wanted.id);
            let (action, operations) = decide(wanted, found);
            step(wanted, found, action, operations)
        })
        .collect()
}

fn decide(wanted: &Wanted, found: Option<&LiveResource>) -> (Action, Vec<Operation>) {
    let Some(live) = found else {
        return (Action::Create, vec![Operation::Create]);
    };
    assert_ne!(live.owner, Owner::Foreign, "{} is somebody else's", live.id);
    match live.state.provisioning {
        Provisioning::Succeeded => {}
        Provisioning::Failed if live.state.power == Some(Power::Running) => {
            return (Action::Repair, vec![Operation::Reapply]);
        }
        Provisioning::Failed | Provisioning::Canceled => {
            return (Action::Repair, vec![Operation::Delete, Operation::Create]);
        }
        Provisioning::Deleting => {
            return (
                Action::Repair,
                vec![Operation::AwaitGone, Operation::Create],
            );
        }
        Provisioning::Creating | Provisioning::Updating | Provisioning::Other => {
            return (Action::Repair, vec![Operation::Settle]);
        }
    }
    let attributes = differences(&wanted.resource, live.resource.as_ref());
    if attributes.is_empty() {
        (Action::NoOp, Vec::new())
    } else {
        (Action::Update, vec![Operation::Patch { attributes }])
    }
}

/// What differs; what a live VM never tells and what apply gives does not.
pub(crate) fn differences(wanted: &Resource, live: Option<&Resource>) -> Vec<String> {
    let wanted = wanted.attributes();
    let live = live.map(Resource::attributes).unwrap_or_default();
    let mut paths: Vec<&String> = wanted.keys().chain(live.keys()).collect();
    paths.sort_unstable();
    paths.dedup();
    let open = [
        "network.subnet",
        "network.accelerated",
        "ssh_keys",
        "public_key",
        "image.version",
    ];
    paths
        .into_iter()
        .filter(|path| !open.contains(&path.as_str()))
        .filter(|path| {
            let value = |of: &BTreeMap<String, Value>| of.get(*path).cloned().unwrap_or_default();
            !attributes::same(path, &value(&wanted), &value(&live))
        })
        .cloned()
        .collect()
}

/// The steps that delete everything that is live and ours.
pub(crate) fn destruction(live: &Live, all: &[Wanted]) -> Vec<Step> {
    all.iter()
        .filter_map(|wanted| {
            let found = live.resources.iter().find(|live| live.id == wanted.id)?;
            Some(step(
                wanted,
                Some(found),
                Action::Delete,
                vec![Operation::Delete],
            ))
        })
        .collect()
}

/// The failures in an outcome, with their steps.
pub(crate) fn failures(outcome: &Outcome) -> Vec<(&Address, &Failure)> {
    let mut failed = Vec::new();
    for (address, _, ending) in &outcome.steps {
        if let Ending::Failed(failure) = ending {
            failed.push((address, failure));
        }
    }
    failed
}

/// Whether nothing is left to do.
pub(crate) fn is_done(steps: &[Step]) -> bool {
    steps.iter().all(|step| step.action == Action::NoOp)
}
