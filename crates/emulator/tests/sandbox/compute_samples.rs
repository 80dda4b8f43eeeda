//! Single recorded answers about what stands around VMs.

use serde_json::{Value, json};

use crate::{
    compute_world::{flexible_set, world},
    rig::{compute, disk, everywhere, id, machine, set, vm},
    samples::{judge, read},
    scale_sets::{scale_set, uniform},
};

/// What differs: a pattern of samples, a pattern of members or headers, and why.
const EXPLAINED: &[(&str, &str, &str)] = &[
    ("*", "header retry-after", "the recorder drops it"),
    (
        "compute_disks_PUT_202",
        "/properties/*Access*",
        "names a disk access, a type not served",
    ),
    (
        "*_expand_GET_200",
        "*/instanceView/disks/*/encryptionSettings/*",
        "disks are encrypted there",
    ),
    (
        "*_expand_GET_200",
        "*/instanceView/*xtension*",
        "an extension encrypts the disks there",
    ),
    (
        "*_expand_GET_200",
        "*/instanceView/osVersion",
        "the catalogue does not know it",
    ),
    (
        "compute_virtualmachines-extensions_expand_GET_200",
        "/properties/*",
        "given there, or settings given here",
    ),
    (
        "compute_availabilitysets_*GET_200",
        "*/proximityPlacementGroup/id",
        "is in a group, there in none",
    ),
    ("*", "*/tags*", "other tags there, or none"),
    (
        "compute_proximityplacementgroups_list_GET_200",
        "/value/*",
        "one has an intent and a zone, one has members",
    ),
    (
        "compute_virtualmachines_PUT_200",
        "/properties/*",
        "another VM: with Trusted Launch, without boot diagnostics, its interface made before",
    ),
    (
        "compute_virtualmachines_PUT_200",
        "header azure-async*",
        "one of the seven recorded updates without their operation",
    ),
    (
        "*",
        "*/networkInterfaceConfigurations/*/networkSecurityGroup/id",
        "in a security group there",
    ),
    (
        "*",
        "*/linuxConfiguration/ssh/publicKeys/*",
        "signs in by a key, there by a password",
    ),
    (
        "*",
        "*/ipConfigurations/*/properties/application*",
        "empty lists were given there",
    ),
    (
        "*",
        "*/loadBalancerBackendAddressPools/*",
        "behind a load balancer there",
    ),
    (
        "*",
        "*/storageProfile/diskControllerType",
        "an image of the other generation there",
    ),
];

