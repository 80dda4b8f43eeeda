//! A cost preview as CSV: one row for each line, way to pay, state, run,
//! lifetime, region and size.
//!
//! Amounts are exact decimals without groups of digits. What is not known is an empty cell, and
//! `bound` says `at least` where an amount lacks something.

use model::{
    cost::{Amount, CostReport, LifetimeCost, PoolCost, PoolRun},
    plan::CostLine,
    units::Micros,
};

use super::words::{decimal, kind};

const HEADER: [&str; 17] = [
    "section",
    "address",
    "kind",
    "item",
    "option",
    "quantity",
    "unit",
    "unit_price",
    "hourly",
    "monthly",
    "run",
    "bound",
    "meter",
    "as_of",
    "source",
    "flags",
    "currency",
];

/// The rows, the header first.
pub fn table(report: &CostReport) -> String {
    let mut sheet = Sheet {
        text: HEADER.join(","),
        currency: report.cost.currency.clone(),
    };
    sheet.text.push('\n');
    for line in &report.cost.lines {
        sheet.row(of_line(line));
    }
    let known_before = report.before.iter().all(|line| line.known);
    let totals = [
        ("before", report.cost.before, known_before),
        ("after", report.cost.after, report.cost.complete),
    ];
    for (section, total, complete) in totals {
        let amount = Amount {
            hourly_micros: total.hourly_micros,
            monthly_micros: total.monthly_micros,
            complete,
        };
        sheet.row(Row::new("total", "", section).of(amount));
    }
    for change in &report.changes {
        let difference = |micros: Option<Micros>| micros.map(decimal).unwrap_or_default();
        sheet.row(Row {
            kind: kind(change.kind).to_owned(),
            quantity: (i64::from(change.quantity_after) - i64::from(change.quantity_before))
                .to_string(),
            hourly: difference(change.hourly_micros),
            monthly: difference(change.monthly_micros),
            meter: change.meter.clone(),
            ..Row::new("change", &change.address, &change.item)
        });
    }
    for (name, pool) in &report.pools {
        of_pool(&mut sheet, &format!("pool.{name}"), pool);
    }
    for option in &report.options {
        let row = Row::new("option", "", "whole stack");
        let row = match option.total {
            Some(total) => row.of(total),
            None => Row {
                bound: "unknown".to_owned(),
                ..row
            },
        };
        sheet.row(row.by(option.option.name()));
    }
    if let Some(lifetime) = &report.lifetime {
        of_lifetime(&mut sheet, lifetime);
    }
    if let Some(run) = &report.run {
        sheet.row(Row {
            run: decimal(run.micros),
            bound: bound(run.complete),
            ..Row::new("run", "", &format!("{} s", run.seconds))
        });
    }
    comparisons(&mut sheet, report);
    sheet.text
}

fn comparisons(sheet: &mut Sheet, report: &CostReport) {
    for region in report.regions.iter().flat_map(|regions| &regions.ranked) {
        sheet.row(Row {
            flags: region.flags.join(" "),
            as_of: region.as_of.join(" "),
            ..Row::new("region", "", region.location.as_str()).of(region.total)
        });
    }
    for (name, sizes) in report.sizes.iter().flatten() {
        for size in sizes {
            let row = Row::new("size", &format!("pool.{name}"), size.size.as_str()).of(size.total);
            sheet.row(Row {
                quantity: size.count.to_string(),
                run: size.run.map(|run| decimal(run.micros)).unwrap_or_default(),
                ..row
            });
        }
    }
}

fn of_line(line: &CostLine) -> Row {
    let (unit, unit_price) = match (&line.unit_hourly, &line.unit_monthly) {
        (Some(price), _) => ("hour", price.clone()),
        (None, Some(price)) => ("month", price.clone()),
        (None, None) => ("", String::new()),
    };
    let known = |micros: Option<Micros>| micros.map(decimal).unwrap_or_default();
    Row {
        kind: kind(line.kind).to_owned(),
        quantity: line.quantity.to_string(),
        unit: unit.to_owned(),
        unit_price,
        hourly: known(line.hourly_micros),
        monthly: known(line.monthly_micros),
        bound: if line.known { "exact" } else { "unknown" }.to_owned(),
        meter: line.meter.clone(),
        as_of: line.as_of.clone().unwrap_or_default(),
        source: line.source.clone().unwrap_or_default(),
        flags: line.flags.join(" "),
        ..Row::new("line", &line.address, &line.item)
    }
}

