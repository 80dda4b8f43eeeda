//! The type of a scalar. The rules are those of `serde_yaml`, which is asked for every text
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
    if !may_be_other_than_text(text) {
        return Typed::Text;
    }
    match serde_yaml::from_str::<serde_yaml::Value>(text) {
        Ok(serde_yaml::Value::Null) => Typed::Null,
        Ok(serde_yaml::Value::Bool(value)) => Typed::Boolean(value),
        Ok(serde_yaml::Value::Number(number)) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => Typed::Integer(i128::from(value)),
            (None, Some(value)) => Typed::Integer(i128::from(value)),
            (None, None) => number.as_f64().map_or(Typed::Text, Typed::Float),
        },
        _ => Typed::Text,
    }
}

/// Whether the text is one token that begins as a number, a boolean or null does. Everything
/// else is text, and must not be read as a document: it could look like a list or a comment.
fn may_be_other_than_text(text: &str) -> bool {
    let token = text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    let begins = text
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_digit() || b"+-.tTfFnN".contains(&byte));
    let has_a_sign_of_value = text.bytes().any(|byte| byte.is_ascii_alphanumeric());
    text == "~" || (token && begins && has_a_sign_of_value)
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
