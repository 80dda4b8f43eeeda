//! What is said where no size does: the one constraint that binds, by how much it is missed,
//! and the nearest changes. A change is offered only after it was tried and does.

mod changes;

use std::collections::BTreeSet;

use model::{
    diag::{At, Code, Diagnostic, SpecPath},
    plan::CandidateReason,
    spec::{Pool, SizeChoice, SizeConstraints},
    units::{Region, SizeName},
};
use rust_decimal::Decimal;

use self::changes::changes;
use super::{
    Context, Trial,
    need::Need,
    pool::Nodes,
    role::Role,
    rules::{self, Strength, budget},
    size::{asked, tried},
};

/// Changes that a refusal offers.
const MOST_OFFERED: usize = 5;

/// Sizes whose other regions are looked up.
const NEAREST: usize = 2;

/// Regions that a line names.
const MOST_REGIONS: usize = 4;

/// Codes of rules, the ones that a user can do most about first: where sizes fail for one rule
/// alone, the first of these that is among them is the one that binds.
const BINDING: [&str; 22] = [
    "budget",
    "max_hourly",
    "zones",
    "zonal_disks",
    "spot",
    "image",
    "disk_controller",
    "ephemeral_os_disk",
    "ephemeral_room",
    "placement",
    "reservation",
    "memory",
    "precision",
    "restricted",
    "offered",
    "constraint",
    "unlisted",
    "rack",
    "lifecycle",
    "A19",
    "constrained_vcpus",
    "floor",
];

type Rejected<'a> = [(Trial<'a>, Vec<CandidateReason>)];

/// The finding for a pool for which no size fits.
pub(super) fn nothing_fits(
    context: Context<'_>,
    role: Role,
    nodes: &Nodes<'_>,
    rejected: &Rejected<'_>,
) -> Diagnostic {
    let (binding, near) = nearest(rejected);
    let finding = match binding {
        Some("budget") => above_budget(context, &near),
        Some("max_hourly") => above_max_hourly(context, &near),
        Some(_) | None => None,
    };
    let finding = finding.unwrap_or_else(|| none_of(context, role, rejected, near.first()));
    if !context.offers_ways_out {
        return finding;
    }
    let mut ways = ways_out(context, role, nodes, &near);
    if let SizeChoice::Constrained(_) = &context.pool.size
        && ways.is_empty()
    {
        ways.extend(auto_instead(context, role, nodes));
    }
    ways.extend(elsewhere(&near, binding));
    if ways.is_empty() {
        ways = next_nearest(rejected);
    }
    ways.into_iter().fold(finding, Diagnostic::with_help)
}

/// What would help a pool whose named size is refused.
pub(super) fn instead_of_named(trial: &Trial<'_>, nodes: &Nodes<'_>) -> Vec<String> {
    if !trial.context.offers_ways_out {
        return Vec::new();
    }
    let mut ways = ways_out(trial.context, trial.role, nodes, &[*trial]);
    ways.extend(auto_instead(trial.context, trial.role, nodes));
    ways.extend(elsewhere(&[*trial], None));
    ways
}

fn auto_instead(context: Context<'_>, role: Role, nodes: &Nodes<'_>) -> Option<String> {
    let auto = Pool {
        size: SizeChoice::Auto,
        ..context.pool.clone()
    };
    let size = fitting(context, role, nodes, &auto)?;
    Some(format!("`size: auto` would choose `{size}`"))
}

/// Sizes that come next, with what rejects them.
fn next_nearest(rejected: &Rejected<'_>) -> Vec<String> {
    let next = rejected.iter().skip(1).take(NEAREST);
    let next = next
        .map(|(trial, reasons)| format!("the next, `{}`, {}", trial.size.name, in_words(reasons)));
    next.collect()
}

