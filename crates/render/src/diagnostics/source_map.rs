//! Where places are in the spec's text.

use std::ops::Range;

use model::diag::{At, PlaceDocument};

use super::{Resolve, SourceText};

/// The text with the beginnings of its lines.
pub(super) struct SourceMap<'a> {
    pub(super) source: &'a SourceText<'a>,
    resolve: Resolve<'a>,
    starts: Vec<usize>,
}

impl<'a> SourceMap<'a> {
    pub(super) fn new(source: &'a SourceText<'a>, resolve: Resolve<'a>) -> Self {
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
    pub(super) fn range(&self, at: &At) -> Option<Range<usize>> {
        let range = self.whole_range(at)?;
        let marked = self.source.text.get(range.clone())?;
        let first_line = marked.split('\n').next().unwrap_or_default().trim_end();
        Some(range.start..range.start + first_line.len())
    }

    fn whole_range(&self, at: &At) -> Option<Range<usize>> {
        let own = || match at {
            At::Text { start, end } => Some(*start..*end),
            At::Value(_) | At::Key(_) | At::Resource(_) | At::Named(_) | At::Nowhere => None,
        };
        let Range { start, end } = (self.resolve)(at).or_else(own)?;
        let start = floor(self.source.text, start);
        let end = floor(self.source.text, end.max(start));
        Some(start..end.max(start))
    }

    /// The number of the line a byte is on, from 0.
    pub(super) fn line(&self, byte: usize) -> usize {
        self.starts
            .partition_point(|start| *start <= byte)
            .saturating_sub(1)
    }

    /// The bytes from the beginning of one line to the end of another.
    pub(super) fn lines(&self, first: usize, last: usize) -> Range<usize> {
        let start = self.starts.get(first).copied().unwrap_or(0);
        let end = self
            .starts
            .get(last + 1)
            .copied()
            .unwrap_or(self.source.text.len());
        start..end
    }

    pub(super) fn place(&self, at: &At) -> Option<PlaceDocument> {
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

    /// A place in words, for what is not shown.
    pub(super) fn words(&self, at: &At) -> Option<String> {
        place_words(&self.place(at)?)
    }
}

/// A place in words: file, line and column as editors read them, then the path or resource.
pub(crate) fn place_words(place: &PlaceDocument) -> Option<String> {
    let PlaceDocument {
        file,
        line,
        column,
        path,
        resource,
    } = place;
    let numbers = [line, column].into_iter().map_while(|number| *number);
    let position = file
        .iter()
        .cloned()
        .chain(numbers.map(|number| number.to_string()));
    let position = position.collect::<Vec<_>>().join(":");
    let parts: Vec<&str> = [
        Some(position.as_str()),
        path.as_deref(),
        resource.as_deref(),
    ]
    .into_iter()
    .flatten()
    .filter(|part| !part.is_empty())
    .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The last place between two characters that is not behind `byte`.
fn floor(text: &str, byte: usize) -> usize {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}
