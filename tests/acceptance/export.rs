//! The exported template makes what an apply makes.

use serde_json::{Value, json};

use crate::harness::{Place, SUBSCRIPTION, Server};

const SPEC: &str = "version: 1
name: twin
location: eastus
access: {via: bastion}
pools:
  work:
    stage: inference
    workload: small
    count: 2
    size: Standard_F4s_v2
    disks: {data: [{size_gb: 64, type: premium}]}
    bootstrap: {script: training-lora.sh}
  many:
    stage: inference
    workload: small
    count: 3
    size: Standard_F4s_v2
    grouping: scale_set
  fast:
    stage: training
    workload: generative
    count: 2
    size: Standard_ND96isr_H100_v5
    disks: {scratch: nvme}
";

/// Deploys a template into the stack's group, which is made before, and waits for the end.
fn deploy(server: &Server, template: &Value, parameters: &Value) -> Value {
    let group = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-twin");
    let (status, answer) = server.request(
        "PUT",
        &format!("{group}?api-version=2021-04-01"),
        Some(&json!({"location": "eastus"})),
    );
    assert!(status < 300, "{answer}");
    let deployment =
        format!("{group}/providers/Microsoft.Resources/deployments/twin?api-version=2021-04-01");
    let body = json!({"properties": {
        "mode": "Incremental", "template": template, "parameters": parameters,
    }});
    let (status, answer) = server.request("PUT", &deployment, Some(&body));
    assert!(status < 300, "{answer:#}");
    loop {
        let (_, shown) = server.request("GET", &deployment, None);
        let state = shown["properties"]["provisioningState"].as_str();
        if !matches!(state, Some("Accepted" | "Running" | "Created")) {
            return shown;
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_deployed_export_is_what_the_spec_wants() {
    let place = Place::new(SPEC);
    let server = place.serve(1_000);
    let exported = place.sandbox(&["export"]).exits(0, "a template");
    let template = exported.json();
    let kinds: Vec<&str> = template["resources"]
        .as_array()
        .expect("resources")
        .iter()
        .filter_map(|resource| resource["type"].as_str())
        .collect();
    assert!(
        kinds.contains(&"Microsoft.Network/bastionHosts"),
        "{kinds:?}"
    );
    assert_eq!(template["parameters"]["sshPublicKey"]["type"], "string");
    assert!(
        !exported.stdout.contains("/resourceGroups/"),
        "ids are expressions"
    );
    let key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
    let runs = |pool: &str| {
        place
            .run(&["bootstrap", pool, "--offline"])
            .exits(0, pool)
            .stdout
    };
    let parameters = json!({
        "sshPublicKey": {"value": key},
        "customData_work": {"value": runs("work")},
        "customData_fast": {"value": runs("fast")},
    });
    let deployed = deploy(&server, &template, &parameters);
    assert_eq!(
        deployed["properties"]["provisioningState"], "Succeeded",
        "{deployed:#}"
    );
    let ran = place.sandbox(&["plan", "--detailed-exitcode"]);
    ran.exits(0, "nothing more to do");
    let again = place.sandbox(&["export"]).exits(0, "a template").json();
    let open = again["parameters"].as_object().expect("parameters");
    let open: Vec<&str> = open.keys().map(String::as_str).collect();
    assert_eq!(
        open,
        ["customData_fast", "customData_work"],
        "the key is known by now"
    );
    place
        .sandbox(&["destroy", "--yes"])
        .exits(0, "all of ours goes");
}

#[test]
fn a_password_is_a_parameter_and_never_in_the_template() {
    let place = Place::new(
        "version: 1
name: panes
location: eastus
pools:
  desk:
    stage: inference
    workload: small
    os: windows
    password: {from_env: DESK_PASSWORD}
",
    );
    let template = place.run(&["export", "--offline"]).exits(0, "a template");
    let template = template.json();
    assert_eq!(
        template["parameters"]["adminPassword"]["type"],
        "secureString"
    );
    let machines = template["resources"].as_array().expect("resources").iter();
    let mut passwords = machines
        .map(|resource| &resource["properties"]["osProfile"]["adminPassword"])
        .filter(|password| !password.is_null());
    assert_eq!(
        passwords.next(),
        Some(&json!("[parameters('adminPassword')]"))
    );
}
