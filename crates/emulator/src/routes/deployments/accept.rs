//! PUT and validate of deployments.

use std::time::Duration;

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{parameters, plan, preflight, request, show};
use crate::{
    call::Call,
    durations::Timing,
    error::ArmError,
    http::Answer,
    lro::{self, Plan},
    routes::{common, groups},
    store::{
        deployment::{Deployment, Step},
        entry::{Resource, Style, Work},
        world::World,
    },
    template::evaluate::Surroundings,
    text::fnv,
    types::Type,
};

/// What functions look at, as the world has it now.
pub(super) fn surroundings(
    world: &World,
    tenant: &str,
    id: &ArmId,
    deployment: Value,
) -> Surroundings {
    let subscription = id.subscription().unwrap_or_default();
    let group = world
        .group(subscription, id.group().unwrap_or_default())
        .map(groups::show)
        .unwrap_or_default();
    let name = world
        .subscription(subscription)
        .map(|found| found.name.clone())
        .unwrap_or_default();
    Surroundings {
        group,
        subscription: json!({
            "id": format!("/subscriptions/{subscription}"),
            "subscriptionId": subscription,
            "tenantId": tenant,
            "displayName": name,
        }),
        deployment,
        tenant: tenant.to_owned(),
        now: show::compact(world.now()),
    }
}

struct Checked {
    deployment: Deployment,
    bodies: Vec<Value>,
}

/// Reads, plans and checks a deployment.
fn check(world: &mut World, call: &Call<'_>, id: &ArmId) -> Result<Checked, ArmError> {
    let request = request::read(call)?;
    let given = json!({"name": id.name(), "properties": {
        "template": request.template,
        "mode": "Incremental",
        "provisioningState": "Accepted",
    }});
    let surroundings = surroundings(world, &call.setup.tenant, id, given);
    let parameters = parameters::resolve(&request, &surroundings)?;
    let planned = plan::plan(call, &request, &parameters, &surroundings)?;
    preflight::check(world, call, &planned)?;
    let template = Value::Object(request.template).to_string();
    let correlation = call
        .incoming
        .header("x-ms-correlation-request-id")
        .map_or_else(|| world.mint(), str::to_owned);
    let now = world.now();
    let deployment = Deployment {
        number: show::number(now),
        correlation,
        hash: fnv(template.as_bytes()).to_string(),
        parameters: parameters.shown,
        steps: planned.steps,
        outputs: planned.outputs,
        state: "Accepted".to_owned(),
        error: None,
        begun: now,
        changed: now,
    };
    Ok(Checked {
        deployment,
        bodies: planned.bodies,
    })
}

/// Says whether a deployment would be taken.
pub(super) fn validate(world: &mut World, call: &Call<'_>, id: &ArmId) -> Result<Answer, ArmError> {
    let Checked { deployment, .. } = check(world, call, id)?;
    Ok(Answer::json(200, show::validated(id, &deployment)))
}

/// Refuses to replace a deployment that is running.
fn inactive(old: Option<&Resource>) -> Result<(), ArmError> {
    let running = old.filter(|old| {
        old.hidden
            .deployment
            .as_ref()
            .is_some_and(|deployment| deployment.is_running())
    });
    match running {
        None => Ok(()),
        Some(old) => Err(ArmError::gateway(
            409,
            "DeploymentActive",
            format!(
                "Unable to edit or replace deployment '{}': previous deployment is still active. \
                 Please see https://aka.ms/arm-deploy for usage details.",
                old.name()
            ),
        )),
    }
}

/// Begins a deployment.
pub(super) fn put(
    world: &mut World,
    call: &Call<'_>,
    row: &Type,
    id: &ArmId,
) -> Result<Answer, ArmError> {
    common::check_name(call, row)?;
    let old = world.resource(id).cloned();
    inactive(old.as_ref())?;
    let Checked { deployment, bodies } = check(world, call, id)?;
    let location = world
        .group(call.subscription(), call.group())
        .map(|group| group.location.clone())
        .unwrap_or_default();
    let operation = lro::begin(
        world,
        call,
        &Plan {
            target: id,
            location: &location,
            style: Style::Hidden,
            work: Work::Deploy,
            title: "Deployment",
            timing: Timing {
                takes: Duration::ZERO,
                retry_after: None,
            },
        },
    );
    for (at, body) in bodies.into_iter().enumerate() {
        if deployment
            .steps
            .get(at)
            .is_some_and(|step: &Step| step.body.is_none())
        {
            world.keep_secret(format!("{} {at}", operation.id), body);
        }
    }
    let url = format!(
        "{}{id}/operationStatuses/{}?api-version={}",
        call.base(),
        deployment.number,
        call.version
    );
    let status = if old.is_some() { 200 } else { 201 };
    let answer = Answer::json(status, show::deployment(id, &deployment));
    let mut resource = common::new(world, id.clone(), row, "", json!({}));
    resource.operation = Some(operation.id);
    if let Some(old) = old {
        resource.created = old.created;
    }
    resource.hidden.deployment = Some(Box::new(deployment));
    world.put_resource(resource);
    Ok(answer.with_header("Azure-AsyncOperation", url))
}

/// The id of the deployment that a path names, in the case of an older one of that name.
pub(super) fn id(world: &World, call: &Call<'_>) -> Option<ArmId> {
    let named = common::id(world, call)?;
    // Operations stand below their deployment.
    let id = named.parent().unwrap_or(named);
    Some(world.resource(&id).map_or(id, |old| old.id.clone()))
}
