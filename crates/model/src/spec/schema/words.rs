//! The words of a spec: each with its meaning, its value and whether it is supported.

use super::kind::{Later, Support, Word};
use crate::spec::{
    kubernetes::{ClusterTier, GpuDriver, Mig},
    parts::SecurityChoice,
    pool::{
        ContainerRuntime, DiskType, Eviction, Grouping, Method, MountKind, OnBootstrapChange,
        OnPartial, Orchestrator, Precision, Scheduler, Stage, Workload,
    },
    storage::{DiskController, EphemeralOs, EphemeralPlacement},
    types::{BastionSku, OnExceed, Outbound, Via},
};

/// Makes the table of words of a key and, beside it, the value of each word.
macro_rules! words {
    ($($table:ident, $values:ident: $type:ty {
        $($text:literal = $value:expr, $support:expr, $doc:literal;)+
    })+) => {
        $(
            pub(crate) const $table: &[Word] = &[
                $(Word { text: $text, doc: $doc, support: $support },)+
            ];
            pub(crate) const $values: &[(&str, $type)] = &[$(($text, $value),)+];
        )+
    };
}

/// The value of a word.
pub(crate) fn value_of<T: Copy>(values: &[(&str, T)], word: &str) -> Option<T> {
    values
        .iter()
        .find(|(text, _)| *text == word)
        .map(|(_, value)| *value)
}

