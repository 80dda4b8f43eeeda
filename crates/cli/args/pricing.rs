//! Options about prices and what a stack may cost, and the command `cost`.

use std::path::PathBuf;

use clap::Args;
use rust_decimal::{Decimal, prelude::ToPrimitive as _};

/// By which prices, and what the stack may cost.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Pricing {
    /// Use the prices of an agreement, a CSV file, where it has any
    #[arg(long, value_name = "FILE")]
    pub(crate) price_book: Option<PathBuf>,
    /// Refuse a stack that costs more than this many US dollars an hour
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_hourly: Option<Decimal>,
    /// Refuse a stack that costs more than this many US dollars a month of 730 hours
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) max_monthly: Option<Decimal>,
    /// Refuse a stack of which not every price is known
    #[arg(long)]
    pub(crate) require_complete: bool,
}

/// Arguments of `cost`.
#[derive(Args, Debug)]
pub(crate) struct Cost {
    /// Ask nobody: nothing exists, quota and restrictions are unknown
    #[arg(long, conflicts_with_all = ["sandbox", "endpoint"])]
    pub(crate) offline: bool,
    /// Choose sizes and images anew instead of keeping live choices
    #[arg(long)]
    pub(crate) reselect: bool,
    #[command(flatten)]
    pub(crate) pricing: Pricing,
    /// Show what a run of this many hours costs
    #[arg(long, value_name = "N", value_parser = hours)]
    pub(crate) hours: Option<u64>,
    /// Rank the regions that have the sizes at known prices
    #[arg(long)]
    pub(crate) compare_regions: bool,
    /// Rank the sizes that fit each pool by the cost of the whole job
    #[arg(long)]
    pub(crate) compare_sizes: bool,
    /// Show line by line what the change costs compared with what is live
    #[arg(long)]
    pub(crate) diff: bool,
}

/// Reads an amount of money.
fn dollars(text: &str) -> Result<Decimal, String> {
    Decimal::from_str_exact(text)
        .ok()
        .filter(|amount| !amount.is_sign_negative() && amount.scale() <= 6)
        .ok_or_else(|| "expected US dollars such as `12.50`".to_owned())
}

/// Reads hours as seconds.
fn hours(text: &str) -> Result<u64, String> {
    let seconds = Decimal::from_str_exact(text)
        .ok()
        .and_then(|hours| hours.checked_mul(Decimal::from(3_600)))
        .filter(Decimal::is_integer)
        .and_then(|seconds| seconds.to_u64());
    seconds
        .filter(|seconds| *seconds > 0)
        .ok_or_else(|| "expected hours that are whole seconds, such as `36` or `1.5`".to_owned())
}
