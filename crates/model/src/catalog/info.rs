//! What the tables hold and where it is from, and the digests over them.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    cache::index_of,
    lists::{RegionOffers, VmPrices},
    load::Catalog,
    rows::TableInfo,
    table::{TableError, read_table},
};

/// The index over the tables.
pub(super) const TABLE: &str = "info.csv";

/// Facts about all tables, known without parsing them.
#[derive(Clone, Debug, Default)]
pub(super) struct Info {
    pub(super) tables: Vec<TableInfo>,
    pub(super) errors: Vec<TableError>,
}

impl Info {
    /// The day that most rows of a table are of.
    pub(super) fn usual_day(&self, table: &str) -> &str {
        self.tables
            .iter()
            .find(|info| info.name == table)
            .map_or("unknown", |info| info.usual_day.as_str())
    }
}

/// Reads `info.csv`.
pub(super) fn read(text: &str) -> Info {
    const COLUMNS: &[&str] = &["table", "rows", "oldest", "newest", "usual", "sources"];
    let table = read_table(TABLE, text, COLUMNS, |fields| {
        Ok(TableInfo {
            name: fields.required()?.to_owned(),
            rows: fields.number()?,
            oldest: fields.day()?.to_owned(),
            as_of: fields.day()?.to_owned(),
            usual_day: fields.day()?.to_owned(),
            sources: fields.required()?.split("; ").map(str::to_owned).collect(),
        })
    })
    .unnumbered();
    Info {
        tables: table.rows,
        errors: table.errors,
    }
}

/// The same facts, counted from the rows; tables without rows are left out.
pub(super) fn of_rows(catalog: &Catalog) -> Info {
    macro_rules! cited {
        ($rows:expr) => {
            $rows.map(|row| (&*row.source, &*row.as_of))
        };
    }
    let offers = catalog.offers.keys();
    let offers = offers.filter_map(|region| catalog.offers(region));
    let items = catalog.item_prices.keys();
    let items = items.filter_map(|region| catalog.item_prices(region));
    let commitments = catalog.commitments.keys();
    let commitments = commitments.filter_map(|region| catalog.commitments(region));
    let prices = catalog.vm_prices.keys();
    let prices = prices.filter_map(|region| catalog.vm_prices(region));
    let prices = prices.flat_map(VmPrices::iter).map(|(_, price)| price);
    let tables = [
        count("acceptance", cited!(catalog.acceptances().iter())),
        count("article", cited!(catalog.article().iter())),
        count("gpus", cited!(catalog.gpus().iter())),
        count("image_families", cited!(catalog.image_families().iter())),
        count("image_fit", cited!(catalog.image_fits().iter())),
        count("images", cited!(catalog.images().iter())),
        count("models", cited!(catalog.models().iter())),
        count("offers", cited!(offers.flat_map(RegionOffers::iter))),
        count("prices/commitments", cited!(commitments.flatten())),
        count("prices/items", cited!(items.flatten())),
        count("prices/vm", cited!(prices)),
        count("quota_families", cited!(catalog.quota_families().iter())),
        count("regions", cited!(catalog.regions().iter())),
        count("sizes", cited!(catalog.sizes().iter())),
        count("sources", catalog.sources().0.iter()),
    ];
    Info {
        tables: tables.into_iter().flatten().collect(),
        errors: Vec::new(),
    }
}

fn count<'a>(name: &str, rows: impl Iterator<Item = (&'a str, &'a str)>) -> Option<TableInfo> {
    let mut repositories = BTreeSet::new();
    let mut days: BTreeMap<&str, usize> = BTreeMap::new();
    let mut last_source = "";
    for (source, day) in rows {
        *days.entry(day).or_default() += 1;
        if source != last_source {
            repositories.extend(source.split("; ").map(repository));
            last_source = source;
        }
    }
    let (usual_day, _) = days.iter().max_by_key(|(day, count)| (**count, **day))?;
    Some(TableInfo {
        name: name.to_owned(),
        rows: days.values().sum(),
        oldest: (*days.first_key_value()?.0).to_owned(),
        as_of: (*days.last_key_value()?.0).to_owned(),
        usual_day: (*usual_day).to_owned(),
        sources: repositories.into_iter().map(str::to_owned).collect(),
    })
}

/// The repository of a source's text.
fn repository(source: &str) -> &str {
    let end = source.find('@').or_else(|| source.find(':'));
    end.and_then(|end| source.get(..end)).unwrap_or(source)
}

/// The last line of a digest file: the digest over all others.
pub(super) fn digest_of_all(digests: &str) -> Option<&str> {
    digests.lines().last()?.strip_prefix("# ")
}

/// The digest over the digests of tables, as the last line of a digest file has it.
pub(super) fn digest_of_texts(texts: &BTreeMap<String, Cow<'static, str>>) -> String {
    let texts = texts.iter().map(|(name, text)| (name.as_str(), &**text));
    let index = index_of(texts);
    digest_of_all(&index).unwrap_or_default().to_owned()
}
