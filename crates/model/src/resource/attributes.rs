//! Resources as flat lists of attributes: what a diff compares and a plan shows.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Resource;

/// Values by dotted path, such as `os_disk.size_gb`. Lists are one value.
pub type Attributes = BTreeMap<String, Value>;

impl Resource {
    /// All attributes, `tags.<name>` among them; a value that is absent is left out.
    pub fn attributes(&self) -> Attributes {
        flatten(&self.document())
    }
}

/// Flattens a document: objects by dotted path, everything else as it stands.
pub fn flatten(document: &Value) -> Attributes {
    let mut attributes = Attributes::new();
    collect(document, String::new(), &mut attributes);
    attributes
}

fn collect(value: &Value, path: String, attributes: &mut Attributes) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                collect(member, path, attributes);
            }
        }
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            attributes.insert(path, value.clone());
        }
    }
}
