//! Ways in to the nodes, made, changed and taken away by the real binary.

use serde_json::{Value, json};

use crate::harness::{Place, SUBSCRIPTION, Server};

const SPEC: &str = "version: 1
name: door
location: eastus
ACCESS
pools:
  work:
    stage: inference
    workload: small
    count: 2
    size: Standard_F4s_v2
    zones: none
";

const SETS: &str = "  many:
    stage: inference
    workload: small
    count: 3
    size: Standard_F4s_v2
    zones: none
    grouping: scale_set
  fast:
    stage: training
    workload: generative
    count: 2
    size: Standard_ND96isr_H100_v5
";

const CLOSED: &str = "access: {via: none}";
const OPEN: &str = "access: {via: public_ip, ssh_from: [203.0.113.0/24]}";
const BASTION: &str = "access: {via: bastion}";
const BASIC: &str = "access: {via: bastion, bastion_sku: basic}";

fn stage(access: &str, more: &str) -> (Place, Server) {
    let place = Place::new(&format!("{}{more}", SPEC.replace("ACCESS", access)));
    let server = place.serve(1_000);
    (place, server)
}

/// Resources of a type that are there.
fn of_type(server: &Server, arm_type: &str) -> Vec<String> {
    let part = format!("/{}/", arm_type.to_lowercase());
    let all = server.everything().into_iter();
    all.filter(|id| id.to_lowercase().contains(&part)).collect()
}

fn network(name: &str) -> String {
    format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-door/providers/Microsoft.Network/{name}"
    )
}

#[test]
fn public_addresses_come_and_go_with_vms_and_sets() {
    let (place, server) = stage(OPEN, SETS);
    place
        .sandbox(&["apply", "--yes"])
        .exits(0, "public addresses");
    let again = ["plan", "--detailed-exitcode"];
    place.sandbox(&again).exits(0, "nothing more to do");
    // Those of two VMs and three instances that are VMs, and the NAT gateway's.
    assert_eq!(of_type(&server, "publicIPAddresses").len(), 6);
    let set = format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-door/providers/Microsoft.Compute/virtualMachineScaleSets/door-fast/publicipaddresses"
    );
    let (status, list) = server.request("GET", &format!("{set}?api-version=2024-07-01"), None);
    assert_eq!(status, 200, "{list}");
    let addresses = list["value"].as_array().expect("addresses");
    assert_eq!(addresses.len(), 2);
    for address in addresses {
        assert_eq!(address["sku"]["name"], "Standard");
        let number = address["properties"]["ipAddress"].as_str();
        assert!(number.is_some_and(|number| number.starts_with("100.")));
    }
    let guard = server.body(&network("networkSecurityGroups/door-nsg"));
    let rules = guard.expect("a security group")["properties"]["securityRules"].clone();
    let rules = rules.as_array().expect("rules");
    assert_eq!(rules.len(), 1, "{rules:?}");
    assert_eq!(
        rules[0]["properties"]["sourceAddressPrefix"],
        "203.0.113.0/24"
    );
    place.vanish(&server, "public addresses");
}

#[test]
fn closing_the_door_keeps_the_nodes_and_their_addresses_and_says_so() {
    let (place, server) = stage(OPEN, "");
    place.sandbox(&["apply", "--yes"]).exits(0, "open");
    place.replace("tensorform.yaml", OPEN, CLOSED);
    let ran = place.sandbox(&["apply", "--yes"]).exits(0, "closed");
    assert!(
        ran.stderr.contains("network.public_address"),
        "{}",
        ran.stderr
    );
    let guard = server.body(&network("networkSecurityGroups/door-nsg"));
    let rules = guard.expect("a security group")["properties"]["securityRules"].clone();
    assert_eq!(rules, json!([]));
    let again = ["plan", "--detailed-exitcode"];
    place.sandbox(&again).exits(0, "nothing more to do");
    let replace = ["apply", "--yes", "--replace", "pool.work[0].vm"];
    place.sandbox(&replace).exits(0, "made anew");
    assert_eq!(of_type(&server, "publicIPAddresses").len(), 2);
    place.vanish(&server, "closed");
}

