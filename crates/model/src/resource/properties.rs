//! The properties of each kind of resource, in canonical form.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    AgentPool, BatchAccount, BatchPool, BlobContainer, Known, KubernetesCluster, ManagedIdentity,
    NodeArray, ResourceKind, RoleAssignment, ScaleSet, StorageAccount,
};
use crate::{
    ids::ArmId,
    spec::{DiskController, DiskType, EphemeralPlacement, Eviction},
    units::{CaseInsensitive, Region, SizeName},
};

macro_rules! properties {
    ($($variant:ident($type:ty),)+) => {
        /// The properties of one resource.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[expect(missing_docs, reason = "each variant is documented at its type")]
        pub enum Properties {
            $($variant($type),)+
        }

        impl Properties {
            /// The kind these are the properties of.
            pub fn kind(&self) -> ResourceKind {
                match self { $(Self::$variant(_) => ResourceKind::$variant,)+ }
            }

            /// As one JSON object.
            pub fn document(&self) -> Value {
                match self { $(Self::$variant(properties) => serde_json::to_value(properties).unwrap_or_default(),)+ }
            }

            /// Reads them back.
            ///
            /// # Errors
            /// What is missing, unknown or of the wrong type.
            pub fn from_document(kind: ResourceKind, document: Value) -> Result<Self, serde_json::Error> {
                match kind { $(ResourceKind::$variant => serde_json::from_value(document).map(Self::$variant),)+ }
            }
        }
    };
}

properties! {
    ResourceGroup(ResourceGroup),
    VirtualNetwork(VirtualNetwork),
    Subnet(Subnet),
    NetworkSecurityGroup(NetworkSecurityGroup),
    PublicIpAddress(PublicIpAddress),
    NatGateway(NatGateway),
    BastionHost(BastionHost),
    SshPublicKey(SshPublicKey),
    ProximityPlacementGroup(ProximityPlacementGroup),
    Disk(Disk),
    VirtualMachine(Box<VirtualMachine>),
    VirtualMachineScaleSet(Box<ScaleSet>),
    BatchAccount(BatchAccount),
    BatchPool(Box<BatchPool>),
    KubernetesCluster(Box<KubernetesCluster>),
    AgentPool(Box<AgentPool>),
    NodeArray(Box<NodeArray>),
    NetworkInterface(LooseInterface),
    StorageAccount(StorageAccount),
    BlobContainer(BlobContainer),
    ManagedIdentity(ManagedIdentity),
    RoleAssignment(RoleAssignment),
    MarketplaceTerms(MarketplaceTerms),
}

/// A resource group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceGroup {
    /// Where its metadata is.
    pub location: Region,
}

/// A virtual network, without its subnets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VirtualNetwork {
    /// Where it is.
    pub location: Region,
    /// IPv4 blocks in CIDR form.
    pub address_space: BTreeSet<String>,
}

/// A subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subnet {
    /// Its block in CIDR form.
    pub address_prefix: String,
    /// Whether Azure gives its machines an outbound address of its own.
    pub default_outbound_access: bool,
    /// The security group.
    pub network_security_group: Option<ArmId>,
    /// The NAT gateway.
    pub nat_gateway: Option<ArmId>,
}

/// A network security group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSecurityGroup {
    /// Where it is.
    pub location: Region,
    /// Rules by name, without the default ones.
    pub rules: BTreeMap<String, SecurityRule>,
}

/// A rule of a network security group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecurityRule {
    /// 100 to 4096; lower goes first.
    pub priority: u32,
    /// `Inbound` or `Outbound`.
    pub direction: CaseInsensitive,
    /// `Allow` or `Deny`.
    pub access: CaseInsensitive,
    /// `Tcp`, `Udp`, `Icmp` or `*`.
    pub protocol: CaseInsensitive,
    /// Source blocks.
    pub sources: BTreeSet<String>,
    /// Destination ports.
    pub ports: BTreeSet<String>,
}

/// A public address: Standard, static, IPv4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicIpAddress {
    /// Where it is.
    pub location: Region,
    /// `Standard` or `Basic`.
    pub sku: CaseInsensitive,
    /// `Static` or `Dynamic`.
    pub allocation: CaseInsensitive,
}

/// A NAT gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NatGateway {
    /// Where it is.
    pub location: Region,
    /// Its public addresses.
    pub public_ips: BTreeSet<ArmId>,
    /// Minutes after which an idle flow is dropped, 4 to 120.
    pub idle_timeout_minutes: u32,
}

/// A Bastion host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BastionHost {
    /// Where it is.
    pub location: Region,
    /// `Basic`, `Standard` or `Premium`.
    pub sku: CaseInsensitive,
    /// The subnet, always named `AzureBastionSubnet`.
    pub subnet: ArmId,
    /// Its public address.
    pub public_ip: ArmId,
    /// Whether clients of one's own get through, such as `ssh`; the Basic SKU cannot.
    pub tunneling: bool,
}

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SshPublicKey {
    /// Where it is.
    pub location: Region,
    /// The key in OpenSSH form, without its comment.
    pub public_key: Known<String>,
}

/// A proximity placement group, which keeps machines in one datacentre.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProximityPlacementGroup {
    /// Where it is.
    pub location: Region,
}

/// A managed disk of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// Where it is.
    pub location: Region,
    /// Its zone, where it has one.
    pub zones: Vec<String>,
    /// Its type.
    pub disk_type: DiskType,
    /// Size in GiB.
    pub size_gb: u32,
}

