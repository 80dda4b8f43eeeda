//! Price rows above those of a catalogue: fresher ones, which somebody has fetched.

use std::{collections::BTreeMap, sync::OnceLock};

use super::{
    load::Catalog,
    rows::{Commitment, ItemPrice, VmPrice},
    table::Table,
};
use crate::{
    digest,
    units::{Region, SizeName},
};

/// Price rows by region; items that hold everywhere are those of the region `global`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceRows {
    /// Prices of sizes.
    pub sizes: BTreeMap<Region, Vec<(SizeName, VmPrice)>>,
    /// Prices of commitments.
    pub commitments: BTreeMap<Region, Vec<Commitment>>,
    /// Prices of disk tiers and network items.
    pub items: BTreeMap<Region, Vec<ItemPrice>>,
}

impl Catalog {
    /// This catalogue with other price rows above its own: of two rows for one thing the one of
    /// the newer day counts, and of two of one day the other one. Its digest is another one.
    ///
    /// The facts about tables stay those of this catalogue: each row says its own day.
    pub fn with_prices(&self, rows: PriceRows) -> Self {
        let mut catalog = self.clone();
        let changed = digest::of_text(&format!("{} {rows:?}", self.digest()));
        catalog.digest = OnceLock::from(changed);
        for (region, new) in rows.sizes {
            let own = self.vm_price_rows(&region).to_vec();
            let all = merged(own, new, |row| row.0.clone(), |row| &row.1.as_of);
            catalog.vm_prices.insert(region, all);
        }
        for (region, new) in rows.commitments {
            let own = self.commitments(&region).unwrap_or_default().to_vec();
            let key = |row: &Commitment| (row.size.clone(), row.plan, row.years);
            let all = merged(own, new, key, |row| &row.as_of);
            catalog.commitments.insert(region, all);
        }
        for (region, new) in rows.items {
            let own = self.item_prices(&region).unwrap_or_default().to_vec();
            let all = merged(own, new, |row| row.item.clone(), |row| &row.as_of);
            catalog.item_prices.insert(region, all);
        }
        catalog
    }
}

fn merged<T, K: Ord>(
    own: Vec<T>,
    new: Vec<T>,
    key: impl Fn(&T) -> K,
    day: impl Fn(&T) -> &str,
) -> OnceLock<Table<T>> {
    let mut rows: BTreeMap<K, T> = own.into_iter().map(|row| (key(&row), row)).collect();
    for row in new {
        let key = key(&row);
        let is_older = rows
            .get(&key)
            .is_some_and(|own| last_day(day(own)) > last_day(day(&row)));
        if !is_older {
            rows.insert(key, row);
        }
    }
    OnceLock::from(Table {
        rows: rows.into_values().collect(),
        errors: Vec::new(),
    })
}

/// The last day of a span such as `2024-07/2026-08`.
fn last_day(day: &str) -> &str {
    day.rsplit('/').next().unwrap_or(day)
}
