//! The only place that prints: data on stdout, everything else on stderr.

use std::{
    cell::RefCell,
    io::{self, ErrorKind, IsTerminal, Write},
};

use crate::args::{Format, Global, When};

/// Columns that a page has when nobody tells.
pub(crate) const USUAL_WIDTH: usize = 100;

/// Narrower than this no table stays legible.
const SMALLEST_WIDTH: usize = 60;

/// Where and how to print.
#[derive(Debug)]
pub(crate) struct Output {
    /// The format of data.
    pub(crate) format: Format,
    /// Whether progress and notes are left out.
    pub(crate) quiet: bool,
    /// How stdout is drawn.
    pub(crate) stdout: render::Style,
    /// How stderr is drawn.
    pub(crate) stderr: render::Style,
    /// Whether somebody looks at stderr, so that progress may be redrawn.
    pub(crate) live: bool,
    /// Whether somebody can answer a question.
    pub(crate) can_ask: bool,
    /// Readers that went away.
    broken: RefCell<Vec<Stream>>,
    lost: RefCell<Option<String>>,
}

/// Where something is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Data,
    Rest,
}

/// Why data could not be printed.
pub(crate) fn unwritable(reason: &str) -> String {
    format!("standard output cannot be written: {reason}")
}

impl Output {
    /// As the options and the terminal say.
    pub(crate) fn new(global: &Global) -> Self {
        let width = std::env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok());
        let width = width.unwrap_or(USUAL_WIDTH).max(SMALLEST_WIDTH);
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let color = |terminal: bool| match global.color {
            When::Auto => terminal && !no_color,
            When::Always => true,
            When::Never => false,
        };
        let (stdout, stderr) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            format: global.output,
            quiet: global.quiet,
            stdout: render::Style {
                color: color(stdout),
                width,
            },
            stderr: render::Style {
                color: color(stderr),
                width,
            },
            live: stderr && global.output == Format::Text && !global.quiet,
            can_ask: stderr && io::stdin().is_terminal(),
            broken: RefCell::default(),
            lost: RefCell::default(),
        }
    }

    /// Whether data is JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Prints data.
    pub(crate) fn data(&self, text: &str) {
        self.write(Stream::Data, io::stdout().lock(), text);
    }

    /// Prints what matters even when quiet: findings, refusals, questions.
    pub(crate) fn say(&self, text: &str) {
        self.write(Stream::Rest, io::stderr().lock(), text);
    }

    /// Prints progress and notes.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// A reader that went away (`| head`) is no error; nothing more is written to it. Data that
    /// could not be written for another reason is lost.
    fn write(&self, stream: Stream, mut to: impl Write, text: &str) {
        if self.broken.borrow().contains(&stream) {
            return;
        }
        let written = to.write_all(text.as_bytes()).and_then(|()| to.flush());
        if let Err(error) = written {
            self.broken.borrow_mut().push(stream);
            if stream == Stream::Data && error.kind() != ErrorKind::BrokenPipe {
                *self.lost.borrow_mut() = Some(error.to_string());
            }
        }
    }

    /// Why data did not reach standard output.
    pub(crate) fn lost(&self) -> Option<String> {
        self.lost.borrow().clone()
    }

    /// Asks a question that only `yes` answers.
    pub(crate) fn confirm(&self, question: &str) -> bool {
        self.say(question);
        let mut answer = String::new();
        io::stdin().read_line(&mut answer).is_ok() && answer.trim() == "yes"
    }

    /// Asks for a word, with what an empty answer means.
    pub(crate) fn ask(&self, question: &str, default: &str) -> String {
        self.say(&format!("{question} [{default}]: "));
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        let answer = answer.trim();
        if read.is_err() || answer.is_empty() {
            default.to_owned()
        } else {
            answer.to_owned()
        }
    }
}
