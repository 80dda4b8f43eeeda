//! A cost preview as one JSON document.

use model::cost::CostReport;

/// The document, indented, with a line feed at its end.
///
/// # Panics
/// Never for a preview: everything in it has a form in JSON.
pub fn document(report: &CostReport) -> String {
    let text = serde_json::to_string_pretty(report)
        .expect("a preview has only text as names of members and no value that JSON lacks");
    format!("{text}\n")
}
