//! Findings with the lines of the spec they are about.
//!
//! Where a place is in the text is for the caller to say: this module takes a function from
//! places to byte ranges and draws what it gives.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use model::diag::{At, Diagnostic, DiagnosticDocument, PlaceDocument, Severity};

use crate::{
    line::{self, Line},
    paper::Paper,
    style::{Ink, Style},
    words,
};

/// Columns that a snippet needs beside its text: line number, bar, `= help: `.
const MARGIN: usize = 16;

/// The spec's text.
#[derive(Clone, Copy, Debug)]
pub struct SourceText<'a> {
    /// Its path, as given on the command line.
    pub file: &'a str,
    /// The text.
    pub text: &'a str,
}

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
    for diagnostic in diagnostics {
        match map.range(&diagnostic.at) {
            Some(range) => text.push_str(&snippet(diagnostic, range, &map, style)),
            None => text.push_str(&plain(diagnostic, &map, style)),
        }
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

/// The text with the beginnings of its lines.
struct SourceMap<'a> {
    source: &'a SourceText<'a>,
    resolve: Resolve<'a>,
    starts: Vec<usize>,
}

impl<'a> SourceMap<'a> {
    fn new(source: &'a SourceText<'a>, resolve: Resolve<'a>) -> Self {
        let after_feed = |(position, _)| position + 1;
        let starts = [0]
            .into_iter()
            .chain(source.text.match_indices('\n').map(after_feed));
        Self {
            source,
            resolve,
            starts: starts.collect(),
        }
    }

    /// Where a place is: inside the text, between characters, and on one line, since a mark
    /// below forty lines of a pool helps nobody.
    fn range(&self, at: &At) -> Option<Range<usize>> {
        let own = || match at {
            At::Text { start, end } => Some(*start..*end),
            At::Value(_) | At::Key(_) | At::Resource(_) | At::Named(_) | At::Nowhere => None,
        };
        let Range { start, end } = (self.resolve)(at).or_else(own)?;
        let text = self.source.text;
        let start = floor(text, start);
        let end = floor(text, end.max(start));
        let marked = text.get(start..end)?;
        let first_line = marked.split('\n').next().unwrap_or_default().trim_end();
        Some(start..start + first_line.len())
    }

    /// The number of the line a byte is on, from 0.
    fn line(&self, byte: usize) -> usize {
        self.starts
            .partition_point(|start| *start <= byte)
            .saturating_sub(1)
    }

    /// The bytes from the beginning of one line to the end of another.
    fn lines(&self, first: usize, last: usize) -> Range<usize> {
        let start = self.starts.get(first).copied().unwrap_or(0);
        let end = self
            .starts
            .get(last + 1)
            .copied()
            .unwrap_or(self.source.text.len());
        start..end
    }

    fn place(&self, at: &At) -> Option<PlaceDocument> {
        let mut place = PlaceDocument::default();
        match at {
            At::Value(path) | At::Key(path) => {
                place.file = Some(self.source.file.to_owned());
                place.path = Some(path.to_string());
            }
            At::Text { .. } => place.file = Some(self.source.file.to_owned()),
            At::Resource(address) => place.resource = Some(address.to_string()),
            At::Named(name) => place.resource = Some(name.clone()),
            At::Nowhere => {}
        }
        if let Some(range) = self.range(at) {
            let line = self.line(range.start);
            let start = self.lines(line, line).start;
            let before = self.source.text.get(start..range.start).unwrap_or_default();
            place.file = Some(self.source.file.to_owned());
            place.line = Some(line + 1);
            place.column = Some(before.chars().count() + 1);
        }
        (place != PlaceDocument::default()).then_some(place)
    }

    /// A place in words, for what is not in the text.
    fn words(&self, at: &At) -> Option<String> {
        match at {
            At::Value(path) | At::Key(path) if path.segments().is_empty() => {
                Some(self.source.file.to_owned())
            }
            At::Value(path) | At::Key(path) => Some(format!("{path} in {}", self.source.file)),
            At::Text { .. } => Some(self.source.file.to_owned()),
            At::Resource(address) => Some(address.to_string()),
            At::Named(name) => Some(name.clone()),
            At::Nowhere => None,
        }
    }
}

/// The last place between two characters that is not behind `byte`.
fn floor(text: &str, byte: usize) -> usize {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}

fn level(severity: Severity) -> Level<'static> {
    match severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    }
}

/// A finding with its line of the spec.
fn snippet(
    diagnostic: &Diagnostic,
    range: Range<usize>,
    map: &SourceMap<'_>,
    style: Style,
) -> String {
    let mut marks = vec![(range.clone(), None)];
    let mut elsewhere = Vec::new();
    for (at, message) in &diagnostic.related {
        match map.range(at) {
            Some(range) => marks.push((range, Some(line::clean(message)))),
            None => elsewhere.push((at, message)),
        }
    }
    let first = marks
        .iter()
        .map(|(range, _)| map.line(range.start))
        .min()
        .unwrap_or(0);
    let last = marks
        .iter()
        .map(|(range, _)| map.line(range.end))
        .max()
        .unwrap_or(first);
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
    without_trailing_blanks(&drawn)
}

fn related(at: &At, message: &str, map: &SourceMap<'_>) -> String {
    match map.words(at) {
        Some(place) => format!("{message} (at {place})"),
        None => message.to_owned(),
    }
}

fn broken(text: &str, room: usize) -> String {
    let lines: Vec<String> = Line::of(text).wrap(room).iter().map(Line::text).collect();
    lines.join("\n")
}

/// A finding whose place is not in the spec's text.
fn plain(diagnostic: &Diagnostic, map: &SourceMap<'_>, style: Style) -> String {
    let mut paper = Paper::new(style);
    title(
        &mut paper,
        diagnostic.severity,
        diagnostic.code.as_str(),
        &diagnostic.message,
    );
    if let Some(place) = map.words(&diagnostic.at) {
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
