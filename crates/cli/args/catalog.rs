//! Arguments of `catalog`.

use clap::{Args, Subcommand};

/// Arguments of `catalog`.
#[derive(Args, Debug)]
pub(crate) struct Catalog {
    #[command(subcommand)]
    pub(crate) command: CatalogCommand,
}

/// Commands of `catalog`.
#[derive(Debug, Subcommand)]
pub(crate) enum CatalogCommand {
    /// Show tables, rows, days, sources and the cache
    Info,
    /// Read list prices, and what regions offer, into the cache
    Refresh(Refresh),
}

/// Arguments of `catalog refresh`.
#[derive(Args, Debug)]
pub(crate) struct Refresh {
    /// Only this region; may be given several times [default: all]
    #[arg(long, value_name = "REGION")]
    pub(crate) location: Vec<String>,
    /// Only list prices, which need no credential
    #[arg(long, conflicts_with = "offers")]
    pub(crate) prices: bool,
    /// Only what regions offer
    #[arg(long)]
    pub(crate) offers: bool,
}
