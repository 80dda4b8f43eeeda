//! What `init` and `sandbox serve` say in JSON.

use serde_json::json;

use crate::failure;

/// The version of the documents.
pub const FORMAT_VERSION: &str = "1.0";

/// A starter spec was written.
pub fn json(file: &str, next: &str, tool_version: &str) -> String {
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "tensorform_version": tool_version,
        "file": file,
        "next": next,
    }))
}

/// A sandbox is served; one line, because the command goes on after it.
pub fn served(endpoint: &str, https: Option<&str>, folder: &str) -> String {
    let mut document = json!({
        "format_version": FORMAT_VERSION,
        "endpoint": endpoint,
        "state": folder,
    });
    if let (Some(https), Some(members)) = (https, document.as_object_mut()) {
        members.insert("https_endpoint".to_owned(), json!(https));
    }
    format!("{document}\n")
}
