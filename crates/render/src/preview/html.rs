//! A cost preview as one page of HTML: no script, nothing that is loaded from elsewhere.

use std::fmt::Write as _;

use model::{
    cost::{Amount, CostReport, LifetimeCost, PoolCost, StackOption},
    units::{HOURS_PER_MONTH, Micros, Span},
};

use super::{
    charts::{Bar, Course, bars, courses},
    words as of,
};
use crate::{cost, words};

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}\
table{border-collapse:collapse;margin:.5rem 0 1.2rem}th,td{padding:.2rem .7rem;border-bottom:1px solid #ddd;text-align:left}\
td:last-child{overflow-wrap:anywhere}td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}.u{color:#a33}svg{width:100%;max-width:46rem;font:12px system-ui,sans-serif}\
.notes{color:#555;font-size:13px}";

/// The page.
pub fn page(report: &CostReport) -> String {
    let title = escaped(&of::title(report));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
    );
    page.push_str(&totals(report));
    heading(&mut page, "By pool, a month");
    page.push_str(&by_pool(report));
    heading(&mut page, "By the way to pay, a month");
    page.push_str(&by_option(report));
    heading(&mut page, "Over time: a month by its hours of use");
    page.push_str(&over_time(report));
    if let Some(lifetime) = &report.lifetime {
        heading(&mut page, "Over time: until the lifetime ends");
        page.push_str(&until_the_end(lifetime));
    }
    heading(&mut page, "Lines");
    page.push_str(&lines(report));
    if !report.changes.is_empty() && !report.before.is_empty() {
        heading(&mut page, "What this change costs");
        page.push_str(&changes(report));
    }
    for (name, pool) in &report.pools {
        heading(&mut page, &format!("Pool {name}: {}", of::nodes(pool)));
        page.push_str(&of_pool(report, pool));
    }
    page.push_str(&comparisons(report));
    page.push_str("<div class=\"notes\">\n");
    for note in of::notes(report) {
        let _ = writeln!(page, "<p>{}</p>", escaped(&note));
    }
    let _ = writeln!(
        page,
        "<p>Made {} by tensorform {} from {}.</p>\n</div>\n</body></html>",
        report.created_at,
        escaped(&report.tensorform_version),
        escaped(&report.spec.path)
    );
    page
}

/// Text that stays text in HTML, in attributes too.
pub(super) fn escaped(text: &str) -> String {
    let clean = crate::line::clean(text);
    clean
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn heading(page: &mut String, text: &str) {
    let _ = writeln!(page, "<h2>{}</h2>", escaped(text));
}

/// A cell, and whether it is a number.
type Cell = (String, bool);

fn number(text: impl Into<String>) -> Cell {
    (text.into(), true)
}

fn plain(text: impl Into<String>) -> Cell {
    (text.into(), false)
}

fn table(header: &[Cell], rows: impl Iterator<Item = Vec<Cell>>) -> String {
    let mut text = String::from("<table>\n");
    row(&mut text, "th", header);
    for cells in rows {
        row(&mut text, "td", &cells);
    }
    text.push_str("</table>\n");
    text
}

fn row(text: &mut String, tag: &str, cells: &[Cell]) {
    text.push_str("<tr>");
    for (cell, is_number) in cells {
        let mut class = String::new();
        if *is_number {
            class.push('n');
        }
        if cell == words::UNKNOWN {
            class.push_str(" u");
        }
        let class = class.trim();
        let class = if class.is_empty() {
            String::new()
        } else {
            format!(" class=\"{class}\"")
        };
        let _ = write!(text, "<{tag}{class}>{}</{tag}>", escaped(cell));
    }
    text.push_str("</tr>\n");
}

fn of_amount(name: &str, amount: Amount) -> Vec<Cell> {
    let [hourly, monthly] = of::pair(amount);
    vec![plain(name), number(hourly), number(monthly)]
}

fn totals(report: &CostReport) -> String {
    let cost = &report.cost;
    let amount = |total: model::plan::Total, complete: bool| Amount {
        hourly_micros: total.hourly_micros,
        monthly_micros: total.monthly_micros,
        complete,
    };
    let before = report.before.iter().all(|line| line.known);
    let difference = if cost.complete {
        "Difference"
    } else {
        "Difference, as far as known"
    };
    let rows = [
        of_amount("Before", amount(cost.before, before)),
        of_amount("After", amount(cost.after, cost.complete)),
        vec![
            plain(difference),
            number(words::difference(cost.delta.hourly_micros)),
            number(words::difference(cost.delta.monthly_micros)),
        ],
    ];
    let header = [plain(&cost.currency), number("Hourly"), number("Monthly")];
    let mut text = table(&header, rows.into_iter());
    for sentence in of::spans(report) {
        let _ = writeln!(text, "<p>{}</p>", escaped(&sentence));
    }
    text
}

fn by_pool(report: &CostReport) -> String {
    let bar = |label: &str, amount: Amount| Bar {
        label: label.to_owned(),
        amount: Some(amount.monthly_micros),
        value: of::at_least(amount.monthly_micros, amount.complete),
    };
    let mut all: Vec<Bar> = report
        .pools
        .iter()
        .map(|(name, pool)| bar(name, pool.total))
        .collect();
    all.push(bar("shared", report.shared));
    bars("Monthly cost by pool", &all)
}

fn by_option(report: &CostReport) -> String {
    let all: Vec<Bar> = report
        .options
        .iter()
        .map(|option| Bar {
            label: option.option.words().to_owned(),
            amount: option.total.map(|total| total.monthly_micros),
            value: match option.total {
                Some(total) => of::at_least(total.monthly_micros, total.complete),
                None => words::UNKNOWN.to_owned(),
            },
        })
        .collect();
    bars("Monthly cost of the whole stack by the way to pay", &all)
}

/// Nodes alone: disks and the network cost the same whatever the way.
fn over_time(report: &CostReport) -> String {
    let mut all: Vec<Course> = Vec::new();
    let is_whole = |option: &&StackOption| option.total.is_some_and(|total| total.complete);
    for option in report.options.iter().filter(is_whole) {
        let ways = report.pools.values().flat_map(|pool| &pool.options);
        let of_option = ways.filter(|way| way.option == option.option);
        let monthly = of_option
            .filter_map(|way| way.monthly_micros)
            .fold(Micros::default(), Micros::saturating_add);
        all.push(Course {
            label: format!("{}: {monthly} for all 730 hours", option.option.words()),
            end: monthly,
            is_flat: option.option.is_commitment(),
        });
    }
    let half = HOURS_PER_MONTH / 2;
    let marks = [
        "0 h".to_owned(),
        format!("{half} h"),
        format!("{HOURS_PER_MONTH} h of use in a month"),
    ];
    courses(
        "What the nodes cost in a month, by hours of use",
        &marks,
        &all,
    )
}

/// The whole stack: all of it ends with the lifetime.
fn until_the_end(lifetime: &LifetimeCost) -> String {
    let title = "What the stack costs until its lifetime ends";
    let course = |name: &str, micros: Micros, complete: bool| Course {
        label: format!("{name}: {}", of::at_least(micros, complete)),
        end: micros,
        is_flat: false,
    };
    let mut all = vec![course(
        "as it is bought",
        lifetime.micros,
        lifetime.complete,
    )];
    all.extend(lifetime.options.iter().filter_map(|option| {
        let name = option.option.words();
        Some(course(name, option.micros?, option.complete))
    }));
    let half = words::span(Span::from_seconds(lifetime.seconds / 2));
    let marks = ["now".to_owned(), half, lifetime.expires.to_string()];
    courses(title, &marks, &all)
}

fn lines(report: &CostReport) -> String {
    let header = [
        plain("For"),
        plain("Item"),
        number("Count"),
        number("Each"),
        number("Hourly"),
        number("Monthly"),
        plain("Price"),
    ];
    let rows = report.cost.lines.iter().map(|line| {
        let each = match (&line.unit_hourly, &line.unit_monthly) {
            (Some(price), _) => format!("{price}/h"),
            (None, Some(price)) => format!("{price}/mo"),
            (None, None) => words::UNKNOWN.to_owned(),
        };
        let mut remarks = vec![line.meter.clone()];
        remarks.extend(line.as_of.clone());
        remarks.extend(line.flags.iter().map(|flag| cost::word(flag)));
        remarks.extend(line.source.clone());
        vec![
            plain(&line.address),
            plain(&line.item),
            number(words::count(line.quantity)),
            number(each),
            number(words::money(line.hourly_micros)),
            number(words::money(line.monthly_micros)),
            plain(remarks.join(", ")),
        ]
    });
    table(&header, rows)
}

fn changes(report: &CostReport) -> String {
    let header = [
        plain("For"),
        plain("Item"),
        number("Count"),
        number("Hourly"),
        number("Monthly"),
    ];
    let difference = |amount: Option<Micros>| number(words::difference_if_known(amount));
    let rows = report.changes.iter().map(|change| {
        vec![
            plain(&change.address),
            plain(&change.item),
            number(format!(
                "{} → {}",
                change.quantity_before, change.quantity_after
            )),
            difference(change.hourly_micros),
            difference(change.monthly_micros),
        ]
    });
    table(&header, rows)
}

fn of_pool(report: &CostReport, pool: &PoolCost) -> String {
    let header = [
        plain("Nodes paid for"),
        number("Hourly"),
        number("Monthly"),
        number("GPU-hour"),
        number("Run"),
        number("Breaks even"),
        plain("Price"),
    ];
    let rows = pool.options.iter().map(|option| {
        let chosen = if option.chosen { ", chosen" } else { "" };
        vec![
            plain(format!("{}{chosen}", option.option.words())),
            number(words::money(option.hourly_micros)),
            number(words::money(option.monthly_micros)),
            number(
                option
                    .gpu_hour_micros
                    .map_or_else(String::new, |micros| micros.to_string()),
            ),
            number(
                option
                    .run_micros
                    .map_or_else(String::new, |micros| micros.to_string()),
            ),
            number(of::break_even(option)),
            plain(of::remarks(option, Some(&report.catalog.prices_as_of)).join(", ")),
        ]
    });
    let mut text = table(&header, rows);
    let mut states = vec![
        of_amount("all running", pool.states.running),
        of_amount("all deallocated", pool.states.stopped),
    ];
    states.extend(
        pool.states
            .evicted
            .map(|amount| of_amount("all evicted", amount)),
    );
    states.push(of_amount("no nodes", pool.states.no_nodes));
    let header = [
        plain("Nodes and disks"),
        number("Hourly"),
        number("Monthly"),
    ];
    text.push_str(&table(&header, states.into_iter()));
    if let Some(run) = &pool.run {
        let _ = writeln!(text, "<p>One run: {}</p>", escaped(&of::run(run)));
    }
    text
}

fn comparisons(report: &CostReport) -> String {
    let mut text = String::new();
    if let Some(regions) = &report.regions {
        heading(&mut text, "The same stack elsewhere");
        let header = [
            plain("Region"),
            number("Hourly"),
            number("Monthly"),
            number("Difference"),
        ];
        let rows = regions.ranked.iter().map(|region| {
            let planned = if region.planned { " (planned)" } else { "" };
            let mut cells = of_amount(&format!("{}{planned}", region.location), region.total);
            cells.push(number(words::difference_if_known(
                region.monthly_difference_micros,
            )));
            cells
        });
        text.push_str(&table(&header, rows));
    }
    for (name, sizes) in report.sizes.iter().flatten() {
        heading(&mut text, &format!("Pool {name} with other sizes"));
        let header = [
            plain("Size"),
            number("Hourly"),
            number("Monthly"),
            number("Count"),
            plain("Run"),
        ];
        let rows = sizes.iter().map(|size| {
            let planned = if size.planned { " (planned)" } else { "" };
            let mut cells = of_amount(&format!("{}{planned}", size.size), size.total);
            cells.push(number(words::count(size.count)));
            cells.push(plain(size.run.as_ref().map(of::run).unwrap_or_default()));
            cells
        });
        text.push_str(&table(&header, rows));
    }
    text
}
