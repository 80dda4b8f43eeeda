//! What stays on purpose: protected disks, and resources that leave the stack without being deleted.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Place, SUBSCRIPTION, Server, two_pools};

fn id(kind: &str, name: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-duo/providers/{kind}/{name}")
}

fn made() -> (Place, Server) {
    let place = Place::new(&two_pools("duo"));
    let server = place.serve(1_000);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    (place, server)
}

fn tags(server: &Server, id: &str, version: &str) -> Value {
    let (status, body) = server.request("GET", &format!("{id}?api-version={version}"), None);
    assert_eq!(status, 200, "{body}");
    body["tags"].clone()
}

fn names(server: &Server) -> BTreeSet<String> {
    let ids = server.everything();
    ids.iter()
        .map(|id| id.rsplit('/').next().unwrap_or_default().to_owned())
        .collect()
}

/// The data disks of the pool `train`.
fn data_disks(server: &Server) -> Vec<String> {
    let ids = server.everything().into_iter();
    ids.filter(|id| id.contains("/disks/") && !id.ends_with("-os"))
        .collect()
}

#[test]
fn a_protected_data_disk_outlives_a_destroy_without_its_node() {
    let (place, server) = made();
    let disks = data_disks(&server);
    let disk = disks.first().expect("a data disk").clone();
    let path = format!("{disk}/providers/Microsoft.Resources/tags/default?api-version=2021-04-01");
    let body =
        json!({"operation": "Merge", "properties": {"tags": {"tensorform-protect": "true"}}});
    let (status, answer) = server.request("PATCH", &path, Some(&body));
    assert!(matches!(status, 200..=202), "{status} {answer}");
    let ran = place
        .sandbox(&["destroy", "--yes"])
        .exits(4, "the disk stays");
    let name = disk.rsplit('/').next().unwrap_or_default().to_owned();
    for word in ["kept 1", &format!("`{name}` is protected")] {
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
    assert_eq!(names(&server), BTreeSet::from(["rg-duo".to_owned(), name]));
    let (_, body) = server.request("GET", &format!("{disk}?api-version=2024-03-02"), None);
    assert_eq!(body["managedBy"], Value::Null, "it is detached");
    assert_eq!(body["properties"]["diskState"], "Unattached");
    server.forget();
    let again = place.sandbox(&["destroy", "--yes"]).exits(4, "again");
    assert!(again.stderr.contains("is protected"), "{}", again.stderr);
    assert_eq!(server.writes(), Vec::<String>::new());
}

#[test]
fn a_released_node_stays_and_is_nobodys() {
    let (place, server) = made();
    // The pool `serve` leaves the spec, and its node is to stay.
    let whole = two_pools("duo");
    let (first, _) = whole.split_once("  serve:").expect("the last pool");
    let vm = id("Microsoft.Compute/virtualMachines", "duo-serve-0");
    place
        .sandbox(&["apply", "--yes", "--release", "pool.serve"])
        .exits(1, "the spec still has it");
    place.write("tensorform.yaml", first);
    server.forget();
    let plan = place
        .sandbox(&["plan", "--release", "pool.serve", "--out", "saved"])
        .exits(0, "shown");
    assert!(plan.stdout.contains("release VM"), "{}", plan.stdout);
    place
        .sandbox(&["apply", "saved", "--yes"])
        .exits(0, "a saved plan releases too");
    let writes = server.writes();
    assert!(
        !writes.is_empty()
            && writes
                .iter()
                .all(|write| write.starts_with("PATCH") && write.contains("/tags/default")),
        "only tags are written: {writes:?}"
    );
    for (id, version) in [
        (vm.clone(), "2024-07-01"),
        (
            id("Microsoft.Compute/disks", "duo-serve-0-os"),
            "2024-03-02",
        ),
    ] {
        let tags = tags(&server, &id, version).to_string();
        assert!(!tags.contains("tensorform"), "{id}: {tags}");
    }
    let plan = place.sandbox(&["plan", "--detailed-exitcode"]);
    plan.exits(0, "nothing is to be done about it");
    // It stands in the stack's network, which therefore outlives the stack.
    let ran = place
        .sandbox(&["destroy", "--yes"])
        .exits(4, "the network stays");
    assert!(ran.stderr.contains("duo-serve-0"), "{}", ran.stderr);
    assert!(server.body(&vm).is_some());
    assert!(data_disks(&server).is_empty());
}

#[test]
fn what_is_not_there_cannot_be_released() {
    let (place, server) = made();
    server.forget();
    let ran = place
        .sandbox(&["plan", "--release", "pool.nosuch"])
        .exits(1, "refused");
    assert!(ran.stderr.contains("OWN007"), "{}", ran.stderr);
    assert_eq!(server.writes(), Vec::<String>::new());
}
