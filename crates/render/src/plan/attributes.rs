//! Attributes that differ: `path: before -> after`, and what the change does.

use model::{
    plan::{Action, AttributeChange},
    resource::AFTER_APPLY,
};
use serde_json::Value;

use crate::{line::Line, style::Ink, words};

/// Columns up to which the paths of a step are padded; a longer path pushes its values right.
const LONGEST_PADDED: usize = 32;

/// The lines of all changes, each of at most `room` columns where it can be broken.
pub(super) fn lines(changes: &[AttributeChange], room: usize) -> Vec<Line> {
    let widths = changes
        .iter()
        .map(|change| crate::line::width(&change.path) + 1);
    let padding = widths
        .filter(|width| *width <= LONGEST_PADDED)
        .max()
        .unwrap_or(0);
    changes
        .iter()
        .flat_map(|change| one(change, padding, room))
        .collect()
}

fn one(change: &AttributeChange, padding: usize, room: usize) -> Vec<Line> {
    let AttributeChange {
        path,
        before,
        after,
        effect,
    } = change;
    let head = Line::of(format!("{path}:"));
    let blanks = " ".repeat(padding.saturating_sub(head.width()) + 1);
    let (ink, remark) = effect_words(*effect);
    let remark = Line::of("  ").then(ink, format!("# {remark}"));
    let mut short = head.clone();
    short.push(Ink::Plain, blanks);
    short.push(Ink::Plain, format!("{} -> {}", shown(before), shown(after)));
    short.append(&remark);
    if short.width() <= room {
        return vec![short];
    }
    let mut first = head;
    first.append(&remark);
    let mut lines = first.wrap_hard(room);
    lines.extend(
        long(before, after)
            .iter()
            .flat_map(|line| broken(line, room)),
    );
    lines
}

/// The values below each other; of two lists only the items that differ.
fn long(before: &Value, after: &Value) -> Vec<Line> {
    let minus = |value: &Value| Line::inked(Ink::Bad, format!("- {}", shown(value)));
    let plus = |value: &Value| Line::inked(Ink::Good, format!("+ {}", shown(value)));
    let (Value::Array(old), Value::Array(new)) = (before, after) else {
        return vec![minus(before), plus(after)];
    };
    let gone: Vec<&Value> = old.iter().filter(|item| !new.contains(item)).collect();
    let come: Vec<&Value> = new.iter().filter(|item| !old.contains(item)).collect();
    if gone.is_empty() && come.is_empty() {
        return vec![minus(before), plus(after)];
    }
    let kept = old.len() - gone.len();
    let mut lines: Vec<Line> = gone.into_iter().map(minus).collect();
    lines.extend(come.into_iter().map(plus));
    if kept > 0 {
        lines.push(Line::inked(
            Ink::Faint,
            format!("  ({} unchanged)", words::count(kept)),
        ));
    }
    lines
}

fn broken(line: &Line, room: usize) -> Vec<Line> {
    let parts = line.wrap_hard(room.saturating_sub(4).max(1));
    let indent =
        |(position, part): (usize, &Line)| part.indented(if position == 0 { 2 } else { 4 });
    parts.iter().enumerate().map(indent).collect()
}

/// A value as JSON with blanks between items; what is not there is `(none)`.
/// A value as people read it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) if text == AFTER_APPLY => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

fn effect_words(effect: Action) -> (Ink, &'static str) {
    match effect {
        Action::NoOp => (Ink::Faint, "reported only"),
        Action::Create => (Ink::Good, "set when it is created"),
        Action::Update => (Ink::Faint, "in place"),
        Action::RestartUpdate => (Ink::Caution, "forces a restart"),
        Action::StopUpdate => (Ink::Bad, "forces deallocation"),
        Action::Replace => (Ink::Bad, "forces replacement"),
        Action::Repair => (Ink::Caution, "set by the repair"),
        Action::Start => (Ink::Caution, "set by the start"),
        Action::Delete => (Ink::Bad, "forces deletion"),
    }
}
