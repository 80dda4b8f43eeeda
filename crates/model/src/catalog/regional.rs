//! Tables of one region each, with what the cache has of them, parsed when first asked for.

use std::sync::OnceLock;

use super::{
    cache::{Join, Shape},
    load::Catalog,
    read,
    rows::{Commitment, ItemPrice, Offer, VmPrice},
    table::Table,
};
use crate::units::{Region, SizeName};

impl Catalog {
    pub(super) fn offer_table<'a>(
        &'a self,
        region: &Region,
        cell: &'a OnceLock<Table<Offer>>,
    ) -> &'a Table<Offer> {
        cell.get_or_init(|| {
            self.regional_table(
                &format!("offers/{region}.csv"),
                &Shape {
                    read: read::regional::offers,
                    compare: |a, b| a.size.cmp(&b.size),
                    day: |row| &row.as_of,
                    join: Join::Whole,
                },
            )
        })
    }

    pub(super) fn vm_price_table<'a>(
        &'a self,
        region: &Region,
        cell: &'a OnceLock<Table<(SizeName, VmPrice)>>,
    ) -> &'a Table<(SizeName, VmPrice)> {
        cell.get_or_init(|| {
            self.regional_table(
                &format!("prices/vm/{region}.csv"),
                &Shape {
                    read: read::regional::vm_prices,
                    compare: |(a, _), (b, _)| a.cmp(b),
                    day: |(_, row)| &row.as_of,
                    join: Join::Rows,
                },
            )
        })
    }

    pub(super) fn commitment_table<'a>(
        &'a self,
        region: &Region,
        cell: &'a OnceLock<Table<Commitment>>,
    ) -> &'a Table<Commitment> {
        cell.get_or_init(|| {
            self.regional_table(
                &format!("prices/commitments/{region}.csv"),
                &Shape {
                    read: read::regional::commitments,
                    compare: |a, b| (&a.size, a.plan, a.years).cmp(&(&b.size, b.plan, b.years)),
                    day: |row| &row.as_of,
                    join: Join::Whole,
                },
            )
        })
    }

    pub(super) fn item_price_table<'a>(
        &'a self,
        region: &Region,
        cell: &'a OnceLock<Table<ItemPrice>>,
    ) -> &'a Table<ItemPrice> {
        cell.get_or_init(|| {
            self.regional_table(
                &format!("prices/items/{region}.csv"),
                &Shape {
                    read: read::regional::item_prices,
                    compare: |a, b| a.item.cmp(&b.item),
                    day: |row| &row.as_of,
                    join: Join::Rows,
                },
            )
        })
    }
}
