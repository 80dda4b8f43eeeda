//! The decisions for each pool and what speaks for them.

use model::{
    address::Address,
    plan::{Candidate, Cost, Plan, PoolMemo, PoolPlan, PoolRefusal, Scarcity, Verdict},
    units::{Micros, Region, Span},
};

use super::memo;
use crate::{
    line::Line,
    paper::Paper,
    sizing,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// Sizes shown beside the chosen one.
const RUNNERS_UP: usize = 3;

/// Rejected sizes shown: those that the fewest rules reject.
const NEAR_MISSES: usize = 3;

/// The currency of the catalogue's prices, which candidates have where there is no cost.
pub(super) const CURRENCY: &str = "USD";

/// Columns of the labels, so that a pool's parts stand below each other.
const LABEL: usize = 9;

/// Where a note below a size begins: a little behind the size, which stands behind its label.
const NOTE: usize = LABEL + 4;

pub(super) fn write(paper: &mut Paper, plan: &Plan, style: Style) {
    for (position, (name, pool)) in plan.pools.iter().enumerate() {
        if position > 0 {
            paper.blank();
        }
        paper.hanging(&Line::of("  "), &head(name, pool, &plan.cost));
        paper.lines(&facts(pool).lines(style));
        paper.lines(&candidates(name, pool, &plan.cost.currency).lines(style));
    }
}

/// What each pool is, in one line.
pub(super) fn names(paper: &mut Paper, plan: &Plan) {
    for (name, pool) in &plan.pools {
        paper.hanging(&Line::of("  "), &head(name, pool, &plan.cost));
    }
}

/// The whole decision for one pool, as a memo: what was asked for and chosen and why, what it
/// costs, what would change it, every size that was considered, and the formulas.
pub(crate) fn write_all(
    paper: &mut Paper,
    name: &str,
    pool: &PoolPlan,
    memo: Option<&PoolMemo>,
    style: Style,
) {
    paper.hanging(&Line::of("  "), &title(name, pool));
    if let Some(memo) = memo {
        let mut asked = fact_table();
        asked.row([label("asked"), Line::of(&memo.requirement)]);
        paper.lines(&asked.lines(style));
    }
    paper.lines(&facts(pool).lines(style));
    if let Some(memo) = memo {
        paper.lines(&memo::facts(memo).lines(style));
        memo::alternatives(paper, memo, style);
    }
    let (kept, rejected) = (kept(pool), rejected(pool));
    let groups = [("next best", kept.as_slice()), ("rejected", &rejected)];
    paper.line(&Line::of("    ").then(Ink::Faint, "every size that was considered, by the node"));
    paper.lines(&candidate_table(groups, CURRENCY).lines(style));
    if !pool.formulas.is_empty() {
        paper.line(&Line::of("    ").then(Ink::Faint, "how these numbers come about"));
        paper.lines(&sizing::formulas(&pool.formulas, 6).lines(style));
    }
}

/// A pool for which nothing fits: what it needs, and what became of every size.
pub(crate) fn write_refusal(
    paper: &mut Paper,
    name: &str,
    refusal: &PoolRefusal,
    location: Option<&Region>,
    style: Style,
) {
    let PoolRefusal {
        needs,
        rules,
        candidates,
    } = refusal;
    let place = location.map_or_else(String::new, |location| format!(" in {location}"));
    let title = Line::inked(Ink::Strong, name)
        .then(Ink::Plain, "  ")
        .then(Ink::Bad, format!("nothing fits{place}"));
    paper.hanging(&Line::of("  "), &title);
    let mut facts = fact_table();
    facts.row([label("needs"), Line::of(needs)]);
    facts.row([label("article"), Line::of(article(rules))]);
    paper.lines(&facts.lines(style));
    let of = |verdict: Verdict| -> Vec<&Candidate> {
        let of = candidates
            .iter()
            .filter(|candidate| candidate.verdict == verdict);
        of.collect()
    };
    let (kept, rejected) = (of(Verdict::Kept), of(Verdict::Rejected));
    let groups = [("would do", kept.as_slice()), ("rejected", &rejected)];
    paper.lines(&candidate_table(groups, CURRENCY).lines(style));
}

fn title(name: &str, pool: &PoolPlan) -> Line {
    Line::inked(Ink::Strong, name).then(
        Ink::Plain,
        format!("  {} × {}", words::count(pool.count), pool.size),
    )
}

fn head(name: &str, pool: &PoolPlan, cost: &Cost) -> Line {
    let line = title(name, pool);
    if pool.count == 0 {
        return line;
    }
    match hourly(name, cost) {
        Hourly::Known(amount) => {
            line.then(Ink::Plain, format!(", {amount} {}/hour", cost.currency))
        }
        Hourly::AtLeast(amount) => line.then(Ink::Plain, ", ").then(
            Ink::Caution,
            format!("at least {amount} {}/hour", cost.currency),
        ),
        Hourly::Unknown => line
            .then(Ink::Plain, ", ")
            .then(Ink::Caution, "price unknown"),
    }
}

enum Hourly {
    Known(Micros),
    AtLeast(Micros),
    Unknown,
}

/// What the lines of a pool add up to.
fn hourly(name: &str, cost: &Cost) -> Hourly {
    let of_pool = |address: &str| {
        address
            .parse::<Address>()
            .is_ok_and(|address| address.pool_name() == Some(name))
    };
    let amounts: Vec<Option<Micros>> = cost
        .lines
        .iter()
        .filter(|line| of_pool(&line.address))
        .map(|line| line.hourly_micros.filter(|_| line.known))
        .collect();
    let known: Vec<Micros> = amounts.iter().copied().flatten().collect();
    let sum = known
        .iter()
        .copied()
        .fold(Micros::default(), Micros::saturating_add);
    if known.is_empty() {
        Hourly::Unknown
    } else if known.len() < amounts.len() {
        Hourly::AtLeast(sum)
    } else {
        Hourly::Known(sum)
    }
}

pub(super) fn label(text: &str) -> Line {
    Line::inked(Ink::Faint, format!("{text:<LABEL$}"))
}

fn facts(pool: &PoolPlan) -> Table {
    let PoolPlan {
        size: _,
        count: _,
        image,
        priority,
        zones,
        scarcity,
        placement,
        grouping,
        orchestrator,
        memory,
        throughput,
        parallelism,
        formulas: _,
        rules,
        why,
        choices: _,
        candidates: _,
    } = pool;
    let mut table = fact_table();
    let mut row = |name: &str, value: String| table.row([label(name), Line::of(value)]);
    row("image", format!("{} ({})", image.urn, image.kind));
    let mut capacity = vec![priority.clone()];
    capacity.push(match zones.as_slice() {
        [] => "no zones".to_owned(),
        [zone] => format!("zone {zone}"),
        several => format!("zones {}", several.join(", ")),
    });
    if placement != "none" {
        capacity.push(placement.replace('_', " "));
    }
    row("capacity", capacity.join(", "));
    if let Some(words) = scarcity.and_then(scarcity_words) {
        row("", words);
    }
    let grouping = match grouping.as_str() {
        "vms" => "single VMs".to_owned(),
        other => other.replace('_', " "),
    };
    row(
        "runs as",
        format!("{grouping}, orchestrator {orchestrator}"),
    );
    if let Some(memory) = memory {
        row("memory", sizing::memory_need(memory));
        row("", sizing::memory_terms(memory));
    }
    if let Some(parallelism) = parallelism {
        row("split", sizing::parallelism_words(parallelism));
    }
    if let Some(throughput) = throughput {
        row("speed", sizing::throughput_words(throughput));
    }
    for (position, sentence) in why.iter().enumerate() {
        row(if position == 0 { "why" } else { "" }, sentence.clone());
    }
    if !rules.is_empty() {
        row("article", article(rules));
    }
    table
}

/// What is done without capacity, but for the other ways, which stand at the steps.
fn scarcity_words(scarcity: Scarcity) -> Option<String> {
    let Scarcity {
        wait_seconds,
        min_count,
        rollback,
    } = scarcity;
    let mut parts = Vec::new();
    if wait_seconds > 0 {
        let wait = words::span(Span::from_seconds(wait_seconds));
        parts.push(format!("tried for {wait}"));
    }
    if let Some(least) = min_count {
        let least = usize::try_from(least).unwrap_or(usize::MAX);
        parts.push(words::counted(least, "node is enough", "nodes are enough"));
    }
    if rollback {
        parts.push("a part is removed".to_owned());
    }
    (!parts.is_empty()).then(|| format!("without capacity: {}", parts.join(", ")))
}

pub(super) fn fact_table() -> Table {
    let columns = [Column::left("", Fit::Keep), Column::left("", Fit::Wrap)];
    Table::new(columns, 4)
}

fn article(rules: &[String]) -> String {
    format!("rows {}", rules.join(", "))
}

/// The next best sizes and the near misses, and how many more there are.
fn candidates(name: &str, pool: &PoolPlan, currency: &str) -> Table {
    let (kept, rejected) = (kept(pool), rejected(pool));
    let (next_best, _) = kept.split_at(kept.len().min(RUNNERS_UP));
    let (nearest, _) = rejected.split_at(rejected.len().min(NEAR_MISSES));
    let groups = [("next best", next_best), ("rejected", nearest)];
    let mut table = candidate_table(groups, currency);
    let more = [
        (kept.len().saturating_sub(RUNNERS_UP), "more would do"),
        (rejected.len().saturating_sub(NEAR_MISSES), "more rejected"),
    ];
    let more: Vec<String> = more
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", words::count(*count)))
        .collect();
    if !more.is_empty() {
        let line = format!("{}: `tensorform explain {name}`", more.join(", "));
        table.across(label("").then(Ink::Plain, "  ").then(Ink::Faint, line));
    }
    table
}

/// Sizes under headings.
fn candidate_table(groups: [(&str, &[&Candidate]); 2], currency: &str) -> Table {
    let columns = [
        Column::left("", Fit::Keep),
        Column::left("", Fit::Wrap),
        Column::decimal(""),
        Column::left("", Fit::Keep),
        Column::left("", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 4).with_notes_at(NOTE);
    for (heading, shown) in groups {
        for (position, candidate) in shown.iter().enumerate() {
            let heading = if position == 0 { heading } else { "" };
            table.row(cells(heading, candidate, currency));
        }
    }
    table
}

/// Sizes that would do, beside the chosen one, the best first.
fn kept(pool: &PoolPlan) -> Vec<&Candidate> {
    let mut kept: Vec<&Candidate> = of(pool, Verdict::Kept)
        .filter(|candidate| candidate.size != pool.size)
        .collect();
    kept.sort_by_key(|candidate| candidate.rank.unwrap_or(u32::MAX));
    kept
}

/// Rejected sizes, those that the fewest rules reject first.
fn rejected(pool: &PoolPlan) -> Vec<&Candidate> {
    let mut rejected: Vec<&Candidate> = of(pool, Verdict::Rejected).collect();
    rejected.sort_by_key(|candidate| candidate.reasons.len());
    rejected
}

fn of(pool: &PoolPlan, verdict: Verdict) -> impl Iterator<Item = &Candidate> {
    pool.candidates
        .iter()
        .filter(move |candidate| candidate.verdict == verdict)
}

fn cells(heading: &str, candidate: &Candidate, currency: &str) -> Vec<Line> {
    let Candidate {
        size,
        verdict: _,
        rank: _,
        reasons,
        hourly_micros,
    } = candidate;
    let reasons: Vec<&str> = reasons
        .iter()
        .map(|reason| reason.message.as_str())
        .collect();
    let (amount, unit) = match hourly_micros {
        Some(amount) => (
            Line::of(amount.to_string()),
            Line::inked(Ink::Faint, format!("{currency}/h")),
        ),
        None => (Line::inked(Ink::Caution, words::UNKNOWN), Line::default()),
    };
    vec![
        label(heading),
        Line::of(size.as_str()),
        amount,
        unit,
        Line::of(reasons.join("; ")),
    ]
}
