//! What requests on the types of these services have in common.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{account, kinds, locks, quotas, roles, storage, terms, write};
use crate::{
    call::Call,
    durations::Timing,
    error::ArmError,
    http::{Answer, Method},
    json::set,
    lro,
    routes::common::{self, not_served, page, skip},
    store::{
        entry::{Resource, Style},
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
#[expect(
    clippy::unnecessary_wraps,
    reason = "the table of types wants this form"
)]
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

#[expect(
    clippy::unnecessary_wraps,
    reason = "the table of types wants this form"
)]
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
        ("Microsoft.MarketplaceOrdering", _) => terms::answer(world, call),
        ("Microsoft.Quota", _) => quotas::answer(world, call),
        ("Microsoft.Storage", "checkNameAvailability") => storage::check_name(world, call),
        ("Microsoft.PolicyInsights", _) if call.method() == Method::Post => Ok(unrestricted()),
        ("Microsoft.Authorization", "locks") if reads && call.path.is_open() => {
            Ok(locks::list(world, call))
        }
        _ => match kinds::find(&row.name()) {
            Some(found) => verb(world, call, row, found),
            None => Err(not_served(call)),
        },
    }
}

/// What policies say of a resource that is about to be made: the sandbox has none.
fn unrestricted() -> Answer {
    Answer::json(
        200,
        json!({
            "fieldRestrictions": [],
            "contentEvaluationResult": {"policyEvaluations": []},
        }),
    )
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
        Method::Put if !open => write::put(world, call, row, kind),
        Method::Patch if !open && kind.patch => write::put(world, call, row, kind),
        Method::Delete if !open => write::delete(world, call, row, kind),
        Method::Get
        | Method::Head
        | Method::Put
        | Method::Patch
        | Method::Post
        | Method::Delete
        | Method::Other => Err(not_served(call)),
    }
}

pub(super) fn existing<'a>(
    world: &'a World,
    call: &Call<'_>,
    kind: &Kind,
) -> Result<&'a Resource, ArmError> {
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
