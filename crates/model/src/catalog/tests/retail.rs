//! Items of the Retail Prices API as recorded, and as they must not be.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    catalog::{Catalog, LeftOut, PriceColumn, RetailPrices, VmPrice},
    units::{Region, SizeName},
};

pub(super) const DAY: &str = "2026-08-22";

/// The machines and some other items of the API's first page, and two more, in the fields that
/// are read: babajideoyelayo-carbonandfinch/azure-prices@3f048a22, recorded 2026-08-22.
fn recorded() -> BTreeMap<Region, Vec<Value>> {
    let mut regions: BTreeMap<Region, Vec<Value>> = BTreeMap::new();
    for line in include_str!("samples/retail_items.jsonl").lines() {
        let item: Value = serde_json::from_str(line).expect(line);
        let region = item["armRegionName"].as_str().expect(line);
        regions.entry(Region::new(region)).or_default().push(item);
    }
    regions
}

pub(super) fn item(changes: &Value) -> Value {
    let mut item = json!({
        "currencyCode": "USD",
        "armRegionName": "eastus",
        "armSkuName": "Standard_D4as_v7",
        "productName": "Virtual Machines Dasv7 Series",
        "skuName": "D4as v7",
        "serviceName": "Virtual Machines",
        "unitOfMeasure": "1 Hour",
        "type": "Consumption",
        "retailPrice": 0.291,
        "tierMinimumUnits": 0.0,
        "isPrimaryMeterRegion": true,
        "effectiveStartDate": "2025-11-01T00:00:00Z",
    });
    for (name, value) in changes.as_object().expect("changes are an object") {
        item[name] = value.clone();
    }
    item
}

fn read(items: &[Value]) -> RetailPrices {
    RetailPrices::read(items, &Region::new("eastus"), None, DAY).expect("the items read")
}

fn only_row(prices: &RetailPrices) -> &VmPrice {
    assert_eq!(prices.rows.len(), 1, "{prices:?}");
    &prices.rows[&SizeName::from("Standard_D4as_v7")]
}

fn text(price: Option<rust_decimal::Decimal>) -> String {
    price.map_or_else(|| "unknown".to_owned(), |price| price.to_string())
}

#[test]
fn recorded_items_say_what_the_embedded_tables_say() {
    let catalog = Catalog::embedded();
    let (mut same, mut other) = (0, BTreeSet::new());
    let mut committed = 0;
    let mut left_out: BTreeMap<LeftOut, usize> = BTreeMap::new();
    for (region, items) in recorded() {
        let read = RetailPrices::read(&items, &region, catalog.offers(&region), DAY)
            .unwrap_or_else(|error| panic!("{error}"));
        for (reason, count) in read.left_out {
            *left_out.entry(reason).or_default() += count;
        }
        for ((size, plan, years), (price, _)) in &read.commitments {
            if let Some(known) = catalog.commitment(&region, size, *plan, *years) {
                assert_eq!(known.price, *price, "{region} {size} {plan:?} {years}");
                committed += 1;
            }
        }
        for (size, new) in &read.rows {
            let Some(known) = catalog.vm_price(&region, size) else {
                continue;
            };
            let pairs = [
                (PriceColumn::Linux, new.linux, known.linux),
                (PriceColumn::Spot, new.spot, known.spot),
                (PriceColumn::Windows, new.windows, known.windows),
            ];
            for (column, new, known) in pairs {
                if let (Some(new), Some(known)) = (new, known) {
                    if new == known {
                        same += 1;
                    } else {
                        other.insert(format!("{region} {size} {column}: {known} then {new}"));
                    }
                }
            }
        }
    }
    assert_eq!((same, other), (140, BTreeSet::new()));
    assert_eq!(committed, 103);
    let left_out: Vec<String> = left_out
        .iter()
        .map(|(reason, count)| format!("{reason}: {count}"))
        .collect();
    let expected = [
        "Cloud Services: 9",
        "dedicated hosts: 15",
        "development and testing: 181",
        "low priority: 98",
        "spot with Windows: 74",
        "no size of tier Standard: 1",
        "another service: 10",
    ];
    assert_eq!(left_out, expected);
}

#[test]
fn savings_plans_and_reservations_are_read() {
    let region = Region::new("australiacentral");
    let items = &recorded()[&region];
    let size = SizeName::from("Standard_B16als_v2");
    let of_size: Vec<Value> = items
        .iter()
        .filter(|item| item["armSkuName"] == "Standard_B16als_v2")
        .cloned()
        .collect();
    let prices = RetailPrices::read(&of_size, &region, None, DAY).expect("the items read");
    let row = &prices.rows[&size];
    assert_eq!(text(row.linux), "0.673");
    assert_eq!(text(row.savings_plan_1y), "0.49129");
    let commitments: Vec<String> = prices
        .commitments
        .iter()
        .map(|((_, plan, years), (price, since))| {
            format!("{plan:?} {years} {} {since}", price.normalize())
        })
        .collect();
    let expected = [
        "Reservation 1 3478 2023-09-01",
        "SavingsPlan 3 0.34323 2023-09-01",
    ];
    assert_eq!(commitments, expected);
    let table = prices.commitments_table("RETAIL", DAY);
    let line = "B16als_v2,reservation,1,3478,2023-09-01,RETAIL,2026-08-22";
    assert!(table.lines().any(|found| found == line), "{table}");
}

