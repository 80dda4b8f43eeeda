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

mod acceptance;

mod regional;

mod lone;

mod unit_price;

mod parts;

mod info;

mod retail;

mod changes;

mod cache;

mod embedded;

mod temporary_disk;

mod local_storage;

#[cfg(test)]
mod tests;

pub use self::{
    acceptance::Acceptance,
    cache::{CacheReader, INDEX, index_of},
    changes::{Direction, ItemChange, NOT_LISTED, PriceChange},
    lists::{RegionOffers, VmPrices},
    load::{Catalog, EVERYWHERE},
    local_storage::EphemeralRoom,
    parts::CatalogParts,
    retail::{
        CURRENCY, LeftOut, MACHINES, Meter, PRODUCTS, PRODUCTS_EVERYWHERE, PriceColumn,
        RetailError, RetailItems, RetailPrices, SOURCE, meter_of,
    },
    rows::*,
    table::TableError,
    temporary_disk::TemporaryDisk,
    unit_price::UnitPrices,
};
