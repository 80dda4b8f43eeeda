//! Subscriptions, their locations, and the tenant.

use serde_json::{Value, json};

use crate::{
    call::Call,
    catalogue,
    error::ArmError,
    http::{Answer, Method},
    routes::common::not_served,
    store::{entry::Subscription, world::World},
};

pub(crate) fn answer(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    if call.method() != Method::Get {
        return Err(not_served(call));
    }
    let body = match call.path.kind().as_str() {
        "subscriptions" => {
            let shown = world.subscriptions();
            let shown: Vec<Value> = shown.map(|one| show(call, one)).collect();
            // The schema wants the link, also of the last page.
            json!({"value": shown, "nextLink": ""})
        }
        "tenants" => json!({"nextLink": "", "value": [{
            "id": format!("/tenants/{}", call.setup.tenant),
            "tenantId": call.setup.tenant,
            "countryCode": "US",
            "displayName": "Sandbox",
            "domains": ["sandbox.example"],
            "tenantCategory": "Home",
        }]}),
        "locations" => json!({"value": locations(call)}),
        _ => world
            .subscription(call.subscription())
            .map(|subscription| show(call, subscription))
            .unwrap_or_default(),
    };
    Ok(Answer::json(200, body))
}

fn show(call: &Call<'_>, subscription: &Subscription) -> Value {
    json!({
        "id": format!("/subscriptions/{}", subscription.id),
        "authorizationSource": "RoleBased",
        "managedByTenants": [],
        "subscriptionId": subscription.id,
        "tenantId": call.setup.tenant,
        "displayName": subscription.name,
        "state": "Enabled",
        "subscriptionPolicies": {
            "locationPlacementId": "Public_2014-09-01",
            "quotaId": "PayAsYouGo_2014-09-01",
            "spendingLimit": "Off",
        },
    })
}

fn locations(call: &Call<'_>) -> Vec<Value> {
    catalogue::regions()
        .iter()
        .map(|region| {
            let name = region.name.as_str();
            let mut location = json!({
                "id": format!("/subscriptions/{}/locations/{name}", call.subscription()),
                "name": name,
                "type": "Region",
                "displayName": region.display_name,
                "regionalDisplayName": region.display_name,
                "metadata": {"regionType": "Physical"},
            });
            if let Some(geography) = &region.geography {
                crate::json::set(&mut location, "/metadata/geographyGroup", json!(geography));
            }
            let zones = catalogue::zones(name);
            if !zones.is_empty() {
                let mappings: Vec<Value> = zones
                    .iter()
                    .map(|zone| json!({"logicalZone": zone, "physicalZone": format!("{name}-az{zone}")}))
                    .collect();
                crate::json::set(&mut location, "/availabilityZoneMappings", json!(mappings));
            }
            location
        })
        .collect()
}