/// The word of a value.
pub(crate) fn word_of<T: Copy + PartialEq>(
    values: &[(&'static str, T)],
    value: T,
) -> Option<&'static str> {
    values
        .iter()
        .find(|(_, candidate)| *candidate == value)
        .map(|(text, _)| *text)
}

const NOW: Support = Support::Now;

const fn not_yet(later: &'static Later) -> Support {
    Support::NotYet(later)
}

const MANAGED_GPU: Later = Later {
    lacks: "uses no previews of AKS, and GPUs that AKS manages are one",
    instead: "use `gpu_driver: install`, or `none` with the GPU operator",
};
const IDENTITY: Later = Later {
    lacks: "gives nodes no identity",
    instead: "use `identity: none`",
};
const ENROOT: Later = Later {
    lacks: "installs no Enroot",
    instead: "use `runtime: docker`",
};
const CURRENCY: Later = Later {
    lacks: "knows prices in US dollars only",
    instead: "give the budget in `USD`",
};

words! {
    STAGE, STAGES: Stage {
        "training" = Stage::Training, NOW, "the model's weights change";
        "inference" = Stage::Inference, NOW, "the model answers";
    }
    WORKLOAD, WORKLOADS: Workload {
        "generative" = Workload::Generative, NOW, "models that write, draw or speak";
        "complex" = Workload::Complex, NOW, "large models that are not generative";
        "small" = Workload::Small, NOW, "models for which CPUs are enough";
    }
    PRECISION, PRECISIONS: Precision {
        "fp32" = Precision::Fp32, NOW, "32-bit floats";
        "bf16" = Precision::Bf16, NOW, "16-bit floats with the range of 32-bit ones";
        "fp16" = Precision::Fp16, NOW, "16-bit IEEE floats";
        "fp8" = Precision::Fp8, NOW, "8-bit floats";
        "int4" = Precision::Int4, NOW, "4-bit integers";
    }
    METHOD, METHODS: Method {
        "full" = Method::Full, NOW, "all weights are trained";
        "lora" = Method::Lora, NOW, "low-rank adapters are trained";
        "qlora" = Method::Qlora, NOW, "low-rank adapters on 4-bit weights are trained";
    }
    GROUPING, GROUPINGS: Grouping {
        "auto" = Grouping::Auto, NOW, "the planner decides";
        "vms" = Grouping::Vms, NOW, "single VMs";
        "scale_set" = Grouping::ScaleSet, NOW, "one scale set";
    }
    OS, SYSTEMS: bool {
        "linux" = false, NOW, "Linux";
        "windows" = true, NOW, "the Windows edition of the Data Science VM";
    }
    ORCHESTRATOR, ORCHESTRATORS: Orchestrator {
        "manual" = Orchestrator::Manual, NOW, "nothing: jobs are started by hand";
        "auto" = Orchestrator::Auto, NOW, "the planner decides by containers, scheduling and scaling, among `manual`, `batch` and `aks`";
        "batch" = Orchestrator::Batch, NOW, "Azure Batch";
        "aks" = Orchestrator::Aks, NOW, "Azure Kubernetes Service";
        "cyclecloud" = Orchestrator::CycleCloud, NOW, "Azure CycleCloud: nodes come when jobs of a scheduler wait";
    }
    CLUSTER_TIER, CLUSTER_TIERS: ClusterTier {
        "free" = ClusterTier::Free, NOW, "costs nothing and promises nothing";
        "standard" = ClusterTier::Standard, NOW, "with an agreement on the uptime of the API server";
    }
    GPU_DRIVER, GPU_DRIVERS: GpuDriver {
        "auto" = GpuDriver::Auto, NOW, "AKS on NVIDIA GPUs, nobody on AMD GPUs";
        "install" = GpuDriver::Install, NOW, "AKS";
        "none" = GpuDriver::None, NOW, "whoever does it in the cluster, such as the GPU operator";
        "managed" = GpuDriver::Managed, not_yet(&MANAGED_GPU), "AKS, with device plugin and metrics";
    }
    MIG, MIGS: Mig {
        "1g" = Mig::One, NOW, "one of seven parts";
        "2g" = Mig::Two, NOW, "two of seven parts";
        "3g" = Mig::Three, NOW, "three of seven parts";
        "4g" = Mig::Four, NOW, "four of seven parts";
        "7g" = Mig::Seven, NOW, "the whole GPU as one instance";
    }
    SCHEDULER, SCHEDULERS: Scheduler {
        "slurm" = Scheduler::Slurm, NOW, "Slurm";
        "gridengine" = Scheduler::GridEngine, NOW, "Grid Engine";
        "pbs" = Scheduler::Pbs, NOW, "OpenPBS";
    }
    SECURITY, SECURITIES: SecurityChoice {
        "auto" = SecurityChoice::Auto, NOW, "the planner decides by image and size";
        "standard" = SecurityChoice::Standard, NOW, "none";
        "trusted_launch" = SecurityChoice::TrustedLaunch, NOW, "Trusted Launch";
    }
    EVICTION, EVICTIONS: Eviction {
        "delete" = Eviction::Delete, NOW, "the node goes with its disks";
        "deallocate" = Eviction::Deallocate, NOW, "the node stops; its disks stay and cost";
    }
    SPOT_FALLBACK, SPOT_FALLBACKS: bool {
        "none" = false, NOW, "the pool waits for spare capacity";
        "regular" = true, NOW, "regular capacity is bought instead";
    }
    DISK_TYPE, DISK_TYPES: DiskType {
        "premium" = DiskType::Premium, NOW, "Premium SSD";
        "premium_v2" = DiskType::PremiumV2, NOW, "Premium SSD v2";
        "standard_ssd" = DiskType::StandardSsd, NOW, "Standard SSD";
        "standard_hdd" = DiskType::StandardHdd, NOW, "Standard HDD";
        "ultra" = DiskType::Ultra, NOW, "Ultra Disk";
    }
    OS_DISK_TYPE, OS_DISK_TYPES: DiskType {
        "premium" = DiskType::Premium, NOW, "Premium SSD";
        "standard_ssd" = DiskType::StandardSsd, NOW, "Standard SSD";
        "standard_hdd" = DiskType::StandardHdd, NOW, "Standard HDD";
    }
    EPHEMERAL, EPHEMERALS: EphemeralOs {
        "none" = EphemeralOs::No, NOW, "a managed disk, which outlives deallocation";
        "auto" = EphemeralOs::Auto, NOW, "on the node, where the size has room for it";
        "cache_disk" = EphemeralOs::At(EphemeralPlacement::CacheDisk), NOW, "in the host's cache (`CacheDisk`)";
        "resource_disk" = EphemeralOs::At(EphemeralPlacement::ResourceDisk), NOW, "on the temporary disk (`ResourceDisk`)";
        "nvme_disk" = EphemeralOs::At(EphemeralPlacement::NvmeDisk), NOW, "on local NVMe disks, which it takes whole (`NvmeDisk`)";
    }
    DISK_CONTROLLER, DISK_CONTROLLERS: Option<DiskController> {
        "auto" = None, NOW, "the planner decides";
        "scsi" = Some(DiskController::Scsi), NOW, "SCSI";
        "nvme" = Some(DiskController::Nvme), NOW, "NVMe; needs a size and an image that have it";
    }
    SCRATCH_DISK, SCRATCH_DISKS: bool {
        "none" = false, NOW, "local disks are left alone";
        "nvme" = true, NOW, "local NVMe disks become one file system at `/scratch`";
    }
    ON_PARTIAL, ON_PARTIALS: OnPartial {
        "keep" = OnPartial::Keep, NOW, "the nodes that were made stay";
        "rollback" = OnPartial::Rollback, NOW, "they are removed";
    }
    RUNTIME, RUNTIMES: ContainerRuntime {
        "none" = ContainerRuntime::None, NOW, "nothing is installed";
        "docker" = ContainerRuntime::Docker, NOW, "Docker, with the NVIDIA Container Toolkit where there are GPUs of NVIDIA";
        "containerd" = ContainerRuntime::Containerd, NOW, "containerd, with the same";
        "enroot" = ContainerRuntime::Enroot, not_yet(&ENROOT), "Enroot, with Pyxis on Slurm";
    }
    MOUNT, MOUNTS: MountKind {
        "blob_nfs" = MountKind::BlobNfs, NOW, "a blob container over NFS 3";
        "nfs" = MountKind::Nfs, NOW, "NFS";
        "lustre" = MountKind::Lustre, NOW, "Lustre";
    }
    ON_CHANGE, ON_CHANGES: OnBootstrapChange {
        "warn" = OnBootstrapChange::Warn, NOW, "plans say that nodes were set up otherwise";
        "replace" = OnBootstrapChange::Replace, NOW, "nodes are replaced";
    }
    OUTBOUND, OUTBOUNDS: Outbound {
        "nat" = Outbound::Nat, NOW, "a NAT gateway with a public address";
        "none" = Outbound::None, NOW, "no way out";
        "existing" = Outbound::Existing, NOW, "what the given subnet has";
    }
    VIA, VIAS: Via {
        "none" = Via::None, NOW, "no way in is made";
        "bastion" = Via::Bastion, NOW, "an Azure Bastion host in the stack's network";
        "public_ip" = Via::PublicIp, NOW, "a public address on each node, open for `ssh_from` alone";
        "existing" = Via::Existing, NOW, "what the given subnet has";
    }
    BASTION_SKU, BASTION_SKUS: BastionSku {
        "standard" = BastionSku::Standard, NOW, "`ssh` and other clients of one's own get through";
        "basic" = BastionSku::Basic, NOW, "in the browser only";
    }
    ON_EXCEED, ON_EXCEEDS: OnExceed {
        "error" = OnExceed::Error, NOW, "the plan is refused";
        "warn" = OnExceed::Warn, NOW, "the plan says so";
    }
    PROXIMITY_GROUP, PROXIMITY_GROUPS: bool {
        "own" = true, NOW, "one that the tool makes for the pool";
    }
    IDENTITY_WORD, IDENTITIES: bool {
        "none" = false, NOW, "no identity";
        "system" = true, not_yet(&IDENTITY), "one of each node's own";
    }
}

const fn word(text: &'static str, doc: &'static str) -> Word {
    Word {
        text,
        doc,
        support: NOW,
    }
}

const fn currency(text: &'static str, doc: &'static str) -> Word {
    Word {
        text,
        doc,
        support: not_yet(&CURRENCY),
    }
}

/// Currencies of Azure's price list.
pub(crate) const CURRENCY_WORD: &[Word] = &[
    word("USD", "US dollar"),
    currency("AUD", "Australian dollar"),
    currency("BRL", "Brazilian real"),
    currency("CAD", "Canadian dollar"),
    currency("CHF", "Swiss franc"),
    currency("CNY", "Chinese yuan"),
    currency("DKK", "Danish krone"),
    currency("EUR", "Euro"),
    currency("GBP", "British pound"),
    currency("INR", "Indian rupee"),
    currency("JPY", "Japanese yen"),
    currency("KRW", "Korean won"),
    currency("NOK", "Norwegian krone"),
    currency("NZD", "New Zealand dollar"),
    currency("SEK", "Swedish krona"),
    currency("TWD", "Taiwan dollar"),
];

/// The one word of keys that leave the decision to the planner.
pub(crate) const AUTO: &[Word] = &[word("auto", "the planner decides")];
/// Where keys come from when none are given.
pub(crate) const GENERATE: &[Word] = &[word("generate", "the tool makes a pair")];
/// Images by name.
pub(crate) const IMAGE: &[Word] = &[
    word("auto", "the planner decides"),
    word("dsvm", "the Data Science VM"),
    word("hpc", "the HPC image that fits the size"),
];
/// How capacity is bought.
pub(crate) const PRIORITY: &[Word] = &[
    word("regular", "capacity that stays until it is given back"),
    word("spot", "spare capacity that Azure may take back"),
];
/// Zones without a list.
pub(crate) const ZONES: &[Word] = &[
    word(
        "auto",
        "nodes are spread evenly over the zones that are open to the subscription; those of one training job share a zone, and live ones stay where they are",
    ),
    word(
        "none",
        "no zone is asked for: Azure places the nodes in the region",
    ),
];
/// Where checkpoints go.
pub(crate) const CHECKPOINT_TO: &[Word] = &[word("blob", "a container that the tool makes")];
/// GPU names.
pub(crate) const GPU: &[Word] = &[
    word("V100", "NVIDIA V100"),
    word("T4", "NVIDIA T4"),
    word("A10", "NVIDIA A10"),
    word("A100-40", "NVIDIA A100, 40 GB"),
    word("A100-80", "NVIDIA A100, 80 GB"),
    word("H100", "NVIDIA H100 SXM, 80 GB"),
    word("H100-NVL", "NVIDIA H100 NVL, 94 GB"),
    word("H200", "NVIDIA H200, 141 GB"),
    word("MI300X", "AMD Instinct MI300X, 192 GB"),
    word("GB200", "NVIDIA GB200"),
    word("GB300", "NVIDIA GB300"),
    word("RTX-PRO-6000", "NVIDIA RTX PRO 6000 Blackwell, 96 GB"),
];
