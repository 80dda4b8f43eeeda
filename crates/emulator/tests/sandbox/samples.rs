//! Single recorded answers: the sandbox's have the same status, headers and members.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    evidence,
    replay::{HEADERS, fits},
    rig::{KEY, Reply, Rig, compute, disk, everywhere, machine, network, vm},
};

#[derive(Deserialize)]
struct File {
    samples: Vec<Sample>,
}

/// The shape of a recorded answer.
#[derive(Deserialize)]
pub(crate) struct Sample {
    pub(crate) name: String,
    status: u16,
    headers: Vec<String>,
    members: BTreeSet<String>,
}

/// The samples of a file.
pub(crate) fn read(text: &str) -> Vec<Sample> {
    let file: File = serde_json::from_str(text).expect("the samples");
    file.samples
}

impl Sample {
    /// What an answer has otherwise than the recorded one.
    pub(crate) fn differences(&self, reply: &Reply) -> Vec<String> {
        let mut members = BTreeSet::new();
        if !reply.body.is_null() {
            shape(&reply.body, "", &mut members);
        }
        let mut found = Vec::new();
        if reply.status != self.status {
            found.push(format!("status {} {}", reply.status, reply.body));
        }
        for header in HEADERS {
            if self.headers.iter().any(|name| name == header) != reply.headers.contains_key(header)
            {
                found.push(format!("header {header}"));
            }
        }
        found.extend(self.members.symmetric_difference(&members).cloned());
        found
    }
}

