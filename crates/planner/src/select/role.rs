//! The six cells of the article's table as roles of a pool (rows A4 to A9).

use model::spec::{Stage, Workload};

/// What kind of machine a pool needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// GPUs with a fast interconnect: ND preferred, else NC over Ethernet (A4, A5).
    TrainingGpu,
    /// Memory-optimised CPUs (A6).
    TrainingCpu,
    /// GPUs without InfiniBand: NC, else ND (A7, A8).
    InferenceGpu,
    /// Compute-optimised CPUs (A9).
    InferenceCpu,
}

impl Role {
    /// The role of a stage and a workload.
    pub fn of(stage: Stage, workload: Workload) -> Self {
        match (stage, workload) {
            (Stage::Training, Workload::Generative | Workload::Complex) => Self::TrainingGpu,
            (Stage::Training, Workload::Small) => Self::TrainingCpu,
            (Stage::Inference, Workload::Generative | Workload::Complex) => Self::InferenceGpu,
            (Stage::Inference, Workload::Small) => Self::InferenceCpu,
        }
    }

    /// Whether the pool needs GPUs.
    pub fn has_gpu(self) -> bool {
        matches!(self, Self::TrainingGpu | Self::InferenceGpu)
    }

    /// Series of sizes that the article names for the role.
    pub fn series(self) -> &'static [&'static str] {
        match self {
            Self::TrainingGpu | Self::InferenceGpu => &["ND", "NC"],
            Self::TrainingCpu => &["E", "M"],
            Self::InferenceCpu => &["F", "FX"],
        }
    }

    /// The article's words for the cell.
    pub fn words(self) -> &'static str {
        match self {
            Self::TrainingGpu => "GPU sizes, ND preferred, else NC connected by Ethernet",
            Self::TrainingCpu => "memory-optimised CPU sizes",
            Self::InferenceGpu => "GPU sizes, NC or ND, without InfiniBand where possible",
            Self::InferenceCpu => "compute-optimised CPU sizes",
        }
    }
}

/// The article's row for a stage and a workload.
pub fn article_row(stage: Stage, workload: Workload) -> &'static str {
    match (stage, workload) {
        (Stage::Training, Workload::Generative) => "A4",
        (Stage::Training, Workload::Complex) => "A5",
        (Stage::Training, Workload::Small) => "A6",
        (Stage::Inference, Workload::Generative) => "A7",
        (Stage::Inference, Workload::Complex) => "A8",
        (Stage::Inference, Workload::Small) => "A9",
    }
}
