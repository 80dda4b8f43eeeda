//! User-assigned identities and their federated credentials.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::serve::{Draft, quiet_id};
use crate::{
    call::Call,
    clock::Instant,
    durations::REPLICATION,
    error::ArmError,
    json::{default, set, text},
    routes::common,
    store::{entry::Resource, world::World},
};

const KIND: &str = "Microsoft.ManagedIdentity/userAssignedIdentities";

/// The body of an identity.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the table of types wants this form"
)]
pub(super) fn build(world: &mut World, _: &Call<'_>, draft: &mut Draft) -> Result<Value, ArmError> {
    let mut body = json!({});
    set(
        &mut body,
        "/properties/tenantId",
        json!(world.facts().tenant),
    );
    for member in ["principalId", "clientId"] {
        let place = format!("/properties/{member}");
        let id = draft.kept(&place).unwrap_or_else(|| json!(world.mint()));
        set(&mut body, &place, id);
    }
    Ok(body)
}

/// The identity as its GET shows it: always with tags, in an id of lower case.
pub(super) fn show(_: &World, call: &Call<'_>, identity: &Resource) -> Value {
    let mut shown = common::base(identity);
    default(&mut shown, "/tags", json!({}));
    set(&mut shown, "/id", quiet_id(call, identity));
    shown
}

/// A credential as its GET shows it.
pub(super) fn show_credential(_: &World, call: &Call<'_>, credential: &Resource) -> Value {
    let mut shown = common::base(credential);
    set(&mut shown, "/id", quiet_id(call, credential));
    shown
}

/// The refusal of a credential that is not there.
pub(super) fn missing(call: &Call<'_>, id: &ArmId) -> ArmError {
    let mut id = id.to_string();
    if call.setup.quirks {
        id = id.replacen("/resourceGroups/", "/resourcegroups/", 1);
    }
    ArmError::new(404, "NotFound", format!("Resource '{id}' was not found."))
}

/// The principal and client of a user-assigned identity, or the refusal of one that is not there,
/// as the service of the resource that names it words it.
pub(crate) fn assigned(world: &World, owner: &ArmId, id: &str) -> Result<Value, ArmError> {
    let found = world
        .resource_by_key(&id.trim_end_matches('/').to_lowercase())
        .filter(|found| found.is(KIND));
    match found {
        Some(identity) => Ok(json!({
            "principalId": text(&identity.body, "/properties/principalId"),
            "clientId": text(&identity.body, "/properties/clientId"),
        })),
        None => Err(ArmError::new(
            400,
            "FailedIdentityOperation",
            format!(
                "Identity operation for resource '{owner}' failed with error 'Failed to perform \
                 resource identity operation. Status: 'BadRequest'. Response: \
                 '{{\"error\":{{\"code\":\"BadRequest\",\"message\":\"Resource '{id}' was not \
                 found.\"}}}}'.'."
            ),
        )),
    }
}

/// Whether the directory knows a principal: that of an identity, some time after it was made.
pub(super) fn is_known(world: &World, call: &Call<'_>, principal: &str) -> bool {
    let wanted = principal.to_lowercase();
    let delay = call.setup.speed.shrink(REPLICATION);
    let old_enough = |created: Instant| call.now.since(created) >= delay;
    world
        .of_kind(call.subscription(), KIND, None)
        .filter(|identity| {
            text(&identity.body, "/properties/principalId")
                .is_some_and(|id| id.to_lowercase() == wanted)
        })
        .any(|identity| old_enough(identity.created))
        || world
            .below(&format!("/subscriptions/{}/", call.subscription()))
            .filter(|resource| {
                text(&resource.body, "/identity/principalId")
                    .is_some_and(|id| id.to_lowercase() == wanted)
            })
            .any(|resource| old_enough(resource.created))
}
