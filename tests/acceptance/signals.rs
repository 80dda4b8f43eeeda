//! Ctrl-C and SIGTERM: the first lets finish what is under way, the second leaves at once.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::harness::{Place, two_pools};

/// The names of events.
fn names(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| event["event"].as_str())
        .collect()
}

#[test]
fn the_first_signal_starts_nothing_new_and_lets_the_rest_finish() {
    for (command, signal) in [("apply", "INT"), ("apply", "TERM"), ("destroy", "INT")] {
        let place = Place::new(&two_pools("halted"));
        if command == "destroy" {
            place.sandbox(&["apply", "--yes"]).exits(0, "made");
        }
        let server = place.serve(50);
        let mut running = place.start(&["--sandbox=world", command]);
        running.wait_for("accepted");
        running.signal(signal);
        running.wait_for("interrupted");
        let (ran, events) = running.end();
        ran.exits(130, signal);
        assert!(
            !names(&events).contains(&"step_started"),
            "nothing new starts: {events:?}"
        );
        let ends = events
            .iter()
            .filter(|event| event["event"] == "step_finished");
        for end in ends {
            let how = &end["ending"]["is"];
            assert!(
                how == "done" || how == "not_started",
                "what was under way ends well: {end}"
            );
        }
        if command == "apply" {
            place.converge(&server, signal);
        } else {
            place.vanish(&server, signal);
        }
    }
}

#[test]
fn the_second_signal_leaves_at_once() {
    let place = Place::new(&two_pools("halted"));
    // A NAT gateway takes ten seconds at this speed.
    let server = place.serve(1);
    let mut running = place.start(&["--sandbox=world", "apply"]);
    while running.wait_for("accepted")["address"] != "network.vnet" {}
    running.signal("INT");
    running.wait_for("interrupted");
    let left = Instant::now();
    running.signal("INT");
    let (ran, events) = running.end();
    assert!(
        left.elapsed() < Duration::from_secs(2),
        "{:?}",
        left.elapsed()
    );
    let ran = ran.exits(3, "something was written");
    assert!(ran.stderr.contains("Interrupted"), "{}", ran.stderr);
    assert!(
        names(&events).contains(&"run_finished"),
        "the journal is whole: {events:?}"
    );
    drop(server);
    let server = place.serve(1_000);
    place.converge(&server, "left at once");
}

#[test]
fn both_signals_work_where_the_sandbox_is_in_the_same_process() {
    let place = Place::new(&two_pools("halted"));
    let mut running = place.start(&["--sandbox=world", "--speed", "1", "apply"]);
    while running.wait_for("accepted")["address"] != "network.vnet" {}
    running.signal("TERM");
    running.wait_for("interrupted");
    let left = Instant::now();
    running.signal("INT");
    let (ran, _) = running.end();
    assert!(
        left.elapsed() < Duration::from_secs(2),
        "{:?}",
        left.elapsed()
    );
    ran.exits(3, "something was written");
    let server = place.serve(1_000);
    place.converge(&server, "left at once");
}

#[test]
fn a_signal_while_the_result_is_read_ends_the_run() {
    let place = Place::new(&two_pools("halted"));
    let server = place.serve(1_000);
    place.sandbox(&["plan"]).exits(0, "a plan");
    let listed = |record: &&Value| {
        record["path"]
            .as_str()
            .is_some_and(|path| path.contains("/resources?"))
    };
    let before = server.log().iter().filter(listed).count();
    // The apply plans as often as the plan did, and then nobody answers any more.
    server.set_faults(&json!({"rules": [
        {"match": {"method": "GET", "path": "*/resources", "after": before}, "then": "hang"},
    ]}));
    let mut running = place.start(&["--sandbox=world", "apply"]);
    running.wait_for("run_finished");
    while server.fired() == 0 {
        thread::yield_now();
    }
    let left = Instant::now();
    running.signal("INT");
    let (ran, _) = running.end();
    assert!(
        left.elapsed() < Duration::from_secs(2),
        "{:?}",
        left.elapsed()
    );
    let ran = ran.exits(3, "the result is not known");
    assert!(ran.stderr.contains("APPLY003"), "{}", ran.stderr);
    let claimed = ran.stderr.contains("halted is as planned");
    assert!(!claimed, "nobody knows: {}", ran.stderr);
    server.calm();
    place.is_as_planned(&server, "it was done all the same");
}
