//! Diagnostics: expected findings for the user, each with a code, a place and a way out.
//!
//! A diagnostic names its place symbolically (a path in the spec, an address of the stack);
//! `render` resolves it to lines and columns. Codes and their pages are in [`code`].

pub mod path;

pub mod code;

mod place;

use serde::{Deserialize, Serialize};

pub use self::{
    code::Code,
    path::{Segment, SpecPath},
    place::to_document,
};
use crate::address::Address;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The run stops before any write.
    Error,
    /// The run goes on; somebody should look.
    Warning,
    /// For information.
    Note,
}

/// What a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// A value in the spec.
    Value(SpecPath),
    /// A key in the spec, where the key itself is wrong.
    Key(SpecPath),
    /// A byte range of the spec's text, for what has no path (syntax).
    Text {
        /// First byte.
        start: usize,
        /// Byte after the last.
        end: usize,
    },
    /// A resource of the stack.
    Resource(Address),
    /// A resource that is not ours, by its id, or another named thing outside the spec.
    Named(String),
    /// Nothing in particular.
    #[default]
    Nowhere,
}

impl At {
    /// The pool that the place belongs to.
    pub fn pool_name(&self) -> Option<&str> {
        match self {
            Self::Value(path) | Self::Key(path) => path.pool_name(),
            Self::Resource(address) => address.pool_name(),
            Self::Text { .. } | Self::Named(_) | Self::Nowhere => None,
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which finding it is; has a page in `docs/diagnostics`.
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// One line: what was expected and what was found.
    pub message: String,
    /// What it is about.
    pub at: At,
    /// Other places that belong to it, each with what it has to do with the finding.
    pub related: Vec<(At, String)>,
    /// What to do next, one line each.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// A finding with the severity that its code has by default.
    pub fn new(code: Code, at: At, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            at,
            related: Vec::new(),
            help: Vec::new(),
        }
    }

    /// With another severity than the code's own.
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// With one more line of help.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// With one more related place.
    pub fn with_related(mut self, at: At, message: impl Into<String>) -> Self {
        self.related.push((at, message.into()));
        self
    }
}

/// Findings of one run, in the order they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds a finding, unless the very same is there already.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !self.0.contains(&diagnostic) {
            self.0.push(diagnostic);
        }
    }

    /// Adds all findings of another collection.
    pub fn extend(&mut self, others: Self) {
        for diagnostic in others.0 {
            self.push(diagnostic);
        }
    }

    /// Whether any finding stops the run.
    pub fn has_errors(&self) -> bool {
        self.0
            .iter()
            .any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether there is no finding at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The findings in order.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// Sorts by severity, then by place, then by code, so that equal runs print equally.
    pub fn sort(&mut self) {
        self.0.sort_by(|a, b| {
            (a.severity, &a.at, a.code, &a.message).cmp(&(b.severity, &b.at, b.code, &b.message))
        });
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<T: IntoIterator<Item = Diagnostic>>(iterator: T) -> Self {
        let mut all = Self::default();
        for diagnostic in iterator {
            all.push(diagnostic);
        }
        all
    }
}

/// A finding as it stands in JSON documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticDocument {
    /// The code's text.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// One line: what was expected and what was found.
    pub message: String,
    /// The place, where there is one.
    pub at: Option<PlaceDocument>,
    /// What to do next, lines joined by line feeds; absent where there is nothing to say.
    pub help: Option<String>,
}

/// The place of a finding in JSON documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceDocument {
    /// The spec file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Column in characters, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// Path in the spec, such as `pools.train.size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Address of the resource, such as `pool.train[0].vm`, or the id of a foreign one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}
