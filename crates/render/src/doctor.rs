//! What was checked before anybody works in a subscription, as a table and as JSON.

use serde_json::json;

use crate::{
    failure,
    line::Line,
    paper::Paper,
    style::{Ink, Style},
    table::{Column, Fit, Table},
};

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was checked, in one word or two.
    pub name: &'static str,
    /// How it came out.
    pub verdict: CheckVerdict,
    /// What was found.
    pub found: String,
    /// What to do; any one of them helps.
    pub fixes: Vec<String>,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckVerdict {
    /// Fine.
    Pass,
    /// Works, and may not for long or not for everything.
    Warn,
    /// Does not work.
    Fail,
    /// Could not be looked at.
    Unknown,
}

impl CheckVerdict {
    fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Unknown => "unknown",
        }
    }

    fn ink(self) -> Ink {
        match self {
            Self::Pass => Ink::Good,
            Self::Warn | Self::Unknown => Ink::Caution,
            Self::Fail => Ink::Bad,
        }
    }
}

/// The checks as a table.
pub fn text(checks: &[Check], style: Style) -> String {
    let mut paper = Paper::new(style);
    let columns = [
        Column::left("Check", Fit::Keep),
        Column::left("", Fit::Keep),
        Column::left("Found", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 0);
    for check in checks {
        let verdict = Line::inked(check.verdict.ink(), check.verdict.word());
        table.row(vec![Line::of(check.name), verdict, Line::of(&check.found)]);
        for fix in &check.fixes {
            let fix = Line::inked(Ink::Faint, format!("to do: {fix}"));
            table.row(vec![Line::default(), Line::default(), fix]);
        }
    }
    paper.lines(&table.lines(style));
    paper.finish()
}

/// The checks as JSON.
pub fn json(checks: &[Check]) -> String {
    let checks = checks.iter().map(|check| {
        json!({
            "check": check.name,
            "verdict": check.verdict.word(),
            "found": check.found,
            "fixes": check.fixes,
        })
    });
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "checks": checks.collect::<Vec<_>>(),
    }))
}
