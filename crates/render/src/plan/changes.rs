//! The steps that write, in the order of the plan.

use std::collections::BTreeSet;

use model::plan::{Action, Plan};

use super::{
    attributes, essence,
    groups::{self, Group},
};
use crate::{
    line::Line,
    paper::Paper,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// Blanks before the lines below a step.
const BELOW: usize = 8;

pub(super) fn write(paper: &mut Paper, plan: &Plan, style: Style) {
    let groups = groups::of(plan);
    paper.lines(&legend(&groups, style));
    paper.blank();
    let columns = [
        Column::left("", Fit::Keep),
        Column::left("", Fit::Wrap),
        Column::left("", Fit::Wrap),
        Column::left("", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 2);
    for group in &groups {
        table.row(cells(group));
        for line in below(group, style) {
            table.across(line.indented(BELOW - 2));
        }
    }
    paper.lines(&table.lines(style));
}

/// The symbols in use, each with its meaning, as many in a line as fit.
fn legend(groups: &[Group<'_>], style: Style) -> Vec<Line> {
    let used: BTreeSet<(Action, &str)> = groups
        .iter()
        .map(|group| (group.first.action, essence::symbol(group.first)))
        .collect();
    let mut lines: Vec<Line> = Vec::new();
    for (action, symbol) in used {
        let item = Line::inked(essence::ink(action), symbol)
            .then(Ink::Faint, format!(" {}", meaning(action, symbol)));
        match lines.last_mut() {
            Some(line) if line.width() + 3 + item.width() <= style.columns() => {
                line.push(Ink::Plain, "   ");
                line.append(&item);
            }
            Some(_) | None => lines.push(item.indented(2)),
        }
    }
    lines
}

fn meaning(action: Action, symbol: &str) -> &'static str {
    match action {
        Action::NoOp => "unchanged",
        Action::Create => "create",
        Action::Update => "update",
        Action::RestartUpdate => "update with a restart",
        Action::StopUpdate => "deallocate to update",
        Action::Replace if symbol == "+/-" => "create, then delete",
        Action::Replace => "delete, then create",
        Action::Repair => "repair",
        Action::Start => "start",
        Action::Delete => "delete",
    }
}

fn cells(group: &Group<'_>) -> Vec<Line> {
    let step = group.first;
    let mut what = Line::default();
    if group.steps.len() > 1 {
        what.push(Ink::Strong, words::count(group.steps.len()));
        what.push(Ink::Plain, " × ");
    }
    what.push(Ink::Plain, essence::phrase(step));
    let zones: Vec<&str> = group.zones().into_iter().collect();
    match zones.as_slice() {
        [] => {}
        [zone] => what.push(Ink::Plain, format!(", zone {zone}")),
        several => what.push(Ink::Plain, format!(", zones {}", several.join(", "))),
    }
    vec![
        Line::inked(
            essence::ink(step.action),
            format!("{:<3}", essence::symbol(step)),
        ),
        Line::inked(Ink::Accent, group.address()),
        Line::of(group.name()),
        what,
    ]
}

/// What stands below a step: why, changed attributes, what comes with what is made, and
/// what happens when there is no capacity.
fn below(group: &Group<'_>, style: Style) -> Vec<Line> {
    let step = group.first;
    let room = style.columns().saturating_sub(BELOW).max(1);
    let mut sentences = Vec::new();
    sentences.extend(essence::reason(step.reason.code).map(|reason| format!("# {reason}")));
    if let (Action::Create, Some(after)) = (step.action, &step.after) {
        sentences.extend(essence::parts(after));
    }
    if !step.alternates.is_empty() {
        let labels: Vec<&str> = step
            .alternates
            .iter()
            .map(|alternate| alternate.label.as_str())
            .collect();
        sentences.push(format!("without capacity: {}", labels.join(", then ")));
    }
    let mut lines: Vec<Line> = sentences
        .iter()
        .flat_map(|sentence| {
            let parts = Line::inked(Ink::Faint, sentence).wrap_hard(room.saturating_sub(2).max(1));
            let indent =
                |(position, part): (usize, Line)| part.indented(if position == 0 { 0 } else { 2 });
            parts
                .into_iter()
                .enumerate()
                .map(indent)
                .collect::<Vec<_>>()
        })
        .collect();
    lines.extend(attributes::lines(&step.reason.attributes, room));
    lines
}
