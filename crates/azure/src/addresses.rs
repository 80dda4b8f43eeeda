//! Addresses of machines: a list a group and a list a Uniform set, never one request a node.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
};

use futures::future::join_all;
use model::{
    ids::ArmId,
    inventory::NodeAddresses,
    live::{Live, Owner},
    resource::{Orchestration, Resource},
};
use serde_json::Value;

use crate::{client::Client, error::ReadError, read::explain, versions};

/// Reads the addresses of all machines of the stack, by the machine that has them.
///
/// # Errors
/// A list could not be read.
pub async fn addresses(
    client: &Client,
    live: &Live,
) -> Result<BTreeMap<ArmId, NodeAddresses>, ReadError> {
    let lists = join_all(places(live).iter().map(|place| of_place(client, place))).await;
    let mut found = BTreeMap::new();
    for listed in lists {
        let (interfaces, addresses) = listed?;
        found.extend(assemble(&interfaces, &addresses));
    }
    Ok(found)
}

/// Where to look: groups with VMs of ours, and Uniform sets of ours.
fn places(live: &Live) -> BTreeSet<ArmId> {
    let ours = live
        .resources
        .iter()
        .filter(|one| matches!(one.owner, Owner::Stack(_)));
    let place = |one: &model::live::LiveResource| {
        let resource = one.resource.as_ref()?;
        let set = resource.scale_set().map(|set| set.orchestration);
        if set == Some(Orchestration::Uniform) {
            return Some(one.id.clone());
        }
        Resource::machines(resource)?;
        one.id.group_id()
    };
    ours.filter_map(place).collect()
}

/// The bodies of interfaces and of public addresses.
type Listed = (Vec<Value>, Vec<Value>);

async fn of_place(client: &Client, place: &ArmId) -> Result<Listed, ReadError> {
    let is_group = place.group_id().as_ref() == Some(place);
    let (below, version) = if is_group {
        ("/providers/Microsoft.Network", versions::NETWORK)
    } else {
        ("", versions::NETWORK_OF_SETS)
    };
    let query = [("api-version", version)];
    let list = |collection: &'static str| async move {
        let path = format!("{place}{below}/{collection}");
        match client.list(&path, &query).await {
            Err(error) if error.is_absence() => Ok(Vec::new()),
            Err(error) => {
                let what = format!("the {collection} of `{}`", place.name());
                Err(explain(client, &what, error).await)
            }
            Ok(bodies) => Ok(bodies),
        }
    };
    let (interfaces, addresses) =
        futures::future::join(list("networkInterfaces"), list("publicIPAddresses")).await;
    Ok((interfaces?, addresses?))
}

fn assemble(interfaces: &[Value], addresses: &[Value]) -> BTreeMap<ArmId, NodeAddresses> {
    let numbers: BTreeMap<ArmId, Ipv4Addr> = addresses
        .iter()
        .filter_map(|body| Some((id(body, "/id")?, number(body, "/properties/ipAddress")?)))
        .collect();
    let primary = |of: &&Value| of.pointer("/properties/primary") == Some(&Value::Bool(true));
    let mut found: BTreeMap<ArmId, NodeAddresses> = BTreeMap::new();
    for interface in interfaces {
        let Some(machine) = id(interface, "/properties/virtualMachine/id") else {
            continue;
        };
        // Of several interfaces the primary one is where the machine is reached.
        if found.contains_key(&machine) && primary(&interface).then_some(()).is_none() {
            continue;
        }
        let all = interface.pointer("/properties/ipConfigurations");
        let all = all.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let Some(one) = all.iter().find(primary).or_else(|| all.first()) else {
            continue;
        };
        let public = id(one, "/properties/publicIPAddress/id");
        let addresses = NodeAddresses {
            private: number(one, "/properties/privateIPAddress"),
            public: public.and_then(|id| numbers.get(&id).copied()),
        };
        found.insert(machine, addresses);
    }
    found
}

fn id(body: &Value, place: &str) -> Option<ArmId> {
    body.pointer(place)?.as_str()?.parse().ok()
}

fn number(body: &Value, place: &str) -> Option<Ipv4Addr> {
    body.pointer(place)?.as_str()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const GROUP: &str = "/subscriptions/s/resourceGroups/g/providers";

    fn interface(
        name: &str,
        machine: &str,
        primary: bool,
        private: &str,
        public: Option<&str>,
    ) -> Value {
        let public = public.map(
            |name| json!({"id": format!("{GROUP}/Microsoft.Network/publicIPAddresses/{name}")}),
        );
        json!({
            "id": format!("{GROUP}/Microsoft.Network/networkInterfaces/{name}"),
            "properties": {
                "primary": primary,
                "virtualMachine": {"id": format!("{GROUP}/Microsoft.Compute/virtualMachines/{machine}")},
                "ipConfigurations": [{"properties": {
                    "primary": true, "privateIPAddress": private, "publicIPAddress": public,
                }}],
            },
        })
    }

    #[test]
    fn a_machine_is_reached_at_its_primary_interface() {
        let interfaces = [
            interface("a", "VM-0", true, "10.0.0.4", Some("one")),
            interface("b", "vm-0", false, "10.0.0.5", None),
            interface("c", "vm-1", false, "10.0.0.6", Some("gone")),
            json!({"properties": {}}),
        ];
        let addresses = [json!({
            "id": format!("{GROUP}/Microsoft.Network/PUBLICIPADDRESSES/ONE"),
            "properties": {"ipAddress": "203.0.113.9"},
        })];
        let found = assemble(&interfaces, &addresses);
        let of = |name: &str| {
            let id: ArmId = format!("{GROUP}/Microsoft.Compute/virtualMachines/{name}")
                .parse()
                .expect("an id");
            found.get(&id).copied()
        };
        let expected = NodeAddresses {
            private: Some(Ipv4Addr::new(10, 0, 0, 4)),
            public: Some(Ipv4Addr::new(203, 0, 113, 9)),
        };
        assert_eq!(of("vm-0"), Some(expected));
        assert_eq!(of("vm-1").and_then(|of| of.public), None);
        assert_eq!(found.len(), 2);
    }
}
