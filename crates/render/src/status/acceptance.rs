//! Acceptance checks in the status: for each pool a table of what was found on how many nodes,
//! and below it the nodes that were not asked or did not answer.

use std::collections::BTreeMap;

use model::{
    acceptance::{CheckKind, NodeAcceptance, NodeOutcome, Verdict},
    diag::DiagnosticDocument,
};
use serde_json::{Value, json};

use crate::{
    line::Line,
    paper::Paper,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// Nodes that a line names.
const NAMED: usize = 4;

/// Checks of the nodes of a stack, and what is to be said of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Checks {
    /// The nodes.
    pub nodes: Vec<NodeAcceptance>,
    /// Findings about them.
    pub diagnostics: Vec<DiagnosticDocument>,
}

/// A line of a table: the check, its verdict, what was found and expected.
type Key<'a> = (CheckKind, Verdict, &'a str, Option<&'a str>);

/// Shows the checks of each pool.
pub(super) fn show(paper: &mut Paper, checks: &Checks, style: Style) {
    let mut pools: BTreeMap<(&str, &str), Vec<&NodeAcceptance>> = BTreeMap::new();
    for node in &checks.nodes {
        let key = (node.pool.as_str(), node.size.as_str());
        pools.entry(key).or_default().push(node);
    }
    for ((pool, size), nodes) in pools {
        let count = words::counted(nodes.len(), "node", "nodes");
        paper.heading(&format!("Checks of {pool}: {count} of {size}"));
        if nodes.iter().any(|node| node.emulated) {
            let text = "sandbox: no guest answered; what one would say is made from the catalogue";
            paper.paragraph(2, Ink::Caution, text);
        }
        let table = table(&nodes);
        let answered = nodes
            .iter()
            .any(|node| matches!(node.outcome, NodeOutcome::Checked(_)));
        if !table.is_empty() {
            paper.lines(&table.lines(style));
        } else if answered {
            paper.paragraph(2, Ink::Plain, "there is nothing to check of this size");
        }
        silent(paper, &nodes);
    }
}

fn table(nodes: &[&NodeAcceptance]) -> Table {
    let mut rows: BTreeMap<Key<'_>, Vec<&str>> = BTreeMap::new();
    for node in nodes {
        for check in node.checks() {
            let key = (
                check.check,
                check.verdict,
                check.found.as_str(),
                check.expected.as_deref(),
            );
            rows.entry(key).or_default().push(&node.name);
        }
    }
    let columns = [
        Column::left("Check", Fit::Keep),
        Column::left("Verdict", Fit::Keep),
        Column::left("Nodes", Fit::Spare),
        Column::left("Found", Fit::Spare),
    ];
    let mut table = Table::new(columns, 2);
    for ((kind, verdict, found, expected), names) in rows {
        let (ink, word) = verdict_word(verdict);
        let of_all = names.len() == nodes.len();
        let which = if of_all {
            "all".to_owned()
        } else if verdict == Verdict::Failed {
            words::listed(&names, NAMED)
        } else {
            words::count(names.len())
        };
        let found = match expected {
            Some(expected) if verdict == Verdict::Failed => format!("{found}, expected {expected}"),
            Some(_) | None => found.to_owned(),
        };
        table.row([
            Line::of(kind.words()),
            Line::inked(ink, word),
            Line::of(which),
            Line::of(found),
        ]);
    }
    table
}

fn verdict_word(verdict: Verdict) -> (Ink, &'static str) {
    match verdict {
        Verdict::Passed => (Ink::Good, "passed"),
        Verdict::Failed => (Ink::Bad, "failed"),
        Verdict::Measured => (Ink::Plain, "measured"),
        Verdict::Skipped => (Ink::Caution, "skipped"),
    }
}

/// Nodes that nobody asked, and nodes that did not answer, by reason.
fn silent(paper: &mut Paper, nodes: &[&NodeAcceptance]) {
    let mut reasons: BTreeMap<(bool, &str), Vec<&str>> = BTreeMap::new();
    for node in nodes {
        let key = match &node.outcome {
            NodeOutcome::Checked(_) => continue,
            NodeOutcome::Skipped(reason) => (false, reason.as_str()),
            NodeOutcome::Unanswered(reason) => (true, reason.as_str()),
        };
        reasons.entry(key).or_default().push(&node.name);
    }
    for ((asked, reason), names) in reasons {
        let (ink, what) = if asked {
            (Ink::Bad, "no answer from")
        } else {
            (Ink::Caution, "not asked:")
        };
        let text = format!("{what} {}: {reason}", words::listed(&names, NAMED));
        paper.paragraph(2, ink, &text);
    }
}

/// The checks in JSON.
pub(super) fn document(checks: &Checks) -> Value {
    let Checks { nodes, diagnostics } = checks;
    let answered = nodes
        .iter()
        .filter(|node| matches!(node.outcome, NodeOutcome::Checked(_)));
    let failed = nodes.iter().filter(|node| node.failures().next().is_some());
    json!({
        "checked": answered.count(),
        "failed": failed.count(),
        "nodes": nodes,
        "diagnostics": diagnostics,
    })
}
