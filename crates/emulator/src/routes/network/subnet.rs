//! Subnets. They share their network's etag and its one operation at a time.

use std::{collections::BTreeSet, net::Ipv4Addr};

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{address::Prefix, interface, referenced, show, virtual_network, write};
use crate::{
    call::Call,
    durations::{self, Timing},
    error::ArmError,
    http::Answer,
    json::{default, items, set, text},
    lro::{self, Twin},
    routes::common::{self, check_name},
    store::{
        entry::{Resource, Work},
        world::World,
    },
    types::{self, Type},
};

/// What a subnet is made from.
pub(crate) struct Draft<'a> {
    pub(crate) id: ArmId,
    pub(crate) network: &'a ArmId,
    pub(crate) location: &'a str,
    /// The network's address space.
    pub(crate) space: &'a [Prefix],
    pub(crate) given: &'a Value,
}

pub(crate) fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| common::not_served(call))?;
    let network = id
        .parent()
        .and_then(|parent| world.resource(&parent).cloned())
        .ok_or_else(|| common::not_served(call))?;
    write::idle(world, call, Some(&network))?;
    let space = virtual_network::prefixes(&network.body)?;
    let mut others: Vec<(String, Prefix)> = Vec::new();
    for other in world.below(&format!("{}/subnets/", network.id)) {
        if other.id != id {
            others
                .extend(own_prefixes(&other.body)?.map(|prefix| (other.name().to_owned(), prefix)));
        }
    }
    let is_new = world.resource(&id).is_none();
    let draft = Draft {
        id: id.clone(),
        network: &network.id,
        location: &network.location,
        space: &space,
        given: &given,
    };
    let changed = put_inline(world, call, &draft, &mut others)?;
    let mut timing = durations::network(&row.name(), Work::Settle);
    if !changed {
        timing = Timing {
            takes: std::time::Duration::ZERO,
            retry_after: None,
        };
    }
    let work = if changed { Work::Settle } else { Work::Nothing };
    let operation = write::begin(world, call, &id, &network.location, row, work, timing);
    if changed {
        super::renew(world, &id);
        world.change(&network.id, |network| {
            network.operation = Some(operation.id.clone());
        });
    }
    let shown = world
        .resource(&id)
        .map(|subnet| show(world, call, subnet))
        .unwrap_or_default();
    let answer = Answer::json(if is_new { 201 } else { 200 }, shown);
    Ok(lro::announce(
        answer,
        call,
        &operation,
        Twin::No,
        timing.retry_after,
    ))
}

/// The IPv4 prefixes of a subnet.
fn own_prefixes(body: &Value) -> Result<impl Iterator<Item = Prefix> + use<>, ArmError> {
    let one = text(body, "/properties/addressPrefix");
    let many = items(body, "/properties/addressPrefixes")
        .iter()
        .filter_map(Value::as_str);
    let prefixes: Vec<Prefix> = one
        .into_iter()
        .chain(many)
        .filter(|text| !text.contains(':'))
        .map(Prefix::parse)
        .collect::<Result<_, _>>()?;
    Ok(prefixes.into_iter())
}

