//! Exit codes: one closed list, promised to scripts.

use std::process::ExitCode;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, or nothing to do.
    Done,
    /// An error; nothing was written to Azure.
    Error,
    /// There are changes (only with `plan --detailed-exitcode`).
    Changes,
    /// Something was written and the goal was not reached.
    NotReached,
    /// Refused by budget, policy or protection.
    Refused,
    /// The command line is wrong.
    Usage,
    /// Interrupted.
    Interrupted,
}

impl Exit {
    /// Every code, by its number.
    pub(crate) const ALL: &'static [Self] = &[
        Self::Done,
        Self::Error,
        Self::Changes,
        Self::NotReached,
        Self::Refused,
        Self::Usage,
        Self::Interrupted,
    ];

    /// What it says to the caller.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done, or nothing to do",
            Self::Error => "an error; nothing was written to Azure",
            Self::Changes => "there are changes (only with `plan --detailed-exitcode`)",
            Self::NotReached => "something was written and the goal was not reached",
            Self::Refused => "refused by budget, policy or protection",
            Self::Usage => "the command line is wrong",
            Self::Interrupted => "interrupted",
        }
    }

    /// The number.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Error => 1,
            Self::Changes => 2,
            Self::NotReached => 3,
            Self::Refused => 4,
            Self::Usage => 64,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_that_scripts_know() {
        let all = [
            (Exit::Done, 0),
            (Exit::Error, 1),
            (Exit::Changes, 2),
            (Exit::NotReached, 3),
            (Exit::Refused, 4),
            (Exit::Usage, 64),
            (Exit::Interrupted, 130),
        ];
        assert_eq!(all.map(|(exit, _)| exit), Exit::ALL);
        for (exit, number) in all {
            assert_eq!(exit.number(), number, "{exit:?}");
        }
    }
}
