//! The same stack in other regions, and pools of other sizes.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    catalog::Catalog,
    cost::{Amount, RegionComparison, RegionCost, RegionLeftOut, SizeCost},
    live::Live,
    plan::{CostKind, CostLine, Plan},
    spec::{Priority, SizeChoice, Spec},
    units::{Micros, Region},
};

use super::{
    bill::{self, Priced, State},
    quote::Prices,
    report::{self, ReportInput},
};
use crate::plan::Input;

/// Ranks the regions in which the stack could be, with the sizes of the plan.
pub fn regions(spec: &Spec, plan: &Plan, prices: Prices<'_>) -> RegionComparison {
    let items = report::items(&plan.steps);
    let bills = bill::count(items, State::Running);
    let planned = &plan.scope.location;
    let cost = |region: &Region| bill::price(&bills, Some(region), prices);
    let here = amount(&cost(planned));
    let mut comparison = RegionComparison {
        ranked: Vec::new(),
        left_out: Vec::new(),
    };
    for row in prices.catalog.regions() {
        let location = &row.name;
        let reason = not_offered(spec, plan, prices.catalog, location);
        let priced = if reason.is_none() {
            cost(location)
        } else {
            Vec::new()
        };
        let reason = reason.or_else(|| not_priced(&priced));
        if let Some(reason) = reason {
            comparison.left_out.push(RegionLeftOut {
                location: location.clone(),
                reason,
            });
            continue;
        }
        comparison
            .ranked
            .push(of_region(location, planned, here, &priced));
    }
    comparison.ranked.sort_by_key(|region| {
        let RegionCost {
            location, total, ..
        } = region;
        (total.monthly_micros, !total.complete, location.clone())
    });
    comparison
}

fn of_region(location: &Region, planned: &Region, here: Amount, priced: &[Priced]) -> RegionCost {
    let total = amount(priced);
    let machines = priced
        .iter()
        .filter(|priced| priced.kind == CostKind::Compute)
        .filter_map(|priced| priced.quote.as_ref());
    let days: BTreeSet<String> = machines
        .clone()
        .filter_map(|quote| quote.as_of.clone())
        .collect();
    let flags: BTreeSet<String> = machines.flat_map(|quote| quote.flags.clone()).collect();
    RegionCost {
        location: location.clone(),
        total,
        // Of two amounts that lack something, nobody knows by how much they differ.
        monthly_difference_micros: (total.complete && here.complete)
            .then(|| total.monthly_micros.saturating_sub(here.monthly_micros)),
        planned: location == planned,
        as_of: days.into_iter().collect(),
        flags: flags.into_iter().collect(),
    }
}

fn amount(priced: &[Priced]) -> Amount {
    let lines: Vec<CostLine> = priced.iter().map(Priced::line).collect();
    Amount::of(&lines)
}

/// Why a region does not offer what the pools have; `None` where it does.
fn not_offered(spec: &Spec, plan: &Plan, catalog: &Catalog, region: &Region) -> Option<String> {
    if !catalog.knows_offers(region) {
        return Some("which sizes it offers is not known".to_owned());
    }
    plan.pools.iter().find_map(|(name, pool)| {
        let is_spot = spec
            .pools
            .get(name)
            .is_some_and(|pool| matches!(pool.priority, Priority::Spot(_)));
        match catalog.offer(region, &pool.size) {
            None => Some(format!("`{}` is not offered", pool.size)),
            Some(offer) if is_spot && !offer.spot => {
                Some(format!("`{}` is not offered as spot", pool.size))
            }
            Some(_) => None,
        }
    })
}

fn not_priced(priced: &[Priced]) -> Option<String> {
    let without = priced
        .iter()
        .find(|priced| priced.kind == CostKind::Compute && priced.quote.is_none())?;
    Some(format!(
        "`{}` ({}) has no price",
        without.item, without.meter
    ))
}

/// Every size that the planner would have for each pool, by the cost of the whole job.
pub fn sizes(
    input: Input<'_>,
    plan: &Plan,
    prices: Prices<'_>,
    seconds: Option<u64>,
) -> BTreeMap<String, Vec<SizeCost>> {
    // What lives would hold sizes; what was answered still counts.
    let live = Live {
        subscription: input.live.subscription.clone(),
        facts: input.live.facts.clone(),
        ..Live::default()
    };
    let pools = plan.pools.iter().map(|(name, chosen)| {
        let mut spec = input.spec.clone();
        spec.locations = vec![plan.scope.location.clone()];
        spec.pools.retain(|other, _| other == name);
        let kept = chosen
            .candidates
            .iter()
            .filter(|candidate| candidate.rank.is_some() || candidate.size == chosen.size);
        let costs = kept.filter_map(|candidate| {
            let pool = spec.pools.get_mut(name)?;
            pool.size = SizeChoice::Named(candidate.size.clone());
            let other = crate::plan(Input {
                spec: &spec,
                live: &live,
                ..input
            });
            let cost = of_pool(&spec, &other.plan?, name, prices, seconds)?;
            Some(SizeCost {
                rank: candidate.rank,
                planned: candidate.size == chosen.size,
                ..cost
            })
        });
        let mut costs: Vec<SizeCost> = costs.collect();
        costs.sort_by_key(place);
        (name.clone(), costs)
    });
    pools.collect()
}

/// What a pool of a plan costs.
pub(crate) fn of_pool(
    spec: &Spec,
    plan: &Plan,
    name: &str,
    prices: Prices<'_>,
    seconds: Option<u64>,
) -> Option<SizeCost> {
    let input = ReportInput {
        spec,
        plan,
        before: &[],
        prices,
        seconds,
    };
    let pool = spec.pools.get(name)?;
    let chosen = plan.pools.get(name)?;
    let cost = report::pool_cost(input, name, pool, chosen);
    Some(SizeCost {
        size: cost.size,
        count: cost.count,
        rank: None,
        planned: false,
        total: cost.states.running,
        run: cost.run,
    })
}

/// The place of a size by the cost of the whole job: its run where that is known, else a month.
fn place(cost: &SizeCost) -> (bool, Micros, String) {
    match cost.run {
        Some(run) => (!run.complete, run.micros, cost.size.key()),
        None => (
            !cost.total.complete,
            cost.total.monthly_micros,
            cost.size.key(),
        ),
    }
}
