//! The network side of a scale set: what its profile names, and the addresses of instances.

use std::collections::{BTreeMap, BTreeSet};

use model::{catalog::Size, ids::ArmId};
use serde_json::{Value, json};

use crate::{
    error::ArmError,
    json::{default, flag, items, set, text},
    routes::network::{public_ip, referenced, subnet},
    store::world::World,
};

/// Where the interfaces of a profile are described.
const PLACE: &str = "/networkProfile/networkInterfaceConfigurations";

/// Checks the network side of a profile and fills in its defaults.
pub(crate) fn complete(
    world: &World,
    id: &ArmId,
    location: &str,
    size: &Size,
    profile: &mut Value,
    flexible: bool,
) -> Result<(), ArmError> {
    let mut interfaces = items(profile, PLACE).to_vec();
    if interfaces.is_empty() {
        return Err(ArmError::missing_parameter("networkProfile"));
    }
    if flexible && text(profile, "/networkProfile/networkApiVersion").is_none() {
        return Err(ArmError::missing_parameter(
            "networkProfile.networkApiVersion",
        ));
    }
    let alone = interfaces.len() == 1;
    for interface in &mut interfaces {
        if alone {
            default(interface, "/properties/primary", true);
        }
        accelerated(id, size, interface)?;
        references(world, id, location, interface)?;
        default(interface, "/properties/disableTcpStateTracking", false);
        default(
            interface,
            "/properties/dnsSettings",
            json!({"dnsServers": []}),
        );
        default(interface, "/properties/enableIPForwarding", false);
        if flexible {
            default(interface, "/properties/auxiliaryMode", "None");
            default(interface, "/properties/auxiliarySku", "None");
            default(interface, "/properties/deleteOption", "Delete");
        }
        let mut configurations = items(interface, "/properties/ipConfigurations").to_vec();
        for configuration in &mut configurations {
            default(configuration, "/properties/privateIPAddressVersion", "IPv4");
            public_address(configuration);
        }
        set(
            interface,
            "/properties/ipConfigurations",
            json!(configurations),
        );
    }
    let primaries = interfaces
        .iter()
        .filter(|nic| flag(nic, "/properties/primary") == Some(true))
        .count();
    if primaries != 1 {
        return Err(ArmError::invalid_parameter(
            "networkProfile.networkInterfaceConfigurations",
            "Exactly one network interface configuration must be the primary.",
        ));
    }
    set(profile, PLACE, json!(interfaces));
    Ok(())
}

/// Where an IP configuration describes the public address of each instance.
pub(crate) const PUBLIC: &str = "/properties/publicIPAddressConfiguration";

/// Fills in what a described public address has by itself.
fn public_address(configuration: &mut Value) {
    if configuration.pointer(PUBLIC).is_none() {
        return;
    }
    for (member, value) in [
        ("idleTimeoutInMinutes", json!(4)),
        ("ipTags", json!([])),
        ("publicIPAddressVersion", json!("IPv4")),
    ] {
        default(
            configuration,
            &format!("{PUBLIC}/properties/{member}"),
            value,
        );
    }
}

/// What so many instances of a profile use of the counters of public addresses.
pub(crate) fn public_addresses(profile: &Value, instances: u64) -> BTreeMap<String, u64> {
    let mut used: BTreeMap<String, u64> = BTreeMap::new();
    let interfaces = items(profile, PLACE).iter();
    let configurations =
        interfaces.flat_map(|interface| items(interface, "/properties/ipConfigurations"));
    for described in configurations.filter_map(|one| one.pointer(PUBLIC)) {
        for name in public_ip::counters(described) {
            *used.entry(name.to_owned()).or_default() += instances;
        }
    }
    used.retain(|_, count| *count > 0);
    used
}

fn accelerated(id: &ArmId, size: &Size, interface: &Value) -> Result<(), ArmError> {
    let wanted = flag(interface, "/properties/enableAcceleratedNetworking") == Some(true);
    if !wanted || size.accelerated_networking != Some(false) {
        return Ok(());
    }
    Err(ArmError::network(
        "VMSizeIsNotPermittedToEnableAcceleratedNetworkingForVmss",
        format!(
            "VirtualMachineScaleSet {id} has an accelerated network interface, and the VM size {} \
             is not in the list of supported sizes for accelerated networking.",
            size.name.as_str()
        ),
    ))
}

/// What an interface names must be there and in the same region.
fn references(
    world: &World,
    id: &ArmId,
    location: &str,
    interface: &Value,
) -> Result<(), ArmError> {
    if let Some(guard) = text(interface, "/properties/networkSecurityGroup/id") {
        referenced(world, guard, id, location)?;
    }
    let configurations = items(interface, "/properties/ipConfigurations");
    if configurations.is_empty() {
        return Err(ArmError::missing_parameter("ipConfigurations"));
    }
    for configuration in configurations {
        let subnet = text(configuration, "/properties/subnet/id")
            .ok_or_else(|| ArmError::missing_parameter("subnet"))?;
        referenced(world, subnet, id, location)?;
        for pool in items(configuration, "/properties/loadBalancerBackendAddressPools") {
            let pool = text(pool, "/id").unwrap_or_default();
            referenced(world, pool, id, location)?;
        }
    }
    Ok(())
}

/// The ids of the subnets of a profile's IP configurations, in order.
fn subnets(profile: &Value) -> Vec<String> {
    items(profile, PLACE)
        .iter()
        .flat_map(|interface| items(interface, "/properties/ipConfigurations"))
        .filter_map(|configuration| text(configuration, "/properties/subnet/id"))
        .map(str::to_lowercase)
        .collect()
}

/// Addresses for so many new instances: for each, one in each IP configuration.
pub(crate) fn addresses(
    world: &World,
    profile: &Value,
    count: usize,
) -> Result<Vec<Vec<u32>>, ArmError> {
    let mut given = vec![Vec::new(); count];
    let mut taken = BTreeSet::new();
    for id in subnets(profile) {
        let Some(subnet) = world.resource_by_key(&id) else {
            continue;
        };
        let found = subnet::addresses(world, subnet, count, &taken)?;
        taken.extend(found.iter().copied());
        for (instance, address) in given.iter_mut().zip(found) {
            instance.push(address);
        }
    }
    Ok(given)
}

/// What an instance's interface is in one IP configuration.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    pub(crate) interface: String,
    pub(crate) configuration: String,
    /// In lower case.
    pub(crate) subnet: String,
}

/// The IP configurations of a profile, in the order of instances' addresses.
pub(crate) fn joins(profile: &Value) -> Vec<Join> {
    let mut joins = Vec::new();
    for interface in items(profile, PLACE) {
        for configuration in items(interface, "/properties/ipConfigurations") {
            let name = |value: &Value| text(value, "/name").unwrap_or_default().to_owned();
            joins.push(Join {
                interface: name(interface),
                configuration: name(configuration),
                subnet: text(configuration, "/properties/subnet/id")
                    .unwrap_or_default()
                    .to_lowercase(),
            });
        }
    }
    joins
}
