//! Arguments of `destroy`, `start` and `stop`, and how anything is applied.

use std::path::PathBuf;

use clap::Args;

/// How to apply.
#[derive(Args, Clone, Debug)]
pub(crate) struct Applying {
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Most steps under way at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) parallelism: Option<u16>,
    /// Write events to FILE as JSON lines
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
}

/// Arguments of `destroy`.
#[derive(Args, Debug)]
pub(crate) struct Destroy {
    /// Delete only orphans: what is the stack's and no spec wants
    #[arg(long)]
    pub(crate) orphans: bool,
    /// Most requests a second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_rps: Option<u32>,
    #[command(flatten)]
    pub(crate) applying: Applying,
}

/// Arguments of `start` and `stop`.
#[derive(Args, Debug)]
pub(crate) struct Power {
    /// The pools
    #[arg(required = true, value_name = "POOL")]
    pub(crate) pools: Vec<String>,
    /// Most requests a second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_rps: Option<u32>,
    #[command(flatten)]
    pub(crate) applying: Applying,
}
