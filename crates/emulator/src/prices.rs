//! The Retail Prices API over the catalogue's prices of virtual machines, disks, addresses and
//! services of the network.
//!
//! Names of meters and products are made from the name of the size, since the catalogue keeps
//! no meter names; their ids are made up and stay the same.

use model::{
    catalog::{CommitmentPlan, EVERYWHERE, ItemPrice, VmPrice, meter_of},
    units::{Region, SizeName},
};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde_json::{Value, json};

use crate::{
    call::Setup,
    catalogue,
    http::{Answer, Incoming, Method},
    json::{same, set},
    odata::Filter,
    text::{Seeded, encode_query},
};

pub(crate) fn answer(incoming: &Incoming, setup: &Setup) -> Answer {
    if incoming.method != Method::Get || !same(&incoming.path, "/api/retail/prices") {
        return refused(404, "NotFound", "Resource not found.");
    }
    let currency = incoming.query.get("currencyCode").unwrap_or("USD");
    if !same(currency.trim_matches('\''), "USD") {
        return refused(400, "BadRequest", "The sandbox has prices in USD alone.");
    }
    let filter = match incoming.query.get("$filter").map(Filter::parse) {
        None => None,
        Some(Ok(filter)) => Some(filter),
        Some(Err(error)) => {
            return refused(
                400,
                "BadRequest",
                &format!("Invalid OData parameters supplied: {error}"),
            );
        }
    };
    let skip: usize = incoming
        .query
        .get("$skip")
        .and_then(|skip| skip.parse().ok())
        .unwrap_or(0);
    let size = setup.pages.prices;
    let mut items: Vec<Value> = matching(filter.as_ref())
        .skip(skip)
        .take(size + 1)
        .collect();
    let more = items.len() > size;
    items.truncate(size);
    let next = more.then(|| next_link(incoming, skip + size));
    Answer::json(
        200,
        json!({
            "BillingCurrency": "USD",
            "CustomerEntityId": "Default",
            "CustomerEntityType": "Retail",
            "Count": items.len(),
            "Items": items,
            "NextPageLink": next,
        }),
    )
}

fn refused(status: u16, code: &str, message: &str) -> Answer {
    Answer::json(status, json!({"Error": {"Code": code, "Message": message}}))
}

fn next_link(incoming: &Incoming, skip: usize) -> String {
    let mut query: Vec<String> = incoming
        .query
        .pairs()
        .filter(|(key, _)| !key.eq_ignore_ascii_case("$skip"))
        .map(|(key, value)| format!("{}={}", encode_query(key), encode_query(value)))
        .collect();
    query.push(format!("%24skip={skip}"));
    format!("{}{}?{}", incoming.base, incoming.path, query.join("&"))
}

/// Items that fit a filter; the region and size it demands are looked up instead of searched.
fn matching(filter: Option<&Filter>) -> impl Iterator<Item = Value> {
    let region = filter
        .and_then(|filter| filter.demanded("armRegionName"))
        .map(str::to_owned);
    let size = filter
        .and_then(|filter| filter.demanded("armSkuName"))
        .map(str::to_owned);
    let filter = filter.cloned();
    let places = catalogue::regions().iter().map(|row| Place {
        name: row.name.as_str(),
        display_name: &row.display_name,
        table: row.name.clone(),
    });
    let everywhere = std::iter::once_with(|| Place {
        name: GLOBAL,
        display_name: GLOBAL,
        table: Region::new(EVERYWHERE),
    });
    places
        .chain(everywhere)
        .filter(move |place| {
            region
                .as_ref()
                .is_none_or(|region| same(place.name, region))
        })
        .flat_map(move |place| {
            let sizes = catalogue::prices(&place.table);
            let size = size.clone();
            let wanted = move |name: &SizeName| {
                let size = size.as_deref();
                size.is_none_or(|size| same(name.as_str(), size))
            };
            let machines = sizes.filter(move |(name, _)| wanted(name));
            let of_machine = place.clone();
            let machines = machines.flat_map(move |(size, price)| items(&of_machine, size, price));
            let others = catalogue::item_prices(&place.table).iter();
            machines.chain(others.filter_map(move |price| other(&place, price)))
        })
        .filter(move |item| filter.as_ref().is_none_or(|filter| fits(filter, item)))
}

fn fits(filter: &Filter, item: &Value) -> bool {
    filter.fits(&|field| {
        // The API calls the type of a price `priceType` in filters.
        let field = if same(field, "priceType") {
            "type"
        } else {
            field
        };
        let members = item.as_object()?;
        let (_, value) = members.iter().find(|(name, _)| same(name, field))?;
        Some(match value {
            Value::String(text) => text.clone(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => value.to_string(),
        })
    })
}

fn number(price: Decimal) -> Value {
    price.to_f64().map_or(Value::Null, Value::from)
}

/// The region of what has one price everywhere.
const GLOBAL: &str = "Global";

/// A region of the list.
#[derive(Clone)]
struct Place {
    name: &'static str,
    display_name: &'static str,
    /// The region of its tables.
    table: Region,
}

/// What the prices of one size in one region are about.
struct Meter<'a> {
    region: &'a Place,
    size: &'a str,
    /// The day of the price.
    day: &'a str,
}

