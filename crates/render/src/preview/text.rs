//! A cost preview for people at a terminal.

use model::{
    cost::{Amount, CostChange, CostReport, PoolCost, RegionComparison, SizeCost},
    units::Micros,
};

use super::words as of;
use crate::{
    cost::{self, Before},
    line::Line,
    paper::Paper,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// Sizes and regions of a comparison that are shown; the JSON document has all of them.
const MOST_COMPARED: usize = 15;

/// What is shown beside the totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// What differs from what is live, line by line.
    pub changes: bool,
}

/// The preview.
pub fn text(report: &CostReport, shown: Shown, style: Style) -> String {
    let mut paper = Paper::new(style);
    paper.line(&Line::inked(Ink::Strong, of::title(report)));
    let before = if report.before.is_empty() {
        Before::Nothing
    } else {
        Before::MayBePartial
    };
    let day = &report.catalog.prices_as_of;
    cost::table_alone(&mut paper, &report.cost, before, day, style);
    if shown.changes {
        changes(&mut paper, &report.changes, style);
    }
    for (name, pool) in &report.pools {
        of_pool(&mut paper, report, name, pool, style);
    }
    if report.pools.len() > 1 {
        whole_stack(&mut paper, report, style);
    }
    for sentence in of::spans(report) {
        paper.blank();
        paper.paragraph(0, Ink::Plain, &sentence);
    }
    if let Some(regions) = &report.regions {
        compared_regions(&mut paper, regions, style);
    }
    for (name, sizes) in report.sizes.iter().flatten() {
        compared_sizes(&mut paper, name, sizes, style);
    }
    paper.blank();
    for note in of::notes(report) {
        paper.paragraph(0, Ink::Faint, &note);
    }
    paper.finish()
}

fn known(text: Option<String>) -> Line {
    text.map_or_else(|| Line::inked(Ink::Caution, words::UNKNOWN), Line::of)
}

fn money(amount: Option<Micros>) -> Line {
    known(amount.map(|amount| amount.to_string()))
}

