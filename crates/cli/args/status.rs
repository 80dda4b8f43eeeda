//! Arguments of `status`.

use clap::Args;

/// Arguments of `status`.
#[derive(Args, Debug)]
pub(crate) struct Status {
    /// Ask running nodes about their GPUs, driver, fabric, disks and the speed of an all-reduce
    #[arg(long)]
    pub(crate) verify: bool,
}
