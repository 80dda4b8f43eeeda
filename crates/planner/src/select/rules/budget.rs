//! A17: a size whose nodes alone cost more than the stack may is not chosen. A price that is
//! not known rejects nothing by itself, and is no way around the budget either.

use model::{plan::CandidateReason, spec::Budget};
use rust_decimal::Decimal;

use super::{Rule, Strength};
use crate::select::Trial;

/// A named size is checked with everything else that the stack costs.
pub(super) const RULE: Rule = Rule {
    id: "budget",
    strength: Strength::Choice,
    lasting: false,
    rejects,
};

/// Hours of a month, as everywhere.
const HOURS: Decimal = Decimal::from_parts(730, 0, 0, false, 0);

/// What a pool of a size costs above a limit of the budget.
pub(in crate::select) struct Excess {
    /// `hourly` or `monthly`.
    pub(in crate::select) key: &'static str,
    /// What the nodes cost.
    pub(in crate::select) cost: Decimal,
    /// What the budget allows.
    pub(in crate::select) limit: Decimal,
}

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let Excess { key, cost, limit } = excess(trial)?;
    let nodes = match trial.count.unwrap_or(1) {
        1 => String::new(),
        several => format!(" for {several} nodes"),
    };
    Some(format!(
        "costs {} USD {key}{nodes}, {} more than the budget of {}",
        cost.normalize(),
        (cost - limit).normalize(),
        limit.normalize()
    ))
}

/// By how much the nodes alone exceed the budget; `None` where they do not.
pub(in crate::select) fn excess(trial: &Trial<'_>) -> Option<Excess> {
    let Budget {
        hourly,
        monthly,
        currency: _,
        on_exceed: _,
    } = trial.context.budget.filter(|_| trial.grows())?;
    let context = trial.context;
    let price = context.paid_price(context.location, trial.size)?;
    let cost = price.checked_mul(Decimal::from(trial.count.unwrap_or(1)))?;
    let limits = [
        ("hourly", Some(cost), *hourly),
        ("monthly", cost.checked_mul(HOURS), *monthly),
    ];
    limits.into_iter().find_map(|(key, cost, limit)| {
        let (cost, limit) = cost.zip(limit)?;
        (cost > limit).then_some(Excess { key, cost, limit })
    })
}

/// Whether a budget limits a pool of a size whose price nobody knows.
fn is_unpriced(trial: &Trial<'_>) -> bool {
    let context = trial.context;
    context.budget.is_some()
        && trial.grows()
        && context.paid_price(context.location, trial.size).is_none()
}

/// Sizes without a known price go where there is a choice of others, or where the budget alone is
/// against others: what is unknown is not cheap.
pub(in crate::select) fn reject_unpriced<'a>(
    kept: &mut Vec<Trial<'a>>,
    rejected: &mut Vec<(Trial<'a>, Vec<CandidateReason>)>,
) {
    let is_dear = |(_, reasons): &(Trial<'_>, Vec<CandidateReason>)| matches!(reasons.as_slice(), [one] if one.code == RULE.id);
    let has_others = kept.iter().any(|trial| !is_unpriced(trial)) || rejected.iter().any(is_dear);
    if !has_others {
        return;
    }
    let reason = CandidateReason {
        code: RULE.id.to_owned(),
        message: "has no known price to hold against the budget".to_owned(),
    };
    let gone = kept.extract_if(.., |trial| is_unpriced(trial));
    rejected.extend(gone.map(|trial| (trial, vec![reason.clone()])));
}
