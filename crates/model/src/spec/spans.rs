//! The span index: from a path of the spec to lines, columns and bytes of its text.

use std::ops::Range;

use super::yaml::node::Node;
use crate::diag::{At, Segment, SpecPath};

/// Where everything stands in the text of a spec.
#[derive(Clone, Debug)]
pub struct SpanIndex {
    text: String,
    lines: Lines,
    root: Option<Node>,
}

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl SpanIndex {
    /// The index of a text that is not read: only lines and columns.
    pub fn of_text(text: &str) -> Self {
        Self::new(text, None)
    }

    /// The index of a text with its tree, where it has one.
    pub(crate) fn new(text: &str, root: Option<Node>) -> Self {
        let mut index = Self {
            text: text.to_owned(),
            lines: Lines::new(text),
            root,
        };
        for range in private_keys(text) {
            index.mask(range);
        }
        index
    }

    /// The text that the index is about, to be shown: what was found to be a secret, and
    /// everything that looks like a private key, stands there as asterisks.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces a part of the text by asterisks.
    pub(crate) fn mask(&mut self, range: Range<usize>) {
        let range = self.clamp(range.start)..self.clamp(range.end);
        if let Some(secret) = self.text.get(range.clone()) {
            let masked = masked(secret);
            self.text.replace_range(range, &masked);
        }
    }

    /// The bytes of a value; `None` where the spec does not write it.
    pub fn value(&self, path: &SpecPath) -> Option<Range<usize>> {
        let (found, rest) = self.find(path)?;
        rest.is_empty().then(|| found.value.clone())
    }

    /// The bytes of a key; `None` where the spec does not write it, and for list items.
    pub fn key(&self, path: &SpecPath) -> Option<Range<usize>> {
        let (found, rest) = self.find(path)?;
        if rest.is_empty() { found.key } else { None }
    }

    /// The bytes that a finding is about. A path that the spec does not write leads to the
    /// nearest key above it. `None` for what is not in the spec.
    pub fn range(&self, at: &At) -> Option<Range<usize>> {
        match at {
            At::Text { start, end } => Some(self.clamp(*start)..self.clamp(*end)),
            At::Value(path) => {
                let (found, rest) = self.find(path)?;
                match found.key {
                    Some(key) if !rest.is_empty() || found.value.is_empty() => Some(key),
                    None if !rest.is_empty() => Some(found.value.start..found.value.start),
                    _ => Some(found.value),
                }
            }
            At::Key(path) => {
                let (found, _) = self.find(path)?;
                Some(found.key.unwrap_or(found.value.start..found.value.start))
            }
            At::Resource(_) | At::Named(_) | At::Nowhere => None,
        }
    }

    /// Line and column of a byte of the text.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.clamp(offset);
        let line = self.lines.line(offset);
        let start = self.lines.start(line);
        let before = self.text.get(start..offset).unwrap_or_default();
        Position {
            line,
            column: before.trim_start_matches('\u{feff}').chars().count() + 1,
        }
    }

    /// Line and column where a finding begins.
    pub fn position_of(&self, at: &At) -> Option<Position> {
        self.range(at).map(|range| self.position(range.start))
    }

    fn clamp(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }

    /// Follows a path as far as the spec writes it; also what is left of the path.
    fn find<'p>(&self, path: &'p SpecPath) -> Option<(Found, &'p [Segment])> {
        let mut node = self.root.as_ref()?;
        let mut found = Found {
            key: None,
            value: node.span.clone(),
        };
        let mut rest = path.segments();
        while let Some((segment, behind)) = rest.split_first() {
            match segment {
                Segment::Key(key) => {
                    let Some(entry) = node.entry(key) else { break };
                    node = &entry.value;
                    found.key = Some(entry.key_span.clone());
                }
                Segment::Index(index) => {
                    let Some(item) = node.items().get(*index) else {
                        break;
                    };
                    node = item;
                    found.key = None;
                }
            }
            found.value = node.span.clone();
            rest = behind;
        }
        Some((found, rest))
    }
}

/// As many asterisks as the text has bytes, on as many lines.
fn masked(secret: &str) -> String {
    let mask = |byte: u8| {
        if matches!(byte, b'\n' | b'\r') {
            char::from(byte)
        } else {
            '*'
        }
    };
    secret.bytes().map(mask).collect()
}

/// The bytes of everything between the lines that begin and end a private key.
fn private_keys(text: &str) -> Vec<Range<usize>> {
    const HEADER: &str = "PRIVATE KEY-----";
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(HEADER)) {
        let start = from + at + HEADER.len();
        let rest = text.get(start..).unwrap_or_default();
        let end = start + rest.find("-----END").unwrap_or(rest.len());
        found.push(start..end);
        from = text
            .get(end..)
            .and_then(|rest| rest.find(HEADER))
            .map_or(text.len(), |behind| end + behind + HEADER.len());
    }
    found
}

struct Found {
    key: Option<Range<usize>>,
    value: Range<usize>,
}

/// Where the lines of a text begin. They end with a line feed, a carriage return, or both.
#[derive(Clone, Debug)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(at, byte)| match byte {
            b'\n' => true,
            b'\r' => bytes.get(at + 1) != Some(&b'\n'),
            _ => false,
        });
        Self(
            std::iter::once(0)
                .chain(ends.map(|(at, _)| at + 1))
                .collect(),
        )
    }

    /// The line of a byte, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset).max(1)
    }

    fn start(&self, line: usize) -> usize {
        self.0
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or_default()
    }
}
