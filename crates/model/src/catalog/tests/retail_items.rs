//! Prices of disks, addresses and services in items of the API.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::retail::{DAY, item};
use crate::{
    catalog::{Catalog, EVERYWHERE, RetailItems, meter_of},
    units::Region,
};

/// Every meter of disks in a region; what the source leaves out is as usual.
/// andy-diericks/azure-pricing-radar@cf741f25, recorded 2026-08-22.
fn disk_meters() -> Vec<Value> {
    let lines = include_str!("samples/disk_meters.jsonl").lines();
    let meters = lines.map(|line| {
        let meter: Value = serde_json::from_str(line).expect(line);
        let mut full = item(&json!({"serviceName": "Storage", "armRegionName": "swedencentral"}));
        for (name, value) in meter.as_object().expect("an object") {
            full[name] = value.clone();
        }
        full
    });
    meters.collect()
}

#[test]
fn recorded_meters_of_disks_are_the_rows_of_the_table() {
    let region = Region::new("swedencentral");
    let read = RetailItems::read(&disk_meters(), &region, DAY).expect("the meters read");
    let known = Catalog::embedded()
        .item_prices(&region)
        .expect("they are known");
    let expected: BTreeMap<&str, rust_decimal::Decimal> = known
        .iter()
        .filter(|row| row.item.starts_with("disk."))
        .filter(|row| !row.item.contains("operations") && !row.item.contains("snapshot"))
        .map(|row| (row.item.as_str(), row.price))
        .collect();
    let found: BTreeMap<&str, rust_decimal::Decimal> = read
        .rows
        .iter()
        .map(|(name, (price, _))| (name.as_str(), *price))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(
        (found.len(), read.left_out, read.contradicted.len()),
        (46, 141, 0)
    );
}

#[test]
fn items_read_back_from_their_table_and_others_stay() {
    let region = Region::new("swedencentral");
    let read = RetailItems::read(&disk_meters(), &region, DAY).expect("the meters read");
    let sources = "code,repository,commit,path,as_of,licence\nR,Azure Retail Prices API,,x,2026-08-22,facts only\n";
    let (catalog, errors) = Catalog::from_tables([
        ("prices/items/swedencentral.csv".to_owned(), read.table("R")),
        ("sources.csv".to_owned(), sources.to_owned()),
    ]);
    assert_eq!(errors, []);
    let rows = catalog.item_prices(&region).expect("they are there");
    assert_eq!(rows.len(), read.rows.len());
    for row in rows {
        let meter = meter_of(&row.item).expect("it has a meter");
        let of_item = disk_meters().into_iter().filter(|found| {
            found["productName"] == meter.product
                && found["meterName"] == meter.name
                && found["unitOfMeasure"] == meter.unit
        });
        assert_eq!(of_item.count(), 1, "{}", row.item);
    }
    assert_eq!(meter_of("lustre.hour"), None);
    let mut odd = disk_meters();
    odd[0]["retailPrice"] = json!(-1.0);
    assert!(RetailItems::read(&odd, &region, DAY).is_err());
}

/// A meter of a service, as the list of the region `Global` has it.
fn service_meter(product: &str, meter: &str, unit: &str, price: f64) -> Value {
    item(&json!({
        "serviceName": product,
        "productName": product,
        "skuName": "Standard",
        "armSkuName": "",
        "meterName": meter,
        "unitOfMeasure": unit,
        "retailPrice": price,
        "armRegionName": "Global",
        "location": "Global",
    }))
}

#[test]
fn what_is_sold_at_one_price_everywhere_is_read_from_the_region_global() {
    let items = [
        service_meter("NAT Gateway", "Standard Gateway", "1 Hour", 0.05),
        service_meter("NAT Gateway", "StandardV2 Gateway", "1 Hour", 9.0),
        service_meter(
            "Load Balancer",
            "Standard Included LB Rules and Outbound Rules",
            "1 Hour",
            0.025,
        ),
        service_meter(
            "Load Balancer",
            "Standard Overage LB Rules and Outbound Rules",
            "1/Hour",
            0.01,
        ),
        service_meter(
            "Load Balancer",
            "Standard Data Processed - Free",
            "1 GB",
            0.0,
        ),
    ];
    let everywhere = Region::new(EVERYWHERE);
    let read = RetailItems::read(&items, &everywhere, DAY).expect("the meters read");
    let found: Vec<(&str, String)> = read
        .rows
        .iter()
        .map(|(name, (price, unit))| (name.as_str(), format!("{price} {unit}")))
        .collect();
    let expected = [
        ("load_balancer.standard.extra_rule_hour", "0.01 rule-hour"),
        ("load_balancer.standard.rules_hour", "0.025 hour"),
        ("nat_gateway.hour", "0.05 hour"),
    ];
    assert_eq!(found, expected.map(|(name, text)| (name, text.to_owned())));
    assert_eq!(read.left_out, 2);

    let sources = "code,repository,commit,path,as_of,licence\nR,Azure Retail Prices API,,x,2026-11-30,facts only\n";
    let (catalog, errors) = Catalog::from_tables([
        (format!("prices/items/{EVERYWHERE}.csv"), read.table("R")),
        ("sources.csv".to_owned(), sources.to_owned()),
    ]);
    assert_eq!(errors, []);
    let row = catalog.item_price(&Region::new("eastus"), "nat_gateway.hour");
    assert_eq!(row.expect("it holds everywhere").price.to_string(), "0.05");
}

#[test]
fn services_of_a_region_are_read_with_its_disks() {
    let of_region = |product: &str, meter: &str, price: f64| {
        let mut item = service_meter(product, meter, "1 Hour", price);
        item["armRegionName"] = json!("germanywestcentral");
        item
    };
    let items = [
        of_region("Azure Kubernetes Service", "Standard Uptime SLA", 0.1),
        of_region(
            "Azure Kubernetes Service",
            "Standard Long Term Support",
            0.6,
        ),
        of_region(
            "Azure Kubernetes Service - Automatic",
            "Standard Uptime SLA",
            7.0,
        ),
        of_region("Azure Bastion", "Premium Gateway", 0.45),
    ];
    let region = Region::new("germanywestcentral");
    let read = RetailItems::read(&items, &region, DAY).expect("the meters read");
    let found: Vec<(&str, String)> = read
        .rows
        .iter()
        .map(|(name, (price, _))| (name.as_str(), price.to_string()))
        .collect();
    let expected = [
        ("aks.premium.hour", "0.6"),
        ("aks.standard.hour", "0.1"),
        ("bastion.premium.hour", "0.45"),
    ];
    assert_eq!(found, expected.map(|(name, text)| (name, text.to_owned())));
}
