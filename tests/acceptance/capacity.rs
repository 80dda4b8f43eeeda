//! Scarce capacity, met by the real binary: the whole pool moves, and everything after agrees.

use serde_json::{Value, json};

use crate::harness::{Place, Server};

const SPEC: &str = "version: 1
name: scarce
location: eastus
pools:
  work:
    stage: inference
    workload: small
    count: 3
    size: Standard_E8s_v5
    zones: none
    disks: {data: [{size_gb: 64, type: premium, lun: 0}]}
";

fn stage(more: &str) -> (Place, Server) {
    let place = Place::new(&format!("{SPEC}{more}"));
    let server = place.serve(1_000);
    (place, server)
}

/// A node of the pool that finds no room, so often.
fn no_room(name: &str, count: u32, then: &Value) -> Value {
    let creation = json!({"method": "PUT", "type": "Microsoft.Compute/virtualMachines", "name": name, "count": count});
    json!({"rules": [{"match": creation, "then": then}]})
}

fn sizes(server: &Server) -> Vec<Value> {
    let machines = server
        .everything()
        .into_iter()
        .filter(|id| id.contains("/virtualmachines/"));
    machines
        .map(|id| {
            server.body(&id).expect("it is there")["properties"]["hardwareProfile"]["vmSize"]
                .clone()
        })
        .collect()
}

#[test]
fn a_pool_without_capacity_moves_to_its_fallback_as_a_whole() {
    for fault in [
        json!({"fail_in_operation": {"code": "AllocationFailed"}}),
        json!({"fail_at_begin": {"code": "AllocationFailed", "status": 409}}),
    ] {
        let (place, server) = stage("    fallback: [Standard_F8s_v2, Standard_D8s_v5]\n");
        server.set_faults(&no_room("scarce-work-1", 1, &fault));
        let ran = place.sandbox(&["apply", "--yes"]).exits(0, "a fallback");
        let told =
            "no capacity for pool work (AllocationFailed): all of it is made with Standard_F8s_v2";
        assert!(ran.stderr.contains(told), "{}", ran.stderr);
        assert_eq!(sizes(&server), vec![json!("Standard_F8s_v2"); 3]);
        server.calm();
        place.is_as_planned(&server, "a fallback");
        place.sandbox(&["destroy", "--yes"]).exits(0, "all goes");
        assert!(server.everything().is_empty());
    }
}

#[test]
fn nodes_of_a_full_zone_go_to_the_other_zones_and_the_rest_stays() {
    let (place, server) = stage("");
    place.replace("tensorform.yaml", "zones: none", "zones: auto");
    let full = json!({"match": {"zone": "2"}, "then": "fail_allocation"});
    server.set_faults(&json!({"rules": [full]}));
    let ran = place.sandbox(&["apply", "--yes"]).exits(0, "other zones");
    let told =
        "no capacity for pool work (ZonalAllocationFailed): all of it is made with zones 1, 3";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(sizes(&server).len(), 3);
    let made = |node: &str| {
        let end = format!("/virtualmachines/{node}");
        let writes = server
            .writes()
            .into_iter()
            .map(|write| write.to_lowercase());
        writes
            .filter(|write| write.starts_with("put") && write.contains(&end))
            .count()
    };
    assert_eq!(
        ["scarce-work-0", "scarce-work-1", "scarce-work-2"].map(made),
        [1, 2, 1],
        "{:#?}",
        server.writes()
    );
    place.is_as_planned(&server, "other zones");
    server.calm();
    place.is_as_planned(&server, "a zone that has room again");
    place.sandbox(&["destroy", "--yes"]).exits(0, "all goes");
    assert!(server.everything().is_empty());
}

#[test]
fn a_pool_that_finds_no_room_anywhere_is_told_and_goes_on_later() {
    let (place, server) = stage("    fallback: [Standard_F8s_v2]\n");
    let fault = json!({"fail_in_operation": {"code": "AllocationFailed"}});
    server.set_faults(&no_room("scarce-work-1", 2, &fault));
    let ran = place.sandbox(&["apply", "--yes", "-o", "json"]);
    let told = ran.exits(3, "no room").json();
    assert_eq!(told["taken"], json!({"work": "Standard_F8s_v2"}));
    assert_eq!(server.fired(), 2);
    server.calm();
    place.converge(&server, "room again");
    let sizes = sizes(&server);
    assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
}

#[test]
fn a_rollback_leaves_only_what_is_no_part_of_the_pool() {
    let (place, server) = stage("    capacity: {on_partial: rollback}\n");
    let fault = json!({"fail_in_operation": {"code": "AllocationFailed"}});
    server.set_faults(&no_room("scarce-work-1", 1, &fault));
    let ran = place.sandbox(&["apply", "--yes"]).exits(3, "rolled back");
    assert!(ran.stderr.contains("RolledBack"), "{}", ran.stderr);
    assert_eq!(sizes(&server), Vec::<Value>::new());
    let parts = server.everything();
    let of_pool = parts.iter().filter(|id| id.contains("scarce-work"));
    assert_eq!(of_pool.count(), 0, "{parts:?}");
    server.calm();
    place.converge(&server, "room again");
}

