//! The examples on the pages of the codes say what reading them says.

use super::{findings, read};
use crate::diag::Code;

/// The text of a fenced block of a page.
fn fenced<'a>(page: &'a str, language: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("```{language}\n"))?;
    rest.split_once("```").map(|(block, _)| block)
}

/// The findings of a text as the pages show them.
fn shown(text: &str) -> String {
    let parsed = read(text);
    let mut shown = String::new();
    for finding in parsed.diagnostics.iter() {
        let position = parsed.spans.position_of(&finding.at).expect("a place");
        let (line, column) = (position.line, position.column);
        let (code, message) = (finding.code, &finding.message);
        shown.extend([format!(
            "{code} in line {line}, column {column}: {message}\n"
        )]);
        shown.extend(finding.help.iter().map(|help| format!("  help: {help}\n")));
    }
    shown
}

#[test]
fn examples_say_what_reading_them_says() {
    let specs = Code::ALL
        .iter()
        .filter(|code| code.as_str().starts_with("SPEC"));
    for code in specs.filter(|code| **code != Code::SpecUnreadable) {
        let blocks = (fenced(code.page(), "yaml"), fenced(code.page(), "text"));
        let (Some(spec), Some(text)) = blocks else {
            panic!("{code}: the page has no spec, or not what is found in it");
        };
        assert_eq!(shown(spec), text, "{code}");
        let own = findings(&read(spec));
        let of_code = |finding: &&String| finding.contains(code.as_str());
        assert_eq!(own.iter().filter(of_code).count(), own.len(), "{code}");
    }
}
