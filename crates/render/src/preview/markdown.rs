//! A cost preview as Markdown, for a comment on a pull request.

use std::fmt::Write as _;

use model::{
    cost::{Amount, CostReport, PoolCost},
    plan::CostLine,
};

use super::words as of;
use crate::words;

/// The comment.
pub fn comment(report: &CostReport) -> String {
    let mut text = String::new();
    section(&mut text, &format!("### {}", escaped(&of::title(report))));
    section(&mut text, &summary(report));
    section(&mut text, &folded("Lines", &lines(report)));
    if !report.changes.is_empty() && !report.before.is_empty() {
        section(
            &mut text,
            &folded("What this change costs", &changes(report)),
        );
    }
    for (name, pool) in &report.pools {
        let title = format!("Pool {name}: {}", of::nodes(pool));
        section(&mut text, &folded(&title, &of_pool(report, pool)));
    }
    if report.pools.len() > 1 {
        let rows = report.options.iter().map(|option| {
            let [hourly, monthly] = of::whole(option);
            vec![option.option.words().to_owned(), hourly, monthly]
        });
        let table = table(&["Whole stack paid for", "Hourly", "Monthly"], rows);
        section(
            &mut text,
            &folded("Whole stack with every pool bought one way", &table),
        );
    }
    comparisons(&mut text, report);
    let notes: Vec<String> = of::notes(report).iter().map(|note| escaped(note)).collect();
    section(&mut text, &notes.join(" "));
    text
}

/// The same stack in other regions and with other sizes, where that was asked for.
fn comparisons(text: &mut String, report: &CostReport) {
    if let Some(regions) = &report.regions {
        let rows = regions.ranked.iter().map(|region| {
            let [hourly, monthly] = of::pair(region.total);
            let planned = if region.planned { " (planned)" } else { "" };
            let name = format!("{}{planned}", region.location);
            vec![
                name,
                hourly,
                monthly,
                words::difference_if_known(region.monthly_difference_micros),
            ]
        });
        let table = table(&["Region", "Hourly", "Monthly", "Difference"], rows);
        section(text, &folded("The same stack elsewhere", &table));
    }
    for (name, sizes) in report.sizes.iter().flatten() {
        let rows = sizes.iter().map(|size| {
            let [hourly, monthly] = of::pair(size.total);
            let planned = if size.planned { " (planned)" } else { "" };
            let run = size.run.as_ref().map(of::run).unwrap_or_default();
            vec![
                format!("{}{planned}", size.size),
                words::count(size.count),
                hourly,
                monthly,
                run,
            ]
        });
        let table = table(&["Size", "Count", "Hourly", "Monthly", "Run"], rows);
        section(
            text,
            &folded(&format!("Pool {name} with other sizes"), &table),
        );
    }
}

fn section(text: &mut String, part: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(part.trim_end());
    text.push('\n');
}

fn summary(report: &CostReport) -> String {
    let cost = &report.cost;
    let pair = |hourly: String, monthly: String| [hourly, monthly];
    let after = of::pair(Amount {
        hourly_micros: cost.after.hourly_micros,
        monthly_micros: cost.after.monthly_micros,
        complete: cost.complete,
    });
    let before = of::pair(Amount {
        hourly_micros: cost.before.hourly_micros,
        monthly_micros: cost.before.monthly_micros,
        complete: report.before.iter().all(|line| line.known),
    });
    let difference = pair(
        words::difference(cost.delta.hourly_micros),
        words::difference(cost.delta.monthly_micros),
    );
    let row = |name: &str, [hourly, monthly]: [String; 2]| vec![name.to_owned(), hourly, monthly];
    let rows = [
        row("Before", before),
        row("After", after.map(|amount| format!("**{amount}**"))),
        row(
            if cost.complete {
                "Difference"
            } else {
                "Difference, as far as known"
            },
            difference,
        ),
    ];
    let header = [cost.currency.as_str(), "Hourly", "Monthly"];
    let mut text = raw_table(&header, rows.into_iter());
    for sentence in of::spans(report) {
        let _ = write!(text, "\n{}\n", escaped(&sentence));
    }
    text
}

