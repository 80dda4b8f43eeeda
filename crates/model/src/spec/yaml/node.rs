//! The tree of a YAML document, every part with its byte range in the text.

use std::ops::Range;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// Its bytes in the text.
    pub(crate) span: Range<usize>,
    /// What it is.
    pub(crate) content: Content,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// A single value.
    Scalar(Scalar),
    /// A list.
    Sequence(Vec<Node>),
    /// Keys with values, in the order of the text, each key once.
    Mapping(Vec<Entry>),
}

/// A single value, before its type is looked at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scalar {
    /// The text, without quotes and escapes.
    pub(crate) text: String,
    /// Whether it stands without quotes, so that it may be a number or a boolean.
    pub(crate) plain: bool,
    /// What became of the `${…}` references in it.
    pub(crate) reference: Reference,
}

/// What became of the `${…}` references of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reference {
    /// There are none.
    Absent,
    /// They are replaced; the text as it was written.
    Replaced {
        /// The text before.
        written: String,
        /// Whether a value came from the environment, so that messages must not show it.
        from_environment: bool,
    },
    /// At least one leads nowhere, which is reported: the text says nothing.
    Broken,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// The key's text.
    pub(crate) key: String,
    /// The key's bytes in the text.
    pub(crate) key_span: Range<usize>,
    /// The value.
    pub(crate) value: Node,
}

impl Node {
    /// The value of a key, where this is a mapping that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// A key with its value, where this is a mapping that has it.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The entries of a mapping; none for anything else.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Mapping(entries) => entries,
            Content::Scalar(_) | Content::Sequence(_) => &[],
        }
    }

    /// The items of a list; none for anything else.
    pub(crate) fn items(&self) -> &[Self] {
        match &self.content {
            Content::Sequence(items) => items,
            Content::Scalar(_) | Content::Mapping(_) => &[],
        }
    }

    /// The single value, where it is one.
    pub(crate) fn scalar(&self) -> Option<&Scalar> {
        match &self.content {
            Content::Scalar(scalar) => Some(scalar),
            Content::Sequence(_) | Content::Mapping(_) => None,
        }
    }

    /// Whether a reference in it or below it leads nowhere.
    pub(crate) fn has_broken_reference(&self) -> bool {
        match &self.content {
            Content::Scalar(scalar) => scalar.reference == Reference::Broken,
            Content::Sequence(items) => items.iter().any(Self::has_broken_reference),
            Content::Mapping(entries) => entries
                .iter()
                .any(|entry| entry.value.has_broken_reference()),
        }
    }
}
