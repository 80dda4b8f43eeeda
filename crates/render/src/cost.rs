//! What a stack costs, as a table with its totals.

use std::collections::BTreeSet;

use model::plan::{Cost, CostKind, CostLine, Total};

use crate::{
    line::Line,
    paper::Paper,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// A cost preview: every line, the totals and what the reader must know about them.
pub fn text(cost: &Cost, style: Style) -> String {
    let mut paper = Paper::new(style);
    write(&mut paper, cost, Before::MayBePartial, style);
    paper.finish()
}

/// Whether the total before may lack prices too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing existed: nothing is exactly what it cost.
    Nothing,
    /// Things existed, and what is unknown now may have been unknown then.
    MayBePartial,
}

pub(crate) fn write(paper: &mut Paper, cost: &Cost, before: Before, style: Style) {
    paper.heading(&format!("Cost in {}", cost.currency));
    let dates: BTreeSet<&str> = cost
        .lines
        .iter()
        .filter_map(|line| line.as_of.as_deref())
        .collect();
    paper.lines(&table(cost, before, dates.last().copied()).lines(style));
    paper.blank();
    for note in notes(cost, &dates) {
        paper.paragraph(2, Ink::Faint, &note);
    }
}

/// What a stack costs now that a plan was carried out, as one sentence.
pub fn now(cost: &Cost) -> String {
    let unknown = cost.lines.iter().filter(|line| !line.known).count();
    let least = match unknown {
        0 => String::new(),
        _ => format!(
            " at least, with {}",
            words::counted(unknown, "unknown price", "unknown prices")
        ),
    };
    let by_agreement = cost.price_book.as_ref().map_or_else(String::new, |book| {
        format!(", by the prices of `{}`", book.file)
    });
    format!(
        "Costs {} {} hourly, {} monthly{least}{by_agreement}; before {} hourly, {} monthly.\n",
        cost.after.hourly_micros,
        cost.currency,
        cost.after.monthly_micros,
        cost.before.hourly_micros,
        cost.before.monthly_micros
    )
}

/// The table of a cost without the sentences below it.
///
/// Prices of other days than `usual_day` say so.
pub(crate) fn table_alone(
    paper: &mut Paper,
    cost: &Cost,
    before: Before,
    usual_day: &str,
    style: Style,
) {
    paper.heading(&format!("Cost in {}", cost.currency));
    paper.lines(&table(cost, before, Some(usual_day)).lines(style));
}

/// The totals of what stays as it is.
pub(crate) fn unchanged(paper: &mut Paper, cost: &Cost) {
    paper.heading(&format!("Cost in {}", cost.currency));
    let Total {
        hourly_micros,
        monthly_micros,
    } = cost.after;
    let unknown = cost.lines.iter().filter(|line| !line.known).count();
    let limits = if unknown > 0 {
        let lines = words::counted(unknown, "thing", "things");
        format!(" at least, and {lines} without a known price")
    } else {
        String::new()
    };
    paper.hanging(
        &Line::of("  "),
        &Line::of(format!(
            "{hourly_micros} hourly, {monthly_micros} monthly{limits}; unchanged"
        )),
    );
}

