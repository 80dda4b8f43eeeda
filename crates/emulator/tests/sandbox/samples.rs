//! Single recorded answers: the sandbox's have the same status, headers and members.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    replay::{HEADERS, fits},
    rig::{KEY, Rig, compute, disk, everywhere, machine, network, vm},
};

#[derive(Deserialize)]
struct File {
    samples: Vec<Sample>,
}

#[derive(Deserialize)]
struct Sample {
    name: String,
    status: u16,
    headers: Vec<String>,
    members: BTreeSet<String>,
}

/// The names of all members, as the samples are trimmed.
fn shape(value: &Value, path: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, value) in members {
                shape(value, &format!("{path}/{name}"), into);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for value in items {
                shape(value, &format!("{path}/*"), into);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)
        | Value::Array(_) => {
            into.insert(path.to_owned());
        }
    }
}

/// What differs: a pattern of samples, a pattern of members or headers, and why.
const EXPLAINED: [(&str, &str, &str); 12] = [
    (
        "compute_disks_GET_200",
        "/properties/diskAccessId",
        "a type not served",
    ),
    (
        "compute_virtualmachines*",
        "*/osProfile/linuxConfiguration/ssh/*",
        "signs in by a key, there by a password",
    ),
    (
        "compute_virtualmachines*",
        "*/networkInterfaces/*/properties/*",
        "brings its interface along, there it was made before",
    ),
    (
        "compute_virtualmachines*",
        "*/tags*",
        "has tags, there none",
    ),
    (
        "compute_virtualmachines*",
        "header retry-after",
        "the recorder drops it",
    ),
    (
        "*-versions_GET_200",
        "/properties/osDiskImage/sizeInGb",
        "recorded of another image",
    ),
    (
        "compute_locations-vmsizes_list_GET_200",
        "/value/*/resourceDiskSizeInMB",
        "not in the catalogue",
    ),
    (
        "compute_virtualmachines_PATCH_200",
        "/properties/hardwareProfile/vmSizeProperties/*",
        "set there",
    ),
    (
        "compute_virtualmachines_expand_GET_200",
        "/properties/instanceView/computerName",
        "there the guest has not reported yet",
    ),
    (
        "compute_virtualmachines_expand_GET_200",
        "/properties/instanceView/osName",
        "there the guest has not reported yet",
    ),
    (
        "compute_virtualmachines_expand_GET_200",
        "/properties/instanceView/vmAgent/*",
        "there the guest has not reported yet",
    ),
    (
        "network_virtualnetworks*",
        "*/ipConfigurations/*/id",
        "has a VM in it, there none",
    ),
];

/// A world in which every sample can be asked for.
async fn world() -> (Rig, String) {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    for (path, body) in [
        (
            disk("data"),
            json!({"location": "eastus", "sku": {"name": "Premium_LRS"}, "properties": {
                "creationData": {"createOption": "Empty"}, "diskSizeGB": 500,
            }}),
        ),
        (
            disk("gone"),
            json!({"location": "eastus", "properties": {
                "creationData": {"createOption": "Empty"}, "diskSizeGB": 4,
            }}),
        ),
        (
            network("networkSecurityGroups/guard"),
            json!({"location": "eastus"}),
        ),
        (
            network("publicIPAddresses/address"),
            json!({"location": "eastus", "sku": {"name": "Standard"}}),
        ),
        (vm("vm"), machine("Standard_D4s_v5", &subnet)),
    ] {
        let reply = rig.put(&path, body).await;
        assert!([201, 202].contains(&reply.status), "{}", reply.body);
        rig.pass(20);
    }
    rig.delete(&disk("gone")).await.expect(202);
    rig.pass(5);
    (rig, subnet)
}