fn of_lifetime(sheet: &mut Sheet, lifetime: &LifetimeCost) {
    let row = || Row::new("lifetime", "", &format!("{} s", lifetime.seconds));
    sheet.row(Row {
        run: decimal(lifetime.micros),
        bound: bound(lifetime.complete),
        ..row()
    });
    for option in &lifetime.options {
        let row = Row {
            run: option.micros.map(decimal).unwrap_or_default(),
            bound: match option.micros {
                Some(_) => bound(option.complete),
                None => "unknown".to_owned(),
            },
            ..row()
        };
        sheet.row(row.by(option.option.name()));
    }
}

fn of_pool(sheet: &mut Sheet, address: &str, pool: &PoolCost) {
    for option in &pool.options {
        let known = |micros: Option<Micros>| micros.map(decimal).unwrap_or_default();
        let is_known = option.unit_price.is_some();
        sheet.row(Row {
            option: option.option.name().to_owned(),
            quantity: pool.count.to_string(),
            unit: option.unit.to_owned(),
            unit_price: option.unit_price.clone().unwrap_or_default(),
            hourly: known(option.hourly_micros),
            monthly: known(option.monthly_micros),
            run: known(option.run_micros),
            bound: if is_known { "exact" } else { "unknown" }.to_owned(),
            meter: option.meter.clone(),
            as_of: option.as_of.clone().unwrap_or_default(),
            source: option.source.clone().unwrap_or_default(),
            flags: option.flags.join(" "),
            ..Row::new("option", address, pool.size.as_str())
        });
    }
    let states = [
        ("running", Some(pool.states.running)),
        ("stopped", Some(pool.states.stopped)),
        ("evicted", pool.states.evicted),
        ("no nodes", Some(pool.states.no_nodes)),
    ];
    for (state, amount) in states {
        if let Some(amount) = amount {
            sheet.row(Row::new("state", address, state).of(amount));
        }
    }
    if let Some(PoolRun {
        seconds,
        micros,
        complete,
        ..
    }) = pool.run
    {
        sheet.row(Row {
            run: decimal(micros),
            bound: bound(complete),
            ..Row::new("run", address, &format!("{seconds} s"))
        });
    }
}

fn bound(complete: bool) -> String {
    if complete { "exact" } else { "at least" }.to_owned()
}

#[derive(Default)]
struct Row {
    section: String,
    address: String,
    kind: String,
    item: String,
    option: String,
    quantity: String,
    unit: String,
    unit_price: String,
    hourly: String,
    monthly: String,
    run: String,
    bound: String,
    meter: String,
    as_of: String,
    source: String,
    flags: String,
}

impl Row {
    fn new(section: &str, address: &str, item: &str) -> Self {
        Self {
            section: section.to_owned(),
            address: address.to_owned(),
            item: item.to_owned(),
            ..Self::default()
        }
    }

    fn of(self, amount: Amount) -> Self {
        Self {
            hourly: decimal(amount.hourly_micros),
            monthly: decimal(amount.monthly_micros),
            bound: bound(amount.complete),
            ..self
        }
    }

    fn by(self, option: &str) -> Self {
        Self {
            option: option.to_owned(),
            ..self
        }
    }
}

struct Sheet {
    text: String,
    currency: String,
}

impl Sheet {
    fn row(&mut self, row: Row) {
        let Row {
            section,
            address,
            kind,
            item,
            option,
            quantity,
            unit,
            unit_price,
            hourly,
            monthly,
            run,
            bound,
            meter,
            as_of,
            source,
            flags,
        } = row;
        let cells = [
            section,
            address,
            kind,
            item,
            option,
            quantity,
            unit,
            unit_price,
            hourly,
            monthly,
            run,
            bound,
            meter,
            as_of,
            source,
            flags,
            self.currency.clone(),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
        self.text.push_str(&cells.join(","));
        self.text.push('\n');
    }
}

/// A cell: in quotes where it has what ends one.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
