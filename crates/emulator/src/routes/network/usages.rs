//! What is used of the network's limits.

use serde_json::{Value, json};

use crate::{call::Call, error::ArmError, http::Answer, json::set, store::world::World};

/// Counters of a region with their titles and limits, as recorded.
const COUNTERS: [(&str, &str, u64); 7] = [
    ("VirtualNetworks", "Virtual Networks", 1_000),
    ("PublicIPAddresses", "Public IP Addresses", 1_000),
    (
        "StaticPublicIPAddresses",
        "Static Public IP Addresses",
        1_000,
    ),
    (
        "StandardSkuPublicIpAddresses",
        "Public IP Addresses - Standard",
        1_000,
    ),
    ("NetworkSecurityGroups", "Network Security Groups", 5_000),
    ("NatGateways", "Nat Gateways", 1_000),
    ("NetworkInterfaces", "Network Interfaces", 65_536),
];

/// The limit of a counter: the world's, or the usual one.
pub(crate) fn limit(world: &World, subscription: &str, location: &str, name: &str) -> u64 {
    world.quota(subscription, location, name).map_or_else(
        || {
            COUNTERS
                .iter()
                .find(|(known, _, _)| *known == name)
                .map_or(u64::MAX, |(_, _, limit)| *limit)
        },
        |quota| quota.limit,
    )
}

/// Whether there is room for one more; the limit where there is not.
pub(crate) fn check(
    world: &World,
    subscription: &str,
    location: &str,
    name: &str,
) -> Result<(), u64> {
    let limit = limit(world, subscription, location, name);
    if world.usage(subscription, location, name) < limit {
        Ok(())
    } else {
        Err(limit)
    }
}

pub(crate) fn list(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let subscription = call.subscription();
    let location = crate::routes::compute::region_of(call)?;
    let value: Vec<Value> = COUNTERS
        .iter()
        .map(|(name, title, _)| {
            let mut usage = json!({
                "currentValue": world.usage(subscription, location, name),
                "id": format!(
                    "/subscriptions/{subscription}/providers/Microsoft.Network/locations/{location}/usages/{name}"
                ),
                "limit": limit(world, subscription, location, name),
                "name": {"localizedValue": title, "value": name},
                "unit": "Count",
            });
            // Not in the schema; recorded at versions before this one.
            if !call.since("2024-03-01") {
                set(&mut usage, "/isAdjustable", json!(true));
            }
            usage
        })
        .collect();
    Ok(Answer::json(200, json!({"value": value})))
}
