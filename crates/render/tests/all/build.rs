//! Builders of resources and steps, so that a plan reads like what it is about.

use model::{
    address::Address,
    ids::ArmId,
    live::FingerprintValues,
    plan::{Action, Alternate, AttributeChange, Fingerprint, Operation, Reason, ReasonCode, Step},
    resource::{
        AFTER_APPLY, Disk, ImageReference, Known, MarketplaceImage, NatGateway, NetworkInterface,
        NetworkSecurityGroup, OsDisk, Properties, PublicIpAddress, Resource, ResourceGroup,
        ResourceKind, Security, SecurityRule, SshPublicKey, Subnet, System, Tags, VirtualMachine,
        VirtualNetwork, VmPriority,
    },
    spec::{DiskType, Eviction},
    units::Region,
};
use serde_json::Value;

pub(crate) const SUBSCRIPTION: &str = "11111111-2222-3333-4444-555555555555";

pub(crate) fn region() -> Region {
    Region::new("eastus")
}

pub(crate) fn id(kind: ResourceKind, name: &str) -> ArmId {
    let group = ArmId::resource_group(SUBSCRIPTION, "rg-llama");
    match kind {
        ResourceKind::ResourceGroup => group,
        ResourceKind::Subnet => group
            .in_group(ResourceKind::VirtualNetwork.arm_type(), "llama-vnet")
            .child("subnets", name),
        ResourceKind::BatchPool => group
            .in_group(ResourceKind::BatchAccount.arm_type(), "llama")
            .child("pools", name),
        ResourceKind::AgentPool => group
            .in_group(ResourceKind::KubernetesCluster.arm_type(), "llama")
            .child("agentPools", name),
        ResourceKind::NodeArray => group
            .in_group(ResourceKind::VirtualMachine.arm_type(), "llama")
            .child("runCommands", name),
        ResourceKind::VirtualNetwork
        | ResourceKind::KubernetesCluster
        | ResourceKind::BatchAccount
        | ResourceKind::NetworkSecurityGroup
        | ResourceKind::PublicIpAddress
        | ResourceKind::BastionHost
        | ResourceKind::NatGateway
        | ResourceKind::SshPublicKey
        | ResourceKind::ProximityPlacementGroup
        | ResourceKind::Disk
        | ResourceKind::NetworkInterface
        | ResourceKind::MarketplaceTerms
        | ResourceKind::StorageAccount
        | ResourceKind::BlobContainer
        | ResourceKind::ManagedIdentity
        | ResourceKind::RoleAssignment
        | ResourceKind::VirtualMachine
        | ResourceKind::VirtualMachineScaleSet => group.in_group(kind.arm_type(), name),
    }
}

fn resource(properties: Properties) -> Resource {
    Resource {
        tags: Tags::default(),
        properties,
    }
}

pub(crate) fn group() -> Resource {
    resource(Properties::ResourceGroup(ResourceGroup {
        location: region(),
    }))
}

pub(crate) fn network() -> Resource {
    resource(Properties::VirtualNetwork(VirtualNetwork {
        location: region(),
        address_space: ["10.40.0.0/16".to_owned()].into(),
    }))
}

pub(crate) fn subnet() -> Resource {
    resource(Properties::Subnet(Subnet {
        address_prefix: "10.40.0.0/20".to_owned(),
        default_outbound_access: false,
        network_security_group: None,
        nat_gateway: None,
    }))
}

pub(crate) fn security_group(sources: &[&str]) -> Resource {
    let rule = SecurityRule {
        priority: 100,
        direction: "Inbound".into(),
        access: "Allow".into(),
        protocol: "Tcp".into(),
        sources: sources.iter().map(|source| (*source).to_owned()).collect(),
        ports: ["22".to_owned()].into(),
    };
    let rules = (!sources.is_empty()).then(|| ("ssh".to_owned(), rule));
    resource(Properties::NetworkSecurityGroup(NetworkSecurityGroup {
        location: region(),
        rules: rules.into_iter().collect(),
    }))
}

pub(crate) fn public_ip() -> Resource {
    resource(Properties::PublicIpAddress(PublicIpAddress {
        location: region(),
        sku: "Standard".into(),
        allocation: "Static".into(),
    }))
}

pub(crate) fn nat() -> Resource {
    resource(Properties::NatGateway(NatGateway {
        location: region(),
        public_ips: [id(ResourceKind::PublicIpAddress, "llama-nat-ip")].into(),
        idle_timeout_minutes: 4,
    }))
}

pub(crate) fn ssh_key() -> Resource {
    resource(Properties::SshPublicKey(SshPublicKey {
        location: region(),
        public_key: Known::AfterApply,
    }))
}

