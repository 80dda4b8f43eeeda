//! A cost preview in the shape of Infracost's JSON, version 0.2, which comment tools read.
//!
//! Costs and quantities are strings. What has no price has null costs and `priceNotFound`, is
//! counted in the summary, and makes a warning of the project: totals are then "at least".

use std::collections::BTreeMap;

use model::{
    cost::{CostChange, CostReport},
    plan::{CostKind, CostLine, Total},
    units::{HOURS_PER_MONTH, Micros},
};
use serde_json::{Value, json};

use super::words::{decimal, title};
use crate::failure;

/// The version of the shape.
const VERSION: &str = "0.2";

/// What use costs is not in a preview.
const NO_USAGE: &str = "0";

/// The document.
pub fn document(report: &CostReport) -> String {
    let cost = &report.cost;
    let breakdown = |lines: &[CostLine], total: Total| {
        json!({
            "resources": resources(lines),
            "totalHourlyCost": decimal(total.hourly_micros),
            "totalMonthlyCost": decimal(total.monthly_micros),
            "totalMonthlyUsageCost": NO_USAGE,
        })
    };
    let summary = summary(&cost.lines);
    let project = json!({
        "name": report.stack,
        "displayName": title(report),
        "metadata": {
            "path": report.spec.path,
            "type": "tensorform",
            "warnings": warnings(report),
        },
        "pastBreakdown": breakdown(&report.before, cost.before),
        "breakdown": breakdown(&cost.lines, cost.after),
        "diff": {
            "resources": differences(report),
            "totalHourlyCost": decimal(cost.delta.hourly_micros),
            "totalMonthlyCost": decimal(cost.delta.monthly_micros),
            "totalMonthlyUsageCost": NO_USAGE,
        },
        "summary": summary,
    });
    failure::document(&json!({
        "version": VERSION,
        // The tool does not look at repositories; the members must be there.
        "metadata": {
            "infracostCommand": "diff",
            "vcsBranch": "",
            "vcsCommitSha": "",
            "vcsCommitAuthorName": "",
            "vcsCommitAuthorEmail": "",
            "vcsCommitTimestamp": report.created_at,
            "vcsCommitMessage": "",
        },
        "currency": cost.currency,
        "projects": [project],
        "totalHourlyCost": decimal(cost.after.hourly_micros),
        "totalMonthlyCost": decimal(cost.after.monthly_micros),
        "pastTotalHourlyCost": decimal(cost.before.hourly_micros),
        "pastTotalMonthlyCost": decimal(cost.before.monthly_micros),
        "diffTotalHourlyCost": decimal(cost.delta.hourly_micros),
        "diffTotalMonthlyCost": decimal(cost.delta.monthly_micros),
        "timeGenerated": report.created_at,
        "summary": summary,
    }))
}

/// The lines of each address are one resource.
fn resources(lines: &[CostLine]) -> Vec<Value> {
    let mut all: BTreeMap<&str, Vec<&CostLine>> = BTreeMap::new();
    for line in lines {
        all.entry(&line.address).or_default().push(line);
    }
    all.into_iter()
        .map(|(address, lines)| {
            let sum = |of: fn(&CostLine) -> Option<Micros>| {
                let known: Vec<Micros> = lines.iter().filter_map(|line| of(line)).collect();
                let sum = known
                    .iter()
                    .copied()
                    .fold(Micros::default(), Micros::saturating_add);
                (!known.is_empty()).then(|| decimal(sum))
            };
            json!({
                "name": address,
                "resourceType": resource_type(address),
                "tags": {},
                "metadata": origins(&lines),
                "hourlyCost": sum(|line| line.hourly_micros),
                "monthlyCost": sum(|line| line.monthly_micros),
                "costComponents": lines.iter().map(|line| component(line)).collect::<Vec<_>>(),
            })
        })
        .collect()
}

fn resource_type(address: &str) -> &'static str {
    if address.starts_with("pool.") {
        "tensorform_pool"
    } else {
        "tensorform_shared"
    }
}

fn name(item: &str, kind: CostKind, meter: &str) -> String {
    if kind == CostKind::Compute {
        format!("{item} ({meter})")
    } else {
        item.to_owned()
    }
}