#[test]
fn spot_without_quota_or_room_becomes_regular_and_stays_so() {
    let quota = "Operation could not be completed as it results in exceeding approved LowPriorityCores quota. Additional details - Deployment Model: Resource Manager, Location: eastus, Current Limit: 3, Current Usage: 0, Additional Required: 8, (Minimum) New Limit Required: 8.";
    for fault in [
        json!({"fail_at_begin": {"code": "OperationNotAllowed", "status": 409, "message": quota}}),
        json!({"fail_at_begin": {"code": "SkuNotAvailable", "status": 409}}),
        json!({"fail_in_operation": {"code": "OverconstrainedZonalAllocationRequest"}}),
    ] {
        let (place, server) = stage("    priority: {spot: {fallback: regular}}\n");
        server.set_faults(&no_room("scarce-work-0", 1, &fault));
        let ran = place.sandbox(&["apply", "--yes"]).exits(0, "regular");
        assert!(
            ran.stderr.contains("at the regular price"),
            "{}",
            ran.stderr
        );
        server.calm();
        place.is_as_planned(&server, "regular");
        let plan = place.sandbox(&["plan", "-o", "json"]).exits(0, "a plan");
        assert_eq!(plan.json()["pools"]["work"]["priority"], "regular");
    }
}

#[test]
fn a_run_that_is_killed_between_two_ways_is_gone_on_with() {
    let (place, server) = stage("    fallback: [Standard_F8s_v2]\n");
    let fault = json!({"fail_in_operation": {"code": "AllocationFailed"}});
    // The second way loses its connection for good: as if the run had ended there.
    let rules = json!({"rules": [
        {"match": {"method": "PUT", "type": "Microsoft.Compute/virtualMachines", "name": "scarce-work-1", "count": 1}, "then": fault},
        {"match": {"method": "DELETE", "type": "Microsoft.Compute/virtualMachines", "name": "scarce-work-0"}, "then": {"fail_at_begin": {"code": "ScopeLocked", "status": 409}}},
    ]});
    server.set_faults(&rules);
    place
        .sandbox(&["apply", "--yes"])
        .exits(3, "stopped between");
    server.calm();
    place.converge(&server, "stopped between");
    let sizes = sizes(&server);
    assert_eq!(sizes.len(), 3);
    assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
}

#[test]
fn waiting_for_capacity_takes_the_time_of_the_sandbox() {
    let (place, server) = stage("    capacity: {wait: 1h}\n");
    let fault = json!({"fail_in_operation": {"code": "AllocationFailed"}});
    // Pauses of 30, 60, 120 and 240 seconds by the sandbox's clock, which runs a thousand times
    // as fast as time.
    server.set_faults(&no_room("scarce-work-1", 4, &fault));
    let begun = std::time::Instant::now();
    let ran = place.sandbox(&["apply", "--yes"]).exits(0, "in the end");
    assert!(ran.stderr.contains("4m"), "{}", ran.stderr);
    assert!(
        begun.elapsed().as_secs() < 200,
        "450 seconds were not waited"
    );
    assert_eq!(server.fired(), 4);
    server.calm();
    place.is_as_planned(&server, "in the end");
}

/// The locations in which the stack has something.
fn locations(server: &Server) -> Vec<String> {
    let mut found: Vec<String> = server
        .everything()
        .iter()
        .filter(|id| id.contains("/virtualmachines/") || id.contains("/virtualnetworks/"))
        .filter_map(|id| Some(server.body(id)?["location"].as_str()?.to_owned()))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn without_capacity_in_one_location_the_next_of_the_list_is_planned() {
    let spec = SPEC.replace("location: eastus", "location: [eastus, westus2]");
    let place = Place::new(&spec);
    let server = place.serve(1_000);
    let fault = json!({"fail_in_operation": {"code": "AllocationFailed"}});
    server.set_faults(&no_room("scarce-work-*", 3, &fault));
    let ran = place
        .sandbox(&["apply", "--yes"])
        .exits(0, "the second location");
    for word in ["There is no capacity in eastus", "Location        westus2"] {
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
    assert_eq!(locations(&server), ["westus2"]);
    let log = server.log();
    let position = |method: &str, end: bool| {
        let mut places = log.iter().enumerate().filter(|(_, record)| {
            record["method"] == method && record["type"] == "Microsoft.Network/virtualNetworks"
        });
        let found = if end {
            places.next_back()
        } else {
            places.next()
        };
        found.expect("a write").0
    };
    assert!(
        position("DELETE", false) < position("PUT", true),
        "the first location is left before the second is begun"
    );
    server.calm();
    place.is_as_planned(&server, "the second location");
}

#[test]
fn a_saved_plan_stays_in_its_location_and_says_what_to_do() {
    let spec = SPEC.replace("location: eastus", "location: [eastus, westus2]");
    let place = Place::new(&spec);
    let server = place.serve(1_000);
    place
        .sandbox(&["plan", "--out", "saved"])
        .exits(0, "a plan");
    let fault = json!({"fail_in_operation": {"code": "AllocationFailed"}});
    server.set_faults(&no_room("scarce-work-*", 3, &fault));
    let ran = place
        .sandbox(&["apply", "saved", "--yes"])
        .exits(3, "no capacity");
    assert!(
        ran.stderr.contains("A saved plan is for one location"),
        "{}",
        ran.stderr
    );
    assert_eq!(locations(&server), ["eastus"]);
}
