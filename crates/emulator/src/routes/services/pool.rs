//! Pools of Batch.
//!
//! A pool is there at once; its nodes come and go with time. Formulas are worked out as if no task
//! ever waited, because the sandbox runs no jobs.

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{account::limit, formula, serve::Draft};
use crate::{
    call::Call,
    catalogue,
    durations::{BATCH_NODES, Timing},
    error::ArmError,
    http::Answer,
    json::{default, number, remove, same, set, text},
    lro::{self, Plan},
    routes::{
        common::{self, not_served},
        services::serve::shown,
    },
    store::{
        entry::{Failure, Resource, Style, Work},
        world::World,
    },
};

const KIND: &str = "Microsoft.Batch/batchAccounts/pools";

/// How many nodes a pool is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Target {
    dedicated: u64,
    low_priority: u64,
}

/// The body of a pool; where its size changes, the nodes begin to come or go.
pub(super) fn build(
    world: &mut World,
    call: &Call<'_>,
    draft: &mut Draft,
) -> Result<Value, ArmError> {
    let mut body = draft.given.clone();
    check(world, call, draft, &body)?;
    one_scale(call, &mut body)?;
    fill(world, draft, &mut body);
    let now = world.now().precise();
    let old = draft.old.as_ref().map(|old| target(&old.body));
    let new = target(&body);
    let running = draft
        .kept("/properties/allocationState")
        .is_some_and(|state| state == json!("Resizing"));
    let again = is_tried_again(call, &body, new)?;
    if old == Some(new) && !running && !again {
        return Ok(body);
    }
    if running {
        if old == Some(new) {
            return Ok(body);
        }
        return Err(ArmError::new(
            409,
            "PoolBeingResized",
            "The specified pool is being resized.",
        ));
    }
    begin(world, call, draft, &mut body, new, &now);
    Ok(body)
}

/// Whether a fixed number of nodes is written once more to a pool that lacks some of them.
fn is_tried_again(call: &Call<'_>, body: &Value, target: Target) -> Result<bool, ArmError> {
    let sent = crate::body::read(&call.incoming.text())?;
    let writes = sent
        .pointer("/properties/scaleSettings/fixedScale")
        .is_some();
    let current = |member: &str| number(body, &format!("/properties/{member}")).unwrap_or(0);
    Ok(writes
        && (current("currentDedicatedNodes") < target.dedicated
            || current("currentLowPriorityNodes") < target.low_priority))
}

fn check(world: &World, call: &Call<'_>, draft: &Draft, body: &Value) -> Result<(), ArmError> {
    let invalid = |property: &str, value: &str, why: &str| {
        ArmError::new(
            400,
            "InvalidPropertyValue",
            "The value provided for one of the properties in the request body is invalid.",
        )
        .with_details(vec![json!({
            "code": "InvalidPropertyValue",
            "target": property,
            "message": format!("'{value}' is no value of '{property}': {why}."),
        })])
    };
    let size = text(body, "/properties/vmSize").unwrap_or_default();
    if size.is_empty() {
        return Err(invalid("vmSize", "", "a pool needs one"));
    }
    let offered =
        catalogue::offers(&draft.place).is_none() || catalogue::offer(&draft.place, size).is_some();
    if catalogue::size(size).is_none() || !offered {
        return Err(invalid(
            "vmSize",
            size,
            "the size is not offered in the region",
        ));
    }
    let machine = "/properties/deploymentConfiguration/virtualMachineConfiguration";
    for member in ["imageReference", "nodeAgentSkuId"] {
        if body.pointer(&format!("{machine}/{member}")).is_none() {
            return Err(invalid(member, "", "a pool needs one"));
        }
    }
    if let Some(had) = draft.kept("/properties/vmSize")
        && had.as_str().is_some_and(|had| !same(had, size))
    {
        return Err(ArmError::new(
            400,
            "PropertyCannotBeUpdated",
            "The property 'vmSize' of a pool cannot be updated.",
        ));
    }
    if let Some(subnet) = text(body, "/properties/networkConfiguration/subnetId")
        && world.resource_by_key(&subnet.to_lowercase()).is_none()
    {
        return Err(invalid("subnetId", subnet, "there is no such subnet"));
    }
    let most = limit(world, call.subscription(), &draft.place, "batchPools");
    let account = draft.id.parent();
    let pools = account.map_or(0, |account| pools(world, &account).count());
    if draft.old.is_none() && u64::try_from(pools).unwrap_or(u64::MAX) >= most {
        return Err(ArmError::new(
            409,
            "PoolQuotaReached",
            "The Batch account has reached its quota of pools.",
        ));
    }
    Ok(())
}

fn pools<'a>(world: &'a World, account: &ArmId) -> impl Iterator<Item = &'a Resource> + use<'a> {
    world
        .below(&format!("{}/pools/", account.key()))
        .filter(|pool| pool.is(KIND))
}

