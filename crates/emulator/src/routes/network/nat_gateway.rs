//! NAT gateways.

use serde_json::{Value, json};

use super::{referenced, write::Draft};
use crate::{
    call::Call,
    error::ArmError,
    json::{default, items, set, text},
    store::{entry::Resource, world::World},
};

/// The body of a gateway.
pub(crate) fn build(world: &World, draft: &Draft) -> Result<Value, ArmError> {
    let mut body = draft.given.clone();
    default(&mut body, "/sku/name", "Standard");
    default(&mut body, "/properties/idleTimeoutInMinutes", 4);
    for address in items(&body, "/properties/publicIpAddresses") {
        let id = text(address, "/id").unwrap_or_default();
        referenced(world, id, &draft.id, &draft.location)?;
        let owner = world
            .users(&id.to_lowercase())
            .find(|user| user.id != draft.id);
        if let Some(owner) = owner {
            return Err(ArmError::network(
                "PublicIPAddressInUse",
                format!(
                    "Resource {} is referencing public IP address {id} that is already allocated \
                     to resource {}.",
                    draft.id, owner.id
                ),
            ));
        }
    }
    Ok(body)
}

/// Adds what a gateway's GET shows beside its own body.
pub(crate) fn complete(world: &World, call: &Call<'_>, resource: &Resource, shown: &mut Value) {
    // Not in the schema; recorded at versions before this one.
    if !call.since("2024-03-01") {
        default(shown, "/sku/tier", "Regional");
    }
    let subnets: Vec<Value> = world
        .users(resource.id.key())
        .map(|user| json!({"id": user.id.as_str()}))
        .collect();
    if !subnets.is_empty() {
        set(shown, "/properties/subnets", json!(subnets));
    }
}

/// Refuses to delete a gateway that is used. The code and text are not recorded.
pub(crate) fn check_free(world: &World, resource: &Resource) -> Result<(), ArmError> {
    match world.users(resource.id.key()).next() {
        None => Ok(()),
        Some(user) => Err(ArmError::network(
            "InUseNatGatewayCannotBeDeleted",
            format!(
                "NAT gateway {} cannot be deleted because it is in use by {}.",
                resource.id, user.id
            ),
        )),
    }
}
