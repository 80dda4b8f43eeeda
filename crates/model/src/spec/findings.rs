//! The findings of one reading, bounded, so that a file that is no spec at all ends fast.

use super::spans::SpanIndex;
use crate::diag::{At, Code, Diagnostic, Diagnostics, Severity, SpecPath};

/// Most findings that are kept. Nobody reads more, and a foreign file could have millions.
const MOST: usize = 1_000;

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    kept: Vec<Diagnostic>,
    dropped: usize,
}

impl Findings {
    /// Adds a finding.
    pub(crate) fn push(&mut self, finding: Diagnostic) {
        if self.kept.len() < MOST {
            self.kept.push(finding);
        } else {
            self.dropped += 1;
        }
    }

    /// Adds a finding that costs something to make; it is not made where it would be dropped.
    pub(crate) fn push_with(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.kept.len() < MOST {
            self.kept.push(make());
        } else {
            self.dropped += 1;
        }
    }

    /// Whether a value, or anything in it, is wrong, so that what was read from it cannot be
    /// relied on. What is only not supported yet is not wrong.
    pub(crate) fn touch(&self, path: &SpecPath) -> bool {
        let wrong = |finding: &&Diagnostic| {
            finding.severity == Severity::Error && finding.code != Code::SpecNotSupportedYet
        };
        self.kept
            .iter()
            .filter(wrong)
            .any(|finding| match &finding.at {
                At::Value(at) | At::Key(at) => at.segments().starts_with(path.segments()),
                At::Text { .. } | At::Resource(_) | At::Named(_) | At::Nowhere => false,
            })
    }

    /// Whether any finding stops the run.
    pub(crate) fn has_errors(&self) -> bool {
        self.kept
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }

    /// The findings in the order of the text, errors first.
    pub(crate) fn sorted(mut self, spans: &SpanIndex) -> Diagnostics {
        if self.dropped > 0
            && let Some(last) = self.kept.last_mut()
        {
            let dropped = self.dropped;
            last.help
                .push(format!("{dropped} more findings are not shown"));
        }
        self.kept.sort_by_cached_key(|finding| {
            let position = spans.position_of(&finding.at);
            (finding.severity, position, finding.code)
        });
        self.kept.dedup();
        self.kept.into_iter().collect()
    }
}

impl Extend<Diagnostic> for Findings {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, findings: T) {
        for finding in findings {
            self.push(finding);
        }
    }
}