fn lines(report: &CostReport) -> String {
    let rows = report.cost.lines.iter().map(|line| {
        let CostLine {
            address,
            item,
            quantity,
            meter,
            hourly_micros,
            monthly_micros,
            as_of,
            flags,
            ..
        } = line;
        let each = match (&line.unit_hourly, &line.unit_monthly) {
            (Some(price), _) => format!("{price}/h"),
            (None, Some(price)) => format!("{price}/mo"),
            (None, None) => words::UNKNOWN.to_owned(),
        };
        let flags: Vec<String> = flags.iter().map(|flag| crate::cost::word(flag)).collect();
        let mut remarks = vec![meter.clone()];
        remarks.extend(as_of.iter().cloned());
        remarks.extend(flags);
        vec![
            address.clone(),
            item.clone(),
            words::count(*quantity),
            each,
            words::money(*hourly_micros),
            words::money(*monthly_micros),
            remarks.join(", "),
        ]
    });
    let header = ["For", "Item", "Count", "Each", "Hourly", "Monthly", "Price"];
    table(&header, rows)
}

fn changes(report: &CostReport) -> String {
    let difference = words::difference_if_known;
    let rows = report.changes.iter().map(|change| {
        vec![
            change.address.clone(),
            change.item.clone(),
            format!("{} → {}", change.quantity_before, change.quantity_after),
            difference(change.hourly_micros),
            difference(change.monthly_micros),
        ]
    });
    table(&["For", "Item", "Count", "Hourly", "Monthly"], rows)
}

fn of_pool(report: &CostReport, pool: &PoolCost) -> String {
    let rows = pool.options.iter().map(|option| {
        let chosen = if option.chosen { ", chosen" } else { "" };
        vec![
            format!("{}{chosen}", option.option.words()),
            words::money(option.hourly_micros),
            words::money(option.monthly_micros),
            option
                .gpu_hour_micros
                .map_or_else(String::new, |micros| micros.to_string()),
            of::break_even(option),
            of::remarks(option, Some(&report.catalog.prices_as_of)).join(", "),
        ]
    });
    let header = [
        "Nodes paid for",
        "Hourly",
        "Monthly",
        "GPU-hour",
        "Breaks even",
        "",
    ];
    let mut text = table(&header, rows);
    let state = |name: &str, amount: Amount| {
        let [hourly, monthly] = of::pair(amount);
        vec![name.to_owned(), hourly, monthly]
    };
    let mut rows = vec![
        state("all running", pool.states.running),
        state("all deallocated", pool.states.stopped),
    ];
    rows.extend(
        pool.states
            .evicted
            .map(|amount| state("all evicted", amount)),
    );
    rows.push(state("no nodes", pool.states.no_nodes));
    text.push('\n');
    text.push_str(&table(
        &["Nodes and disks", "Hourly", "Monthly"],
        rows.into_iter(),
    ));
    if let Some(run) = &pool.run {
        let _ = write!(text, "\nOne run: {}\n", escaped(&of::run(run)));
    }
    text
}

fn folded(title: &str, content: &str) -> String {
    format!(
        "<details><summary>{}</summary>\n\n{content}\n</details>",
        escaped(title)
    )
}

fn table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    raw_table(
        header,
        rows.map(|cells| cells.iter().map(|cell| escaped(cell)).collect()),
    )
}

fn raw_table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n", header.join(" | "));
    let rule: Vec<&str> = header
        .iter()
        .map(|title| {
            let is_amount = [
                "Hourly",
                "Monthly",
                "Count",
                "Each",
                "GPU-hour",
                "Difference",
            ];
            if is_amount.contains(title) {
                "---:"
            } else {
                "---"
            }
        })
        .collect();
    let _ = writeln!(text, "| {} |", rule.join(" | "));
    for cells in rows {
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Text that stays text in Markdown.
fn escaped(text: &str) -> String {
    let clean = crate::line::clean(text);
    let mut escaped = String::with_capacity(clean.len());
    for character in clean.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' => {
                escaped.push('\\');
                escaped.push(character);
            }
            other => escaped.push(other),
        }
    }
    escaped
}
