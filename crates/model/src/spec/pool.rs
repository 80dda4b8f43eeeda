//! The types of a pool in a valid spec.

use std::fmt;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::{
    batch::Batch,
    cyclecloud::ServerSetup,
    kubernetes::AgentPoolSettings,
    parts::{ProximityGroup, SecurityChoice, Urn},
    storage::{DiskController, EphemeralOs},
};
use crate::{
    ids::ArmId,
    transformer::Transformer,
    units::{SizeName, Span},
};

/// A group of equal nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Pool {
    /// The AI stage.
    pub stage: Stage,
    /// The kind of model.
    pub workload: Workload,
    /// What is known about the model.
    pub model: Option<Model>,
    /// By when the training tokens must be through.
    pub deadline: Option<Span>,
    /// Number of nodes, where given.
    pub count: Option<u32>,
    /// Single VMs or a scale set.
    pub grouping: Grouping,
    /// The operating system.
    pub os: OperatingSystem,
    /// The VM size.
    pub size: SizeChoice,
    /// Sizes to try, in order, when there is no capacity.
    pub fallback: Vec<SizeName>,
    /// What to do about scarce capacity.
    pub capacity: Capacity,
    /// The VM image.
    pub image: ImageChoice,
    /// How capacity is bought.
    pub priority: Priority,
    /// Availability zones.
    pub zones: Zones,
    /// What runs the jobs.
    pub orchestrator: Orchestrator,
    /// The settings of Azure Batch.
    pub batch: Option<Batch>,
    /// The settings of Azure Kubernetes Service.
    pub aks: Option<AgentPoolSettings>,
    /// The scheduler of CycleCloud.
    pub scheduler: Option<Scheduler>,
    /// How its node is set up as a server of CycleCloud. No spec says it: the planner adds the pool
    /// where the spec needs one.
    pub server: Option<ServerSetup>,
    /// Containers on the nodes.
    pub containers: Option<Containers>,
    /// Disks of each node.
    pub disks: Disks,
    /// Existing stores to mount.
    pub mounts: Vec<Mount>,
    /// The user's own set-up script.
    pub bootstrap: Option<Bootstrap>,
    /// Where checkpoints go.
    pub checkpoint: Option<Checkpoint>,
    /// Accelerated networking; `None` decides by the size.
    pub accelerated_networking: Option<bool>,
    /// How nodes reach their disks; `None` decides by size and image.
    pub disk_controller: Option<DiskController>,
    /// The security type.
    pub security: SecurityChoice,
    /// How instances of a scale set are brought up to date; `None` leaves them as they are.
    pub rollout: Option<Rollout>,
    /// A capacity reservation group to draw from.
    pub capacity_reservation: Option<ArmId>,
    /// A proximity placement group that keeps nodes in one datacentre.
    pub proximity_placement_group: Option<ProximityGroup>,
    /// Whether a change may deallocate nodes.
    pub allow_stop: bool,
    /// Whether nodes are never deleted or replaced.
    pub protect: bool,
}

/// How instances of a scale set are brought up to date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rollout {
    /// Nodes that are away at once.
    pub max_unavailable: Share,
}

/// A number of nodes, or a part of them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// This many.
    Count(u32),
    /// This many of a hundred.
    Percent(u32),
}

impl Share {
    /// How many of so many nodes: one at least, and never more than there are.
    pub fn of(self, nodes: u32) -> u32 {
        let wanted = match self {
            Self::Count(count) => u64::from(count),
            Self::Percent(percent) => u64::from(nodes) * u64::from(percent) / 100,
        };
        let wanted = u32::try_from(wanted).unwrap_or(u32::MAX);
        wanted.min(nodes).max(1)
    }
}

/// The AI stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Weights change.
    Training,
    /// Weights are used.
    Inference,
}

/// The kind of model, by the article's three columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Workload {
    /// Generative.
    Generative,
    /// Not generative, complex.
    Complex,
    /// Not generative, small.
    Small,
}

/// What is known about the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// All parameters.
    pub parameters: Option<u64>,
    /// Parameters that take part in one token, for mixtures of experts.
    pub active_parameters: Option<u64>,
    /// The name of a known model.
    pub name: Option<String>,
    /// A local Hugging Face `config.json`.
    pub config: Option<String>,
    /// The shape that the file of `config` gives, once it was read.
    pub transformer: Option<Transformer>,
    /// The number format.
    pub precision: Precision,
    /// The training method.
    pub method: Method,
    /// Tokens in one sequence.
    pub sequence: Option<u32>,
    /// Training tokens in all.
    pub tokens: Option<u64>,
    /// Sequences served at once.
    pub concurrency: Option<u32>,
}

/// The number format of weights and activations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 32-bit floats.
    Fp32,
    /// 16-bit floats with the range of 32-bit ones.
    Bf16,
    /// 16-bit IEEE floats.
    Fp16,
    /// 8-bit floats.
    Fp8,
    /// 4-bit integers.
    Int4,
}

/// The training method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// All weights.
    Full,
    /// Low-rank adapters.
    Lora,
    /// Low-rank adapters on 4-bit weights.
    Qlora,
}

/// Single VMs or a scale set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// The planner decides.
    Auto,
    /// Single VMs.
    Vms,
    /// A scale set.
    ScaleSet,
}

/// The operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperatingSystem {
    /// Linux.
    Linux,
    /// The Windows edition of the Data Science VM.
    Windows {
        /// The environment variable that holds the administrator's password.
        password_from_env: Option<String>,
    },
}

/// The VM size.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeChoice {
    /// The planner decides.
    Auto,
    /// This one.
    Named(SizeName),
    /// The planner decides among those that fit.
    Constrained(SizeConstraints),
}

