//! What a thousand VMs cost the sandbox, single ones and those of a Flexible scale set, and ten
//! thousand instances of Uniform ones: `cargo bench -p tensorform-emulator --bench sandbox`.

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod client;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tensorform_emulator::SUBSCRIPTION;

use self::client::{Client, in_group, lay_ground, machine, start, world};

const MACHINES: usize = 1_000;
const READS: usize = 200;

/// Sends the same request often and prints the median and the slowest.
async fn measure(client: &mut Client, name: &str, path: &str) {
    let mut times = Vec::new();
    for _ in 0..READS {
        let begun = Instant::now();
        client.send("GET", path, None).await;
        times.push(begun.elapsed());
    }
    times.sort();
    let at = |place: usize| times.get(place).copied().unwrap_or(Duration::ZERO);
    println!(
        "{name}: median {:?}, slowest {:?}",
        at(READS / 2),
        at(READS - 1)
    );
}

/// The memory that this process has, as Linux tells it.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.unwrap_or("VmRSS: not known here").to_owned()
}

/// Sets of a thousand instances each.
const SETS: usize = 10;

/// A Uniform set of VMs like those.
fn scale_set(capacity: usize) -> Value {
    let mut body = machine();
    let profile = body.get("properties").cloned().unwrap_or_default();
    let mut profile = profile;
    if let Some(members) = profile.as_object_mut() {
        members.remove("hardwareProfile");
        if let Some(disk) = members
            .get_mut("storageProfile")
            .and_then(|storage| storage.get_mut("osDisk"))
            .and_then(Value::as_object_mut)
        {
            disk.remove("deleteOption");
        }
        if let Some(nic) = members
            .get_mut("networkProfile")
            .and_then(|network| network.pointer_mut("/networkInterfaceConfigurations/0/properties"))
            .and_then(Value::as_object_mut)
        {
            nic.remove("deleteOption");
        }
    }
    if let Some(members) = body.as_object_mut() {
        members.insert(
            "sku".to_owned(),
            json!({"name": "Standard_D2s_v5", "capacity": capacity}),
        );
        members.insert(
            "properties".to_owned(),
            json!({
                "upgradePolicy": {"mode": "Manual"},
                "overprovision": false,
                "singlePlacementGroup": false,
                "virtualMachineProfile": profile,
            }),
        );
    }
    body
}

fn set_path(at: usize, rest: &str) -> String {
    in_group(
        &format!("/providers/Microsoft.Compute/virtualMachineScaleSets/set{at}{rest}"),
        "2024-07-01",
    )
}

/// Ten thousand instances, in sets of a thousand.
async fn run_sets(folder: &Path) {
    let (sandbox, mut client) = start(folder).await;
    let network = in_group(
        "/providers/Microsoft.Network/virtualNetworks/net",
        "2024-03-01",
    );
    lay_ground(&mut client, &network).await;
    println!("before: {}", memory());
    let begun = Instant::now();
    for at in 0..SETS {
        let path = set_path(at, "");
        client.send("PUT", &path, Some(scale_set(1_000))).await;
    }
    println!("{SETS} sets of 1,000 instances made: {:?}", begun.elapsed());
    println!("with 10,000 instances: {}", memory());
    for (name, path) in [
        ("a page of instances", set_path(5, "/virtualMachines")),
        ("one instance", set_path(5, "/virtualMachines/500")),
        ("the view of a set", set_path(5, "/instanceView")),
        ("one set", set_path(5, "")),
    ] {
        measure(&mut client, name, &path).await;
    }
    let begun = Instant::now();
    let mut next = Some(set_path(0, "/virtualMachines"));
    let mut seen = 0;
    while let Some(path) = next {
        let page = client.send("GET", &path, None).await;
        seen += page
            .get("value")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        next = page
            .get("nextLink")
            .and_then(Value::as_str)
            .map(|link| link.replace(&format!("http://{}", client.host), ""));
    }
    println!("{seen} instances listed: {:?}", begun.elapsed());
    let begun = Instant::now();
    for at in 0..SETS {
        client
            .send("POST", &set_path(at, "/deallocate"), None)
            .await;
    }
    println!("all deallocated: {:?}", begun.elapsed());
    let begun = Instant::now();
    for at in 0..100 {
        let path = set_path(3, &format!("/virtualMachines/{at}/start"));
        client.send("POST", &path, None).await;
    }
    println!(
        "100 instances of a set started one by one: {:?}",
        begun.elapsed()
    );
    sandbox.stop().await.expect("a clean stop");
}

