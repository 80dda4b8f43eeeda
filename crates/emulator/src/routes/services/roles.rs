//! Role assignments, the definitions of a few built-in roles, and what a caller may do.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{identity, serve::Draft};
use crate::{
    call::Call,
    error::ArmError,
    http::{Answer, Method},
    json::{same, set, text},
    routes::common::{self, not_served, page, skip},
    store::{entry::Resource, world::World},
    text::Seeded,
};

const KIND: &str = "Microsoft.Authorization/roleAssignments";

/// A built-in role: id, name, actions, actions taken out again, actions on data.
struct Role {
    id: &'static str,
    name: &'static str,
    actions: &'static [&'static str],
    not_actions: &'static [&'static str],
    data_actions: &'static [&'static str],
}

const BLOBS: &str = "Microsoft.Storage/storageAccounts/blobServices";

/// The roles whose definitions can be read. An assignment takes any other id as well.
const ROLES: [Role; 7] = [
    Role {
        id: "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
        name: "Owner",
        actions: &["*"],
        not_actions: &[],
        data_actions: &[],
    },
    Role {
        id: "b24988ac-6180-42a0-ab88-20f7382dd24c",
        name: "Contributor",
        actions: &["*"],
        not_actions: &[
            "Microsoft.Authorization/*/Delete",
            "Microsoft.Authorization/*/Write",
            "Microsoft.Authorization/elevateAccess/Action",
        ],
        data_actions: &[],
    },
    Role {
        id: "acdd72a7-3385-48ef-bd42-f606fba81ae7",
        name: "Reader",
        actions: &["*/read"],
        not_actions: &[],
        data_actions: &[],
    },
    Role {
        id: "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9",
        name: "User Access Administrator",
        actions: &["*/read", "Microsoft.Authorization/*", "Microsoft.Support/*"],
        not_actions: &[],
        data_actions: &[],
    },
    Role {
        id: "7f951dda-4ed3-4680-a7ca-43fe172d538d",
        name: "AcrPull",
        actions: &["Microsoft.ContainerRegistry/registries/pull/read"],
        not_actions: &[],
        data_actions: &[],
    },
    Role {
        id: "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
        name: "Storage Blob Data Contributor",
        actions: &[
            "/containers/delete",
            "/containers/read",
            "/containers/write",
            "/generateUserDelegationKey/action",
        ],
        not_actions: &[],
        data_actions: &[
            "/containers/blobs/delete",
            "/containers/blobs/read",
            "/containers/blobs/write",
            "/containers/blobs/move/action",
            "/containers/blobs/add/action",
        ],
    },
    Role {
        id: "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1",
        name: "Storage Blob Data Reader",
        actions: &["/containers/read", "/generateUserDelegationKey/action"],
        not_actions: &[],
        data_actions: &["/containers/blobs/read"],
    },
];

/// What answers to `permissions` and `roleDefinitions`, which nobody writes.
pub(super) fn answer(call: &Call<'_>) -> Result<Answer, ArmError> {
    if call.method() != Method::Get {
        return Err(not_served(call));
    }
    let open = call.path.is_open();
    match call.path.kind().as_str() {
        "permissions" if open => Ok(Answer::json(
            200,
            json!({"value": [{
                "actions": ["*"], "notActions": [], "dataActions": [], "notDataActions": [],
            }]}),
        )),
        "roledefinitions" if open => Ok(definitions(call)),
        "roledefinitions" => {
            let id = call.path.name(0);
            ROLES
                .iter()
                .find(|role| same(role.id, id))
                .map(|role| Answer::json(200, definition(call, role)))
                .ok_or_else(|| {
                    ArmError::new(
                        404,
                        "RoleDefinitionDoesNotExist",
                        format!("The specified role definition with ID '{id}' does not exist."),
                    )
                })
        }
        _ => Err(not_served(call)),
    }
}

