//! What reading a spec finds, as tables: a text and the findings with their places.

mod yaml;

mod keys;

mod values;

mod support;

mod nodes;

mod conflicts;

mod services;

mod variables;

mod secrets;

mod decode;

mod documents;

mod pages;

mod differential;

mod properties;

use super::{Inputs, Parsed, parse};
use crate::diag::Severity;

/// The shortest valid spec; pool keys follow on line 8, indented by four.
const BASE: &str = "\
version: 1
name: demo
location: eastus
pools:
  p:
    stage: inference
    workload: generative
";

/// The shortest valid spec with these keys of its pool from line 8 on.
fn pool(keys: &str) -> String {
    let indented: Vec<String> = keys.lines().map(|line| format!("    {line}")).collect();
    format!("{BASE}{}\n", indented.join("\n"))
}

/// The shortest valid spec with these keys of the top level from line 8 on.
fn top(keys: &str) -> String {
    format!("{BASE}{keys}\n")
}

fn read(text: &str) -> Parsed {
    parse(text, &Inputs::default())
}

/// Each finding as `CODE line:column message`; warnings begin with `warning`.
fn findings(parsed: &Parsed) -> Vec<String> {
    parsed
        .diagnostics
        .iter()
        .map(|finding| {
            let place = match parsed.spans.position_of(&finding.at) {
                Some(position) => format!("{}:{}", position.line, position.column),
                None => "-".to_owned(),
            };
            let severity = match finding.severity {
                Severity::Error => "",
                Severity::Warning => "warning ",
                Severity::Note => "note ",
            };
            format!("{severity}{} {place} {}", finding.code, finding.message)
        })
        .collect()
}

/// Holds the findings of a text against those expected, and that errors leave no spec.
fn check(text: &str, expected: &[&str]) {
    let parsed = read(text);
    assert_eq!(findings(&parsed), expected, "{text}");
    assert_eq!(
        parsed.spec.is_none(),
        parsed.diagnostics.has_errors(),
        "{text}"
    );
}

/// Holds the only finding of a text against its code with place, and its help.
fn check_help(text: &str, place: &str, help: &[&str]) {
    let parsed = read(text);
    let found: Vec<String> = findings(&parsed);
    assert_eq!(found.len(), 1, "{found:#?}\n{text}");
    assert!(found[0].starts_with(place), "{}\n{text}", found[0]);
    let finding = parsed.diagnostics.iter().next().expect("one finding");
    let lines = finding.help.iter().flat_map(|help| help.lines());
    assert_eq!(lines.collect::<Vec<_>>(), help, "{text}");
}

#[test]
fn the_shortest_spec_is_valid() {
    check(BASE, &[]);
    check(&pool("count: 8"), &[]);
    check(&top("tags: {team: ml}"), &[]);
}
