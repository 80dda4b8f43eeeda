//! Findings that a plan carries, without source lines.

use model::diag::{DiagnosticDocument, PlaceDocument, Severity};

use crate::{diagnostics, line::Line, paper::Paper, style::Ink};

pub(super) fn write(paper: &mut Paper, diagnostics: &[DiagnosticDocument]) {
    for diagnostic in diagnostics {
        let DiagnosticDocument {
            code,
            severity,
            message,
            at,
            help,
        } = diagnostic;
        diagnostics::title(paper, *severity, code, message);
        if let Some(place) = at.as_ref().and_then(place) {
            paper.hanging(&Line::inked(Ink::Faint, "  at "), &Line::of(place));
        }
        for line in help.iter().flat_map(|help| help.lines()) {
            diagnostics::help(paper, line);
        }
        paper.blank();
    }
    let severities: Vec<Severity> = diagnostics
        .iter()
        .map(|diagnostic| diagnostic.severity)
        .collect();
    diagnostics::tally(paper, &severities);
}

fn place(place: &PlaceDocument) -> Option<String> {
    let PlaceDocument {
        file,
        line,
        column,
        path,
        resource,
    } = place;
    let mut position = String::new();
    for part in [
        file.clone(),
        line.map(|line| line.to_string()),
        column.map(|column| column.to_string()),
    ] {
        let Some(part) = part else { break };
        if !position.is_empty() {
            position.push(':');
        }
        position.push_str(&part);
    }
    let parts: Vec<String> = [Some(position), path.clone(), resource.clone()]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
