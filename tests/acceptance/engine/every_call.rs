//! Every call of an apply and of a destroy of three pools goes wrong once, in each way that the
//! sandbox can fail: one more run gets to the goal.
//!
//! `TENSORFORM_TEST_SWEEP=all` tries every call in every way; else each call goes wrong in some of
//! the ways, by `TENSORFORM_TEST_SEED`.

use std::time::Instant;

use serde_json::{Value, json};

use super::{
    plans::{good, spec},
    stage::{Stage, run},
    trial::{Case, GROUP, check_writes, lower, on_two_threads, same, tell},
    worlds::{add_strangers, bodies, group},
};
use crate::harness::{Seeded, three_pools};

/// Ways that are tried of each call where not all are wanted.
const WAYS: usize = 4;

/// Each way in which the sandbox can fail, with whether only writes can fail so.
fn ways() -> Vec<(&'static str, bool, Value)> {
    let refused = |code: &str| json!({"fail_at_begin": {"code": code}});
    let failed = |code: &str| json!({"fail_in_operation": {"code": code}});
    vec![
        ("refused with 400", false, refused("BadRequest")),
        ("refused with 403", false, refused("AuthorizationFailed")),
        ("refused with 404", false, refused("ResourceNotFound")),
        ("refused with 409", false, refused("Conflict")),
        ("busy", false, refused("AnotherOperationInProgress")),
        ("refused with 412", false, refused("PreconditionFailed")),
        ("refused with 500", false, refused("InternalServerError")),
        ("refused with 503", false, refused("ServiceUnavailable")),
        ("throttled", false, json!({"throttle": {"retry_after": 5}})),
        ("dropped before", false, json!("drop_before")),
        ("dropped after", false, json!("drop_after_acceptance")),
        ("never answered", false, json!("hang")),
        ("slow", false, json!({"slow": {"seconds": 90}})),
        ("behind", false, json!({"stale": {"seconds": 30}})),
        ("token expired", false, json!("expire_token")),
        ("failed without hardware", true, failed("AllocationFailed")),
        (
            "failed on hardware",
            true,
            failed("VMExtensionProvisioningError"),
        ),
        ("preempted", true, failed("OperationPreempted")),
        ("no capacity", true, json!({"fail_allocation": {}})),
        (
            "tags changed",
            true,
            json!({"modify_tags": {"add": {"owner": "policy"}}}),
        ),
        ("evicted", true, json!({"evict": {"count": 1}})),
        (
            "quota gone",
            true,
            json!({"set_quota": {"location": "eastus", "limits": {"cores": 0}}}),
        ),
    ]
}

/// One call that goes wrong.
#[derive(Clone, Debug)]
struct Trial {
    call: usize,
    way: &'static str,
    rules: Value,
}

fn trials(calls: usize, writes: usize) -> Vec<Trial> {
    let all = std::env::var("TENSORFORM_TEST_SWEEP").is_ok_and(|wish| wish == "all");
    let (ways, mut random) = (ways(), Seeded::new());
    let mut trials = Vec::new();
    for (at, (way, of_writes, then)) in ways.iter().enumerate() {
        for call in 1..=(if *of_writes { writes } else { calls }) {
            // Every call and every way has its turn.
            let first = random.below(ways.len());
            let chosen = (0..WAYS).any(|turn| (first + turn * 5) % ways.len() == at);
            if !all && !chosen {
                continue;
            }
            let matching = if *of_writes {
                json!({"method": ["PUT", "PATCH", "POST", "DELETE"], "nth": call})
            } else {
                json!({"nth": call})
            };
            let rules = json!({"rules": [{"match": matching, "then": then}]});
            trials.push(Trial { call, way, rules });
        }
    }
    trials
}

/// Three pools, as specs here name them.
fn text() -> String {
    three_pools("proof")
}

