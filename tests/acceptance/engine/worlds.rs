//! What others have in a world and do to it, past the tool.

use serde_json::{Value, json};

use super::{
    stacks::{once_in, one_of},
    stage::Stage,
};
use crate::harness::Seeded;

/// The version of Compute's API.
pub(super) const COMPUTE: &str = "2024-07-01";
/// The version of Network's API.
pub(super) const NETWORK: &str = "2024-07-01";

/// The path of a group.
pub(super) fn group(name: &str) -> String {
    format!(
        "/subscriptions/{}/resourceGroups/{name}",
        emulator::SUBSCRIPTION
    )
}

/// Makes a group of a stranger with a security group in it, and one beside our resources where
/// our group is there. Answers the ids.
pub(super) async fn add_strangers(stage: &Stage, ours: Option<&str>) -> Vec<String> {
    let mut made = Vec::new();
    let others = group("others");
    let target = format!("{others}?api-version=2021-04-01");
    let body = json!({"location": "eastus", "tags": {"whose": "theirs"}});
    stage.raw("PUT", &target, Some(&body)).await;
    made.push(others.clone());
    for place in [Some(others), ours.map(group)].into_iter().flatten() {
        let id = format!("{place}/providers/Microsoft.Network/networkSecurityGroups/theirs");
        let target = format!("{id}?api-version={NETWORK}");
        let (status, _) = stage.raw("PUT", &target, Some(&body)).await;
        if status == 201 {
            made.push(id);
        }
    }
    stage.wait(std::time::Duration::from_secs(60)).await;
    made
}

/// What strangers have, whole: to be the same later.
pub(super) async fn bodies(stage: &Stage, ids: &[String]) -> Vec<Value> {
    let mut found = Vec::new();
    for id in ids {
        let version = if id.contains("/providers/") {
            NETWORK
        } else {
            "2021-04-01"
        };
        let target = format!("{id}?api-version={version}");
        found.push(stage.raw("GET", &target, None).await.1);
    }
    found
}

/// Something that somebody does to the machines, networks and tags of a stack behind its back.
pub(super) async fn meddle(stage: &Stage, random: &mut Seeded, name: &str) -> String {
    let below = format!("{}/providers/Microsoft.Compute", group(name));
    let machines = stage
        .list(&format!("{below}/virtualMachines?api-version={COMPUTE}"))
        .await;
    let ids: Vec<&str> = machines
        .iter()
        .filter_map(|body| body["id"].as_str())
        .collect();
    let all = stage.everything().await;
    let tagged: Vec<&str> = all
        .iter()
        .filter(|body| body["tags"]["tensorform-stack"] == "proof")
        .filter_map(|body| body["id"].as_str())
        .collect();
    match random.below(6) {
        0..=3 if !ids.is_empty() => {
            let id = one_of(random, &ids);
            act_on_machine(stage, random, id).await
        }
        4 if !tagged.is_empty() => {
            let id = one_of(random, &tagged);
            let target =
                format!("{id}/providers/Microsoft.Resources/tags/default?api-version=2021-04-01");
            let tags = if once_in(random, 2) {
                json!({"team": "somebody's", "Owner": "ops"})
            } else {
                json!({"hidden-link": "x"})
            };
            let body = json!({"operation": "Merge", "properties": {"tags": tags}});
            let (status, _) = stage.raw("PATCH", &target, Some(&body)).await;
            format!("tags of {id}: {status}")
        }
        _ => {
            let id = format!(
                "{}/providers/Microsoft.Network/networkSecurityGroups/proof-nsg",
                group(name)
            );
            let target = format!("{id}?api-version={NETWORK}");
            let (status, mut body) = stage.raw("GET", &target, None).await;
            if status != 200 {
                return "nothing".to_owned();
            }
            let rule = json!({"name": "in", "properties": {"priority": 300, "direction": "Inbound",
                "access": "Allow", "protocol": "Tcp", "sourceAddressPrefix": "*",
                "sourcePortRange": "*", "destinationAddressPrefix": "*", "destinationPortRange": "80"}});
            if let Some(rules) = body["properties"]["securityRules"].as_array_mut() {
                rules.push(rule);
            }
            let (status, _) = stage.raw("PUT", &target, Some(&body)).await;
            format!("a rule of {id}: {status}")
        }
    }
}

