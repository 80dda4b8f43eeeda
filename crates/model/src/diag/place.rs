//! From a finding to its JSON form, with the place resolved.

use super::{At, Diagnostic, DiagnosticDocument, PlaceDocument};
use crate::spec::SpanIndex;

/// A finding as it stands in JSON documents. `file` and `spans` are those of the spec.
pub fn to_document(diagnostic: &Diagnostic, file: &str, spans: &SpanIndex) -> DiagnosticDocument {
    let Diagnostic {
        code,
        severity,
        message,
        at,
        related: _,
        help,
    } = diagnostic;
    DiagnosticDocument {
        code: code.as_str().to_owned(),
        severity: *severity,
        message: message.clone(),
        at: place(at, file, spans),
        help: (!help.is_empty()).then(|| help.join("\n")),
    }
}

fn place(at: &At, file: &str, spans: &SpanIndex) -> Option<PlaceDocument> {
    let position = spans.position_of(at);
    let in_spec = |path: Option<String>| PlaceDocument {
        file: Some(file.to_owned()),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
        path: path.filter(|path| !path.is_empty()),
        resource: None,
    };
    let resource = |resource: String| PlaceDocument {
        resource: Some(resource),
        ..PlaceDocument::default()
    };
    match at {
        At::Value(path) | At::Key(path) => Some(in_spec(Some(path.to_string()))),
        At::Text { .. } => Some(in_spec(None)),
        At::Resource(address) => Some(resource(address.to_string())),
        At::Named(name) => Some(resource(name.clone())),
        At::Nowhere => None,
    }
}
