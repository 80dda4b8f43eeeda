//! Values as messages show them: short, on one line, and without secrets.

use super::{
    ssh,
    yaml::{
        node::{Content, Node, Reference, Scalar},
        scalar::{Typed, resolve},
    },
};

/// Most characters of a value in a message.
const MOST: usize = 60;

/// A text in backticks, cut and escaped. Private keys are not shown at all.
pub(crate) fn text(text: &str) -> String {
    if ssh::is_private(text) {
        return "a private key".to_owned();
    }
    format!("`{}`", name(text))
}

/// A name from the spec, cut and escaped, for messages that put it in backticks.
pub(crate) fn name(text: &str) -> String {
    if ssh::is_private(text) {
        return "…".to_owned();
    }
    let mut shown = String::new();
    for character in text.chars().take(MOST) {
        if character.is_control() || is_line_break(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    if text.chars().nth(MOST).is_some() {
        shown.push('…');
    }
    shown
}

/// Whether a character that is no control character ends a line all the same.
fn is_line_break(character: char) -> bool {
    matches!(character, '\u{2028}' | '\u{2029}')
}

/// A single value: its text, or where it came from when that may be a secret.
pub(crate) fn scalar(scalar: &Scalar) -> String {
    match &scalar.reference {
        Reference::Replaced {
            written,
            from_environment: true,
        } => format!("the value of {}", text(written)),
        Reference::Replaced { written, .. } => {
            format!("{} ({})", text(&scalar.text), text(written))
        }
        Reference::Absent | Reference::Broken => text(&scalar.text),
    }
}

/// Any value, by its type: ``the number `8` ``, `a list`.
pub(crate) fn found(node: &Node) -> String {
    match &node.content {
        Content::Sequence(items) if items.is_empty() => "an empty list".to_owned(),
        Content::Sequence(_) => "a list".to_owned(),
        Content::Mapping(_) => "a block".to_owned(),
        Content::Scalar(value) => match resolve(value) {
            Typed::Null => "nothing".to_owned(),
            Typed::Boolean(_) => format!("the boolean {}", scalar(value)),
            Typed::Integer(_) | Typed::Float(_) => format!("the number {}", scalar(value)),
            Typed::Text if value.text.is_empty() => "an empty text".to_owned(),
            Typed::Text => format!("the text {}", scalar(value)),
        },
    }
}

/// Any value by its type, without its text.
pub(crate) fn found_privately(node: &Node) -> &'static str {
    match &node.content {
        Content::Sequence(_) => "a list",
        Content::Mapping(_) => "a block",
        Content::Scalar(value) if resolve(value) == Typed::Null => "nothing",
        Content::Scalar(_) => "something else",
    }
}
