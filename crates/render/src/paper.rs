//! The text of a document while it is being written.

use crate::{
    line::Line,
    style::{Ink, Style},
};

/// A text in the making.
#[derive(Clone, Debug)]
pub struct Paper {
    style: Style,
    text: String,
}

impl Paper {
    /// An empty text.
    pub fn new(style: Style) -> Self {
        Self {
            style,
            text: String::new(),
        }
    }

    /// Adds a line as it stands.
    pub fn line(&mut self, line: &Line) {
        self.text.push_str(&line.draw(self.style));
        self.text.push('\n');
    }

    /// Adds lines as they stand.
    pub fn lines<'a>(&mut self, lines: impl IntoIterator<Item = &'a Line>) {
        for line in lines {
            self.line(line);
        }
    }

    /// Adds an empty line, unless the text is empty or ends with one.
    pub fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Adds a heading with empty lines around it.
    pub fn heading(&mut self, title: &str) {
        self.blank();
        self.line(&Line::inked(Ink::Strong, title));
        self.blank();
    }

    /// Adds a line that is broken where it is too wide, behind `first` and, from the second
    /// line on, behind as many blanks.
    pub fn hanging(&mut self, first: &Line, line: &Line) {
        let indent = first.width();
        let most = self.style.columns().saturating_sub(indent).max(1);
        for (position, part) in line.wrap(most).iter().enumerate() {
            let mut whole = if position == 0 {
                first.clone()
            } else {
                Line::of(" ".repeat(indent))
            };
            whole.append(part);
            self.line(&whole);
        }
    }

    /// Adds text that may have several lines, each broken where it is too wide.
    pub fn paragraph(&mut self, indent: usize, ink: Ink, text: &str) {
        for line in text.lines() {
            self.hanging(&Line::of(" ".repeat(indent)), &Line::inked(ink, line));
        }
    }

    /// The text.
    pub fn finish(self) -> String {
        self.text
    }
}
