//! `--replace` with an instance of a scale set.

use serde_json::{Value, json};

use crate::harness::{Place, Ran, SUBSCRIPTION, Server};

const SPEC: &str = "version: 1
name: swap
location: eastus
pools:
  fast:
    stage: training
    workload: generative
    count: 3
    size: Standard_ND96isr_H100_v5
  wide:
    stage: inference
    workload: small
    count: 2
    grouping: scale_set
    size: Standard_D2s_v5
";

fn set(pool: &str) -> String {
    format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-swap/providers/Microsoft.Compute/virtualMachineScaleSets/swap-{pool}"
    )
}

fn stage() -> (Place, Server) {
    let place = Place::new(SPEC);
    let server = place.serve(1_000);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    server.forget();
    (place, server)
}

fn replace(place: &Place, address: &str, exit: i32) -> Ran {
    let words = ["apply", "--yes", "--replace", address];
    place.sandbox(&words).exits(exit, address)
}

/// Ids, or names, of the instances of a set.
fn members(server: &Server, pool: &str, member: &str) -> Vec<String> {
    let path = format!("{}/virtualMachines?api-version=2024-07-01", set(pool));
    let (_, list) = server.request("GET", &path, None);
    let all = list["value"].as_array().expect("instances");
    let one = |one: &Value| one[member].as_str().expect("a text").to_owned();
    all.iter().map(one).collect()
}

/// Writes to a set: methods with what comes after the set's name.
fn writes(server: &Server, pool: &str) -> Vec<String> {
    let name = format!("swap-{pool}");
    let writes = server.writes();
    writes
        .iter()
        .filter_map(|path| path.split_once(&name))
        .map(|(_, below)| below.split('?').next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn a_bad_node_goes_once_a_new_one_is_there() {
    let (place, server) = stage();
    let plan = place.sandbox(&["plan", "--replace", "pool.fast[1]"]);
    let plan = plan.exits(0, "a plan").stdout;
    let told = "make 1 new instance, then delete as many old ones";
    assert!(plan.contains(told), "{plan}");
    replace(&place, "pool.fast[1]", 0);
    assert_eq!(members(&server, "fast", "instanceId"), ["0", "2", "3"]);
    assert_eq!(
        writes(&server, "fast"),
        ["", "/delete"],
        "first more, then less"
    );
    let again = ["plan", "--detailed-exitcode", "--replace", "pool.fast[1]"];
    let again = place.sandbox(&again).exits(0, "nothing more to do");
    assert!(
        again.stderr.contains("nothing is replaced"),
        "{}",
        again.stderr
    );

    let before = members(&server, "wide", "name");
    replace(&place, &format!("pool.wide.{}", before[0]), 0);
    let after = members(&server, "wide", "name");
    assert_eq!(after.len(), 2);
    assert!(!after.contains(&before[0]) && after.contains(&before[1]));
    let none = ["plan", "--detailed-exitcode"];
    place.sandbox(&none).exits(0, "nothing more to do");
}

#[test]
fn without_capacity_the_old_node_stays_and_is_named() {
    let (place, server) = stage();
    let fault = json!({"rules": [{
        "match": {"method": "PATCH", "path": "*/virtualMachineScaleSets/swap-fast"},
        "then": {"fail_at_begin": {"code": "AllocationFailed", "status": 409}},
    }]});
    server.set_faults(&fault);
    // Nothing was done, which is another end than a part of it.
    let ran = replace(&place, "pool.fast[1]", 1);
    for told in ["AllocationFailed", "in place of 1, which stays"] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert_eq!(members(&server, "fast", "instanceId"), ["0", "1", "2"]);
    server.calm();
    let none = ["plan", "--detailed-exitcode"];
    place.sandbox(&none).exits(0, "all is as it was");
    replace(&place, "pool.fast[1]", 0);
    assert_eq!(members(&server, "fast", "instanceId").len(), 3);
}

#[test]
fn new_instances_that_fail_are_removed_and_the_old_ones_stay() {
    let (place, server) = stage();
    let fault = json!({"rules": [{
        "match": {"method": "PATCH", "path": "*/virtualMachineScaleSets/swap-fast"},
        "then": {"fail_in_operation": {"code": "AllocationFailed"}},
    }]});
    server.set_faults(&fault);
    let ran = replace(&place, "pool.fast[0]", 3);
    let told = "in place of 0, which stays";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(members(&server, "fast", "instanceId"), ["0", "1", "2"]);
    server.calm();
    place.sandbox(&["apply", "--yes"]).exits(0, "put right");
    assert_eq!(members(&server, "fast", "instanceId"), ["0", "1", "2"]);
}
