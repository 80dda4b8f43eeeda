//! What a run costs: of known tokens at a known speed, up to a deadline, or of given hours.

use std::{collections::BTreeMap, time::Duration};

use model::{
    cost::{PoolCost, PoolRun, RunBasis, StackRun},
    plan::{Plan, PoolPlan, Throughput},
    spec::{Pool, Stage},
    units::Micros,
};

use super::{
    bill::{self, Item, Priced, State},
    quote::Prices,
    report::{self, ReportInput},
};

const MILLION: u32 = 1_000_000;

/// What a run of a pool costs; `None` where nothing says how long it is.
pub(super) fn of_pool(
    input: ReportInput<'_>,
    name: &str,
    pool: &Pool,
    chosen: &PoolPlan,
) -> Option<PoolRun> {
    let (basis, seconds) = length(input.seconds, pool, chosen)?;
    let items = report::items(&input.plan.steps);
    let own = items.filter(|item| item.address.pool_name() == Some(name));
    let (micros, complete) = cost(own, seconds, input.prices);
    // Tokens over another time than the speed gives would be a price of nothing in particular,
    // and a share of an amount that lacks something would look like a price.
    let tokens = (basis == RunBasis::Throughput && complete)
        .then(|| pool.model.as_ref()?.tokens)
        .flatten();
    let million = tokens
        .and_then(|tokens| Micros::from_ratio(micros.to_decimal(), MILLION.into(), tokens.into()));
    Some(PoolRun {
        basis,
        seconds,
        micros,
        complete,
        million_tokens_micros: million,
    })
}

fn length(given: Option<u64>, pool: &Pool, chosen: &PoolPlan) -> Option<(RunBasis, u64)> {
    if let Some(seconds) = given {
        return Some((RunBasis::Hours, seconds));
    }
    if pool.stage != Stage::Training {
        return None;
    }
    if let Some(seconds) = chosen.throughput.as_ref().and_then(seconds_of) {
        return Some((RunBasis::Throughput, seconds));
    }
    pool.deadline
        .map(|deadline| (RunBasis::Deadline, deadline.seconds()))
}

/// Whole seconds, a begun one counted; money is never computed from a float.
fn seconds_of(throughput: &Throughput) -> Option<u64> {
    let duration = Duration::try_from_secs_f64(throughput.seconds?).ok()?;
    let begun = u64::from(duration.subsec_nanos() > 0);
    Some(duration.as_secs().saturating_add(begun)).filter(|seconds| *seconds > 0)
}

fn cost<'a>(
    items: impl Iterator<Item = Item<'a>>,
    seconds: u64,
    prices: Prices<'_>,
) -> (Micros, bool) {
    let bills = bill::count(items, State::Running);
    sum(&bill::price(&bills, None, prices), seconds)
}

/// What lines cost for some time, and whether all of it is known.
pub(super) fn sum(priced: &[Priced], seconds: u64) -> (Micros, bool) {
    priced
        .iter()
        .fold((Micros::default(), true), |(sum, complete), priced| {
            let quote = priced.quote.as_ref();
            match quote.and_then(|quote| quote.run(priced.count, seconds)) {
                Some(micros) => (sum.saturating_add(micros), complete),
                None => (sum, false),
            }
        })
}

/// What the runs of all pools cost, and what they share for as long as the longest takes.
pub(super) fn of_stack(
    plan: &Plan,
    pools: &BTreeMap<String, PoolCost>,
    prices: Prices<'_>,
) -> Option<StackRun> {
    let runs = pools.values().filter_map(|pool| pool.run);
    let seconds = runs.clone().map(|run| run.seconds).max()?;
    let shared = report::items(&plan.steps).filter(|item| item.address.pool_name().is_none());
    let (of_shared, is_known) = cost(shared, seconds, prices);
    let without: Vec<String> = pools
        .iter()
        .filter(|(_, pool)| pool.run.is_none())
        .map(|(name, _)| name.clone())
        .collect();
    Some(StackRun {
        seconds,
        micros: runs
            .clone()
            .fold(of_shared, |sum, run| sum.saturating_add(run.micros)),
        complete: is_known && without.is_empty() && runs.clone().all(|run| run.complete),
        without,
    })
}