fn component(line: &CostLine) -> Value {
    let hours = u64::from(line.quantity) * u64::from(HOURS_PER_MONTH);
    let by_the_month = line.unit_monthly.is_some();
    let (unit, price, hourly, monthly) = if by_the_month {
        (
            "months",
            &line.unit_monthly,
            None,
            line.quantity.to_string(),
        )
    } else {
        (
            "hours",
            &line.unit_hourly,
            Some(line.quantity.to_string()),
            hours.to_string(),
        )
    };
    json!({
        "name": name(&line.item, line.kind, &line.meter),
        "unit": unit,
        "hourlyQuantity": hourly,
        "monthlyQuantity": monthly,
        "price": price.as_deref().unwrap_or("0"),
        "hourlyCost": line.hourly_micros.map(decimal),
        "monthlyCost": line.monthly_micros.map(decimal),
        "priceNotFound": !line.known,
    })
}

fn differences(report: &CostReport) -> Vec<Value> {
    let mut all: BTreeMap<&str, Vec<&CostChange>> = BTreeMap::new();
    for change in &report.changes {
        all.entry(&change.address).or_default().push(change);
    }
    all.into_iter()
        .map(|(address, changes)| {
            let sum = |of: fn(&CostChange) -> Option<Micros>| {
                let known = changes.iter().filter_map(|change| of(change));
                decimal(known.fold(Micros::default(), Micros::saturating_add))
            };
            json!({
                "name": address,
                "resourceType": resource_type(address),
                "tags": {},
                "metadata": {},
                "hourlyCost": sum(|change| change.hourly_micros),
                "monthlyCost": sum(|change| change.monthly_micros),
                "costComponents": changes.iter().map(|change| difference(change)).collect::<Vec<_>>(),
            })
        })
        .collect()
}

fn difference(change: &CostChange) -> Value {
    let more = i64::from(change.quantity_after) - i64::from(change.quantity_before);
    json!({
        "name": name(&change.item, change.kind, &change.meter),
        "unit": "hours",
        "hourlyQuantity": more.to_string(),
        "monthlyQuantity": (more * i64::from(HOURS_PER_MONTH)).to_string(),
        "price": "0",
        "hourlyCost": change.hourly_micros.map(decimal),
        "monthlyCost": change.monthly_micros.map(decimal),
        "priceNotFound": change.monthly_micros.is_none(),
    })
}

fn summary(lines: &[CostLine]) -> Value {
    let mut addresses: BTreeMap<&str, bool> = BTreeMap::new();
    for line in lines {
        *addresses.entry(&line.address).or_insert(true) &= line.known;
    }
    let mut without: BTreeMap<&str, usize> = BTreeMap::new();
    for (address, is_known) in &addresses {
        if !is_known {
            *without.entry(resource_type(address)).or_default() += 1;
        }
    }
    json!({
        "totalDetectedResources": addresses.len(),
        "totalSupportedResources": addresses.len(),
        "totalUnsupportedResources": 0,
        "totalUsageBasedResources": 0,
        "totalNoPriceResources": without.values().sum::<usize>(),
        "unsupportedResourceCounts": {},
        "noPriceResourceCounts": without,
    })
}

/// Where the prices of some lines are from, and what is known of them.
fn origins(lines: &[&CostLine]) -> Value {
    let origins: serde_json::Map<String, Value> = lines
        .iter()
        .map(|line| {
            let origin = json!({
                "meter": line.meter,
                "asOf": line.as_of,
                "source": line.source,
                "flags": line.flags,
            });
            (line.item.clone(), origin)
        })
        .collect();
    Value::Object(origins)
}

/// What makes the totals other than they look.
fn warnings(report: &CostReport) -> Vec<Value> {
    let warning = |code: u32, message: String| json!({"code": code, "message": message, "data": null, "isError": false});
    let lines = report.cost.lines.iter().filter(|line| !line.known);
    let unknown = lines.map(|line| {
        let message = format!(
            "`{}` of {} has no known price: totals are at least what they say",
            line.item, line.address
        );
        warning(1, message)
    });
    let book = report.price_book.iter().map(|book| {
        let file = &book.file;
        warning(
            2,
            format!("prices of the agreement in `{file}`, where it has any"),
        )
    });
    unknown.chain(book).collect()
}
