//! What one region offers, and what it costs there: lists with a lookup by size.

use super::rows::{Offer, VmPrice};
use crate::units::SizeName;

/// The sizes that a region offers, sorted by name.
#[derive(Clone, Copy, Debug)]
pub struct RegionOffers<'a>(pub(super) &'a [Offer]);

impl<'a> RegionOffers<'a> {
    /// The offer of one size.
    pub fn get(self, size: &SizeName) -> Option<&'a Offer> {
        find(self.0, |offer| offer.size.cmp(size))
    }

    /// All offers, by name of the size.
    pub fn iter(self) -> impl Iterator<Item = &'a Offer> {
        self.0.iter()
    }

    /// How many sizes it offers.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether it offers nothing.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

/// The prices of sizes in a region, sorted by name of the size.
#[derive(Clone, Copy, Debug)]
pub struct VmPrices<'a>(pub(super) &'a [(SizeName, VmPrice)]);

impl<'a> VmPrices<'a> {
    /// The prices of one size.
    pub fn get(self, size: &SizeName) -> Option<&'a VmPrice> {
        find(self.0, |(name, _)| name.cmp(size)).map(|(_, price)| price)
    }

    /// All prices, by name of the size.
    pub fn iter(self) -> impl Iterator<Item = (&'a SizeName, &'a VmPrice)> {
        self.0.iter().map(|(size, price)| (size, price))
    }

    /// How many sizes have a price.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Whether no size has a price.
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

/// The row of a sorted list that `compare` calls equal.
pub(super) fn find<T>(rows: &[T], compare: impl FnMut(&T) -> std::cmp::Ordering) -> Option<&T> {
    rows.binary_search_by(compare)
        .ok()
        .and_then(|position| rows.get(position))
}
