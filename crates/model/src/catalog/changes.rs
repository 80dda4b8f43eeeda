//! What a new list of prices changes.

use rust_decimal::Decimal;

use super::{
    lists::VmPrices,
    retail::{PriceColumn, RetailPrices},
    rows::VmPrice,
};
use crate::units::SizeName;

/// The flag of a size that a price list has no more.
pub const NOT_LISTED: &str = "not_listed";

/// One price that is not what it was; unknown on one side, or different.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceChange {
    /// The size.
    pub size: SizeName,
    /// Which of its prices.
    pub column: PriceColumn,
    /// What it was.
    pub before: Option<Decimal>,
    /// What it is.
    pub after: Option<Decimal>,
}

/// Which way a price went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It rose.
    Dearer,
    /// It fell.
    Cheaper,
    /// It was not known.
    New,
    /// It is not known any more.
    Gone,
}

impl PriceChange {
    /// Which way it went.
    pub fn direction(&self) -> Direction {
        match (self.before, self.after) {
            (None, _) => Direction::New,
            (_, None) => Direction::Gone,
            (Some(before), Some(after)) if after < before => Direction::Cheaper,
            (Some(_), Some(_)) => Direction::Dearer,
        }
    }

    /// How far it is from what it was, where both are known: 2 for twice and for half as much.
    pub fn distance(&self) -> Option<Decimal> {
        let (before, after) = (self.before?, self.after?);
        before.max(after).checked_div(before.min(after))
    }

    /// Before and after as they are written in tables.
    pub fn texts(&self) -> [Option<String>; 2] {
        [self.before, self.after].map(|price| price.map(|price| price.normalize().to_string()))
    }
}

impl RetailPrices {
    /// The rows of a table as if they had just been read.
    pub fn of_rows(rows: Option<VmPrices<'_>>) -> Self {
        let rows = rows.into_iter().flat_map(VmPrices::iter);
        Self {
            rows: rows
                .map(|(size, row)| (size.clone(), row.clone()))
                .collect(),
            ..Self::default()
        }
    }

    /// What differs from the prices that were known, by size.
    pub fn changes(&self, known: Option<VmPrices<'_>>) -> Vec<PriceChange> {
        let mut changes = Vec::new();
        let before = |size: &SizeName| known.and_then(|known| known.get(size));
        for (size, row) in &self.rows {
            differences(size, before(size), Some(row), &mut changes);
        }
        let gone = known.into_iter().flat_map(VmPrices::iter);
        for (size, row) in gone.filter(|(size, _)| !self.rows.contains_key(*size)) {
            differences(size, Some(row), None, &mut changes);
        }
        changes.sort_by(|a, b| (&a.size, a.column).cmp(&(&b.size, b.column)));
        changes
    }

    /// Enters the sizes that are listed no more, without any price: what was known of them does
    /// not hold today.
    pub fn close(&mut self, known: Option<VmPrices<'_>>, day: &str) {
        for (size, _) in known.into_iter().flat_map(VmPrices::iter) {
            self.rows.entry(size.clone()).or_insert_with(|| VmPrice {
                flags: vec![NOT_LISTED.to_owned()],
                ..super::retail::empty(day)
            });
        }
    }
}

fn differences(
    size: &SizeName,
    before: Option<&VmPrice>,
    after: Option<&VmPrice>,
    changes: &mut Vec<PriceChange>,
) {
    for column in PriceColumn::ALL {
        let price = |row: Option<&VmPrice>| row.and_then(|row| column.of(row));
        let (before, after) = (price(before), price(after));
        if before != after {
            changes.push(PriceChange {
                size: size.clone(),
                column,
                before,
                after,
            });
        }
    }
}
