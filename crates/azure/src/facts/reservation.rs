//! What a capacity reservation group has, and what is taken of it: two requests, however many
//! reservations there are.

use std::collections::{BTreeMap, BTreeSet};

use azure_core::Method;
use model::{
    ids::ArmId,
    live::{ReservationFact, ReservationGroupFact},
    units::Region,
};
use serde_json::Value;

use crate::{
    client::{Client, absent_as_none},
    error::RequestError,
    versions,
};

/// Reads a group; `None` where there is none.
pub(super) async fn read(
    client: &Client,
    id: &ArmId,
) -> Result<Option<ReservationGroupFact>, RequestError> {
    let query = [
        ("$expand", "instanceView"),
        ("api-version", versions::COMPUTE),
    ];
    let call = client.call_at(Method::Get, id.as_str(), &query)?;
    let Some(group) = absent_as_none(client.send(&call).await)? else {
        return Ok(None);
    };
    let path = format!("{id}/capacityReservations");
    let query = [("api-version", versions::COMPUTE)];
    let reservations = client.list(&path, &query).await?;
    Ok(Some(fact(&group.body, &reservations)))
}

/// What the group says is taken, joined with what its reservations are.
fn fact(group: &Value, reservations: &[Value]) -> ReservationGroupFact {
    const VIEWS: &str = "/properties/instanceView/capacityReservations";
    let views = items(group, VIEWS);
    let taken: BTreeMap<String, BTreeSet<ArmId>> = views
        .map(|view| {
            let machines = items(view, "/utilizationInfo/virtualMachinesAllocated");
            let machines = machines.filter_map(|machine| text(machine, "/id")?.parse().ok());
            let name = text(view, "/name").unwrap_or_default();
            (name.to_lowercase(), machines.collect())
        })
        .collect();
    let reservations = reservations.iter().filter_map(|reservation| {
        let name = text(reservation, "/name").unwrap_or_default();
        let capacity = reservation.pointer("/sku/capacity").and_then(Value::as_u64);
        Some(ReservationFact {
            size: text(reservation, "/sku/name")?.into(),
            zone: text(reservation, "/zones/0").map(ToOwned::to_owned),
            capacity: u32::try_from(capacity.unwrap_or_default()).unwrap_or(u32::MAX),
            allocated: taken.get(&name.to_lowercase()).cloned().unwrap_or_default(),
        })
    });
    ReservationGroupFact {
        location: Region::new(text(group, "/location").unwrap_or_default()),
        reservations: reservations.collect(),
    }
}

fn text<'a>(value: &'a Value, place: &str) -> Option<&'a str> {
    value.pointer(place).and_then(Value::as_str)
}

fn items<'a>(value: &'a Value, place: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    let items = value.pointer(place).and_then(Value::as_array);
    items.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_taken_is_joined_by_name_whatever_its_case() {
        let machine =
            "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/one";
        let group = json!({"location": "East US", "properties": {"instanceView": {"capacityReservations": [
            {"name": "Places", "utilizationInfo": {"currentCapacity": 2, "virtualMachinesAllocated": [{"id": machine}]}},
        ]}}});
        let reservations = [
            json!({"name": "places", "sku": {"name": "Standard_D4s_v5", "capacity": 2}, "zones": ["1"]}),
            json!({"name": "more", "sku": {"name": "Standard_D8s_v5", "capacity": 1}}),
            json!({"name": "broken"}),
        ];
        let found = fact(&group, &reservations);
        assert_eq!(found.location, Region::new("eastus"));
        let told: Vec<(&str, Option<&str>, u32, usize)> = found
            .reservations
            .iter()
            .map(|one| {
                let zone = one.zone.as_deref();
                (one.size.as_str(), zone, one.capacity, one.allocated.len())
            })
            .collect();
        assert_eq!(
            told,
            [
                ("Standard_D4s_v5", Some("1"), 2, 1),
                ("Standard_D8s_v5", None, 1, 0)
            ]
        );
    }
}