/// The request that a sample answers.
fn request(name: &str, subnet: &str) -> (&'static str, String, Option<Value>) {
    let image = "locations/eastus/publishers/microsoft-dsvm";
    let skus = format!("{image}/artifacttypes/vmimage/offers/ubuntu-hpc/skus");
    let get = |rest: &str| {
        (
            "GET",
            everywhere("Microsoft.Compute", rest, "2024-07-01"),
            None,
        )
    };
    let key = |method: &'static str, rest: &str, body: Option<Value>| {
        (method, compute(&format!("sshPublicKeys/{rest}")), body)
    };
    match name {
        "compute_disks_GET_200" => ("GET", disk("data"), None),
        "compute_disks_GET_404" => ("GET", disk("gone"), None),
        "compute_locations-publishers_list_GET_200" => get("locations/eastus/publishers"),
        "compute_locations-publishers-artifacttypes-offers_list_GET_200" => {
            get(&format!("{image}/artifacttypes/vmimage/offers"))
        }
        "compute_locations-publishers-artifacttypes-offers-skus_list_GET_200" => get(&skus),
        "compute_locations-publishers-artifacttypes-offers-skus-versions_list_GET_200" => {
            get(&format!("{skus}/2204/versions?$top=1&$orderby=name%20desc"))
        }
        "compute_locations-publishers-artifacttypes-offers-skus-versions_list_expand_GET_200" => {
            get(&format!("{skus}/2204/versions?$expand=properties"))
        }
        "compute_locations-publishers-artifacttypes-offers-skus-versions_GET_200" => {
            get(&format!("{skus}/2204/versions/VERSION"))
        }
        "compute_locations-usages_list_GET_200" => get("locations/eastus/usages"),
        "compute_locations-vmsizes_list_GET_200" => get("locations/eastus/vmSizes"),
        "compute_sshpublickeys_PUT_201" => key("PUT", "k1", Some(json!({"location": "westus"}))),
        "compute_sshpublickeys-generatekeypair_POST_200" => {
            let body = json!({"encryptionType": "Ed25519"});
            key("POST", "k1/generateKeyPair", Some(body))
        }
        "compute_sshpublickeys_GET_200" => key("GET", "k1", None),
        "compute_sshpublickeys_list_GET_200" => get("sshPublicKeys"),
        "compute_sshpublickeys_PATCH_200" => key(
            "PATCH",
            "k1",
            Some(json!({"properties": {"publicKey": KEY}})),
        ),
        "compute_sshpublickeys_DELETE_200" => key("DELETE", "k1", None),
        "compute_virtualmachines_GET_200" => ("GET", vm("vm"), None),
        "compute_virtualmachines_expand_GET_200" => {
            ("GET", format!("{}&$expand=instanceView", vm("vm")), None)
        }
        "compute_virtualmachines_GET_404" => ("GET", vm("gone"), None),
        "compute_virtualmachines_list_GET_200" => ("GET", compute("virtualMachines"), None),
        "compute_virtualmachines_PATCH_200" => {
            let body = json!({
                "properties": {"osProfile": {"allowExtensionOperations": "false"}},
                "identity": {"type": "SystemAssigned"},
            });
            ("PATCH", vm("vm"), Some(body))
        }
        "compute_virtualmachines-deallocate_POST_202" => {
            ("POST", compute("virtualMachines/vm/deallocate"), None)
        }
        "compute_virtualmachines_DELETE_202" => ("DELETE", vm("vm"), None),
        "network_networksecuritygroups_GET_200" => {
            ("GET", network("networkSecurityGroups/guard"), None)
        }
        "network_publicipaddresses_GET_200" => ("GET", network("publicIPAddresses/address"), None),
        "network_virtualnetworks_GET_200" => ("GET", network("virtualNetworks/net"), None),
        "network_virtualnetworks-subnets_GET_200" => {
            ("GET", format!("{subnet}?api-version=2024-03-01"), None)
        }
        "network_virtualnetworks-subnets_GET_404" => {
            ("GET", network("virtualNetworks/gone/subnets/one"), None)
        }
        other => panic!("no request for {other}"),
    }
}

/// Samples in the order in which they can be had.
fn ordered(samples: &mut [Sample]) {
    let late = [
        "compute_locations-publishers-artifacttypes-offers-skus-versions_GET_200",
        "compute_sshpublickeys_PUT_201",
        "compute_sshpublickeys-generatekeypair_POST_200",
        "compute_sshpublickeys_GET_200",
        "compute_sshpublickeys_list_GET_200",
        "compute_sshpublickeys_PATCH_200",
        "compute_sshpublickeys_DELETE_200",
        "compute_virtualmachines_PATCH_200",
        "compute_virtualmachines-deallocate_POST_202",
        "compute_virtualmachines_DELETE_202",
    ];
    samples.sort_by_key(|sample| late.iter().position(|name| *name == sample.name));
}

#[tokio::test]
async fn single_answers_have_the_recorded_shape() {
    let (rig, subnet) = world().await;
    let file: File =
        serde_json::from_str(include_str!("../samples/samples.json")).expect("the samples");
    let mut samples = file.samples;
    ordered(&mut samples);
    let mut version = String::new();
    let mut used = BTreeSet::new();
    let mut differences = Vec::new();
    for sample in &samples {
        let (method, path, body) = request(&sample.name, &subnet);
        let reply = rig
            .send(method, &path.replace("VERSION", &version), body)
            .await;
        if sample.name.ends_with("versions_list_GET_200") {
            reply.text("/0/name").clone_into(&mut version);
        }
        let mut members = BTreeSet::new();
        if !reply.body.is_null() {
            shape(&reply.body, "", &mut members);
        }
        let mut found = Vec::new();
        if reply.status != sample.status {
            found.push(format!("status {} {}", reply.status, reply.body));
        }
        for header in HEADERS {
            if sample.headers.iter().any(|name| name == header)
                != reply.headers.contains_key(header)
            {
                found.push(format!("header {header}"));
            }
        }
        found.extend(sample.members.symmetric_difference(&members).cloned());
        for what in found {
            let reason = EXPLAINED
                .iter()
                .position(|(name, pattern, _)| fits(name, &sample.name) && fits(pattern, &what));
            match reason {
                Some(at) => {
                    used.insert(at);
                }
                None => differences.push(format!("{}: {what}", sample.name)),
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    for (at, (name, pattern, why)) in EXPLAINED.iter().enumerate() {
        assert!(
            used.contains(&at),
            "needless explanation: {name} {pattern} {why}"
        );
    }
}
