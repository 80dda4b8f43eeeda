//! What the catalogue holds, and what a refresh changed, as tables and as JSON.

use std::collections::BTreeMap;

use model::{
    catalog::{Direction, ItemChange, PriceChange, TableInfo},
    units::Region,
};
use serde_json::{Value, json};

use crate::{
    failure,
    line::Line,
    paper::Paper,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// The version of both JSON documents.
pub const FORMAT_VERSION: &str = "1.0";

/// How many changes of price the text shows.
const SHOWN: usize = 10;

/// The catalogue and the user's cache over it.
#[derive(Clone, Copy, Debug)]
pub struct CatalogState<'a> {
    /// The embedded tables.
    pub tables: &'a [TableInfo],
    /// The digest over everything.
    pub digest: &'a str,
    /// Where a cache is or would be; `None` without a home.
    pub folder: Option<&'a str>,
    /// Tables of the cache and the days of their sources, where they read; empty without a cache.
    pub cached: &'a [(String, Option<String>)],
    /// Whether there is a cache that cannot be used.
    pub unusable: bool,
}

/// What a refresh read of one region.
#[derive(Clone, Debug, Default)]
pub struct RefreshedRegion {
    /// Sizes with a price; `None` where prices were not read.
    pub prices: Option<usize>,
    /// Reservations and savings plans; `None` where prices were not read.
    pub commitments: Option<usize>,
    /// Disks and addresses with a price; `None` where prices were not read.
    pub items: Option<usize>,
    /// Prices of disks and addresses that are not what they were.
    pub item_changes: Vec<ItemChange>,
    /// Sizes that are offered; `None` where offers were not read.
    pub offers: Option<usize>,
    /// Prices that are not what they were.
    pub changes: Vec<PriceChange>,
    /// Meters that are no price of a size, by reason.
    pub left_out: BTreeMap<String, usize>,
    /// Prices that the list says differently in two places; they are unknown.
    pub contradicted: Vec<String>,
    /// Whether an earlier run that broke off had read it already.
    pub resumed: bool,
}

/// What a refresh read.
#[derive(Clone, Debug)]
pub struct Refreshed<'a> {
    /// The day of the read.
    pub day: &'a str,
    /// Where prices were read.
    pub source: &'a str,
    /// Where the cache is.
    pub folder: &'a str,
    /// By region.
    pub regions: &'a BTreeMap<Region, RefreshedRegion>,
    /// What has one price in all regions; `None` where prices were not read.
    pub everywhere: Option<&'a RefreshedRegion>,
    /// Requests that were sent.
    pub requests: usize,
}

/// The catalogue as a table.
pub fn info_text(state: &CatalogState<'_>, style: Style) -> String {
    let mut paper = Paper::new(style);
    let columns = [
        Column::left("Table", Fit::Keep),
        Column::right("Rows"),
        Column::left("Oldest", Fit::Keep),
        Column::left("Newest", Fit::Keep),
        Column::left("From", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 0);
    for info in state.tables {
        table.row(vec![
            Line::of(&info.name),
            Line::of(words::count(info.rows)),
            Line::of(&info.oldest),
            Line::of(&info.as_of),
            Line::inked(Ink::Faint, info.sources.join("; ")),
        ]);
    }
    paper.lines(&table.lines(style));
    paper.blank();
    paper.paragraph(0, Ink::Faint, &format!("Digest {}.", state.digest));
    paper.paragraph(0, Ink::Plain, &cache_sentence(state));
    paper.finish()
}

fn cache_sentence(state: &CatalogState<'_>) -> String {
    let Some(folder) = state.folder else {
        return "No cache: neither XDG_CACHE_HOME nor HOME is set.".to_owned();
    };
    if state.unusable {
        return format!("The cache in {folder} is not used.");
    }
    let unread = state.cached.iter().filter(|(_, day)| day.is_none()).count();
    let unread = match unread {
        0 => String::new(),
        _ => format!(
            "; {} cannot be read",
            words::counted(unread, "table", "tables")
        ),
    };
    let days = state.cached.iter().filter_map(|(_, day)| day.as_deref());
    match (days.clone().min(), days.max()) {
        (Some(oldest), Some(newest)) => {
            let count = words::counted(state.cached.len(), "table", "tables");
            let span = if oldest == newest {
                format!("of {newest}")
            } else {
                format!("of {oldest} to {newest}")
            };
            format!("Over them lies the cache in {folder}: {count} {span}{unread}.")
        }
        _ => format!("No cache in {folder}: `tensorform catalog refresh` makes one."),
    }
}

/// The catalogue as JSON.
pub fn info_json(state: &CatalogState<'_>) -> String {
    let tables = state.tables.iter().map(|info| {
        json!({
            "name": info.name,
            "rows": info.rows,
            "oldest": info.oldest,
            "as_of": info.as_of,
            "usual_day": info.usual_day,
            "sources": info.sources,
        })
    });
    let cached = state.cached.iter();
    let cached = cached.map(|(name, day)| json!({"name": name, "as_of": day}));
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "digest": state.digest,
        "tables": tables.collect::<Vec<_>>(),
        "cache": {"folder": state.folder, "tables": cached.collect::<Vec<_>>()},
    }))
}

