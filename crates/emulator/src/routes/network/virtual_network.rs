//! Virtual networks.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{address::Prefix, subnet, write::Draft};
use crate::{
    call::Call,
    error::ArmError,
    json::{default, items, set, text},
    store::{entry::Resource, world::World},
};

/// The body of a network, without its subnets.
pub(crate) fn build(draft: &Draft) -> Result<Value, ArmError> {
    let mut body =
        json!({"properties": draft.given.get("properties").cloned().unwrap_or_default()});
    crate::json::remove(&mut body, "/properties/subnets");
    let prefixes = prefixes(&draft.given)?;
    if prefixes.is_empty() {
        return Err(ArmError::network(
            "VnetAddressSpaceNotSpecified",
            format!(
                "Virtual Network {} does not have an address space with a prefix.",
                draft.id.name()
            ),
        ));
    }
    default(&mut body, "/properties/virtualNetworkPeerings", json!([]));
    default(&mut body, "/properties/enableDdosProtection", false);
    Ok(body)
}

/// The IPv4 prefixes of a network's address space; others are left alone.
pub(crate) fn prefixes(body: &Value) -> Result<Vec<Prefix>, ArmError> {
    items(body, "/properties/addressSpace/addressPrefixes")
        .iter()
        .filter_map(Value::as_str)
        .filter(|text| !text.contains(':'))
        .map(Prefix::parse)
        .collect()
}

/// Writes the subnets of a network's body and removes those that it leaves out; answers whether
/// anything changed.
pub(crate) fn put_subnets(
    world: &mut World,
    call: &Call<'_>,
    network: &ArmId,
    given: &Value,
    location: &str,
) -> Result<bool, ArmError> {
    let space = prefixes(given)?;
    let wanted = items(given, "/properties/subnets").to_vec();
    let mut keep = Vec::new();
    let mut changed = false;
    let mut seen: Vec<(String, Prefix)> = Vec::new();
    for item in &wanted {
        let name = text(item, "/name").unwrap_or_default();
        let id = network.child("subnets", name);
        keep.push(id.key().to_owned());
        let draft = subnet::Draft {
            id,
            network,
            location,
            space: &space,
            given: item,
        };
        changed |= subnet::put_inline(world, call, &draft, &mut seen)?;
    }
    let gone: Vec<Resource> = world
        .below(&format!("{network}/subnets/"))
        .filter(|subnet| !keep.contains(&subnet.id.key().to_owned()))
        .cloned()
        .collect();
    for subnet in gone {
        subnet::check_free(world, &subnet)?;
        world.remove(&crate::store::entry::resource_key(subnet.id.key()));
        changed = true;
    }
    Ok(changed)
}

/// Adds what a network's GET shows beside its own body.
pub(crate) fn complete(world: &World, call: &Call<'_>, resource: &Resource, shown: &mut Value) {
    let subnets: Vec<Value> = world
        .below(&format!("{}/subnets/", resource.id))
        .map(|subnet| super::show(world, call, subnet))
        .collect();
    set(shown, "/properties/subnets", json!(subnets));
    if call.since("2024-03-01") {
        default(shown, "/properties/privateEndpointVNetPolicies", "Disabled");
    }
    // Not in the schema; recorded of single reads alone.
    if call.since("2024-01-01") && call.reads_one() {
        default(
            shown,
            "/properties/addressSpace/ipamPoolPrefixAllocations",
            json!([]),
        );
    }
    if resource.operation.is_some() && resource.state() == "Succeeded" {
        set(shown, "/properties/provisioningState", json!("Updating"));
    }
}

/// Refuses to delete a network that is used.
pub(crate) fn check_free(world: &World, resource: &Resource) -> Result<(), ArmError> {
    let subnets: Vec<Resource> = world
        .below(&format!("{}/subnets/", resource.id))
        .cloned()
        .collect();
    subnets
        .iter()
        .try_for_each(|subnet| subnet::check_free(world, subnet))
}
