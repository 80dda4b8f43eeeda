//! Network security groups and their rules, which are resources of their own.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{renew, show, write};
use crate::{
    call::Call,
    durations::{self, Timing},
    error::ArmError,
    http::Answer,
    json::{default, items, same, set, text},
    lro::{self, Twin},
    routes::{
        common::{self, check_name},
        network::write::Draft,
    },
    store::{
        entry::{Resource, Work, resource_key},
        world::World,
    },
    types::{self, Type},
};

/// Rules that every group has: name, description, source, destination, access, priority, direction.
const DEFAULTS: [(&str, &str, &str, &str, &str, u32, &str); 6] = [
    (
        "AllowVnetInBound",
        "Allow inbound traffic from all VMs in VNET",
        "VirtualNetwork",
        "VirtualNetwork",
        "Allow",
        65_000,
        "Inbound",
    ),
    (
        "AllowAzureLoadBalancerInBound",
        "Allow inbound traffic from azure load balancer",
        "AzureLoadBalancer",
        "*",
        "Allow",
        65_001,
        "Inbound",
    ),
    (
        "DenyAllInBound",
        "Deny all inbound traffic",
        "*",
        "*",
        "Deny",
        65_500,
        "Inbound",
    ),
    (
        "AllowVnetOutBound",
        "Allow outbound traffic from all VMs to all VMs in VNET",
        "VirtualNetwork",
        "VirtualNetwork",
        "Allow",
        65_000,
        "Outbound",
    ),
    (
        "AllowInternetOutBound",
        "Allow outbound traffic from all VMs to Internet",
        "*",
        "Internet",
        "Allow",
        65_001,
        "Outbound",
    ),
    (
        "DenyAllOutBound",
        "Deny all outbound traffic",
        "*",
        "*",
        "Deny",
        65_500,
        "Outbound",
    ),
];

/// The body of a group, without its rules.
pub(crate) fn build(draft: &Draft) -> Value {
    let mut body =
        json!({"properties": draft.given.get("properties").cloned().unwrap_or_default()});
    crate::json::remove(&mut body, "/properties/securityRules");
    default(&mut body, "/properties", json!({}));
    body
}

/// Writes the rules of a group's body and removes those that it leaves out; answers whether
/// anything changed.
pub(crate) fn put_rules(world: &mut World, group: &ArmId, given: &Value) -> Result<bool, ArmError> {
    let mut taken = Vec::new();
    let mut changed = false;
    let rules = items(given, "/properties/securityRules").to_vec();
    let ids: Vec<ArmId> = rules
        .iter()
        .map(|rule| group.child("securityRules", text(rule, "/name").unwrap_or_default()))
        .collect();
    let gone: Vec<String> = world
        .below(&format!("{group}/securityRules/"))
        .filter(|rule| !ids.contains(&rule.id))
        .map(|rule| rule.id.key().to_owned())
        .collect();
    for id in gone {
        world.remove(&resource_key(&id));
        changed = true;
    }
    for (id, rule) in ids.iter().zip(&rules) {
        changed |= store_rule(world, id, rule, &mut taken)?.1;
    }
    Ok(changed)
}

/// A rule without its state.
fn comparable(body: &Value) -> Value {
    let mut body = body.clone();
    crate::json::remove(&mut body, "/properties/provisioningState");
    body
}

/// Where a rule stands: its name, priority and direction.
type Place = (String, u64, String);

fn place(name: &str, body: &Value) -> Place {
    (
        name.to_owned(),
        crate::json::number(body, "/properties/priority").unwrap_or(0),
        text(body, "/properties/direction")
            .unwrap_or_default()
            .to_lowercase(),
    )
}

/// Checks and stores a rule; answers whether it is new and whether it changed.
fn store_rule(
    world: &mut World,
    id: &ArmId,
    given: &Value,
    taken: &mut Vec<Place>,
) -> Result<(bool, bool), ArmError> {
    let Some(row) = types::named("Microsoft.Network/networkSecurityGroups/securityRules") else {
        return Ok((false, false));
    };
    if let Some(rule) = row.names {
        rule.check(id.name())?;
    }
    let mut body = json!({"properties": given.get("properties").cloned().unwrap_or_default()});
    check_place(place(id.name(), &body), taken)?;
    for list in [
        "sourcePortRanges",
        "destinationPortRanges",
        "sourceAddressPrefixes",
        "destinationAddressPrefixes",
    ] {
        default(&mut body, &format!("/properties/{list}"), json!([]));
    }
    let old = world.resource(id).cloned();
    let mut rule = common::new(world, id.clone(), row, "", body);
    let changed = old
        .as_ref()
        .is_none_or(|old| comparable(&old.body) != rule.body);
    if changed {
        rule.set_state("Updating");
        if let Some(old) = &old {
            rule.created = old.created;
        }
        world.put_resource(rule);
    }
    Ok((old.is_none(), changed))
}

