//! Deployments as answers show them.

use std::time::Duration;

use model::ids::ArmId;
use serde_json::{Value, json};

use crate::{
    clock::Instant,
    store::deployment::{Deployment, Step, StepState},
    text::Seeded,
};

/// A deployment as its PUT and GET show it.
pub(super) fn deployment(id: &ArmId, deployment: &Deployment) -> Value {
    let mut shown = envelope(id, deployment);
    let properties = json!({
        "provisioningState": deployment.state,
        "timestamp": timestamp(deployment.changed),
        "duration": duration(deployment.changed.since(deployment.begun)),
    });
    extend(&mut shown, properties);
    if deployment.state == "Succeeded" {
        let mut made: Vec<&str> = deployment
            .steps
            .iter()
            .map(|step| step.id.as_str())
            .collect();
        made.sort_unstable();
        let made: Vec<Value> = made.iter().map(|id| json!({"id": id})).collect();
        extend(
            &mut shown,
            json!({"outputs": deployment.outputs, "outputResources": made}),
        );
    }
    if let Some(error) = &deployment.error {
        extend(&mut shown, json!({"error": error}));
    }
    shown
}

/// What validate answers.
pub(super) fn validated(id: &ArmId, deployment: &Deployment) -> Value {
    let mut shown = envelope(id, deployment);
    let resources: Vec<Value> = deployment
        .steps
        .iter()
        .map(|step| json!({"id": step.id.as_str()}))
        .collect();
    extend(
        &mut shown,
        json!({
            "provisioningState": "Succeeded",
            "timestamp": "0001-01-01T00:00:00Z",
            "duration": "PT0S",
            "validatedResources": resources,
        }),
    );
    shown
}

fn extend(shown: &mut Value, members: Value) {
    if let (Some(Value::Object(properties)), Value::Object(members)) =
        (shown.get_mut("properties"), members)
    {
        properties.extend(members);
    }
}

fn envelope(id: &ArmId, deployment: &Deployment) -> Value {
    json!({
        "id": id.as_str(),
        "name": id.name(),
        "type": "Microsoft.Resources/deployments",
        "properties": {
            "templateHash": deployment.hash,
            "parameters": deployment.parameters,
            "mode": "Incremental",
            "correlationId": deployment.correlation,
            "providers": providers(&deployment.steps),
            "dependencies": dependencies(&deployment.steps),
        },
    })
}

/// The types of a namespace, each with the locations of its resources.
type Kinds<'a> = Vec<(&'a str, Vec<Value>)>;

/// Namespaces and types in the order of the template.
fn providers(steps: &[Step]) -> Value {
    let mut namespaces: Vec<(&str, Kinds<'_>)> = Vec::new();
    for step in steps {
        let Some((namespace, kind)) = step.kind.split_once('/') else {
            continue;
        };
        let location = if step.location.is_empty() {
            Value::Null
        } else {
            json!(step.location)
        };
        let known = namespaces.iter().position(|(known, _)| *known == namespace);
        let at = known.unwrap_or(namespaces.len());
        if known.is_none() {
            namespaces.push((namespace, Vec::new()));
        }
        let Some((_, kinds)) = namespaces.get_mut(at) else {
            continue;
        };
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, locations)) if locations.contains(&location) => {}
            Some((_, locations)) => locations.push(location),
            None => kinds.push((kind, vec![location])),
        }
    }
    namespaces
        .iter()
        .map(|(namespace, kinds)| {
            let kinds: Vec<Value> = kinds
                .iter()
                .map(|(kind, locations)| json!({"resourceType": kind, "locations": locations}))
                .collect();
            json!({"namespace": namespace, "resourceTypes": kinds})
        })
        .collect()
}

fn target(step: &Step) -> Value {
    json!({
        "id": step.id.as_str(),
        "resourceType": step.kind,
        "resourceName": step.name,
    })
}

fn dependencies(steps: &[Step]) -> Value {
    steps
        .iter()
        .filter(|step| !step.needs.is_empty())
        .map(|step| {
            let needs: Vec<Value> = step
                .needs
                .iter()
                .filter_map(|need| steps.get(*need))
                .map(target)
                .collect();
            let mut shown = target(step);
            crate::json::set(&mut shown, "/dependsOn", json!(needs));
            shown
        })
        .collect()
}