/// A pool has one of the two scales; a PATCH with the other replaces the one it had.
fn one_scale(call: &Call<'_>, body: &mut Value) -> Result<(), ArmError> {
    let sent = crate::body::read(&call.incoming.text())?;
    let (fixed, auto) = (
        "/properties/scaleSettings/fixedScale",
        "/properties/scaleSettings/autoScale",
    );
    let given = |place: &str| sent.pointer(place).is_some_and(Value::is_object);
    if given(fixed) && given(auto) {
        return Err(ArmError::new(
            400,
            "InvalidRequestBody",
            "A pool has either 'fixedScale' or 'autoScale'.",
        ));
    }
    if given(fixed) {
        remove(body, auto);
        remove(body, "/properties/autoScaleRun");
    } else if given(auto) {
        remove(body, fixed);
    }
    // An empty start task takes away the one that there was.
    if sent.pointer("/properties/startTask") == Some(&json!({})) {
        remove(body, "/properties/startTask");
    }
    Ok(())
}

/// What a pool has that was not given.
fn fill(world: &World, draft: &Draft, body: &mut Value) {
    let now = world.now().precise();
    default(body, "/properties/interNodeCommunication", "Disabled");
    default(body, "/properties/taskSlotsPerNode", 1);
    default(
        body,
        "/properties/taskSchedulingPolicy/nodeFillType",
        "Spread",
    );
    let auto = "/properties/scaleSettings/autoScale";
    let formula = text(body, &format!("{auto}/formula")).map(str::to_owned);
    if let Some(formula) = formula {
        default(body, &format!("{auto}/evaluationInterval"), "PT15M");
        set(body, "/properties/autoScaleRun", run(&formula, &now));
    } else {
        let fixed = "/properties/scaleSettings/fixedScale";
        default(body, &format!("{fixed}/targetDedicatedNodes"), 0);
        default(body, &format!("{fixed}/targetLowPriorityNodes"), 0);
        default(body, &format!("{fixed}/resizeTimeout"), "PT15M");
    }
    let kept = |member: &str, first: Value| {
        draft
            .kept(&format!("/properties/{member}"))
            .unwrap_or(first)
    };
    for (member, value) in [
        ("lastModified", json!(now)),
        ("creationTime", kept("creationTime", json!(now))),
        ("provisioningState", json!("Succeeded")),
        (
            "provisioningStateTransitionTime",
            kept("provisioningStateTransitionTime", json!(now)),
        ),
        ("allocationState", kept("allocationState", json!("Steady"))),
        (
            "allocationStateTransitionTime",
            kept("allocationStateTransitionTime", json!(now)),
        ),
        (
            "currentDedicatedNodes",
            kept("currentDedicatedNodes", json!(0)),
        ),
        (
            "currentLowPriorityNodes",
            kept("currentLowPriorityNodes", json!(0)),
        ),
    ] {
        set(body, &format!("/properties/{member}"), value);
    }
    if let Some(status) = draft.kept("/properties/resizeOperationStatus") {
        set(body, "/properties/resizeOperationStatus", status);
    }
}

/// The evaluation of a formula.
fn run(formula: &str, now: &str) -> Value {
    match formula::evaluate(formula) {
        Ok(variables) => {
            let results: Vec<String> = variables
                .iter()
                .map(|(name, value)| format!("${name}={value}"))
                .collect();
            json!({"evaluationTime": now, "results": results.join(";")})
        }
        Err(problem) => json!({
            "evaluationTime": now,
            "error": {"code": "AutoScalingFormulaEvaluationError", "message": problem},
        }),
    }
}

fn target(body: &Value) -> Target {
    let formula = text(body, "/properties/scaleSettings/autoScale/formula");
    let formula = formula.map(|formula| formula::evaluate(formula).unwrap_or_default());
    let scale = |variable: &str, member: &str| match &formula {
        Some(variables) => formula::nodes(variables, variable),
        None => number(
            body,
            &format!("/properties/scaleSettings/fixedScale/{member}"),
        )
        .unwrap_or(0),
    };
    Target {
        dedicated: scale("TargetDedicatedNodes", "targetDedicatedNodes"),
        low_priority: scale("TargetLowPriorityNodes", "targetLowPriorityNodes"),
    }
}

fn begin(
    world: &mut World,
    call: &Call<'_>,
    draft: &Draft,
    body: &mut Value,
    target: Target,
    now: &str,
) {
    let fixed = "/properties/scaleSettings/fixedScale";
    let mut status = json!({
        "startTime": now,
        "targetDedicatedNodes": target.dedicated,
        "targetLowPriorityNodes": target.low_priority,
    });
    for member in ["resizeTimeout", "nodeDeallocationOption"] {
        if let Some(value) = body.pointer(&format!("{fixed}/{member}")) {
            set(&mut status, &format!("/{member}"), value.clone());
        }
    }
    set(body, "/properties/resizeOperationStatus", status);
    set(body, "/properties/allocationState", json!("Resizing"));
    set(
        body,
        "/properties/allocationStateTransitionTime",
        json!(now),
    );
    lro::begin(
        world,
        call,
        &Plan {
            target: &draft.id,
            location: &draft.place,
            style: Style::Hidden,
            work: Work::ResizePool,
            title: "ResizePool",
            timing: Timing {
                takes: BATCH_NODES,
                retry_after: None,
            },
        },
    );
}