fn definitions(call: &Call<'_>) -> Answer {
    let filter = call.query().get("$filter").unwrap_or_default();
    let name = quoted(filter, "roleName eq");
    let value: Vec<Value> = ROLES
        .iter()
        .filter(|role| name.as_ref().is_none_or(|name| same(name, role.name)))
        .map(|role| definition(call, role))
        .collect();
    Answer::json(200, json!({"value": value}))
}

fn definition(call: &Call<'_>, role: &Role) -> Value {
    let full = |actions: &[&str]| -> Vec<String> {
        actions
            .iter()
            .map(|action| {
                if action.starts_with('/') {
                    format!("{BLOBS}{action}")
                } else {
                    (*action).to_owned()
                }
            })
            .collect()
    };
    json!({
        "properties": {
            "roleName": role.name,
            "type": "BuiltInRole",
            "description": format!("The built-in role {}.", role.name),
            "assignableScopes": ["/"],
            "permissions": [{
                "actions": full(role.actions),
                "notActions": full(role.not_actions),
                "dataActions": full(role.data_actions),
                "notDataActions": [],
            }],
        },
        "id": definition_id(call, role.id),
        "type": "Microsoft.Authorization/roleDefinitions",
        "name": role.id,
    })
}

fn definition_id(call: &Call<'_>, id: &str) -> String {
    format!(
        "/subscriptions/{}/providers/Microsoft.Authorization/roleDefinitions/{id}",
        call.subscription()
    )
}

/// The text in quotes behind some words of a filter.
fn quoted(filter: &str, words: &str) -> Option<String> {
    let at = filter.to_lowercase().find(&words.to_lowercase())?;
    let rest = filter.get(at + words.len()..)?;
    rest.split('\'').nth(1).map(str::to_owned)
}

/// The body of an assignment.
pub(super) fn build(
    world: &mut World,
    call: &Call<'_>,
    draft: &mut Draft,
) -> Result<Value, ArmError> {
    let name = draft.id.name();
    if uuid::Uuid::parse_str(name).is_err() {
        return Err(ArmError::new(
            400,
            "InvalidRoleAssignmentId",
            format!(
                "The role assignment ID '{name}' is not valid. The role assignment ID must be a \
                 GUID."
            ),
        ));
    }
    let given = &draft.given;
    let principal = text(given, "/properties/principalId").unwrap_or_default();
    let role = text(given, "/properties/roleDefinitionId").unwrap_or_default();
    check_principal(world, call, given, principal)?;
    let role = role.rsplit('/').next().unwrap_or_default();
    if uuid::Uuid::parse_str(role).is_err() {
        return Err(ArmError::new(
            400,
            "InvalidRoleDefinitionId",
            format!("The role definition ID '{role}' is not valid. It must be a GUID."),
        ));
    }
    let role = definition_id(call, role);
    only_one(world, call, draft, principal, &role)?;
    let now = world.now().precise();
    let caller = Seeded::of_text(call.setup.seed, "caller").guid();
    let mut properties = json!({
        "roleDefinitionId": role,
        "principalId": principal,
        "principalType": text(given, "/properties/principalType").unwrap_or("ServicePrincipal"),
        "scope": call.path.scope,
        "createdOn": draft.kept("/properties/createdOn").unwrap_or_else(|| json!(now)),
        "updatedOn": now,
        "createdBy": caller,
        "updatedBy": caller,
    });
    for member in [
        "condition",
        "conditionVersion",
        "delegatedManagedIdentityResourceId",
        "description",
    ] {
        let value = given.pointer(&format!("/properties/{member}"));
        set(
            &mut properties,
            &format!("/{member}"),
            value.cloned().unwrap_or_default(),
        );
    }
    Ok(json!({"properties": properties}))
}

