//! What a run of the binary gave, and what holds for every run.

use std::process::Output;

use serde_json::Value;

/// What a run of the binary gave.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    /// The arguments.
    pub(crate) arguments: Vec<String>,
    /// The exit code.
    pub(crate) exit: i32,
    /// Data.
    pub(crate) stdout: String,
    /// Progress and findings.
    pub(crate) stderr: String,
}

/// Exit codes that the tool promises.
const PROMISED: &[i32] = &[0, 1, 2, 3, 4, 64, 130];

/// What no output ever has: it would be a crash, or colour where nobody asked for it.
const NEVER: &[&str] = &[
    "panicked at",
    "stack backtrace",
    "RUST_BACKTRACE",
    "\u{1b}[",
];

impl Ran {
    /// Of a process that ended by itself.
    pub(crate) fn of(arguments: Vec<String>, output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
        let ran = Self {
            arguments,
            exit: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        ran.check()
    }

    /// The exit code must be this one.
    #[track_caller]
    pub(crate) fn exits(self, code: i32, what: &str) -> Self {
        assert_eq!(
            self.exit, code,
            "{what}\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout, self.stderr
        );
        self
    }

    /// Checks what holds for every run.
    fn check(self) -> Self {
        assert!(
            PROMISED.contains(&self.exit),
            "exit code {} is none of those promised: {self:#?}",
            self.exit
        );
        for text in [&self.stdout, &self.stderr] {
            for word in NEVER {
                assert!(!text.contains(word), "{word:?} in the output: {self:#?}");
            }
        }
        if self.asked_for_json() {
            self.json();
        }
        self
    }

    /// Whether data was asked for as JSON, by a command that was run at all.
    fn asked_for_json(&self) -> bool {
        let json = |pair: &[String]| matches!(pair, [flag, format] if (flag == "-o" || flag == "--output") && format == "json");
        let prints_itself = ["--help", "--version"];
        self.arguments.windows(2).any(json)
            && !self
                .arguments
                .iter()
                .any(|argument| prints_itself.contains(&argument.as_str()))
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(document) => document,
            Err(error) => panic!("stdout is not one JSON document ({error}): {self:#?}"),
        }
    }
}
