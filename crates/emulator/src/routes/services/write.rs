//! Writes of the types of these services: what PUT, PATCH and DELETE have in common.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::serve::{Course, Draft, ETag, Kind, existing, shown, tag};
use crate::{
    call::Call,
    durations::{AT_ONCE, Timing},
    error::ArmError,
    gateway,
    http::{Answer, Method},
    json::{merge, set, text},
    lro::{self, Plan, Twin},
    routes::{
        common::{self, check_name, location, not_served, put_tags, tags},
        compute::machine,
    },
    store::{
        entry::{Operation, Resource, Style, Work, resource_key},
        world::World,
    },
    types::Type,
};

fn draft(world: &World, call: &Call<'_>, row: &Type, id: ArmId) -> Result<Draft, ArmError> {
    let given = call.body(row)?;
    let old = world.resource(&id).cloned();
    let home = id.parent().and_then(|parent| world.resource(&parent));
    let place = match home {
        Some(home) => home.location.clone(),
        None if row.tracked => location(&given, row, old.as_ref())?,
        None => String::new(),
    };
    let given = match &old {
        Some(old) if call.method() == Method::Patch => {
            let mut body = old.body.clone();
            let mut given = given;
            if let Some(tags) = crate::json::remove(&mut given, "/tags") {
                set(&mut body, "/tags", tags);
            }
            merge(&mut body, &given);
            body
        }
        Some(_) | None => given,
    };
    Ok(Draft {
        id,
        place,
        given,
        old,
        below: Vec::new(),
        state: None,
        quota: std::collections::BTreeMap::new(),
    })
}

pub(super) fn put(
    world: &mut World,
    call: &Call<'_>,
    row: &Type,
    kind: &Kind,
) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let id = common::id(world, call).ok_or_else(|| not_served(call))?;
    if row.scoped {
        check_scope(world, call)?;
    }
    if call.method() == Method::Patch {
        existing(world, call, kind)?;
    }
    preconditions(call, kind, world.resource(&id))?;
    let mut draft = draft(world, call, row, id)?;
    let tags = tags(&draft.given)?;
    let mut body = (kind.build)(world, call, &mut draft)?;
    if row.tracked {
        set(&mut body, "/location", json!(draft.place));
        put_tags(&mut body, tags);
    }
    let Draft {
        id,
        place,
        old,
        below,
        state,
        quota,
        ..
    } = draft;
    let new = old.is_none();
    let mut resource = old.unwrap_or_else(|| common::new(world, id, row, &place, Value::Null));
    resource.body = body;
    resource.changed = world.now();
    resource.hidden.quota = quota;
    if kind.etag != ETag::None {
        resource.etag = tag(world);
    }
    let state = state.unwrap_or("Updating");
    Ok(store(
        world,
        call,
        kind,
        Written {
            resource,
            below,
            new,
            state,
        },
    ))
}

/// The resource that something hangs at must be there; the gateway has looked for the group.
fn check_scope(world: &World, call: &Call<'_>) -> Result<(), ArmError> {
    let scope: Option<ArmId> = call.path.scope.parse().ok();
    let resource = scope.filter(|scope| scope.key().contains("/providers/"));
    match resource {
        Some(id) if world.resource(&id).is_none() => Err(gateway::not_found(
            &id.resource_type(),
            id.name(),
            call.group(),
        )),
        Some(_) | None => Ok(()),
    }
}

/// Whether the preconditions of a write hold, for types that have some.
fn preconditions(call: &Call<'_>, kind: &Kind, old: Option<&Resource>) -> Result<(), ArmError> {
    match kind.etag {
        ETag::None => Ok(()),
        ETag::Strong | ETag::Weak => machine::preconditions(call, old),
        // The etag stands in the body without quotes; a header may have them or not.
        ETag::Member => {
            let plain = |old: &Resource| call.incoming.header("if-match") == Some(&old.etag);
            if old.is_some_and(plain) {
                return Ok(());
            }
            machine::preconditions(call, old).map_err(ArmError::bare)
        }
    }
}

/// A resource that is about to be stored.
struct Written {
    resource: Resource,
    below: Vec<Resource>,
    new: bool,
    /// The state of an existing resource while its operation runs.
    state: &'static str,
}

