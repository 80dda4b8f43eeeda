//! Instances: of a Uniform set as its list shows them, of a Flexible one as the VMs they are.

use model::{ids::ArmId, live::Instance};
use serde_json::Value;

use super::super::{
    fields::{id, items, member, text, zones},
    state,
};

/// An instance of a Uniform set, from the list of its instances with their views.
pub(crate) fn instance_of_set(body: &Value) -> Option<Instance> {
    let id = text(body, "/instanceId")?.to_owned();
    Some(Instance {
        name: text(body, "/name").unwrap_or(&id).to_owned(),
        host_name: host_name(body),
        zone: zones(body).into_iter().next(),
        created: created(body),
        latest_model: member(body, "/properties/latestModelApplied").and_then(Value::as_bool),
        state: state::of_body(body),
        id,
    })
}

/// An instance of a Flexible set, from the list of VMs, with the state that was read of it.
pub(crate) fn instance_of_vm(machine: &ArmId, body: &Value, state: model::live::State) -> Instance {
    Instance {
        id: machine.name().to_owned(),
        name: machine.name().to_owned(),
        host_name: host_name(body),
        zone: zones(body).into_iter().next(),
        created: created(body),
        latest_model: None,
        state,
    }
}

fn host_name(body: &Value) -> Option<String> {
    text(body, "/properties/osProfile/computerName").map(ToOwned::to_owned)
}

fn created(body: &Value) -> Option<String> {
    text(body, "/properties/timeCreated").map(ToOwned::to_owned)
}

/// The set that a VM belongs to.
pub(crate) fn set_of_vm(body: &Value) -> Option<ArmId> {
    id(body, "/properties/virtualMachineScaleSet/id")
        .ok()
        .flatten()
}

/// The disks that an instance brought along.
pub(crate) fn parts_of_instance(body: &Value) -> Vec<ArmId> {
    const PLACE: &str = "/managedDisk/id";
    let os = member(body, "/properties/storageProfile/osDisk");
    let data = items(body, "/properties/storageProfile/dataDisks");
    os.into_iter()
        .chain(data)
        .filter_map(|disk| id(disk, PLACE).ok().flatten())
        .collect()
}
