//! Public IP addresses.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{interface, usages, write::Draft};
use crate::{
    call::Call,
    error::ArmError,
    json::{default, same, set, text},
    store::{entry::Resource, world::World},
};

pub(crate) fn is_standard(body: &Value) -> bool {
    text(body, "/sku/name").is_some_and(|name| same(name, "Standard"))
}

/// The counters that an address counts for.
pub(crate) fn counters(body: &Value) -> Vec<&'static str> {
    let mut names = vec!["PublicIPAddresses"];
    if is_standard(body) {
        names.push("StandardSkuPublicIpAddresses");
    }
    names
}

/// The refusal of one more than there may be.
pub(crate) fn too_many(limit: u64) -> ArmError {
    ArmError::network(
        "PublicIPCountLimitReached",
        format!(
            "Cannot create more than {limit} public IP addresses for this subscription in this \
             region."
        ),
    )
}

/// The body of an address.
pub(crate) fn build(world: &World, draft: &Draft) -> Result<Value, ArmError> {
    if draft.old.is_none() {
        let subscription = draft.id.subscription().unwrap_or_default();
        usages::check(world, subscription, &draft.location, "PublicIPAddresses")
            .map_err(too_many)?;
    }
    let mut body = draft.given.clone();
    default(&mut body, "/sku/name", "Basic");
    default(&mut body, "/sku/tier", "Regional");
    let allocation = if is_standard(&body) {
        "Static"
    } else {
        "Dynamic"
    };
    default(&mut body, "/properties/publicIPAddressVersion", "IPv4");
    default(
        &mut body,
        "/properties/publicIPAllocationMethod",
        allocation,
    );
    default(&mut body, "/properties/idleTimeoutInMinutes", 4);
    default(&mut body, "/properties/ipTags", json!([]));
    if let Some(label) = text(&body, "/properties/dnsSettings/domainNameLabel") {
        let name = format!("{label}.{}.cloudapp.azure.com", draft.location);
        set(&mut body, "/properties/dnsSettings/fqdn", json!(name));
    }
    if let Some(address) = draft.kept("/properties/ipAddress") {
        set(&mut body, "/properties/ipAddress", address);
    }
    Ok(body)
}

/// Gives a static address its number once it is provisioned. The numbers are from the shared
/// range 100.64.0.0/10, which leads nowhere on the internet.
pub(crate) fn settled(world: &mut World, id: &ArmId) {
    let waits = world.resource(id).is_some_and(|resource| {
        resource.is("Microsoft.Network/publicIPAddresses")
            && resource.body.pointer("/properties/ipAddress").is_none()
            && text(&resource.body, "/properties/publicIPAllocationMethod")
                .is_some_and(|method| same(method, "Static"))
    });
    if waits {
        let [a, b, c] = world.stream().bytes();
        let address = format!("100.{}.{b}.{c}", 64 + (a & 63));
        world.change(id, |resource| {
            set(&mut resource.body, "/properties/ipAddress", json!(address));
        });
    }
}

/// Adds what an address's GET shows beside its own body.
pub(crate) fn complete(world: &World, call: &Call<'_>, resource: &Resource, shown: &mut Value) {
    for user in world.users(resource.id.key()) {
        if user.is("Microsoft.Network/natGateways") {
            set(
                shown,
                "/properties/natGateway",
                json!({"id": user.id.as_str()}),
            );
        } else if let Some(id) = interface::configurations_in(user, &resource.id).first() {
            set(shown, "/properties/ipConfiguration", json!({"id": id}));
        }
    }
    if call.since("2023-01-01") {
        default(
            shown,
            "/properties/ddosSettings",
            json!({"protectionMode": "VirtualNetworkInherited"}),
        );
    }
}

/// Refuses to delete an address that is used.
pub(crate) fn check_free(world: &World, resource: &Resource) -> Result<(), ArmError> {
    let user = world.users(resource.id.key()).next().map(|user| {
        interface::configurations_in(user, &resource.id)
            .into_iter()
            .next()
            .unwrap_or_else(|| user.id.to_string())
    });
    match user {
        None => Ok(()),
        Some(user) => Err(ArmError::network(
            "PublicIPAddressCannotBeDeleted",
            format!(
                "Public IP address {} can not be deleted since it is still allocated to resource \
                 {user}. In order to delete the public IP, disassociate/detach the Public IP \
                 address from the resource.  To learn how to do this, see aka.ms/deletepublicip.",
                resource.id
            ),
        )),
    }
}
