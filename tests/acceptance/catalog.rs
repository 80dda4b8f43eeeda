//! The user's cache of the catalogue: what a refresh that breaks off leaves, and what counts then.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::{Value, json};

use crate::harness::{Listening, Place, Server};

const REFRESH: &[&str] = &[
    "catalog",
    "refresh",
    "--prices",
    "--location",
    "westindia",
    "--location",
    "koreasouth",
    "-o",
    "json",
];
/// A GPU-less machine that both regions price.
const SPEC: &str = "version: 1
name: priced
location: westindia
pools:
  work: {stage: inference, workload: small, size: Standard_F8s_v2}
";

/// The files of the cache of the sandbox, without the lock.
fn cached(place: &Place) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = place.files().into_iter();
    let files =
        files.filter(|(path, _)| path.components().any(|part| part.as_os_str() == "catalog"));
    files.filter(|(path, _)| !path.ends_with("lock")).collect()
}

/// Lets one read of list prices fail.
fn break_off(server: &Server, nth: u64) {
    server.set_faults(&json!({"rules": [{
        "match": {"path": "/api/retail/prices", "nth": nth},
        "then": {"fail_at_begin": {"status": 400, "code": "BadRequest", "message": "no"}},
    }]}));
}

/// Lets the commands of the place read a price list where one price is another.
fn behind_a_proxy(place: &mut Place, server: &Server, old: &str, new: &str) -> Listening {
    let [old, new] = [old, new].map(|price| format!("\"retailPrice\":{price},"));
    let proxy = Listening::rewriting(&server.endpoint, old, new);
    for (name, value) in [
        ("TENSORFORM_ENDPOINT", proxy.endpoint()),
        ("TENSORFORM_ACCESS_TOKEN", "any".to_owned()),
        ("TENSORFORM_CREDENTIAL", "token".to_owned()),
    ] {
        place.environment.insert(name.to_owned(), value);
    }
    proxy
}

fn regions(document: &Value) -> BTreeMap<String, Value> {
    let regions = document["regions"].as_array().expect("regions").iter();
    let named = regions.map(|region| {
        (
            region["location"].as_str().expect("a name").to_owned(),
            region.clone(),
        )
    });
    named.collect()
}

#[test]
fn a_refresh_that_breaks_off_changes_nothing_and_the_next_one_goes_on() {
    let place = Place::new(SPEC);
    let server = place.serve(1_000);
    let first = place.sandbox(REFRESH).exits(0, "a first cache").json();
    let requests = first["requests"].as_u64().expect("a number");
    let before = cached(&place);
    assert_eq!(
        before.len(),
        8,
        "four tables, one of everywhere, sources, index, current: {:?}",
        before.keys()
    );

    // The last page of the second region.
    break_off(&server, requests);
    let ran = place.sandbox(REFRESH).exits(1, "the second region fails");
    let help = ran.json()["diagnostics"][0]["help"].to_string();
    assert!(help.contains("1 of 2 regions were read"), "{help}");
    let mut after = cached(&place);
    after.retain(|path, _| {
        !path
            .components()
            .any(|part| part.as_os_str() == "unfinished")
    });
    assert_eq!(after, before);

    server.calm();
    let document = place.sandbox(REFRESH).exits(0, "it goes on").json();
    let read = regions(&document);
    assert_eq!(document["everywhere"]["resumed"], true);
    assert_eq!(read["westindia"]["resumed"], true);
    assert_eq!(read["koreasouth"]["resumed"], false);
    let again = document["requests"].as_u64().expect("a number");
    assert!(again < requests, "{again} requests after {requests}");
    let kept = cached(&place);
    assert_eq!(kept.len(), before.len(), "{:?}", kept.keys());
}

