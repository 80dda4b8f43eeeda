//! The catalogue: what Azure offers, from dated tables that the binary embeds.
//!
//! Tables are parsed when first asked for, so that a run pays only for what it uses.
//! What belongs to one subscription (restrictions, quota) is never in here.

pub mod rows;

mod table;

mod sources;

mod read;

mod lists;

mod load;

mod parts;

mod overlay;

mod info;

mod embedded;

#[cfg(test)]
mod tests;

pub use self::{
    lists::{RegionOffers, VmPrices},
    load::Catalog,
    overlay::PriceRows,
    parts::CatalogParts,
    rows::*,
    table::TableError,
};