/// The rule that binds, and the sizes that fail for it alone, the nearest first.
fn nearest<'a>(rejected: &Rejected<'a>) -> (Option<&'static str>, Vec<Trial<'a>>) {
    let alone = |code: &str| -> Vec<Trial<'a>> {
        let failing = rejected
            .iter()
            .filter(|(_, reasons)| matches!(reasons.as_slice(), [reason] if reason.code == code));
        failing.map(|(trial, _)| *trial).collect()
    };
    let binding = BINDING.into_iter().map(|code| (code, alone(code)));
    let mut binding = binding.filter(|(_, trials)| !trials.is_empty());
    let asked_for = |reasons: &[CandidateReason]| {
        let others = ["constraint", "max_hourly"];
        let mut reasons = reasons.iter();
        !reasons.any(|reason| others.contains(&reason.code.as_str()))
    };
    match binding.next() {
        Some(("memory", mut trials)) => {
            // The one of which the fewest would do comes nearest.
            trials.sort_by_key(|trial| vms_needed(trial).unwrap_or(u32::MAX));
            (Some("memory"), trials)
        }
        // What the spec asks for comes first, also where several rules speak against it.
        Some(("constraint", _)) if rejected.iter().any(|(_, reasons)| asked_for(reasons)) => {
            let wanted = rejected.iter().filter(|(_, reasons)| asked_for(reasons));
            (None, wanted.map(|(trial, _)| *trial).collect())
        }
        Some((code, trials)) => (Some(code), trials),
        None => (None, rejected.iter().map(|(trial, _)| *trial).collect()),
    }
}

fn vms_needed(trial: &Trial<'_>) -> Option<u32> {
    let context = trial.context;
    let answer = context.need?.answer(trial.size, context.catalog)?;
    Some(answer.vms)
}

fn none_of(
    context: Context<'_>,
    role: Role,
    rejected: &Rejected<'_>,
    nearest: Option<&Trial<'_>>,
) -> Diagnostic {
    let nearest = nearest.map(|trial| {
        let mut of_size = rejected
            .iter()
            .filter(|(other, _)| other.size.name == trial.size.name);
        let reasons = of_size.next().map(|(_, reasons)| in_words(reasons));
        format!(
            ": the nearest, `{}`, {}",
            trial.size.name,
            reasons.unwrap_or_default()
        )
    });
    let message = format!(
        "none of {} sizes fits (the pool needs {}){}",
        rejected.len(),
        role.words(),
        nearest.unwrap_or_default()
    );
    let at = At::Value(SpecPath::pool(context.name, &["size"]));
    Diagnostic::new(Code::SizeNoneFits, at, message)
}

fn in_words(reasons: &[CandidateReason]) -> String {
    let reasons: Vec<&str> = reasons
        .iter()
        .map(|reason| reason.message.as_str())
        .collect();
    reasons.join("; ")
}

fn above_budget(context: Context<'_>, near: &[Trial<'_>]) -> Option<Diagnostic> {
    let excesses = near
        .iter()
        .filter_map(|trial| Some((budget::excess(trial)?, trial)));
    let (excess, trial) =
        excesses.min_by_key(|(excess, trial)| (excess.cost, trial.size.name.key()))?;
    let budget::Excess { key, cost, limit } = excess;
    let nodes = match trial.count.unwrap_or(1) {
        1 => String::new(),
        several => format!(" for {several} nodes"),
    };
    let message = format!(
        "no size that fits is within the {key} budget of {}: the cheapest, `{}`, costs {} USD {key}{nodes} in {}, {} more",
        limit.normalize(),
        trial.size.name,
        cost.normalize(),
        context.location,
        (cost - limit).normalize(),
    );
    let at = At::Value(SpecPath::of(&["budget", key]));
    Some(Diagnostic::new(Code::OverBudget, at, message))
}

fn above_max_hourly(context: Context<'_>, near: &[Trial<'_>]) -> Option<Diagnostic> {
    let most = constraints(context.pool)?.max_hourly?;
    let priced = near
        .iter()
        .filter_map(|trial| Some((context.hourly_price(trial.size)?, trial.size)));
    let (price, size) = priced.min_by_key(|(price, size)| (*price, size.name.key()))?;
    let (price, most, more) = (
        price.normalize(),
        most.normalize(),
        (price - most).normalize(),
    );
    let message = format!(
        "no size that fits is within `max_hourly: {most}`: the cheapest, `{}`, costs {price} USD an hour in {}, {more} more",
        size.name, context.location,
    );
    let at = At::Value(SpecPath::pool(context.name, &["size", "max_hourly"]));
    let finding = Diagnostic::new(Code::SizeNoneFits, at, message);
    Some(finding.with_help(format!("set `max_hourly` to {price} or more")))
}

fn constraints(pool: &Pool) -> Option<&SizeConstraints> {
    match &pool.size {
        SizeChoice::Constrained(constraints) => Some(constraints),
        SizeChoice::Auto | SizeChoice::Named(_) => None,
    }
}

