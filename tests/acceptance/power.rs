//! `start` and `stop`: nodes without hardware that no plan fights over, and evicted ones that come
//! back.

use serde_json::{Value, json};

use crate::harness::{Place, SUBSCRIPTION, two_pools};

const SET: &str = "version: 1
name: many
location: eastus
pools:
  work:
    stage: inference
    workload: small
    count: 3
    grouping: scale_set
    size: Standard_D8s_v5
";

fn vm(name: &str) -> String {
    format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-duo/providers/Microsoft.Compute/virtualMachines/{name}"
    )
}

/// The power states that `status` tells, in its order.
fn powers(place: &Place) -> Vec<String> {
    let status = place.sandbox(&["status", "-o", "json"]).exits(0, "status");
    let status = status.json();
    let rows = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let sets = rows(&status["sets"]);
    let instances = sets.iter().flat_map(|set| rows(&set["instances"]));
    rows(&status["nodes"])
        .into_iter()
        .chain(instances)
        .map(|row| row["power"].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn hourly(place: &Place) -> i64 {
    let status = place.sandbox(&["status", "-o", "json"]).exits(0, "status");
    status.json()["hourly_micros"].as_i64().expect("a cost")
}

#[test]
fn stopped_nodes_stay_stopped_until_they_are_started() {
    for (spec, pool, count) in [(two_pools("duo"), "train", 2), (SET.to_owned(), "work", 3)] {
        let place = Place::new(&spec);
        let server = place.serve(1_000);
        place.sandbox(&["apply", "--yes"]).exits(0, "made");
        let running = hourly(&place);
        let ran = place.sandbox(&["stop", pool, "--yes"]).exits(0, "stopped");
        assert!(ran.stderr.contains("deallocate"), "{}", ran.stderr);
        let off = powers(&place);
        let off = off.iter().filter(|power| *power == "deallocated").count();
        assert_eq!(off, count, "{pool}");
        assert!(hourly(&place) < running, "only disks are paid for");
        place.is_as_planned(&server, "no plan starts them");
        server.forget();
        place.sandbox(&["apply", "--yes"]).exits(0, "nothing to do");
        place.sandbox(&["stop", pool, "--yes"]).exits(0, "again");
        assert_eq!(server.writes(), Vec::<String>::new());
        place.sandbox(&["start", pool, "--yes"]).exits(0, "started");
        assert!(powers(&place).iter().all(|power| power == "running"));
        assert_eq!(hourly(&place), running);
        place.is_as_planned(&server, "started");
    }
}

#[test]
fn a_start_without_capacity_says_so_and_apply_goes_on() {
    let place = Place::new(&two_pools("duo"));
    let server = place.serve(1_000);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    place
        .sandbox(&["stop", "serve", "--yes"])
        .exits(0, "stopped");
    server.set_faults(&json!({"rules": [{
        "match": {"method": "POST", "name": "duo-serve-0"},
        "then": {"fail_in_operation": {"code": "AllocationFailed"}},
    }]}));
    let ran = place
        .sandbox(&["start", "serve", "--yes"])
        .exits(3, "no capacity");
    assert!(ran.stderr.contains("AllocationFailed"), "{}", ran.stderr);
    server.calm();
    place.converge(&server, "apply starts what was to be started");
    assert!(powers(&place).iter().all(|power| power == "running"));
}

#[test]
fn evicted_instances_of_a_scale_set_are_started_by_apply() {
    let spec = SET.replace(
        "    size:",
        "    priority: {spot: {eviction: deallocate}}\n    size:",
    );
    let place = Place::new(&spec);
    let server = place.serve(1_000);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    let set = vm("x")
        .replace("rg-duo", "rg-many")
        .replace("virtualMachines/x", "virtualMachineScaleSets/many-work");
    let status = place.sandbox(&["status", "-o", "json"]).exits(0, "status");
    let instance = status.json()["sets"][0]["instances"][1]["id"].clone();
    let path = format!("{set}/deallocate?api-version=2024-07-01");
    let body = json!({"instanceIds": [instance]});
    let (status, answer) = server.request("POST", &path, Some(&body));
    assert_eq!(status, 202, "{answer}");
    let plan = loop {
        let plan = place.sandbox(&["plan", "-o", "json"]).exits(0, "a plan");
        let plan = plan.json();
        if plan["counts"]["start"] == 1 {
            break plan;
        }
    };
    assert_eq!(plan["counts"]["update"], 0, "{plan}");
    place.converge(&server, "started");
    assert!(powers(&place).iter().all(|power| power == "running"));
}
