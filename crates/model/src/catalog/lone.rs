//! Single rows of regional tables, without reading the tables as a whole.
//!
//! Who looks at one size in all regions would read a hundred thousand rows for a few. A table
//! that was read already, or that a cache lies over, is asked as usual.

use std::{borrow::Cow, sync::OnceLock};

use super::{
    load::Catalog,
    read,
    rows::{Offer, VmPrice},
    sources::Sources,
    table::Table,
};
use crate::units::{Region, SizeName};

/// The tier that names of sizes lack in regional tables.
const TIER: &str = "Standard_";

impl Catalog {
    /// Whether it is known what a region offers.
    pub fn knows_offers(&self, region: &Region) -> bool {
        self.offers.contains_key(region)
    }

    /// The offer of one size in a region.
    pub fn offer(&self, region: &Region, size: &SizeName) -> Option<Cow<'_, Offer>> {
        let cell = self.offers.get(region)?;
        if self.must_read(cell) {
            return self.offers(region)?.get(size).map(Cow::Borrowed);
        }
        let name = format!("offers/{region}.csv");
        let table = self.lone(&name, size, read::regional::offers);
        table.rows.into_iter().next().map(Cow::Owned)
    }

    /// The prices of one size in a region, as [`Self::vm_price`] gives them.
    pub fn vm_price_row(&self, region: &Region, size: &SizeName) -> Option<Cow<'_, VmPrice>> {
        let cell = self.vm_prices.get(region)?;
        if self.must_read(cell) {
            return self.vm_price(region, size).map(Cow::Borrowed);
        }
        let name = format!("prices/vm/{region}.csv");
        let table = self.lone(&name, size, read::regional::vm_prices);
        let first = table.rows.into_iter().next();
        first.map(|(_, price)| Cow::Owned(price))
    }

    fn must_read<T>(&self, cell: &OnceLock<T>) -> bool {
        cell.get().is_some() || self.cache.is_some()
    }

    /// The table of the lines about one size.
    fn lone<T>(
        &self,
        name: &str,
        size: &SizeName,
        read: fn(&str, &str, &Sources) -> Table<T>,
    ) -> Table<T> {
        let Some(text) = self.texts.get(name) else {
            return Table::default();
        };
        let mut lines = text.split_inclusive('\n');
        let mut alone = lines.next().unwrap_or_default().to_owned();
        let short = without_tier(size.as_str());
        for line in lines.filter(|line| is_about(line, short)) {
            alone.push_str(line);
        }
        read(name, &alone, &self.sources().0)
    }
}

fn without_tier(name: &str) -> &str {
    match name.split_at_checked(TIER.len()) {
        Some((tier, short)) if tier.eq_ignore_ascii_case(TIER) => short,
        Some(_) | None => name,
    }
}

fn is_about(line: &str, short: &str) -> bool {
    line.split_at_checked(short.len())
        .is_some_and(|(name, rest)| rest.starts_with(',') && name.eq_ignore_ascii_case(short))
}
