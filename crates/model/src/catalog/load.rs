//! The catalogue itself: tables by name, each parsed when first asked for.

use std::{borrow::Cow, collections::BTreeMap, fmt, sync::OnceLock};

use super::{
    acceptance::Acceptance,
    cache::Cache,
    embedded,
    info::{self, Info},
    lists::{RegionOffers, VmPrices, find},
    read,
    rows::{
        ArticleRow, Commitment, CommitmentPlan, Gpu, ImageFamily, ImageFit, ImageRow, ItemPrice,
        KnownModel, Offer, QuotaFamily, RegionRow, Size, TableInfo, VmPrice,
    },
    sources::Sources,
    table::{Table, TableError, quoted},
};
use crate::{
    digest,
    units::{CaseInsensitive, Region, SizeName},
};

/// The name of the table of prices that hold wherever a region has none of its own; the API calls
/// it `Global`.
pub const EVERYWHERE: &str = "global";

/// What Azure offers, from dated tables.
#[derive(Clone, Default)]
pub struct Catalog {
    pub(super) texts: BTreeMap<String, Cow<'static, str>>,
    pub(super) cache: Option<Cache>,
    pub(super) digest: OnceLock<String>,
    pub(super) info: OnceLock<Info>,
    pub(super) sources: OnceLock<(Sources, Table<()>)>,
    pub(super) sizes: OnceLock<Table<Size>>,
    pub(super) gpus: OnceLock<Table<Gpu>>,
    pub(super) models: OnceLock<Table<KnownModel>>,
    pub(super) regions: OnceLock<Table<RegionRow>>,
    pub(super) images: OnceLock<Table<ImageRow>>,
    pub(super) image_fits: OnceLock<Table<ImageFit>>,
    pub(super) image_families: OnceLock<Table<ImageFamily>>,
    pub(super) quota_families: OnceLock<Table<QuotaFamily>>,
    pub(super) article: OnceLock<Table<ArticleRow>>,
    pub(super) acceptance: OnceLock<Table<Acceptance>>,
    pub(super) offers: BTreeMap<Region, OnceLock<Table<Offer>>>,
    pub(super) vm_prices: BTreeMap<Region, OnceLock<Table<(SizeName, VmPrice)>>>,
    pub(super) commitments: BTreeMap<Region, OnceLock<Table<Commitment>>>,
    pub(super) item_prices: BTreeMap<Region, OnceLock<Table<ItemPrice>>>,
}

