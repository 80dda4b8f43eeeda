//! What is wrong with the characters of a spec, whatever they spell.

use std::ops::Range;

use crate::diag::{At, Code, Diagnostic};

/// Longest text that is read. A spec of a thousand pools has about one megabyte.
pub(crate) const MOST_BYTES: usize = 4 * 1024 * 1024;

/// Why the text cannot be read at all: it is too long, or has characters that YAML forbids.
pub(crate) fn unreadable(text: &str) -> Option<Diagnostic> {
    if text.len() > MOST_BYTES {
        let message = format!(
            "the spec has {} bytes, more than the {MOST_BYTES} that are read",
            text.len()
        );
        return Some(
            Diagnostic::new(Code::SpecSyntax, At::Text { start: 0, end: 0 }, message)
                .with_help("check that this is the right file"),
        );
    }
    let (start, character) = text
        .char_indices()
        .find(|(start, character)| is_forbidden(*start, *character))?;
    let at = At::Text {
        start,
        end: start + character.len_utf8(),
    };
    let message = format!(
        "expected text, found the control character U+{:04X}",
        u32::from(character)
    );
    Some(
        Diagnostic::new(Code::SpecSyntax, at, message)
            .with_help("remove it, or write it as an escape such as `\"\\u0007\"` in quotes"),
    )
}

fn is_forbidden(start: usize, character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\u{feff}' => start != 0,
        '\u{fffe}' | '\u{ffff}' => true,
        other => other.is_control(),
    }
}

/// A finding for each line with a tab outside of texts and comments. `scalars` are the ranges
/// of the texts, in the order of the document.
pub(crate) fn tabs(text: &str, scalars: &[Range<usize>]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut scalars = scalars.iter().peekable();
    let mut in_comment = false;
    let mut found_in_line = false;
    let mut before = '\n';
    for (start, character) in text.char_indices() {
        while scalars.peek().is_some_and(|scalar| scalar.end <= start) {
            scalars.next();
        }
        let in_text = scalars.peek().is_some_and(|scalar| scalar.start <= start);
        match character {
            '\n' | '\r' => {
                in_comment = false;
                found_in_line = false;
            }
            '#' if before.is_whitespace() && !in_text => in_comment = true,
            '\t' if !in_text && !in_comment && !found_in_line => {
                found_in_line = true;
                findings.push(tab(start));
            }
            _ => {}
        }
        before = character;
    }
    findings
}

/// The finding for the tab that broke the syntax at `offset`: in the white space around it,
/// at the beginning of its line, or behind it where the parser's message names a tab.
pub(crate) fn tab_near(text: &str, offset: usize, info: &str) -> Option<Diagnostic> {
    let (before, behind) = text.split_at_checked(offset)?;
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let blank_start = before.trim_end_matches([' ', '\t']).len();
    let blank_end = text.len() - behind.trim_start_matches([' ', '\t', '\n', '\r']).len();
    let line = text.get(line_start..)?;
    let indentation = line.len() - line.trim_start_matches([' ', '\t']).len();
    let named_end = if info.contains("tab") {
        text.len()
    } else {
        offset
    };
    let places = [
        line_start..line_start + indentation,
        blank_start..blank_end,
        offset..named_end,
    ];
    places.into_iter().find_map(|range| {
        let start = range.start;
        let column = text.get(range)?.find('\t')?;
        Some(tab(start + column))
    })
}

fn tab(start: usize) -> Diagnostic {
    let at = At::Text {
        start,
        end: start + 1,
    };
    Diagnostic::new(Code::SpecSyntax, at, "expected spaces, found a tab")
        .with_help("indent and separate with spaces; tabs may stand in quoted texts and comments")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_found() {
        assert!(unreadable("a: \u{1}b").is_some());
        assert!(unreadable("a: b\u{feff}").is_some());
        assert!(unreadable("\u{feff}a: 한국어\t\r\n\u{85}").is_none());
        assert!(unreadable(&"x".repeat(MOST_BYTES + 1)).is_some());
    }

    #[test]
    fn tabs_are_found_outside_of_texts_and_comments() {
        let check = |text: &str, scalars: &[Range<usize>], expected: &[usize]| {
            let starts: Vec<usize> = tabs(text, scalars)
                .iter()
                .filter_map(|finding| match &finding.at {
                    At::Text { start, .. } => Some(*start),
                    At::Value(_) | At::Key(_) | At::Resource(_) | At::Named(_) | At::Nowhere => {
                        None
                    }
                })
                .collect();
            assert_eq!(starts, expected, "{text:?}");
        };
        check("a:\tb", &[0..1, 3..4], &[2]);
        check("a: b # x\ty", &[0..1, 3..4], &[]);
        check("a: 'b\tc'", &[0..1, 3..8], &[]);
        check("\t\ta: b\t\n", &[2..3, 5..6], &[0]);
        check("# x\n\ta: b", &[5..6, 8..9], &[4]);
    }
}
