//! Network interfaces.

use std::collections::BTreeSet;

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{referenced, subnet, write::Draft};
use crate::{
    call::Call,
    error::ArmError,
    json::{default, items, same, set, text},
    routes::compute::scale_set::instance,
    store::{entry::Resource, world::World},
};

/// The body of an interface.
pub(crate) fn build(world: &mut World, draft: &Draft) -> Result<Value, ArmError> {
    let mut body = draft.given.clone();
    let mut configurations = items(&body, "/properties/ipConfigurations").to_vec();
    if configurations.is_empty() {
        return Err(ArmError::network(
            "NetworkInterfaceMustHaveOneIpConfiguration",
            format!(
                "Network interface {} must have at least one IP configuration.",
                draft.id
            ),
        ));
    }
    let mut taken = BTreeSet::new();
    for (at, configuration) in configurations.iter_mut().enumerate() {
        configure(world, draft, configuration, at == 0, &mut taken)?;
    }
    set(
        &mut body,
        "/properties/ipConfigurations",
        json!(configurations),
    );
    if let Some(id) = text(&body, "/properties/networkSecurityGroup/id").map(str::to_owned) {
        referenced(world, &id, &draft.id, &draft.location)?;
        set(
            &mut body,
            "/properties/networkSecurityGroup",
            json!({"id": id}),
        );
    }
    name_parts(world, draft, &mut body);
    default(&mut body, "/properties/enableAcceleratedNetworking", false);
    default(&mut body, "/properties/enableIPForwarding", false);
    default(&mut body, "/properties/nicType", "Standard");
    for (member, value) in [
        ("vnetEncryptionSupported", json!(false)),
        ("hostedWorkloads", json!([])),
        ("tapConfigurations", json!([])),
    ] {
        set(&mut body, &format!("/properties/{member}"), value);
    }
    Ok(body)
}

/// Gives an interface its DNS suffix and hardware address, which stay the same.
fn name_parts(world: &mut World, draft: &Draft, body: &mut Value) {
    let suffix = draft
        .kept("/properties/dnsSettings/internalDomainNameSuffix")
        .unwrap_or_else(|| {
            let letters = world.stream().letters(26);
            json!(format!("{letters}.bx.internal.cloudapp.net"))
        });
    let mac = draft.kept("/properties/macAddress").unwrap_or_else(|| {
        let [a, b, c] = world.stream().bytes();
        json!(format!("00-0D-3A-{a:02X}-{b:02X}-{c:02X}"))
    });
    default(body, "/properties/dnsSettings/dnsServers", json!([]));
    set(body, "/properties/dnsSettings/appliedDnsServers", json!([]));
    set(
        body,
        "/properties/dnsSettings/internalDomainNameSuffix",
        suffix,
    );
    set(body, "/properties/macAddress", mac);
}

/// Completes an IP configuration: its address, and what its answers show.
fn configure(
    world: &World,
    draft: &Draft,
    configuration: &mut Value,
    first: bool,
    taken: &mut BTreeSet<u32>,
) -> Result<(), ArmError> {
    let name = text(configuration, "/name").unwrap_or_default().to_owned();
    let id = format!("{}/ipConfigurations/{name}", draft.id);
    let Some(subnet_id) = text(configuration, "/properties/subnet/id").map(str::to_owned) else {
        return Err(ArmError::network(
            "SubnetReferenceMissing",
            format!("IP configuration {id} does not name a subnet."),
        ));
    };
    let subnet = referenced(world, &subnet_id, &draft.id, &draft.location)?;
    set(
        configuration,
        "/properties/subnet",
        json!({"id": subnet_id}),
    );
    if let Some(address) = text(configuration, "/properties/publicIPAddress/id").map(str::to_owned)
    {
        referenced(world, &address, &draft.id, &draft.location)?;
        set(
            configuration,
            "/properties/publicIPAddress",
            json!({"id": address}),
        );
    }
    let pools: Vec<Value> = items(configuration, "/properties/loadBalancerBackendAddressPools")
        .iter()
        .map(|pool| json!({"id": text(pool, "/id").unwrap_or_default()}))
        .collect();
    for pool in &pools {
        let id = text(pool, "/id").unwrap_or_default();
        referenced(world, id, &draft.id, &draft.location)?;
    }
    if !pools.is_empty() {
        let place = "/properties/loadBalancerBackendAddressPools";
        set(configuration, place, json!(pools));
    }
    let address = address(world, draft, configuration, subnet, taken)?;
    set(configuration, "/id", json!(id));
    set(
        configuration,
        "/type",
        json!("Microsoft.Network/networkInterfaces/ipConfigurations"),
    );
    set(
        configuration,
        "/properties/provisioningState",
        json!("Succeeded"),
    );
    set(
        configuration,
        "/properties/privateIPAddress",
        json!(address),
    );
    default(
        configuration,
        "/properties/privateIPAllocationMethod",
        "Dynamic",
    );
    default(configuration, "/properties/privateIPAddressVersion", "IPv4");
    default(configuration, "/properties/primary", first);
    Ok(())
}

