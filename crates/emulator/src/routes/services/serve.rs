//! What requests on the types of these services have in common.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{account, kinds, locks, roles};
use crate::{
    call::Call,
    durations::Timing,
    error::ArmError,
    gateway,
    http::{Answer, Method},
    json::{merge, set, text},
    lro::{self, Plan, Twin},
    routes::{
        common::{self, check_name, location, not_served, page, put_tags, skip, tags},
        compute::machine,
    },
    store::{
        entry::{Resource, Style, Work, resource_key},
        world::World,
    },
    types::Type,
};

/// What tells one type from another.
pub(crate) struct Kind {
    /// `Microsoft.Batch/batchAccounts`.
    pub(super) name: &'static str,
    /// Makes the body that is kept from the one that was given.
    pub(super) build: fn(&mut World, &Call<'_>, &mut Draft) -> Result<Value, ArmError>,
    /// The resource as its GET shows it.
    pub(super) show: fn(&World, &Call<'_>, &Resource) -> Value,
    /// The provider's own refusal of what is not there.
    pub(super) missing: fn(&Call<'_>, &ArmId) -> ArmError,
    /// Refuses to delete what is used.
    pub(super) free: fn(&World, &Resource) -> Result<(), ArmError>,
    /// Answers a POST, by the action behind the resource.
    pub(super) act: fn(&mut World, &Call<'_>, Resource, &str) -> Result<Answer, ArmError>,
    pub(super) put: Course,
    pub(super) delete: Course,
    pub(super) etag: ETag,
    /// Whether it takes PATCH.
    pub(super) patch: bool,
    /// Whether the answer to its creation has a `Location`: its path.
    pub(super) locates: bool,
    /// Whether the answer to its deletion shows what there was.
    pub(super) shows_deleted: bool,
}

/// How a write goes.
pub(crate) enum Course {
    /// Done at once, with these statuses for a new and for an existing resource.
    AtOnce { new: u16, old: u16 },
    /// By an operation.
    Long {
        style: Style,
        new: Timing,
        old: Timing,
        /// The state of a new resource meanwhile.
        state: &'static str,
        /// Whether the first answer has the resource in it: 201 or 200 then, else 202.
        shows: bool,
    },
}

/// Which etags a type has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ETag {
    None,
    /// `"0x8D…"`, in the header alone.
    Strong,
    /// `W/"0x8D…"`, in header and body.
    Weak,
    /// In the body alone, where newer versions of the API show it.
    Member,
}

/// What a write is made from.
pub(crate) struct Draft {
    pub(super) id: ArmId,
    /// The region; that of the parent for a child.
    pub(super) place: String,
    /// The body as given; for a PATCH laid over what there was.
    pub(super) given: Value,
    pub(super) old: Option<Resource>,
    /// Children that are written with it.
    pub(super) below: Vec<Resource>,
    /// The state that answers show while the operation runs, where it is not the usual one.
    pub(super) state: Option<&'static str>,
    /// What it uses of the quotas of its region.
    pub(super) quota: std::collections::BTreeMap<String, u64>,
}

impl Draft {
    /// A value of the old body, which a PUT does not change.
    pub(super) fn kept(&self, pointer: &str) -> Option<Value> {
        self.old.as_ref()?.body.pointer(pointer).cloned()
    }
}

/// Keeps a body as it was given.
pub(super) fn as_given(_: &mut World, _: &Call<'_>, draft: &mut Draft) -> Result<Value, ArmError> {
    Ok(draft.given.clone())
}

/// Shows a body as it is kept.
pub(super) fn as_kept(_: &World, _: &Call<'_>, resource: &Resource) -> Value {
    common::base(resource)
}

/// The refusal of a child that is not there.
pub(super) fn missing(_: &Call<'_>, id: &ArmId) -> ArmError {
    ArmError::new(404, "NotFound", format!("Resource '{id}' was not found."))
}

pub(super) fn always_free(_: &World, _: &Resource) -> Result<(), ArmError> {
    Ok(())
}

pub(super) fn no_action(
    _: &mut World,
    call: &Call<'_>,
    _: Resource,
    _: &str,
) -> Result<Answer, ArmError> {
    Err(not_served(call))
}

/// An id with the word for groups in lower case, as recorded answers of some services have it.
pub(super) fn quiet_id(call: &Call<'_>, resource: &Resource) -> Value {
    let id = resource.id.as_str();
    json!(if call.setup.quirks {
        id.replacen("/resourceGroups/", "/resourcegroups/", 1)
    } else {
        id.to_owned()
    })
}

/// A new etag, as Batch makes them.
pub(super) fn tag(world: &mut World) -> String {
    let hex = world.mint().replace('-', "").to_uppercase();
    format!("0x8D{}", hex.get(..12).unwrap_or_default())
}

/// Answers a request on one of these services.
pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let kind = call.path.kind();
    let reads = call.method() == Method::Get;
    if kind.contains("operation") {
        return if reads && !call.path.is_open() {
            lro::poll(world, call)
        } else {
            Err(not_served(call))
        };
    }
    match (row.namespace, row.path) {
        ("Microsoft.Batch", path) if path.starts_with("locations") => {
            account::location(world, call)
        }
        ("Microsoft.Authorization", "permissions" | "roleDefinitions") => roles::answer(call),
        ("Microsoft.Authorization", "roleAssignments") if reads && call.path.is_open() => {
            Ok(roles::list(world, call))
        }
        ("Microsoft.Authorization", "locks") if reads && call.path.is_open() => {
            Ok(locks::list(world, call))
        }
        _ => match kinds::find(&row.name()) {
            Some(found) => verb(world, call, row, found),
            None => Err(not_served(call)),
        },
    }
}

fn verb(world: &mut World, call: &Call<'_>, row: &Type, kind: &Kind) -> Result<Answer, ArmError> {
    let depth = row.path.split('/').count();
    let open = call.path.is_open();
    match call.method() {
        Method::Post if open && call.path.kinds.len() == depth + 1 => {
            let resource = existing(world, call, kind)?.clone();
            let action = call.path.kinds.last().map(|last| last.to_lowercase());
            (kind.act)(world, call, resource, &action.unwrap_or_default())
        }
        _ if call.path.kinds.len() != depth => Err(not_served(call)),
        Method::Get if open => Ok(list(world, call, row, kind)),
        Method::Get if !open => {
            existing(world, call, kind).map(|found| shown(world, call, 200, found))
        }
        Method::Put if !open => put(world, call, row, kind),
        Method::Patch if !open && kind.patch => put(world, call, row, kind),
        Method::Delete if !open => delete(world, call, row, kind),
        Method::Get
        | Method::Head
        | Method::Put
        | Method::Patch
        | Method::Post
        | Method::Delete
        | Method::Other => Err(not_served(call)),
    }
}

fn existing<'a>(world: &'a World, call: &Call<'_>, kind: &Kind) -> Result<&'a Resource, ArmError> {
    let id = common::id(world, call).ok_or_else(|| not_served(call))?;
    world.resource(&id).ok_or_else(|| (kind.missing)(call, &id))
}

/// An answer with a resource and its etag.
pub(crate) fn shown(world: &World, call: &Call<'_>, status: u16, resource: &Resource) -> Answer {
    let Some(kind) = kinds::find(&resource.kind) else {
        return Answer::json(status, common::base(resource));
    };
    let answer = Answer::json(status, view(world, call, kind, resource));
    match kind.etag {
        ETag::None | ETag::Member => answer,
        ETag::Strong => answer.with_header("ETag", format!("\"{}\"", resource.etag)),
        ETag::Weak => answer.with_header("ETag", format!("W/\"{}\"", resource.etag)),
    }
}

fn view(world: &World, call: &Call<'_>, kind: &Kind, resource: &Resource) -> Value {
    let mut shown = (kind.show)(world, call, resource);
    if kind.etag == ETag::Weak {
        set(
            &mut shown,
            "/etag",
            json!(format!("W/\"{}\"", resource.etag)),
        );
    }
    shown
}

fn list(world: &World, call: &Call<'_>, row: &Type, kind: &Kind) -> Answer {
    let after = skip(call);
    let kinds: Vec<&str> = row.path.split('/').collect();
    let below: Vec<&str> = kinds
        .iter()
        .enumerate()
        .flat_map(|(at, kind)| [*kind, call.path.name(at)])
        .filter(|part| !part.is_empty())
        .collect();
    let found: Box<dyn Iterator<Item = &Resource>> = match &call.path.group {
        Some(group) => Box::new(world.below(&format!(
            "/subscriptions/{}/resourcegroups/{group}/providers/{}/{}/",
            call.subscription(),
            row.namespace,
            below.join("/")
        ))),
        None => Box::new(world.of_kind(call.subscription(), kind.name, after.as_deref())),
    };
    let items = found
        .filter(|resource| resource.is(kind.name))
        .filter(|resource| {
            after
                .as_ref()
                .is_none_or(|after| resource.id.key() > after.as_str())
        })
        .map(|resource| {
            let shown = view(world, call, kind, resource);
            (resource.id.key().to_owned(), shown)
        });
    page(call, items, call.setup.pages.others)
}

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

fn put(world: &mut World, call: &Call<'_>, row: &Type, kind: &Kind) -> Result<Answer, ArmError> {
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
    let after = |world: &World, status: u16| {
        world.resource(&id).map_or_else(
            || Answer::empty(status),
            |kept| shown(world, call, status, kept),
        )
    };
    let (status, operation) = match &kind.put {
        // A PATCH of what has no operation for it is done at once.
        Course::Long { shows: false, .. } if call.method() == Method::Patch => (200, None),
        Course::AtOnce { new: made, old } => (if new { *made } else { *old }, None),
        Course::Long {
            style,
            new: making,
            old: changing,
            state: first,
            ..
        } => {
            let timing = if new { *making } else { *changing };
            let operation = lro::begin(
                world,
                call,
                &Plan {
                    target: &id,
                    location: &resource.location,
                    style: *style,
                    work: Work::Settle,
                    title: "PutOperation",
                    timing,
                },
            );
            resource.set_state(if new { first } else { state });
            resource.operation = Some(operation.id.clone());
            (if new { 201 } else { 200 }, Some((operation, timing)))
        }
    };
    let operation_id = operation
        .as_ref()
        .map(|(operation, _)| operation.id.clone());
    world.put_resource(resource);
    for mut child in below {
        child.operation = operation_id.clone().or(child.operation);
        if kind.etag != ETag::None {
            child.etag = tag(world);
        }
        world.put_resource(child);
    }
    let Some((operation, timing)) = operation else {
        let answer = after(world, status);
        return if kind.locates && status == 201 {
            let path = text_of(&answer, "/id");
            answer.with_header("Location", path)
        } else {
            answer
        };
    };
    let shows = matches!(kind.put, Course::Long { shows: true, .. });
    let (answer, twin) = if shows {
        (after(world, status), Twin::No)
    } else {
        (Answer::empty(202), Twin::Yes)
    };
    lro::announce(answer, call, &operation, twin, timing.retry_after)
}

fn text_of(answer: &Answer, pointer: &str) -> String {
    match &answer.body {
        crate::http::Body::Json(body) => text(body, pointer).unwrap_or_default().to_owned(),
        crate::http::Body::Empty => String::new(),
    }
}

fn delete(world: &mut World, call: &Call<'_>, row: &Type, kind: &Kind) -> Result<Answer, ArmError> {
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
                    title: "DeleteOperation",
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
pub(super) fn remove(world: &mut World, id: &ArmId) {
    let below: Vec<String> = world
        .below(&format!("{}/", id.key()))
        .map(|child| child.id.key().to_owned())
        .collect();
    for key in below {
        world.remove(&resource_key(&key));
    }
    world.remove(&resource_key(id.key()));
}
