//! How likely Spot VMs are to be placed.

use serde_json::{Value, json};

use super::quota;
use crate::{
    call::Call,
    catalogue,
    error::ArmError,
    http::Answer,
    json::{flag, items, number, set, text},
    store::world::World,
};

/// Documented: locations and sizes that one request asks about at most.
const LOCATIONS: usize = 8;
const SIZES: usize = 5;

/// The answer to `placementScores/spot/generate`. Capacity in the sandbox is endless: what can
/// be placed at all has a high score.
pub(crate) fn generate(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    super::region_of(call)?;
    let given = crate::body::read(&call.incoming.text())?;
    let locations = items(&given, "/desiredLocations");
    let sizes = items(&given, "/desiredSizes");
    for (member, count, most) in [
        ("desiredLocations", locations.len(), LOCATIONS),
        ("desiredSizes", sizes.len(), SIZES),
    ] {
        if count == 0 {
            return Err(ArmError::missing_parameter(member));
        }
        if count > most {
            return Err(ArmError::invalid_parameter(
                member,
                format!("The parameter {member} has {count} entries; at most {most} are allowed."),
            ));
        }
    }
    let count = number(&given, "/desiredCount")
        .filter(|count| *count > 0)
        .ok_or_else(|| ArmError::missing_parameter("desiredCount"))?;
    let zonal = flag(&given, "/availabilityZones") == Some(true);
    let mut scores = Vec::new();
    for size in sizes.iter().filter_map(|size| text(size, "/sku")) {
        for location in locations.iter().filter_map(Value::as_str) {
            let zones = if zonal {
                catalogue::zones(&short(location))
                    .iter()
                    .cloned()
                    .map(Some)
                    .collect()
            } else {
                vec![None]
            };
            for zone in zones {
                scores.push(score(world, call, size, location, (zone, count)));
            }
        }
    }
    Ok(Answer::json(
        200,
        json!({
            "desiredLocations": locations,
            "desiredSizes": sizes,
            "desiredCount": count,
            "availabilityZones": zonal,
            "placementScores": scores,
        }),
    ))
}

fn short(location: &str) -> String {
    catalogue::region(location).map_or_else(
        || location.to_owned(),
        |region| region.name.as_str().to_owned(),
    )
}

fn score(
    world: &World,
    call: &Call<'_>,
    size: &str,
    location: &str,
    (zone, count): (Option<String>, u64),
) -> Value {
    let region = short(location);
    let offer = catalogue::offer(&region, size);
    let restricted = world
        .restriction(call.subscription(), &region, size)
        .is_some_and(|restriction| {
            restriction.zones.is_empty()
                || zone
                    .as_ref()
                    .is_some_and(|zone| restriction.zones.contains(zone))
        });
    let placed = offer.is_some_and(|offer| {
        offer.spot
            && zone
                .as_ref()
                .is_none_or(|zone| offer.zones.contains(zone.as_str()))
    });
    let word = if catalogue::offers(&region).is_none() {
        "DataNotFoundOrStale"
    } else if placed && !restricted {
        "High"
    } else {
        "RestrictedSkuNotAvailable"
    };
    let machine = json!({"properties": {
        "hardwareProfile": {"vmSize": size}, "priority": "Spot",
    }});
    let mut needed = quota::of_machine(&machine);
    for amount in needed.values_mut() {
        *amount *= count;
    }
    let none = std::collections::BTreeMap::new();
    let granted = quota::check(world, call.subscription(), &region, &none, &needed).is_ok();
    let mut shown = json!({
        "sku": size,
        "region": location,
        "score": word,
        "isQuotaAvailable": granted,
    });
    if let Some(zone) = zone {
        set(&mut shown, "/availabilityZone", json!(zone));
    }
    shown
}