/// What a size must have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeConstraints {
    /// Family letters, such as `ND`.
    pub family: Vec<String>,
    /// GPU names, such as `H100`.
    pub gpu: Vec<String>,
    /// Nameplate memory of one GPU in GB.
    pub min_gpu_memory_gb: Option<u32>,
    /// Whether it has RDMA.
    pub rdma: Option<bool>,
    /// Most per hour and VM.
    pub max_hourly: Option<Decimal>,
}

/// What to do about scarce capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// How long to keep trying.
    pub wait: Span,
    /// The number of nodes that is enough; `None` means all.
    pub min_count: Option<u32>,
    /// What happens to a part of the nodes.
    pub on_partial: OnPartial,
}

/// What happens to a pool that got only a part of its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnPartial {
    /// They stay.
    Keep,
    /// They are removed.
    Rollback,
}

/// The VM image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageChoice {
    /// The planner decides.
    Auto,
    /// The Data Science VM.
    Dsvm,
    /// The HPC image that fits the size.
    Hpc,
    /// A marketplace image.
    Urn {
        /// `publisher:offer:sku:version`.
        urn: Urn,
        /// Whether its terms may be accepted.
        accept_terms: bool,
    },
    /// An image of the user's own.
    Id(String),
}

/// How capacity is bought.
#[derive(Clone, Debug, PartialEq)]
pub enum Priority {
    /// At the regular price, kept until given back.
    Regular,
    /// Spare capacity that Azure may take back at any time.
    Spot(Spot),
}

/// How spare capacity is bought.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// Most per hour and VM in US dollars; `None` is up to the regular price.
    pub max_price: Option<Decimal>,
    /// What eviction does.
    pub eviction: Eviction,
    /// Whether regular capacity is taken when there is no spare one.
    pub fallback_to_regular: bool,
}

/// What eviction does to a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Eviction {
    /// It is deleted with its disks.
    Delete,
    /// It is deallocated; its disks stay and cost.
    Deallocate,
}

/// Availability zones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Zones {
    /// The planner decides.
    Auto,
    /// No zone is asked for.
    None,
    /// These, in turn.
    Listed(Vec<u8>),
}

/// What runs the jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orchestrator {
    /// Nothing: the user does.
    Manual,
    /// Azure Batch.
    Batch,
    /// Azure Kubernetes Service.
    Aks,
    /// Azure CycleCloud.
    CycleCloud,
    /// The planner decides.
    Auto,
}

/// The scheduler of CycleCloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheduler {
    /// Slurm.
    Slurm,
    /// Grid Engine.
    GridEngine,
    /// PBS.
    Pbs,
}

/// Containers on the nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Containers {
    /// What runs them.
    pub runtime: ContainerRuntime,
    /// Images to pull.
    pub images: Vec<String>,
    /// The registry that nodes sign in to.
    pub registry: Option<String>,
    /// The identity by which they do.
    pub identity: Option<ArmId>,
}

/// What runs containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContainerRuntime {
    /// Nothing.
    None,
    /// Docker.
    Docker,
    /// containerd.
    Containerd,
    /// Enroot, with Pyxis on Slurm.
    Enroot,
}

/// Disks of each node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disks {
    /// Size of the operating system's disk in GiB; `None` decides by the image.
    pub os_size_gb: Option<u32>,
    /// Its type; `None` is Premium SSD where the size can use it.
    pub os_type: Option<DiskType>,
    /// Whether it stands on the node itself.
    pub os_ephemeral: EphemeralOs,
    /// Data disks.
    pub data: Vec<DataDisk>,
    /// Whether local NVMe disks become scratch space.
    pub scratch_nvme: bool,
}

/// A data disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataDisk {
    /// Size in GiB.
    pub size_gb: u32,
    /// Its type.
    pub disk_type: DiskType,
    /// Logical unit number.
    pub lun: u32,
}

/// The type of a managed disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskType {
    /// Premium SSD.
    Premium,
    /// Premium SSD v2.
    PremiumV2,
    /// Standard SSD.
    StandardSsd,
    /// Standard HDD.
    StandardHdd,
    /// Ultra Disk.
    Ultra,
}

/// An existing store to mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mount {
    /// Where on the node.
    pub path: String,
    /// What.
    pub source: String,
    /// How.
    pub kind: MountKind,
}

/// How a store is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MountKind {
    /// A blob container over NFS 3.
    BlobNfs,
    /// NFS.
    Nfs,
    /// Lustre.
    Lustre,
}

/// The user's own set-up script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// The file.
    pub script: String,
    /// What a changed script does.
    pub on_change: OnBootstrapChange,
    /// What the file says, once whoever reads files has read it.
    pub text: Option<ScriptText>,
}

/// The text of a script, which nothing prints.
#[derive(Clone, PartialEq, Eq)]
pub struct ScriptText(pub String);

impl fmt::Debug for ScriptText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScriptText({} bytes)", self.0.len())
    }
}

/// What a changed set-up script does to nodes that have run the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnBootstrapChange {
    /// The plan says so.
    Warn,
    /// They are replaced.
    Replace,
}

/// Where checkpoints go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Where.
    pub to: CheckpointTarget,
    /// How often the hook is called besides a notice of Azure's.
    pub every: Option<Span>,
    /// Program on the nodes that writes a checkpoint.
    pub hook: String,
    /// The identity by which nodes reach the container.
    pub identity: Option<ArmId>,
    /// Whether a container that the tool makes is never deleted.
    pub protect: bool,
}

/// Where checkpoints go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointTarget {
    /// A container made by the tool.
    Blob,
    /// The same, once its URL is known: what plans are made of.
    Made(String),
    /// An existing container.
    Url(String),
}
