//! Writes of network resources: what PUT, PATCH and DELETE have in common.

use model::ids::ArmId;
use serde_json::{Value, json};

use crate::{
    call::Call,
    durations::{self, Timing},
    error::ArmError,
    http::Answer,
    json::set,
    lro::{self, Plan, Twin},
    routes::{
        common::{self, check_name, location, put_tags, tags},
        network::{
            bastion, interface, load_balancer, nat_gateway, public_ip, renew, security_group, show,
            subnet, virtual_network,
        },
    },
    store::{
        entry::{Operation, Resource, Style, Work},
        world::World,
    },
    types::Type,
};

/// How a write changes what was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    New,
    Properties,
    Tags,
    Nothing,
}

pub(crate) fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    match row.path {
        "virtualNetworks/subnets" => return subnet::put(world, call, row),
        "networkSecurityGroups/securityRules" => return security_group::put_rule(world, call, row),
        "loadBalancers/backendAddressPools" => return load_balancer::put_pool(world, call, row),
        _ => {}
    }
    check_name(call, row)?;
    let given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| common::not_served(call))?;
    let old = world.resource(&id).cloned();
    let place = location(&given, row, old.as_ref())?;
    let tags = tags(&given)?;
    idle(world, call, old.as_ref())?;
    let mut draft = Draft {
        id: id.clone(),
        location: place.clone(),
        given,
        old,
    };
    let mut body = build(world, call, row, &mut draft)?;
    set(&mut body, "/location", json!(place));
    put_tags(&mut body, tags);
    let old = draft.old;
    let mut resource = old
        .clone()
        .unwrap_or_else(|| common::new(world, id, row, &place, Value::Null));
    let mut change = change(old.as_ref(), &body);
    let below = match row.path {
        "virtualNetworks" => {
            virtual_network::put_subnets(world, call, &resource.id, &draft.given, &place)?
        }
        "networkSecurityGroups" => security_group::put_rules(world, &resource.id, &draft.given)?,
        "loadBalancers" => load_balancer::put_pools(world, &resource.id, &draft.given)?,
        _ => false,
    };
    if below && change != Change::New {
        change = Change::Properties;
    }
    resource.body = body;
    resource.hidden.quota = quota(row, &resource.body);
    Ok(finish(world, call, row, resource, change))
}

/// What a write is made from.
pub(crate) struct Draft {
    pub(crate) id: ArmId,
    pub(crate) location: String,
    /// The body as given.
    pub(crate) given: Value,
    pub(crate) old: Option<Resource>,
}

impl Draft {
    /// A value of the old body, which a PUT cannot change.
    pub(crate) fn kept(&self, pointer: &str) -> Option<Value> {
        self.old.as_ref()?.body.pointer(pointer).cloned()
    }
}

fn build(
    world: &mut World,
    call: &Call<'_>,
    row: &Type,
    draft: &mut Draft,
) -> Result<Value, ArmError> {
    let mut body = match row.path {
        "virtualNetworks" => virtual_network::build(draft)?,
        "networkSecurityGroups" => security_group::build(draft),
        "publicIPAddresses" => public_ip::build(world, draft)?,
        "natGateways" => nat_gateway::build(world, draft)?,
        "networkInterfaces" => interface::build(world, draft)?,
        "loadBalancers" => load_balancer::build(world, draft)?,
        "bastionHosts" => bastion::build(world, draft)?,
        _ => return Err(common::not_served(call)),
    };
    if row.path == "bastionHosts" {
        // The only one of them without a GUID in its schema.
        return Ok(body);
    }
    let guid = draft
        .kept("/properties/resourceGuid")
        .unwrap_or_else(|| json!(world.mint()));
    set(&mut body, "/properties/resourceGuid", guid);
    Ok(body)
}

fn change(old: Option<&Resource>, body: &Value) -> Change {
    let Some(old) = old else {
        return Change::New;
    };
    let without = |body: &Value, members: &[&str]| {
        let mut body = body.clone();
        for member in members {
            crate::json::remove(&mut body, member);
        }
        body
    };
    let state = "/properties/provisioningState";
    if without(&old.body, &[state, "/tags"]) != without(body, &[state, "/tags"]) {
        Change::Properties
    } else if old.body.get("tags") == body.get("tags") {
        Change::Nothing
    } else {
        Change::Tags
    }
}

/// What a resource uses of each counter.
pub(crate) fn quota(row: &Type, body: &Value) -> std::collections::BTreeMap<String, u64> {
    let mut names = match row.path {
        "virtualNetworks" => vec!["VirtualNetworks"],
        "networkSecurityGroups" => vec!["NetworkSecurityGroups"],
        "publicIPAddresses" => public_ip::counters(body),
        "natGateways" => vec!["NatGateways"],
        "networkInterfaces" => vec!["NetworkInterfaces"],
        "loadBalancers" => vec!["LoadBalancers"],
        _ => Vec::new(),
    };
    if row.path == "loadBalancers" && public_ip::is_standard(body) {
        names.push("StandardSkuLoadBalancers");
    }
    names.into_iter().map(|name| (name.to_owned(), 1)).collect()
}

