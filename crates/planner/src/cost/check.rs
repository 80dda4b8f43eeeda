//! What the user must know about a cost: unknown prices, and budgets.

use model::{
    address::Address,
    diag::{At, Code, Diagnostic, Severity, SpecPath},
    plan::Cost,
    spec::{Budget, OnExceed, Priority, Spec},
    units::Micros,
};
use rust_decimal::Decimal;

use crate::select::Findings;

/// Finds unknown prices and exceeded budgets.
pub(crate) fn check(cost: &Cost, spec: &Spec, findings: &mut Findings) {
    for line in cost.lines.iter().filter(|line| !line.known) {
        let message = format!(
            "`{}` ({}) has no price in the catalogue: totals are \"at least\"",
            line.item, line.meter
        );
        findings.diagnostics.push(Diagnostic::new(
            Code::PriceUnknown,
            at_pool(&line.address),
            message,
        ));
    }
    let Some(budget) = &spec.budget else { return };
    let spot = spec
        .pools
        .values()
        .any(|pool| matches!(pool.priority, Priority::Spot(_)));
    let limits = [
        ("hourly", budget.hourly, cost.after.hourly_micros),
        ("monthly", budget.monthly, cost.after.monthly_micros),
    ];
    for (key, limit, total) in limits {
        let limit = limit.and_then(|limit| Micros::from_price(limit, Decimal::ONE));
        if let Some(limit) = limit.filter(|limit| total > *limit) {
            findings
                .diagnostics
                .push(over_budget(cost, budget, key, limit, total));
        } else if limit.is_some() && spot {
            let message =
                format!("the {key} budget is met with spot prices, which change at any time");
            findings.diagnostics.push(Diagnostic::new(
                Code::BudgetOnSpot,
                At::Value(SpecPath::of(&["budget", key])),
                message,
            ));
        }
    }
}

fn over_budget(
    cost: &Cost,
    budget: &Budget,
    key: &str,
    limit: Micros,
    total: Micros,
) -> Diagnostic {
    let at_least = if cost.complete { "" } else { "at least " };
    let excess = total.saturating_sub(limit);
    let message = format!(
        "the stack costs {at_least}{total} {} {key}, {excess} more than the budget of {limit}",
        cost.currency
    );
    let severity = match budget.on_exceed {
        OnExceed::Error => Severity::Error,
        OnExceed::Warn => Severity::Warning,
    };
    Diagnostic::new(
        Code::OverBudget,
        At::Value(SpecPath::of(&["budget", key])),
        message,
    )
    .with_severity(severity)
    .with_help("use fewer nodes or a cheaper size, or raise the budget")
}

fn at_pool(address: &str) -> At {
    address.parse::<Address>().map_or(At::Nowhere, At::Resource)
}
