//! Findings with the lines of the spec they are about.
//!
//! Where a place is in the text is for the caller to say: this module takes a function from
//! places to byte ranges and draws what it gives. What is
//! secret in the text was masked by whoever read it.

pub(crate) mod source_map;

mod snippet;

use std::ops::Range;

use model::diag::{At, Diagnostic, DiagnosticDocument, Severity};

use self::source_map::SourceMap;
use crate::{
    line::Line,
    paper::Paper,
    ranges,
    style::{Ink, Style},
    words,
};

/// The spec's text.
#[derive(Clone, Copy, Debug)]
pub struct SourceText<'a> {
    /// Its path, as given on the command line.
    pub file: &'a str,
    /// The text.
    pub text: &'a str,
}

/// Addresses named in one line.
const NAMED: usize = 8;

/// Tells where a place is in the text, where it is in there.
pub type Resolve<'a> = &'a dyn Fn(&At) -> Option<Range<usize>>;

/// Findings one after the other, and how many there are in the last line.
pub fn text(
    diagnostics: &[Diagnostic],
    source: &SourceText<'_>,
    resolve: Resolve<'_>,
    style: Style,
) -> String {
    let map = SourceMap::new(source, resolve);
    let mut text = String::new();
    let mut groups: Vec<Vec<&Diagnostic>> = Vec::new();
    for diagnostic in diagnostics {
        let alike = groups.iter_mut().find(|group| {
            let first = group.first();
            first.is_some_and(|first| differ_only_in_resource(first, diagnostic))
        });
        match alike {
            Some(group) => group.push(diagnostic),
            None => groups.push(vec![diagnostic]),
        }
    }
    for alike in &groups {
        let drawn = alike
            .first()
            .and_then(|first| snippet::draw(first, &map, style));
        text.push_str(&drawn.unwrap_or_else(|| plain(alike, &map, style)));
        text.push('\n');
    }
    let mut paper = Paper::new(style);
    let severities: Vec<Severity> = diagnostics
        .iter()
        .map(|diagnostic| diagnostic.severity)
        .collect();
    tally(&mut paper, &severities);
    text.push_str(&paper.finish());
    text
}

/// Findings as they stand in JSON documents, places with line and column.
pub fn documents(
    diagnostics: &[Diagnostic],
    source: &SourceText<'_>,
    resolve: Resolve<'_>,
) -> Vec<DiagnosticDocument> {
    let map = SourceMap::new(source, resolve);
    diagnostics
        .iter()
        .map(|diagnostic| {
            let Diagnostic {
                code,
                severity,
                message,
                at,
                related: _,
                help,
            } = diagnostic;
            DiagnosticDocument {
                code: code.to_string(),
                severity: *severity,
                message: message.clone(),
                at: map.place(at),
                help: (!help.is_empty()).then(|| help.join("\n")),
            }
        })
        .collect()
}

/// Whether two findings say the same of two resources, so that one text does for both.
fn differ_only_in_resource(one: &Diagnostic, other: &Diagnostic) -> bool {
    let of_resource = |finding: &Diagnostic| matches!(finding.at, At::Resource(_));
    let moved = Diagnostic {
        at: other.at.clone(),
        ..one.clone()
    };
    of_resource(one) && of_resource(other) && moved == *other
}

/// A finding whose place is not in the spec's text, and those that are like it.
fn plain(alike: &[&Diagnostic], map: &SourceMap<'_>, style: Style) -> String {
    let mut paper = Paper::new(style);
    let Some(diagnostic) = alike.first() else {
        return String::new();
    };
    title(
        &mut paper,
        diagnostic.severity,
        diagnostic.code.as_str(),
        &diagnostic.message,
    );
    let addresses = alike.iter().filter_map(|finding| match &finding.at {
        At::Resource(address) => Some(address),
        At::Nowhere | At::Value(_) | At::Key(_) | At::Named(_) | At::Text { .. } => None,
    });
    let place = if alike.len() > 1 {
        Some(words::listed(&ranges::of(addresses), NAMED))
    } else {
        map.words(&diagnostic.at)
    };
    if let Some(place) = place {
        paper.hanging(&Line::inked(Ink::Faint, "  at "), &Line::of(place));
    }
    for (at, message) in &diagnostic.related {
        paper.hanging(
            &Line::inked(Ink::Faint, "  note: "),
            &Line::of(related(at, message, map)),
        );
    }
    for help_line in &diagnostic.help {
        help(&mut paper, help_line);
    }
    paper.finish()
}

/// A related place that is not in the text.
fn related(at: &At, message: &str, map: &SourceMap<'_>) -> String {
    match map.words(at) {
        Some(place) => format!("{message} (at {place})"),
        None => message.to_owned(),
    }
}

/// Writes the first line of a finding.
pub(crate) fn title(paper: &mut Paper, severity: Severity, code: &str, message: &str) {
    let (word, ink) = match severity {
        Severity::Error => ("error", Ink::Bad),
        Severity::Warning => ("warning", Ink::Caution),
        Severity::Note => ("note", Ink::Good),
    };
    // In one line however long, as the titles of snippets are.
    paper.line(
        &Line::inked(ink, format!("{word}[{code}]")).then(Ink::Strong, format!(": {message}")),
    );
}

/// Writes a line of help.
pub(crate) fn help(paper: &mut Paper, text: &str) {
    paper.hanging(&Line::inked(Ink::Accent, "  help: "), &Line::of(text));
}

/// Writes how many findings there are: `2 errors, 1 warning`; nothing where there are none.
pub(crate) fn tally(paper: &mut Paper, severities: &[Severity]) {
    let kinds = [
        (Severity::Error, Ink::Bad, "error", "errors"),
        (Severity::Warning, Ink::Caution, "warning", "warnings"),
        (Severity::Note, Ink::Good, "note", "notes"),
    ];
    let mut line = Line::default();
    for (severity, ink, one, many) in kinds {
        let number = severities
            .iter()
            .filter(|found| **found == severity)
            .count();
        if number == 0 {
            continue;
        }
        if !line.is_empty() {
            line.push(Ink::Plain, ", ");
        }
        line.push(ink, words::counted(number, one, many));
    }
    if !line.is_empty() {
        paper.line(&line);
    }
}
