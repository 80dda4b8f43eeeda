//! Azure Kubernetes Service: a cluster, and pools of nodes in it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::VmPriority;
use crate::{
    ids::ArmId,
    units::{CaseInsensitive, Region, SizeName},
};

/// The name of the pool that runs a cluster's own work.
pub const SYSTEM_POOL: &str = "system";

/// A cluster, with the pool that runs its own work: one write makes both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KubernetesCluster {
    /// Where it is.
    pub location: Region,
    /// `Free`, `Standard` or `Premium`.
    pub tier: CaseInsensitive,
    /// The beginning of the name of its API server.
    pub dns_prefix: String,
    /// The group in which Azure keeps the machines of its nodes.
    pub node_group: CaseInsensitive,
    /// User-assigned identities of the control plane; it has one of its own where there is none.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub identities: BTreeSet<ArmId>,
    /// Its network.
    pub network: ClusterNetwork,
    /// Blocks from which the API server may be reached; none for from everywhere.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub api_from: BTreeSet<String>,
    /// The pool that runs its own work.
    pub system: SystemPool,
}

/// The network of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterNetwork {
    /// `azure`, `kubenet` or `none`.
    pub plugin: CaseInsensitive,
    /// `overlay` where pods have addresses of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<CaseInsensitive>,
    /// How pods reach the internet: `userAssignedNATGateway`, `loadBalancer`, …
    pub outbound: CaseInsensitive,
    /// The block of pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<String>,
    /// The block of services.
    pub services: String,
}

/// The pool that runs a cluster's own work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemPool {
    /// The size of its nodes.
    pub size: SizeName,
    /// Number of its nodes.
    pub count: u32,
    /// Zones of its nodes.
    pub zones: Vec<String>,
    /// The subnet of its nodes.
    pub subnet: Option<ArmId>,
    /// Size of the OS disk of each node in GiB.
    pub os_disk_gb: u32,
    /// Whether the OS disk is on the node.
    pub os_disk_ephemeral: bool,
}

/// An agent pool: equal nodes of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentPool {
    /// Where it is, which is where its cluster is.
    pub location: Region,
    /// The size of its nodes.
    pub size: SizeName,
    /// Number of its nodes; the most that there may be where the cluster decides.
    pub nodes: u32,
    /// The fewest nodes, where the cluster decides how many there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoscale_min: Option<u32>,
    /// How the capacity of nodes is bought.
    pub priority: VmPriority,
    /// Zones of the nodes.
    pub zones: Vec<String>,
    /// The subnet of the nodes.
    pub subnet: Option<ArmId>,
    /// Size of the OS disk of each node in GiB.
    pub os_disk_gb: u32,
    /// Whether the OS disk is on the node.
    pub os_disk_ephemeral: bool,
    /// `Install` where AKS installs the driver of GPUs, `None` where it does not.
    pub gpu_driver: CaseInsensitive,
    /// Into what each GPU is cut: `MIG1g`, `MIG2g`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mig: Option<CaseInsensitive>,
    /// Labels of the nodes, without those that AKS sets.
    pub labels: BTreeMap<String, String>,
    /// Taints of the nodes, without those that AKS sets.
    pub taints: BTreeSet<String>,
}
