//! Extensions of VMs.

use serde_json::{Value, json};

use super::write;
use crate::{
    call::Call,
    durations,
    error::ArmError,
    http::{Answer, Method},
    json::{default, flag, items, merge, remove, same, set, text},
    routes::common::{self, check_name, not_served, put_tags, tags},
    store::{entry::Resource, world::World},
    types::Type,
};

const MACHINE: &str = "Microsoft.Compute/virtualMachines";

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    if call.path.kind() != "virtualmachines/extensions" {
        return Err(not_served(call));
    }
    let views = call
        .query()
        .get("$expand")
        .is_some_and(|expand| same(expand, "instanceView"));
    match (call.method(), call.path.is_open()) {
        (Method::Get, true) => {
            let vm = write::parent(world, call, MACHINE)?;
            let value: Vec<Value> = of_machine(world, vm)
                .map(|extension| show(extension, views))
                .collect();
            Ok(Answer::json(200, json!({"value": value})))
        }
        (Method::Get, false) => {
            common::resource(world, call).map(|extension| Answer::json(200, show(extension, views)))
        }
        (Method::Put, false) => put(world, call, row),
        (Method::Patch, false) => patch(world, call, row),
        (Method::Delete, false) => Ok(match super::existing(world, call) {
            Some(found) => write::begin_delete(world, call, &found, durations::EXTENSION_DELETE),
            None => Answer::empty(204),
        }),
        _ => Err(not_served(call)),
    }
}

/// The extensions of a VM.
pub(crate) fn of_machine<'a>(
    world: &'a World,
    vm: &Resource,
) -> impl Iterator<Item = &'a Resource> + use<'a> {
    world.below(&format!("{}/extensions/", vm.id.key()))
}

/// An extension as its GET shows it.
pub(crate) fn show(extension: &Resource, view: bool) -> Value {
    let mut shown = common::base(extension);
    if view {
        let view = instance_view(&shown);
        set(&mut shown, "/properties/instanceView", view);
    }
    shown
}

/// What the guest says of an extension, from its body.
pub(crate) fn instance_view(extension: &Value) -> Value {
    let word = |place: &str| text(extension, place).unwrap_or_default();
    let status = match word("/properties/provisioningState") {
        "Failed" => json!({
            "code": "ProvisioningState/failed",
            "level": "Error",
            "displayStatus": "Provisioning failed",
        }),
        "Creating" | "Updating" => json!({
            "code": "ProvisioningState/transitioning",
            "level": "Info",
            "displayStatus": "Transitioning",
        }),
        _ => json!({
            "code": "ProvisioningState/succeeded",
            "level": "Info",
            "displayStatus": "Provisioning succeeded",
            "message": "Enable succeeded.",
        }),
    };
    json!({
        "name": word("/name"),
        "type": format!("{}.{}", word("/properties/publisher"), word("/properties/type")),
        "typeHandlerVersion": word("/properties/typeHandlerVersion"),
        "statuses": [status],
    })
}

/// What every extension must say of itself.
pub(crate) fn check(body: &Value) -> Result<(), ArmError> {
    for member in ["publisher", "type", "typeHandlerVersion"] {
        if text(body, &format!("/properties/{member}")).is_none() {
            return Err(ArmError::missing_parameter(&format!(
                "extension.properties.{member}"
            )));
        }
    }
    Ok(())
}

fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| not_served(call))?;
    let old = world.resource(&id).cloned();
    let vm = write::parent(world, call, MACHINE)?.clone();
    check(&given)?;
    let tags = tags(&given)?;
    let mut body = given;
    let place = vm.location.clone();
    default(&mut body, "/location", place.as_str());
    put_tags(&mut body, tags);
    store(world, call, row, (&vm, id), old.as_ref(), body)
}

fn patch(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let given = call.body(row)?;
    let old = common::resource(world, call)?.clone();
    let vm = write::parent(world, call, MACHINE)?.clone();
    let mut body = old.body.clone();
    merge(&mut body, &given);
    if let Some(tags) = tags(&given)? {
        put_tags(&mut body, Some(tags));
    }
    let id = old.id.clone();
    store(world, call, row, (&vm, id), Some(&old), body)
}

