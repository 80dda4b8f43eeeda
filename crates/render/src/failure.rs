//! The document of a run that failed before there was anything else to print.

use model::diag::DiagnosticDocument;
use serde_json::json;

/// The version of the document.
pub const FORMAT_VERSION: &str = "1.0";

/// One JSON document with the findings of a command, ending with a line feed.
pub fn json(diagnostics: &[DiagnosticDocument], command: &str, tool_version: &str) -> String {
    document(&json!({
        "format_version": FORMAT_VERSION,
        "tensorform_version": tool_version,
        "command": command,
        "diagnostics": diagnostics,
    }))
}

/// A JSON document as it is printed.
pub(crate) fn document(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}
