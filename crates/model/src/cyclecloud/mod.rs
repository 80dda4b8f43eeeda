//! Clusters of Azure CycleCloud: what a template says of the pools of a stack, and the template.
//!
//! The text is here and not with the ink, because servers get it too: whatever is exported is what
//! is imported.

mod ini;

mod schedulers;

mod template;

use std::collections::BTreeSet;

use rust_decimal::Decimal;

use crate::{
    ids::ArmId,
    resource::{InstanceOsDisk, Security},
    spec::{DataDisk, Scheduler},
    units::{Region, SizeName},
};

pub use self::{
    schedulers::{SCHEDULER_OS_DISK_GB, SCHEDULER_SIZE, shared_disks_gb},
    template::{Sections, sections, template},
};

/// The name of the pool that a stack with pools of CycleCloud gets besides: the server. No pool of
/// a spec can have it, because it is longer than those may be.
pub const SERVER_POOL: &str = "cyclecloud-server";

/// A cluster whose nodes CycleCloud makes when jobs wait, and deletes when none do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its name, which is the stack's.
    pub name: String,
    /// The administrator's name.
    pub user: String,
    /// Where it is.
    pub location: Region,
    /// What gives jobs to nodes.
    pub scheduler: Scheduler,
    /// The subnet of all nodes; `None` where the plan has no node that stands in one.
    pub subnet: Option<ArmId>,
    /// The network, where CycleCloud Workspace for Slurm makes one of its own.
    pub network: ClusterNetwork,
    /// An array of nodes for each pool.
    pub arrays: Vec<NodeArray>,
    /// What of the spec no template says.
    pub notes: Vec<ClusterNote>,
}

/// The network of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterNetwork {
    /// Its addresses, where the stack makes it.
    pub address_space: Option<String>,
    /// Whether a NAT gateway leads out.
    pub nat: bool,
    /// Whether a Bastion host leads in.
    pub bastion: bool,
}

/// The nodes of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeArray {
    /// Its name, which is the pool's; of the partition too.
    pub name: String,
    /// The size of its nodes.
    pub size: SizeName,
    /// The image: `publisher:offer:sku:version`, or an id.
    pub image: String,
    /// The most nodes that there may be.
    pub most: u32,
    /// Virtual CPUs of the size, where the catalogue has it.
    pub vcpus: Option<u32>,
    /// Memory of the size in MiB, where the catalogue has it.
    pub memory_mib: Option<u64>,
    /// GPUs that a node sees, where the catalogue has its size.
    pub gpus: Option<u32>,
    /// Whether all nodes are in one placement group, which is what InfiniBand connects.
    pub coupled: bool,
    /// Whether capacity is spare capacity, and the most per hour in US dollars for it.
    pub spot: Option<SpotLimit>,
    /// Zones.
    pub zones: Vec<String>,
    /// The disk of the operating system.
    pub os_disk: InstanceOsDisk,
    /// Data disks.
    pub data_disks: Vec<DataDisk>,
    /// The security type.
    pub security: Security,
    /// User-assigned identities of each node.
    pub identities: BTreeSet<ArmId>,
    /// Whether each node has a public address.
    pub public_address: bool,
    /// Whether jobs that name no array go there.
    pub is_default: bool,
}

/// What spare capacity may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpotLimit {
    /// Per hour in US dollars; `None` is up to the regular price.
    pub max_price: Option<Decimal>,
}

/// Something that a template does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterNote {
    /// Of which pool.
    pub pool: String,
    /// What, and what to do about it.
    pub text: String,
}