#[test]
fn what_poses_as_a_size_is_left_out() {
    let cases = [
        (
            json!({"productName": "Dasv7 Series Cloud Services"}),
            LeftOut::CloudServices,
        ),
        (
            json!({"productName": "Dasv7 Series CloudServices"}),
            LeftOut::CloudServices,
        ),
        (
            json!({"productName": "Dasv7 Series DedicatedHost"}),
            LeftOut::DedicatedHost,
        ),
        (
            json!({"productName": "Dasv7 Series Dedicated Host"}),
            LeftOut::DedicatedHost,
        ),
        (
            json!({"skuName": "D4as v7 Low Priority"}),
            LeftOut::LowPriority,
        ),
        (
            json!({"type": "DevTestConsumption"}),
            LeftOut::DevelopmentAndTest,
        ),
        (
            json!({"type": "Reservation", "reservationTerm": "5 Years"}),
            LeftOut::OtherTerm,
        ),
        (
            json!({"effectiveEndDate": "2026-08-21T23:59:00Z"}),
            LeftOut::Ended,
        ),
        (
            json!({"effectiveStartDate": "2026-09-01T00:00:00Z"}),
            LeftOut::NotBegun,
        ),
        (json!({"armSkuName": "Basic_A1"}), LeftOut::NoSize),
        (json!({"armSkuName": "Standard_D4,v7"}), LeftOut::NoSize),
        (json!({"armSkuName": null}), LeftOut::NoSize),
        (json!({"armSkuName": "Größe_D4as_v7"}), LeftOut::NoSize),
        (json!({"unitOfMeasure": "100 Hours"}), LeftOut::NotByTheHour),
        (json!({"tierMinimumUnits": 100.0}), LeftOut::NotByTheHour),
        (json!({"retailPrice": 0.0}), LeftOut::Free),
        (json!({"serviceName": "Storage"}), LeftOut::OtherService),
        (
            json!({"skuName": "D4as v7 Spot", "productName": "Virtual Machines Dasv7 Series Windows"}),
            LeftOut::WindowsSpot,
        ),
    ];
    for (changes, reason) in cases {
        let prices = read(&[item(&changes)]);
        assert_eq!(prices.rows, BTreeMap::new(), "{changes}");
        assert_eq!(prices.left_out, BTreeMap::from([(reason, 1)]), "{changes}");
    }
}

#[test]
fn windows_is_told_from_linux_and_spot_from_on_demand() {
    let prices = read(&[
        item(&json!({})),
        item(&json!({"productName": "Virtual Machines Dasv7 Series Win", "retailPrice": 0.475})),
        item(&json!({"skuName": "D4as v7 Spot", "retailPrice": 0.0582})),
    ]);
    let row = only_row(&prices);
    let found = [row.linux, row.windows, row.spot].map(text);
    assert_eq!(found, ["0.291", "0.475", "0.0582"]);
    assert_eq!(row.as_of.as_ref(), DAY);
}

#[test]
fn a_shared_meter_gives_way_to_the_primary_one_and_stands_alone_otherwise() {
    let shared = item(&json!({"isPrimaryMeterRegion": false, "retailPrice": 0.3,
        "effectiveStartDate": "2026-01-01T00:00:00Z"}));
    assert_eq!(
        text(only_row(&read(std::slice::from_ref(&shared))).linux),
        "0.3"
    );
    for items in [
        [shared.clone(), item(&json!({}))],
        [item(&json!({})), shared],
    ] {
        assert_eq!(text(only_row(&read(&items)).linux), "0.291");
    }
}

#[test]
fn the_newer_meter_counts_and_a_contradiction_is_unknown() {
    let newer = item(&json!({"retailPrice": 0.25, "effectiveStartDate": "2026-06-01T00:00:00Z"}));
    assert_eq!(
        text(only_row(&read(&[item(&json!({})), newer.clone()])).linux),
        "0.25"
    );
    assert_eq!(
        text(only_row(&read(&[newer, item(&json!({}))])).linux),
        "0.25"
    );
    let prices = read(&[item(&json!({})), item(&json!({"retailPrice": 0.3}))]);
    assert_eq!(only_row(&prices).linux, None);
    let size = SizeName::from("Standard_D4as_v7");
    assert_eq!(prices.contradicted, [(size, PriceColumn::Linux)]);
    let twice = read(&[item(&json!({})), item(&json!({}))]);
    assert_eq!(text(only_row(&twice).linux), "0.291");
}

