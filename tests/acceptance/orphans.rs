//! What is the stack's and in no spec: shown with what it costs, and deleted by itself.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Place, SUBSCRIPTION, Server, two_pools};

fn id(kind: &str, name: &str) -> String {
    format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-duo/providers/{kind}/{name}")
}

fn tags(address: &str) -> Value {
    json!({"tensorform-stack": "duo", "tensorform-address": address})
}

fn put(server: &Server, kind: &str, name: &str, version: &str, body: &Value) -> String {
    let id = id(kind, name);
    let path = format!("{id}?api-version={version}");
    let (status, answer) = server.request("PUT", &path, Some(body));
    assert!(matches!(status, 200..=202), "{status} {answer}");
    while server.is_busy(&path) {
        std::thread::yield_now();
    }
    id.to_lowercase()
}

fn disk(server: &Server, name: &str, tags: &Value) -> String {
    let body = json!({"location": "eastus", "tags": tags, "sku": {"name": "Premium_LRS"},
        "properties": {"diskSizeGB": 64, "creationData": {"createOption": "Empty"}}});
    put(server, "Microsoft.Compute/disks", name, "2024-03-02", &body)
}

/// Parts that carry the tags of VMs that are no more, as deletions of VMs leave them.
fn leave_parts(server: &Server) -> BTreeSet<String> {
    let machine = tags("pool.train[7].vm");
    let address = json!({"location": "eastus", "tags": machine, "sku": {"name": "Standard"},
        "properties": {"publicIPAllocationMethod": "Static"}});
    let subnet = format!(
        "{}/subnets/nodes",
        id("Microsoft.Network/virtualNetworks", "duo-vnet")
    );
    let interface = json!({"location": "eastus", "tags": machine, "properties": {"ipConfigurations": [
        {"name": "primary", "properties": {"subnet": {"id": subnet}}}]}});
    let network = "2024-07-01";
    BTreeSet::from([
        // A first and a second round left a disk each.
        disk(server, "duo-train-7-os", &machine),
        disk(server, "duo-train-7-os-2", &machine),
        put(
            server,
            "Microsoft.Network/publicIPAddresses",
            "duo-train-7-ip",
            network,
            &address,
        ),
        put(
            server,
            "Microsoft.Network/networkInterfaces",
            "duo-train-7-nic",
            network,
            &interface,
        ),
    ])
}

fn made() -> (Place, Server) {
    let place = Place::new(&two_pools("duo"));
    let server = place.serve(1_000);
    place.sandbox(&["apply", "--yes"]).exits(0, "made");
    (place, server)
}

fn listed(place: &Place, list: &str) -> BTreeSet<String> {
    let status = place.sandbox(&["status", "-o", "json"]).exits(0, "status");
    let rows = status.json()[list].as_array().expect("rows").clone();
    rows.iter()
        .map(|row| row["id"].as_str().expect("an id").to_lowercase())
        .collect()
}

/// The ids of what was deleted, each once.
fn deleted(server: &Server) -> BTreeSet<String> {
    let writes = server.writes();
    let deletions: Vec<&str> = writes
        .iter()
        .map(|write| {
            write
                .strip_prefix("DELETE ")
                .unwrap_or_else(|| panic!("{writes:?}"))
        })
        .collect();
    deletions
        .iter()
        .map(|path| path.split('?').next().unwrap_or_default().to_lowercase())
        .collect()
}

#[test]
fn orphans_are_shown_with_their_cost_and_deleted_alone() {
    let (place, server) = made();
    let parts = leave_parts(&server);
    // The spec wants more, and nothing of that is done.
    let spec = two_pools("duo").replace("count: 1", "count: 2");
    place.write("tensorform.yaml", &spec);
    assert_eq!(listed(&place, "orphans"), parts);
    let text = place.sandbox(&["status"]).exits(0, "status");
    for word in ["Orphans", "destroy --orphans", "USD/hour"] {
        assert!(text.stdout.contains(word), "{word}: {}", text.stdout);
    }
    server.forget();
    let ran = place
        .sandbox(&["destroy", "--orphans", "--yes"])
        .exits(0, "deleted");
    assert_eq!(deleted(&server), parts, "{}", ran.stderr);
    assert!(ran.stderr.contains("no orphan is left"), "{}", ran.stderr);
    assert_eq!(listed(&place, "orphans"), BTreeSet::new());
    server.forget();
    place
        .sandbox(&["destroy", "--orphans", "--yes"])
        .exits(0, "nothing to do");
    assert_eq!(server.writes(), Vec::<String>::new());
    place.converge(&server, "the rest is as it was");
}

#[test]
fn apply_and_destroy_take_orphans_along() {
    let (place, server) = made();
    leave_parts(&server);
    place.converge(&server, "applied");
    leave_parts(&server);
    place.vanish(&server, "destroyed");
}

#[test]
fn orphans_that_are_protected_or_others_stay() {
    let (place, server) = made();
    let mut kept = tags("pool.gone[0].data_disk[0]");
    kept["tensorform-protect"] = json!("true");
    let kept = disk(&server, "kept", &kept);
    let theirs = disk(&server, "theirs", &json!({"team": "other"}));
    let gone = disk(&server, "gone", &tags("pool.gone[1].data_disk[0]"));
    server.forget();
    let ran = place
        .sandbox(&["destroy", "--orphans", "--yes"])
        .exits(4, "one is protected");
    assert_eq!(deleted(&server), BTreeSet::from([gone]));
    assert!(ran.stderr.contains("`kept` is protected"), "{}", ran.stderr);
    assert_eq!(listed(&place, "orphans"), BTreeSet::from([kept]));
    assert!(listed(&place, "foreign").contains(&theirs));
}
