//! Words that several formats have in common.

use std::collections::BTreeSet;

use model::{
    cost::{
        Amount, CostReport, LifetimeCost, PoolCost, PoolOption, PoolRun, RunBasis, StackOption,
    },
    live::Mode,
    plan::CostKind,
    units::{HOURS_PER_MONTH, Micros, Span},
};

use crate::{cost, words};

/// An amount, told to be the least where a part of it is not known.
pub(super) fn at_least(micros: Micros, complete: bool) -> String {
    if complete {
        micros.to_string()
    } else {
        format!("at least {micros}")
    }
}

/// Hourly and monthly amounts of one total.
pub(crate) fn pair(amount: Amount) -> [String; 2] {
    [amount.hourly_micros, amount.monthly_micros].map(|micros| at_least(micros, amount.complete))
}

/// What the whole stack costs with every pool bought one way, hourly and monthly.
pub(super) fn whole(option: &StackOption) -> [String; 2] {
    match option.total {
        Some(total) => pair(total),
        None => [words::UNKNOWN, words::UNKNOWN].map(str::to_owned),
    }
}

/// What the preview is of.
pub(super) fn title(report: &CostReport) -> String {
    let world = match report.scope.mode {
        Mode::Azure => "compared with Azure",
        Mode::Sandbox => "compared with the sandbox",
        Mode::Offline => "offline",
    };
    format!(
        "Cost of {} in {}, {world}",
        report.stack, report.scope.location
    )
}

/// Nodes of a pool.
pub(super) fn nodes(pool: &PoolCost) -> String {
    let gpus = match pool.gpus_per_node.as_deref() {
        Some("1") => ", 1 GPU each".to_owned(),
        Some(share) if share.contains('/') => format!(", {share} of a GPU each"),
        Some(count) => format!(", {count} GPUs each"),
        None => String::new(),
    };
    format!("{} × {}{gpus}", words::count(pool.count), pool.size)
}

/// How long a lifetime has left.
fn time_left(lifetime: &LifetimeCost) -> String {
    let left = words::span(Span::from_seconds(lifetime.seconds));
    format!("{left} until its lifetime ends at {}", lifetime.expires)
}

/// What the stack costs for spans of time that are no hour and no month: a run, a lifetime.
pub(super) fn spans(report: &CostReport) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(run) = &report.run {
        let length = words::span(Span::from_seconds(run.seconds));
        let without = if run.without.is_empty() {
            String::new()
        } else {
            format!(
                "; nothing says how long a run of {} is",
                words::listed(&run.without, 8)
            )
        };
        let amount = at_least(run.micros, run.complete);
        all.push(format!(
            "One run: {amount} in all, the longest takes {length}{without}"
        ));
    }
    if let Some(lifetime) = &report.lifetime {
        let amount = at_least(lifetime.micros, lifetime.complete);
        all.push(format!(
            "Lifetime: {amount} in all, {}",
            time_left(lifetime)
        ));
    }
    all
}

/// How long a run is, and why.
pub(super) fn run_length(run: &PoolRun) -> String {
    let why = match run.basis {
        RunBasis::Hours => "as given",
        RunBasis::Throughput => "for all tokens",
        RunBasis::Deadline => "up to the deadline",
    };
    format!("{} {why}", words::span(Span::from_seconds(run.seconds)))
}

/// What a run of a pool costs.
pub(crate) fn run(run: &PoolRun) -> String {
    let tokens = run
        .million_tokens_micros
        .map_or_else(String::new, |micros| {
            format!(", {micros} for a million tokens")
        });
    format!(
        "{} ({}){tokens}",
        at_least(run.micros, run.complete),
        run_length(run)
    )
}

/// What the reader must know about a way to pay, in a few words.
pub(super) fn remarks(option: &PoolOption, usual_day: Option<&str>) -> Vec<String> {
    let flags = option.flags.iter().filter(|flag| *flag != "spot");
    let mut remarks: Vec<String> = flags.map(|flag| cost::word(flag)).collect();
    let day = option.as_of.iter();
    let older = day.filter(|day| Some(day.as_str()) != usual_day);
    remarks.extend(older.map(|day| format!("price of {day}")));
    remarks
}

/// When a commitment is cheaper than paying on demand.
pub(super) fn break_even(option: &PoolOption) -> String {
    let Some(hours) = &option.break_even_hours else {
        return String::new();
    };
    let whole = hours.split('.').next().unwrap_or_default();
    match whole.parse::<u32>() {
        Ok(whole) if whole < HOURS_PER_MONTH => format!("{hours} h/mo"),
        Ok(_) | Err(_) => "never".to_owned(),
    }
}

/// Sentences about prices that hold for the whole preview.
pub(super) fn notes(report: &CostReport) -> Vec<String> {
    let mut notes = Vec::new();
    let unknown = report.cost.lines.iter().filter(|line| !line.known).count();
    if unknown > 0 {
        let lines = words::counted(unknown, "line has", "lines have");
        notes.push(format!(
            "{lines} no known price: totals are at least what they say."
        ));
    }
    let day = &report.catalog.prices_as_of;
    let list = match (&report.price_book, day.as_str()) {
        (None, words::UNKNOWN) => "No list prices are known here.".to_owned(),
        (None, day) => format!("List prices of {day} where no other day is said."),
        (Some(book), day) => format!(
            "Prices of the agreement in `{}` ({}) where it has any, else list prices of {day}.",
            book.file,
            words::counted(book.rules, "line", "lines"),
        ),
    };
    notes.push(list);
    notes.push("A month has 730 hours. Traffic and other use is not included.".to_owned());
    notes.push(
        "Savings plans and reservations cost their price every hour, used or not: below the hours \
         at which they break even, paying on demand is cheaper."
            .to_owned(),
    );
    notes.extend(flag_notes(report));
    notes
}

fn flag_notes(report: &CostReport) -> Vec<String> {
    let of_lines = report.cost.lines.iter().flat_map(|line| &line.flags);
    let options = report.pools.values().flat_map(|pool| &pool.options);
    let of_options = options.flat_map(|option| &option.flags);
    let regions = report.regions.iter().flat_map(|regions| &regions.ranked);
    let of_regions = regions.flat_map(|region| &region.flags);
    let flags: BTreeSet<&str> = of_lines
        .chain(of_options)
        .chain(of_regions)
        .map(String::as_str)
        .collect();
    flags.into_iter().filter_map(cost::sentence).collect()
}

/// An amount as an exact decimal without groups of digits.
pub(super) fn decimal(micros: Micros) -> String {
    micros.to_decimal().normalize().to_string()
}

/// A kind of line as documents name it.
pub(super) fn kind(kind: CostKind) -> &'static str {
    match kind {
        CostKind::Compute => "compute",
        CostKind::Disk => "disk",
        CostKind::Network => "network",
        CostKind::Service => "service",
    }
}