impl Catalog {
    /// The catalogue that the binary embeds.
    pub fn embedded() -> &'static Self {
        static EMBEDDED: OnceLock<Catalog> = OnceLock::new();
        EMBEDDED.get_or_init(|| {
            let catalog = Self::of_texts(Self::embedded_texts());
            if let Some(digest) = info::digest_of_all(embedded::DIGEST) {
                catalog.digest.get_or_init(|| digest.to_owned());
            }
            catalog
        })
    }

    /// The embedded catalogue without its prices, which are those of the public cloud.
    pub fn unpriced() -> &'static Self {
        static UNPRICED: OnceLock<Catalog> = OnceLock::new();
        UNPRICED.get_or_init(|| {
            let catalog = Self::of_texts(Self::unpriced_texts());
            let digest = digest::of_text(&format!("unpriced\n{}", embedded::DIGEST));
            catalog.digest.get_or_init(|| digest);
            catalog
        })
    }

    pub(super) fn unpriced_texts() -> BTreeMap<String, Cow<'static, str>> {
        let is_price = |name: &str| name.starts_with("prices");
        let mut texts = Self::embedded_texts();
        texts.retain(|name, _| !is_price(name));
        if let Some(info) = texts.get_mut(info::TABLE) {
            let lines = info.split_inclusive('\n');
            let kept: String = lines.filter(|line| !is_price(line)).collect();
            *info = Cow::Owned(kept);
        }
        texts
    }

    pub(super) fn embedded_texts() -> BTreeMap<String, Cow<'static, str>> {
        embedded::TABLES
            .iter()
            .map(|(name, text)| ((*name).to_owned(), Cow::Borrowed(*text)))
            .collect()
    }

    /// A catalogue of other tables, by their names, and what is wrong with them.
    ///
    /// Tables that are not given are empty; rows with errors are left out.
    pub fn from_tables(
        tables: impl IntoIterator<Item = (String, String)>,
    ) -> (Self, Vec<TableError>) {
        let texts = tables
            .into_iter()
            .map(|(name, text)| (name, Cow::Owned(text)))
            .collect();
        let catalog = Self::of_texts(texts);
        let errors = catalog.errors();
        (catalog, errors)
    }

    pub(super) fn of_texts(texts: BTreeMap<String, Cow<'static, str>>) -> Self {
        let mut catalog = Self::default();
        for name in texts.keys() {
            if let Some(region) = regional(name, "offers/") {
                catalog.offers.insert(region, OnceLock::new());
            } else if let Some(region) = regional(name, "prices/vm/") {
                catalog.vm_prices.insert(region, OnceLock::new());
            } else if let Some(region) = regional(name, "prices/commitments/") {
                catalog.commitments.insert(region, OnceLock::new());
            } else if let Some(region) = regional(name, "prices/items/") {
                catalog.item_prices.insert(region, OnceLock::new());
            }
        }
        catalog.texts = texts;
        catalog
    }

    /// All sizes, by name.
    pub fn sizes(&self) -> &[Size] {
        &self.size_table().rows
    }

    /// One size, whatever the case of its name.
    pub fn size(&self, name: &SizeName) -> Option<&Size> {
        find(self.sizes(), |size| size.name.cmp(name))
    }

    /// The GPUs whose figures are known, by name.
    pub fn gpus(&self) -> &[Gpu] {
        &self.gpu_table().rows
    }

    /// One GPU by its exact name.
    pub fn gpu(&self, name: &str) -> Option<&Gpu> {
        find(self.gpus(), |gpu| gpu.name.as_str().cmp(name))
    }

    /// The models that are known by name, by that name.
    pub fn models(&self) -> &[KnownModel] {
        &self.model_table().rows
    }

    /// One known model by its name, or by its repository, whatever the case.
    pub fn model(&self, name: &str) -> Option<&KnownModel> {
        let lower = name.to_lowercase();
        find(self.models(), |model| model.name.as_str().cmp(&lower)).or_else(|| {
            let mut models = self.models().iter();
            models.find(|model| model.repository.eq_ignore_ascii_case(name))
        })
    }

    /// All regions, by name.
    pub fn regions(&self) -> &[RegionRow] {
        &self.region_table().rows
    }

    /// One region.
    pub fn region(&self, name: &Region) -> Option<&RegionRow> {
        find(self.regions(), |region| region.name.cmp(name))
    }

    /// What a region offers; `None` where that is not known.
    pub fn offers(&self, region: &Region) -> Option<RegionOffers<'_>> {
        let (region, cell) = self.offers.get_key_value(region)?;
        Some(RegionOffers(&self.offer_table(region, cell).rows))
    }

    /// The prices of sizes in a region; `None` where none is known.
    pub fn vm_prices(&self, region: &Region) -> Option<VmPrices<'_>> {
        let (region, cell) = self.vm_prices.get_key_value(region)?;
        Some(VmPrices(&self.vm_price_table(region, cell).rows))
    }

    /// The prices of one size in a region.
    pub fn vm_price(&self, region: &Region, size: &SizeName) -> Option<&VmPrice> {
        self.vm_prices(region)?.get(size)
    }

    /// What a region costs those who commit themselves; `None` where nothing is known.
    pub fn commitments(&self, region: &Region) -> Option<&[Commitment]> {
        let (region, cell) = self.commitments.get_key_value(region)?;
        Some(&self.commitment_table(region, cell).rows)
    }

    /// The price of one commitment.
    pub fn commitment(
        &self,
        region: &Region,
        size: &SizeName,
        plan: CommitmentPlan,
        years: u32,
    ) -> Option<&Commitment> {
        find(self.commitments(region)?, |row| {
            (&row.size, row.plan, row.years).cmp(&(size, plan, years))
        })
    }

    /// A region's own prices of disk tiers and network items, by item.
    pub fn item_prices(&self, region: &Region) -> Option<&[ItemPrice]> {
        let (region, cell) = self.item_prices.get_key_value(region)?;
        Some(&self.item_price_table(region, cell).rows)
    }

    /// The regions with prices of disk tiers and network items of their own, and the one that
    /// stands for all.
    pub(crate) fn regions_with_item_prices(&self) -> impl Iterator<Item = &Region> {
        self.item_prices.keys()
    }

    /// The price of a disk tier or a network item: the region's own, else the one that holds
    /// everywhere.
    pub fn item_price(&self, region: &Region, item: &str) -> Option<&ItemPrice> {
        let of_region = |region: &Region| {
            find(self.item_prices(region)?, |price| {
                price.item.as_str().cmp(item)
            })
        };
        of_region(region).or_else(|| of_region(&Region::new(EVERYWHERE)))
    }

    /// The images that the tool knows; of one kind and column the first one is preferred.
    pub fn images(&self) -> &[ImageRow] {
        &self.image_table().rows
    }

    /// Whether an image runs on a family of sizes: row and column of the matrix.
    pub fn image_fit(&self, family: &str, column: &str) -> Option<&ImageFit> {
        find(&self.image_fit_table().rows, |fit| {
            (fit.family.as_str(), fit.column.as_str()).cmp(&(family, column))
        })
    }

    /// All cells of the matrix, by family and column.
    pub fn image_fits(&self) -> &[ImageFit] {
        &self.image_fit_table().rows
    }

    /// The families of sizes that image rules treat alike, by name.
    pub fn image_families(&self) -> &[ImageFamily] {
        &self.image_family_table().rows
    }

    /// One of these families.
    pub fn image_family(&self, name: &str) -> Option<&ImageFamily> {
        find(self.image_families(), |family| {
            family.name.as_str().cmp(name)
        })
    }

    /// The quota counters of families of sizes, by family.
    pub fn quota_families(&self) -> &[QuotaFamily] {
        &self.quota_family_table().rows
    }

    /// The quota counter of one family.
    pub fn quota_family(&self, family: &CaseInsensitive) -> Option<&QuotaFamily> {
        find(self.quota_families(), |row| row.family.cmp(family))
    }

    /// The rows of the article, by number.
    pub fn article(&self) -> &[ArticleRow] {
        &self.article_table().rows
    }

    /// One row of the article: 4 for `A4`.
    pub fn article_row(&self, number: u32) -> Option<&ArticleRow> {
        find(self.article(), |row| row.number.cmp(&number))
    }

    /// What each table holds and where it is from. Does not parse the embedded ones.
    pub fn info(&self) -> &[TableInfo] {
        &self.index().tables
    }

    /// The day that most prices of sizes are of, or that of the last refresh; `unknown` without
    /// prices.
    pub fn prices_as_of(&self) -> &str {
        let usual = self.index().usual_day("prices/vm");
        let refreshed = self.cache.as_ref().and_then(|cache| cache.newest("RETAIL"));
        refreshed.map_or(usual, |day| day.max(usual))
    }

    /// The day that most sizes are of; `unknown` without sizes.
    pub fn skus_as_of(&self) -> &str {
        self.index().usual_day("sizes")
    }

    /// The digest over all tables.
    pub fn digest(&self) -> &str {
        self.digest
            .get_or_init(|| info::digest_of_texts(&self.texts))
    }

    /// What is wrong with any table; parses all of them.
    pub fn errors(&self) -> Vec<TableError> {
        let mut errors = Vec::new();
        errors.extend(self.sources().1.errors.iter().cloned());
        errors.extend(self.size_table().errors.iter().cloned());
        errors.extend(self.gpu_table().errors.iter().cloned());
        errors.extend(self.model_table().errors.iter().cloned());
        errors.extend(self.region_table().errors.iter().cloned());
        errors.extend(self.image_table().errors.iter().cloned());
        errors.extend(self.image_fit_table().errors.iter().cloned());
        errors.extend(self.image_family_table().errors.iter().cloned());
        errors.extend(self.quota_family_table().errors.iter().cloned());
        errors.extend(self.article_table().errors.iter().cloned());
        errors.extend(self.acceptance_table().errors.iter().cloned());
        for (region, cell) in &self.offers {
            errors.extend(self.offer_table(region, cell).errors.iter().cloned());
        }
        for (region, cell) in &self.vm_prices {
            errors.extend(self.vm_price_table(region, cell).errors.iter().cloned());
        }
        for (region, cell) in &self.commitments {
            errors.extend(self.commitment_table(region, cell).errors.iter().cloned());
        }
        for (region, cell) in &self.item_prices {
            errors.extend(self.item_price_table(region, cell).errors.iter().cloned());
        }
        errors.extend(self.index().errors.iter().cloned());
        errors.extend(
            self.texts
                .keys()
                .filter(|name| !is_known(name))
                .map(|name| unknown(name)),
        );
        errors
    }

    pub(super) fn sources(&self) -> &(Sources, Table<()>) {
        self.sources
            .get_or_init(|| match self.texts.get("sources.csv") {
                Some(text) => Sources::read("sources.csv", text),
                None => Default::default(),
            })
    }

    fn index(&self) -> &Info {
        self.info.get_or_init(|| match self.texts.get(info::TABLE) {
            Some(text) => info::read(text),
            None => info::of_rows(self),
        })
    }

    pub(super) fn table<T>(
        &self,
        name: &str,
        read: fn(&str, &str, &Sources) -> Table<T>,
    ) -> Table<T> {
        match self.texts.get(name) {
            Some(text) => read(name, text, &self.sources().0),
            None => Table::default(),
        }
    }

    fn size_table(&self) -> &Table<Size> {
        self.sizes
            .get_or_init(|| self.table("sizes.csv", read::sizes::sizes))
    }

    fn gpu_table(&self) -> &Table<Gpu> {
        self.gpus
            .get_or_init(|| self.table("gpus.csv", read::sizes::gpus))
    }

    fn model_table(&self) -> &Table<KnownModel> {
        self.models
            .get_or_init(|| self.table("models.csv", read::models::models))
    }

    fn region_table(&self) -> &Table<RegionRow> {
        self.regions
            .get_or_init(|| self.table("regions.csv", read::reference::regions))
    }

    fn image_table(&self) -> &Table<ImageRow> {
        self.images
            .get_or_init(|| self.table("images.csv", read::images::images))
    }

    fn image_fit_table(&self) -> &Table<ImageFit> {
        self.image_fits
            .get_or_init(|| self.table("image_fit.csv", read::images::image_fits))
    }

    fn image_family_table(&self) -> &Table<ImageFamily> {
        self.image_families
            .get_or_init(|| self.table("image_families.csv", read::images::image_families))
    }

    fn quota_family_table(&self) -> &Table<QuotaFamily> {
        self.quota_families
            .get_or_init(|| self.table("quota_families.csv", read::reference::quota_families))
    }

    fn article_table(&self) -> &Table<ArticleRow> {
        self.article
            .get_or_init(|| self.table("article.csv", read::reference::article))
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog")
            .field("digest", &self.digest())
            .finish_non_exhaustive()
    }
}

/// The region of a table below `folder`; its name must be the short form already.
fn regional(name: &str, folder: &str) -> Option<Region> {
    let short = name.strip_prefix(folder)?.strip_suffix(".csv")?;
    let region = Region::new(short);
    (region.as_str() == short && !short.is_empty()).then_some(region)
}

pub(super) fn is_regional(name: &str) -> bool {
    [
        "offers/",
        "prices/vm/",
        "prices/commitments/",
        "prices/items/",
    ]
    .iter()
    .any(|folder| regional(name, folder).is_some())
}

fn is_known(name: &str) -> bool {
    const SINGLE: &[&str] = &[
        "acceptance.csv",
        "article.csv",
        "gpus.csv",
        "image_families.csv",
        "image_fit.csv",
        "images.csv",
        info::TABLE,
        "models.csv",
        "quota_families.csv",
        "regions.csv",
        "sizes.csv",
        "sources.csv",
    ];
    SINGLE.contains(&name) || is_regional(name)
}

fn unknown(name: &str) -> TableError {
    TableError {
        table: name.to_owned(),
        line: 1,
        expected: "the name of a table of the catalogue".to_owned(),
        found: quoted(name),
    }
}
