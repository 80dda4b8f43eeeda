//! Digests over JSON that do not depend on the order of members.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// `sha256:` and the lower-case hex of the canonical form of `value`.
///
/// Members are sorted by name whatever map type `serde_json` was built with.
pub fn of_json(value: &Value) -> String {
    let mut canonical = String::new();
    write_canonical(value, &mut canonical);
    of_text(&canonical)
}

/// `sha256:` and the lower-case hex of the bytes of `text`.
pub fn of_text(text: &str) -> String {
    let mut digest = String::from("sha256:");
    for byte in Sha256::digest(text.as_bytes()) {
        for half in [byte >> 4, byte & 0xf] {
            digest.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
        }
    }
    digest
}

fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_unstable();
            out.push('{');
            for (position, name) in names.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write_canonical(&members[name], out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn order_of_members_does_not_matter_and_order_of_items_does() {
        assert_eq!(
            of_json(&json!({"a": 1, "b": [1, 2]})),
            of_json(&json!({"b": [1, 2], "a": 1}))
        );
        assert_ne!(of_json(&json!([1, 2])), of_json(&json!([2, 1])));
        assert_ne!(of_json(&json!({"a": null})), of_json(&json!({})));
        assert_eq!(
            of_text(""),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
