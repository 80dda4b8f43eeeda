//! A cache over the embedded tables: what counts, and what a damaged one cannot do.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    catalog::{Catalog, index_of},
    units::{Region, SizeName},
};

const SOURCES: &str = "code,repository,commit,path,as_of,licence
OLD,Azure Retail Prices API,,/api/retail/prices,2020-01-01,facts only
RETAIL-2099,Azure Retail Prices API,,/api/retail/prices,2099-01-01,facts only
SKUS-2099,Azure Resource Manager,,Microsoft.Compute/skus,2099-01-01,facts only
";
const HEADER: &str = "size,linux,spot,windows,savings_plan_1y,source,flags\n";

/// A cache of these tables and the usual sources.
fn cache(tables: &[(&str, &str)]) -> Catalog {
    let mut texts: BTreeMap<String, String> = tables
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    texts.insert("sources.csv".to_owned(), SOURCES.to_owned());
    let index = index_of(
        texts
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str())),
    );
    open(&index, texts).expect("the cache opens")
}

fn open(index: &str, texts: BTreeMap<String, String>) -> Result<Catalog, String> {
    let read = move |name: &str| {
        let text = texts.get(name).cloned();
        text.ok_or_else(|| "no such file".to_owned())
    };
    Catalog::with_cache(index, Arc::new(read))
}

fn linux(catalog: &Catalog, region: &str, size: &str) -> Option<String> {
    let row = catalog.vm_price(&Region::new(region), &SizeName::from(size))?;
    row.linux.map(|price| price.to_string())
}

#[test]
fn newer_rows_count_older_ones_do_not_and_others_stay() {
    let text = format!(
        "{HEADER}D2s_v5,9.5,,,,RETAIL-2099,\nD4s_v5,9.5,,,,OLD,\nNEW_v9,1.5,,,,RETAIL-2099,\n"
    );
    let catalog = cache(&[("prices/vm/eastus.csv", &text)]);
    let embedded = Catalog::embedded();
    let of = |size| linux(&catalog, "eastus", size);
    assert_eq!(of("Standard_D2s_v5").as_deref(), Some("9.5"));
    assert_eq!(of("Standard_NEW_v9").as_deref(), Some("1.5"));
    for size in ["Standard_D4s_v5", "Standard_ND96isr_H100_v5"] {
        assert_eq!(of(size), linux(embedded, "eastus", size), "{size}");
    }
    let size = SizeName::from("Standard_D2s_v5");
    let row = catalog
        .vm_price(&Region::new("eastus"), &size)
        .expect("it has a price");
    assert_eq!(
        (&*row.as_of, &*row.source),
        ("2099-01-01", "Azure Retail Prices API: /api/retail/prices")
    );
    assert_eq!(catalog.prices_as_of(), "2099-01-01");
    assert_ne!(catalog.digest(), embedded.digest());
    assert_eq!(catalog.cache_errors(), []);
}

#[test]
fn a_size_that_is_listed_no_more_has_no_price() {
    let text = format!("{HEADER}D2s_v5,,,,,RETAIL-2099,not_listed\n");
    let catalog = cache(&[("prices/vm/eastus.csv", &text)]);
    assert_eq!(linux(&catalog, "eastus", "Standard_D2s_v5"), None);
}

#[test]
fn a_list_of_offers_counts_as_a_whole() {
    let text = "size,zones,spot,source\nD2s_v5,1 2,yes,SKUS-2099\n";
    let catalog = cache(&[("offers/eastus.csv", text)]);
    let offers = catalog
        .offers(&Region::new("eastus"))
        .expect("they are known");
    assert_eq!(offers.len(), 1);
    let elsewhere = catalog
        .offers(&Region::new("westus2"))
        .expect("they are known");
    assert!(elsewhere.len() > 100);
}

#[test]
fn a_region_that_only_the_cache_has_is_there() {
    let text = format!("{HEADER}D2s_v5,0.5,,,,RETAIL-2099,\n");
    let catalog = cache(&[("prices/vm/atlantis.csv", &text)]);
    assert_eq!(
        linux(&catalog, "atlantis", "Standard_D2s_v5").as_deref(),
        Some("0.5")
    );
    assert_eq!(catalog.cache_errors(), []);
}

#[test]
fn a_damaged_table_is_told_and_the_embedded_rows_stay() {
    let text = format!("{HEADER}D2s_v5,9.5,,,,RETAIL-2099,\n");
    let index = index_of([
        ("prices/vm/eastus.csv", text.as_str()),
        ("sources.csv", SOURCES),
    ]);
    let sources = ("sources.csv".to_owned(), SOURCES.to_owned());
    let damaged = (
        "prices/vm/eastus.csv".to_owned(),
        text.replace("9.5", "0.5"),
    );
    for (tables, found) in [
        (vec![sources.clone(), damaged], "it does not fit its digest"),
        (vec![sources], "no such file"),
    ] {
        let catalog = open(&index, tables.into_iter().collect()).expect("the cache opens");
        assert_eq!(catalog.cache_errors(), [], "nothing was asked for");
        let embedded = linux(Catalog::embedded(), "eastus", "Standard_D2s_v5");
        assert_eq!(linux(&catalog, "eastus", "Standard_D2s_v5"), embedded);
        let errors = catalog.cache_errors();
        let error = errors.first().expect("the table is told");
        assert_eq!(
            (error.table.as_str(), error.found.as_str()),
            ("cache/prices/vm/eastus.csv", found)
        );
    }
}

#[test]
fn a_row_that_does_not_read_is_told_and_changes_nothing() {
    let text = format!("{HEADER}D2s_v5,-1,,,,RETAIL-2099,\nD4s_v5,7.5,,,,RETAIL-2099,\n");
    let catalog = cache(&[("prices/vm/eastus.csv", &text)]);
    let embedded = linux(Catalog::embedded(), "eastus", "Standard_D2s_v5");
    assert_eq!(linux(&catalog, "eastus", "Standard_D2s_v5"), embedded);
    assert_eq!(
        linux(&catalog, "eastus", "Standard_D4s_v5").as_deref(),
        Some("7.5")
    );
    assert_eq!(catalog.cache_errors().len(), 1);
}

#[test]
fn an_index_that_does_not_read_is_an_error() {
    let whole = index_of([("sources.csv", SOURCES)]);
    let sources = BTreeMap::from([("sources.csv".to_owned(), SOURCES.to_owned())]);
    assert!(open(&whole, sources.clone()).is_ok());
    let cases = [
        (String::new(), "its index has no end"),
        (
            whole.lines().next().expect("a line").to_owned(),
            "its index has no end",
        ),
        (
            whole.replacen(char::is_numeric, "x", 1),
            "its index does not fit its digest",
        ),
        (
            "sources.csv\n".to_owned(),
            "expected a digest and a table, found `sources.csv`",
        ),
        (index_of([]), "it names no sources"),
    ];
    for (index, expected) in cases {
        let error = open(&index, sources.clone()).expect_err("it is refused");
        assert_eq!(error, expected);
    }
}