fn store(
    world: &mut World,
    call: &Call<'_>,
    row: &Type,
    (vm, id): (&Resource, model::ids::ArmId),
    old: Option<&Resource>,
    body: Value,
) -> Result<Answer, ArmError> {
    super::machine::not_deleting(vm)?;
    if flag(&vm.body, "/properties/osProfile/allowExtensionOperations") == Some(false) {
        return Err(ArmError::not_allowed(format!(
            "This operation cannot be performed when extension operations are disallowed. To \
             allow, please ensure VM Agent is installed on the VM and the osProfile.\
             allowExtensionOperations property of VM '{}' is true.",
            vm.name()
        )));
    }
    let runs = vm
        .hidden
        .machine
        .as_ref()
        .is_some_and(crate::store::entry::Machine::is_allocated);
    if !runs && vm.operation.is_none() {
        return Err(ArmError::not_allowed(format!(
            "Cannot modify extensions in the VM when the VM '{}' is not running.",
            vm.name()
        )));
    }
    let kind = |body: &Value| {
        let word = |place: &str| text(body, place).unwrap_or_default().to_lowercase();
        (word("/properties/publisher"), word("/properties/type"))
    };
    let doubled =
        of_machine(world, vm).find(|other| other.id != id && kind(&other.body) == kind(&body));
    if let Some(other) = doubled {
        let (publisher, name) = kind(&body);
        return Err(ArmError::new(
            400,
            "BadRequest",
            format!(
                "Multiple VMExtensions per handler not supported for OS type '{}'. VMExtension \
                 '{}' with handler '{publisher}.{name}' already added or specified in input.",
                text(&vm.body, "/properties/storageProfile/osDisk/osType").unwrap_or("Linux"),
                other.name()
            ),
        ));
    }
    let mut made = old
        .cloned()
        .unwrap_or_else(|| common::new(world, id, row, &vm.location, Value::Null));
    made.body = body;
    remove(&mut made.body, "/properties/protectedSettings");
    default(&mut made.body, "/properties/autoUpgradeMinorVersion", false);
    Ok(write::begin(
        world,
        call,
        made,
        old.is_none(),
        durations::EXTENSION,
    ))
}

/// Adds its extensions to what a VM and its view show.
pub(crate) fn add(world: &World, vm: &Resource, shown: &mut Value) {
    let resources: Vec<Value> = of_machine(world, vm)
        .map(|extension| show(extension, false))
        .collect();
    if !resources.is_empty() {
        set(shown, "/resources", json!(resources));
    }
}

/// Adds the ids of its extensions to what a list shows of a VM.
pub(crate) fn add_ids(world: &World, vm: &Resource, shown: &mut Value) {
    let ids: Vec<Value> = of_machine(world, vm)
        .map(|extension| json!({"id": extension.id.as_str()}))
        .collect();
    if !ids.is_empty() {
        set(shown, "/resources", json!(ids));
    }
}

/// Adds what the guest says of its extensions to an instance view.
pub(crate) fn add_views(world: &World, vm: &Resource, view: &mut Value) {
    let all: Vec<Value> = of_machine(world, vm)
        .map(|extension| instance_view(&common::base(extension)))
        .collect();
    if all.is_empty() || view.pointer("/vmAgent").is_none() {
        return;
    }
    let handlers: Vec<Value> = all
        .iter()
        .map(|one| {
            let ready = items(one, "/statuses")
                .first()
                .and_then(|status| text(status, "/level"))
                != Some("Error");
            json!({
                "type": one.get("type"),
                "typeHandlerVersion": one.get("typeHandlerVersion"),
                "status": {
                    "code": if ready { "ProvisioningState/succeeded" } else { "ProvisioningState/failed" },
                    "level": if ready { "Info" } else { "Error" },
                    "displayStatus": if ready { "Ready" } else { "Not Ready" },
                },
            })
        })
        .collect();
    set(view, "/vmAgent/extensionHandlers", json!(handlers));
    set(view, "/extensions", json!(all));
}
