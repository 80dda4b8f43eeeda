//! How a deployment goes on: every resource is written as soon as what it needs is there.

use std::{cell::RefCell, time::Duration};

use model::ids::ArmId;
use serde_json::{Map, Value, json};

use super::{accept, nested};
use crate::{
    call::Setup,
    clock::Instant,
    error::ArmError,
    faults::Faults,
    store::{
        deployment::{Deployment, Step, StepState},
        entry::{Entry, Operation, State},
        world::World,
    },
    template::{
        evaluate::{Scope, find},
        functions,
    },
};

/// A write that is refused for the moment is tried again after this long.
const AGAIN: Duration = Duration::from_secs(5);

/// So often at most.
const MOST_ATTEMPTS: u32 = 10;

/// Goes on with a deployment whose operation is due.
pub(crate) fn go_on(world: &mut World, faults: &mut Faults, setup: &Setup, operation: Operation) {
    let mut operation = operation;
    let found = world
        .resource(&operation.target)
        .filter(|resource| resource.operation.as_deref() == Some(&operation.id))
        .and_then(|resource| resource.hidden.deployment.clone());
    let Some(mut deployment) = found else {
        // Its group is gone, and it with it.
        operation.state = State::Succeeded;
        world.put(Entry::Operation(Box::new(operation)));
        return;
    };
    "Running".clone_into(&mut deployment.state);
    let progress = Progress {
        setup,
        id: &operation.target,
        operation: &operation.id,
    };
    let error = match &operation.failure {
        Some(failure) => Some(json!({"code": failure.code, "message": failure.message})),
        None => progress.advance(world, faults, &mut deployment),
    };
    let due = Progress::due(world, &deployment);
    let target = operation.target.clone();
    match (error, due) {
        (None, Some(due)) => {
            operation.ends = due;
            // Behind the operation that it waits for, which ends at the same time.
            operation.number = world.next_number();
        }
        (error, _) => {
            world.forget_secrets(&format!("{} ", operation.id));
            deployment.changed = world.now();
            operation.ends = world.now();
            operation.state = match &error {
                None => State::Succeeded,
                Some(error) => State::Failed {
                    code: word(error, "code"),
                    message: word(error, "message"),
                },
            };
            let state = if error.is_none() {
                "Succeeded"
            } else {
                "Failed"
            };
            state.clone_into(&mut deployment.state);
            deployment.error = error;
            world.change(&target, |resource| resource.operation = None);
        }
    }
    world.put(Entry::Operation(Box::new(operation)));
    world.change(&target, |resource| {
        resource.hidden.deployment = Some(deployment);
    });
}

fn word(error: &Value, member: &str) -> String {
    error
        .get(member)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// One look at a deployment.
struct Progress<'a> {
    setup: &'a Setup,
    id: &'a ArmId,
    operation: &'a str,
}

