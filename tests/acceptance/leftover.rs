//! Operations that an earlier, killed run left under way, and that end badly.

use serde_json::json;

use crate::harness::{Place, Server, two_pools};

/// A stack without its last pool, then a killed apply of that pool, whose VM is still being made
/// and will not get hardware.
fn left_under_way() -> (Place, Server) {
    let whole = two_pools("duo");
    let (first, _) = whole.split_once("  serve:").expect("the last pool");
    let place = Place::new(first);
    place
        .sandbox(&["apply", "--yes"])
        .exits(0, "without the last pool");
    place.write("tensorform.yaml", &whole);
    // A VM takes almost a second at this speed.
    let server = place.serve(8);
    server.set_faults(&json!({"rules": [{
        "match": {"method": "PUT", "name": "duo-serve-0", "count": 1},
        "then": {"fail_in_operation": {"code": "AllocationFailed"}},
    }]}));
    let mut running = place.start(&["--sandbox=world", "apply"]);
    running.wait_for("accepted");
    running.kill();
    assert_eq!(server.fired(), 1);
    (place, server)
}

#[test]
fn one_apply_waits_for_what_fails_and_makes_it_again() {
    let (place, server) = left_under_way();
    let ran = place.sandbox(&["apply", "--yes", "-o", "json"]);
    let told = ran.exits(0, "made again").json();
    assert_eq!(told["reached"], true, "{told}");
    place.is_as_planned(&server, "made again");
}

#[test]
fn one_destroy_waits_for_what_fails_and_deletes_it() {
    let (place, server) = left_under_way();
    place.vanish(&server, "deleted");
}

#[test]
fn one_apply_waits_and_then_makes_the_changes_that_came_meanwhile() {
    let (place, server) = left_under_way();
    let spec = two_pools("duo").replace("Standard_F8s_v2", "Standard_F16s_v2");
    place.write("tensorform.yaml", &spec);
    place
        .sandbox(&["apply", "--yes", "--allow-stop"])
        .exits(0, "changed");
    place.is_as_planned(&server, "changed");
}
