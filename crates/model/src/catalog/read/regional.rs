//! What a region offers, and what it costs there.

use std::{collections::BTreeSet, sync::Arc};

use crate::{
    catalog::{
        rows::{Commitment, CommitmentPlan, ItemPrice, Offer, PriceUnit, VmPrice},
        sources::{Citations, Sources},
        table::{Fields, Table, read_table},
    },
    units::SizeName,
};

/// The name of a size that a regional table gives without its tier.
fn tiered(short: &str) -> SizeName {
    SizeName::new(format!("Standard_{short}"))
}

/// Reads `offers/<region>.csv`.
pub(in crate::catalog) fn offers(name: &str, text: &str, sources: &Sources) -> Table<Offer> {
    const COLUMNS: &[&str] = &["size", "zones", "spot", "source"];
    let mut citations = Citations::new(sources);
    // Few sets of zones occur, each in long runs of lines.
    let mut zones_cell = String::new();
    let mut zones = Arc::new(BTreeSet::new());
    let read = |fields: &mut Fields<'_>| {
        let size = tiered(fields.required()?);
        let cell = fields.text();
        if cell != zones_cell {
            let names = cell.split_ascii_whitespace().map(str::to_owned);
            zones = Arc::new(names.collect());
            cell.clone_into(&mut zones_cell);
        }
        let spot = fields.yes_or_no()?;
        let source = citations.source(fields)?;
        let as_of = citations.day_of_source();
        Ok(Offer {
            size,
            zones: Arc::clone(&zones),
            spot,
            source,
            as_of,
        })
    };
    read_table(name, text, COLUMNS, read).sorted(
        name,
        |a, b| a.size.cmp(&b.size),
        |offer| offer.size.to_string(),
    )
}

/// Reads `prices/vm/<region>.csv`.
pub(in crate::catalog) fn vm_prices(
    name: &str,
    text: &str,
    sources: &Sources,
) -> Table<(SizeName, VmPrice)> {
    const COLUMNS: &[&str] = &[
        "size",
        "linux",
        "spot",
        "windows",
        "savings_plan_1y",
        "source",
        "flags",
    ];
    let mut citations = Citations::new(sources);
    let read = |fields: &mut Fields<'_>| {
        let size = tiered(fields.required()?);
        let linux = fields.optional_price()?;
        let spot = fields.optional_price()?;
        let windows = fields.optional_price()?;
        let savings_plan_1y = fields.optional_price()?;
        let source = citations.source(fields)?;
        let as_of = citations.day_of_source();
        let flags = fields
            .text()
            .split_ascii_whitespace()
            .map(str::to_owned)
            .collect();
        let price = VmPrice {
            linux,
            spot,
            windows,
            savings_plan_1y,
            source,
            as_of,
            flags,
        };
        Ok((size, price))
    };
    read_table(name, text, COLUMNS, read).sorted(
        name,
        |(a, _), (b, _)| a.cmp(b),
        |(size, _)| size.to_string(),
    )
}

/// Reads `prices/commitments/<region>.csv`.
pub(in crate::catalog) fn commitments(
    name: &str,
    text: &str,
    sources: &Sources,
) -> Table<Commitment> {
    const COLUMNS: &[&str] = &[
        "size",
        "plan",
        "years",
        "price",
        "effective",
        "source",
        "as_of",
    ];
    let mut citations = Citations::new(sources);
    let read = |fields: &mut Fields<'_>| {
        let size = tiered(fields.required()?);
        let plan = fields.choice(&[
            ("reservation", CommitmentPlan::Reservation),
            ("savings_plan", CommitmentPlan::SavingsPlan),
        ])?;
        let years = fields.choice(&[("1", 1), ("3", 3)])?;
        let price = fields.decimal()?;
        fields.day()?;
        Ok(Commitment {
            size,
            plan,
            years,
            price,
            source: citations.source(fields)?,
            as_of: citations.day(fields)?,
        })
    };
    read_table(name, text, COLUMNS, read).sorted(
        name,
        |a, b| (&a.size, a.plan, a.years).cmp(&(&b.size, b.plan, b.years)),
        |row| format!("{} {:?} {}", row.size, row.plan, row.years),
    )
}

/// Reads `prices/items/<region>.csv`.
pub(in crate::catalog) fn item_prices(
    name: &str,
    text: &str,
    sources: &Sources,
) -> Table<ItemPrice> {
    const COLUMNS: &[&str] = &["item", "price", "unit", "confidence", "source", "notes"];
    const UNITS: &[(&str, PriceUnit)] = &[
        ("disk-month", PriceUnit::Month),
        ("hour", PriceUnit::Hour),
        ("rule-hour", PriceUnit::Hour),
        ("address-hour", PriceUnit::Hour),
        ("GiB-hour", PriceUnit::GibHour),
        ("GB-month", PriceUnit::GbMonth),
        ("IOPS-hour", PriceUnit::IopsHour),
        ("MBps-hour", PriceUnit::MbpsHour),
        ("vCPU-hour", PriceUnit::VcpuHour),
        ("GB", PriceUnit::Gb),
        ("10K operations", PriceUnit::TenThousandOperations),
    ];
    let mut citations = Citations::new(sources);
    let read = |fields: &mut Fields<'_>| {
        let item = fields.required()?.to_owned();
        let price = fields.decimal()?;
        let unit = fields.choice(UNITS)?;
        let confidence = fields
            .choice(&[
                ("recorded", "recorded"),
                ("derived", "derived"),
                ("reported", "reported"),
            ])?
            .to_owned();
        let source = citations.source(fields)?;
        let as_of = citations.day_of_source();
        Ok(ItemPrice {
            item,
            price,
            unit,
            source,
            as_of,
            confidence,
            notes: fields.text().to_owned(),
        })
    };
    read_table(name, text, COLUMNS, read).sorted(
        name,
        |a, b| a.item.cmp(&b.item),
        |price| price.item.clone(),
    )
}