/// What a folder takes on disk, and how long it takes to open.
fn reopen(folder: &Path) {
    let snapshot = folder.join("world.jsonl");
    let size = std::fs::metadata(snapshot).map_or(0, |file| file.len());
    println!("snapshot: {} KiB", size / 1024);
    let begun = Instant::now();
    drop(world(folder));
    println!("opening the world: {:?}", begun.elapsed());
}

async fn run(folder: &Path) {
    let (sandbox, mut client) = start(folder).await;
    let network = in_group(
        "/providers/Microsoft.Network/virtualNetworks/net",
        "2024-03-01",
    );
    lay_ground(&mut client, &network).await;
    println!("before: {}", memory());
    let begun = Instant::now();
    for at in 0..MACHINES {
        let name = format!("/providers/Microsoft.Compute/virtualMachines/vm{at:04}");
        let path = in_group(&name, "2024-07-01");
        client.send("PUT", &path, Some(machine())).await;
    }
    let took = begun.elapsed();
    println!("{MACHINES} VMs made one after the other: {took:?}");
    println!("with {MACHINES} VMs: {}", memory());
    let vms = format!("/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Compute/virtualMachines");
    let resources = format!("/subscriptions/{SUBSCRIPTION}/resources?api-version=2021-04-01");
    let tag = "$filter=tagName%20eq%20'cluster'%20and%20tagValue%20eq%20'bench'";
    let one = in_group(
        "/providers/Microsoft.Compute/virtualMachines/vm0500",
        "2024-07-01",
    );
    for (name, path) in [
        ("a page of VMs", format!("{vms}?api-version=2024-07-01")),
        (
            "a page of states",
            format!("{vms}?statusOnly=true&api-version=2024-07-01"),
        ),
        ("a page of 1000 resources", resources.clone()),
        ("the same by tag", format!("{resources}&{tag}")),
        ("one VM", one),
        ("the network", network),
    ] {
        measure(&mut client, name, &path).await;
    }
    sandbox.stop().await.expect("a clean stop");
}

/// A Flexible set of a thousand VMs.
async fn run_flexible(folder: &Path) {
    let (sandbox, mut client) = start(folder).await;
    let network = in_group(
        "/providers/Microsoft.Network/virtualNetworks/net",
        "2024-03-01",
    );
    lay_ground(&mut client, &network).await;
    println!("before: {}", memory());
    let mut body = scale_set(MACHINES);
    let profile = body.pointer("/properties/virtualMachineProfile").cloned();
    if let Some(members) = body.as_object_mut() {
        let properties = json!({
            "orchestrationMode": "Flexible",
            "platformFaultDomainCount": 1,
            "virtualMachineProfile": profile,
        });
        members.insert("properties".to_owned(), properties);
    }
    let set = set_path(0, "");
    let begun = Instant::now();
    client.send("PUT", &set, Some(body)).await;
    println!("a set of {MACHINES} VMs accepted: {:?}", begun.elapsed());
    let ready = Some(json!("Succeeded"));
    while client
        .send("GET", &set, None)
        .await
        .pointer("/properties/provisioningState")
        .cloned()
        != ready
    {}
    println!("all of them there: {:?}", begun.elapsed());
    println!("with {MACHINES} VMs: {}", memory());
    for (name, path) in [
        ("a page of instances", set_path(0, "/virtualMachines")),
        ("the view of the set", set_path(0, "/instanceView")),
        ("the set", set),
    ] {
        measure(&mut client, name, &path).await;
    }
    let begun = Instant::now();
    client.send("POST", &set_path(0, "/deallocate"), None).await;
    println!("all deallocated: {:?}", begun.elapsed());
    sandbox.stop().await.expect("a clean stop");
}

/// Each in a process of its own, which shows what it takes.
const PARTS: [&str; 3] = ["single", "flexible", "uniform"];

fn main() {
    let asked = std::env::args().find(|arg| PARTS.contains(&arg.as_str()));
    let Some(part) = asked else {
        let this = std::env::current_exe().expect("a program");
        for part in PARTS {
            println!("\n{part}");
            let ran = std::process::Command::new(&this).arg(part).status();
            assert!(ran.expect("a process").success(), "{part}");
        }
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    match part.as_str() {
        "uniform" => runtime.block_on(run_sets(folder.path())),
        "flexible" => runtime.block_on(run_flexible(folder.path())),
        _ => runtime.block_on(run(folder.path())),
    }
    reopen(folder.path());
}
