//! What is live and is not as the spec says: a report, and nothing that could be applied.

use model::{
    diag::DiagnosticDocument,
    plan::{AttributeChange, Plan, ReasonCode, Step},
    units::Timestamp,
};
use serde_json::{Value, json};

use crate::{
    failure,
    line::Line,
    paper::Paper,
    plan::{essence, shown, summary},
    style::{Ink, Style},
    words,
};

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// The report as text.
pub fn text(plan: &Plan, read_at: Option<Timestamp>, style: Style) -> String {
    let mut paper = Paper::new(style);
    let mut head = Line::inked(Ink::Strong, format!("Drift of {}", plan.stack));
    head.push(Ink::Plain, format!(" in {}", plan.scope.resource_group));
    if let Some(read_at) = read_at {
        head.push(Ink::Faint, format!(", read {read_at}"));
    }
    paper.hanging(&Line::default(), &head);
    if plan.has_changes {
        paper.blank();
    }
    for step in plan.changes() {
        let mut line = Line::of("  ").then(Ink::Accent, step.address.to_string());
        line.push(Ink::Plain, format!("  {}", step.id.name()));
        paper.line(&line);
        if let Some(state) = state(step) {
            paper.paragraph(4, Ink::Caution, state);
        }
        for change in &step.reason.attributes {
            let first = Line::of(format!("    {}: ", change.path));
            paper.hanging(&first, &values(change));
        }
    }
    paper.blank();
    paper.line(&Line::inked(Ink::Strong, sum(plan)));
    paper.finish()
}

fn values(change: &AttributeChange) -> Line {
    Line::of(format!(
        "{}, the spec says {}",
        shown(&change.before),
        shown(&change.after)
    ))
}

/// What a resource is, where attributes alone do not say it.
fn state(step: &Step) -> Option<&'static str> {
    if step.reason.code == ReasonCode::Absent {
        Some("missing")
    } else {
        essence::reason(step.reason.code)
    }
}

fn sum(plan: &Plan) -> String {
    let all = words::count(plan.steps.len());
    let limits = if plan.complete {
        ""
    } else {
        ", as far as it could be read"
    };
    let changes: Vec<String> = plan
        .changes()
        .map(|step| step.address.to_string())
        .collect();
    let mut different = summary::left_different(plan);
    different.extend(changes.iter().map(String::as_str));
    match different.len() {
        0 => format!("No drift: all {all} resources are as the spec says{limits}."),
        1 => format!("1 of {all} resources is not as the spec says{limits}."),
        many => format!(
            "{} of {all} resources are not as the spec says{limits}.",
            words::count(many)
        ),
    }
}

/// The report as one JSON document.
pub fn json(plan: &Plan, read_at: Option<Timestamp>, diagnostics: &[DiagnosticDocument]) -> String {
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "stack": plan.stack,
        "scope": plan.scope,
        "read_at": read_at,
        "complete": plan.complete,
        "has_drift": plan.has_changes,
        "resources": plan.steps.len(),
        "drift": plan.changes().map(document).collect::<Vec<_>>(),
        "diagnostics": diagnostics,
    }))
}

fn document(step: &Step) -> Value {
    let attributes =
        step.reason.attributes.iter().map(
            |change| json!({"path": change.path, "live": change.before, "spec": change.after}),
        );
    json!({
        "address": step.address,
        "type": step.kind,
        "id": step.id,
        "why": step.reason.code,
        "attributes": attributes.collect::<Vec<_>>(),
    })
}