fn table(cost: &Cost, before: Before, newest: Option<&str>) -> Table {
    let columns = [
        Column::left(if cost.lines.is_empty() { "" } else { "For" }, Fit::Wrap),
        Column::right("Count"),
        Column::right("Each"),
        Column::decimal("Hourly"),
        Column::decimal("Monthly"),
        Column::left("", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 2);
    let mut addresses: Vec<(&str, Vec<&CostLine>)> = Vec::new();
    for line in &cost.lines {
        match addresses
            .iter_mut()
            .find(|(address, _)| *address == line.address)
        {
            Some((_, lines)) => lines.push(line),
            None => addresses.push((&line.address, vec![line])),
        }
    }
    for (address, lines) in &addresses {
        table.row([Line::inked(Ink::Accent, address)]);
        for line in lines {
            table.row(cells(line, newest));
        }
    }
    totals(&mut table, cost, before);
    table
}

fn cells(line: &CostLine, newest: Option<&str>) -> Vec<Line> {
    let CostLine {
        address: _,
        kind,
        item,
        quantity,
        unit_hourly,
        unit_monthly,
        hourly_micros,
        monthly_micros,
        meter,
        as_of,
        source: _,
        known,
        flags,
    } = line;
    let each = match (unit_hourly, unit_monthly) {
        (Some(price), _) => Line::of(format!("{}/h", words::decimal(price))),
        (None, Some(price)) => Line::of(format!("{}/mo", words::decimal(price))),
        (None, None) => unknown(),
    };
    let amount = |amount| match amount {
        Some(_) if *known => Line::of(words::money(amount)),
        Some(_) | None => unknown(),
    };
    let mut remarks: Vec<String> = Vec::new();
    if *kind == CostKind::Compute {
        remarks.push(meter.clone());
    }
    let new = |word: &String| !remarks.iter().any(|remark| remark.contains(word));
    let flags: Vec<String> = flags.iter().map(|flag| word(flag)).filter(new).collect();
    remarks.extend(flags);
    let older = as_of.iter().filter(|as_of| Some(as_of.as_str()) != newest);
    remarks.extend(older.map(|as_of| format!("price of {as_of}")));
    vec![
        Line::of(item).indented(2),
        Line::of(words::count(*quantity)),
        each,
        amount(*hourly_micros),
        amount(*monthly_micros),
        Line::inked(Ink::Faint, remarks.join(", ")),
    ]
}

fn unknown() -> Line {
    Line::inked(Ink::Caution, words::UNKNOWN)
}

fn totals(table: &mut Table, cost: &Cost, before: Before) {
    let at_least = |label: &str, partial: bool| {
        if partial {
            format!("{label}, at least")
        } else {
            label.to_owned()
        }
    };
    let partial_before = !cost.complete && before == Before::MayBePartial;
    let row = |label: String,
               ink,
               Total {
                   hourly_micros,
                   monthly_micros,
               }: Total| {
        [
            Line::inked(ink, label),
            Line::default(),
            Line::default(),
            Line::inked(ink, hourly_micros.to_string()),
            Line::inked(ink, monthly_micros.to_string()),
        ]
    };
    table.across(Line::default());
    table.row(row(
        at_least("Before", partial_before),
        Ink::Plain,
        cost.before,
    ));
    table.row(row(
        at_least("After", !cost.complete),
        Ink::Strong,
        cost.after,
    ));
    let label = if cost.complete {
        "Difference"
    } else {
        "Difference, as far as known"
    };
    table.row([
        Line::of(label),
        Line::default(),
        Line::default(),
        Line::of(words::difference(cost.delta.hourly_micros)),
        Line::of(words::difference(cost.delta.monthly_micros)),
    ]);
}

/// Sentences below the table.
fn notes(cost: &Cost, dates: &BTreeSet<&str>) -> Vec<String> {
    let mut notes = Vec::new();
    let unknown = cost.lines.iter().filter(|line| !line.known).count();
    if unknown > 0 {
        let lines = words::counted(unknown, "line has", "lines have");
        notes.push(format!(
            "{lines} no known price: the totals are the least it costs, not what it costs."
        ));
    }
    if let Some(book) = &cost.price_book {
        notes.push(format!(
            "Prices of the agreement in `{}` where it has any.",
            book.file
        ));
    }
    match dates.last() {
        Some(newest) if dates.len() == 1 => notes.push(format!("List prices of {newest}.")),
        Some(newest) => notes.push(format!(
            "List prices of {newest} where no other day is said."
        )),
        None => {}
    }
    notes.push("A month has 730 hours. Traffic and other use is not included.".to_owned());
    let flags: BTreeSet<&str> = cost
        .lines
        .iter()
        .flat_map(|line| line.flags.iter().map(String::as_str))
        .collect();
    notes.extend(flags.into_iter().filter_map(sentence));
    notes
}

/// What a flag means.
pub(crate) fn sentence(flag: &str) -> Option<String> {
    let (_, word, sentence) = FLAGS.iter().find(|(name, _, _)| *name == flag)?;
    Some(format!("{word}: {sentence}."))
}

/// Flags of price rows, each with the word in the table and what it means.
const FLAGS: &[(&str, &str, &str)] = &[
    (
        "cs_estimated",
        "estimated",
        "the sources give the Windows price here, so five times the low-priority price is taken",
    ),
    (
        "cs_fixed",
        "corrected",
        "one source gives the Windows price here, so the lower price of another is taken",
    ),
    (
        "cs_unchecked",
        "from one source",
        "no second source has this price",
    ),
    (
        "cs_withheld",
        "withheld",
        "the sources give the Windows price here and nothing to correct it with",
    ),
    (
        "derived",
        "derived",
        "worked out from another figure of its source",
    ),
    ("estimated", "estimated", "no source has this very price"),
    (
        "not_in_arm_list",
        "perhaps not offered",
        "there is a price, but Azure's list of sizes for the region does not have it",
    ),
    (
        "price_book",
        "by agreement",
        "a price book gives or changes this price",
    ),
    (
        "saves_nothing",
        "saves nothing",
        "the savings plan costs as much as paying on demand, or more",
    ),
    (
        "reported",
        "reported",
        "read on a page, not in a price list",
    ),
    (
        "spot",
        "spot",
        "the price moves and may differ by now, and Azure may take the capacity back at any time",
    ),
    (
        "spot_eq_od",
        "spot is no cheaper",
        "the spot price equals the price on demand",
    ),
    (
        "spot_not_offered",
        "not offered as spot",
        "Azure's list of sizes for the region says that this size cannot be spot there",
    ),
];

/// The word for a flag; a flag without one stands as it is.
pub(crate) fn word(flag: &str) -> String {
    FLAGS
        .iter()
        .find(|(name, _, _)| *name == flag)
        .map_or_else(|| flag.replace('_', " "), |(_, word, _)| (*word).to_owned())
}