/// Refuses a write while another one is running, as recorded for the subnets of one network. While
/// the network itself is written, the refusal is one to try again, recorded for its peerings.
pub(crate) fn idle(
    world: &World,
    call: &Call<'_>,
    resource: Option<&Resource>,
) -> Result<(), ArmError> {
    let running = resource
        .filter(|resource| resource.is("Microsoft.Network/virtualNetworks"))
        .and_then(|resource| resource.operation.as_ref())
        .and_then(|id| world.operation(id));
    match running {
        None => Ok(()),
        Some(operation) if operation.target.parent().is_none() => {
            let wait = operation.ends.since(world.now()).as_secs();
            Err(
                ArmError::new(429, "RetryableError", "A retryable error occurred.")
                    .with_details(vec![json!({
                        "code": "RetryableErrorDueToAnotherOperation",
                        "message": format!(
                            "Operation {} ({}) is updating resource {}. The call can be retried in \
                             {wait} seconds.",
                            operation.title, operation.id, operation.target
                        ),
                    })])
                    .with_header("Retry-After", wait.to_string()),
            )
        }
        Some(operation) => Err(ArmError::new(
            409,
            "AnotherOperationInProgress",
            format!(
                "Another operation on this or dependent resource is in progress. To retrieve \
                 status of the operation use uri: {}.",
                lro::status_url(call, operation)
            ),
        )
        .with_details(Vec::new())),
    }
}

/// Stores a written resource, begins its operation, and answers.
fn finish(
    world: &mut World,
    call: &Call<'_>,
    row: &Type,
    resource: Resource,
    change: Change,
) -> Answer {
    let mut resource = resource;
    let mut timing = durations::network(&resource.kind, Work::Settle);
    let interface = row.path == "networkInterfaces";
    // Recorded: most balancers are ready with the first answer, which names an operation all the same.
    let at_once = interface || row.path == "loadBalancers";
    let settles = matches!(change, Change::New | Change::Properties) && !at_once;
    if !settles {
        timing = Timing {
            takes: std::time::Duration::ZERO,
            retry_after: None,
        };
    }
    if change != Change::Nothing {
        resource.etag = world.mint();
        resource.changed = world.now();
    }
    resource.set_state(if settles { "Updating" } else { "Succeeded" });
    let id = resource.id.clone();
    let work = if settles { Work::Settle } else { Work::Nothing };
    let operation = begin(world, call, &id, &resource.location, row, work, timing);
    resource.operation = settles.then(|| operation.id.clone());
    world.put_resource(resource);
    let status = if change == Change::New { 201 } else { 200 };
    let shown = world
        .resource(&id)
        .map(|resource| show(world, call, resource))
        .unwrap_or_default();
    let answer = Answer::json(status, shown);
    // An interface is ready at once; half of the recorded answers name an operation all the same.
    if interface && operation.number.is_multiple_of(2) {
        return answer;
    }
    lro::announce(answer, call, &operation, Twin::No, timing.retry_after)
}

/// Begins a network operation.
pub(crate) fn begin(
    world: &mut World,
    call: &Call<'_>,
    target: &ArmId,
    location: &str,
    row: &Type,
    work: Work,
    timing: Timing,
) -> Operation {
    let verb = if work == Work::Delete {
        "Delete"
    } else {
        "Put"
    };
    let noun = match row.path {
        "virtualNetworks" => "VirtualNetwork",
        "virtualNetworks/subnets" => "Subnet",
        "networkSecurityGroups" => "NetworkSecurityGroup",
        "networkSecurityGroups/securityRules" => "SecurityRule",
        "publicIPAddresses" => "PublicIpAddress",
        "natGateways" => "NatGateway",
        "loadBalancers" => "LoadBalancer",
        "loadBalancers/backendAddressPools" => "LoadBalancerBackendAddressPool",
        "loadBalancers/inboundNatRules" => "InboundNatRule",
        "bastionHosts" => "BastionHost",
        _ => "NetworkInterface",
    };
    lro::begin(
        world,
        call,
        &Plan {
            target,
            location,
            style: Style::Network,
            work,
            title: &format!("{verb}{noun}Operation"),
            timing,
        },
    )
}

/// A PATCH changes tags alone, at once, and replaces all of them.
pub(crate) fn patch(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let given = call.body(row)?;
    let id = common::resource(world, call)?.id.clone();
    if let Some(tags) = tags(&given)? {
        world.change(&id, |resource| put_tags(&mut resource.body, Some(tags)));
        renew(world, &id);
    }
    let resource = common::resource(world, call)?;
    Ok(Answer::json(200, show(world, call, resource))
        .with_header("Azure-AsyncNotification", "Enabled"))
}

pub(crate) fn delete(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let Ok(resource) = common::resource(world, call) else {
        return Ok(Answer::empty(204));
    };
    let resource = resource.clone();
    let parent = resource
        .id
        .parent()
        .and_then(|parent| world.resource(&parent).cloned());
    idle(world, call, Some(parent.as_ref().unwrap_or(&resource)))?;
    match row.path {
        "virtualNetworks" => virtual_network::check_free(world, &resource)?,
        "virtualNetworks/subnets" => subnet::check_free(world, &resource)?,
        "networkSecurityGroups" => security_group::check_free(world, &resource)?,
        "publicIPAddresses" => public_ip::check_free(world, &resource)?,
        "natGateways" => nat_gateway::check_free(world, &resource)?,
        "networkInterfaces" => interface::check_free(world, &resource)?,
        "loadBalancers" | "loadBalancers/backendAddressPools" => {
            load_balancer::check_free(world, &resource)?;
        }
        _ => {}
    }
    let timing = durations::network(&resource.kind, Work::Delete);
    let place = parent.as_ref().unwrap_or(&resource).location.clone();
    let operation = begin(world, call, &resource.id, &place, row, Work::Delete, timing);
    world.change(&resource.id, |resource| {
        resource.set_state("Deleting");
        resource.operation = Some(operation.id.clone());
    });
    if let Some(parent) = parent.filter(|parent| parent.is("Microsoft.Network/virtualNetworks")) {
        world.change(&parent.id, |parent| {
            parent.operation = Some(operation.id.clone());
        });
    }
    Ok(lro::announce(
        Answer::empty(202),
        call,
        &operation,
        Twin::Yes,
        timing.retry_after,
    ))
}
