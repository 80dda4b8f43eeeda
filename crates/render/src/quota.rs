//! Quota before and after, as a table.

use std::collections::BTreeMap;

use model::{diag::DiagnosticDocument, plan::QuotaLine, units::Region};
use serde_json::json;

use crate::{
    failure,
    line::Line,
    paper::Paper,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// Quota lines by region.
pub fn text(lines: &[QuotaLine], style: Style) -> String {
    let mut paper = Paper::new(style);
    if lines.is_empty() {
        paper.paragraph(0, Ink::Plain, "Nothing of the spec counts for a quota.");
    }
    write(&mut paper, lines, style);
    paper.finish()
}

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// The same as JSON, with findings.
pub fn json(lines: &[QuotaLine], diagnostics: &[DiagnosticDocument]) -> String {
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "quota": lines,
        "diagnostics": diagnostics,
    }))
}

pub(crate) fn write(paper: &mut Paper, lines: &[QuotaLine], style: Style) {
    let mut regions: BTreeMap<&Region, Vec<&QuotaLine>> = BTreeMap::new();
    for line in lines {
        regions.entry(&line.location).or_default().push(line);
    }
    for (region, lines) in regions {
        paper.heading(&format!("Quota in {region}"));
        let columns = [
            Column::left("Counter", Fit::Cut),
            Column::right("Limit"),
            Column::right("Used"),
            Column::right("Needed"),
            Column::right("After"),
            Column::left("", Fit::Wrap),
        ];
        let mut table = Table::new(columns, 2);
        for line in lines {
            table.row(cells(line));
        }
        paper.lines(&table.lines(style));
    }
}

fn cells(line: &QuotaLine) -> Vec<Line> {
    let QuotaLine {
        name,
        location: _,
        limit,
        used,
        needed,
        after,
        ok,
    } = line;
    let number = |number: &Option<i64>| match number {
        Some(number) => Line::of(words::count(*number)),
        None => Line::inked(Ink::Caution, words::UNKNOWN),
    };
    let verdict = match (ok, limit, after) {
        (Some(true), _, _) => Line::inked(Ink::Good, "fits"),
        (Some(false), Some(limit), Some(after)) if after > limit => {
            let short = i128::from(*after) - i128::from(*limit);
            Line::inked(Ink::Bad, format!("short by {}", words::count(short)))
        }
        (Some(false), _, _) => Line::inked(Ink::Bad, "does not fit"),
        (None, _, _) => Line::inked(Ink::Caution, "not checked"),
    };
    vec![
        Line::of(name),
        number(limit),
        number(used),
        Line::of(words::count(*needed)),
        number(after),
        verdict,
    ]
}
