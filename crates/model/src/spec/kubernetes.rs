//! What a spec says of Azure Kubernetes Service.

use std::collections::BTreeMap;

use super::{
    parts::Cidr,
    pool::{ContainerRuntime, Orchestrator, Pool, Stage},
};
use crate::units::SizeName;

/// The settings of the stack's cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// What the control plane costs and promises.
    pub tier: ClusterTier,
    /// The size of the nodes of the system pool; `None` lets the planner decide.
    pub system_size: Option<SizeName>,
    /// The number of nodes of the system pool; `None` is two.
    pub system_count: Option<u32>,
    /// Blocks from which the API server may be reached; none for from everywhere.
    pub api_from: Vec<Cidr>,
}

/// Whether a pool is one of AKS, or may turn out to be: settings of AKS decide what is left open, and
/// what serves from containers may be served there.
pub fn may_be_of_aks(pool: &Pool) -> bool {
    let runtime = pool.containers.as_ref().map(|one| one.runtime);
    match pool.orchestrator {
        Orchestrator::Aks => true,
        Orchestrator::Auto => {
            is_of_aks(pool)
                || pool.stage == Stage::Inference && runtime == Some(ContainerRuntime::Containerd)
        }
        Orchestrator::Manual | Orchestrator::Batch | Orchestrator::CycleCloud => false,
    }
}

/// Whether the spec says by itself that a pool is one of AKS.
pub(super) fn is_of_aks(pool: &Pool) -> bool {
    match pool.orchestrator {
        Orchestrator::Aks => true,
        Orchestrator::Auto => pool.aks.is_some(),
        Orchestrator::Manual | Orchestrator::Batch | Orchestrator::CycleCloud => false,
    }
}

/// A tier of the control plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterTier {
    /// Costs nothing and promises nothing.
    #[default]
    Free,
    /// With an agreement on its uptime.
    Standard,
}

/// The settings of an agent pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentPoolSettings {
    /// Who installs the driver of GPUs.
    pub gpu_driver: GpuDriver,
    /// Into what each GPU is cut.
    pub mig: Option<Mig>,
    /// The fewest nodes, where the number of nodes follows what waits for one.
    pub autoscale_min: Option<u32>,
    /// Labels of the nodes.
    pub labels: BTreeMap<String, String>,
    /// Taints of the nodes, such as `sku=gpu:NoSchedule`; `None` where the spec says nothing.
    pub taints: Option<Vec<String>>,
}

/// Who installs the driver of GPUs on the nodes of an agent pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GpuDriver {
    /// AKS where it can.
    #[default]
    Auto,
    /// AKS.
    Install,
    /// Whoever does it in the cluster.
    None,
    /// AKS, with what stands above the driver too.
    Managed,
}

/// Into what a GPU is cut: the part that each instance has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mig {
    /// One of seven parts.
    One,
    /// Two of seven parts.
    Two,
    /// Three of seven parts.
    Three,
    /// Four of seven parts.
    Four,
    /// The whole.
    Seven,
}

impl Mig {
    /// The word in the spec.
    pub fn word(self) -> &'static str {
        match self {
            Self::One => "1g",
            Self::Two => "2g",
            Self::Three => "3g",
            Self::Four => "4g",
            Self::Seven => "7g",
        }
    }

    /// How many instances of it AKS makes of a GPU.
    pub fn instances(self) -> u32 {
        match self {
            Self::One => 7,
            Self::Two => 3,
            Self::Three => 2,
            Self::Four | Self::Seven => 1,
        }
    }
}