/// What a refresh did, as a table.
pub fn refreshed_text(refreshed: &Refreshed<'_>, style: Style) -> String {
    let mut paper = Paper::new(style);
    let columns = [
        Column::left("Region", Fit::Keep),
        Column::right("Sizes"),
        Column::right("Plans"),
        Column::right("Items"),
        Column::right("Offered"),
        Column::right("Dearer"),
        Column::right("Cheaper"),
        Column::right("New"),
        Column::right("Gone"),
        Column::left("", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 0);
    for (region, read) in refreshed.regions {
        table.row(region_cells(region.as_str(), read));
    }
    if let Some(read) = refreshed.everywhere {
        table.row(region_cells("everywhere", read));
    }
    paper.lines(&table.lines(style));
    paper.blank();
    largest(&mut paper, refreshed, style);
    let sentence = format!(
        "Read from {} on {}: {}, {}. The tables are in {}.",
        refreshed.source,
        refreshed.day,
        words::counted(refreshed.regions.len(), "region", "regions"),
        words::counted(refreshed.requests, "request", "requests"),
        refreshed.folder,
    );
    paper.paragraph(0, Ink::Faint, &sentence);
    paper.finish()
}

/// Prices that rose, fell, came and went.
fn kinds(changes: &[PriceChange]) -> [usize; 4] {
    use Direction::{Cheaper, Dearer, Gone, New};
    [Dearer, Cheaper, New, Gone].map(|direction| {
        let went = changes
            .iter()
            .filter(|change| change.direction() == direction);
        went.count()
    })
}

fn region_cells(region: &str, read: &RefreshedRegion) -> Vec<Line> {
    let number = |number: Option<usize>| match number {
        Some(number) => Line::of(words::count(number)),
        None => Line::inked(Ink::Faint, "not read"),
    };
    let mut cells = vec![
        Line::of(region),
        number(read.prices),
        number(read.commitments),
        number(read.items),
        number(read.offers),
    ];
    cells.extend(kinds(&read.changes).map(|count| Line::of(words::count(count))));
    let mut remarks = Vec::new();
    if !read.item_changes.is_empty() {
        let items = words::counted(read.item_changes.len(), "item", "items");
        remarks.push(format!("{items} changed"));
    }
    if read.resumed {
        remarks.push("read by a run that broke off".to_owned());
    }
    if !read.contradicted.is_empty() {
        let sizes = words::counted(read.contradicted.len(), "price", "prices");
        remarks.push(format!("{sizes} said differently in two places: unknown"));
    }
    cells.push(Line::inked(Ink::Caution, remarks.join("; ")));
    cells
}

/// The changes that matter most.
fn largest(paper: &mut Paper, refreshed: &Refreshed<'_>, style: Style) {
    let mut changes = Vec::new();
    for (region, read) in refreshed.regions {
        let changed = read.changes.iter();
        changes.extend(changed.filter_map(|change| Some((change.distance()?, region, change))));
    }
    if changes.is_empty() {
        return;
    }
    changes.sort_by(|(a, ..), (b, ..)| b.cmp(a));
    paper.heading("Largest changes, in USD an hour");
    let columns = [
        Column::left("Region", Fit::Keep),
        Column::left("Size", Fit::Keep),
        Column::left("Price", Fit::Keep),
        Column::right("Before"),
        Column::right("After"),
    ];
    let mut table = Table::new(columns, 2);
    for (_, region, change) in changes.iter().take(SHOWN) {
        let mut cells = vec![
            Line::of(region.as_str()),
            Line::of(change.size.as_str()),
            Line::of(change.column.to_string()),
        ];
        cells.extend(change.texts().map(|text| match text {
            Some(text) => Line::of(text),
            None => Line::inked(Ink::Caution, words::UNKNOWN),
        }));
        table.row(cells);
    }
    paper.lines(&table.lines(style));
    if let Some(more) = changes.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        let more = words::count(more);
        paper.paragraph(2, Ink::Faint, &format!("and {more} more, in `-o json`"));
    }
    paper.blank();
}

/// What a refresh did, as JSON.
pub fn refreshed_json(refreshed: &Refreshed<'_>) -> String {
    let change = |change: &PriceChange| {
        let [before, after] = change.texts();
        json!({
            "size": change.size,
            "price": change.column.to_string(),
            "before": before,
            "after": after,
        })
    };
    let item_change = |change: &ItemChange| {
        let [before, after] = change.texts();
        json!({"item": change.item, "before": before, "after": after})
    };
    let region = |(region, read): (&Region, &RefreshedRegion)| -> Value {
        json!({
            "location": region,
            "priced": read.prices,
            "commitments": read.commitments,
            "items": read.items,
            "item_changes": read.item_changes.iter().map(item_change).collect::<Vec<_>>(),
            "offered": read.offers,
            "changes": read.changes.iter().map(change).collect::<Vec<_>>(),
            "left_out": read.left_out,
            "contradicted": read.contradicted,
            "resumed": read.resumed,
        })
    };
    let everywhere = refreshed.everywhere.map(|read| {
        json!({
            "items": read.items,
            "item_changes": read.item_changes.iter().map(item_change).collect::<Vec<_>>(),
            "contradicted": read.contradicted,
            "resumed": read.resumed,
        })
    });
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "as_of": refreshed.day,
        "source": refreshed.source,
        "folder": refreshed.folder,
        "requests": refreshed.requests,
        "regions": refreshed.regions.iter().map(region).collect::<Vec<_>>(),
        "everywhere": everywhere,
    }))
}
