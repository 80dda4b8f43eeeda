//! What writes of the smaller types of Compute have in common.

use serde_json::{Value, json};

use crate::{
    call::Call,
    durations::Timing,
    error::ArmError,
    gateway,
    http::Answer,
    json::{merge, set},
    lro::{self, Plan, Twin},
    routes::common::{self, check_name, location, not_served, put_tags, tags},
    store::{
        entry::{Resource, Style, Work, resource_key},
        world::World,
    },
    types::Type,
};

/// What a PUT asks for.
pub(crate) struct Wanted {
    /// The resource as it is, where there is one.
    pub(crate) old: Option<Resource>,
    /// The resource as it is to be: what it has, and over that what is given.
    pub(crate) made: Resource,
}

/// Reads a PUT; `fixed` refuses to change what stays as it was made.
pub(crate) fn wanted(
    world: &World,
    call: &Call<'_>,
    row: &Type,
    fixed: fn(&Resource, &Value) -> Result<(), ArmError>,
) -> Result<Wanted, ArmError> {
    check_name(call, row)?;
    let mut given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| not_served(call))?;
    let old = world.resource(&id).cloned();
    let place = location(&given, row, old.as_ref())?;
    let tags = tags(&given)?;
    set(&mut given, "/location", json!(place));
    put_tags(&mut given, tags);
    let made = if let Some(old) = &old {
        fixed(old, &given)?;
        let mut made = old.clone();
        merge(&mut made.body, &given);
        made
    } else {
        common::new(world, id, row, &place, given)
    };
    Ok(Wanted { old, made })
}

/// The first resource of a path, which is of this type, for what stands below it.
pub(crate) fn parent<'a>(
    world: &'a World,
    call: &Call<'_>,
    kind: &str,
) -> Result<&'a Resource, ArmError> {
    let name = call.path.name(0);
    let id =
        model::ids::ArmId::resource_group(call.subscription(), call.group()).in_group(kind, name);
    world
        .resource(&id)
        .ok_or_else(|| gateway::not_found(kind, name, call.group()))
}

/// Stores a resource, begins its operation, and answers with it.
pub(crate) fn begin(
    world: &mut World,
    call: &Call<'_>,
    resource: Resource,
    new: bool,
    timing: Timing,
) -> Answer {
    begin_as(world, call, resource, new, (timing, Style::Compute))
}

/// The same, with operations in another style.
pub(crate) fn begin_as(
    world: &mut World,
    call: &Call<'_>,
    resource: Resource,
    new: bool,
    (timing, style): (Timing, Style),
) -> Answer {
    let mut resource = resource;
    let operation = lro::begin(
        world,
        call,
        &Plan {
            target: &resource.id,
            location: &resource.location,
            style,
            work: Work::Settle,
            title: "PutOperation",
            timing,
        },
    );
    resource.set_state(if new { "Creating" } else { "Updating" });
    resource.operation = Some(operation.id.clone());
    resource.changed = world.now();
    let answer = Answer::json(if new { 201 } else { 200 }, common::base(&resource));
    world.put_resource(resource);
    lro::announce(answer, call, &operation, Twin::No, timing.retry_after)
}

/// Begins to delete a resource.
pub(crate) fn begin_delete(
    world: &mut World,
    call: &Call<'_>,
    resource: &Resource,
    timing: Timing,
) -> Answer {
    begin_delete_as(world, call, resource, (timing, Style::Compute))
}

/// The same, with operations in another style.
pub(crate) fn begin_delete_as(
    world: &mut World,
    call: &Call<'_>,
    resource: &Resource,
    (timing, style): (Timing, Style),
) -> Answer {
    let operation = lro::begin(
        world,
        call,
        &Plan {
            target: &resource.id,
            location: &resource.location,
            style,
            work: Work::Delete,
            title: "DeleteOperation",
            timing,
        },
    );
    world.change(&resource.id, |resource| {
        set(
            &mut resource.body,
            "/properties/provisioningState",
            json!("Deleting"),
        );
        resource.operation = Some(operation.id.clone());
    });
    lro::announce(
        Answer::empty(202),
        call,
        &operation,
        Twin::Yes,
        timing.retry_after,
    )
}

/// Removes a resource at once, as types without operations do.
pub(crate) fn remove(world: &mut World, resource: &Resource) -> Answer {
    world.remove(&resource_key(resource.id.key()));
    Answer::empty(200)
}
