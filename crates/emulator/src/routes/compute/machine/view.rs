//! How a VM shows itself.

use serde_json::{Value, json};

use crate::{
    call::Call,
    json::{default, items, set, text},
    routes::common,
    store::entry::{Machine, Power, Resource},
};

/// A VM as its GET shows it, without the instance view.
pub(crate) fn show(call: &Call<'_>, resource: &Resource) -> Value {
    let mut shown = common::base(resource);
    // Recorded from 2024-07-01 on, and declared since 2024-03-01.
    if call.since("2024-03-01") {
        set(&mut shown, "/etag", json!(format!("\"{}\"", resource.etag)));
    }
    let linux = "/properties/osProfile/linuxConfiguration";
    if !call.since("2024-07-01") && shown.pointer(linux).is_some() {
        // Recorded at 2022-03-01, and no more at 2024-07-01.
        default(
            &mut shown,
            &format!("{linux}/enableVMAgentPlatformUpdates"),
            false,
        );
    }
    let deallocated = resource
        .hidden
        .machine
        .as_ref()
        .is_some_and(|machine| machine.power == Some(Power::Deallocated));
    if deallocated {
        // Recorded: a deallocated VM does not show its OS disk's kind and size.
        let disk = "/properties/storageProfile/osDisk";
        crate::json::remove(
            &mut shown,
            &format!("{disk}/managedDisk/storageAccountType"),
        );
        crate::json::remove(&mut shown, &format!("{disk}/diskSizeGB"));
    }
    shown
}

/// A VM as the list of states shows it.
pub(crate) fn status(call: &Call<'_>, resource: &Resource) -> Value {
    let full = show(call, resource);
    let mut shown = json!({
        "name": resource.name(),
        "id": resource.id.as_str(),
        "type": resource.kind,
        "location": resource.location,
        "properties": {
            "vmId": text(&full, "/properties/vmId"),
            "provisioningState": resource.state(),
            "timeCreated": text(&full, "/properties/timeCreated"),
            "instanceView": instance(resource),
        },
    });
    if let Some(etag) = full.get("etag") {
        set(&mut shown, "/etag", etag.clone());
    }
    shown
}

/// The instance view of a VM.
pub(crate) fn instance(resource: &Resource) -> Value {
    let Some(machine) = &resource.hidden.machine else {
        return json!({"statuses": []});
    };
    let body = &resource.body;
    let since = machine.since.precise();
    let mut names: Vec<&str> = Vec::new();
    names.extend(text(body, "/properties/storageProfile/osDisk/name"));
    names.extend(
        items(body, "/properties/storageProfile/dataDisks")
            .iter()
            .filter_map(|disk| text(disk, "/name")),
    );
    let disks: Vec<Value> = names
        .into_iter()
        .map(|name| {
            json!({
                "name": name,
                "statuses": [{
                    "code": "ProvisioningState/succeeded",
                    "level": "Info",
                    "displayStatus": "Provisioning succeeded",
                    "time": since,
                }],
            })
        })
        .collect();
    let mut view = json!({
        "disks": disks,
        "hyperVGeneration": format!("V{}", machine.image.generation),
        "statuses": statuses(resource, machine),
    });
    // Recorded: what the guest last said is still shown of a stopped VM.
    if matches!(machine.power, Some(Power::Running | Power::Stopped)) {
        guest(&mut view, body, machine);
    }
    view
}

/// What the guest reports while it runs, apart from the version of its system, which the
/// catalogue does not know.
fn guest(view: &mut Value, body: &Value, machine: &Machine) {
    let silent = machine
        .failure
        .as_ref()
        .is_some_and(|failure| failure.code == "VMAgentStatusCommunicationError");
    let time = machine.since.plain();
    if silent {
        set(
            view,
            "/vmAgent",
            json!({
                "vmAgentVersion": "Unknown",
                "statuses": [{
                    "code": "ProvisioningState/Unavailable",
                    "level": "Warning",
                    "displayStatus": "Not Ready",
                    "message": "VM status blob is found but not yet populated.",
                    "time": time,
                }],
            }),
        );
        return;
    }
    if let Some(name) = text(body, "/properties/osProfile/computerName") {
        set(view, "/computerName", json!(name));
    }
    if let Some(name) = os_name(machine) {
        set(view, "/osName", json!(name));
    }
    set(
        view,
        "/vmAgent",
        json!({
            "vmAgentVersion": "2.11.1.12",
            "statuses": [{
                "code": "ProvisioningState/succeeded",
                "level": "Info",
                "displayStatus": "Ready",
                "message": "Guest Agent is running",
                "time": time,
            }],
            "extensionHandlers": [],
        }),
    );
}

fn os_name(machine: &Machine) -> Option<&'static str> {
    let offer = machine.image.offer.to_lowercase();
    ["ubuntu", "almalinux", "azurelinux"]
        .into_iter()
        .find(|name| offer.contains(name))
}

fn statuses(resource: &Resource, machine: &Machine) -> Vec<Value> {
    let time = machine.since.precise();
    let provisioning = match (resource.state(), &machine.failure) {
        ("Failed", Some(failure)) => json!({
            "code": format!("ProvisioningState/failed/{}", failure.code),
            "level": "Error",
            "displayStatus": "Provisioning failed",
            "message": failure.message,
            "time": time,
        }),
        (state, _) => {
            let display = match state {
                "Succeeded" => "Provisioning succeeded",
                other => other,
            };
            json!({
                "code": format!("ProvisioningState/{}", state.to_lowercase()),
                "level": "Info",
                "displayStatus": display,
                "time": time,
            })
        }
    };
    let mut statuses = vec![provisioning];
    if machine.generalized {
        statuses.push(json!({
            "code": "OSState/generalized",
            "level": "Info",
            "displayStatus": "VM generalized",
        }));
    }
    if let Some(power) = machine.power {
        let power = power.as_str();
        statuses.push(json!({
            "code": format!("PowerState/{power}"),
            "level": "Info",
            "displayStatus": format!("VM {power}"),
        }));
    }
    statuses
}
