//! Resources as flat lists of attributes: what a diff compares and a plan shows.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Resource;

/// Values by dotted path, such as `os_disk.size_gb`. Lists are one value.
pub type Attributes = BTreeMap<String, Value>;

impl Resource {
    /// All attributes, `tags.<name>` with the name in lower case among them; a value that is
    /// absent is left out.
    pub fn attributes(&self) -> Attributes {
        let mut attributes = flatten(self.properties.document());
        if self.kind().takes_tags() {
            let tags = self
                .tags
                .iter()
                .map(|(name, value)| (format!("tags.{}", name.key()), Value::from(value.as_str())));
            attributes.extend(tags);
        }
        attributes
    }
}

/// Flattens a document: objects by dotted path, everything else as it stands.
pub fn flatten(document: Value) -> Attributes {
    let mut attributes = Attributes::new();
    collect(document, String::new(), &mut attributes);
    attributes
}

fn collect(value: Value, path: String, attributes: &mut Attributes) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path = if path.is_empty() {
                    name
                } else {
                    format!("{path}.{name}")
                };
                collect(member, path, attributes);
            }
        }
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            attributes.insert(path, value);
        }
    }
}

/// Whether two values of an attribute are the same to Azure: text without regard to case,
/// except the values of tags and public keys; `null` and an empty list are both nothing.
pub fn same(path: &str, one: &Value, other: &Value) -> bool {
    let exact =
        path.starts_with("tags.") || path.ends_with("ssh_keys") || path.ends_with("public_key");
    match (one, other) {
        (Value::String(one), Value::String(other)) if !exact => {
            one.to_lowercase() == other.to_lowercase()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| same(path, one, other))
        }
        (Value::Null, Value::Array(items)) | (Value::Array(items), Value::Null) => items.is_empty(),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_members_become_dotted_paths_and_absent_ones_vanish() {
        let attributes = flatten(json!({"a": {"b": 1, "c": null}, "d": [1, 2], "e": {}}));
        let pairs: Vec<(&str, &Value)> = attributes
            .iter()
            .map(|(path, value)| (path.as_str(), value))
            .collect();
        assert_eq!(pairs, [("a.b", &json!(1)), ("d", &json!([1, 2]))]);
    }

    #[test]
    fn case_counts_only_where_azure_keeps_it() {
        assert!(same(
            "size",
            &json!("Standard_D2s_v5"),
            &json!("standard_d2s_V5")
        ));
        assert!(!same("tags.env", &json!("Dev"), &json!("dev")));
        assert!(!same(
            "ssh_keys",
            &json!(["ssh-ed25519 AAAA"]),
            &json!(["ssh-ed25519 aaaa"])
        ));
        assert!(same("zones", &json!([]), &Value::Null));
        assert!(!same("zones", &json!(["1"]), &Value::Null));
    }
}
