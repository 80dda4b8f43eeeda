//! The network side of a VM: interfaces it is given, and those it brings along.

use model::{catalog::Size, ids::ArmId};
use serde_json::{Value, json};

use crate::{
    call::Call,
    error::ArmError,
    json::{default, flag, items, set, text},
    routes::{
        common,
        network::{interface, public_ip, referenced, write::Draft},
    },
    store::world::World,
    types,
};

/// The VM whose interfaces are made or checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    pub(crate) id: &'a ArmId,
    pub(crate) location: &'a str,
    pub(crate) size: &'a Size,
}

/// Checks the interfaces that a body names and makes those that it describes.
pub(crate) fn connect(
    world: &mut World,
    call: &Call<'_>,
    owner: Owner<'_>,
    body: &mut Value,
) -> Result<(), ArmError> {
    let place = "/properties/networkProfile";
    let mut named: Vec<Value> = Vec::new();
    for nic in items(body, &format!("{place}/networkInterfaces")) {
        named.push(existing(world, owner, nic)?);
    }
    let described = items(body, &format!("{place}/networkInterfaceConfigurations")).to_vec();
    if !described.is_empty() && text(body, &format!("{place}/networkApiVersion")).is_none() {
        return Err(ArmError::missing_parameter(
            "networkProfile.networkApiVersion",
        ));
    }
    for configuration in &described {
        named.push(make(world, call, owner, configuration)?);
    }
    if named.is_empty() {
        return Err(ArmError::missing_parameter("networkProfile"));
    }
    let most = owner
        .size
        .max_nics
        .and_then(|most| usize::try_from(most).ok());
    if let Some(most) = most.filter(|most| named.len() > *most) {
        return Err(ArmError::network(
            "NetworkInterfaceCountExceeded",
            format!(
                "The number of network interfaces for virtual machine {} exceeds the maximum \
                 allowed for the virtual machine size {}. The number of network interfaces is {} \
                 and the maximum allowed is {most}.",
                owner.id.name(),
                owner.size.name.as_str(),
                named.len()
            ),
        ));
    }
    let primaries = named
        .iter()
        .filter(|nic| flag(nic, "/properties/primary") == Some(true))
        .count();
    if named.len() > 1 && primaries != 1 {
        return Err(ArmError::invalid_parameter(
            "networkProfile.networkInterfaces",
            "Virtual machine has more than one network interface; exactly one must be the primary.",
        ));
    }
    set(body, &format!("{place}/networkInterfaces"), json!(named));
    Ok(())
}

fn existing(world: &World, owner: Owner<'_>, nic: &Value) -> Result<Value, ArmError> {
    let id = text(nic, "/id").ok_or_else(|| ArmError::missing_parameter("networkInterface.id"))?;
    let found = referenced(world, id, owner.id, owner.location)?;
    if let Some(holder) = interface::holder(world, &found.id).filter(|vm| vm.id != *owner.id) {
        return Err(ArmError::network(
            "NicInUse",
            format!(
                "Network Interface {id} is used by existing resource {}.",
                holder.id
            ),
        ));
    }
    interface::check_reserved(world, found, Some(owner.id))?;
    accelerated(owner, &found.body)?;
    let mut shown = json!({"id": id});
    for member in ["primary", "deleteOption"] {
        let place = format!("/properties/{member}");
        if let Some(value) = nic.pointer(&place) {
            set(&mut shown, &place, value.clone());
        }
    }
    Ok(shown)
}

fn accelerated(owner: Owner<'_>, nic: &Value) -> Result<(), ArmError> {
    let wanted = flag(nic, "/properties/enableAcceleratedNetworking") == Some(true);
    if !wanted || owner.size.accelerated_networking != Some(false) {
        return Ok(());
    }
    Err(ArmError::network(
        "VMSizeIsNotPermittedToEnableAcceleratedNetworking",
        format!(
            "VirtualMachine {} has an accelerated network interface, and the VM size {} is not in \
             the list of supported sizes for accelerated networking.",
            owner.id,
            owner.size.name.as_str()
        ),
    ))
}

