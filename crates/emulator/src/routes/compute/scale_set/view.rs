//! How a scale set shows itself.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{is_flexible, profile};
use crate::{
    call::Call,
    json::{default, items, remove, set},
    routes::common,
    store::{entry::Resource, world::World},
};

/// A set as its GET shows it.
pub(crate) fn show(call: &Call<'_>, resource: &Resource) -> Value {
    let mut shown = common::base(resource);
    // Recorded from 2023-09-01 on, not at 2022-03-01.
    if call.since("2023-09-01") {
        set(&mut shown, "/etag", json!(format!("\"{}\"", resource.etag)));
    } else {
        older(&mut shown);
    }
    if !call.since("2024-07-01") {
        remove(&mut shown, "/properties/constrainedMaximumCapacity");
    }
    shown
}

/// Recorded at 2022-03-01: what profiles show of themselves by default.
fn older(shown: &mut Value) {
    let place = profile::PLACE;
    let linux = format!("{place}/osProfile/linuxConfiguration");
    if shown.pointer(&linux).is_some() {
        default(
            shown,
            &format!("{linux}/enableVMAgentPlatformUpdates"),
            false,
        );
    }
    remove(shown, &format!("{place}/timeCreated"));
    remove(shown, &format!("{place}/storageProfile/diskControllerType"));
    let interfaces = format!("{place}/networkProfile/networkInterfaceConfigurations");
    let mut all = items(shown, &interfaces).to_vec();
    for interface in &mut all {
        default(interface, "/properties/enableAcceleratedNetworking", false);
    }
    if !all.is_empty() {
        set(shown, &interfaces, json!(all));
    }
}

/// The instance view of a set: how many instances are in which state.
pub(crate) fn instance_view(world: &World, resource: &Resource) -> Value {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut note = |state: &str| {
        let code = format!("ProvisioningState/{}", state.to_lowercase());
        *counts.entry(code).or_default() += 1;
    };
    if is_flexible(&resource.body) {
        super::flexible::machines(world, resource).for_each(|vm| note(vm.state()));
    } else if let Some(hidden) = &resource.hidden.scale_set {
        hidden
            .instances
            .values()
            .for_each(|one| note(one.state.as_str()));
    }
    let summary: Vec<Value> = counts
        .into_iter()
        .map(|(code, count)| json!({"code": code, "count": count}))
        .collect();
    let state = resource.state();
    let display = match state {
        "Succeeded" => "Provisioning succeeded",
        "Failed" => "Provisioning failed",
        other => other,
    };
    let level = if state == "Failed" { "Error" } else { "Info" };
    let mut shown = json!({
        "virtualMachine": {"statusesSummary": summary},
        "statuses": [{
            "code": format!("ProvisioningState/{}", state.to_lowercase()),
            "level": level,
            "displayStatus": display,
            "time": resource.changed.precise(),
        }],
    });
    let extensions = extensions(resource);
    if !extensions.is_empty() {
        set(&mut shown, "/extensions", json!(extensions));
    }
    shown
}

/// How many instances each extension has succeeded on.
fn extensions(resource: &Resource) -> Vec<Value> {
    let count = resource
        .hidden
        .scale_set
        .as_ref()
        .map_or(0, |hidden| hidden.living().count());
    let place = format!("{}/extensionProfile/extensions", profile::PLACE);
    items(&resource.body, &place)
        .iter()
        .map(|extension| {
            json!({
                "name": extension.get("name"),
                "statusesSummary": [{"code": "ProvisioningState/succeeded", "count": count}],
            })
        })
        .collect()
}