/// A stage without faults and with quota again.
async fn calm(stage: &Stage) {
    stage.set_faults(&json!({"rules": []}));
    let target = format!("/sandbox/quota/{}/eastus", emulator::SUBSCRIPTION);
    let usual = json!({"cores": 200_000});
    let (status, answer) = stage.raw("PUT", &target, Some(&usual)).await;
    assert!(status < 300, "{answer}");
}

/// How many calls there are in all, and writes among them, of an apply and then of a destroy.
async fn usual() -> [(usize, usize); 2] {
    let stage = Stage::with(|_| {}).await;
    let spec = spec(&text());
    let mut counts = [(0, 0); 2];
    for (destroy, count) in [false, true].into_iter().zip(&mut counts) {
        let plan = good(stage.plan(&spec, destroy).await.expect("a world")).expect("a plan");
        stage.take_sent();
        let outcome = stage.apply(&plan, "usual").await;
        assert!(outcome.reached(), "{outcome:#?}");
        let sent = stage.take_sent();
        let writes = sent.iter().filter(|sent| sent.method != "GET");
        *count = (sent.len(), writes.count());
    }
    counts
}

async fn one(trial: &Trial, destroy: bool) {
    let stage = Stage::with(|_| {}).await;
    let mut case = Case::on(stage);
    tell(&format!("call {}: {}", trial.call, trial.way));
    let spec = spec(&text());
    if destroy {
        assert!(case.converge(&spec, false).await, "it is made");
    }
    let strangers = add_strangers(&case.stage, Some(GROUP)).await;
    let theirs = bodies(&case.stage, &strangers).await;
    let planned = case.stage.plan(&spec, destroy).await.expect("a world");
    let plan = good(planned).expect("a plan");
    case.stage.take_sent();
    case.stage.set_faults(&trial.rules);
    let nonce = case.nonce();
    let outcome = case.stage.apply(&plan, &nonce).await;
    tell(&format!(
        "{} of {} failed",
        outcome.failed(),
        outcome.steps.len()
    ));
    check_writes(&plan, &case.stage.take_sent());
    calm(&case.stage).await;
    assert!(case.converge(&spec, destroy).await, "nothing is refused");
    same(&theirs, &bodies(&case.stage, &strangers).await);
    if !destroy {
        case.check_no_orphans(&spec, &strangers).await;
        return;
    }
    let strangers: Vec<String> = strangers.iter().map(lower).collect();
    let everything = case.stage.everything().await;
    let ids = everything.iter().filter_map(|body| body["id"].as_str());
    let left: Vec<String> = ids
        .map(str::to_lowercase)
        .filter(|id| !strangers.contains(id) && *id != lower(&group(GROUP)))
        .collect();
    assert!(left.is_empty(), "left: {left:#?}");
}

#[expect(clippy::print_stdout, reason = "a test tells what it tried")]
fn sweep(destroy: bool) {
    let begun = Instant::now();
    let [apply, destruction] = run(usual());
    let (calls, writes) = if destroy { destruction } else { apply };
    let trials = trials(calls, writes);
    let results = on_two_threads(trials.len(), |at| {
        if let Some(trial) = trials.get(at) {
            run(one(trial, destroy));
        }
    });
    println!(
        "{} trials of {calls} calls, {writes} of them writes, in {:.1} s",
        trials.len(),
        begun.elapsed().as_secs_f64()
    );
    let wrong: Vec<String> = trials
        .iter()
        .zip(results)
        .filter_map(|(trial, result)| Some(format!("{trial:?}: {}", result.err()?)))
        .collect();
    for why in &wrong {
        println!("{why}\n");
    }
    assert!(
        wrong.is_empty(),
        "{} of {} went wrong",
        wrong.len(),
        trials.len()
    );
}

#[test]
fn any_call_of_an_apply_may_fail_in_any_way() {
    sweep(false);
}

#[test]
fn any_call_of_a_destroy_may_fail_in_any_way() {
    sweep(true);
}