fn check_principal(
    world: &World,
    call: &Call<'_>,
    given: &Value,
    principal: &str,
) -> Result<(), ArmError> {
    let Ok(id) = uuid::Uuid::parse_str(principal) else {
        return Err(ArmError::new(
            400,
            "InvalidPrincipalId",
            "A valid principal ID must be provided for role assignment.",
        ));
    };
    // Who says what kind of principal it is may name one that the directory does not know yet.
    let said = text(given, "/properties/principalType").is_some();
    if said || identity::is_known(world, call, principal) {
        return Ok(());
    }
    Err(ArmError::new(
        400,
        "PrincipalNotFound",
        format!(
            "Principal {} does not exist in the directory {}. Check that you have the correct \
             principal ID. If you are creating this principal and then immediately assigning a \
             role, this error might be related to a replication delay. In this case, set the role \
             assignment principalType property to a value, such as ServicePrincipal, User, or \
             Group.  See https://aka.ms/docs-principaltype",
            id.simple(),
            call.setup.tenant
        ),
    ))
}

/// A scope has an assignment of a role to a principal once, and an assignment stays what it is.
fn only_one(
    world: &World,
    call: &Call<'_>,
    draft: &Draft,
    principal: &str,
    role: &str,
) -> Result<(), ArmError> {
    let says = |resource: &Resource, member: &str, value: &str| {
        text(&resource.body, &format!("/properties/{member}")).is_some_and(|had| same(had, value))
    };
    if let Some(old) = &draft.old
        && !(says(old, "principalId", principal) && says(old, "roleDefinitionId", role))
    {
        return Err(ArmError::new(
            409,
            "RoleAssignmentUpdateNotPermitted",
            "Tenant ID, application ID, principal ID, and scope are not allowed to be updated.",
        ));
    }
    let twin = world
        .of_kind(call.subscription(), KIND, None)
        .filter(|other| other.id != draft.id)
        .any(|other| {
            says(other, "scope", &call.path.scope)
                && says(other, "principalId", principal)
                && says(other, "roleDefinitionId", role)
        });
    if twin {
        return Err(ArmError::new(
            409,
            "RoleAssignmentExists",
            "The role assignment already exists.",
        ));
    }
    Ok(())
}

/// The refusal of an assignment that is not there.
pub(super) fn missing(_: &Call<'_>, id: &ArmId) -> ArmError {
    ArmError::new(
        404,
        "RoleAssignmentNotFound",
        format!("The role assignment '{}' is not found.", id.name()),
    )
}

/// The assignment as answers show it; the first one does not say who made it.
pub(super) fn show(_: &World, call: &Call<'_>, assignment: &Resource) -> Value {
    let mut shown = common::base(assignment);
    if call.method() == Method::Put && assignment.created == call.now {
        set(&mut shown, "/properties/createdBy", Value::Null);
    }
    shown
}

/// Assignments at, above and below a scope, or with `atScope()` without those below.
pub(super) fn list(world: &World, call: &Call<'_>) -> Answer {
    let filter = call.query().get("$filter").unwrap_or_default();
    let at_scope = filter.to_lowercase().contains("atscope()");
    let principal = quoted(filter, "principalId eq").or_else(|| quoted(filter, "assignedTo("));
    let scope = call.path.scope.to_lowercase();
    let after = skip(call);
    let items = world
        .of_kind(call.subscription(), KIND, after.as_deref())
        .filter(|assignment| {
            let own = text(&assignment.body, "/properties/scope").unwrap_or_default();
            let own = own.to_lowercase();
            let covers = |outer: &str, inner: &str| {
                inner == outer || inner.starts_with(&format!("{outer}/"))
            };
            covers(&own, &scope) || (!at_scope && covers(&scope, &own))
        })
        .filter(|assignment| {
            principal.as_ref().is_none_or(|principal| {
                text(&assignment.body, "/properties/principalId")
                    .is_some_and(|id| same(id, principal))
            })
        })
        .map(|assignment| {
            let shown = show(world, call, assignment);
            (assignment.id.key().to_owned(), shown)
        });
    page(call, items, call.setup.pages.others)
}
