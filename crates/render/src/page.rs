//! A page of Markdown on a terminal: the pages of diagnostic codes.
//!
//! Only what those pages use is understood: headings, paragraphs, lists, code blocks,
//! `code`, **bold** and links. Everything else stands as written.

use model::diag::Severity;
use serde_json::json;

use crate::{
    failure,
    line::Line,
    paper::Paper,
    style::{Ink, Style},
};

/// Blanks before code.
const CODE_INDENT: usize = 4;

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// The page of a diagnostic code as one JSON document, its text in Markdown.
pub fn json(code: &str, severity: Severity, markdown: &str) -> String {
    let title = markdown.lines().next().and_then(heading);
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "code": code,
        "severity": severity,
        "title": title.and_then(|title| title.split_once(": ")).map(|(_, title)| title),
        "page": markdown,
    }))
}

/// The page as text.
pub fn text(markdown: &str, style: Style) -> String {
    let mut paper = Paper::new(style);
    let mut block = Block::default();
    let mut code = false;
    for line in markdown.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            block.end(&mut paper);
            code = !code;
            paper.blank();
        } else if code {
            paper.line(&Line::of(line).indented(CODE_INDENT));
        } else if trimmed.is_empty() {
            block.end(&mut paper);
            paper.blank();
        } else if let Some(title) = heading(trimmed) {
            block.end(&mut paper);
            paper.heading(title);
        } else if let Some((marker, rest)) = item(line) {
            block.end(&mut paper);
            block = Block {
                marker,
                words: rest.to_owned(),
            };
        } else {
            block.add(trimmed);
        }
    }
    block.end(&mut paper);
    let mut text = paper.finish();
    let length = text.trim_end().len();
    text.truncate(length);
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// A paragraph or an item of a list whose lines are being joined.
#[derive(Default)]
struct Block {
    marker: String,
    words: String,
}

impl Block {
    fn add(&mut self, words: &str) {
        if !self.words.is_empty() {
            self.words.push(' ');
        }
        self.words.push_str(words);
    }

    fn end(&mut self, paper: &mut Paper) {
        let Self { marker, words } = std::mem::take(self);
        if !words.is_empty() || !marker.is_empty() {
            paper.hanging(&Line::of(marker), &spans(&words));
        }
    }
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    ((1..=6).contains(&level) && title.starts_with(' ')).then(|| title.trim())
}

/// The marker of an item with its blanks, and the rest.
fn item(line: &str) -> Option<(String, &str)> {
    let text = line.trim_start();
    let indent = " ".repeat(line.len() - text.len());
    if let Some(rest) = text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")) {
        return Some((format!("{indent}- "), rest.trim()));
    }
    let (number, rest) = text.split_once(". ")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (format!("{indent}{number}. "), rest.trim()))
}

/// Text with `code` in colour, **bold** strong, and links as `text (address)`.
fn spans(text: &str) -> Line {
    let mut line = Line::default();
    let mut rest = text;
    while let Some(start) = rest.find(['`', '*', '[']) {
        let (before, from) = rest.split_at(start);
        line.push(Ink::Plain, before);
        rest = from;
        if let Some((inside, after)) = between(rest, "`", "`") {
            line.push(Ink::Accent, format!("`{inside}`"));
            rest = after;
        } else if let Some((inside, after)) = between(rest, "**", "**") {
            line.push(Ink::Strong, inside);
            rest = after;
        } else if let Some((name, address, after)) = link(rest) {
            line.push(Ink::Plain, format!("{name} ({address})"));
            rest = after;
        } else {
            let mut characters = rest.chars();
            let first = characters.next().map(String::from).unwrap_or_default();
            line.push(Ink::Plain, first);
            rest = characters.as_str();
        }
    }
    line.push(Ink::Plain, rest);
    line
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<(&'a str, &'a str)> {
    let (inside, after) = text.strip_prefix(open)?.split_once(close)?;
    (!inside.is_empty()).then_some((inside, after))
}

fn link(text: &str) -> Option<(&str, &str, &str)> {
    let (name, after) = text.strip_prefix('[')?.split_once("](")?;
    let (address, after) = after.split_once(')')?;
    Some((name, address, after))
}