impl Meter<'_> {
    fn item(&self, kind: &str, meter: &str, product: &str, price: Decimal) -> Value {
        let region = self.region.name;
        let mut ids = Seeded::of_text(0, &format!("{region} {} {kind}", self.size));
        let product_id = format!("DZH318{}", ids.letters(6).to_uppercase());
        json!({
            "currencyCode": "USD",
            "tierMinimumUnits": 0.0,
            "retailPrice": number(price),
            "unitPrice": number(price),
            "armRegionName": region,
            "location": self.region.display_name,
            "effectiveStartDate": format!("{}T00:00:00Z", self.day),
            "meterId": ids.guid(),
            "meterName": meter,
            "productId": product_id,
            "skuId": format!("{product_id}/{}", ids.letters(4).to_uppercase()),
            "productName": product,
            "skuName": meter,
            "serviceName": "Virtual Machines",
            "serviceId": "DZH313Z7MMC8",
            "serviceFamily": "Compute",
            "unitOfMeasure": "1 Hour",
            "type": "Consumption",
            "isPrimaryMeterRegion": true,
            "armSkuName": self.size,
        })
    }
}

/// The meter of a disk, an address or a service.
fn other(region: &Place, row: &ItemPrice) -> Option<Value> {
    let sold = meter_of(&row.item)?;
    if sold.is_everywhere != (region.name == GLOBAL) {
        return None;
    }
    let meter = Meter {
        region,
        size: &row.item,
        day: &row.as_of,
    };
    let mut item = meter.item("item", &sold.name, sold.product, row.price);
    let family = match sold.service {
        "Storage" => "Storage",
        "Azure Kubernetes Service" => "Compute",
        _ => "Networking",
    };
    let sku = sold.name.strip_suffix(" Disk").unwrap_or(&sold.name);
    for (path, text) in [
        ("/serviceName", sold.service),
        ("/serviceFamily", family),
        ("/unitOfMeasure", sold.unit),
        ("/skuName", sku),
        ("/armSkuName", ""),
    ] {
        set(&mut item, path, json!(text));
    }
    Some(item)
}

/// What one can commit to, as items of their own and as savings plans of the Linux meter.
fn commit(
    meter: &Meter<'_>,
    names: (&str, &str),
    region: &Region,
    size: &SizeName,
    found: &mut Vec<Value>,
) -> Vec<Value> {
    let mut plans = Vec::new();
    for row in catalogue::commitments(region, size) {
        let term = if row.years == 1 { "1 Year" } else { "3 Years" };
        let price = number(row.price);
        match row.plan {
            CommitmentPlan::Reservation => {
                let kind = format!("reservation {term}");
                let mut item = meter.item(&kind, names.0, names.1, row.price);
                set(&mut item, "/type", json!("Reservation"));
                set(&mut item, "/reservationTerm", json!(term));
                found.push(item);
            }
            CommitmentPlan::SavingsPlan => {
                plans.push(json!({"unitPrice": price, "retailPrice": price, "term": term}));
            }
        }
    }
    plans
}

fn items(region: &Place, size: &SizeName, price: &VmPrice) -> Vec<Value> {
    let name = size.as_str();
    let short = name.trim_start_matches("Standard_").replace('_', " ");
    let family = catalogue::size(name).and_then(|size| size.family.as_ref());
    let family = family.map_or(short.as_str(), |family| family.as_str());
    let product = format!("Virtual Machines {family} Series");
    let meter = Meter {
        region,
        size: name,
        day: &price.as_of,
    };
    let mut found = Vec::new();
    let names = (short.as_str(), product.as_str());
    let mut plans = commit(&meter, names, &region.table, size, &mut found);
    if let Some(plan) = price.savings_plan_1y.map(number) {
        plans.push(json!({"unitPrice": plan, "retailPrice": plan, "term": "1 Year"}));
    }
    if let Some(linux) = price.linux {
        let mut linux = meter.item("linux", &short, &product, linux);
        if !plans.is_empty() {
            set(&mut linux, "/savingsPlan", json!(plans));
        }
        found.push(linux);
    }
    if let Some(spot) = price.spot {
        found.push(meter.item("spot", &format!("{short} Spot"), &product, spot));
    }
    if let Some(windows) = price.windows {
        found.push(meter.item("windows", &short, &format!("{product} Windows"), windows));
    }
    found
}
