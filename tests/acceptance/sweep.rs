//! Every request of an apply and of a destroy goes wrong once, in every way there is: the run
//! tells the truth about it, and the next one gets to the goal.
//!
//! All of it takes minutes, so the test takes a choice that depends on `TENSORFORM_TEST_SEED`;
//! `TENSORFORM_TEST_SWEEP=all` takes everything.

use serde_json::{Value, json};

use crate::harness::{Place, Ran, Seeded, Server, each, is_write, three_pools};

/// Trials of each command where not all are wanted.
const CHOSEN: usize = 60;

/// The ways in which a request goes wrong. Those of operations are only for writes.
fn ways() -> Vec<(&'static str, bool, Value)> {
    let refused = |status: u16, code: &str| json!({"fail_at_begin": {"status": status, "code": code, "message": "m"}});
    vec![
        ("refused with 400", false, refused(400, "BadRequest")),
        (
            "refused with 403",
            false,
            refused(403, "AuthorizationFailed"),
        ),
        ("refused with 409", false, refused(409, "Conflict")),
        (
            "refused with 500",
            false,
            refused(500, "InternalServerError"),
        ),
        (
            "refused with 503",
            false,
            refused(503, "ServiceUnavailable"),
        ),
        ("throttled", false, json!({"throttle": {"retry_after": 5}})),
        ("dropped before", false, json!("drop_before")),
        ("dropped after", false, json!("drop_after_acceptance")),
        (
            "failed without hardware",
            true,
            json!({"fail_in_operation": {"code": "AllocationFailed"}}),
        ),
        (
            "failed on hardware",
            true,
            json!({"fail_in_operation": {"code": "VMExtensionProvisioningError"}}),
        ),
    ]
}

/// One trial: which request of a run goes wrong, and how.
#[derive(Clone, Debug)]
struct Trial {
    request: usize,
    way: &'static str,
    rules: Value,
}

/// All trials for a run of so many requests and writes, or a choice of them.
fn trials(requests: usize, writes: usize, random: &mut Seeded) -> Vec<Trial> {
    let mut all = Vec::new();
    for (way, in_operation, then) in ways() {
        let matching = |request: usize| {
            if in_operation {
                json!({"method": ["PUT", "PATCH", "DELETE"], "nth": request})
            } else {
                json!({"nth": request})
            }
        };
        for request in 1..=(if in_operation { writes } else { requests }) {
            let rules = json!({"rules": [{"match": matching(request), "then": then.clone()}]});
            all.push(Trial {
                request,
                way,
                rules,
            });
        }
    }
    if std::env::var("TENSORFORM_TEST_SWEEP").is_ok_and(|wish| wish == "all") {
        return all;
    }
    // Each way gets its turn, whatever the choice.
    (0..CHOSEN.min(all.len()))
        .map(|_| all.swap_remove(random.below(all.len())))
        .collect()
}

/// Tries all trials, each worker in a world of its own.
fn try_all(trials: &[Trial], one: impl Fn(&Place, &Server, usize, &Trial) + Sync) {
    let stage = || {
        let place = Place::new(&three_pools("none"));
        let server = place.serve(1_000);
        (server, place)
    };
    let try_one = |(server, place): &mut (Server, Place), at: usize, trial: &Trial| {
        place.write("tensorform.yaml", &three_pools(&format!("t{at}")));
        one(place, server, at, trial);
    };
    each(trials, stage, try_one, |trial| {
        format!("request {}, {}", trial.request, trial.way)
    });
}

/// Requests of a whole run and the writes among them.
fn usual(place: &Place, server: &Server, command: &str) -> (usize, usize) {
    server.forget();
    place.sandbox(&[command, "--yes"]).exits(0, command);
    (server.log().len(), server.writes().len())
}

/// The exit code says what happened: 0 as planned, 3 something was written, 1 nothing was.
fn is_truthful(ran: &Ran, server: &Server, what: &str) {
    let done = server.log().iter().any(|record| {
        let write = is_write(record);
        let effect = record["status"]
            .as_u64()
            .is_none_or(|status| !(400..500).contains(&status));
        write && effect
    });
    match ran.exit {
        0 => {}
        1 => assert!(
            !done,
            "{what}: exit 1 although something was written\n{}",
            ran.stderr
        ),
        3 => assert!(
            done,
            "{what}: exit 3 although nothing was written\n{}",
            ran.stderr
        ),
        // Done, but for what is kept for others.
        4 => assert!(
            ran.stderr.contains("left of") || ran.stderr.contains("is left in"),
            "{what}: exit 4 without saying what was kept\n{}",
            ran.stderr
        ),
        other => panic!("{what}: exit {other}\n{}", ran.stderr),
    }
}

#[test]
fn an_apply_survives_any_fault_at_any_request() {
    let mut random = Seeded::new();
    let place = Place::new(&three_pools("usual"));
    let server = place.serve(1_000);
    let (requests, writes) = usual(&place, &server, "apply");
    let trials = trials(requests, writes, &mut random);
    try_all(&trials, |place, server, at, trial| {
        let what = format!("apply, request {}, {}", trial.request, trial.way);
        let stranger = server.stranger(&format!("others{at}"), "theirs");
        let theirs = server.body(&stranger);
        server.set_faults(&trial.rules);
        server.forget();
        let ran = place.sandbox(&["apply", "--yes"]);
        is_truthful(&ran, server, &what);
        server.calm();
        if ran.exit == 0 {
            place.is_as_planned(server, &what);
        }
        place.converge(server, &what);
        assert_eq!(
            server.body(&stranger),
            theirs,
            "{what}: the stranger's stays"
        );
    });
}

#[test]
fn a_destroy_survives_any_fault_at_any_request() {
    let mut random = Seeded::new();
    let place = Place::new(&three_pools("usual"));
    let server = place.serve(1_000);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    let (requests, writes) = usual(&place, &server, "destroy");
    let trials = trials(requests, writes, &mut random);
    try_all(&trials, |place, server, at, trial| {
        let what = format!("destroy, request {}, {}", trial.request, trial.way);
        place.sandbox(&["apply", "--yes"]).exits(0, &what);
        // Every third group has something of a stranger's in it.
        let stranger = (at % 3 == 0).then(|| server.stranger(&format!("rg-t{at}"), "theirs"));
        let theirs = stranger.as_ref().map(|id| server.body(id));
        server.set_faults(&trial.rules);
        server.forget();
        let ran = place.sandbox(&["destroy", "--yes"]);
        is_truthful(&ran, server, &what);
        server.calm();
        // A group that is kept for a stranger is no full removal.
        let kept = if stranger.is_some() { 4 } else { 0 };
        place.sandbox(&["destroy", "--yes"]).exits(kept, &what);
        let group = format!("/resourcegroups/rg-t{at}");
        let left: Vec<String> = server
            .everything()
            .into_iter()
            .filter(|id| id.contains(&format!("{group}/")) || id.ends_with(&group))
            .collect();
        match &stranger {
            Some(id) => {
                assert_eq!(
                    left.len(),
                    2,
                    "{what}: the group and the stranger's stay: {left:?}"
                );
                assert_eq!(
                    Some(server.body(id)),
                    theirs,
                    "{what}: the stranger's stays"
                );
            }
            None => assert!(left.is_empty(), "{what}: left {left:?}"),
        }
    });
}