fn of_pool(paper: &mut Paper, report: &CostReport, name: &str, pool: &PoolCost, style: Style) {
    paper.heading(&format!("Pool {name}: {}", of::nodes(pool)));
    let columns = [
        Column::left("Nodes paid for", Fit::Keep),
        Column::decimal("Each/h"),
        Column::decimal("Hourly"),
        Column::decimal("Monthly"),
        Column::decimal("GPU-hour"),
        Column::decimal("Run"),
        Column::left("Breaks even", Fit::Wrap),
        Column::left("", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 2);
    for option in &pool.options {
        let each = match (option.unit, &option.unit_price) {
            ("hour", Some(price)) => Line::of(words::decimal(price)),
            (_, Some(_)) => Line::default(),
            (_, None) => known(None),
        };
        let has_gpus = pool.gpus_per_node.is_some();
        let runs = pool.run.is_some();
        let only = |is: bool, line: Line| if is { line } else { Line::default() };
        let ink = if option.chosen {
            Ink::Strong
        } else {
            Ink::Plain
        };
        let chosen = if option.chosen { ", chosen" } else { "" };
        table.row([
            Line::inked(ink, format!("{}{chosen}", option.option.words())),
            each,
            money(option.hourly_micros),
            money(option.monthly_micros),
            only(has_gpus, money(option.gpu_hour_micros)),
            only(runs, money(option.run_micros)),
            Line::of(of::break_even(option)),
            Line::inked(
                Ink::Faint,
                of::remarks(option, Some(&report.catalog.prices_as_of)).join(", "),
            ),
        ]);
    }
    paper.lines(&table.lines(style));
    paper.blank();
    states(paper, pool, style);
    if let Some(run) = &pool.run {
        paper.hanging(&Line::of("  one run: "), &Line::of(of::run(run)));
    }
}

fn states(paper: &mut Paper, pool: &PoolCost, style: Style) {
    let columns = [
        Column::left("Nodes and disks", Fit::Keep),
        Column::decimal("Hourly"),
        Column::decimal("Monthly"),
    ];
    let mut table = Table::new(columns, 2);
    let mut row = |name: &str, amount: Amount| {
        let [hourly, monthly] = of::pair(amount);
        table.row([Line::of(name), Line::of(hourly), Line::of(monthly)]);
    };
    row("all running", pool.states.running);
    row("all deallocated", pool.states.stopped);
    if let Some(evicted) = pool.states.evicted {
        row("all evicted", evicted);
    }
    row("no nodes", pool.states.no_nodes);
    paper.lines(&table.lines(style));
}

fn whole_stack(paper: &mut Paper, report: &CostReport, style: Style) {
    paper.heading("Whole stack with every pool bought one way");
    let columns = [
        Column::left("Nodes paid for", Fit::Keep),
        Column::decimal("Hourly"),
        Column::decimal("Monthly"),
    ];
    let mut table = Table::new(columns, 2);
    for option in &report.options {
        let [hourly, monthly] = of::whole(option);
        table.row([
            Line::of(option.option.words()),
            Line::of(hourly),
            Line::of(monthly),
        ]);
    }
    paper.lines(&table.lines(style));
}

fn changes(paper: &mut Paper, changes: &[CostChange], style: Style) {
    paper.heading("What this change costs");
    if changes.is_empty() {
        paper.paragraph(2, Ink::Plain, "nothing: what is live costs the same");
        return;
    }
    let columns = [
        Column::left("For", Fit::Wrap),
        Column::left("Count", Fit::Keep),
        Column::decimal("Hourly"),
        Column::decimal("Monthly"),
    ];
    let mut table = Table::new(columns, 2);
    let mut address = None;
    for change in changes {
        if address != Some(&change.address) {
            table.row([Line::inked(Ink::Accent, &change.address)]);
            address = Some(&change.address);
        }
        let difference = |amount: Option<Micros>| known(amount.map(words::difference));
        let name = if change.kind == model::plan::CostKind::Compute {
            format!("{}, {}", change.item, change.meter)
        } else {
            change.item.clone()
        };
        table.row([
            Line::of(name).indented(2),
            Line::of(format!(
                "{} → {}",
                words::count(change.quantity_before),
                words::count(change.quantity_after)
            )),
            difference(change.hourly_micros),
            difference(change.monthly_micros),
        ]);
    }
    paper.lines(&table.lines(style));
}

fn compared_regions(paper: &mut Paper, regions: &RegionComparison, style: Style) {
    paper.heading("The same stack elsewhere");
    let columns = [
        Column::right(""),
        Column::left("Region", Fit::Keep),
        Column::decimal("Hourly"),
        Column::decimal("Monthly"),
        Column::decimal("Difference"),
        Column::left("", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 2);
    let shown = regions.ranked.iter().zip(1_u32..).filter(|(region, rank)| {
        region.planned || usize::try_from(*rank).is_ok_and(|rank| rank <= MOST_COMPARED)
    });
    for (region, rank) in shown {
        let [hourly, monthly] = of::pair(region.total);
        let mut remarks: Vec<String> = Vec::new();
        if region.planned {
            remarks.push("planned".to_owned());
        }
        let flags = region.flags.iter().filter(|flag| *flag != "spot");
        remarks.extend(flags.map(|flag| cost::word(flag)));
        table.row([
            Line::of(words::count(rank)),
            Line::of(region.location.as_str()),
            Line::of(hourly),
            Line::of(monthly),
            known(region.monthly_difference_micros.map(words::difference)),
            Line::inked(Ink::Faint, remarks.join(", ")),
        ]);
    }
    paper.lines(&table.lines(style));
    paper.blank();
    let sentence = format!(
        "{} rank; {} do not have every size at a known price. A place in this list says nothing of quota and capacity.",
        words::counted(regions.ranked.len(), "region", "regions"),
        words::count(regions.left_out.len())
    );
    paper.paragraph(2, Ink::Faint, &sentence);
}

fn compared_sizes(paper: &mut Paper, name: &str, sizes: &[SizeCost], style: Style) {
    paper.heading(&format!("Pool {name} with other sizes"));
    let columns = [
        Column::left("Size", Fit::Keep),
        Column::right("Count"),
        Column::decimal("Hourly"),
        Column::decimal("Monthly"),
        Column::left("Run", Fit::Wrap),
        Column::left("", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 2);
    let shown = sizes
        .iter()
        .enumerate()
        .filter(|(place, size)| size.planned || *place < MOST_COMPARED);
    for (_, size) in shown {
        let [hourly, monthly] = of::pair(size.total);
        let mut remarks: Vec<String> = Vec::new();
        if size.planned {
            remarks.push("planned".to_owned());
        }
        let rank = size.rank.iter();
        remarks.extend(rank.map(|rank| format!("place {rank} by the rules")));
        table.row([
            Line::of(size.size.as_str()),
            Line::of(words::count(size.count)),
            Line::of(hourly),
            Line::of(monthly),
            Line::of(size.run.as_ref().map_or_else(String::new, of::run)),
            Line::inked(Ink::Faint, remarks.join(", ")),
        ]);
    }
    paper.lines(&table.lines(style));
    let more = sizes.len().saturating_sub(MOST_COMPARED);
    if more > 0 {
        let sentence = format!(
            "{} more in `-o json`.",
            words::counted(more, "size", "sizes")
        );
        paper.paragraph(2, Ink::Faint, &sentence);
    }
}
