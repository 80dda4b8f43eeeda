//! Digests over JSON that do not depend on the order of members.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// `sha256:` and the lower-case hex of the canonical form of `value`.
///
/// Members are sorted by name whatever map type `serde_json` was built with.
pub fn of_json(value: &Value) -> String {
    let mut canonical = Vec::new();
    write_canonical(value, &mut canonical);
    of_bytes(&canonical)
}

/// The same of the object with these members.
pub fn of_members<'a>(members: impl IntoIterator<Item = (&'a String, &'a Value)>) -> String {
    let mut canonical = Vec::new();
    write_members(members, &mut canonical);
    of_bytes(&canonical)
}

/// `sha256:` and the lower-case hex of the bytes of `text`.
pub fn of_text(text: &str) -> String {
    of_bytes(text.as_bytes())
}

fn of_bytes(bytes: &[u8]) -> String {
    let mut digest = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        for half in [byte >> 4, byte & 0xf] {
            digest.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
        }
    }
    digest
}

fn write_canonical(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(members) => write_members(members, out),
        Value::Array(items) => {
            out.push(b'[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(b',');
                }
                write_canonical(item, out);
            }
            out.push(b']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => write(value, out),
    }
}

fn write_members<'a>(
    members: impl IntoIterator<Item = (&'a String, &'a Value)>,
    out: &mut Vec<u8>,
) {
    let mut members: Vec<(&String, &Value)> = members.into_iter().collect();
    members.sort_unstable_by_key(|(name, _)| name.as_str());
    out.push(b'{');
    for (position, (name, member)) in members.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write(name, out);
        out.push(b':');
        write_canonical(member, out);
    }
    out.push(b'}');
}

fn write(value: &impl serde::Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("memory takes text and simple values");
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
        let members = [("b".to_owned(), json!([1, 2])), ("a".to_owned(), json!(1))];
        assert_eq!(
            of_members(members.iter().map(|(name, member)| (name, member))),
            of_json(&json!({"a": 1, "b": [1, 2]}))
        );
        assert_ne!(of_json(&json!([1, 2])), of_json(&json!([2, 1])));
        assert_ne!(of_json(&json!({"a": null})), of_json(&json!({})));
        assert_eq!(
            of_text(""),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
