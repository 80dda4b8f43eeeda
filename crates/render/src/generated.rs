//! What `schema --markdown`, `completions` and `man` say in JSON.

use serde_json::json;

use crate::failure;

/// The version of the documents.
pub const FORMAT_VERSION: &str = "1.0";

/// A text that is no JSON of its own.
pub fn text(text: &str, command: &str, tool_version: &str) -> String {
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "tensorform_version": tool_version,
        "command": command,
        "text": text,
    }))
}

/// Files that were written.
pub fn files(files: &[String], command: &str, tool_version: &str) -> String {
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "tensorform_version": tool_version,
        "command": command,
        "files": files,
    }))
}
