//! How a model is laid over GPUs.

/// What data parallelism shards over its ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sharding {
    /// Nothing: every rank has a whole copy.
    Ddp,
    /// The optimizer's states.
    Zero1,
    /// Those and the gradients.
    Zero2,
    /// Those and the weights: ZeRO-3, or FSDP.
    Fsdp,
}

/// What is recomputed in the backward pass instead of kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recompute {
    /// Nothing: attention keeps its matrix of scores.
    None,
    /// The attention, as flash attention does by itself.
    Selective,
    /// Whole layers.
    Full,
}

/// What the memory of the host holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Offload {
    /// Nothing.
    None,
    /// Gradients and the optimizer's states.
    Optimizer,
    /// Those and the weights.
    All,
}

/// How a model is laid over GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// GPUs that share a layer.
    pub tensor: u32,
    /// Stages of layers.
    pub pipeline: u32,
    /// Copies, or ranks that shard one.
    pub data: u32,
    /// What the data ranks shard.
    pub sharding: Sharding,
    /// What is recomputed.
    pub recompute: Recompute,
    /// What the host holds.
    pub offload: Offload,
    /// Sequences of one step of one data rank.
    pub micro_batch: u32,
}

impl Sharding {
    /// Every kind, the least sharded first.
    pub const ALL: [Self; 4] = [Self::Ddp, Self::Zero1, Self::Zero2, Self::Fsdp];

    /// The word that options and documents use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ddp => "ddp",
            Self::Zero1 => "zero1",
            Self::Zero2 => "zero2",
            Self::Fsdp => "fsdp",
        }
    }
}

impl Recompute {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::None, Self::Selective, Self::Full];

    /// The word that options and documents use.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Selective => "selective",
            Self::Full => "full",
        }
    }
}

impl Offload {
    /// The word that documents use.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Optimizer => "optimizer",
            Self::All => "all",
        }
    }
}

impl Split {
    /// GPUs in all.
    pub fn gpus(&self) -> u32 {
        self.tensor
            .saturating_mul(self.pipeline)
            .saturating_mul(self.data)
    }

    /// The name of the strategy, as plans show it.
    pub fn strategy(&self) -> String {
        if self.gpus() == 1 && self.offload == Offload::None {
            return "single".to_owned();
        }
        let base = match self.data {
            1 if self.gpus() == 1 => "single",
            1 => "model",
            _ => self.sharding.word(),
        };
        match self.offload {
            Offload::None => base.to_owned(),
            Offload::Optimizer => format!("{base}_offload"),
            Offload::All => format!("{base}_offload_all"),
        }
    }
}
