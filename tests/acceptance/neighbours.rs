//! Others beside us: a second run of the same stack, and resources that are not ours.

use std::{collections::BTreeSet, thread};

use serde_json::Value;

use crate::harness::{Place, Ran, SUBSCRIPTION, Server, two_pools};

/// A run to its end, with the request ids of its writes.
fn run(place: &Place, command: &str) -> (Ran, BTreeSet<String>) {
    let (ran, events) = place.start(&["--sandbox=world", command]).end();
    let ids = events
        .iter()
        .filter_map(|event| event["client_request_id"].as_str().map(str::to_owned))
        .collect();
    (ran, ids)
}

/// The exit code says whether this run wrote something.
fn is_truthful((ran, ids): &(Ran, BTreeSet<String>), server: &Server) {
    let wrote = server.log().iter().any(|record| {
        let id = record["clientRequestId"].as_str().unwrap_or_default();
        ids.contains(id) && record["status"].as_u64().is_none_or(|status| status < 400)
    });
    match ran.exit {
        0 => {}
        1 => assert!(!wrote, "exit 1 although it wrote\n{}", ran.stderr),
        3 => assert!(wrote, "exit 3 although it wrote nothing\n{}", ran.stderr),
        other => panic!("exit {other}\n{}", ran.stderr),
    }
}

/// How often each VM was made.
fn creations(server: &Server) -> Vec<(String, usize)> {
    let mut made: Vec<(String, usize)> = Vec::new();
    for record in server.log() {
        let path = record["path"].as_str().unwrap_or_default();
        let vm = path.split('?').next().unwrap_or_default();
        if record["type"] == "Microsoft.Compute/virtualMachines"
            && record["method"] == "PUT"
            && record["status"] == 201
        {
            match made.iter_mut().find(|(known, _)| known == vm) {
                Some((_, count)) => *count += 1,
                None => made.push((vm.to_owned(), 1)),
            }
        }
    }
    made
}

#[test]
fn two_applies_at_once_do_not_overwrite_each_other() {
    let place = Place::new(&two_pools("twice"));
    let server = place.serve(50);
    let both = thread::scope(|scope| {
        let one = scope.spawn(|| run(&place, "apply"));
        let other = run(&place, "apply");
        [one.join().expect("a run"), other]
    });
    for ran in &both {
        is_truthful(ran, &server);
    }
    let made = creations(&server);
    assert!(
        made.iter().all(|(_, count)| *count == 1),
        "each VM is made once: {made:?}"
    );
    place.converge(&server, "after both");
}

#[test]
fn the_process_that_serves_and_one_that_connects_share_a_world() {
    let place = Place::new(&two_pools("twice"));
    let speed = ["--sandbox=world", "--speed", "20", "apply"];
    let mut first = place.start(&speed);
    first.wait_for("run_started");
    let second = run(&place, "apply");
    let (ran, _) = first.end();
    for code in [ran.exit, second.0.exit] {
        assert!(
            matches!(code, 0 | 1 | 3),
            "{code:?}\n{}\n{}",
            ran.stderr,
            second.0.stderr
        );
    }
    let server = place.serve(1_000);
    place.converge(&server, "after both");
}

#[test]
fn an_apply_and_a_destroy_at_once_end_truthfully() {
    let place = Place::new(&two_pools("twice"));
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    let spec = two_pools("twice").replace("count: 2", "count: 4");
    place.write("tensorform.yaml", &spec);
    let server = place.serve(50);
    let both = thread::scope(|scope| {
        let one = scope.spawn(|| run(&place, "apply"));
        let other = run(&place, "destroy");
        [one.join().expect("a run"), other]
    });
    for ran in &both {
        is_truthful(ran, &server);
    }
    place.converge(&server, "applied after both");
    place.vanish(&server, "destroyed after both");
}

#[test]
fn a_strangers_resource_under_our_name_is_refused_without_a_write() {
    let place = Place::new(&two_pools("duo"));
    let server = place.serve(1_000);
    let id = server.stranger("rg-duo", "duo-nsg");
    let theirs = server.body(&id);
    server.forget();
    let ran = place
        .sandbox(&["apply", "--yes"])
        .exits(1, "the name is taken");
    assert!(ran.stderr.contains("duo-nsg"), "{}", ran.stderr);
    assert_eq!(server.writes(), Vec::<String>::new());
    assert_eq!(server.body(&id), theirs);
}

