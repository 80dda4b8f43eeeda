//! The table of the document.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{Point, errors, estimated, percentile};

pub(super) const BEGIN: &str = "<!-- reference points: written by the tests of the planner -->";
pub(super) const END: &str = "<!-- end of the reference points -->";

/// A summary of the groups, and a line for each point.
pub(super) fn markdown(points: &[Point]) -> String {
    let mut text = String::from(
        "| group | points | with an estimate | median error | 90th percentile |\n|---|--:|--:|--:|--:|\n",
    );
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for point in points {
        *counts.entry(&point.group).or_default() += 1;
    }
    let errors = errors();
    for (group, count) in &counts {
        let none = Vec::new();
        let errors = errors.get(*group).unwrap_or(&none);
        let (median, high) = if errors.is_empty() {
            ("–".to_owned(), "–".to_owned())
        } else {
            (
                format!("{:.1} %", percentile(errors, 50)),
                format!("{:.1} %", percentile(errors, 90)),
            )
        };
        let _ = writeln!(
            text,
            "| {group} | {count} | {} | {median} | {high} |",
            errors.len()
        );
    }
    for group in counts.keys() {
        let _ = write!(
            text,
            "\n### {group}\n\n| model | GPUs | as | sequence | what | published | estimated | error | note |\n|---|---|---|--:|---|--:|--:|--:|---|\n"
        );
        for point in points.iter().filter(|point| point.group == *group) {
            text.push_str(&row(point));
        }
    }
    text
}

fn row(point: &Point) -> String {
    let (estimate, error, why) = match estimated::of(point) {
        Ok(estimate) => {
            let error = (estimate / point.published - 1.0) * 100.0;
            (number(estimate), format!("{error:+.0} %"), String::new())
        }
        Err(reason) => ("–".to_owned(), "–".to_owned(), reason),
    };
    let parts = [point.precision.as_str(), &point.method, &point.layout];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let sequence = match (point.sequence, point.output) {
        (Some(input), Some(output)) => format!("{input} + {output}"),
        (Some(sequence), None) => sequence.to_string(),
        (None, _) => String::new(),
    };
    let notes = [why.as_str(), &point.note, &point.source];
    let notes: Vec<&str> = notes.into_iter().filter(|note| !note.is_empty()).collect();
    format!(
        "| {} | {} × {} | {} | {sequence} | {} | {} | {estimate} | {error} | {} |\n",
        point.model,
        point.gpus,
        point.gpu,
        parts.join(", "),
        point.quantity.replace('_', " "),
        number(point.published),
        notes.join("; ")
    )
}

fn number(number: f64) -> String {
    if number.abs() >= 1_000.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.2}")
    }
}

/// Writes the document anew where goldens are to be updated.
#[expect(
    clippy::disallowed_methods,
    reason = "the test writes a golden, the crate nothing"
)]
pub(super) fn write(text: &str) -> bool {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sizing.md");
    std::env::var("UPDATE_GOLDENS").is_ok_and(|update| update == "1")
        && std::fs::write(path, text).is_ok()
}