/// Changes of one key that let a size fit, the least one of each key.
fn ways_out(
    context: Context<'_>,
    role: Role,
    nodes: &Nodes<'_>,
    near: &[Trial<'_>],
) -> Vec<String> {
    let mut ways: Vec<String> = Vec::new();
    let mut changed: BTreeSet<String> = BTreeSet::new();
    for (words, pool) in changes(context, near) {
        let key = words.split(':').next().unwrap_or_default();
        if ways.len() >= MOST_OFFERED || changed.contains(key) {
            continue;
        }
        if let Some(size) = fitting(context, role, nodes, &pool) {
            changed.insert(key.to_owned());
            ways.push(match &context.pool.size {
                SizeChoice::Named(_) => format!("{words} would do"),
                SizeChoice::Auto | SizeChoice::Constrained(_) => {
                    format!("{words} would do, with `{size}`")
                }
            });
        }
    }
    ways
}

/// The size that the pool would get if it were this one; `None` where none fits.
fn fitting(context: Context<'_>, role: Role, nodes: &Nodes<'_>, pool: &Pool) -> Option<SizeName> {
    // What is known of the same model already need not be worked out again.
    let other = if pool.model == context.pool.model {
        None
    } else {
        Some(Need::of(context.name, pool, context.catalog).ok()?)
    };
    let need = match &other {
        Some(other) => other.as_ref(),
        None => context.need,
    };
    let context = Context {
        pool,
        need,
        ..context
    };
    let SizeChoice::Named(name) = &pool.size else {
        let (kept, _) = tried(context, role, nodes);
        return kept.first().map(|trial| trial.size.name.clone());
    };
    let size = context.catalog.size(name)?;
    let count = asked(context, size).unwrap_or(1);
    let trial = Trial {
        context,
        role,
        size,
        count: Some(count),
        new_nodes: count,
    };
    is_allowed(&trial).then(|| name.clone())
}

/// A named size may be against advice, but it must do the job.
fn is_allowed(trial: &Trial<'_>) -> bool {
    let is_named = matches!(trial.context.pool.size, SizeChoice::Named(_));
    rules::rejections(trial)
        .iter()
        .all(|(rule, _)| is_named && rule.strength == Strength::Advice && rule.id != rules::MEMORY)
}

/// Regions in which the nearest sizes fit that do not here, the cheapest region first.
fn elsewhere(near: &[Trial<'_>], binding: Option<&str>) -> Vec<String> {
    let is_money = matches!(binding, Some("budget" | "max_hourly"));
    let mut near: Vec<&Trial<'_>> = near.iter().collect();
    if is_money {
        near.sort_by_cached_key(|trial| {
            let price = trial.context.paid_price(trial.context.location, trial.size);
            (price.is_none(), price, trial.size.name.key())
        });
    }
    let near = near.into_iter().take(NEAREST);
    near.filter_map(|trial| regions_of(trial, is_money))
        .collect()
}

fn regions_of(trial: &Trial<'_>, is_money: bool) -> Option<String> {
    let context = trial.context;
    // An image is the same everywhere; of other regions it is only not known yet.
    let lacks_image = |(rule, _): &(rules::Rule, CandidateReason)| rule.id == rules::IMAGE;
    if rules::rejections(trial).iter().any(lacks_image) {
        return None;
    }
    let regions = context.catalog.regions().iter().map(|row| &row.name);
    let regions = regions.filter(|region| *region != context.location);
    let mut offered: Vec<(bool, Decimal, &Region)> = regions
        .filter(|region| context.catalog.offer(region, &trial.size.name).is_some())
        .map(|region| {
            let price = context.paid_price(region, trial.size);
            (price.is_none(), price.unwrap_or_default(), region)
        })
        // A price that is not known is no way out of a limit.
        .filter(|(is_unpriced, _, _)| !(is_money && *is_unpriced))
        .collect();
    offered.sort();
    let fits = |region: &Region| {
        let context = Context {
            location: region,
            ..context
        };
        is_allowed(&Trial { context, ..*trial })
    };
    let fitting = offered.into_iter().filter(|(_, _, region)| fits(region));
    let fitting: Vec<(bool, Decimal, &Region)> = fitting.take(MOST_REGIONS).collect();
    let (unpriced, price, _) = fitting.first()?;
    let names: Vec<&str> = fitting
        .iter()
        .map(|(_, _, region)| region.as_str())
        .collect();
    let price = match (unpriced, names.len()) {
        (true, _) => String::new(),
        (false, 1) => format!(", at {} USD an hour", price.normalize()),
        (false, _) => format!(", at {} USD an hour in the first", price.normalize()),
    };
    Some(format!(
        "`{}` would do in {}{price}",
        trial.size.name,
        names.join(", ")
    ))
}
