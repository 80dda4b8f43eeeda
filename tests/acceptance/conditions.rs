//! What Azure does by itself while the real binary works: policies, late answers, quota and
//! hardware that go, Spot machines that are taken back.

use serde_json::{Value, json};

use crate::harness::{Place, Server, two_pools};

fn stage(spec: &str) -> (Place, Server) {
    let place = Place::new(spec);
    let server = place.serve(1_000);
    (place, server)
}

fn one(rule: &Value) -> Value {
    json!({"rules": [rule]})
}

#[test]
fn tags_of_a_policy_are_no_drift() {
    let (place, server) = stage(&two_pools("duo"));
    let policy =
        json!({"set": {"CostCentre": "42"}, "add": {"owner": "finance"}, "later": [1, 600]});
    server.set_faults(&one(
        &json!({"name": "policy", "then": {"modify_tags": policy}}),
    ));
    place.sandbox(&["apply", "--yes"]).exits(0, "a policy");
    assert!(server.fired() > 10, "most writes have tags");
    place.is_as_planned(&server, "a policy");
    let group = server
        .everything()
        .into_iter()
        .find(|id| !id.contains("/providers/"));
    let group = server.body(&group.expect("a group")).expect("it is there");
    assert_eq!(group["tags"]["CostCentre"], "42");
}

#[test]
fn answers_that_are_behind_are_waited_out() {
    let (place, server) = stage(&two_pools("duo"));
    let single = json!({"method": "GET", "name": "?*"});
    let stale = json!({"match": single, "then": {"stale": {"reads": 1}}});
    server.set_faults(&one(&stale));
    place.sandbox(&["apply", "--yes"]).exits(0, "late answers");
    assert!(server.fired() > 0);
    server.calm();
    place.converge(&server, "late answers");
}

#[test]
fn lists_that_are_behind_make_no_good_apply_a_bad_one() {
    let lists = |type_name: &str, staleness: &Value| {
        let of = json!({"method": "GET", "type": type_name, "name": ""});
        one(&json!({"match": of, "then": {"stale": staleness}}))
    };
    for type_name in [
        "Microsoft.Compute/virtualMachines",
        "Microsoft.Compute/disks",
        "Microsoft.Network/virtualNetworks",
    ] {
        // Of Azure's seconds: three tenths of a second here.
        for staleness in [json!({"reads": 2}), json!({"seconds": 300})] {
            let (place, server) = stage(&two_pools("duo"));
            let what = format!("{type_name}, {staleness}");
            server.set_faults(&lists(type_name, &staleness));
            place.sandbox(&["apply", "--yes"]).exits(0, &what);
            place.replace(
                "tensorform.yaml",
                "name: duo",
                "name: duo\ntags: {team: ml}",
            );
            // What is changed next, and what is deleted, shows late as well.
            place.sandbox(&["apply", "--yes"]).exits(0, &what);
            assert!(server.fired() > 0, "{what}");
            server.calm();
            place.is_as_planned(&server, &what);
            server.set_faults(&lists(type_name, &staleness));
            place.sandbox(&["destroy", "--yes"]).exits(0, &what);
            assert!(server.everything().is_empty(), "{what}");
        }
    }
}

#[test]
fn quota_that_goes_under_way_is_told_by_name() {
    let (place, server) = stage(&two_pools("duo"));
    let second = json!({"method": "PUT", "type": "Microsoft.Compute/virtualMachines", "nth": 2});
    let change =
        |limit: u64| json!({"set_quota": {"location": "eastus", "limits": {"cores": limit}}});
    server.set_faults(&one(&json!({"match": second, "then": change(0)})));
    let ran = place.sandbox(&["apply", "--yes"]).exits(3, "no quota");
    assert!(
        ran.stderr.contains("Total Regional Cores"),
        "{}",
        ran.stderr
    );
    server.set_faults(&one(&json!({"at": 0, "then": change(1_000)})));
    place.converge(&server, "quota is back");
}

#[test]
fn hardware_that_is_missing_for_a_while_is_told_and_found_again() {
    let (place, server) = stage(&two_pools("duo"));
    let full =
        json!({"match": {"name": "duo-train-*", "priority": "regular"}, "then": "fail_allocation"});
    server.set_faults(&one(&full));
    let ran = place.sandbox(&["apply", "--yes"]).exits(3, "no hardware");
    assert!(ran.stderr.contains("AllocationFailed"), "{}", ran.stderr);
    server.calm();
    place.converge(&server, "hardware is back");
}

#[test]
fn spot_machines_that_are_taken_back_are_made_again() {
    let spec = two_pools("duo").replace(
        "  serve:\n",
        "  serve:\n    priority: spot\n    zones: none\n",
    );
    let (place, server) = stage(&spec);
    server.set_faults(&one(
        &json!({"match": {"priority": "spot", "count": 1}, "then": "fail_allocation"}),
    ));
    let ran = place.sandbox(&["apply", "--yes"]).exits(3, "no spot");
    assert!(ran.stderr.contains("SkuNotAvailable"), "{}", ran.stderr);
    place.converge(&server, "spot is back");
    server.set_faults(&one(
        &json!({"at": 0, "then": {"evict": {"name": "duo-*"}}}),
    ));
    let plan = place
        .sandbox(&["plan", "-o", "json"])
        .exits(0, "evicted")
        .json();
    assert_eq!(plan["counts"]["create"], 1, "{}", plan["counts"]);
    place.converge(&server, "made again");
    assert_eq!(server.fired(), 1);
}

#[test]
fn no_second_has_more_requests_than_the_user_allows() {
    const MOST: usize = 30;
    let (place, server) = stage(&two_pools("slow"));
    let pace = format!("--max-rps={MOST}");
    for command in ["apply", "destroy"] {
        server.forget();
        place.sandbox(&[command, "--yes", &pace]).exits(0, command);
        let mut times: Vec<time::OffsetDateTime> = server
            .log()
            .iter()
            .filter_map(|record| {
                let at = record["at"].as_str().expect("a time");
                time::OffsetDateTime::parse(at, &time::format_description::well_known::Rfc3339).ok()
            })
            .collect();
        times.sort();
        assert!(times.len() > MOST, "{command}: {} requests", times.len());
        // A request may be under way for longer than the one behind it, so the whole run counts.
        let [first, .., last] = times.as_slice() else {
            panic!("{command}: {} requests", times.len())
        };
        let beyond_the_first = f64::from(u32::try_from(times.len() - MOST).expect("a few"));
        let least = beyond_the_first / f64::from(u32::try_from(MOST).expect("a few"));
        let took = (*last - *first).as_seconds_f64();
        assert!(
            took >= least,
            "{command}: {} requests in {took} s",
            times.len()
        );
    }
}
