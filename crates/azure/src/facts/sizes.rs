//! Which sizes a region has, and what keeps the subscription from them.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    live::SizeFact,
    units::{Region, SizeName},
};
use serde_json::Value;

use crate::{client::Client, error::RequestError, versions};

/// Reads the sizes of a region.
pub(super) async fn read(
    client: &Client,
    region: &Region,
) -> Result<BTreeMap<SizeName, SizeFact>, RequestError> {
    let path = format!(
        "/subscriptions/{}/providers/Microsoft.Compute/skus",
        client.subscription()
    );
    // The service filters by nothing but the location.
    let filter = format!("location eq '{region}'");
    let query = [
        ("$filter", filter.as_str()),
        ("api-version", versions::SKUS),
    ];
    let items = client.list(&path, &query).await?;
    let sizes = items.iter().filter_map(|item| size(item, region));
    Ok(sizes.map(|size| (size.name.clone(), size)).collect())
}

/// A size; `None` for other kinds of SKUs and other regions.
pub(super) fn size(item: &Value, region: &Region) -> Option<SizeFact> {
    if !text(item, "resourceType").eq_ignore_ascii_case("virtualMachines") {
        return None;
    }
    let here = |text: &str| Region::new(text) == *region;
    let place = list(item, "locationInfo").find(|place| here(text(place, "location")))?;
    let mut fact = SizeFact {
        name: text(item, "name").into(),
        family: text(item, "family").to_owned(),
        zones: texts(place, "zones"),
        restricted: None,
        restricted_zones: BTreeSet::new(),
        capabilities: capabilities(item),
    };
    for restriction in list(item, "restrictions") {
        let info = restriction.get("restrictionInfo").unwrap_or(&Value::Null);
        let mut places = texts(info, "locations");
        places.extend(texts(restriction, "values"));
        if !places.is_empty() && !places.iter().any(|place| here(place)) {
            continue;
        }
        if text(restriction, "type").eq_ignore_ascii_case("Zone") {
            fact.restricted_zones.extend(texts(info, "zones"));
        } else {
            fact.restricted = Some(text(restriction, "reasonCode").to_owned());
        }
    }
    Some(fact)
}

fn capabilities(item: &Value) -> BTreeMap<String, String> {
    list(item, "capabilities")
        .map(|capability| {
            let name = text(capability, "name").to_owned();
            (name, text(capability, "value").to_owned())
        })
        .collect()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn texts(value: &Value, name: &str) -> BTreeSet<String> {
    list(value, name)
        .filter_map(Value::as_str)
        .map(ToOwned::to_owned)
        .collect()
}
