//! What of others uses a resource of ours.

use std::collections::{BTreeMap, BTreeSet};

use model::live::Live;
use serde_json::{Value, json};

use super::{GROUP, World, machine, scope, small_world, tags};

const NETWORK: &str = "Microsoft.Network/virtualNetworks";
const INTERFACES: &str = "Microsoft.Network/networkInterfaces";

fn interface(name: &str) -> String {
    format!("{GROUP}/providers/{INTERFACES}/{name}")
}

/// The small world, in whose subnet these interfaces are.
fn with_users(interfaces: &[&str]) -> World {
    let mut world = small_world();
    let path = format!("{GROUP}/providers/{NETWORK}").to_lowercase();
    let networks = world.collections.get_mut(&path).expect("networks");
    let configurations: Vec<Value> = interfaces
        .iter()
        .map(|name| {
            // As recorded answers show them.
            let name = name.to_uppercase();
            json!({"id": format!("{}/ipConfigurations/PRIMARY", interface(&name))})
        })
        .collect();
    networks[0]["properties"]["subnets"][0]["properties"]["ipConfigurations"] =
        json!(configurations);
    world
}

/// Names of strangers by the name of what they use.
fn strangers(live: &Live) -> BTreeMap<&str, BTreeSet<String>> {
    let names = live.strangers.iter().map(|(used, users)| {
        let users = users.iter().map(|id| id.name().to_lowercase()).collect();
        (used.name(), users)
    });
    names.collect()
}

fn both(name: &str) -> BTreeMap<&'static str, BTreeSet<String>> {
    let names = BTreeSet::from([name.to_owned()]);
    BTreeMap::from([("demo-vnet", names.clone()), ("nodes", names)])
}

#[tokio::test]
async fn interfaces_of_our_machines_are_no_strangers() {
    let (live, server) = with_users(&["demo-p-0-nic"]).read(&scope()).await;
    assert_eq!(strangers(&live), BTreeMap::new());
    let (_, before) = small_world().read(&scope()).await;
    assert_eq!(
        server.seen().len(),
        before.seen().len(),
        "nothing more is asked"
    );
}

#[tokio::test]
async fn a_machine_of_others_in_our_subnet_is_known_by_its_own_name() {
    let (live, _) = with_users(&["demo-p-0-nic", "theirs-nic"])
        .read(&scope())
        .await;
    assert_eq!(strangers(&live), both("theirs"));
}

#[tokio::test]
async fn an_interface_of_no_listed_machine_is_looked_at() {
    let mut world = with_users(&["loose", "far", "going", "gone"]);
    let far = machine("other", "far-vm", &json!({}));
    let bodies = [
        json!({"id": interface("loose"), "properties": {"provisioningState": "Succeeded"}}),
        json!({"id": interface("far"), "properties": {"virtualMachine": {"id": far["id"]}}}),
        json!({"id": interface("going"), "properties": {"provisioningState": "Deleting"}}),
    ];
    for body in bodies {
        world.put("rg", INTERFACES, body);
    }
    let (live, _) = world.read(&scope()).await;
    assert_eq!(
        strangers(&live)["nodes"],
        ["far-vm".to_owned(), "loose".to_owned()].into()
    );
}

#[tokio::test]
async fn a_subnet_of_others_with_our_security_group_is_a_stranger() {
    let mut world = small_world();
    let theirs = "/subscriptions/s/resourceGroups/other/providers/Microsoft.Network/virtualNetworks/v/subnets/their";
    let ours = format!("{GROUP}/providers/{NETWORK}/demo-vnet/subnets/nodes");
    world.put(
        "rg",
        "Microsoft.Network/networkSecurityGroups",
        json!({"id": format!("{GROUP}/providers/Microsoft.Network/networkSecurityGroups/demo-nsg"),
            "location": "eastus", "tags": tags("network.nsg"),
            "properties": {"securityRules": [], "subnets": [{"id": ours}, {"id": theirs}]}}),
    );
    let (live, _) = world.read(&scope()).await;
    assert_eq!(
        strangers(&live),
        BTreeMap::from([("demo-nsg", BTreeSet::from(["their".to_owned()]))])
    );
}
