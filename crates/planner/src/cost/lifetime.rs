//! What a stack costs until its lifetime ends.

use model::{
    cost::{LifetimeCost, LifetimeOption, PurchaseOption},
    plan::CostKind,
    units::Micros,
};

use super::{
    bill::{self, Priced, State},
    report::{self, ReportInput},
    run,
};

/// What the stack costs from the plan on until its lifetime ends; `None` where it has none, and
/// once it is over: what is left then, such as protected nodes, costs without an end.
///
/// A commitment outlives every lifetime that this is asked for, so only what is paid by the hour
/// used is compared.
pub(super) fn of_stack(input: ReportInput<'_>) -> Option<LifetimeCost> {
    let ReportInput { plan, prices, .. } = input;
    let lifetime = plan.lifetime.filter(|lifetime| !lifetime.over)?;
    let left = lifetime.expires.unix() - plan.created_at.unix();
    let seconds = u64::try_from(left).unwrap_or_default();
    let bills = bill::count(report::items(&plan.steps), State::Running);
    let priced = bill::price(&bills, None, prices);
    let (micros, complete) = run::sum(&priced, seconds);
    let (nodes, rest): (Vec<Priced>, Vec<Priced>) = priced
        .into_iter()
        .partition(|line| line.kind == CostKind::Compute);
    let (of_rest, is_rest_known) = run::sum(&rest, seconds);
    let options = [PurchaseOption::OnDemand, PurchaseOption::Spot];
    let options = options.map(|option| {
        let mut known: Vec<Option<Micros>> = Vec::new();
        for (name, chosen) in &plan.pools {
            if let Some(pool) = input.spec.pools.get(name) {
                let ways = report::ways(input, name, pool, chosen, Some(seconds));
                let way = ways.into_iter().find(|way| way.option == option);
                known.push(way.and_then(|way| way.run_micros));
            }
        }
        let is_priced = nodes.is_empty() || known.iter().any(Option::is_some);
        LifetimeOption {
            option,
            micros: is_priced.then(|| {
                let known = known.iter().flatten();
                known.fold(of_rest, |sum, micros| sum.saturating_add(*micros))
            }),
            complete: is_rest_known && known.iter().all(Option::is_some),
        }
    });
    Some(LifetimeCost {
        starts: lifetime.starts,
        expires: lifetime.expires,
        seconds,
        micros,
        complete,
        options: options.to_vec(),
    })
}