/// The nodes of a pool have come, or have not.
pub(crate) fn resized(world: &mut World, id: &ArmId, failure: Option<&Failure>) {
    let Some(pool) = world.resource(id).cloned() else {
        return;
    };
    let target = target(&pool.body);
    let error = match failure {
        Some(failure) => Some((failure.code.clone(), failure.message.clone())),
        None => over_quota(world, &pool, target),
    };
    let now = world.now().precise();
    world.change(id, |pool| {
        let body = &mut pool.body;
        if let Some((code, message)) = error {
            let errors = json!([{"code": code, "message": message}]);
            set(body, "/properties/resizeOperationStatus/errors", errors);
        } else {
            for (member, nodes) in [
                ("currentDedicatedNodes", target.dedicated),
                ("currentLowPriorityNodes", target.low_priority),
            ] {
                set(body, &format!("/properties/{member}"), json!(nodes));
            }
        }
        set(body, "/properties/allocationState", json!("Steady"));
        set(
            body,
            "/properties/allocationStateTransitionTime",
            json!(now),
        );
    });
}

/// The error of a resize that an account's quota does not allow.
fn over_quota(world: &World, pool: &Resource, target: Target) -> Option<(String, String)> {
    let account = pool.id.parent()?;
    let cores = |pool: &Resource, nodes: u64| {
        let size = text(&pool.body, "/properties/vmSize").and_then(catalogue::size);
        size.map_or(0, |size| u64::from(size.vcpus))
            .saturating_mul(nodes)
    };
    let used = |member: &str| -> u64 {
        pools(world, &account)
            .filter(|other| other.id != pool.id)
            .map(|other| {
                let nodes = number(&other.body, &format!("/properties/{member}")).unwrap_or(0);
                cores(other, nodes)
            })
            .sum()
    };
    let subscription = pool.id.subscription().unwrap_or_default();
    [
        (
            "batchDedicatedCores",
            "currentDedicatedNodes",
            target.dedicated,
            ("AccountCoreQuotaReached", "core"),
        ),
        (
            "batchLowPriorityCores",
            "currentLowPriorityNodes",
            target.low_priority,
            ("AccountLowPriorityCoreQuotaReached", "low-priority core"),
        ),
    ]
    .into_iter()
    .find(|(quota, member, nodes, _)| {
        let wanted = used(member).saturating_add(cores(pool, *nodes));
        *nodes > 0 && wanted > limit(world, subscription, &pool.location, quota)
    })
    .map(|(_, _, _, (code, word))| {
        (
            code.to_owned(),
            format!("The specified account has reached its {word} quota."),
        )
    })
}

/// The pool as its GET shows it.
pub(super) fn show(_: &World, _: &Call<'_>, pool: &Resource) -> Value {
    common::base(pool)
}

/// The actions of a pool.
pub(super) fn act(
    world: &mut World,
    call: &Call<'_>,
    pool: Resource,
    action: &str,
) -> Result<Answer, ArmError> {
    let mut pool = pool;
    let current = |member: &str| number(&pool.body, &format!("/properties/{member}")).unwrap_or(0);
    let (dedicated, low) = (
        current("currentDedicatedNodes"),
        current("currentLowPriorityNodes"),
    );
    let running = text(&pool.body, "/properties/allocationState") == Some("Resizing");
    match action {
        "disableautoscale" => {
            remove(&mut pool.body, "/properties/scaleSettings/autoScale");
            remove(&mut pool.body, "/properties/autoScaleRun");
        }
        "stopresize" if running => {}
        "stopresize" => {
            return Err(ArmError::new(
                409,
                "PoolNotBeingResized",
                "The specified pool is not being resized.",
            ));
        }
        _ => return Err(not_served(call)),
    }
    let fixed = json!({
        "targetDedicatedNodes": dedicated,
        "targetLowPriorityNodes": low,
        "resizeTimeout": "PT15M",
    });
    set(
        &mut pool.body,
        "/properties/scaleSettings/fixedScale",
        fixed,
    );
    set(
        &mut pool.body,
        "/properties/lastModified",
        json!(world.now().precise()),
    );
    pool.etag = super::serve::tag(world);
    let answer = shown(world, call, 200, &pool);
    world.put_resource(pool);
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_decides_how_many_nodes_there_are_and_one_that_fails_says_why() {
        let pool = |formula: &str| json!({"properties": {"scaleSettings": {"autoScale": {"formula": formula}}}});
        let formula = "$TargetDedicatedNodes = 3; $TargetLowPriorityNodes=2;";
        assert_eq!(
            target(&pool(formula)),
            Target {
                dedicated: 3,
                low_priority: 2
            }
        );
        assert_eq!(
            text(&run(formula, "now"), "/results"),
            Some("$TargetDedicatedNodes=3;$TargetLowPriorityNodes=2")
        );
        let wrong = "$TargetDedicatedNodes = lg(3);";
        assert_eq!(target(&pool(wrong)).dedicated, 0);
        assert_eq!(
            text(&run(wrong, "now"), "/error/code"),
            Some("AutoScalingFormulaEvaluationError")
        );
    }
}
