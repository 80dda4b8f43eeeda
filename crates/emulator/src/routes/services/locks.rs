//! Management locks: what they are, and what they keep from happening.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::serve::Draft;
use crate::{
    call::Call,
    error::ArmError,
    http::{Answer, Method},
    json::{same, text},
    routes::common::{self, page, skip},
    store::{entry::Resource, world::World},
    types::Type,
};

const KIND: &str = "Microsoft.Authorization/locks";

/// The body of a lock.
pub(super) fn build(_: &mut World, _: &Call<'_>, draft: &mut Draft) -> Result<Value, ArmError> {
    let level = text(&draft.given, "/properties/level").unwrap_or_default();
    if !["CanNotDelete", "ReadOnly", "NotSpecified"].contains(&level) {
        return Err(ArmError::gateway(
            400,
            "LockLevelInvalid",
            format!("The lock level '{level}' is neither 'CanNotDelete' nor 'ReadOnly'."),
        ));
    }
    Ok(json!({"properties": draft.given.get("properties")}))
}

/// The refusal of a lock that is not there.
pub(super) fn missing(_: &Call<'_>, id: &ArmId) -> ArmError {
    ArmError::gateway(
        404,
        "LockNotFound",
        format!("The lock '{}' could not be found.", id.name()),
    )
}

/// What a lock is on.
fn scope(lock: &Resource) -> &str {
    let id = lock.id.as_str();
    let at = lock.id.key().rfind("/providers/microsoft.authorization/");
    at.and_then(|at| id.get(..at)).unwrap_or(id)
}

fn covers(outer: &str, inner: &str) -> bool {
    let (outer, inner) = (outer.to_lowercase(), inner.to_lowercase());
    inner == outer || inner.starts_with(&format!("{outer}/"))
}

/// Locks at, above and below a scope.
pub(super) fn list(world: &World, call: &Call<'_>) -> Answer {
    let here = &call.path.scope;
    let after = skip(call);
    let items = world
        .of_kind(call.subscription(), KIND, after.as_deref())
        .filter(|lock| covers(scope(lock), here) || covers(here, scope(lock)))
        .map(|lock| (lock.id.key().to_owned(), common::base(lock)));
    page(call, items, call.setup.pages.others)
}

/// Refuses what a lock keeps from happening. Locks themselves are written and deleted freely.
pub(crate) fn check(world: &World, call: &Call<'_>, row: Option<&Type>) -> Result<(), ArmError> {
    let deletes = call.method() == Method::Delete;
    let writes = matches!(call.method(), Method::Put | Method::Patch | Method::Post);
    if !(deletes || writes) || row.is_some_and(|row| same(&row.name(), KIND)) {
        return Ok(());
    }
    let target = match common::id(world, call) {
        Some(id) => id.to_string(),
        None if call.path.kinds.is_empty() && call.path.group.is_some() => call.path.scope.clone(),
        None => return Ok(()),
    };
    let locked: Vec<&str> = world
        .of_kind(call.subscription(), KIND, None)
        .filter(|lock| {
            let level = text(&lock.body, "/properties/level").unwrap_or_default();
            deletes || same(level, "ReadOnly")
        })
        .map(scope)
        // What is deleted takes all below it along.
        .filter(|scope| covers(scope, &target) || deletes && covers(&target, scope))
        .collect();
    if locked.is_empty() {
        return Ok(());
    }
    Err(ArmError::gateway(
        409,
        "ScopeLocked",
        format!(
            "The scope '{target}' cannot perform {} operation because following scope(s) are \
             locked: '{}'. Please remove the lock and try again.",
            if deletes { "delete" } else { "write" },
            locked.join("', '")
        ),
    ))
}