/// Checks and stores a subnet; answers whether it changed. The others are those it must not overlap.
pub(crate) fn put_inline(
    world: &mut World,
    call: &Call<'_>,
    draft: &Draft<'_>,
    others: &mut Vec<(String, Prefix)>,
) -> Result<bool, ArmError> {
    let Some(row) = types::named("Microsoft.Network/virtualNetworks/subnets") else {
        return Ok(false);
    };
    if let Some(rule) = row.names {
        rule.check(draft.id.name())?;
    }
    let mut body =
        json!({"properties": draft.given.get("properties").cloned().unwrap_or_default()});
    check_prefixes(draft, &body, others)?;
    for member in ["networkSecurityGroup", "natGateway", "routeTable"] {
        let place = format!("/properties/{member}");
        if let Some(id) = text(&body, &format!("{place}/id")).map(str::to_owned) {
            referenced(world, &id, &draft.id, draft.location)?;
            set(&mut body, &place, json!({"id": id}));
        }
    }
    delegate(&mut body, &draft.id);
    default(&mut body, "/properties/delegations", json!([]));
    default(
        &mut body,
        "/properties/privateEndpointNetworkPolicies",
        "Disabled",
    );
    default(
        &mut body,
        "/properties/privateLinkServiceNetworkPolicies",
        "Enabled",
    );
    if call.since("2025-07-01") {
        default(&mut body, "/properties/defaultOutboundAccess", false);
    }
    set(
        &mut body,
        "/properties/provisioningState",
        json!("Succeeded"),
    );
    let mut subnet = common::new(world, draft.id.clone(), row, "", body);
    if let Some(old) = world.resource(&draft.id) {
        subnet.created = old.created;
        if old.body == subnet.body {
            return Ok(false);
        }
    }
    subnet.set_state("Updating");
    world.put_resource(subnet);
    Ok(true)
}

fn check_prefixes(
    draft: &Draft<'_>,
    body: &Value,
    others: &mut Vec<(String, Prefix)>,
) -> Result<(), ArmError> {
    let name = draft.id.name();
    let network = draft.network.name();
    let prefixes: Vec<Prefix> = own_prefixes(body)?.collect();
    if prefixes.is_empty() {
        return Err(ArmError::network(
            "NoAddressPrefixOrPoolProvided",
            format!(
                "A valid address prefix is required for resource {}.",
                draft.id
            ),
        ));
    }
    for prefix in prefixes {
        if !draft.space.iter().any(|space| space.holds(prefix)) {
            return Err(ArmError::network(
                "NetcfgInvalidSubnet",
                format!("Subnet '{name}' is not valid in virtual network '{network}'."),
            ));
        }
        if others.iter().any(|(_, other)| other.overlaps(prefix)) {
            return Err(ArmError::network(
                "NetcfgSubnetRangesOverlap",
                format!(
                    "Subnet '{name}' is not valid because its IP address range overlaps with that \
                     of an existing subnet in virtual network '{network}'."
                ),
            ));
        }
        others.push((name.to_owned(), prefix));
    }
    Ok(())
}

/// Gives the delegations of a subnet what their answers show.
fn delegate(body: &mut Value, id: &ArmId) {
    let delegations: Vec<Value> = items(body, "/properties/delegations")
        .iter()
        .map(|delegation| {
            let name = text(delegation, "/name").unwrap_or_default();
            json!({
                "name": name,
                "id": format!("{id}/delegations/{name}"),
                "type": "Microsoft.Network/virtualNetworks/subnets/delegations",
                "properties": {
                    "provisioningState": "Succeeded",
                    "serviceName": text(delegation, "/properties/serviceName"),
                    "actions": ["Microsoft.Network/virtualNetworks/subnets/join/action"],
                },
            })
        })
        .collect();
    if !delegations.is_empty() {
        set(body, "/properties/delegations", json!(delegations));
    }
}

/// Adds what a subnet's GET shows beside its own body.
pub(crate) fn complete(world: &World, call: &Call<'_>, resource: &Resource, shown: &mut Value) {
    let mut configurations: Vec<Value> = Vec::new();
    for nic in world.users(resource.id.key()) {
        for id in interface::configurations_in(nic, &resource.id) {
            let id = if call.setup.quirks { loud(&id) } else { id };
            configurations.push(json!({"id": id}));
        }
    }
    if !configurations.is_empty() {
        set(shown, "/properties/ipConfigurations", json!(configurations));
    }
    // Not in the schema; recorded of single reads alone.
    if call.since("2024-01-01") && call.reads_one() {
        default(shown, "/properties/ipamPoolPrefixAllocations", json!([]));
    }
    // While a network is written, all of its subnets say so, also those whose own write is over.
    let busy = resource
        .id
        .parent()
        .and_then(|parent| world.resource(&parent))
        .is_some_and(|network| network.operation.is_some());
    if busy && resource.state() == "Succeeded" {
        set(shown, "/properties/provisioningState", json!("Updating"));
    }
}

