//! Which request on deployments is which.

use model::ids::ArmId;
use serde_json::json;

use super::{accept, show};
use crate::{
    call::Call,
    error::ArmError,
    http::{Answer, Method},
    json::text,
    routes::common::{not_served, page, skip},
    store::{deployment::Deployment, world::World},
    types::{self, Type},
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    if call.path.group.is_none() {
        return Err(not_served(call));
    }
    let kind = call.path.kind();
    if kind == "deployments" && call.path.is_open() {
        return match call.method() {
            Method::Get => Ok(list(world, call)),
            Method::Head
            | Method::Put
            | Method::Patch
            | Method::Post
            | Method::Delete
            | Method::Other => Err(not_served(call)),
        };
    }
    if kind == "deployments/operations" && call.method() == Method::Get {
        return operations(world, call);
    }
    let id = accept::id(world, call).ok_or_else(|| not_served(call))?;
    match (call.method(), kind.as_str()) {
        (Method::Put, "deployments") => accept::put(world, call, row, &id),
        (Method::Post, "deployments/validate") => accept::validate(world, call, &id),
        (Method::Get, "deployments") => {
            let (id, deployment) = existing(world, call, &id)?;
            Ok(Answer::json(200, show::deployment(id, deployment)))
        }
        (Method::Head, "deployments") => Ok(Answer::empty(if existing(world, call, &id).is_ok() {
            204
        } else {
            404
        })),
        (Method::Get, "deployments/operationstatuses") => status(world, call, &id),
        _ => Err(not_served(call)),
    }
}

fn existing<'a>(
    world: &'a World,
    call: &Call<'_>,
    id: &ArmId,
) -> Result<(&'a ArmId, &'a Deployment), ArmError> {
    world
        .resource(id)
        .and_then(|resource| Some((&resource.id, resource.hidden.deployment.as_deref()?)))
        .ok_or_else(|| {
            ArmError::gateway(
                404,
                "DeploymentNotFound",
                format!("Deployment '{}' could not be found.", call.path.name(0)),
            )
        })
}

fn list(world: &World, call: &Call<'_>) -> Answer {
    let after = skip(call);
    let prefix = format!(
        "/subscriptions/{}/resourcegroups/{}/providers/microsoft.resources/deployments/",
        call.subscription(),
        call.group()
    );
    let items = world
        .below(&prefix)
        .filter(|resource| {
            after
                .as_ref()
                .is_none_or(|after| resource.id.key() > after.as_str())
        })
        .filter_map(|resource| {
            let deployment = resource.hidden.deployment.as_deref()?;
            let shown = show::deployment(&resource.id, deployment);
            Some((resource.id.key().to_owned(), shown))
        });
    page(call, items, call.setup.pages.others)
}

/// What the URL of a running deployment answers; also after a newer one of that name began.
fn status(world: &World, call: &Call<'_>, id: &ArmId) -> Result<Answer, ArmError> {
    let (_, deployment) = existing(world, call, id)?;
    if deployment.number != call.path.last_name() {
        return Err(ArmError::gateway(
            404,
            "DeploymentOperationNotFound",
            format!(
                "The deployment operation '{}' could not be found.",
                call.path.last_name()
            ),
        ));
    }
    let mut body = json!({"status": deployment.state});
    if let Some(error) = &deployment.error {
        crate::json::set(&mut body, "/error", error.clone());
    }
    Ok(Answer::json(200, body))
}

/// The operations of a deployment, or one of them.
pub(crate) fn operations(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let row = types::named("Microsoft.Resources/deployments").ok_or_else(|| not_served(call))?;
    let id = ArmId::resource_group(call.subscription(), call.group())
        .in_group(&row.name(), call.path.name(0));
    let (id, deployment) = existing(world, call, &id)?;
    let shown = show::operations(id, deployment);
    if call.path.is_open() {
        return Ok(Answer::json(200, json!({"value": shown})));
    }
    shown
        .into_iter()
        .find(|operation| text(operation, "/operationId") == Some(call.path.last_name()))
        .map(|operation| Answer::json(200, operation))
        .ok_or_else(|| {
            ArmError::gateway(
                404,
                "DeploymentOperationNotFound",
                format!(
                    "The deployment operation '{}' could not be found.",
                    call.path.last_name()
                ),
            )
        })
}
