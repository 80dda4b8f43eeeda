//! What Azure does to people, done to the real binary: capacity, failed extensions, throttling,
//! lost answers, refusals.

use serde_json::{Value, json};

use crate::harness::{Place, Server, each, two_pools};

/// A stack in a served world.
fn stage() -> (Place, Server) {
    // The second pool without zones: with one, it would move to another when there is no room.
    let place = Place::new(&format!("{}    zones: none\n", two_pools("duo")));
    let server = place.serve(1_000);
    (place, server)
}

/// A rule about the creation of one VM.
fn on_vm(name: &str, then: &Value) -> Value {
    let creation = json!({"method": "PUT", "type": "Microsoft.Compute/virtualMachines", "name": name, "count": 1});
    json!({"rules": [{"match": creation, "then": then}]})
}

/// The step of a plan with this address.
fn step<'a>(plan: &'a Value, address: &str) -> &'a Value {
    let steps = plan["steps"].as_array().expect("steps");
    steps
        .iter()
        .find(|step| step["address"] == address)
        .unwrap_or_else(|| panic!("no step {address}"))
}

/// The codes of the findings of a plan.
fn codes(plan: &Value) -> Vec<&str> {
    let findings = plan["diagnostics"].as_array().expect("diagnostics");
    findings
        .iter()
        .filter_map(|finding| finding["code"].as_str())
        .collect()
}

#[test]
fn a_vm_without_capacity_is_named_and_made_again() {
    let (place, server) = stage();
    let fault = json!({"fail_in_operation": {"code": "AllocationFailed"}});
    server.set_faults(&on_vm("duo-serve-0", &fault));
    let ran = place.sandbox(&["apply", "--yes"]).exits(3, "no capacity");
    for told in ["pool.serve[0].vm", "AllocationFailed", "request id"] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    let plan = place
        .sandbox(&["plan", "-o", "json"])
        .exits(0, "a plan")
        .json();
    let repair = step(&plan, "pool.serve[0].vm");
    assert_eq!(repair["action"], "repair");
    assert_eq!(plan["counts"]["repair"], 1);
    assert_eq!(plan["counts"]["noop"], 11, "{}", plan["counts"]);
    assert!(codes(&plan).contains(&"STATE002"), "{:?}", codes(&plan));
    assert_eq!(server.fired(), 1);
    place.converge(&server, "capacity is back");
}

#[test]
fn a_failure_is_one_json_document_with_code_and_request_id() {
    let (place, server) = stage();
    let fault = json!({"fail_in_operation": {"code": "AllocationFailed"}});
    server.set_faults(&on_vm("duo-serve-0", &fault));
    let ran = place.sandbox(&["apply", "--yes", "-o", "json"]);
    let told = ran.exits(3, "no capacity").json();
    assert_eq!(told["exit_code"], 3);
    let ending = &step(&told, "pool.serve[0].vm")["ending"];
    assert_eq!(ending["code"], "AllocationFailed");
    assert_eq!(ending["left_behind"], true);
    assert!(ending["request_id"].is_string(), "{ending}");
}

#[test]
fn a_vm_that_runs_is_never_deleted_for_what_failed_in_it() {
    for code in [
        "VMExtensionProvisioningError",
        "OSProvisioningTimedOut",
        "VMAgentStatusCommunicationError",
    ] {
        let (place, server) = stage();
        server.set_faults(&on_vm(
            "duo-train-1",
            &json!({"fail_in_operation": {"code": code}}),
        ));
        let ran = place.sandbox(&["apply", "--yes"]).exits(3, code);
        assert!(ran.stderr.contains(code), "{}", ran.stderr);
        let plan = place.sandbox(&["plan", "-o", "json"]).exits(0, code).json();
        assert!(codes(&plan).contains(&"STATE001"), "{:?}", codes(&plan));
        let repair = step(&plan, "pool.train[1].vm");
        assert_eq!(repair["action"], "repair");
        assert_eq!(repair["operations"], json!([{"do": "reapply"}]), "{repair}");
        place.converge(&server, code);
        let writes = server.writes();
        assert!(
            !writes.iter().any(|write| write.starts_with("DELETE")),
            "{writes:?}"
        );
        assert_eq!(
            writes
                .iter()
                .filter(|write| write.contains("/duo-train-1/reapply"))
                .count(),
            1
        );
        assert_eq!(
            writes
                .iter()
                .filter(|write| write.contains("PUT") && write.contains("/duo-train-1?"))
                .count(),
            1
        );
    }
}

/// Writes of one VM that the sandbox saw: method, status and fault.
fn vm_writes(server: &Server, name: &str) -> Vec<(u64, bool)> {
    let log = server.log();
    let puts = log.iter().filter(|record| {
        record["method"] == "PUT"
            && record["path"]
                .as_str()
                .is_some_and(|path| path.contains(&format!("/{name}?")))
    });
    puts.map(|record| {
        (
            record["status"].as_u64().unwrap_or(0),
            record["fault"].is_string(),
        )
    })
    .collect()
}

