//! Newer tables over the embedded ones: what the user's own refresh has read from Azure.
//!
//! A cache has the form of the embedded tables. Each of its tables is read when first asked for
//! and must fit its digest; one that does not is reported and leaves the embedded rows as they
//! are. Of two rows the newer day counts, so that an old cache does no harm to a newer binary.

use std::{
    borrow::Cow,
    cmp::Ordering,
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock},
};

use super::{
    embedded,
    load::{Catalog, is_regional},
    sources::Sources,
    table::{Table, TableError, quoted},
};
use crate::digest;

/// Gives the text of a table of the cache by its name, or the reason why not.
pub type CacheReader = Arc<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

/// The table that lists the others with their digests.
pub const INDEX: &str = "DIGEST";

/// The tables of a cache.
#[derive(Clone)]
pub(super) struct Cache {
    digests: BTreeMap<String, String>,
    sources: Sources,
    read: CacheReader,
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("tables", &self.digests.len())
            .finish_non_exhaustive()
    }
}

/// How the rows of a cached table and the embedded ones become one table.
pub(super) enum Join {
    /// Row by row: the newer day counts.
    Rows,
    /// The newer table as a whole, because what it lacks is gone.
    Whole,
}

/// What a table of one region is made of.
pub(super) struct Shape<T> {
    pub(super) read: fn(&str, &str, &Sources) -> Table<T>,
    pub(super) compare: fn(&T, &T) -> Ordering,
    pub(super) day: fn(&T) -> &str,
    pub(super) join: Join,
}

impl Cache {
    /// A cache with this index.
    ///
    /// # Errors
    /// The index or the table of sources does not read.
    pub(super) fn open(index: &str, read: CacheReader) -> Result<Self, String> {
        let digests = digests(index)?;
        let mut cache = Self {
            digests,
            sources: Sources::default(),
            read,
        };
        let text = cache.text("sources.csv").ok_or("it names no sources")??;
        let (sources, table) = Sources::read("sources.csv", &text);
        if let Some(error) = table.errors.first() {
            return Err(error.to_string());
        }
        cache.sources = sources;
        Ok(cache)
    }

    /// The names of its tables.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.digests.keys().map(String::as_str)
    }

    /// The newest day of a source whose code begins so.
    pub(super) fn newest(&self, code: &str) -> Option<&str> {
        self.sources.newest(code)
    }

    /// The text of a table, where the cache has it.
    fn text(&self, name: &str) -> Option<Result<String, String>> {
        let digest = self.digests.get(name)?;
        Some((self.read)(name).and_then(|text| {
            if digest::of_text(&text) == *digest {
                Ok(text)
            } else {
                Err("it does not fit its digest".to_owned())
            }
        }))
    }

    /// The embedded table with what the cache has of it.
    pub(super) fn over<T>(&self, name: &str, mut own: Table<T>, shape: &Shape<T>) -> Table<T> {
        let cached = match self.text(name) {
            None => return own,
            Some(Ok(text)) => (shape.read)(&format!("cache/{name}"), &text, &self.sources),
            Some(Err(reason)) => {
                own.errors.push(TableError {
                    table: format!("cache/{name}"),
                    line: 1,
                    expected: "the table that the refresh wrote".to_owned(),
                    found: reason,
                });
                return own;
            }
        };
        own.errors.extend(cached.errors);
        own.rows = match shape.join {
            Join::Rows => joined(own.rows, cached.rows, shape),
            Join::Whole => newer(own.rows, cached.rows, shape),
        };
        own
    }
}

impl Catalog {
    /// The embedded catalogue with the newer rows of a cache, whose index is given.
    ///
    /// Tables of the cache are read when first asked for; [`Self::cache_errors`] tells what is
    /// wrong with those that were.
    ///
    /// # Errors
    /// The index does not read, or the cache says not where its rows are from.
    pub fn with_cache(index: &str, read: CacheReader) -> Result<Self, String> {
        Self::below(index, read, Self::embedded_texts())
    }

    /// [`Self::unpriced`] with the rows of a cache, as [`Self::with_cache`] lays them over.
    ///
    /// # Errors
    /// As there.
    pub fn unpriced_with_cache(index: &str, read: CacheReader) -> Result<Self, String> {
        Self::below(index, read, Self::unpriced_texts())
    }

