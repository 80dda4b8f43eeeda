//! Catalogues from rows: small ones for tests, and changed ones.

use std::{collections::BTreeMap, sync::OnceLock};

use super::{
    acceptance::Acceptance,
    load::Catalog,
    rows::{
        ArticleRow, Commitment, Gpu, ImageFamily, ImageFit, ImageRow, ItemPrice, KnownModel, Offer,
        QuotaFamily, RegionRow, Size, VmPrice,
    },
    table::Table,
};
use crate::{
    digest,
    units::{Region, SizeName},
};

/// The rows of a catalogue. Order does not matter, except for images: the first is preferred.
/// Of rows that say of one thing twice the first one counts.
#[derive(Clone, Debug, Default)]
pub struct CatalogParts {
    /// Sizes.
    pub sizes: Vec<Size>,
    /// GPUs.
    pub gpus: Vec<Gpu>,
    /// Known models.
    pub models: Vec<KnownModel>,
    /// Regions.
    pub regions: Vec<RegionRow>,
    /// What each region offers; a region that is missing here is one of which it is not known.
    pub offers: BTreeMap<Region, Vec<Offer>>,
    /// Prices of sizes.
    pub vm_prices: BTreeMap<Region, Vec<(SizeName, VmPrice)>>,
    /// Prices of commitments.
    pub commitments: BTreeMap<Region, Vec<Commitment>>,
    /// Prices of items in their regions.
    pub item_prices: BTreeMap<Region, Vec<ItemPrice>>,
    /// Prices of items wherever a region has none of its own.
    pub item_prices_everywhere: Vec<ItemPrice>,
    /// Images.
    pub images: Vec<ImageRow>,
    /// Cells of the compatibility matrix.
    pub image_fits: Vec<ImageFit>,
    /// Rows of the compatibility matrix.
    pub image_families: Vec<ImageFamily>,
    /// Quota counters.
    pub quota_families: Vec<QuotaFamily>,
    /// Rows of the article.
    pub article: Vec<ArticleRow>,
    /// What nodes must show.
    pub acceptances: Vec<Acceptance>,
}

impl Catalog {
    /// A catalogue of these rows; its digest is over their printed form.
    pub fn of(parts: CatalogParts) -> Self {
        let digest = digest::of_text(&format!("{parts:?}"));
        let CatalogParts {
            sizes,
            gpus,
            models,
            regions,
            offers,
            vm_prices,
            commitments,
            mut item_prices,
            item_prices_everywhere,
            images,
            image_fits,
            image_families,
            quota_families,
            article,
            acceptances,
        } = parts;
        if !item_prices_everywhere.is_empty() {
            item_prices.insert(Region::new(super::load::EVERYWHERE), item_prices_everywhere);
        }
        Self {
            digest: filled(digest),
            sizes: sorted(sizes, |row| row.name.clone()),
            gpus: sorted(gpus, |row| row.name.clone()),
            models: sorted(models, |row| row.name.clone()),
            regions: sorted(regions, |row| row.name.clone()),
            images: filled(table(images)),
            image_fits: sorted(image_fits, |row| (row.family.clone(), row.column.clone())),
            image_families: sorted(image_families, |row| row.name.clone()),
            quota_families: sorted(quota_families, |row| row.family.clone()),
            article: sorted(article, |row| row.number),
            acceptance: sorted(acceptances, |row| row.size.clone()),
            offers: by_region(offers, |row| row.size.clone()),
            vm_prices: by_region(vm_prices, |(size, _)| size.clone()),
            commitments: by_region(commitments, |row| (row.size.clone(), row.plan, row.years)),
            item_prices: by_region(item_prices, |row| row.item.clone()),
            ..Self::default()
        }
    }
}

fn by_region<T, K: Ord>(
    regions: BTreeMap<Region, Vec<T>>,
    key: impl Fn(&T) -> K,
) -> BTreeMap<Region, OnceLock<Table<T>>> {
    regions
        .into_iter()
        .map(|(region, rows)| (region, sorted(rows, &key)))
        .collect()
}

fn sorted<T, K: Ord>(mut rows: Vec<T>, key: impl Fn(&T) -> K) -> OnceLock<Table<T>> {
    rows.sort_by_key(&key);
    rows.dedup_by(|row, kept| key(row) == key(kept));
    filled(table(rows))
}

fn table<T>(rows: Vec<T>) -> Table<T> {
    Table {
        rows,
        errors: Vec::new(),
    }
}

fn filled<T>(value: T) -> OnceLock<T> {
    OnceLock::from(value)
}