#[test]
fn what_passes_by_itself_is_waited_out() {
    let cases = [
        (
            "throttled",
            json!({"throttle": {"retry_after": 1_500}}),
            vec![(429, true), (201, false)],
        ),
        (
            "unavailable",
            json!({"fail_at_begin": {"code": "ServiceUnavailable", "retry_after": 1_500}}),
            vec![(503, true), (201, false)],
        ),
        (
            "a server error",
            json!({"fail_at_begin": {"code": "InternalServerError"}}),
            vec![(500, true), (201, false)],
        ),
        (
            "a bad gateway",
            json!({"fail_at_begin": {"code": "BadGatewayConnection"}}),
            vec![(502, true), (201, false)],
        ),
        (
            "not ready",
            json!({"fail_at_begin": {"status": 429, "code": "RetryableError"}}),
            vec![(429, true), (201, false)],
        ),
        (
            "dropped before",
            json!("drop_before"),
            vec![(0, true), (201, false)],
        ),
    ];
    let try_one = |(): &mut (), _, (what, fault, expected): &(&str, Value, Vec<(u64, bool)>)| {
        let (place, server) = stage();
        server.set_faults(&on_vm("duo-serve-0", fault));
        place.sandbox(&["apply", "--yes"]).exits(0, what);
        assert_eq!(vm_writes(&server, "duo-serve-0"), *expected, "{what}");
        place.is_as_planned(&server, what);
    };
    each(&cases, || (), try_one, |(what, ..)| (*what).to_owned());
}

#[test]
fn a_lost_acceptance_is_recognised_by_the_mark_of_the_run() {
    let (place, server) = stage();
    server.set_faults(&on_vm("duo-serve-0", &json!("drop_after_acceptance")));
    place.sandbox(&["apply", "--yes"]).exits(0, "a lost answer");
    let writes = vm_writes(&server, "duo-serve-0");
    assert_eq!(writes.first(), Some(&(0, true)), "the answer was lost");
    assert_eq!(writes.len(), 2, "it is sent once more");
    assert!(
        matches!(writes.last(), Some((409 | 412, false))),
        "and meets itself: {writes:?}"
    );
    place.is_as_planned(&server, "a lost answer");
}

#[test]
fn a_refusal_is_told_and_what_does_not_depend_on_it_is_done() {
    for (code, status) in [
        ("SkuNotAvailable", 409),
        ("AuthorizationFailed", 403),
        ("RequestDisallowedByPolicy", 403),
        ("PropertyChangeNotAllowed", 409),
    ] {
        let (place, server) = stage();
        let fault = json!({"fail_at_begin": {"code": code, "status": status}});
        server.set_faults(&on_vm("duo-serve-0", &fault));
        let ran = place.sandbox(&["apply", "--yes"]).exits(3, code);
        assert!(ran.stderr.contains(code), "{}", ran.stderr);
        let plan = place.sandbox(&["plan", "-o", "json"]).exits(0, code).json();
        assert_eq!(step(&plan, "network.subnet")["action"], "noop");
        assert_eq!(step(&plan, "pool.serve[0].vm")["action"], "create");
        place.converge(&server, code);
    }
}

#[test]
fn a_run_whose_first_write_is_refused_has_written_nothing() {
    let (place, server) = stage();
    let fault = json!({"rules": [{"match": {"method": "PUT"}, "then": {"fail_at_begin": {"code": "AuthorizationFailed"}}}]});
    server.set_faults(&fault);
    let ran = place.sandbox(&["apply", "--yes"]).exits(1, "no permission");
    assert!(ran.stderr.contains("nothing was written"), "{}", ran.stderr);
    assert!(server.everything().is_empty());
    server.calm();
    place.converge(&server, "with permission");
}

/// A size without a temporary disk.
const SMALL: &str = "Standard_D2s_v5";

#[test]
fn a_resize_hangs_on_no_list_of_sizes_that_the_machine_could_have() {
    let place = Place::new(&format!(
        "version: 1\nname: solo\nlocation: eastus\npools:\n  run: {{stage: inference, workload: small, size: {SMALL}}}\n"
    ));
    let server = place.serve(1_000);
    place.sandbox(&["apply", "--yes"]).exits(0, "small");
    place.replace("tensorform.yaml", SMALL, "Standard_E4s_v5");
    let broken = json!({"fail_at_begin": {"code": "BadGateway", "status": 502}});
    server.set_faults(&json!({"rules": [{"match": {"path": "*/vmSizes"}, "then": broken}]}));
    let ran = place.sandbox(&["apply", "--yes", "--allow-stop"]);
    ran.exits(0, "resized");
    assert_eq!(
        server.fired(),
        0,
        "the plan knows what is offered, and Azure says the rest"
    );
    place.is_as_planned(&server, "resized");
}
