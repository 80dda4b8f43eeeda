//! Findings that a plan carries, without source lines.

use model::diag::{DiagnosticDocument, Severity};

use crate::{
    diagnostics::{self, source_map::place_words},
    line::Line,
    paper::Paper,
    style::Ink,
};

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
        if let Some(place) = at.as_ref().and_then(place_words) {
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
