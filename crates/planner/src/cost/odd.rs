//! Prices that cannot be right: a size whose GPUs cost less than half of what they cost in a
//! smaller size of the same kind.

use std::collections::BTreeMap;

use model::{
    catalog::{GpuShare, ImageOs, Size},
    cost::PurchaseOption,
    diag::{At, Code, Diagnostic, SpecPath},
    plan::PoolPlan,
    units::Region,
};

use super::quote::{self, Meter, Prices};
use crate::select::Findings;

/// A GPU of a larger size may be cheaper, but not by more than this factor.
const MOST_SAVED: u32 = 2;

/// Finds pools whose price is odd.
pub(crate) fn check_pools(
    pools: &BTreeMap<String, PoolPlan>,
    region: &Region,
    prices: Prices<'_>,
    findings: &mut Findings,
) {
    for (name, pool) in pools {
        findings
            .diagnostics
            .extend(check(name, pool, region, prices).into_iter().collect());
    }
}

fn check(name: &str, pool: &PoolPlan, region: &Region, prices: Prices<'_>) -> Option<Diagnostic> {
    let option = if pool.priority == "spot" {
        PurchaseOption::Spot
    } else {
        PurchaseOption::OnDemand
    };
    let meter = Meter::of(ImageOs::Linux, option);
    let size = prices.catalog.size(&pool.size)?;
    let of_gpu = |size: &Size| {
        let quote = quote::machine(prices, region, &size.name, meter)?;
        quote.amount.checked_div(gpus(size)?.into())
    };
    let own = of_gpu(size)?;
    let smaller = prices
        .catalog
        .sizes()
        .iter()
        .filter(|other| are_alike(other, size) && gpus(other) < gpus(size));
    let (dearest, other) = smaller
        .filter_map(|other| Some((of_gpu(other)?, other)))
        .max_by_key(|(price, other)| (*price, other.name.key()))?;
    if dearest <= own.checked_mul(MOST_SAVED.into())? {
        return None;
    }
    let message = format!(
        "the price of `{}` ({}) in {region} is implausible: {} USD an hour for a GPU, which is {} in `{}`",
        size.name,
        meter.words(),
        own.round_dp(4).normalize(),
        dearest.round_dp(4).normalize(),
        other.name
    );
    let help = "look the price up before you rely on it: one of the two rows is old or wrong";
    let at = At::Value(SpecPath::pool(name, &["size"]));
    Some(Diagnostic::new(Code::PriceImplausible, at, message).with_help(help))
}

fn gpus(size: &Size) -> Option<u32> {
    let share = size.gpu.as_ref()?.share?;
    Some(GpuShare::whole(share)).filter(|count| *count > 0)
}

fn are_alike(one: &Size, other: &Size) -> bool {
    let gpu = |size: &Size| {
        let gpu = size.gpu.as_ref()?;
        Some((gpu.model.clone(), gpu.memory_gb))
    };
    one.series == other.series && one.version == other.version && gpu(one) == gpu(other)
}
