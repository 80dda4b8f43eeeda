//! Azure CycleCloud: an array of nodes that a server makes and deletes.
//!
//! Azure knows no such resource. It is kept as a command that the server has run, which imports it:
//! whoever reads the command back knows the array.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::{ImageReference, InstanceDataDisk, InstanceOsDisk, Security, VmPriority};
use crate::{
    cyclecloud::{self, Cluster, ClusterNetwork, SpotLimit},
    ids::ArmId,
    spec::{DataDisk, Scheduler},
    units::{Region, SizeName},
};

/// A node array: equal nodes of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeArray {
    /// Where it is, which is where its server is.
    pub location: Region,
    /// Its name, which is the pool's; of the partition too.
    pub name: String,
    /// The cluster, which is the stack's only one.
    pub cluster: String,
    /// What gives jobs to nodes.
    pub scheduler: Scheduler,
    /// The subnet of the nodes.
    pub subnet: ArmId,
    /// The size of the nodes.
    pub size: SizeName,
    /// The most nodes that there may be.
    pub nodes: u32,
    /// The image of the nodes.
    pub image: ImageReference,
    /// How the capacity of nodes is bought.
    pub priority: VmPriority,
    /// Zones of the nodes.
    pub zones: Vec<String>,
    /// Whether all nodes are in placement groups, which is what InfiniBand connects.
    pub coupled: bool,
    /// The disk of the operating system of each node.
    pub os_disk: InstanceOsDisk,
    /// Data disks of each node by logical unit number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub data_disks: BTreeMap<u32, InstanceDataDisk>,
    /// The security type.
    pub security: Security,
    /// User-assigned identities of each node.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub identities: BTreeSet<ArmId>,
    /// Whether each node has a public address of its own.
    #[serde(default, skip_serializing_if = "super::properties::is_false")]
    pub public_address: bool,
    /// Whether jobs that name no array go there.
    pub is_default: bool,
    /// Whether the cluster is started once the array is imported.
    pub start: bool,
}

impl NodeArray {
    /// The cluster as if it had this array alone, for its template.
    pub fn as_cluster(&self) -> Cluster {
        Cluster {
            name: self.cluster.clone(),
            user: String::new(),
            location: self.location.clone(),
            scheduler: self.scheduler,
            subnet: Some(self.subnet.clone()),
            network: ClusterNetwork {
                address_space: None,
                nat: false,
                bastion: false,
            },
            arrays: vec![self.as_section()],
            notes: Vec::new(),
        }
    }

    fn as_section(&self) -> cyclecloud::NodeArray {
        let disks = self.data_disks.iter().map(|(lun, disk)| DataDisk {
            size_gb: disk.size_gb,
            disk_type: disk.disk_type,
            lun: *lun,
        });
        cyclecloud::NodeArray {
            name: self.name.clone(),
            size: self.size.clone(),
            image: self.image.to_string(),
            most: self.nodes,
            vcpus: None,
            memory_mib: None,
            gpus: None,
            coupled: self.coupled,
            spot: SpotLimit::of(&self.priority),
            zones: self.zones.clone(),
            os_disk: self.os_disk.clone(),
            data_disks: disks.collect(),
            security: self.security.clone(),
            identities: self.identities.clone(),
            public_address: self.public_address,
            is_default: self.is_default,
        }
    }
}

impl SpotLimit {
    /// What spare capacity may cost; nothing where capacity is bought at the regular price.
    pub fn of(priority: &VmPriority) -> Option<Self> {
        match priority {
            VmPriority::Regular => None,
            VmPriority::Spot {
                eviction: _,
                max_price,
            } => Some(Self {
                max_price: Some(*max_price).filter(|price: &Decimal| !price.is_sign_negative()),
            }),
        }
    }
}