/// A request: method, path, body, and the seconds that pass behind it.
type Step = (&'static str, String, Option<Value>, u64);

fn snapshot(name: &str) -> String {
    compute(&format!("snapshots/{name}")).replace("2024-07-01", "2024-03-02")
}

fn step(name: &str, subnet: &str) -> Step {
    let rest = name.trim_start_matches("compute_");
    let found = if rest.starts_with("virtualmachinescalesets-virtualmachines") {
        instance_step(rest)
    } else if rest.starts_with("virtualmachinescalesets") {
        set_step(rest, subnet)
    } else if rest.starts_with("virtualmachines") {
        machine_step(rest, subnet)
    } else {
        other_step(rest)
    };
    found.unwrap_or_else(|| panic!("no request for {name}"))
}

fn set_step(rest: &str, subnet: &str) -> Option<Step> {
    let action = |name: &str, body: Value| -> Option<Step> {
        Some(("POST", scale_set(&format!("pool/{name}")), Some(body), 130))
    };
    let all = || json!({"instanceIds": ["*"]});
    match rest.trim_start_matches("virtualmachinescalesets") {
        "-deallocate_POST_202" => action("deallocate", json!({})),
        "-delete_POST_202" => action("delete", json!({"instanceIds": ["5", "6"]})),
        "-instanceview_list_GET_200" => Some(("GET", scale_set("pool/instanceView"), None, 0)),
        "-manualupgrade_POST_202" => action("manualupgrade", all()),
        "-poweroff_POST_202" => action("poweroff", all()),
        "-reimage_POST_202" => Some(("POST", scale_set("pool/reimage"), None, 130)),
        "-reimageall_POST_202" => action("reimageall", json!({"instanceIds": ["0"]})),
        "-restart_POST_202" => action("restart", all()),
        "-setorchestrationservicestate_POST_202" => action(
            "setOrchestrationServiceState",
            json!({"serviceName": "AutomaticRepairs", "action": "Resume"}),
        ),
        "-start_POST_202" => action("start", all()),
        "_GET_200" => Some(("GET", scale_set("plain"), None, 0)),
        "_GET_404" => Some(("GET", scale_set("none"), None, 0)),
        "_expand_GET_200" => Some((
            "GET",
            format!("{}&$expand=userData", scale_set("user")),
            None,
            0,
        )),
        "_PATCH_200" => {
            let body = json!({"identity": {"type": "SystemAssigned"}});
            Some(("PATCH", scale_set("pool"), Some(body), 10))
        }
        "_PUT_200" => {
            let mut body = flexible_set(subnet);
            set(&mut body, "/tags", json!({}));
            Some(("PUT", scale_set("flex"), Some(body), 30))
        }
        "_PUT_400" => {
            let mut body = uniform("Standard_DS1_v2", subnet, 2);
            let profile = "/properties/virtualMachineProfile";
            set(
                &mut body,
                &format!("{profile}/storageProfile/imageReference"),
                json!({"id": id(&compute("images/made"))}),
            );
            set(
                &mut body,
                &format!("{profile}/securityProfile"),
                json!({"securityType": "TrustedLaunch"}),
            );
            Some(("PUT", scale_set("refused"), Some(body), 0))
        }
        _ => None,
    }
}

fn instance_step(rest: &str) -> Option<Step> {
    let get = |path: String| -> Option<Step> { Some(("GET", path, None, 0)) };
    match rest.trim_start_matches("virtualmachinescalesets-virtualmachines") {
        "-deallocate_POST_202" => {
            let path = scale_set("user/virtualMachines/%2A/deallocate");
            Some(("POST", path, None, 0))
        }
        "-instanceview_list_GET_200" => get(scale_set("spot/virtualMachines/0/instanceView")),
        "-instanceview_list_GET_404" => get(scale_set("spot/virtualMachines/7/instanceView")),
        "_GET_200" => get(scale_set("data/virtualMachines/0")),
        "_expand_GET_200" => get(format!(
            "{}&$expand=userData",
            scale_set("user/virtualMachines/0")
        )),
        "_list_expand_GET_200" => get(format!(
            "{}&$select=instanceView&$expand=instanceView",
            scale_set("pool/virtualMachines")
        )),
        "_PUT_200" => {
            let body = json!({"location": "eastus", "tags": {}, "properties": {
                "userData": "bmV3", "protectionPolicy": {},
            }});
            Some(("PUT", scale_set("user/virtualMachines/0"), Some(body), 10))
        }
        _ => None,
    }
}

fn machine_step(rest: &str, subnet: &str) -> Option<Step> {
    let post = |action: &str, seconds: u64| -> Option<Step> {
        let path = compute(&format!("virtualMachines/kept/{action}"));
        Some(("POST", path, None, seconds))
    };
    let extension = |name: &str| compute(&format!("virtualMachines/kept/extensions/{name}"));
    match rest.trim_start_matches("virtualmachines") {
        "-generalize_POST_200" => Some((
            "POST",
            compute("virtualMachines/golden/generalize"),
            None,
            0,
        )),
        "-poweroff_POST_202" => post("powerOff", 10),
        "-redeploy_POST_202" => post("redeploy", 130),
        "-restart_POST_202" => post("restart", 40),
        "-retrievebootdiagnosticsdata_POST_200" => post("retrieveBootDiagnosticsData", 0),
        "-extensions_DELETE_202" => Some(("DELETE", extension("watch"), None, 20)),
        "-extensions_GET_200" => Some(("GET", extension("watch"), None, 0)),
        "-extensions_expand_GET_200" => Some((
            "GET",
            format!("{}&$expand=instanceView", extension("access")),
            None,
            0,
        )),
        "-extensions_PUT_201" => {
            let body = json!({"location": "eastus", "properties": {
                "publisher": "Microsoft.Azure.NetworkWatcher", "type": "NetworkWatcherAgentLinux",
                "typeHandlerVersion": "1.4", "autoUpgradeMinorVersion": true,
            }});
            Some(("PUT", extension("watch"), Some(body), 21))
        }
        "-extensions_PUT_200" => {
            let body = json!({"location": "eastus", "properties": {
                "publisher": "Microsoft.OSTCExtensions", "type": "VMAccessForLinux",
                "typeHandlerVersion": "1.5", "settings": {},
                "protectedSettings": {"remove_user": "foouser1"},
            }});
            Some(("PUT", extension("access"), Some(body), 21))
        }
        "_PUT_200" => {
            let mut body = machine("Standard_D4s_v5", subnet);
            let properties = body.get_mut("properties").and_then(Value::as_object_mut);
            properties.expect("properties").remove("networkProfile");
            Some(("PUT", vm("kept"), Some(body), 10))
        }
        _ => None,
    }
}

fn other_step(rest: &str) -> Option<Step> {
    let get = |path: String| -> Option<Step> { Some(("GET", path, None, 0)) };
    let put = |path: String, body: Value| -> Option<Step> { Some(("PUT", path, Some(body), 10)) };
    let pair = compute("availabilitySets/pair");
    let kept = compute("capacityReservationGroups/kept");
    let places = compute("capacityReservationGroups/kept/capacityReservations/places");
    let image = compute("images/made");
    match rest {
        "availabilitysets_GET_200" => get(pair),
        "availabilitysets_PUT_200" => put(
            pair,
            json!({
                "location": "eastus", "tags": {}, "sku": {"name": "Aligned"},
                "properties": {
                    "platformUpdateDomainCount": 5, "platformFaultDomainCount": 2,
                    "virtualMachines": [],
                    "proximityPlacementGroup": {"id": id(&compute("proximityPlacementGroups/plain"))},
                },
            }),
        ),
        "availabilitysets_list_GET_200" => get(compute("availabilitySets")),
        "availabilitysets_list_expand_GET_200" => get(everywhere(
            "Microsoft.Compute",
            "availabilitySets?$expand=virtualMachines%2F%24ref",
            "2024-07-01",
        )),
        "capacityreservationgroups_PUT_201" => put(
            kept,
            json!({"location": "eastus", "tags": {"key": "val"}, "zones": ["1", "2"]}),
        ),
        "capacityreservationgroups-capacityreservations_PUT_201" => put(
            places,
            json!({
                "location": "eastus", "tags": {"key": "val"}, "zones": ["1"],
                "sku": {"name": "Standard_D4s_v5", "capacity": 5},
            }),
        ),
        "capacityreservationgroups-capacityreservations_GET_200" => get(places),
        "images_PUT_201" | "images_PUT_200" => put(
            image,
            json!({"location": "eastus", "tags": {}, "properties": {
                "sourceVirtualMachine": {"id": id(&vm("golden"))}, "hyperVGeneration": "V2",
            }}),
        ),
        "images_GET_200" => get(image),
        _ if rest.starts_with("proximity") => group_step(rest),
        _ => disk_step(rest),
    }
}

fn group_step(rest: &str) -> Option<Step> {
    let get = |path: String| -> Option<Step> { Some(("GET", path, None, 0)) };
    let put = |path: String, body: Value| -> Option<Step> { Some(("PUT", path, Some(body), 10)) };
    let near = compute("proximityPlacementGroups/near");
    match rest {
        "proximityplacementgroups_GET_200" => get(near),
        "proximityplacementgroups_PUT_200" => put(
            near,
            json!({
                "location": "eastus", "tags": {"tag": "test"}, "zones": ["2"],
                "properties": {
                    "proximityPlacementGroupType": "Standard",
                    "intent": {"vmSizes": ["Standard_E64s_v4"]},
                },
            }),
        ),
        "proximityplacementgroups_PUT_201" => put(
            compute("proximityPlacementGroups/new"),
            json!({"location": "eastus", "tags": {}}),
        ),
        "proximityplacementgroups_list_GET_200" => get(compute("proximityPlacementGroups")),
        _ => None,
    }
}

fn disk_step(rest: &str) -> Option<Step> {
    let gone = |path: &str| path.replace("/rg/", "/gone/");
    let empty = || {
        Some(json!({"location": "eastus", "properties": {
            "creationData": {"createOption": "Empty"}, "diskSizeGB": 32,
        }}))
    };
    let found: Step = match rest {
        "snapshots_PUT_202" => ("PUT", snapshot("kept"), empty(), 5),
        "snapshots_GET_200" | "snapshots_GET_404" => ("GET", snapshot("kept"), None, 0),
        "snapshots_DELETE_202" => ("DELETE", snapshot("kept"), None, 5),
        "snapshots_DELETE_404" => ("DELETE", gone(&snapshot("kept")), None, 0),
        "disks_PUT_202" => {
            let body = json!({"location": "eastus", "sku": {"name": "Premium_LRS"}, "properties": {
                "creationData": {"createOption": "Empty"}, "diskSizeGB": 500,
            }});
            ("PUT", disk("data"), Some(body), 5)
        }
        "disks_DELETE_202" => ("DELETE", disk("data"), None, 5),
        "disks_DELETE_404" => ("DELETE", gone(&disk("data")), None, 0),
        _ => return None,
    };
    Some(found)
}

/// Samples that must come before all others, in this order; then those in between, in the order
/// of their names; then these, in this order.
const FIRST: [&str; 13] = [
    "compute_availabilitysets_PUT_200",
    "compute_capacityreservationgroups_PUT_201",
    "compute_capacityreservationgroups-capacityreservations_PUT_201",
    "compute_virtualmachines-generalize_POST_200",
    "compute_images_PUT_201",
    "compute_snapshots_PUT_202",
    "compute_snapshots_GET_200",
    "compute_snapshots_DELETE_202",
    "compute_snapshots_GET_404",
    "compute_disks_PUT_202",
    "compute_virtualmachines-extensions_PUT_201",
    "compute_virtualmachines-extensions_PUT_200",
    "compute_virtualmachinescalesets-virtualmachines_list_expand_GET_200",
];
const LAST: [&str; 4] = [
    "compute_virtualmachines-extensions_DELETE_202",
    "compute_virtualmachinescalesets-virtualmachines-deallocate_POST_202",
    "compute_virtualmachinescalesets-deallocate_POST_202",
    "compute_virtualmachinescalesets-delete_POST_202",
];

#[tokio::test]
async fn answers_around_vms_have_the_recorded_shape() {
    let (rig, subnet) = world().await;
    // Recorded of an extension that was there, and a set without it.
    let (method, path, body, _) = step("compute_virtualmachines-extensions_PUT_200", &subnet);
    rig.send(method, &path, body).await.expect(201);
    rig.pass(21);
    let mut samples = read(include_str!("../samples/compute.json"));
    samples.sort_by_key(|sample| {
        let place = |names: &[&str]| names.iter().position(|name| *name == sample.name);
        match (place(&FIRST), place(&LAST)) {
            (Some(at), _) => (0, at),
            (None, Some(at)) => (2, at),
            (None, None) => (1, 0),
        }
    });
    let mut differences = Vec::new();
    for sample in &samples {
        let (method, path, body, seconds) = step(&sample.name, &subnet);
        let reply = rig.send(method, &path, body).await;
        rig.pass(seconds);
        let found = sample.differences(&reply);
        differences.extend(found.into_iter().map(|what| (sample.name.clone(), what)));
    }
    judge(&samples, &differences, EXPLAINED);
}
