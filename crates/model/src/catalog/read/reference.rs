//! Regions, quota counters, and the article.

use crate::{
    catalog::{
        rows::{ArticleRow, QuotaFamily, RegionRow},
        sources::{Citations, Sources},
        table::{Fields, Table, read_table},
    },
    units::{CaseInsensitive, Region},
};

/// Reads `regions.csv`.
pub(in crate::catalog) fn regions(name: &str, text: &str, sources: &Sources) -> Table<RegionRow> {
    const COLUMNS: &[&str] = &[
        "name",
        "display_name",
        "geography",
        "has_offers",
        "source",
        "as_of",
    ];
    let mut citations = Citations::new(sources);
    let read = |fields: &mut Fields<'_>| {
        Ok(RegionRow {
            name: Region::new(fields.required()?),
            display_name: fields.required()?.to_owned(),
            geography: fields.optional().map(str::to_owned),
            has_offers: fields.yes_or_no()?,
            source: citations.source(fields)?,
            as_of: citations.day(fields)?,
        })
    };
    read_table(name, text, COLUMNS, read).sorted(
        name,
        |a, b| a.name.cmp(&b.name),
        |region| region.name.to_string(),
    )
}

/// Reads `quota_families.csv`.
pub(in crate::catalog) fn quota_families(
    name: &str,
    text: &str,
    sources: &Sources,
) -> Table<QuotaFamily> {
    const COLUMNS: &[&str] = &[
        "family",
        "usage_name",
        "localized_name",
        "confirmed",
        "source",
        "as_of",
    ];
    let mut citations = Citations::new(sources);
    let read = |fields: &mut Fields<'_>| {
        Ok(QuotaFamily {
            family: CaseInsensitive::new(fields.required()?),
            usage_name: CaseInsensitive::new(fields.required()?),
            localized_name: fields.optional().map(str::to_owned),
            confirmed: fields.yes_or_no()?,
            source: citations.source(fields)?,
            as_of: citations.day(fields)?,
        })
    };
    read_table(name, text, COLUMNS, read).sorted(
        name,
        |a, b| a.family.cmp(&b.family),
        |family| family.family.to_string(),
    )
}

/// Reads `article.csv`.
pub(in crate::catalog) fn article(name: &str, text: &str, sources: &Sources) -> Table<ArticleRow> {
    const COLUMNS: &[&str] = &[
        "number", "section", "item", "kind", "says", "source", "as_of",
    ];
    let mut citations = Citations::new(sources);
    let read = |fields: &mut Fields<'_>| {
        Ok(ArticleRow {
            number: fields.number()?,
            section: fields.required()?.to_owned(),
            item: fields.required()?.to_owned(),
            kind: fields.required()?.to_owned(),
            says: fields.required()?.to_owned(),
            source: citations.source(fields)?,
            as_of: citations.day(fields)?,
        })
    };
    read_table(name, text, COLUMNS, read).sorted(
        name,
        |a, b| a.number.cmp(&b.number),
        |row| row.number.to_string(),
    )
}
