//! Inbound NAT rules by paths of their own. They stand in the body of their balancer.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{load_balancer, renew, show, write};
use crate::{
    call::Call,
    durations,
    error::ArmError,
    http::{Answer, Method},
    json::{items, remove, same, set, text},
    lro::{self, Twin},
    routes::common::{self, check_name, not_served},
    store::{
        entry::{Resource, Work},
        world::World,
    },
    types::Type,
};

const RULES: &str = "/properties/inboundNatRules";

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let named = !call.path.is_open();
    match call.method() {
        Method::Get if named => rule(world, call).map(|rule| Answer::json(200, rule)),
        Method::Get => Ok(Answer::json(200, json!({"value": rules(world, call)?}))),
        Method::Put if named => put(world, call, row),
        Method::Head
        | Method::Put
        | Method::Patch
        | Method::Post
        | Method::Delete
        | Method::Other => Err(not_served(call)),
    }
}

fn balancer<'a>(world: &'a World, call: &Call<'_>) -> Result<&'a Resource, ArmError> {
    common::id(world, call)
        .and_then(|id| id.parent())
        .or_else(|| {
            // A list of rules names the balancer alone.
            let group = ArmId::resource_group(call.subscription(), call.group());
            Some(group.in_group("Microsoft.Network/loadBalancers", call.path.name(0)))
        })
        .and_then(|id| world.resource(&id))
        .ok_or_else(|| not_served(call))
}

fn rules(world: &World, call: &Call<'_>) -> Result<Vec<Value>, ArmError> {
    let shown = show(world, call, balancer(world, call)?);
    Ok(items(&shown, RULES).to_vec())
}

fn rule(world: &World, call: &Call<'_>) -> Result<Value, ArmError> {
    let name = call.path.last_name();
    rules(world, call)?
        .into_iter()
        .find(|rule| text(rule, "/name").is_some_and(|found| same(found, name)))
        .ok_or_else(|| ArmError::new(404, "NotFound", format!("Resource {name} not found.")))
}

/// Writes one rule.
fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let given = call.body(row)?;
    let name = call.path.last_name();
    let old = balancer(world, call)?.clone();
    let new = rule(world, call).is_err();
    let mut given_rule = json!({
        "name": name,
        "properties": given.get("properties").cloned().unwrap_or_else(|| json!({})),
    });
    remove(&mut given_rule, "/properties/provisioningState");
    let mut list: Vec<Value> = items(&old.body, RULES)
        .iter()
        .filter(|rule| text(rule, "/name").is_none_or(|found| !same(found, name)))
        .cloned()
        .collect();
    list.push(given_rule);
    let mut whole = old.body.clone();
    set(&mut whole, RULES, json!(list));
    let pools: Vec<Value> = world
        .below(&format!("{}/backendAddressPools/", old.id))
        .map(|pool| json!({"name": pool.name()}))
        .collect();
    set(&mut whole, "/properties/backendAddressPools", json!(pools));
    let (id, place) = (old.id.clone(), old.location.clone());
    let draft = write::Draft {
        id: id.clone(),
        location: place.clone(),
        given: whole,
        old: Some(old.clone()),
    };
    let mut body = load_balancer::build(world, &draft)?;
    if let Some(guid) = old.body.pointer("/properties/resourceGuid") {
        set(&mut body, "/properties/resourceGuid", guid.clone());
    }
    let timing = durations::network("Microsoft.Network/loadBalancers", Work::Settle);
    let operation = write::begin(world, call, &id, &place, row, Work::Settle, timing);
    world.change(&id, |balancer| {
        balancer.body = body;
        balancer.set_state("Updating");
        balancer.operation = Some(operation.id.clone());
    });
    renew(world, &id);
    let answer = Answer::json(if new { 201 } else { 200 }, rule(world, call)?);
    Ok(lro::announce(
        answer,
        call,
        &operation,
        Twin::No,
        timing.retry_after,
    ))
}
