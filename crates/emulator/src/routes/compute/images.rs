//! The marketplace: publishers, offers, SKUs and versions. Their lists are bare arrays.

use serde_json::{Value, json};

use super::region_of;
use crate::{
    call::Call,
    catalogue::{self, MarketImage},
    error::ArmError,
    http::Answer,
    json::same,
    routes::common::not_served,
};

pub(crate) fn answer(call: &Call<'_>) -> Result<Answer, ArmError> {
    let region = region_of(call)?;
    let path = &call.path;
    if path.names.len() > 2 && !same(path.name(2), "vmimage") {
        return Err(not_served(call));
    }
    let within = |image: &MarketImage| {
        let fits = |at: usize, found: &str| path.names.get(at).is_none_or(|name| same(name, found));
        fits(1, image.publisher) && fits(3, image.offer) && fits(4, image.sku)
    };
    let mut found: Vec<MarketImage> = catalogue::images().filter(within).collect();
    if found.is_empty() {
        return Err(missing());
    }
    let list = match path.kind().as_str() {
        "locations/publishers" => names(call, region, &found, |image| vec![image.publisher]),
        "locations/publishers/artifacttypes/offers" => names(call, region, &found, |image| {
            vec![image.publisher, image.offer]
        }),
        "locations/publishers/artifacttypes/offers/skus" => {
            let mut skus = names(call, region, &found, |image| {
                vec![image.publisher, image.offer, image.sku]
            });
            for sku in &mut skus {
                crate::json::set(
                    sku,
                    "/properties/automaticOSUpgradeProperties/automaticOSUpgradeSupported",
                    json!(false),
                );
            }
            skus
        }
        "locations/publishers/artifacttypes/offers/skus/versions" if path.is_open() => {
            versions(call, region, &mut found)
        }
        "locations/publishers/artifacttypes/offers/skus/versions" => {
            let wanted = path.last_name();
            let image = found
                .iter()
                .find(|image| same(&image.version, wanted))
                .ok_or_else(missing)?;
            return Ok(Answer::json(200, version(call, region, image)));
        }
        _ => return Err(not_served(call)),
    };
    Ok(Answer::json(200, Value::Array(list)))
}

fn missing() -> ArmError {
    ArmError::new(404, "NotFound", "Artifact: VMImage was not found.")
}

/// The id of a thing of the marketplace, in the case that recorded answers have.
fn id(call: &Call<'_>, region: &str, parts: &[&str]) -> String {
    let kinds = [
        "Publishers",
        "ArtifactTypes/VMImage/Offers",
        "Skus",
        "Versions",
    ];
    let below: Vec<&str> = kinds
        .iter()
        .zip(parts)
        .flat_map(|(kind, part)| [*kind, *part])
        .collect();
    format!(
        "/Subscriptions/{}/Providers/Microsoft.Compute/Locations/{region}/{}",
        call.subscription(),
        below.join("/")
    )
}

fn names(
    call: &Call<'_>,
    region: &str,
    found: &[MarketImage],
    parts: impl Fn(&MarketImage) -> Vec<&'static str>,
) -> Vec<Value> {
    let mut all: Vec<Vec<&str>> = found.iter().map(parts).collect();
    all.sort();
    all.dedup();
    all.iter()
        .map(|parts| {
            json!({
                "location": region,
                "name": parts.last(),
                "id": id(call, region, parts),
            })
        })
        .collect()
}

fn versions(call: &Call<'_>, region: &str, found: &mut [MarketImage]) -> Vec<Value> {
    found.sort_by(|a, b| a.version.cmp(&b.version));
    let order = call
        .query()
        .get("$orderby")
        .unwrap_or_default()
        .to_lowercase();
    if order.ends_with(" desc") {
        found.reverse();
    }
    let top: usize = call
        .query()
        .get("$top")
        .and_then(|top| top.parse().ok())
        .unwrap_or(usize::MAX);
    let expand = call
        .query()
        .get("$expand")
        .is_some_and(|expand| same(expand, "properties"));
    found
        .iter()
        .take(top)
        .map(|image| {
            let parts = [image.publisher, image.offer, image.sku, &image.version];
            let mut item = json!({
                "location": region,
                "name": image.version,
                "id": id(call, region, &parts),
            });
            if expand {
                crate::json::set(
                    &mut item,
                    "/properties",
                    json!({
                        "hyperVGeneration": format!("V{}", image.image.generation),
                        "architecture": image.image.architecture,
                        "replicaType": "Unmanaged",
                        "replicaCount": null,
                        "goLiveDate": null,
                    }),
                );
                crate::json::set(&mut item, "/extendedLocation", Value::Null);
            }
            item
        })
        .collect()
}

fn version(call: &Call<'_>, region: &str, image: &MarketImage) -> Value {
    let parts = [image.publisher, image.offer, image.sku, &image.version];
    let mut features = vec![json!({"name": "IsAcceleratedNetworkSupported", "value": "True"})];
    if image.image.generation == 2 && image.image.architecture == "x64" {
        features.push(json!({"name": "SecurityType", "value": "TrustedLaunchSupported"}));
    }
    let mut shown = json!({
        "properties": {
            "hyperVGeneration": format!("V{}", image.image.generation),
            "architecture": image.image.architecture,
            "replicaType": "Unmanaged",
            "disallowed": {"vmDiskType": "None"},
            "automaticOSUpgradeProperties": {"automaticOSUpgradeSupported": false},
            "imageDeprecationStatus": {"imageState": "Active"},
            "features": features,
            "osDiskImage": {
                "operatingSystem": image.image.os,
                "sizeInBytes": u64::from(image.disk_gb) * 1_073_741_824 + 512,
            },
            "dataDiskImages": [],
        },
        "location": region,
        "name": image.version,
        "id": id(call, region, &parts),
    });
    if image.has_plan {
        crate::json::set(
            &mut shown,
            "/properties/plan",
            json!({"publisher": image.publisher, "product": image.offer, "name": image.sku}),
        );
    }
    shown
}
