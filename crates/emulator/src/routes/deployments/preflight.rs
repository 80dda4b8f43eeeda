//! Whether Azure would refuse a deployment at once.
//!
//! The deployment is played through on the spot, each resource done as soon as it is begun,
//! and all of it is undone. Of what goes wrong, Azure says some things before it starts, such
//! as a quota that does not suffice, and the rest while it runs.

use serde_json::{Value, json};

use super::{nested, order, plan::Planned, run};
use crate::{
    call::Call,
    error::ArmError,
    store::{entry::Work, world::World},
    work,
};

/// Codes of what Azure refuses before a deployment starts.
const AT_ONCE: [&str; 11] = [
    "SkuNotAvailable",
    "QuotaExceeded",
    "RequestDisallowedByPolicy",
    "ResourcePurchaseValidationFailed",
    "InvalidResourceType",
    "InvalidResourceNamespace",
    "NoRegisteredProviderFound",
    "MissingApiVersionParameter",
    "LocationNotAvailableForResourceType",
    "MissingSubscriptionRegistration",
    "NotServedBySandbox",
];

/// The refusal of a deployment as a whole.
pub(super) fn refusal(call: &Call<'_>, tracking: &str, details: Vec<Value>) -> ArmError {
    let name = call.path.name(0);
    let tracked = if tracking.is_empty() {
        String::new()
    } else {
        format!(" The tracking id is '{tracking}'.")
    };
    ArmError::gateway(
        400,
        "InvalidTemplateDeployment",
        format!(
            "The template deployment '{name}' is not valid according to the validation \
             procedure.{tracked} See inner errors for details."
        ),
    )
    .with_details(details)
}

/// Plays a deployment through.
pub(super) fn check(world: &mut World, call: &Call<'_>, planned: &Planned) -> Result<(), ArmError> {
    let sequence = order::sequence(&planned.steps)?;
    let mut headers: Vec<(String, String)> = Vec::new();
    let details = world.rehearse(|world| {
        let mut details = Vec::new();
        let mut broken = vec![false; planned.steps.len()];
        for at in sequence {
            let (Some(step), Some(body)) = (planned.steps.get(at), planned.bodies.get(at)) else {
                continue;
            };
            let unknown = |need: &usize| broken.get(*need).copied().unwrap_or(true);
            let written = if step.needs.iter().any(unknown) {
                None
            } else {
                run::work_out(world, call.setup, &planned.steps, body)
                    .and_then(|body| nested::put(world, call.setup, None, step, &body))
                    .map_err(|error| {
                        headers.extend(
                            error
                                .headers
                                .iter()
                                .filter(|(name, _)| name == "x-tensorform-sandbox")
                                .cloned(),
                        );
                        details.extend(at_once(&error));
                    })
                    .ok()
            };
            match written {
                Some(written) => end(world, written.operation.as_deref()),
                None => {
                    if let Some(broken) = broken.get_mut(at) {
                        *broken = true;
                    }
                }
            }
        }
        details
    });
    if details.is_empty() {
        return Ok(());
    }
    let tracking = world.mint();
    let mut error = refusal(call, &tracking, details);
    headers.truncate(1);
    for (name, value) in headers {
        error = error.with_header(&name, value);
    }
    Err(error)
}

/// Ends an operation at once. Deployments in deployments were checked when they were accepted.
fn end(world: &mut World, operation: Option<&str>) {
    if let Some(operation) = operation.and_then(|id| world.operation(id)).cloned()
        && operation.work != Work::Deploy
    {
        work::finish(world, operation);
    }
}

/// The error as a detail of the refusal, if Azure tells it before the start.
fn at_once(error: &ArmError) -> Option<Value> {
    if error.code == "InvalidTemplateDeployment" {
        return Some(error.object());
    }
    // The compute provider's word for it is another one when it is asked directly.
    let quota = error.code == "OperationNotAllowed" && error.message.contains("exceeding approved");
    let code = if quota { "QuotaExceeded" } else { &error.code };
    AT_ONCE.contains(&code).then(|| {
        let mut object = error.object();
        crate::json::set(&mut object, "/code", json!(code));
        object
    })
}