/// Refuses differences that are not explained, and explanations that are not needed.
pub(crate) fn judge(
    samples: &[Sample],
    differences: &[(String, String)],
    explained: &[(&str, &str, &str)],
) {
    let mut used = BTreeSet::new();
    let mut left = Vec::new();
    let mut differing: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (sample, what) in differences {
        let reason = explained
            .iter()
            .position(|(name, pattern, _)| fits(name, sample) && fits(pattern, what));
        match reason.and_then(|at| explained.get(at).map(|(_, _, why)| (at, *why))) {
            Some((at, why)) => {
                used.insert(at);
                differing.entry(sample).or_default().insert(why.to_owned());
            }
            None => left.push(format!("{sample}: {what}")),
        }
    }
    assert!(left.is_empty(), "{}", left.join("\n"));
    for (at, (name, pattern, why)) in explained.iter().enumerate() {
        assert!(
            used.contains(&at),
            "needless explanation: {name} {pattern} {why}"
        );
    }
    for sample in samples {
        let whys = differing.remove(sample.name.as_str());
        let whys = whys
            .map(|whys| ("0".to_owned(), whys))
            .into_iter()
            .collect();
        evidence::told("sample", &sample.name, 1, &whys);
    }
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
const EXPLAINED: [(&str, &str, &str); 11] = [
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

/// A request: method, path and body.
type Request = (&'static str, String, Option<Value>);

/// The request that a sample answers.
fn request(name: &str, subnet: &str) -> Request {
    if let Some(rest) = name.strip_prefix("compute_locations-") {
        return location_request(rest);
    }
    if let Some(rest) = name.strip_prefix("compute_sshpublickeys") {
        return key_request(rest);
    }
    if let Some(rest) = name.strip_prefix("compute_virtualmachines") {
        return machine_request(rest);
    }
    let path = match name {
        "compute_disks_GET_200" => disk("data"),
        "compute_disks_GET_404" => disk("gone"),
        "network_networksecuritygroups_GET_200" => network("networkSecurityGroups/guard"),
        "network_publicipaddresses_GET_200" => network("publicIPAddresses/address"),
        "network_networksecuritygroups_GET_404" => network("networkSecurityGroups/gone"),
        "network_publicipaddresses_GET_404" => network("publicIPAddresses/gone"),
        "network_virtualnetworks_GET_404" => network("virtualNetworks/gone"),
        "network_virtualnetworks_GET_200" => network("virtualNetworks/net"),
        "network_virtualnetworks-subnets_GET_200" => format!("{subnet}?api-version=2024-03-01"),
        "network_virtualnetworks-subnets_GET_404" => network("virtualNetworks/gone/subnets/one"),
        other => panic!("no request for {other}"),
    };
    ("GET", path, None)
}

fn location_request(rest: &str) -> Request {
    let offers = "publishers/microsoft-dsvm/artifacttypes/vmimage/offers";
    let below = match rest {
        "usages_list_GET_200" => "usages".to_owned(),
        "vmsizes_list_GET_200" => "vmSizes".to_owned(),
        "publishers_list_GET_200" => "publishers".to_owned(),
        "publishers-artifacttypes-offers_list_GET_200" => offers.to_owned(),
        "publishers-artifacttypes-offers-skus_list_GET_200" => format!("{offers}/ubuntu-hpc/skus"),
        other => {
            let versions = format!("{offers}/ubuntu-hpc/skus/2204/versions");
            match other.rsplit_once("-versions_").map(|(_, end)| end) {
                Some("list_GET_200") => format!("{versions}?$top=1&$orderby=name%20desc"),
                Some("list_expand_GET_200") => format!("{versions}?$expand=properties"),
                Some("GET_200") => format!("{versions}/VERSION"),
                Some(_) | None => panic!("no request for {other}"),
            }
        }
    };
    let path = everywhere(
        "Microsoft.Compute",
        &format!("locations/eastus/{below}"),
        "2024-07-01",
    );
    ("GET", path, None)
}

fn key_request(rest: &str) -> Request {
    let key = compute("sshPublicKeys/k1");
    match rest {
        "_PUT_201" => ("PUT", key, Some(json!({"location": "westus"}))),
        "-generatekeypair_POST_200" => {
            let path = compute("sshPublicKeys/k1/generateKeyPair");
            ("POST", path, Some(json!({"encryptionType": "Ed25519"})))
        }
        "_GET_200" => ("GET", key, None),
        "_list_GET_200" => {
            let path = everywhere("Microsoft.Compute", "sshPublicKeys", "2024-07-01");
            ("GET", path, None)
        }
        "_PATCH_200" => {
            let body = json!({"properties": {"publicKey": KEY}});
            ("PATCH", key, Some(body))
        }
        "_DELETE_200" => ("DELETE", key, None),
        other => panic!("no request for {other}"),
    }
}

fn machine_request(rest: &str) -> Request {
    match rest {
        "_GET_200" => ("GET", vm("vm"), None),
        "_expand_GET_200" => ("GET", format!("{}&$expand=instanceView", vm("vm")), None),
        "_GET_404" => ("GET", vm("gone"), None),
        "_list_GET_200" => ("GET", compute("virtualMachines"), None),
        "_PATCH_200" => {
            let body = json!({
                "properties": {"osProfile": {"allowExtensionOperations": "false"}},
                "identity": {"type": "SystemAssigned"},
            });
            ("PATCH", vm("vm"), Some(body))
        }
        "-deallocate_POST_202" => ("POST", compute("virtualMachines/vm/deallocate"), None),
        "_DELETE_202" => ("DELETE", vm("vm"), None),
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
    let mut samples = read(include_str!("../samples/samples.json"));
    ordered(&mut samples);
    let mut version = String::new();
    let mut differences = Vec::new();
    for sample in &samples {
        let (method, path, body) = request(&sample.name, &subnet);
        let reply = rig
            .send(method, &path.replace("VERSION", &version), body)
            .await;
        if sample.name.ends_with("versions_list_GET_200") {
            reply.text("/0/name").clone_into(&mut version);
        }
        let found = sample.differences(&reply);
        differences.extend(found.into_iter().map(|what| (sample.name.clone(), what)));
    }
    judge(&samples, &differences, &EXPLAINED);
}