impl Progress<'_> {
    /// Begins what can begin; answers the error of a deployment that has come to its end by one.
    fn advance(
        &self,
        world: &mut World,
        faults: &mut Faults,
        deployment: &mut Deployment,
    ) -> Option<Value> {
        loop {
            settle(world, deployment);
            let next = ready(deployment, world.now()).filter(|_| !has_failed(deployment));
            let Some(at) = next else {
                break;
            };
            self.begin(world, faults, deployment, at);
        }
        let is = |wanted: &StepState| {
            deployment
                .steps
                .iter()
                .all(|step| std::mem::discriminant(&step.state) == std::mem::discriminant(wanted))
        };
        if is(&StepState::Succeeded) {
            return self.finish(world, deployment);
        }
        let running = deployment
            .steps
            .iter()
            .any(|step| step.state == StepState::Running);
        (has_failed(deployment) && !running).then(|| failure(self.id, deployment))
    }

    fn begin(
        &self,
        world: &mut World,
        faults: &mut Faults,
        deployment: &mut Deployment,
        at: usize,
    ) {
        let now = world.now();
        let Some(step) = deployment.steps.get(at).cloned() else {
            return;
        };
        let body = step
            .body
            .clone()
            .or_else(|| world.secret(&format!("{} {at}", self.operation)).cloned());
        let written = body
            .ok_or_else(|| {
                ArmError::new(
                    500,
                    "SandboxSecretLost",
                    "The resource holds a secret, which ended with the process of the sandbox \
                     that kept it. Deploy again.",
                )
            })
            .and_then(|body| work_out(world, self.setup, &deployment.steps, &body))
            .and_then(|body| nested::put(world, self.setup, Some(faults), &step, &body));
        let Some(step) = deployment.steps.get_mut(at) else {
            return;
        };
        step.begun.get_or_insert(now);
        step.attempts += 1;
        match written {
            Ok(written) => {
                step.status = written.status;
                step.operation = written.operation;
                step.state = StepState::Running;
                if step.operation.is_none() {
                    step.state = StepState::Succeeded;
                    step.ended = Some(now);
                }
            }
            Err(error) if passes(&error) && step.attempts < MOST_ATTEMPTS => {
                let wait = self.setup.speed.shrink(AGAIN).max(Duration::from_millis(1));
                step.again = Some(now.plus(wait));
            }
            Err(error) => {
                step.status = error.status;
                step.state = StepState::Failed(error.object());
                step.ended = Some(now);
            }
        }
    }

    /// When there is something to do again; none for a deployment that is over.
    fn due(world: &World, deployment: &Deployment) -> Option<Instant> {
        let running = deployment
            .steps
            .iter()
            .filter(|step| step.state == StepState::Running)
            .filter_map(|step| Some(world.operation(step.operation.as_deref()?)?.ends));
        let again = deployment
            .steps
            .iter()
            .filter(|step| step.state == StepState::Waiting && !has_failed(deployment))
            .filter_map(|step| step.again);
        running.chain(again).min()
    }

    /// Works the outputs out.
    fn finish(&self, world: &mut World, deployment: &mut Deployment) -> Option<Value> {
        let shown = outputs(world, self.setup, self.id, deployment);
        match shown {
            Ok(shown) => {
                deployment.outputs = shown;
                None
            }
            Err(error) => Some(json!({
                "code": "DeploymentOutputEvaluationFailed",
                "message": "Unable to evaluate template outputs. Please see error details and \
                            deployment operations.",
                "details": [error.object()],
            })),
        }
    }
}

/// Notes which operations are over.
fn settle(world: &World, deployment: &mut Deployment) {
    for step in &mut deployment.steps {
        if step.state != StepState::Running {
            continue;
        }
        let operation = step.operation.as_deref().and_then(|id| world.operation(id));
        match operation.map(|operation| (&operation.state, operation.ends)) {
            Some((State::Running, _)) => {}
            Some((State::Failed { code, message }, ends)) => {
                step.ended = Some(ends);
                step.state = StepState::Failed(json!({
                    "code": "ResourceDeploymentFailure",
                    "target": step.id.as_str(),
                    "message": "The resource write operation failed to complete successfully, \
                                because it reached terminal provisioning state 'Failed'.",
                    "details": [{"code": code, "message": message}],
                }));
            }
            Some((State::Succeeded, ends)) => {
                step.ended = Some(ends);
                step.state = StepState::Succeeded;
            }
            // So long over that it was forgotten.
            None => {
                step.ended = Some(world.now());
                step.state = StepState::Succeeded;
            }
        }
    }
}

fn has_failed(deployment: &Deployment) -> bool {
    deployment
        .steps
        .iter()
        .any(|step| matches!(step.state, StepState::Failed(_)))
}

/// A step that waits for nothing any more.
fn ready(deployment: &Deployment, now: Instant) -> Option<usize> {
    let done = |need: &usize| {
        deployment
            .steps
            .get(*need)
            .is_some_and(|step| step.state == StepState::Succeeded)
    };
    deployment.steps.iter().position(|step| {
        step.state == StepState::Waiting
            && step.needs.iter().all(done)
            && step.again.is_none_or(|again| again <= now)
    })
}

