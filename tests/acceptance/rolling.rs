//! Instances of a scale set that are brought up to date, a few at a time.

use serde_json::{Value, json};

use crate::harness::{Place, SUBSCRIPTION, Server};

const SPEC: &str = "version: 1
name: roll
location: eastus
pools:
  fast:
    stage: training
    workload: generative
    count: 4
    size: Standard_ND96isr_H100_v5
    rollout: {max_unavailable: 50%}
";

fn set() -> String {
    format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-roll/providers/Microsoft.Compute/virtualMachineScaleSets/roll-fast"
    )
}

/// A stack that runs, whose profile somebody changes afterwards: all instances are behind.
fn stage() -> (Place, Server) {
    let place = Place::new(SPEC);
    let server = place.serve(1_000);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    let path = format!("{}?api-version=2024-07-01", set());
    let data = json!({"properties": {"virtualMachineProfile": {"userData": "bmV3"}}});
    let (status, answer) = server.request("PATCH", &path, Some(&data));
    assert_eq!(status, 200, "{answer}");
    while server.is_busy(&path) {
        std::thread::yield_now();
    }
    server.forget();
    (place, server)
}

/// How many instances are as the newest profile says.
fn updated(server: &Server) -> usize {
    let path = format!("{}/virtualMachines?api-version=2024-07-01", set());
    let (_, list) = server.request("GET", &path, None);
    let all = list["value"].as_array().expect("instances");
    let new = |one: &&Value| one["properties"]["latestModelApplied"] == json!(true);
    all.iter().filter(new).count()
}

fn upgrades(server: &Server) -> usize {
    let writes = server.writes();
    let upgrades = writes
        .iter()
        .filter(|path| path.to_lowercase().contains("/manualupgrade"));
    upgrades.count()
}

#[test]
fn instances_are_brought_up_to_date_two_at_a_time() {
    let (place, server) = stage();
    let plan = place.sandbox(&["plan"]).exits(0, "a plan");
    let told = "bring 4 instances up to date, 2 at a time";
    assert!(plan.stdout.contains(told), "{}", plan.stdout);
    place.sandbox(&["apply", "--yes"]).exits(0, "rolled");
    assert_eq!((updated(&server), upgrades(&server)), (4, 2));
    let again = ["plan", "--detailed-exitcode"];
    place.sandbox(&again).exits(0, "nothing more to do");
}

#[test]
fn a_batch_without_capacity_ends_the_roll_and_says_how_far_it_came() {
    let (place, server) = stage();
    place.replace("tensorform.yaml", "50%", "1");
    let fault = json!({"rules": [{
        "match": {"method": "POST", "path": "*/manualupgrade", "nth": 2},
        "then": {"fail_at_begin": {"code": "AllocationFailed", "status": 409}},
    }]});
    server.set_faults(&fault);
    let ran = place.sandbox(&["apply", "--yes"]).exits(3, "no capacity");
    for told in [
        "pool.fast.scale_set",
        "AllocationFailed",
        "1 updated, 3 old",
    ] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert_eq!(updated(&server), 1);
    server.calm();
    place
        .sandbox(&["apply", "--yes"])
        .exits(0, "rolled to the end");
    assert_eq!(updated(&server), 4);
}