#[test]
fn a_strangers_resource_that_comes_between_plan_and_apply_is_refused() {
    let place = Place::new(&two_pools("duo"));
    let server = place.serve(1_000);
    place
        .sandbox(&["plan", "--out", "saved"])
        .exits(0, "a plan");
    let id = server.stranger("rg-duo", "duo-nsg");
    let theirs = server.body(&id);
    server.forget();
    let ran = place
        .sandbox(&["apply", "saved", "--yes"])
        .exits(1, "stale");
    assert!(ran.stderr.contains("network.nsg"), "{}", ran.stderr);
    assert_eq!(server.writes(), Vec::<String>::new());
    assert_eq!(server.body(&id), theirs);
}

#[test]
fn a_strangers_resource_in_our_group_outlives_a_destroy() {
    let place = Place::new(&two_pools("duo"));
    let server = place.serve(1_000);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    let id = server.stranger("rg-duo", "theirs");
    let theirs = server.body(&id);
    place.is_as_planned_beside(&server, &[&id], "with a stranger's");
    let ran = place
        .sandbox(&["destroy", "--yes"])
        .exits(4, "the group stays");
    assert!(
        ran.stderr.contains("theirs"),
        "what stays is named: {}",
        ran.stderr
    );
    assert_eq!(server.body(&id), theirs);
    let left = server.everything();
    assert_eq!(left.len(), 2, "the group and the stranger's: {left:?}");
    let again: Value = place
        .sandbox(&["plan", "--destroy", "-o", "json"])
        .exits(0, "again")
        .json();
    assert_eq!(again["has_changes"], false, "{again}");
}

/// The subnet of the stack `duo`.
fn subnet() -> String {
    format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-duo/providers/Microsoft.Network/virtualNetworks/duo-vnet/subnets/nodes"
    )
}

/// What is left once all of the stack went that could go, beside an interface in its subnet.
fn network_is_left(server: &Server, interface: &str) {
    let names: BTreeSet<String> = server
        .everything()
        .iter()
        .map(|id| id.rsplit('/').next().unwrap_or_default().to_owned())
        .collect();
    let kept = ["rg-duo", "duo-vnet", "duo-nsg", "duo-nat", "duo-nat-ip"];
    let kept = kept.into_iter().chain([interface]);
    assert_eq!(names, kept.map(str::to_owned).collect());
}

#[test]
fn a_network_that_others_use_outlives_a_destroy_and_goes_when_they_have_gone() {
    let place = Place::new(&two_pools("duo"));
    let server = place.serve(1_000);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    let id = server.strange_interface("rg-duo", "theirs", &subnet());
    let ran = place
        .sandbox(&["destroy", "--yes"])
        .exits(4, "the network stays");
    for word in ["OWN006", "theirs", "Destroyed in part"] {
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
    network_is_left(&server, "theirs");
    server.forget();
    place
        .sandbox(&["destroy", "--yes"])
        .exits(4, "nothing more can go");
    assert_eq!(server.writes(), Vec::<String>::new());
    let (status, _) = server.request("DELETE", &format!("{id}?api-version=2024-07-01"), None);
    assert_eq!(status, 202);
    while server.body(&id).is_some() {
        thread::yield_now();
    }
    place.vanish(&server, "once they have gone");
}

#[test]
fn a_stack_whose_lifetime_is_over_keeps_what_others_use() {
    let place = Place::new(&format!("{}lifetime: 1s\n", two_pools("duo")));
    let server = place.serve(1_000);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    server.strange_interface("rg-duo", "theirs", &subnet());
    let plan = loop {
        let plan = place.sandbox(&["plan", "-o", "json"]).exits(0, "planned");
        let plan = plan.json();
        if plan["lifetime"]["over"] == true {
            break plan;
        }
    };
    let findings = plan["diagnostics"].to_string();
    assert!(findings.contains("OWN006"), "{findings}");
    place.sandbox(&["apply", "--yes"]).exits(0, "ended");
    network_is_left(&server, "theirs");
}

#[test]
fn what_comes_into_the_network_during_a_destroy_ends_it_at_once() {
    let place = Place::new(&two_pools("duo"));
    // Deletions of nodes take almost a second at this speed.
    let server = place.serve(20);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    let mut running = place.start(&["--sandbox=world", "destroy"]);
    running.wait_for("run_started");
    server.strange_interface("rg-duo", "theirs", &subnet());
    let (ran, _) = running.end();
    let ran = ran.exits(3, "the network stays");
    for word in ["InUseSubnetCannotBeDeleted", "`theirs`", "not the stack's"] {
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
    let refused = server
        .log()
        .iter()
        .filter(|record| record["method"] == "DELETE" && record["status"] == 400)
        .count();
    assert_eq!(refused, 1, "nobody tries again");
}
