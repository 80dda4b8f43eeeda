//! The text form of CycleCloud's templates: sections of three ranks, and attributes.

use std::fmt::{Display, Write as _};

/// A template that is being written.
#[derive(Debug, Default)]
pub(super) struct Ini {
    text: String,
    indent: &'static str,
}

impl Ini {
    /// A line that CycleCloud passes over.
    pub(super) fn comment(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}# {line}", self.indent);
    }

    /// Begins an object of the first rank.
    pub(super) fn object(&mut self, name: &str) {
        self.begin("", &format!("[{name}]"));
    }

    /// Begins one of the second rank, such as a node.
    pub(super) fn part(&mut self, name: &str) {
        self.begin("    ", &format!("[[{name}]]"));
    }

    /// Begins one of the third rank, such as a volume.
    pub(super) fn detail(&mut self, name: &str) {
        self.begin("        ", &format!("[[[{name}]]]"));
    }

    /// An attribute of what was begun last.
    pub(super) fn set(&mut self, name: &str, value: impl Display) {
        let _ = writeln!(self.text, "{}{name} = {value}", self.indent);
    }

    /// The text.
    pub(super) fn end(self) -> String {
        self.text
    }

    fn begin(&mut self, indent: &'static str, header: &str) {
        self.indent = indent;
        let _ = writeln!(self.text, "\n{indent}{header}");
    }
}
