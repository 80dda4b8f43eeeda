//! What a memo says beside a decision: price, quota, and what would change the answer.

use model::plan::{Alternative, AutoChoice, PoolMemo, QuotaLine};

use super::pools::{CURRENCY, fact_table, label};
use crate::{
    line::Line,
    paper::Paper,
    preview::words as of,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// What was decided where the spec leaves it open, price and quota, a line each.
pub(super) fn facts(memo: &PoolMemo) -> Table {
    let mut table = fact_table();
    for (position, choice) in memo.choices.iter().enumerate() {
        let AutoChoice {
            key,
            value,
            code,
            why,
        } = choice;
        let heading = if position == 0 { "decided" } else { "" };
        let sentence = format!("{key} {value}: {why} [{code}]");
        table.row([label(heading), Line::of(sentence)]);
    }
    let price = memo.price.as_deref();
    table.row([
        label("price"),
        match price {
            Some(price) => Line::of(format!("{price} a node")),
            None => Line::inked(Ink::Caution, format!("{} a node", words::UNKNOWN)),
        },
    ]);
    let [hourly, monthly] = of::pair(memo.total);
    let mut sum = format!("{hourly} {CURRENCY} an hour, {monthly} a month, disks included");
    if let Some(run) = &memo.run {
        sum = format!("{sum}; one run {}", of::run(run));
    }
    table.row([label(""), Line::of(sum)]);
    for (position, line) in memo.quota.iter().enumerate() {
        let heading = if position == 0 { "quota" } else { "" };
        table.row([label(heading), quota(line)]);
    }
    table
}

fn quota(line: &QuotaLine) -> Line {
    let number = |number: Option<i64>| match number {
        Some(number) => words::count(number),
        None => words::UNKNOWN.to_owned(),
    };
    let needed = words::count(line.needed);
    let [limit, used, after] = [line.limit, line.used, line.after].map(number);
    let state = if line.limit.is_none() && line.used.is_none() {
        "limit and use are not known".to_owned()
    } else {
        format!("before {used} of {limit}, after {after}")
    };
    let sentence = format!("{}: the plan adds {needed}; {state}", line.name);
    match line.ok {
        Some(true) => Line::of(sentence),
        Some(false) => Line::inked(Ink::Bad, sentence),
        None => Line::inked(Ink::Caution, sentence),
    }
}

/// What would change the answer.
pub(super) fn alternatives(paper: &mut Paper, memo: &PoolMemo, style: Style) {
    if memo.alternatives.is_empty() {
        return;
    }
    paper.line(&Line::of("    ").then(Ink::Faint, "what would change the answer"));
    let runs = memo
        .alternatives
        .iter()
        .any(|alternative| alternative.run.is_some());
    let columns = [
        Column::left("", Fit::Wrap),
        Column::right("Nodes"),
        Column::decimal("Hourly"),
        Column::decimal("Monthly"),
        Column::left(if runs { "One run" } else { "" }, Fit::Wrap),
    ];
    let mut table = Table::new(columns, 6);
    for alternative in &memo.alternatives {
        table.row(cells(alternative));
    }
    paper.lines(&table.lines(style));
}

fn cells(alternative: &Alternative) -> Vec<Line> {
    let Alternative {
        kind: _,
        what,
        count,
        total,
        run,
    } = alternative;
    let [hourly, monthly] = of::pair(*total);
    vec![
        Line::of(what),
        Line::of(words::count(*count)),
        Line::of(hourly),
        Line::of(monthly),
        Line::of(run.as_ref().map(of::run).unwrap_or_default()),
    ]
}
