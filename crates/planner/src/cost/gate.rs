//! What the user must know about a cost, and what it may be at most: unknown prices, odd ones,
//! budgets and limits.

use model::{
    address::Address,
    catalog::Catalog,
    cost::Amount,
    diag::{At, Code, Diagnostic, Diagnostics, Severity, SpecPath},
    plan::{Cost, CostKind, CostLine, Plan},
    spec::{Budget, OnExceed},
    units::Micros,
};
use rust_decimal::Decimal;

use super::{
    compare,
    quote::{BY_AGREEMENT, Prices},
    report,
};
use crate::select::Findings;

/// What the command line allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Most per hour.
    pub max_hourly: Option<Decimal>,
    /// Most per month of 730 hours.
    pub max_monthly: Option<Decimal>,
    /// Whether every price must be known.
    pub require_complete: bool,
}

/// A limit, as the user set it.
struct Gate {
    /// `hourly` or `monthly`.
    key: &'static str,
    /// The option on the command line; `None` for the budget of the spec.
    option: Option<&'static str>,
    limit: Micros,
    severity: Severity,
}

/// Finds unknown prices and exceeded limits; `regular` is what the stack costs with every spot
/// node paid for on demand, where it has spot nodes.
pub(crate) fn check(
    cost: &Cost,
    regular: Option<Amount>,
    budget: Option<&Budget>,
    limits: &Limits,
    findings: &mut Findings,
) {
    let unknown: Vec<&CostLine> = cost.lines.iter().filter(|line| !line.known).collect();
    for line in &unknown {
        findings.diagnostics.push(unknown_price(line));
    }
    if limits.require_complete && !unknown.is_empty() {
        findings.diagnostics.push(not_complete(&unknown));
    }
    for gate in gates(budget, limits) {
        let (total, at_regular) = match gate.key {
            "hourly" => (
                cost.after.hourly_micros,
                regular.map(|all| all.hourly_micros),
            ),
            _ => (
                cost.after.monthly_micros,
                regular.map(|all| all.monthly_micros),
            ),
        };
        if total > gate.limit {
            findings.diagnostics.push(exceeded(cost, &gate, total));
            continue;
        }
        if !unknown.is_empty() {
            findings
                .diagnostics
                .push(partly_checked(&gate, total, &unknown));
        }
        if let Some((regular, amount)) = at_regular.zip(regular) {
            let finding = on_spot(&gate, regular, amount.complete);
            findings.diagnostics.push(finding);
        }
    }
}

/// What limits of the command line say of a plan that was made without them.
pub fn check_limits(plan: &Plan, limits: &Limits, catalog: &Catalog) -> Diagnostics {
    let items = report::items(&plan.steps);
    let regular = compare::at_regular_prices(items, Prices::list(catalog));
    let mut findings = Findings::default();
    check(&plan.cost, regular, None, limits, &mut findings);
    findings.diagnostics
}

/// Whether something limits what the stack may cost.
pub(crate) fn has_gates(budget: Option<&Budget>, limits: &Limits) -> bool {
    gates(budget, limits)
        .iter()
        .any(|gate| gate.severity == Severity::Error)
}

/// Why a plan of this cost would be refused; `None` where it would not be.
pub(crate) fn refused(cost: &Cost, budget: Option<&Budget>, limits: &Limits) -> Option<String> {
    let gates = gates(budget, limits).into_iter();
    let mut strict = gates.filter(|gate| gate.severity == Severity::Error);
    strict.find_map(|gate| {
        let total = match gate.key {
            "hourly" => cost.after.hourly_micros,
            _ => cost.after.monthly_micros,
        };
        (total > gate.limit).then(|| exceeded(cost, &gate, total).message)
    })
}

fn gates(budget: Option<&Budget>, limits: &Limits) -> Vec<Gate> {
    let severity = budget.map_or(Severity::Error, |budget| match budget.on_exceed {
        OnExceed::Error => Severity::Error,
        OnExceed::Warn => Severity::Warning,
    });
    let all = [
        (
            "hourly",
            None,
            budget.and_then(|budget| budget.hourly),
            severity,
        ),
        (
            "monthly",
            None,
            budget.and_then(|budget| budget.monthly),
            severity,
        ),
        (
            "hourly",
            Some("--max-hourly"),
            limits.max_hourly,
            Severity::Error,
        ),
        (
            "monthly",
            Some("--max-monthly"),
            limits.max_monthly,
            Severity::Error,
        ),
    ];
    let gates = all
        .into_iter()
        .filter_map(|(key, option, limit, severity)| {
            Some(Gate {
                key,
                option,
                limit: Micros::from_price(limit?, Decimal::ONE)?,
                severity,
            })
        });
    gates.collect()
}

impl Gate {
    /// As a sentence names it.
    fn name(&self) -> String {
        match self.option {
            Some(option) => format!("`{option}`"),
            None => format!("the {} budget", self.key),
        }
    }

    fn at(&self) -> At {
        match self.option {
            Some(_) => At::Nowhere,
            None => At::Value(SpecPath::of(&["budget", self.key])),
        }
    }

