//! What the parser of the command line has to say: help, the version, and mistakes.

use std::{
    env,
    io::{ErrorKind, Write},
};

use clap::error::Error;
use model::diag::{At, Code, Diagnostic, DiagnosticDocument, Severity};
use render::Style;

use crate::{
    VERSION, args,
    exit::Exit,
    output::{self, USUAL_WIDTH},
    source::Source,
};

/// Prints what the parser says; a mistake as a JSON document where JSON was asked for.
pub(crate) fn report(error: &Error) -> Exit {
    if !error.use_stderr() {
        return match error.print() {
            // A reader that went away is no error of ours.
            Err(lost) if lost.kind() != ErrorKind::BrokenPipe => {
                let finding = Diagnostic::new(
                    Code::FileUnusable,
                    At::Nowhere,
                    output::unwritable(&lost.to_string()),
                );
                let text = Source::nowhere().text(&[finding], Style::plain(USUAL_WIDTH));
                let _ = std::io::stderr().lock().write_all(text.as_bytes());
                Exit::Error
            }
            Ok(()) | Err(_) => Exit::Done,
        };
    }
    let words: Vec<String> = env::args().skip(1).collect();
    let asked = env::var("TENSORFORM_OUTPUT").unwrap_or_default();
    if is_json(&words, &asked) {
        let document = document(&words, &error.to_string());
        let _ = std::io::stdout().lock().write_all(document.as_bytes());
    } else {
        let _ = error.print();
    }
    Exit::Usage
}

/// Whether the words, of which some are wrong, ask for JSON.
fn is_json(words: &[String], asked: &str) -> bool {
    let given = words.iter().enumerate().rev().find_map(|(position, word)| {
        let next = || words.get(position + 1).map(String::as_str);
        match word.as_str() {
            "-o" | "--output" => next(),
            other => other
                .strip_prefix("--output=")
                .or_else(|| other.strip_prefix("-o"))
                .map(|value| value.trim_start_matches('=')),
        }
    });
    given.unwrap_or(asked) == "json"
}

/// The findings of a command that did not run.
fn document(words: &[String], text: &str) -> String {
    let command = args::command();
    let named = words
        .iter()
        .find(|word| command.find_subcommand(word.as_str()).is_some());
    let mut paragraphs = text.split("\n\n").map(str::trim);
    let message = paragraphs.next().unwrap_or_default();
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let help: Vec<&str> = paragraphs
        .filter(|paragraph| !paragraph.is_empty())
        .collect();
    let finding = DiagnosticDocument {
        code: Code::UsageWrong.to_string(),
        severity: Severity::Error,
        message: message.to_owned(),
        at: None,
        help: (!help.is_empty()).then(|| help.join("\n")),
    };
    render::failure::json(&[finding], named.map_or("", String::as_str), VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_asked_for_in_any_way_of_writing_it() {
        let check = |line: &str, asked: &str, expected: bool| {
            let words: Vec<String> = line.split_whitespace().map(ToOwned::to_owned).collect();
            assert_eq!(is_json(&words, asked), expected, "{line} {asked}");
        };
        check("-o json plan --nonsense", "", true);
        check("plan -ojson", "", true);
        check("plan -o=json", "", true);
        check("plan --output=json", "", true);
        check("plan --output json", "", true);
        check("plan --output text", "json", false);
        check("plan", "json", true);
        check("plan -o", "", false);
        check("plan", "", false);
    }
}
