//! What a region offers, and what it costs there.

use std::collections::BTreeSet;

use crate::{
    catalog::{
        rows::{ItemPrice, Offer, PriceUnit, VmPrice},
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
    let read = |fields: &mut Fields<'_>| {
        let size = tiered(fields.required()?);
        let zones: BTreeSet<String> = fields
            .text()
            .split_ascii_whitespace()
            .map(str::to_owned)
            .collect();
        let spot = fields.yes_or_no()?;
        let (source, as_of) = citations.resolve(fields)?;
        Ok(Offer {
            size,
            zones,
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
        let linux = fields.optional_decimal()?;
        let spot = fields.optional_decimal()?;
        let windows = fields.optional_decimal()?;
        let savings_plan_1y = fields.optional_decimal()?;
        let (source, as_of) = citations.resolve(fields)?;
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
        let (source, as_of) = citations.resolve(fields)?;
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
