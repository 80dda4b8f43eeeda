//! Scale sets: a number of equal machines that one write makes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{ImageReference, Known, PurchasePlan, Security, System, VmPriority};
use crate::{
    ids::ArmId,
    spec::{DiskController, DiskType, EphemeralPlacement},
    units::{CaseInsensitive, Region, SizeName},
};

/// A virtual machine scale set, with the profile that its instances are made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScaleSet {
    /// Where it is.
    pub location: Region,
    /// Its zones, in order.
    pub zones: Vec<String>,
    /// The size of its instances.
    pub size: SizeName,
    /// Number of its instances.
    pub capacity: u32,
    /// How its instances are managed.
    pub orchestration: Orchestration,
    /// Whether all instances are in one placement group, which is what InfiniBand connects.
    pub single_placement_group: bool,
    /// Whether Azure makes more instances at first than it keeps.
    pub overprovision: bool,
    /// What happens to instances when the profile changes; Flexible sets take none.
    pub upgrade_policy: Option<CaseInsensitive>,
    /// Fault domains that instances are spread over.
    pub fault_domains: u32,
    /// The operating system.
    #[serde(default, skip_serializing_if = "System::is_linux")]
    pub os: System,
    /// The image of new instances.
    pub image: ImageReference,
    /// The purchase plan of the image, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PurchasePlan>,
    /// How the capacity of instances is bought.
    pub priority: VmPriority,
    /// The capacity reservation group that instances draw from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_reservation: Option<ArmId>,
    /// The proximity placement group that its instances are in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proximity_placement_group: Option<ArmId>,
    /// What the host names of instances begin with.
    pub computer_name_prefix: String,
    /// The administrator's name.
    pub admin_user: String,
    /// Public keys in OpenSSH form, without comments.
    pub ssh_keys: Known<BTreeSet<String>>,
    /// The disk of the operating system of each instance.
    pub os_disk: InstanceOsDisk,
    /// How instances reach their disks; `None` is Azure's choice for the size, which a plan does
    /// not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_controller: Option<DiskController>,
    /// Data disks of each instance by logical unit number.
    pub data_disks: BTreeMap<u32, InstanceDataDisk>,
    /// The network interface of each instance.
    pub network: InstanceInterface,
    /// The security type.
    pub security: Security,
    /// User-assigned identities of each instance; others may have given the set more.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub identities: BTreeSet<ArmId>,
    /// Whether an extension of each instance tells how its bootstrap ended.
    #[serde(default, skip_serializing_if = "super::properties::is_false")]
    pub reports_readiness: bool,
}

/// How the instances of a scale set are managed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Orchestration {
    /// As instances of the set, which are no VMs of their own.
    Uniform,
    /// As VMs that belong to the set.
    Flexible,
}

impl Orchestration {
    /// Azure's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Uniform => "Uniform",
            Self::Flexible => "Flexible",
        }
    }
}

/// The disk of the operating system of an instance; it goes with the instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceOsDisk {
    /// Size in GiB.
    pub size_gb: u32,
    /// Its type.
    pub disk_type: DiskType,
    /// Where it stands on the node, if it is ephemeral.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<EphemeralPlacement>,
}

/// A data disk of an instance; it is made with the instance and goes with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceDataDisk {
    /// Size in GiB.
    pub size_gb: u32,
    /// Its type.
    pub disk_type: DiskType,
    /// `None`, `ReadOnly` or `ReadWrite`.
    pub caching: CaseInsensitive,
}

/// The network interface of an instance; it goes with the instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstanceInterface {
    /// Its name.
    pub name: String,
    /// The subnet.
    pub subnet: ArmId,
    /// Accelerated networking.
    pub accelerated: bool,
    /// Whether each instance has a public address of its own.
    #[serde(default, skip_serializing_if = "super::properties::is_false")]
    pub public_address: bool,
}
