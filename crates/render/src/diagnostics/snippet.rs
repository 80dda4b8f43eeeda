//! Findings drawn below their lines of the spec.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use model::diag::{Diagnostic, Severity};

use super::{related, source_map::SourceMap};
use crate::{
    line::{self, Line},
    style::Style,
};

/// Columns that a snippet needs beside its text: line number, bar, `= help: `.
const MARGIN: usize = 16;

/// A finding with its lines of the spec; `None` where it has none.
pub(super) fn draw(diagnostic: &Diagnostic, map: &SourceMap<'_>, style: Style) -> Option<String> {
    let mut marks = vec![(map.range(&diagnostic.at)?, None)];
    let mut elsewhere = Vec::new();
    for (at, message) in &diagnostic.related {
        match map.range(at) {
            Some(range) => marks.push((range, Some(line::clean(message)))),
            None => elsewhere.push((at, message)),
        }
    }
    let lines = |(range, _): &(Range<usize>, _)| [map.line(range.start), map.line(range.end)];
    let first = marks.iter().flat_map(lines).min()?;
    let last = marks.iter().flat_map(lines).max()?;
    let window = map.lines(first, last);
    let source = map.source.text.get(window.clone()).unwrap_or_default();
    let annotations = marks.into_iter().map(|(range, label)| {
        let kind = match label {
            None => AnnotationKind::Primary,
            Some(_) => AnnotationKind::Context,
        };
        let inside = range.start - window.start..range.end - window.start;
        kind.span(inside).label(label)
    });
    let snippet = Snippet::source(source)
        .path(line::clean(map.source.file))
        .line_start(first + 1)
        .annotations(annotations);
    let title = level(diagnostic.severity)
        .primary_title(line::clean(&diagnostic.message))
        .id(diagnostic.code.as_str());
    let room = style.columns().saturating_sub(MARGIN).max(1);
    let notes = elsewhere
        .into_iter()
        .map(|(at, message)| Level::NOTE.message(broken(&related(at, message, map), room)));
    let help = diagnostic
        .help
        .iter()
        .map(|help| Level::HELP.message(broken(help, room)));
    let group: Group<'_> = title.element(snippet).elements(notes).elements(help);
    let renderer = if style.color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let drawn = renderer.term_width(style.columns()).render(&[group]);
    Some(without_trailing_blanks(&drawn))
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

fn broken(text: &str, room: usize) -> String {
    let lines: Vec<String> = Line::of(text).wrap(room).iter().map(Line::text).collect();
    lines.join("\n")
}

/// Every line without blanks at its end, whatever colours stand between them, and with one
/// line feed at the end of all.
fn without_trailing_blanks(text: &str) -> String {
    let mut trimmed = String::new();
    for line in text.lines() {
        let mut kept = line;
        let mut codes = String::new();
        loop {
            kept = kept.trim_end_matches(' ');
            match kept.rfind('\u{1b}') {
                Some(start) if kept.get(start..).is_some_and(is_one_code) => {
                    codes.insert_str(0, kept.get(start..).unwrap_or_default());
                    kept = kept.get(..start).unwrap_or_default();
                }
                Some(_) | None => break,
            }
        }
        trimmed.push_str(kept);
        trimmed.push_str(&codes);
        trimmed.push('\n');
    }
    trimmed
}

/// Whether a text that begins with an escape is one colour code and nothing more.
fn is_one_code(text: &str) -> bool {
    let parameters = text
        .strip_prefix("\u{1b}[")
        .and_then(|rest| rest.strip_suffix('m'));
    parameters.is_some_and(|parameters| {
        parameters
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b';')
    })
}