    /// What may be raised.
    fn what(&self) -> String {
        match self.option {
            Some(option) => format!("`{option}`"),
            None => "the budget".to_owned(),
        }
    }

    /// A total above the limit, and by how much above which limit, as one reads after another.
    fn excess(&self, total: Micros) -> (String, String) {
        let more = total.saturating_sub(self.limit);
        let is_lost = total.to_string() == self.limit.to_string();
        // Rounded, the two would be the same.
        let text = |amount: Micros| {
            if is_lost {
                amount.to_decimal().normalize().to_string()
            } else {
                amount.to_string()
            }
        };
        let limit = text(self.limit);
        let limit = match self.option {
            Some(option) => format!("the {limit} that `{option}` allows"),
            None => format!("the budget of {limit}"),
        };
        (text(total), format!("{} more than {limit}", text(more)))
    }
}

fn unknown_price(line: &CostLine) -> Diagnostic {
    let message = format!(
        "`{}` ({}) has no price in the catalogue: totals are \"at least\"",
        line.item, line.meter
    );
    Diagnostic::new(Code::PriceUnknown, at_pool(&line.address), message)
}

fn things(unknown: &[&CostLine]) -> String {
    let names: Vec<String> = unknown
        .iter()
        .map(|line| format!("`{}` of {}", line.item, line.address))
        .collect();
    names.join(", ")
}

fn not_complete(unknown: &[&CostLine]) -> Diagnostic {
    let message = format!(
        "`--require-complete` refuses a total with unknown prices: {}",
        things(unknown)
    );
    let help = "give the prices in a `--price-book`, or choose what has a price";
    Diagnostic::new(Code::PriceIncomplete, At::Nowhere, message).with_help(help)
}

fn exceeded(cost: &Cost, gate: &Gate, total: Micros) -> Diagnostic {
    let at_least = if cost.complete { "" } else { "at least " };
    let by_agreement = cost
        .lines
        .iter()
        .any(|line| line.flags.iter().any(|flag| flag == BY_AGREEMENT));
    let prices = if by_agreement {
        " by the price book"
    } else {
        ""
    };
    let (total, excess) = gate.excess(total);
    let message = format!(
        "the stack costs {at_least}{total} {} {}{prices}, {excess}",
        cost.currency, gate.key
    );
    let finding = Diagnostic::new(Code::OverBudget, gate.at(), message);
    let finding = match beside_nodes(cost, gate) {
        Some(parts) => finding.with_help(parts),
        None => finding,
    };
    finding.with_severity(gate.severity).with_help(format!(
        "use fewer nodes or a cheaper size, or raise {}",
        gate.what()
    ))
}

/// What the stack costs beside its nodes, where they alone are within the limit.
fn beside_nodes(cost: &Cost, gate: &Gate) -> Option<String> {
    let of = |kind: CostKind| {
        let lines = cost.lines.iter().filter(|line| line.kind == kind);
        let amounts = lines.filter_map(|line| match gate.key {
            "hourly" => line.hourly_micros,
            _ => line.monthly_micros,
        });
        amounts.fold(Micros::default(), Micros::saturating_add)
    };
    let nodes = of(CostKind::Compute);
    if nodes > gate.limit {
        return None;
    }
    let parts = [
        (CostKind::Disk, "disks"),
        (CostKind::Network, "the network"),
        (CostKind::Service, "services"),
    ];
    let parts = parts.map(|(kind, words)| (of(kind), words));
    let parts: Vec<String> = parts
        .iter()
        .filter(|(amount, _)| *amount > Micros::default())
        .map(|(amount, words)| format!("{words} cost {amount}"))
        .collect();
    let parts = parts.join(", ");
    Some(format!(
        "the nodes alone cost {nodes}, which is within it; {parts}"
    ))
}

fn partly_checked(gate: &Gate, total: Micros, unknown: &[&CostLine]) -> Diagnostic {
    let message = format!(
        "{} is checked against the {total} that is known, which is within it; without a price: {}",
        gate.name(),
        things(unknown)
    );
    Diagnostic::new(Code::BudgetPartly, gate.at(), message)
        .with_help("look these prices up, or give them in a `--price-book`")
}

fn on_spot(gate: &Gate, regular: Micros, complete: bool) -> Diagnostic {
    let at_least = if complete { "" } else { "at least " };
    let (regular, comparison) = if regular > gate.limit {
        gate.excess(regular)
    } else if complete {
        (regular.to_string(), "which is within it too".to_owned())
    } else {
        let unknown = "of which not every price is known";
        (regular.to_string(), unknown.to_owned())
    };
    let message = format!(
        "{} is met with spot prices, which change at any time; on demand the stack costs {at_least}{regular}, {comparison}",
        gate.name()
    );
    Diagnostic::new(Code::BudgetOnSpot, gate.at(), message)
}

fn at_pool(address: &str) -> At {
    address.parse::<Address>().map_or(At::Nowhere, At::Resource)
}
