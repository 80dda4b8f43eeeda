//! A subnet that is not the stack's: one read of its network.

use model::{ids::ArmId, live::SubnetFact, units::Region};
use serde_json::Value;

use crate::{client::Client, error::RequestError};

/// Reads a subnet; `None` where it or its network does not exist.
pub(super) async fn read(client: &Client, id: &ArmId) -> Result<Option<SubnetFact>, RequestError> {
    let Some(network) = id.parent() else {
        return Ok(None);
    };
    let reply = client.get(&network).await?;
    Ok(reply.and_then(|reply| of_network(&reply.body, id)))
}

/// The subnet in the body of its network.
fn of_network(body: &Value, id: &ArmId) -> Option<SubnetFact> {
    let list = |of: &Value, place: &str| -> Vec<Value> {
        let items = of.pointer(place).and_then(Value::as_array);
        items.cloned().unwrap_or_default()
    };
    let text = |of: &Value, place: &str| {
        let text = of.pointer(place).and_then(Value::as_str);
        text.map(ToOwned::to_owned)
    };
    let is_it = |subnet: &Value| {
        let found = text(subnet, "/id").and_then(|id| id.parse::<ArmId>().ok());
        found.as_ref() == Some(id)
    };
    let subnets = list(body, "/properties/subnets");
    let subnet = subnets.iter().find(|subnet| is_it(subnet))?;
    let mut prefixes: Vec<String> = list(subnet, "/properties/addressPrefixes")
        .iter()
        .filter_map(|prefix| prefix.as_str().map(ToOwned::to_owned))
        .collect();
    if prefixes.is_empty() {
        prefixes.extend(text(subnet, "/properties/addressPrefix"));
    }
    // Azure lists one configuration for each address that is taken.
    let used = list(subnet, "/properties/ipConfigurations").len();
    Some(SubnetFact {
        location: Region::new(&text(body, "/location")?),
        prefixes,
        used: u64::try_from(used).unwrap_or(u64::MAX),
        delegated_to: text(subnet, "/properties/delegations/0/properties/serviceName"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_subnet_is_read_from_its_network_in_either_form() {
        let network =
            "/subscriptions/0/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/hub";
        let id: ArmId = format!("{network}/subnets/gpu").parse().expect("an id");
        let body = json!({"location": "East US", "properties": {"subnets": [
            {"id": format!("{network}/subnets/other"), "properties": {"addressPrefix": "10.0.0.0/24"}},
            {"id": format!("{network}/SUBNETS/GPU"), "properties": {
                "addressPrefixes": ["10.0.1.0/28", "10.0.2.0/28"],
                "ipConfigurations": [{"id": "a"}, {"id": "b"}],
                "delegations": [{"properties": {"serviceName": "Microsoft.Batch/batchAccounts"}}],
            }},
        ]}});
        let fact = of_network(&body, &id).expect("it is there");
        let expected = SubnetFact {
            location: Region::new("eastus"),
            prefixes: vec!["10.0.1.0/28".to_owned(), "10.0.2.0/28".to_owned()],
            used: 2,
            delegated_to: Some("Microsoft.Batch/batchAccounts".to_owned()),
        };
        assert_eq!(fact, expected);
        let other: ArmId = format!("{network}/subnets/none").parse().expect("an id");
        assert_eq!(of_network(&body, &other), None);
    }
}
