//! The type of a scalar. The rules are those of `serde_yaml`, which is asked about every text
//! that could be anything but text.

use super::node::Scalar;

/// A scalar with its type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Typed {
    /// Nothing: an empty value, `null` or `~`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number.
    Integer(i128),
    /// Another number.
    Float(f64),
    /// Text, which is as written.
    Text,
}

/// The type of a scalar.
pub(crate) fn resolve(scalar: &Scalar) -> Typed {
    let text = scalar.text.as_str();
    if !scalar.plain {
        return Typed::Text;
    }
    if text.is_empty() {
        return Typed::Null;
    }
    match text.bytes().next() {
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => number(text),
        Some(b'~' | b't' | b'T' | b'f' | b'F' | b'n' | b'N') => word(text),
        _ => Typed::Text,
    }
}

fn number(text: &str) -> Typed {
    let Ok(number) = text.parse::<serde_yaml::Number>() else {
        return Typed::Text;
    };
    match (number.as_i64(), number.as_u64()) {
        (Some(value), _) => Typed::Integer(i128::from(value)),
        (None, Some(value)) => Typed::Integer(i128::from(value)),
        (None, None) => number.as_f64().map_or(Typed::Text, Typed::Float),
    }
}

/// The type of a text that could be null or a boolean. The usual spellings are known here, as
/// asking costs more than all else about a scalar; of the others, only what is one but for its
/// case is read by the library: anything else could look like a document.
fn word(text: &str) -> Typed {
    match text {
        "~" | "null" => return Typed::Null,
        "true" => return Typed::Boolean(true),
        "false" => return Typed::Boolean(false),
        _ => {}
    }
    let words = ["true", "false", "null"];
    if !words.iter().any(|word| word.eq_ignore_ascii_case(text)) {
        return Typed::Text;
    }
    match serde_yaml::from_str::<Option<bool>>(text) {
        Ok(Some(value)) => Typed::Boolean(value),
        Ok(None) => Typed::Null,
        Err(_) => Typed::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::yaml::node::Reference;

    fn plain(text: &str) -> Typed {
        resolve(&Scalar {
            text: text.to_owned(),
            plain: true,
            reference: Reference::Absent,
        })
    }

    #[test]
    fn scalars_have_the_types_of_the_library() {
        for (text, expected) in [
            ("", Typed::Null),
            ("~", Typed::Null),
            ("null", Typed::Null),
            ("true", Typed::Boolean(true)),
            ("FALSE", Typed::Boolean(false)),
            ("yes", Typed::Text),
            ("NO", Typed::Text),
            ("y", Typed::Text),
            ("on", Typed::Text),
            ("0755", Typed::Text),
            ("0o755", Typed::Integer(493)),
            ("0x10", Typed::Integer(16)),
            ("-5", Typed::Integer(-5)),
            ("+5", Typed::Integer(5)),
            (
                "18446744073709551615",
                Typed::Integer(18_446_744_073_709_551_615),
            ),
            ("1.10", Typed::Float(1.1)),
            ("7e9", Typed::Float(7e9)),
            ("1_000", Typed::Text),
            ("2026-11-30", Typed::Text),
            ("12:30", Typed::Text),
            ("-", Typed::Text),
            ("---", Typed::Text),
            ("...", Typed::Text),
            ("- a", Typed::Text),
            ("[1]", Typed::Text),
            ("none", Typed::Text),
            ("72h", Typed::Text),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
        assert_eq!(
            resolve(&Scalar {
                text: "5".to_owned(),
                plain: false,
                reference: Reference::Absent,
            }),
            Typed::Text
        );
    }
}
