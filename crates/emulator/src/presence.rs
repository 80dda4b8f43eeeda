//! What is not there: the answers of ARM, and those of providers that have just deleted it.

use model::ids::ArmId;

use crate::{
    call::Call, error::ArmError, gateway::not_found, http::Method, store::world::World, types::Type,
};

/// Answers for what is not there, except for what a provider has just deleted.
pub(crate) fn present(world: &World, call: &Call<'_>, row: &Type) -> Result<(), ArmError> {
    let own = !row.tracked && !row.path.contains('/') || row.path.starts_with("locations");
    if own || row.scoped {
        return Ok(());
    }
    let Some(id) = crate::routes::common::id(world, call) else {
        return Ok(());
    };
    if let Some(parent) = id.parent()
        && world.resource(&parent).is_none()
    {
        return Err(if call.method() == Method::Put {
            ArmError::gateway(
                404,
                "ParentResourceNotFound",
                format!(
                    "Can not perform requested operation on nested resource. Parent resource \
                     '{}' not found.",
                    parent.name()
                ),
            )
        } else {
            not_found(&parent.resource_type(), parent.name(), call.group())
        });
    }
    let makes = matches!(call.method(), Method::Put | Method::Delete) && !call.path.is_open();
    if makes
        || world.resource(&id).is_some()
        || (id.parent().is_some() && !row.tracked)
        || world.tombstone(&id, call.now).is_some()
    {
        return Ok(());
    }
    Err(not_found_id(&id, call.group()))
}

/// The refusal of ARM for a resource that is not there; a child is named behind its parents.
fn not_found_id(id: &ArmId, group: &str) -> ArmError {
    let Some(parent) = id.parent() else {
        return not_found(&id.resource_type(), id.name(), group);
    };
    let kind = id.resource_type();
    let last = kind.rsplit('/').next().unwrap_or_default();
    let above = match parent.parent() {
        Some(grandparent) => format!(
            "{}/{}/{}/{}",
            grandparent.resource_type(),
            grandparent.name(),
            parent
                .resource_type()
                .rsplit('/')
                .next()
                .unwrap_or_default(),
            parent.name()
        ),
        None => format!("{}/{}", parent.resource_type(), parent.name()),
    };
    not_found(&format!("{above}/{last}"), id.name(), group)
}

/// The answer of a provider for what it has just deleted.
pub(crate) fn buried(world: &World, call: &Call<'_>, row: &Type) -> Result<(), ArmError> {
    let makes = matches!(call.method(), Method::Put | Method::Delete);
    let grave = crate::routes::common::id(world, call)
        .filter(|id| !makes && world.resource(id).is_none())
        .filter(|id| world.tombstone(id, call.now).is_some());
    match grave {
        None => Ok(()),
        Some(id) => Err(if let Some(kind) = disk_kind(row) {
            ArmError::new(
                404,
                "NotFound",
                format!("{kind} {} is not found.", id.name()),
            )
        } else {
            ArmError::new(
                404,
                "NotFound",
                "The entity was not found in this Azure location.",
            )
        }),
    }
}

/// What the provider of disks calls a resource of its.
fn disk_kind(row: &Type) -> Option<&'static str> {
    match row.path {
        "disks" => Some("Disk"),
        "snapshots" => Some("Snapshot"),
        _ => None,
    }
}