#[test]
fn a_bastion_host_comes_changes_and_goes() {
    let (place, server) = stage(BASIC, "");
    place
        .sandbox(&["apply", "--yes"])
        .exits(0, "a Bastion host");
    place.is_as_planned(&server, "a Bastion host");
    let host = network("bastionHosts/door-bastion");
    let shown = server.body(&host).expect("a Bastion host");
    assert_eq!(shown["sku"]["name"], "Basic");
    place.replace("tensorform.yaml", BASIC, BASTION);
    place.converge(&server, "another tier");
    let shown = server.body(&host).expect("a Bastion host");
    assert_eq!(shown["sku"]["name"], "Standard");
    assert_eq!(shown["properties"]["enableTunneling"], true);
    place.replace("tensorform.yaml", BASTION, CLOSED);
    place.converge(&server, "no Bastion host");
    assert_eq!(server.body(&host), None);
    let network = server.body(&network("virtualNetworks/door-vnet"));
    let subnets = network.expect("the network")["properties"]["subnets"].clone();
    assert_eq!(subnets.as_array().map(Vec::len), Some(1));
    assert_eq!(of_type(&server, "publicIPAddresses").len(), 1);
    place.replace("tensorform.yaml", CLOSED, BASTION);
    place.converge(&server, "a Bastion host again");
    place.vanish(&server, "a Bastion host");
}

#[test]
fn an_address_that_fails_is_named_and_the_nodes_are_made_all_the_same() {
    let (place, server) = stage(BASTION, "");
    let fault = json!({"rules": [{
        "match": {"method": "PUT", "type": "Microsoft.Network/publicIPAddresses", "name": "door-bastion-ip", "count": 1},
        "then": {"fail_in_operation": {"code": "InternalServerError"}},
    }]});
    server.set_faults(&fault);
    let ran = place.sandbox(&["apply", "--yes"]).exits(3, "no address");
    for told in ["network.bastion_ip", "InternalServerError"] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert_eq!(of_type(&server, "virtualMachines").len(), 2);
    server.calm();
    place.converge(&server, "an address");
}

/// A network of somebody else's with a small subnet.
fn hub(server: &Server, prefix: &str) -> (String, Value) {
    let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-net");
    let body = json!({"location": "eastus"});
    let put = |path: &str, body: &Value, version: &str| {
        let (status, answer) =
            server.request("PUT", &format!("{path}?api-version={version}"), Some(body));
        assert!(status < 300, "{answer}");
    };
    put(&group, &body, "2021-04-01");
    let network = format!("{group}/providers/Microsoft.Network/virtualNetworks/hub");
    let body = json!({"location": "eastus", "properties": {
        "addressSpace": {"addressPrefixes": ["10.9.0.0/16"]},
        "subnets": [{"name": "gpu", "properties": {"addressPrefix": prefix}}],
    }});
    put(&network, &body, "2024-03-01");
    while server.is_busy(&format!("{network}?api-version=2024-03-01")) {
        std::thread::yield_now();
    }
    let body = server.body(&network).expect("the network");
    (network, body)
}

#[test]
fn an_existing_subnet_takes_the_nodes_and_is_never_changed() {
    let (place, server) = stage("", "");
    let (network, before) = hub(&server, "10.9.0.0/28");
    let own = format!(
        "access: {{via: existing}}\nnetwork: {{subnet_id: {network}/subnets/gpu, outbound: existing}}\npools:"
    );
    place.replace("tensorform.yaml", "pools:", &own);
    server.forget();
    place.sandbox(&["apply", "--yes"]).exits(0, "their subnet");
    place
        .sandbox(&["plan", "--detailed-exitcode"])
        .exits(0, "their subnet");
    for path in server.writes() {
        assert!(!path.contains("/rg-net/"), "{path}");
    }
    place.replace("tensorform.yaml", "count: 2", "count: 12");
    let ran = place.sandbox(&["plan"]).exits(1, "more than there is room");
    assert!(
        ran.stderr.contains("has 9 free addresses of 11"),
        "{}",
        ran.stderr
    );
    place
        .sandbox(&["destroy", "--yes"])
        .exits(0, "all of ours goes");
    let after = server.body(&network).expect("the network");
    assert_eq!(after["etag"].is_string(), before["etag"].is_string());
    assert_eq!(
        after["properties"]["addressSpace"],
        before["properties"]["addressSpace"]
    );
    let left = server.everything();
    assert!(
        left.iter().all(|id| id.to_lowercase().contains("/rg-net")),
        "{left:?}"
    );
}
