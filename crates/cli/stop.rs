//! Why a command ends before its goal.

use model::diag::{At, Code, Diagnostic, Diagnostics, Severity};

use crate::exit::Exit;

/// A command that ends with findings.
#[derive(Debug)]
pub(crate) struct Stop {
    /// The findings.
    pub(crate) diagnostics: Diagnostics,
    /// How the process ends.
    pub(crate) exit: Exit,
}

/// What a command gives.
pub(crate) type Outcome = Result<Exit, Stop>;

impl Stop {
    /// With these findings; the exit code follows from them.
    pub(crate) fn with(diagnostics: Diagnostics) -> Self {
        let exit = exit_of(&diagnostics);
        Self { diagnostics, exit }
    }

    /// With one finding that has no place.
    pub(crate) fn because(code: Code, message: impl Into<String>) -> Self {
        Self::from(Diagnostic::new(code, At::Nowhere, message))
    }

    /// Because of the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::because(Code::UsageWrong, message).exit(Exit::Usage)
    }

    /// With one more line of help at its last finding.
    pub(crate) fn help(self, help: impl Into<String>) -> Self {
        let mut all: Vec<Diagnostic> = self.diagnostics.into_iter().collect();
        if let Some(last) = all.last_mut() {
            last.help.push(help.into());
        }
        Self {
            diagnostics: all.into_iter().collect(),
            exit: self.exit,
        }
    }

    /// With another exit code.
    pub(crate) fn exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

impl From<Diagnostic> for Stop {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::with([diagnostic].into_iter().collect())
    }
}

/// Refusals by budget, policy or protection have a code of their own, where nothing else is wrong.
pub(crate) fn exit_of(diagnostics: &Diagnostics) -> Exit {
    let refusal = |code: Code| {
        matches!(
            code,
            Code::OverBudget | Code::PriceIncomplete | Code::StopNotAllowed | Code::Protected
        )
    };
    let mut errors = diagnostics
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    if !diagnostics.has_errors() {
        Exit::Done
    } else if errors.all(|finding| refusal(finding.code)) {
        Exit::Refused
    } else {
        Exit::Error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_have_their_own_exit_code_unless_something_else_is_wrong() {
        let check = |codes: &[Code], expected: Exit| {
            let findings = codes
                .iter()
                .map(|code| Diagnostic::new(*code, At::Nowhere, code.as_str()))
                .collect();
            assert_eq!(exit_of(&findings), expected, "{codes:?}");
        };
        check(&[], Exit::Done);
        check(&[Code::SizeBetter, Code::QuotaUnknown], Exit::Done);
        check(&[Code::OverBudget], Exit::Refused);
        check(
            &[Code::Protected, Code::StopNotAllowed, Code::SizeBetter],
            Exit::Refused,
        );
        check(&[Code::Protected, Code::QuotaShort], Exit::Error);
    }
}