    fn below(
        index: &str,
        read: CacheReader,
        mut texts: BTreeMap<String, Cow<'static, str>>,
    ) -> Result<Self, String> {
        let cache = Cache::open(index, read)?;
        for name in cache.names().filter(|name| is_regional(name)) {
            // Regions that only the cache has get an empty table to begin with.
            texts.entry(name.to_owned()).or_insert(Cow::Borrowed(""));
        }
        let mut catalog = Self::of_texts(texts);
        let whole = format!("{}{index}", embedded::DIGEST);
        catalog.digest.get_or_init(|| digest::of_text(&whole));
        catalog.cache = Some(cache);
        Ok(catalog)
    }

    /// What is wrong with the tables of the cache that were asked for so far.
    pub fn cache_errors(&self) -> Vec<TableError> {
        let offers = self.offers.values().filter_map(OnceLock::get);
        let prices = self.vm_prices.values().filter_map(OnceLock::get);
        let items = self.item_prices.values().filter_map(OnceLock::get);
        let commitments = self.commitments.values().filter_map(OnceLock::get);
        offers
            .flat_map(|table| &table.errors)
            .chain(prices.flat_map(|table| &table.errors))
            .chain(commitments.flat_map(|table| &table.errors))
            .chain(items.flat_map(|table| &table.errors))
            .filter(|error| error.table.starts_with("cache/"))
            .cloned()
            .collect()
    }

    pub(super) fn regional_table<T>(&self, name: &str, shape: &Shape<T>) -> Table<T> {
        // A region that only the cache has.
        let is_empty =
            self.cache.is_some() && self.texts.get(name).is_some_and(|text| text.is_empty());
        let own = if is_empty {
            Table::default()
        } else {
            self.table(name, shape.read)
        };
        match &self.cache {
            Some(cache) => cache.over(name, own, shape),
            None => own,
        }
    }
}

/// Two sorted lists as one; of two rows about one thing the newer one.
fn joined<T>(own: Vec<T>, cached: Vec<T>, shape: &Shape<T>) -> Vec<T> {
    let mut rows = Vec::with_capacity(own.len().max(cached.len()));
    let (mut own, mut cached) = (own.into_iter().peekable(), cached.into_iter().peekable());
    loop {
        let order = match (own.peek(), cached.peek()) {
            (None, _) => break rows.extend(cached),
            (_, None) => break rows.extend(own),
            (Some(left), Some(right)) => (shape.compare)(left, right),
        };
        match order {
            Ordering::Less => rows.extend(own.next()),
            Ordering::Greater => rows.extend(cached.next()),
            Ordering::Equal => {
                let (left, right) = (own.next(), cached.next());
                rows.extend(newer(
                    left.into_iter().collect(),
                    right.into_iter().collect(),
                    shape,
                ));
            }
        }
    }
    rows
}

/// The list with the newer first row; of equally new ones the cached one.
fn newer<T>(own: Vec<T>, cached: Vec<T>, shape: &Shape<T>) -> Vec<T> {
    let day = |rows: &[T]| {
        rows.first()
            .map(|row| last_day((shape.day)(row)).to_owned())
    };
    if day(&cached) >= day(&own) {
        cached
    } else {
        own
    }
}

/// The later one of the days between which a source was written.
fn last_day(day: &str) -> &str {
    day.rsplit('/').next().unwrap_or(day)
}

/// Reads an index: `sha256sum` form, with a line of its own over the others at the end.
fn digests(index: &str) -> Result<BTreeMap<String, String>, String> {
    let mut all = BTreeMap::new();
    let mut listed = String::new();
    for line in index.lines() {
        if let Some(whole) = line.strip_prefix("# ") {
            let fits = digest::of_text(&listed) == whole;
            return fits
                .then_some(all)
                .ok_or_else(|| "its index does not fit its digest".to_owned());
        }
        let (digest, name) = line
            .split_once("  ")
            .ok_or_else(|| format!("expected a digest and a table, found {}", quoted(line)))?;
        all.insert(name.to_owned(), format!("sha256:{digest}"));
        listed.push_str(line);
        listed.push('\n');
    }
    Err("its index has no end".to_owned())
}

/// The index over tables, as [`INDEX`] holds it.
pub fn index_of<'a>(tables: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut listed = String::new();
    for (name, text) in tables {
        let digest = digest::of_text(text);
        listed.push_str(digest.strip_prefix("sha256:").unwrap_or(&digest));
        listed.push_str("  ");
        listed.push_str(name);
        listed.push('\n');
    }
    let whole = digest::of_text(&listed);
    format!("{listed}# {whole}\n")
}