#[test]
fn a_price_that_changed_is_told_and_counts_in_plans() {
    let mut place = Place::new(SPEC);
    let server = place.serve(1_000);
    let embedded = place
        .run(&["plan", "--offline", "-o", "json"])
        .exits(0, "a plan")
        .json();
    let price = compute(&embedded)["unit_hourly"]
        .as_str()
        .expect("a price")
        .to_owned();
    let _proxy = behind_a_proxy(&mut place, &server, &price, "9.75");
    let document = place.run(REFRESH).exits(0, "a refresh").json();
    let changes = regions(&document)["westindia"]["changes"].clone();
    let changed =
        json!({"size": "Standard_F8s_v2", "price": "linux", "before": price, "after": "9.75"});
    assert!(
        changes.as_array().expect("changes").contains(&changed),
        "{changes}"
    );

    let plan = place.run(&["plan", "-o", "json"]).exits(0, "a plan").json();
    assert_eq!(compute(&plan)["unit_hourly"], "9.75");
    assert_eq!(plan["catalog"]["prices_as_of"], document["as_of"]);
    assert_ne!(plan["catalog"]["digest"], embedded["catalog"]["digest"]);
    let source = compute(&plan)["source"].to_string();
    assert!(source.contains("127.0.0.1"), "who said it: {source}");

    place.environment.remove("TENSORFORM_ENDPOINT");
    let offline = place
        .run(&["plan", "--offline", "-o", "json"])
        .exits(0, "a plan")
        .json();
    assert_eq!(compute(&offline), compute(&embedded));
}

/// The line of the machines.
fn compute(plan: &Value) -> Value {
    let lines = plan["cost"]["lines"].as_array().expect("lines");
    let line = lines.iter().find(|line| line["kind"] == "compute");
    line.expect("a line for machines").clone()
}

#[test]
fn what_has_one_price_everywhere_is_read_too() {
    let spec = SPEC.replace("pools:", "network: {outbound: nat}\npools:");
    let mut place = Place::new(&spec);
    let server = place.serve(1_000);
    let read = place.sandbox(REFRESH).exits(0, "a refresh").json();
    assert_eq!(read["everywhere"]["items"], 5, "{}", read["everywhere"]);
    assert_eq!(read["everywhere"]["item_changes"], json!([]));

    let _proxy = behind_a_proxy(&mut place, &server, "0.045", "0.0625");
    let read = place.run(REFRESH).exits(0, "a refresh").json();
    let change = json!({"item": "nat_gateway.hour", "before": "0.045", "after": "0.0625"});
    let changes = read["everywhere"]["item_changes"].as_array();
    assert!(changes.expect("changes").contains(&change), "{read}");
    let plan = place.run(&["plan", "-o", "json"]).exits(0, "a plan").json();
    let lines = plan["cost"]["lines"].as_array().expect("lines");
    let line = lines.iter().find(|line| line["item"] == "NAT gateway");
    let line = line.expect("a line for the gateway");
    assert_eq!(line["unit_hourly"], "0.0625");
    assert_eq!(line["as_of"], read["as_of"]);
}

#[test]
fn a_damaged_table_is_not_used() {
    let place = Place::new(SPEC);
    let _server = place.serve(1_000);
    place.sandbox(REFRESH).exits(0, "a cache");
    let table = cached(&place)
        .into_keys()
        .find(|path| path.ends_with("prices/vm/westindia.csv"));
    let table = table.expect("the table is there");
    let text = std::fs::read_to_string(&table).expect("it reads");
    std::fs::write(&table, text.replacen("0.", "0.0", 1)).expect("it is written");
    let ran = place.sandbox(&["plan"]).exits(0, "embedded prices");
    assert!(ran.stderr.contains("warning[CATALOG001]"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("it does not fit its digest"),
        "{}",
        ran.stderr
    );
    // Neither does it come back by a refresh of another region.
    let other = ["catalog", "refresh", "--prices", "--location", "koreasouth"];
    place.sandbox(&other).exits(0, "another region");
    let names: Vec<PathBuf> = cached(&place).into_keys().collect();
    let is_back = |name: &PathBuf| name.ends_with("prices/vm/westindia.csv");
    assert!(!names.iter().any(is_back), "{names:?}");
}
