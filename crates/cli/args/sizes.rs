//! Arguments of `sizes`.

use clap::{Args, ValueEnum};

/// Arguments of `sizes`.
#[derive(Args, Debug)]
pub(crate) struct Sizes {
    /// Only sizes with this GPU, such as H100
    #[arg(long, value_name = "GPU")]
    pub(crate) gpu: Option<String>,
    /// Only sizes with at least this memory a GPU, in GB
    #[arg(long, value_name = "GB")]
    pub(crate) min_gpu_memory: Option<u32>,
    /// Only sizes that this region offers, with its prices
    #[arg(long, value_name = "REGION", default_value = "eastus")]
    pub(crate) location: String,
    /// Only sizes that cost at most this many US dollars an hour
    #[arg(long, value_name = "USD")]
    pub(crate) max_hourly: Option<String>,
    /// Only sizes with RDMA
    #[arg(long)]
    pub(crate) rdma: bool,
    /// Order; sizes without a known price come last
    #[arg(long, value_enum, default_value_t)]
    pub(crate) sort: SizeOrder,
}

/// Orders of sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SizeOrder {
    /// By name
    #[default]
    Name,
    /// By price of a VM
    Price,
    /// By price of a GPU
    PricePerGpu,
    /// By price of a GiB of GPU memory
    PricePerGib,
    /// By price of a dense bf16 TFLOPS
    PricePerTflops,
}