#[test]
fn a_changed_answer_is_an_error_that_names_the_item() {
    let cases = [
        (
            json!({"retailPrice": -0.1}),
            "expected a price, found the negative `-0.1`",
        ),
        (
            json!({"retailPrice": "0.1"}),
            "invalid type: string \"0.1\", expected a JSON number",
        ),
        (
            json!({"currencyCode": "EUR"}),
            "expected prices in `USD`, found `EUR`",
        ),
        (json!({"armRegionName": "westus"}), "it is of `westus`"),
        (json!({"type": "Gift"}), "its type `Gift` is not known"),
    ];
    for (changes, problem) in cases {
        let items = [item(&json!({})), item(&changes)];
        let error = RetailPrices::read(&items, &Region::new("eastus"), None, DAY)
            .expect_err("it is refused");
        let expected = format!("item 2 of the price list of eastus: {problem}");
        assert_eq!(error.to_string(), expected);
    }
    let mut without = item(&json!({}));
    without
        .as_object_mut()
        .expect("an object")
        .remove("retailPrice");
    let error = RetailPrices::read(&[without], &Region::new("eastus"), None, DAY);
    let error = error.expect_err("it is refused").to_string();
    assert!(error.ends_with("missing field `retailPrice`"), "{error}");
}

#[test]
fn what_changes_is_told_and_what_is_gone_has_no_price() {
    let region = Region::new("eastus");
    let known = read(&[
        item(&json!({})),
        item(&json!({"skuName": "D4as v7 Spot", "retailPrice": 0.05})),
        item(&json!({"armSkuName": "Standard_GONE_v1", "retailPrice": 1.5})),
    ]);
    let sources = "code,repository,commit,path,as_of,licence\nR,Azure Retail Prices API,,x,2026-08-01,facts only\n";
    let (catalog, _) = Catalog::from_tables([
        ("prices/vm/eastus.csv".to_owned(), known.table("R")),
        ("sources.csv".to_owned(), sources.to_owned()),
    ]);
    let mut new = read(&[
        item(&json!({"retailPrice": 0.582})),
        item(&json!({"armSkuName": "Standard_NEW_v1", "retailPrice": 2.5})),
    ]);
    let shown: Vec<String> = new
        .changes(catalog.vm_prices(&region))
        .iter()
        .map(|change| {
            let (size, column) = (&change.size, change.column);
            let (before, after) = (text(change.before), text(change.after));
            format!(
                "{size} {column} {before} {after} {}",
                text(change.distance())
            )
        })
        .collect();
    let expected = [
        "Standard_D4as_v7 linux 0.291 0.582 2",
        "Standard_D4as_v7 spot 0.05 unknown unknown",
        "Standard_GONE_v1 linux 1.5 unknown unknown",
        "Standard_NEW_v1 linux unknown 2.5 unknown",
    ];
    assert_eq!(shown, expected);
    new.close(catalog.vm_prices(&region), DAY);
    let gone = &new.rows[&SizeName::from("Standard_GONE_v1")];
    assert_eq!(
        (gone.linux, gone.flags.as_slice()),
        (None, ["not_listed".to_owned()].as_slice())
    );
    assert_eq!(new.rows.len(), 3);
}

proptest! {
    #[test]
    fn any_json_is_an_error_or_prices(texts in prop::collection::vec("[ -~]{0,12}", 12), number in any::<f64>()) {
        let mut odd = item(&json!({}));
        let names: Vec<String> = odd.as_object().expect("an object").keys().cloned().collect();
        for (name, text) in names.iter().zip(&texts) {
            if text.len() % 3 == 0 {
                odd[name] = json!(text);
            } else if text.len() % 3 == 1 {
                odd[name] = json!(number);
            }
            if let Ok(prices) = RetailPrices::read(std::slice::from_ref(&odd), &Region::new("eastus"), None, DAY) {
                let table = prices.table("RETAIL");
                prop_assert_eq!(table.lines().count(), prices.rows.len() + 1);
            }
        }
    }

    #[test]
    fn a_table_reads_as_the_rows_it_was_made_of(linux in 1_u32..1_000_000, spot in prop::option::of(1_u32..1_000_000)) {
        let price = |micros: u32| f64::from(micros) / 1_000_000.0;
        let mut items = vec![item(&json!({"retailPrice": price(linux)}))];
        if let Some(spot) = spot {
            items.push(item(&json!({"skuName": "D4as v7 Spot", "retailPrice": price(spot)})));
        }
        let prices = read(&items);
        let sources = "code,repository,commit,path,as_of,licence\nRETAIL,Azure Retail Prices API,,/api/retail/prices,2026-08-22,facts only\n";
        let (catalog, errors) = Catalog::from_tables([
            ("prices/vm/eastus.csv".to_owned(), prices.table("RETAIL")),
            ("sources.csv".to_owned(), sources.to_owned()),
        ]);
        prop_assert!(errors.is_empty(), "{errors:?}");
        let size = SizeName::from("Standard_D4as_v7");
        let row = catalog.vm_price(&Region::new("eastus"), &size).expect("the row is there");
        let micros = |price: Option<rust_decimal::Decimal>| price.map(|price| price * rust_decimal::Decimal::from(1_000_000));
        prop_assert_eq!(micros(row.linux), Some(linux.into()));
        prop_assert_eq!(micros(row.spot), spot.map(Into::into));
    }
}