fn store(world: &mut World, call: &Call<'_>, kind: &Kind, written: Written) -> Answer {
    let Written {
        mut resource,
        below,
        new,
        state,
    } = written;
    let id = resource.id.clone();
    let begun = match &kind.put {
        Course::AtOnce { .. } => None,
        // A PATCH of what has no operation for it is done at once, and so is a PUT without one.
        Course::Long { shows: false, .. } if call.method() == Method::Patch => None,
        Course::Long { old, .. } if !new && old.takes.is_zero() => None,
        Course::Long { .. } => Some(begin(world, call, kind, &mut resource, (new, state))),
    };
    world.put_resource(resource);
    for mut child in below {
        child.operation = match &begun {
            Some((operation, _)) => Some(operation.id.clone()),
            None => child.operation,
        };
        if kind.etag != ETag::None {
            child.etag = tag(world);
        }
        world.put_resource(child);
    }
    let status = match &kind.put {
        Course::AtOnce { new: made, .. } if new => *made,
        Course::AtOnce { old, .. } => *old,
        Course::Long { .. } if new => 201,
        Course::Long { .. } => 200,
    };
    let answer = world.resource(&id).map_or_else(
        || Answer::empty(status),
        |kept| shown(world, call, status, kept),
    );
    let Some((operation, timing)) = begun else {
        if kind.locates && status == 201 {
            let path = text_of(&answer, "/id");
            return answer.with_header("Location", path);
        }
        return answer;
    };
    let (answer, twin) = if matches!(kind.put, Course::Long { shows: true, .. }) {
        (answer, Twin::No)
    } else {
        (Answer::empty(202), Twin::Yes)
    };
    lro::announce(answer, call, &operation, twin, timing.retry_after)
}

/// Begins the operation of a write and notes it at the resource.
fn begin(
    world: &mut World,
    call: &Call<'_>,
    kind: &Kind,
    resource: &mut Resource,
    (new, state): (bool, &str),
) -> (Operation, Timing) {
    let (style, timing, first) = match &kind.put {
        Course::Long {
            style,
            new: making,
            old: changing,
            state: first,
            ..
        } => (*style, if new { *making } else { *changing }, *first),
        Course::AtOnce { .. } => (Style::Hidden, AT_ONCE, state),
    };
    let operation = lro::begin(
        world,
        call,
        &Plan {
            target: &resource.id,
            location: &resource.location,
            style,
            work: Work::Settle,
            title: if new { "create" } else { "update" },
            timing,
        },
    );
    resource.set_state(if new { first } else { state });
    resource.operation = Some(operation.id.clone());
    (operation, timing)
}

fn text_of(answer: &Answer, pointer: &str) -> String {
    match &answer.body {
        crate::http::Body::Json(body) => text(body, pointer).unwrap_or_default().to_owned(),
        // A shared text is a list of sizes, which no service here answers.
        crate::http::Body::Text(_) | crate::http::Body::Empty => String::new(),
    }
}

pub(super) fn delete(
    world: &mut World,
    call: &Call<'_>,
    row: &Type,
    kind: &Kind,
) -> Result<Answer, ArmError> {
    let Ok(resource) = existing(world, call, kind).cloned() else {
        return Ok(Answer::empty(204));
    };
    preconditions(call, kind, Some(&resource))?;
    (kind.free)(world, &resource)?;
    match &kind.delete {
        Course::AtOnce { new: status, .. } => {
            let answer = if kind.shows_deleted {
                shown(world, call, *status, &resource)
            } else {
                Answer::empty(*status)
            };
            remove(world, &resource.id);
            Ok(answer)
        }
        Course::Long {
            style, new: timing, ..
        } => {
            let operation = lro::begin(
                world,
                call,
                &Plan {
                    target: &resource.id,
                    location: &resource.location,
                    style: *style,
                    work: Work::Delete,
                    title: "delete",
                    timing: *timing,
                },
            );
            let tracked = row.tracked;
            world.change(&resource.id, |resource| {
                if tracked || !resource.state().is_empty() {
                    resource.set_state("Deleting");
                }
                resource.operation = Some(operation.id.clone());
            });
            let answer = Answer::empty(202);
            Ok(lro::announce(
                answer,
                call,
                &operation,
                Twin::Yes,
                timing.retry_after,
            ))
        }
    }
}

/// Removes a resource and what stands below it.
fn remove(world: &mut World, id: &ArmId) {
    let below: Vec<String> = world
        .below(&format!("{}/", id.key()))
        .map(|child| child.id.key().to_owned())
        .collect();
    for key in below {
        world.remove(&resource_key(&key));
    }
    world.remove(&resource_key(id.key()));
}