/// A virtual machine with the NIC and the OS disk it brings along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VirtualMachine {
    /// Where it is.
    pub location: Region,
    /// Its zone, where it has one.
    pub zones: Vec<String>,
    /// Its size.
    pub size: SizeName,
    /// The image it was made from.
    pub image: ImageReference,
    /// The purchase plan of the image, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PurchasePlan>,
    /// The operating system.
    #[serde(default, skip_serializing_if = "System::is_linux")]
    pub os: System,
    /// Where the administrator's password is, on Windows. Azure never tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<PasswordSource>,
    /// How its capacity is bought.
    pub priority: VmPriority,
    /// The capacity reservation group that it draws from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_reservation: Option<ArmId>,
    /// The proximity placement group that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proximity_placement_group: Option<ArmId>,
    /// Its host name.
    pub computer_name: String,
    /// The administrator's name.
    pub admin_user: String,
    /// Public keys in OpenSSH form, without comments.
    pub ssh_keys: Known<BTreeSet<String>>,
    /// The disk of the operating system.
    pub os_disk: OsDisk,
    /// How it reaches its disks; `None` is Azure's choice for the size, which a plan does not
    /// change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_controller: Option<DiskController>,
    /// Data disks by logical unit number.
    pub data_disks: BTreeMap<u32, DataDiskAttachment>,
    /// The network interface.
    pub network: NetworkInterface,
    /// The security type.
    pub security: Security,
    /// User-assigned identities, by which it signs in; others may have given it more.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub identities: BTreeSet<ArmId>,
    /// Whether an extension tells how its bootstrap ended.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reports_readiness: bool,
}

/// An operating system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum System {
    /// Linux.
    #[default]
    Linux,
    /// Windows.
    Windows,
}

impl System {
    /// Whether it is Linux, which documents leave out.
    pub fn is_linux(&self) -> bool {
        *self == Self::Linux
    }
}

/// Where a password is: documents name the place, and never have the password.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PasswordSource {
    /// The environment variable that holds it when the plan is applied.
    pub from_env: String,
}

/// A network interface that belongs to no VM any more: never made, only deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LooseInterface {
    /// Where it is.
    pub location: Region,
}

/// The terms of a purchase plan of the marketplace, which a subscription accepts once for all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarketplaceTerms {
    /// The plan.
    pub plan: PurchasePlan,
    /// Whether they are accepted.
    pub accepted: bool,
}

/// The image of a VM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ImageReference {
    /// Of the marketplace.
    Marketplace(MarketplaceImage),
    /// By its id.
    Own(OwnImage),
}

impl ImageReference {
    /// The marketplace image that this is.
    pub fn marketplace(&self) -> Option<&MarketplaceImage> {
        match self {
            Self::Marketplace(image) => Some(image),
            Self::Own(_) => None,
        }
    }

    /// The same, to change it.
    pub fn marketplace_mut(&mut self) -> Option<&mut MarketplaceImage> {
        match self {
            Self::Marketplace(image) => Some(image),
            Self::Own(_) => None,
        }
    }
}

impl fmt::Display for ImageReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Marketplace(image) => {
                let MarketplaceImage {
                    publisher,
                    offer,
                    sku,
                    version,
                } = image;
                write!(f, "{publisher}:{offer}:{sku}:{version}")
            }
            Self::Own(image) => write!(f, "{}", image.id),
        }
    }
}

/// An image by its id: a managed image, or a version of a gallery's image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnImage {
    /// Its id; of a gallery's image always with the version.
    pub id: CaseInsensitive,
}

/// A version of a marketplace image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarketplaceImage {
    /// Who publishes it.
    pub publisher: CaseInsensitive,
    /// The product.
    pub offer: CaseInsensitive,
    /// The variant.
    pub sku: CaseInsensitive,
    /// The version, never `latest`.
    pub version: String,
}

/// The purchase plan of a marketplace image.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PurchasePlan {
    /// Who sells it.
    pub publisher: CaseInsensitive,
    /// The product, which is the image's offer.
    pub product: CaseInsensitive,
    /// The plan, which mostly is the image's SKU.
    pub name: CaseInsensitive,
}

/// How the capacity of a VM is bought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum VmPriority {
    /// At the regular price.
    Regular,
    /// Spare capacity.
    Spot {
        /// What eviction does.
        eviction: Eviction,
        /// Most per hour in US dollars; −1 is up to the regular price.
        #[serde(with = "rust_decimal::serde::str")]
        max_price: Decimal,
    },
}

/// The disk of the operating system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OsDisk {
    /// Its name.
    pub name: String,
    /// Size in GiB.
    pub size_gb: u32,
    /// Its type.
    pub disk_type: DiskType,
    /// Whether it goes with the VM.
    pub delete_with_vm: bool,
    /// Where it stands on the node, if it is ephemeral.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<EphemeralPlacement>,
}

/// A data disk at a VM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataDiskAttachment {
    /// The disk.
    pub disk: ArmId,
    /// `None`, `ReadOnly` or `ReadWrite`.
    pub caching: CaseInsensitive,
    /// Whether it goes with the VM.
    pub delete_with_vm: bool,
}

/// The network interface that a VM brings along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkInterface {
    /// Its name.
    pub name: String,
    /// The subnet; unknown (`null`) on a live VM, whose answer names only the interface.
    pub subnet: Option<ArmId>,
    /// Accelerated networking; unknown (`null`) on a live VM.
    pub accelerated: Option<bool>,
    /// Whether it goes with the VM.
    pub delete_with_vm: bool,
    /// Whether it has a public address of its own, which comes and goes with it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub public_address: bool,
}

/// Whether a flag is off, which documents leave out.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
pub(super) fn is_false(flag: &bool) -> bool {
    !*flag
}

/// The security type of a VM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Security {
    /// None.
    Standard,
    /// Trusted Launch.
    TrustedLaunch {
        /// Secure Boot.
        secure_boot: bool,
        /// A virtual trusted platform module.
        vtpm: bool,
    },
}