pub(crate) fn disk(size_gb: u32, zone: &str) -> Resource {
    resource(Properties::Disk(Disk {
        location: region(),
        zones: vec![zone.to_owned()],
        disk_type: DiskType::PremiumV2,
        size_gb,
    }))
}

pub(crate) fn vm(name: &str, size: &str) -> VirtualMachine {
    VirtualMachine {
        location: region(),
        zones: Vec::new(),
        size: size.into(),
        image: ImageReference::Marketplace(MarketplaceImage {
            publisher: "microsoft-dsvm".into(),
            offer: "ubuntu-hpc".into(),
            sku: "2204".into(),
            version: "22.04.2026061901".to_owned(),
        }),
        plan: None,
        os: System::Linux,
        password: None,
        priority: VmPriority::Regular,
        capacity_reservation: None,
        proximity_placement_group: None,
        computer_name: name.to_owned(),
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
        data_disks: std::collections::BTreeMap::new(),
        network: NetworkInterface {
            name: format!("{name}-nic"),
            subnet: Some(id(ResourceKind::Subnet, "default")),
            accelerated: Some(true),
            delete_with_vm: true,
            public_address: false,
        },
        security: Security::Standard,
        identities: std::collections::BTreeSet::new(),
        reports_readiness: false,
    }
}

pub(crate) fn spot(mut vm: VirtualMachine) -> VirtualMachine {
    vm.priority = VmPriority::Spot {
        eviction: Eviction::Delete,
        max_price: "-1".parse().expect("a decimal"),
    };
    vm
}

pub(crate) fn in_zone(mut vm: VirtualMachine, zone: &str) -> VirtualMachine {
    vm.zones = vec![zone.to_owned()];
    vm
}

pub(crate) fn machine(vm: VirtualMachine) -> Resource {
    resource(Properties::VirtualMachine(Box::new(vm)))
}

pub(crate) fn address(text: &str) -> Address {
    text.parse().expect("an address")
}

/// A step with the usual calls and reason of its action.
pub(crate) fn step(text: &str, name: &str, action: Action, resource: Resource) -> Step {
    let (operations, code) = match action {
        Action::NoOp => (vec![], ReasonCode::Equal),
        Action::Create => (vec![Operation::Create], ReasonCode::Absent),
        Action::Update | Action::RestartUpdate => (
            vec![Operation::Patch { attributes: vec![] }],
            ReasonCode::Differs,
        ),
        Action::StopUpdate => (
            vec![
                Operation::Deallocate,
                Operation::Patch { attributes: vec![] },
                Operation::Start,
            ],
            ReasonCode::Differs,
        ),
        Action::Replace => (
            vec![Operation::Delete, Operation::Create],
            ReasonCode::Differs,
        ),
        Action::Repair => (vec![Operation::Reapply], ReasonCode::FailedRunning),
        Action::Start => (vec![Operation::Start], ReasonCode::Evicted),
        Action::Delete => (vec![Operation::Delete], ReasonCode::NotInSpec),
    };
    let exists = action != Action::Create;
    let kind = resource.kind();
    Step {
        address: address(text),
        kind,
        id: id(kind, name),
        action,
        operations,
        reason: Reason {
            code,
            attributes: Vec::new(),
        },
        before: exists.then(|| resource.clone()),
        after: (action != Action::Delete).then_some(resource),
        needs: Vec::new(),
        fingerprint: Fingerprint::new(exists.then(FingerprintValues::new)),
        alternates: Vec::new(),
    }
}

/// Says how a step differs from the usual one.
pub(crate) trait StepExt {
    fn why(self, code: ReasonCode) -> Self;
    fn calls(self, operations: &[Operation]) -> Self;
    fn changes(self, path: &str, before: Value, after: Value, effect: Action) -> Self;
    fn or_else(self, label: &str) -> Self;
}

impl StepExt for Step {
    fn why(mut self, code: ReasonCode) -> Self {
        self.reason.code = code;
        self
    }

    fn calls(mut self, operations: &[Operation]) -> Self {
        self.operations = operations.to_vec();
        self
    }

    fn changes(mut self, path: &str, before: Value, after: Value, effect: Action) -> Self {
        self.reason.attributes.push(AttributeChange {
            path: path.to_owned(),
            before,
            after,
            effect,
        });
        self
    }

    fn or_else(mut self, label: &str) -> Self {
        self.alternates.push(Alternate {
            label: label.to_owned(),
            attributes: std::collections::BTreeMap::new(),
        });
        self
    }
}

pub(crate) fn after_apply() -> Value {
    Value::from(AFTER_APPLY)
}