/// The address of an IP configuration: the one it had, the one it wants, or the first free one.
fn address(
    world: &World,
    draft: &Draft,
    configuration: &Value,
    subnet: &Resource,
    taken: &mut BTreeSet<u32>,
) -> Result<String, ArmError> {
    let name = text(configuration, "/name").unwrap_or_default();
    let wanted = text(configuration, "/properties/privateIPAddress");
    let old = draft.old.as_ref().and_then(|old| {
        items(&old.body, "/properties/ipConfigurations")
            .iter()
            .find(|old| {
                text(old, "/name").is_some_and(|old| same(old, name))
                    && text(old, "/properties/subnet/id")
                        .is_some_and(|old| old.to_lowercase() == subnet.id.key())
            })
    });
    let kept = old
        .and_then(|old| text(old, "/properties/privateIPAddress"))
        .filter(|kept| wanted.is_none_or(|wanted| wanted == *kept));
    if let Some(kept) = kept {
        return Ok(kept.to_owned());
    }
    let address = subnet::address(world, subnet, wanted, taken)?;
    taken.insert(u32::from(address));
    Ok(address.to_string())
}

/// The IP configurations of an interface, a balancer or a bastion host.
fn configurations(user: &Resource) -> impl Iterator<Item = &Value> {
    ["ipConfigurations", "frontendIPConfigurations"]
        .into_iter()
        .flat_map(|part| items(&user.body, &format!("/properties/{part}")))
}

/// Ids of the IP configurations that name this subnet or address.
pub(crate) fn configurations_in(user: &Resource, target: &ArmId) -> Vec<String> {
    if user.hidden.scale_set.is_some() {
        return instance::configurations_in(user, target.key());
    }
    configurations(user)
        .filter(|configuration| {
            ["/properties/subnet/id", "/properties/publicIPAddress/id"]
                .iter()
                .any(|place| {
                    text(configuration, place).is_some_and(|id| id.to_lowercase() == target.key())
                })
        })
        .filter_map(|configuration| text(configuration, "/id").map(str::to_owned))
        .collect()
}

/// Ids of the IP configurations that are in this backend pool.
pub(crate) fn configurations_naming(nic: &Resource, pool: &ArmId) -> Vec<String> {
    configurations(nic)
        .filter(|configuration| {
            items(configuration, "/properties/loadBalancerBackendAddressPools")
                .iter()
                .any(|named| text(named, "/id").is_some_and(|id| id.to_lowercase() == pool.key()))
        })
        .filter_map(|configuration| text(configuration, "/id").map(str::to_owned))
        .collect()
}

/// The VM that holds an interface.
pub(crate) fn holder<'a>(world: &'a World, nic: &ArmId) -> Option<&'a Resource> {
    world
        .users(nic.key())
        .find(|user| user.is("Microsoft.Compute/virtualMachines"))
}

/// Adds what an interface's GET shows beside its own body.
pub(crate) fn complete(world: &World, call: &Call<'_>, resource: &Resource, shown: &mut Value) {
    if let Some(vm) = holder(world, &resource.id) {
        set(
            shown,
            "/properties/virtualMachine",
            json!({"id": vm.id.as_str()}),
        );
        default(shown, "/properties/primary", true);
    } else {
        crate::json::remove(shown, "/properties/macAddress");
    }
    if call.since("2022-01-01") {
        default(shown, "/properties/auxiliaryMode", "None");
        // Not in the schema; recorded at versions before this one.
        if !call.since("2024-03-01") {
            set(shown, "/properties/allowPort25Out", json!(true));
            set(shown, "/kind", json!("Regular"));
        }
    }
}

/// Refuses to delete an interface that a VM holds or that is reserved for one.
pub(crate) fn check_free(world: &World, resource: &Resource) -> Result<(), ArmError> {
    if let Some(vm) = holder(world, &resource.id) {
        return Err(ArmError::network(
            "NicInUse",
            format!(
                "Network Interface {} is used by existing resource {}. In order to delete the \
                 network interface, it must be dissociated from the resource. To learn more, see \
                 aka.ms/deletenic.",
                resource.id, vm.id
            ),
        ));
    }
    check_reserved(world, resource, None)
}

/// Refuses an interface that is reserved for another VM than this one.
pub(crate) fn check_reserved(
    world: &World,
    resource: &Resource,
    machine: Option<&ArmId>,
) -> Result<(), ArmError> {
    let reserved = resource
        .hidden
        .reserved
        .as_ref()
        .filter(|reserved| reserved.until > world.now())
        .filter(|reserved| machine != Some(&reserved.machine));
    match reserved {
        None => Ok(()),
        Some(reserved) => Err(ArmError::new(
            400,
            "NicReservedForAnotherVm",
            format!(
                "Nic(s) in request is reserved for another Virtual Machine for 180 seconds. Please \
                 provide another nic(s) or retry after 180 seconds. Reserved VM: {}",
                reserved.machine
            ),
        )),
    }
}
