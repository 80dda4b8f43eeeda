//! Arguments of `estimate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `estimate`.
#[derive(Args, Debug)]
#[command(
    after_help = "GPUs: V100, T4, A10, A100-40, A100-80, H100 (SXM), H100-NVL, H200, MI300X, GB200, GB300, RTX-PRO-6000."
)]
pub(crate) struct Estimate {
    /// The GPU, by its exact name such as H100
    #[arg(long, value_name = "GPU")]
    pub(crate) gpu: String,
    /// How many GPUs; as many as are recommended unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) gpus: Option<u32>,
    /// All parameters, such as 70B
    #[arg(long, value_name = "PARAMETERS")]
    pub(crate) parameters: Option<String>,
    /// Parameters that take part in one token, for mixtures of experts
    #[arg(long, value_name = "PARAMETERS")]
    pub(crate) active_parameters: Option<String>,
    /// A known model, such as llama-3.1-70b
    #[arg(long, value_name = "NAME", conflicts_with = "config")]
    pub(crate) model: Option<String>,
    /// The model's config.json in the form of Hugging Face
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) shape: ShapeOptions,
    /// Serve the model instead of training it
    #[arg(long, conflicts_with_all = ["method", "micro_batch", "sharding", "recompute", "deadline"])]
    pub(crate) serve: bool,
    /// Sequences that are served at once
    #[arg(long, value_name = "N", requires = "serve", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) concurrency: Option<u32>,
    /// Tokens of one sequence: of training, or prompt and answer together
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) sequence: Option<u32>,
    /// Tokens in all, such as 1T
    #[arg(long, value_name = "TOKENS")]
    pub(crate) tokens: Option<String>,
    /// Time in which the tokens must be through, such as 30d
    #[arg(long, value_name = "SPAN", requires = "tokens")]
    pub(crate) deadline: Option<String>,
    /// The number format
    #[arg(long, value_enum, default_value_t)]
    pub(crate) precision: PrecisionName,
    /// What is trained
    #[arg(long, value_enum, default_value_t)]
    pub(crate) method: MethodName,
    /// Sequences of one step of a rank
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) micro_batch: Option<u32>,
    /// What data ranks shard
    #[arg(long, value_enum)]
    pub(crate) sharding: Option<ShardingName>,
    /// What is recomputed instead of kept
    #[arg(long, value_enum)]
    pub(crate) recompute: Option<RecomputeName>,
    /// GPUs that share a layer
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) tensor: Option<u32>,
    /// Stages of layers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) pipeline: Option<u32>,
    /// The region whose prices count
    #[arg(long, value_name = "REGION", default_value = "eastus")]
    pub(crate) location: String,
}

/// The shape of a model.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Shape of the model")]
pub(crate) struct ShapeOptions {
    /// Layers
    #[arg(long, value_name = "N", requires_all = ["hidden", "heads"], conflicts_with_all = ["model", "config"], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) layers: Option<u32>,
    /// Numbers that stand for a token between layers
    #[arg(long, value_name = "N", requires = "layers", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) hidden: Option<u32>,
    /// Query heads
    #[arg(long, value_name = "N", requires = "layers", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) heads: Option<u32>,
    /// Key and value heads [default: as many as query heads]
    #[arg(long, value_name = "N", requires = "layers", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) kv_heads: Option<u32>,
    /// Numbers of one head [default: hidden over heads]
    #[arg(long, value_name = "N", requires = "layers", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) head_dim: Option<u32>,
    /// Tokens of the vocabulary [default: 128256]
    #[arg(long, value_name = "N", requires = "layers", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) vocab: Option<u32>,
    /// Inner width of the feed-forward blocks [default: what the parameters leave, else 3.5 times hidden]
    #[arg(long, value_name = "N", requires = "layers", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) intermediate: Option<u32>,
}

/// Number formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionName {
    /// 32-bit floats
    Fp32,
    /// 16-bit floats with the range of 32-bit ones
    #[default]
    Bf16,
    /// 16-bit IEEE floats
    Fp16,
    /// 8-bit floats
    Fp8,
    /// 4-bit integers, for serving
    Int4,
}

/// Training methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// All weights
    #[default]
    Full,
    /// Low-rank adapters
    Lora,
    /// Low-rank adapters on 4-bit weights
    Qlora,
}

/// What data ranks shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShardingName {
    /// Nothing
    Ddp,
    /// The optimizer's states
    Zero1,
    /// Those and the gradients
    Zero2,
    /// Those and the weights
    #[value(alias = "zero3")]
    Fsdp,
}

/// What is recomputed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecomputeName {
    /// Nothing, without flash attention
    None,
    /// Attention
    Selective,
    /// Whole layers
    Full,
}
