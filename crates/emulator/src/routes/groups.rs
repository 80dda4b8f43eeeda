//! Resource groups.

use std::collections::BTreeMap;

use model::ids::ArmId;
use serde_json::{Value, json};

use crate::{
    call::Call,
    catalogue, durations,
    error::ArmError,
    gateway::group_not_found,
    http::{Answer, Method},
    json::{same, text},
    lro::{self, Plan, Twin},
    odata::Filter,
    routes::common::{not_served, page, skip, tags},
    store::{
        entry::{Entry, Group, Style, Work},
        world::World,
    },
    types::{self, Type},
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let row = types::named("Microsoft.Resources/resourceGroups").ok_or_else(|| not_served(call))?;
    if call.path.group.is_none() {
        return match call.method() {
            Method::Get => list(world, call),
            Method::Head
            | Method::Put
            | Method::Patch
            | Method::Post
            | Method::Delete
            | Method::Other => Err(not_served(call)),
        };
    }
    match call.method() {
        Method::Get => existing(world, call).map(|group| Answer::json(200, show(group))),
        Method::Head => Ok(Answer::empty(if existing(world, call).is_ok() {
            204
        } else {
            404
        })),
        Method::Put => put(world, call, row),
        Method::Patch => patch(world, call, row),
        Method::Delete => delete(world, call),
        Method::Post | Method::Other => Err(not_served(call)),
    }
}

fn existing<'a>(world: &'a World, call: &Call<'_>) -> Result<&'a Group, ArmError> {
    world
        .group(call.subscription(), call.group())
        .ok_or_else(|| group_not_found(call.group()))
}

/// A group as its GET shows it.
pub(crate) fn show(group: &Group) -> Value {
    let mut shown = json!({
        "id": id(group).as_str(),
        "name": group.name,
        "type": "Microsoft.Resources/resourceGroups",
        "location": group.location,
        "properties": {"provisioningState": group.state},
    });
    if let Some(tags) = &group.tags {
        crate::json::set(&mut shown, "/tags", json!(tags));
    }
    if let Some(manager) = &group.managed_by {
        crate::json::set(&mut shown, "/managedBy", json!(manager));
    }
    shown
}

fn id(group: &Group) -> ArmId {
    ArmId::resource_group(&group.subscription, &group.name)
}

fn list(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let filter = match call.query().get("$filter") {
        Some(filter) => Some(Filter::parse(filter).map_err(|error| {
            ArmError::gateway(400, "InvalidFilterInQueryString", error.to_string())
        })?),
        None => None,
    };
    let after = skip(call);
    let groups = world
        .groups(call.subscription())
        .filter(|group| fits(group, filter.as_ref()))
        .map(|group| (group.name.to_lowercase(), show(group)))
        .filter(|(key, _)| after.as_ref().is_none_or(|after| key > after));
    Ok(page(call, groups, call.setup.pages.resources))
}

fn fits(group: &Group, filter: Option<&Filter>) -> bool {
    let Some(filter) = filter else {
        return true;
    };
    if let Some(name) = filter.demanded("tagName") {
        let value = group.tags.iter().flatten().find(|(tag, _)| same(tag, name));
        let wanted = filter.demanded("tagValue");
        return value.is_some_and(|(_, value)| wanted.is_none_or(|wanted| wanted == value));
    }
    filter.fits(&|field| match field.to_lowercase().as_str() {
        "name" => Some(group.name.clone()),
        "location" => Some(group.location.clone()),
        _ => None,
    })
}

fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    if let Some(rule) = row.names {
        rule.check(call.group())?;
    }
    let body = call.body(row)?;
    let given = text(&body, "/location").ok_or_else(|| {
        ArmError::gateway(
            400,
            "LocationRequired",
            "The location property is required for this definition.",
        )
    })?;
    let region = catalogue::region(given).ok_or_else(|| {
        ArmError::gateway(
            400,
            "LocationNotAvailableForResourceGroup",
            format!(
                "The provided location '{given}' is not available for resource group. List of \
                 available regions is '{}'.",
                catalogue::region_list()
            ),
        )
    })?;
    let location = region.name.as_str();
    let tags = tags(&body)?;
    let old = world.group(call.subscription(), call.group()).cloned();
    if let Some(old) = &old {
        if !old.location.eq_ignore_ascii_case(location) {
            return Err(ArmError::gateway(
                409,
                "InvalidResourceGroupLocation",
                format!(
                    "Invalid resource group location '{location}'. The Resource group already \
                     exists in location '{}'.",
                    old.location
                ),
            ));
        }
        writable(old)?;
    }
    let now = world.now();
    let group = Group {
        subscription: call.subscription().to_owned(),
        name: old
            .as_ref()
            .map_or_else(|| call.group().to_owned(), |old| old.name.clone()),
        location: location.to_owned(),
        managed_by: text(&body, "/managedBy").map(str::to_owned),
        tags,
        state: "Succeeded".to_owned(),
        created: old.as_ref().map_or(now, |old| old.created),
        changed: now,
    };
    let answer = Answer::json(if old.is_some() { 200 } else { 201 }, show(&group));
    world.put(Entry::Group(group));
    Ok(answer)
}

fn writable(group: &Group) -> Result<(), ArmError> {
    if group.state != "Deleting" {
        return Ok(());
    }
    Err(ArmError::gateway(
        409,
        "ResourceGroupBeingDeleted",
        format!(
            "The resource group '{}' is in deprovisioning state and cannot perform this operation.",
            group.name
        ),
    ))
}

fn patch(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let mut group = existing(world, call)?.clone();
    writable(&group)?;
    let body = call.body(row)?;
    if let Some(tags) = tags(&body)? {
        // The whole map is replaced, as recorded.
        group.tags = Some(tags);
    }
    group.changed = world.now();
    let answer = Answer::json(200, show(&group));
    world.put(Entry::Group(group));
    Ok(answer)
}

fn delete(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let mut group = existing(world, call)?.clone();
    let id = id(&group);
    let running = format!("{} {}", group.subscription, group.name);
    let resources = world.below(&format!("{}/", id.key())).count();
    let timing = durations::group_delete(resources);
    let operation = lro::begin(
        world,
        call,
        &Plan {
            target: &id,
            location: &group.location,
            style: Style::Group,
            work: Work::DeleteGroup,
            title: &running,
            timing,
        },
    );
    "Deleting".clone_into(&mut group.state);
    world.put(Entry::Group(group));
    Ok(lro::announce(
        Answer::empty(202),
        call,
        &operation,
        Twin::Yes,
        timing.retry_after,
    ))
}

/// Sets the tags of a group through the tags API.
pub(crate) fn set_tags(world: &mut World, group: &Group, tags: BTreeMap<String, String>) {
    let mut group = group.clone();
    group.tags = Some(tags);
    group.changed = world.now();
    world.put(Entry::Group(group));
}