/// Whether a refusal is one for the moment.
fn passes(error: &ArmError) -> bool {
    error.status == 429
        || (error.status >= 500 && error.status != 501 && error.code != "SandboxSecretLost")
        || error.code == "AnotherOperationInProgress"
}

fn failure(id: &ArmId, deployment: &Deployment) -> Value {
    let details: Vec<&Value> = deployment
        .steps
        .iter()
        .filter_map(|step| match &step.state {
            StepState::Failed(error) => Some(error),
            StepState::Waiting | StepState::Running | StepState::Succeeded => None,
        })
        .collect();
    json!({
        "code": "DeploymentFailed",
        "target": id.as_str(),
        "message": "At least one resource deployment operation failed. Please list deployment \
                    operations for details. Please see \
                    https://aka.ms/arm-deployment-operations for usage details.",
        "details": details,
    })
}

/// A body with what it asked other resources for.
pub(super) fn work_out(
    world: &mut World,
    setup: &Setup,
    steps: &[Step],
    body: &Value,
) -> Result<Value, ArmError> {
    let id = steps.first().map(|step| step.id.clone());
    let surroundings = accept::surroundings(
        world,
        &setup.tenant,
        &id.unwrap_or_else(|| ArmId::subscription_scope("")),
        Value::Null,
    );
    let none = Map::new();
    let known = RefCell::default();
    let sight = nested::Sight {
        world: RefCell::new(world),
        setup,
        steps,
    };
    let mut scope = Scope::new(&surroundings, &none, &[], &none, &known);
    scope.runtime = Some(&sight);
    scope
        .value(body)
        .map_err(|error| ArmError::gateway(400, "InvalidTemplate", error.to_string()))
}

/// Outputs as answers show them.
fn outputs(
    world: &mut World,
    setup: &Setup,
    id: &ArmId,
    deployment: &Deployment,
) -> Result<Value, ArmError> {
    let mut shown = Map::new();
    for (name, definition) in deployment.outputs.as_object().into_iter().flatten() {
        if definition
            .get("condition")
            .is_some_and(|condition| *condition == json!(false))
        {
            continue;
        }
        let kind = functions::type_name(&word(definition, "type"));
        let mut output = json!({"type": kind});
        if !functions::is_secure(definition) {
            let given = definition
                .as_object()
                .and_then(|definition| find(definition, "value"));
            let value = work_out(
                world,
                setup,
                &deployment.steps,
                given.unwrap_or(&Value::Null),
            )?;
            if !functions::fits_type(&value, &kind) {
                return Err(ArmError::gateway(
                    400,
                    "DeploymentOutputEvaluationFailed",
                    format!(
                        "The template output '{name}' of '{id}' is not valid: expected a value \
                         of type '{kind}', found '{value}'."
                    ),
                ));
            }
            crate::json::set(&mut output, "/value", value);
        }
        shown.insert(camel(name), output);
    }
    Ok(Value::Object(shown))
}

/// Names of outputs begin in lower case, as recorded: `VMSS` comes out as `vmss`.
fn camel(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut shown = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let next_is_lower = letters.get(at + 1).is_some_and(|next| !next.is_uppercase());
        if !letter.is_uppercase() || (at > 0 && next_is_lower) {
            shown.extend(letters.iter().skip(at));
            break;
        }
        shown.extend(letter.to_lowercase());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::camel;

    #[test]
    fn names_of_outputs_begin_in_lower_case() {
        for (given, shown) in [
            ("VMSS", "vmss"),
            ("storageAccountId", "storageAccountId"),
            ("VmName", "vmName"),
            ("VMName", "vmName"),
            ("", ""),
        ] {
            assert_eq!(camel(given), shown);
        }
    }
}