fn check_place(new: Place, taken: &mut Vec<Place>) -> Result<(), ArmError> {
    let (name, priority, direction) = &new;
    if !(100..=4096).contains(priority) {
        return Err(ArmError::network(
            "SecurityRuleInvalidPriority",
            format!(
                "Security rule has invalid Priority. Value provided: {priority} Allowed range \
                 100-4096."
            ),
        ));
    }
    let clash = taken
        .iter()
        .find(|(other, at, way)| !same(other, name) && at == priority && way == direction);
    if let Some((other, _, _)) = clash {
        return Err(ArmError::network(
            "SecurityRuleConflict",
            format!(
                "Security rule {name} conflicts with rule {other}. Rules cannot have the same \
                 Priority and Direction. To learn more, see aka.ms/nsgrules."
            ),
        ));
    }
    taken.push(new);
    Ok(())
}

pub(crate) fn put_rule(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| common::not_served(call))?;
    let group = id
        .parent()
        .and_then(|parent| world.resource(&parent).cloned())
        .ok_or_else(|| common::not_served(call))?;
    let mut taken: Vec<Place> = world
        .below(&format!("{}/securityRules/", group.id))
        .map(|rule| place(rule.name(), &rule.body))
        .collect();
    let (is_new, changed) = store_rule(world, &id, &given, &mut taken)?;
    let mut timing = durations::network(&row.name(), Work::Settle);
    if !changed {
        timing = Timing {
            takes: std::time::Duration::ZERO,
            retry_after: None,
        };
    }
    let work = if changed { Work::Settle } else { Work::Nothing };
    let operation = write::begin(world, call, &id, &group.location, row, work, timing);
    if changed {
        renew(world, &id);
    }
    let shown = world
        .resource(&id)
        .map(|rule| show(world, call, rule))
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

fn defaults(resource: &Resource) -> Vec<Value> {
    DEFAULTS
        .iter()
        .map(
            |(name, description, source, destination, access, priority, direction)| {
                json!({
                    "name": name,
                    "id": format!("{}/defaultSecurityRules/{name}", resource.id),
                    "etag": format!("W/\"{}\"", resource.etag),
                    "type": "Microsoft.Network/networkSecurityGroups/defaultSecurityRules",
                    "properties": {
                        "provisioningState": resource.state(),
                        "description": description,
                        "protocol": "*",
                        "sourcePortRange": "*",
                        "destinationPortRange": "*",
                        "sourceAddressPrefix": source,
                        "destinationAddressPrefix": destination,
                        "access": access,
                        "priority": priority,
                        "direction": direction,
                        "sourcePortRanges": [],
                        "destinationPortRanges": [],
                        "sourceAddressPrefixes": [],
                        "destinationAddressPrefixes": [],
                    },
                })
            },
        )
        .collect()
}

/// One of the rules that every group has.
pub(crate) fn default_rule(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let id = common::id(world, call).ok_or_else(|| common::not_served(call))?;
    id.parent()
        .and_then(|group| world.resource(&group))
        .and_then(|group| {
            defaults(group)
                .into_iter()
                .find(|rule| text(rule, "/name").is_some_and(|name| same(name, id.name())))
        })
        .map(|rule| Answer::json(200, rule))
        .ok_or_else(|| {
            ArmError::new(404, "NotFound", format!("Resource {id} not found."))
                .with_details(Vec::new())
        })
}

/// Adds what a group's GET shows beside its own body.
pub(crate) fn complete(world: &World, call: &Call<'_>, resource: &Resource, shown: &mut Value) {
    let rules: Vec<Value> = world
        .below(&format!("{}/securityRules/", resource.id))
        .map(|rule| show(world, call, rule))
        .collect();
    set(shown, "/properties/securityRules", json!(rules));
    set(
        shown,
        "/properties/defaultSecurityRules",
        json!(defaults(resource)),
    );
    for (member, kind) in [
        ("networkInterfaces", "Microsoft.Network/networkInterfaces"),
        ("subnets", "Microsoft.Network/virtualNetworks/subnets"),
    ] {
        let users: Vec<Value> = world
            .users(resource.id.key())
            .filter(|user| user.is(kind))
            .map(|user| json!({"id": user.id.as_str()}))
            .collect();
        if !users.is_empty() {
            set(shown, &format!("/properties/{member}"), json!(users));
        }
    }
}

/// Refuses to delete a group that is used.
pub(crate) fn check_free(world: &World, resource: &Resource) -> Result<(), ArmError> {
    let users: Vec<&str> = world
        .users(resource.id.key())
        .map(|user| user.id.as_str())
        .collect();
    if users.is_empty() {
        return Ok(());
    }
    Err(ArmError::network(
        "InUseNetworkSecurityGroupCannotBeDeleted",
        format!(
            "Network security group {} cannot be deleted because it is in use by the following \
             resources: {}. In order to delete the Network security group, remove the association \
             with the resource(s). To learn how to do this, see aka.ms/deletensg.",
            resource.id,
            users.join(", ")
        ),
    ))
}