/// The id of an IP configuration as recorded subnets show it: group and names in upper case.
fn loud(id: &str) -> String {
    let mut loud: Vec<String> = id.split('/').map(str::to_owned).collect();
    for at in [4, 8, 10] {
        if let Some(name) = loud.get_mut(at) {
            *name = name.to_uppercase();
        }
    }
    loud.join("/")
}

/// Refuses to remove a subnet that is used.
pub(crate) fn check_free(world: &World, resource: &Resource) -> Result<(), ArmError> {
    let user = world
        .users(resource.id.key())
        .flat_map(|nic| interface::configurations_in(nic, &resource.id))
        .next();
    match user {
        None => Ok(()),
        Some(user) => Err(ArmError::network(
            "InUseSubnetCannotBeDeleted",
            format!(
                "Subnet {} is in use by {user} and cannot be deleted. In order to delete the \
                 subnet, delete all the resources within the subnet. See aka.ms/deletesubnet.",
                resource.name()
            ),
        )),
    }
}

/// An address in a subnet for an interface: the wanted one, or the first free one.
pub(crate) fn address(
    world: &World,
    subnet: &Resource,
    wanted: Option<&str>,
    taken: &BTreeSet<u32>,
) -> Result<Ipv4Addr, ArmError> {
    let prefixes: Vec<Prefix> = own_prefixes(&subnet.body)?.collect();
    let used = world.addresses(&subnet.id);
    if let Some(wanted) = wanted {
        return fixed(subnet, &prefixes, wanted, |address| {
            taken.contains(&address) || used.contains(address)
        });
    }
    prefixes
        .iter()
        .find_map(|prefix| prefix.free(used, taken).next())
        .map(Ipv4Addr::from)
        .ok_or_else(|| full(subnet, 1))
}

/// Addresses in a subnet for so many interfaces of a scale set.
pub(crate) fn addresses(
    world: &World,
    subnet: &Resource,
    count: usize,
    taken: &BTreeSet<u32>,
) -> Result<Vec<u32>, ArmError> {
    let used = world.addresses(&subnet.id);
    let mut found = Vec::with_capacity(count.min(1_000));
    for prefix in own_prefixes(&subnet.body)? {
        found.extend(prefix.free(used, taken).take(count - found.len()));
    }
    if found.len() < count {
        return Err(full(subnet, count));
    }
    Ok(found)
}

fn full(subnet: &Resource, count: usize) -> ArmError {
    ArmError::network(
        "SubnetIsFull",
        format!(
            "Subnet {} with address prefix {} does not have enough capacity for {count} IP \
             addresses.",
            subnet.name(),
            text(&subnet.body, "/properties/addressPrefix").unwrap_or_default()
        ),
    )
}

fn fixed(
    subnet: &Resource,
    prefixes: &[Prefix],
    wanted: &str,
    is_used: impl Fn(u32) -> bool,
) -> Result<Ipv4Addr, ArmError> {
    use super::address::Given;
    let outside = || {
        ArmError::network(
            "PrivateIPAddressNotInSubnet",
            format!(
                "Private static IP address {wanted} does not belong to the range of subnet {}.",
                subnet.name()
            ),
        )
    };
    let address: Ipv4Addr = wanted.parse().map_err(|_| outside())?;
    let verdicts: Vec<Result<(), Given>> = prefixes
        .iter()
        .map(|prefix| prefix.gives(address))
        .collect();
    if verdicts.contains(&Err(Given::Reserved)) {
        return Err(ArmError::network(
            "PrivateIPAddressInReservedRange",
            format!(
                "Private static IP address {wanted} falls within reserved IP range of subnet {}.",
                subnet.name()
            ),
        ));
    }
    if !verdicts.contains(&Ok(())) {
        return Err(outside());
    }
    if is_used(u32::from(address)) {
        return Err(ArmError::network(
            "PrivateIPAddressInUse",
            format!("IP configuration's private IP address {wanted} is in use."),
        ));
    }
    Ok(address)
}