/// Makes the interface that a configuration describes; the VM shows it by its id.
fn make(
    world: &mut World,
    call: &Call<'_>,
    owner: Owner<'_>,
    configuration: &Value,
) -> Result<Value, ArmError> {
    let row = types::named("Microsoft.Network/networkInterfaces")
        .ok_or_else(|| common::not_served(call))?;
    accelerated(owner, configuration)?;
    let name = suffixed(world, text(configuration, "/name").unwrap_or_default());
    if let Some(rule) = row.names {
        rule.check(&name)?;
    }
    let group = owner
        .id
        .group_id()
        .ok_or_else(|| common::not_served(call))?;
    let id = group.in_group("Microsoft.Network/networkInterfaces", &name);
    let mut ip_configurations = Vec::new();
    for ip in items(configuration, "/properties/ipConfigurations") {
        ip_configurations.push(ip_configuration(world, call, owner, ip)?);
    }
    let mut given = json!({"properties": {"ipConfigurations": ip_configurations}});
    for member in [
        "enableAcceleratedNetworking",
        "enableIPForwarding",
        "networkSecurityGroup",
        "dnsSettings",
        "auxiliaryMode",
    ] {
        let place = format!("/properties/{member}");
        if let Some(value) = configuration.pointer(&place) {
            set(&mut given, &place, value.clone());
        }
    }
    let draft = Draft {
        id: id.clone(),
        location: owner.location.to_owned(),
        given,
        old: None,
    };
    let mut body = interface::build(world, &draft)?;
    let guid = world.mint();
    set(&mut body, "/properties/resourceGuid", json!(guid));
    set(&mut body, "/location", json!(owner.location));
    let mut nic = common::new(world, id.clone(), row, owner.location, body);
    nic.set_state("Succeeded");
    nic.etag = world.mint();
    nic.hidden.quota.insert("NetworkInterfaces".to_owned(), 1);
    world.put_resource(nic);
    let mut shown = json!({"id": id.as_str()});
    for member in ["primary", "deleteOption"] {
        let place = format!("/properties/{member}");
        if let Some(value) = configuration.pointer(&place) {
            set(&mut shown, &place, value.clone());
        }
    }
    Ok(shown)
}

/// A name with eight characters behind it, as the interfaces of scale-set instances have them.
fn suffixed(world: &mut World, name: &str) -> String {
    let guid = world.mint();
    format!("{name}-{}", guid.get(..8).unwrap_or_default())
}

fn ip_configuration(
    world: &mut World,
    call: &Call<'_>,
    owner: Owner<'_>,
    given: &Value,
) -> Result<Value, ArmError> {
    let mut made = given.clone();
    let address = crate::json::remove(&mut made, "/properties/publicIPAddressConfiguration");
    if let Some(address) = address {
        let id = public_address(world, call, owner, &address)?;
        set(
            &mut made,
            "/properties/publicIPAddress",
            json!({"id": id.as_str()}),
        );
    }
    Ok(made)
}

fn public_address(
    world: &mut World,
    call: &Call<'_>,
    owner: Owner<'_>,
    given: &Value,
) -> Result<ArmId, ArmError> {
    let row = types::named("Microsoft.Network/publicIPAddresses")
        .ok_or_else(|| common::not_served(call))?;
    let name = suffixed(world, text(given, "/name").unwrap_or_default());
    let group = owner
        .id
        .group_id()
        .ok_or_else(|| common::not_served(call))?;
    let id = group.in_group("Microsoft.Network/publicIPAddresses", &name);
    let mut wanted = given.clone();
    crate::json::remove(&mut wanted, "/name");
    default(&mut wanted, "/properties", json!({}));
    let draft = Draft {
        id: id.clone(),
        location: owner.location.to_owned(),
        given: wanted,
        old: None,
    };
    let mut body = public_ip::build(world, &draft)?;
    let guid = world.mint();
    set(&mut body, "/properties/resourceGuid", json!(guid));
    set(&mut body, "/location", json!(owner.location));
    let mut address = common::new(world, id.clone(), row, owner.location, body);
    address.set_state("Succeeded");
    address.etag = world.mint();
    address.hidden.quota = crate::routes::network::write::quota(row, &address.body);
    world.put_resource(address);
    public_ip::settled(world, &id);
    Ok(id)
}