async fn act_on_machine(stage: &Stage, random: &mut Seeded, id: &str) -> String {
    let at = |below: &str| format!("{id}{below}?api-version={COMPUTE}");
    match random.below(5) {
        0 => {
            let (status, _) = stage.raw("DELETE", &at(""), None).await;
            format!("deleted {id}: {status}")
        }
        1 => {
            let (status, _) = stage.raw("POST", &at("/deallocate"), None).await;
            format!("deallocated {id}: {status}")
        }
        2 => {
            let (status, _) = stage.raw("POST", &at("/powerOff"), None).await;
            format!("turned off {id}: {status}")
        }
        3 => {
            let (status, _) = stage.raw("POST", &at("/simulateEviction"), None).await;
            format!("evicted {id}: {status}")
        }
        _ => {
            let size = one_of(random, &["Standard_D2s_v5", "Standard_D4s_v5"]);
            let body = json!({"properties": {"hardwareProfile": {"vmSize": size}}});
            let (status, _) = stage.raw("PATCH", &at(""), Some(&body)).await;
            format!("resized {id} to {size}: {status}")
        }
    }
}

/// Random rules of faults.
pub(super) fn faults(random: &mut Seeded) -> Value {
    let rules: Vec<Value> = (0..=random.below(3)).map(|_| rule(random)).collect();
    json!({ "rules": rules })
}

fn rule(random: &mut Seeded) -> Value {
    let types = [
        "*",
        "*",
        "Microsoft.Compute/virtualMachines",
        "Microsoft.Compute/virtualMachineScaleSets",
        "Microsoft.Network/*",
        "Microsoft.Compute/disks",
        "Microsoft.Resources/resourceGroups",
    ];
    let methods = [
        json!(["PUT", "PATCH", "POST", "DELETE"]),
        json!(["PUT"]),
        json!(["DELETE"]),
        json!(["GET"]),
        json!(["GET", "PUT", "PATCH", "POST", "DELETE"]),
    ];
    let method = methods[random.below(methods.len())].clone();
    let first = 1 + random.below(12);
    let mut matching = json!({"method": method, "type": one_of(random, &types)});
    if once_in(random, 2) {
        matching["nth"] = json!(first);
    } else {
        matching["after"] = json!(random.below(8));
        matching["count"] = json!(1 + random.below(6));
    }
    let refusals = [
        "BadRequest",
        "AuthorizationFailed",
        "Conflict",
        "InternalServerError",
        "ServiceUnavailable",
        "SkuNotAvailable",
        "AnotherOperationInProgress",
        "RetryableError",
        "PreconditionFailed",
        "ResourceNotFound",
        "OperationNotAllowed",
        "GatewayTimeout",
    ];
    let failures = [
        "AllocationFailed",
        "ZonalAllocationFailed",
        "OSProvisioningTimedOut",
        "VMExtensionProvisioningError",
        "OperationPreempted",
    ];
    let then = match random.below(12) {
        0..=2 => json!({"fail_at_begin": {"code": one_of(random, &refusals)}}),
        3 => json!({"throttle": {"retry_after": 1 + random.below(30)}}),
        4 => json!("drop_before"),
        5 | 6 => json!("drop_after_acceptance"),
        7 => json!({"slow": {"seconds": 1 + random.below(130)}}),
        8 => {
            let keys = ["method", "type", "nth", "after", "count"];
            for key in keys {
                if key == "method" {
                    matching[key] = json!("GET");
                }
            }
            json!({"stale": {"seconds": 5 + random.below(60)}})
        }
        9 => {
            matching = json!({"size": "*", "count": 1 + random.below(3)});
            json!({"fail_allocation": {}})
        }
        10 => json!("hang"),
        _ => json!({"fail_in_operation": {"code": one_of(random, &failures)}}),
    };
    json!({"match": matching, "then": then})
}