/// The operations of a deployment: one a resource that was begun, and one for the outputs.
pub(super) fn operations(id: &ArmId, deployment: &Deployment) -> Vec<Value> {
    let mut shown: Vec<Value> = deployment
        .steps
        .iter()
        .filter(|step| step.begun.is_some())
        .map(|step| operation(id, deployment, step))
        .collect();
    if deployment.state == "Succeeded" {
        let number = &deployment.number;
        shown.push(json!({
            "id": format!("{id}/operations/{number}"),
            "operationId": number,
            "properties": {
                "provisioningOperation": "EvaluateDeploymentOutput",
                "provisioningState": "Succeeded",
                "timestamp": timestamp(deployment.changed),
                "duration": "PT0S",
                "trackingId": deployment.correlation,
                "statusCode": "OK",
                "statusMessage": null,
            },
        }));
    }
    shown
}

fn operation(id: &ArmId, deployment: &Deployment, step: &Step) -> Value {
    let mut made = Seeded::of_text(0, &format!("{} {}", deployment.number, step.id.key()));
    let operation = format!("{:016X}", made.next());
    let begun = step.begun.unwrap_or(deployment.begun);
    let ended = step.ended.unwrap_or(deployment.changed);
    let (state, code) = match &step.state {
        StepState::Waiting | StepState::Running => ("Running", status_name(step.status)),
        StepState::Succeeded => ("Succeeded", status_name(step.status)),
        StepState::Failed(_) if step.status < 300 => ("Failed", "Conflict"),
        StepState::Failed(_) => ("Failed", status_name(step.status)),
    };
    let mut shown = json!({
        "id": format!("{id}/operations/{operation}"),
        "operationId": operation,
        "properties": {
            "provisioningOperation": "Create",
            "provisioningState": state,
            "timestamp": timestamp(ended),
            "duration": duration(ended.since(begun)),
            "trackingId": made.guid(),
            "serviceRequestId": made.guid(),
            "statusCode": code,
            "targetResource": target(step),
        },
    });
    if let StepState::Failed(error) = &step.state {
        let message = if step.status < 300 {
            json!({"status": "Failed", "error": error})
        } else {
            json!({"error": error})
        };
        extend(&mut shown, json!({"statusMessage": message}));
    }
    shown
}

fn status_name(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        409 => "Conflict",
        412 => "PreconditionFailed",
        429 => "TooManyRequests",
        0 => "",
        _ => "InternalServerError",
    }
}

/// `2024-08-27T10:07:58.1093820Z`.
fn timestamp(at: Instant) -> String {
    at.precise().replace("+00:00", "Z")
}

/// `20240827T100758Z`, as `utcNow()` has it.
pub(super) fn compact(at: Instant) -> String {
    at.plain().replace("+00:00", "Z").replace(['-', ':'], "")
}

/// `PT1M38.6253920S`.
fn duration(span: Duration) -> String {
    let (hours, minutes) = (span.as_secs() / 3_600, span.as_secs() / 60 % 60);
    let mut shown = "PT".to_owned();
    let mut add = |part: String| shown.push_str(&part);
    if hours > 0 {
        add(format!("{hours}H"));
    }
    if minutes > 0 {
        add(format!("{minutes}M"));
    }
    let seconds = span.as_secs() % 60;
    let fraction = span.subsec_micros();
    if fraction > 0 {
        add(format!("{seconds}.{fraction:06}0S"));
    } else if seconds > 0 || span.is_zero() {
        add(format!("{seconds}S"));
    }
    shown
}

/// The id of a deployment's operation: ticks that count down, so that newer ones come first.
pub(super) fn number(at: Instant) -> String {
    const EPOCH_IN_TICKS: i64 = 621_355_968_000_000_000;
    let ticks = at
        .unix_micros()
        .saturating_mul(10)
        .saturating_add(EPOCH_IN_TICKS);
    format!("{:020}", i64::MAX.saturating_sub(ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_printed_as_recorded() {
        // Recorded at 2024-08-27T10:06:19Z: 08584768537084641445.
        let at = Instant::from_unix_micros(1_724_753_179_484_643);
        assert!(number(at).starts_with("085847685"), "{}", number(at));
        assert_eq!(timestamp(at), "2024-08-27T10:06:19.4846430Z");
        assert_eq!(compact(at), "20240827T100619Z");
        for (millis, shown) in [
            (0, "PT0S"),
            (98_625, "PT1M38.6250000S"),
            (60_000, "PT1M"),
            (3_661_000, "PT1H1M1S"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), shown);
        }
    }
}
