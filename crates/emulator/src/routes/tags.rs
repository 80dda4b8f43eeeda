//! Tags at any scope, changed by merge, replacement or deletion.

use std::collections::BTreeMap;

use model::ids::ArmId;
use serde_json::{Value, json};

use crate::{
    call::Call,
    error::ArmError,
    gateway,
    http::{Answer, Method},
    json::{same, text},
    routes::{
        common::{check_tags, not_served, put_tags, tags_of},
        groups, network,
    },
    store::world::World,
    types, work,
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    if !same(call.path.last_name(), "default") {
        return Err(not_served(call));
    }
    let scope: ArmId = call.path.scope.parse().map_err(|_| not_served(call))?;
    let current = current(world, &scope)?;
    let tags = match call.method() {
        Method::Get => current,
        Method::Put => {
            let tags = given(call)?;
            set(world, &scope, tags.clone())?;
            tags
        }
        Method::Patch => {
            let tags = patched(call, current)?;
            set(world, &scope, tags.clone())?;
            tags
        }
        Method::Delete => {
            set(world, &scope, BTreeMap::new())?;
            return Ok(Answer::empty(200));
        }
        Method::Head | Method::Post | Method::Other => return Err(not_served(call)),
    };
    Ok(Answer::json(
        200,
        json!({
            "id": format!("{scope}/providers/Microsoft.Resources/tags/default"),
            "name": "default",
            "type": "Microsoft.Resources/tags",
            "properties": {"tags": tags},
        }),
    ))
}

/// The tags at a scope, or the refusal for a scope that is not there or takes none.
pub(crate) fn current(world: &World, scope: &ArmId) -> Result<BTreeMap<String, String>, ArmError> {
    let (subscription, group) = (
        scope.subscription().unwrap_or_default(),
        scope.group().unwrap_or_default(),
    );
    if scope.key().contains("/providers/") {
        let resource = world
            .resource(scope)
            .ok_or_else(|| gateway::not_found(&scope.resource_type(), scope.name(), group))?;
        if types::named(&resource.kind).is_some_and(|row| row.tracked) {
            return Ok(tags_of(&resource.body));
        }
    } else if !group.is_empty() {
        let group = world
            .group(subscription, group)
            .ok_or_else(|| gateway::group_not_found(group))?;
        return Ok(group.tags.clone().unwrap_or_default());
    }
    Err(ArmError::gateway(
        400,
        "TagsNotSupportedAtScope",
        format!("The sandbox keeps no tags at the scope '{scope}'."),
    ))
}

fn given(call: &Call<'_>) -> Result<BTreeMap<String, String>, ArmError> {
    let row = types::named("Microsoft.Resources/tags").ok_or_else(|| not_served(call))?;
    let body = call.body(row)?;
    let tags = body
        .pointer("/properties/tags")
        .and_then(Value::as_object)
        .map(|_| tags_of(body.get("properties").unwrap_or(&Value::Null)));
    let tags = tags.ok_or_else(|| ArmError::unreadable("expected `properties.tags`"))?;
    check_tags(&tags)?;
    Ok(tags)
}

fn patched(
    call: &Call<'_>,
    current: BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ArmError> {
    let body = crate::body::read(&call.incoming.text())?;
    let operation = text(&body, "/operation").unwrap_or_default().to_lowercase();
    let given = given(call)?;
    let mut tags = current;
    match operation.as_str() {
        "merge" => {
            for (name, value) in given {
                let known = tags.keys().find(|known| same(known, &name)).cloned();
                tags.insert(known.unwrap_or(name), value);
            }
        }
        "replace" => tags = given,
        "delete" => tags.retain(|name, value| {
            !given
                .iter()
                .any(|(gone, old)| same(gone, name) && (old == value || old.is_empty()))
        }),
        other => {
            return Err(ArmError::gateway(
                400,
                "InvalidTagsOperation",
                format!("The tags operation '{other}' is none of 'Merge', 'Replace', 'Delete'."),
            ));
        }
    }
    check_tags(&tags)?;
    Ok(tags)
}

/// Gives a scope these tags and no others.
pub(crate) fn set(
    world: &mut World,
    scope: &ArmId,
    tags: BTreeMap<String, String>,
) -> Result<(), ArmError> {
    if let Some(resource) = world.resource(scope).cloned() {
        let now = world.now();
        world.change(scope, |found| {
            put_tags(&mut found.body, Some(tags));
            found.changed = now;
            if resource.is("Microsoft.Compute/virtualMachines") {
                work::count(found, 1);
            }
        });
        if resource.kind.starts_with("Microsoft.Network/") {
            network::renew(world, scope);
        }
        return Ok(());
    }
    let group = world
        .group(
            scope.subscription().unwrap_or_default(),
            scope.group().unwrap_or_default(),
        )
        .cloned()
        .ok_or_else(|| gateway::group_not_found(scope.group().unwrap_or_default()))?;
    groups::set_tags(world, &group, tags);
    Ok(())
}
