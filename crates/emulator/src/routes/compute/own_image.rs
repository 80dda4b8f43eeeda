//! Managed images.

use serde_json::{Value, json};

use super::write::{self, Wanted, wanted};
use crate::{
    call::Call,
    durations::{IMAGE, IMAGE_DELETE},
    error::ArmError,
    http::{Answer, Body, Method},
    json::{default, items, number, remove, same, set, text},
    routes::common::{self, not_served, put_tags, tags},
    store::{entry::Resource, world::World},
    types::Type,
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    if call.path.kind() != "images" {
        return Err(not_served(call));
    }
    match (call.method(), call.path.is_open()) {
        (Method::Get, true) => {
            let size = call.setup.pages.others;
            Ok(super::list(world, call, row, size, common::base))
        }
        (Method::Get, false) => {
            common::resource(world, call).map(|image| Answer::json(200, common::base(image)))
        }
        (Method::Put, false) => put(world, call, row),
        (Method::Patch, false) => patch(world, call, row),
        (Method::Delete, false) => Ok(match super::existing(world, call) {
            Some(found) => write::begin_delete(world, call, &found, IMAGE_DELETE),
            None => Answer::empty(204),
        }),
        _ => Err(not_served(call)),
    }
}

fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let Wanted { old, mut made } = wanted(world, call, row, fixed)?;
    if old.is_none() {
        source(world, &mut made.body)?;
    }
    let mut answer = write::begin(world, call, made, old.is_none(), IMAGE);
    // Recorded: the size of the disk is known a little later.
    if let (None, Body::Json(shown)) = (&old, &mut answer.body) {
        let disk = "/properties/storageProfile/osDisk";
        remove(shown, &format!("{disk}/diskSizeGB"));
    }
    Ok(answer)
}

fn patch(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let given = call.body(row)?;
    let mut found = common::resource(world, call)?.clone();
    fixed(&found, &given)?;
    if let Some(tags) = tags(&given)? {
        put_tags(&mut found.body, Some(tags));
    }
    Ok(write::begin(world, call, found, false, IMAGE))
}

fn fixed(old: &Resource, given: &Value) -> Result<(), ArmError> {
    for (place, name) in [
        (
            "/properties/sourceVirtualMachine/id",
            "sourceVirtualMachine.id",
        ),
        ("/properties/hyperVGeneration", "hyperVGeneration"),
        (
            "/properties/storageProfile/osDisk/osType",
            "storageProfile.osDisk.osType",
        ),
    ] {
        let (wanted, had) = (text(given, place), text(&old.body, place));
        if wanted.is_some_and(|wanted| !had.is_some_and(|had| same(had, wanted))) {
            return Err(ArmError::property_change(name));
        }
    }
    Ok(())
}

/// What an image is made from: a generalized VM, or disks and snapshots.
fn source(world: &World, body: &mut Value) -> Result<(), ArmError> {
    default(body, "/properties/hyperVGeneration", "V1");
    let machine = text(body, "/properties/sourceVirtualMachine/id").map(str::to_owned);
    if let Some(id) = machine {
        return of_machine(world, body, &id);
    }
    let place = "/properties/storageProfile/osDisk";
    let mut disk = body
        .pointer(place)
        .cloned()
        .ok_or_else(|| ArmError::missing_parameter("storageProfile.osDisk"))?;
    for member in ["osType", "osState"] {
        if text(&disk, &format!("/{member}")).is_none() {
            return Err(ArmError::missing_parameter(&format!("osDisk.{member}")));
        }
    }
    let id = text(&disk, "/managedDisk/id")
        .or_else(|| text(&disk, "/snapshot/id"))
        .ok_or_else(|| {
            ArmError::new(
                501,
                "NotServedBySandbox",
                "The sandbox makes images of virtual machines, managed disks and snapshots alone.",
            )
        })?;
    let found = world.resource_by_key(&id.to_lowercase()).ok_or_else(|| {
        ArmError::new(
            404,
            "NotFound",
            format!("The source '{id}' of the image is not found."),
        )
    })?;
    if let Some(size) = number(&found.body, "/properties/diskSizeGB") {
        default(&mut disk, "/diskSizeGB", size);
    }
    default(&mut disk, "/caching", "None");
    default(&mut disk, "/storageAccountType", "Standard_LRS");
    set(body, place, disk);
    default(body, "/properties/storageProfile/dataDisks", json!([]));
    Ok(())
}

fn of_machine(world: &World, body: &mut Value, id: &str) -> Result<(), ArmError> {
    let found = world
        .resource_by_key(&id.to_lowercase())
        .filter(|found| found.is("Microsoft.Compute/virtualMachines"));
    let Some(vm) = found else {
        return Err(ArmError::new(
            404,
            "NotFound",
            format!("The source virtual machine '{id}' is not found."),
        )
        .with_target("sourceVirtualMachine"));
    };
    let machine = vm.hidden.machine.as_ref();
    if !machine.is_some_and(|machine| machine.generalized) {
        return Err(ArmError::not_allowed(format!(
            "The Virtual Machine '{id}' is not generalized. An image can be made of a generalized \
             virtual machine alone."
        )));
    }
    let generation = machine.map_or(1, |machine| machine.image.generation);
    let wanted = text(body, "/properties/hyperVGeneration").unwrap_or("V1");
    if wanted != format!("V{generation}") {
        return Err(ArmError::invalid_parameter(
            "hyperVGeneration",
            format!(
                "The hyperVGeneration value provided: '{wanted}' doesn't match the generation \
                 'V{generation}' of the source virtual machine."
            ),
        ));
    }
    let disk = vm
        .body
        .pointer("/properties/storageProfile/osDisk")
        .cloned()
        .unwrap_or_default();
    let data: Vec<Value> = items(&vm.body, "/properties/storageProfile/dataDisks")
        .iter()
        .map(|disk| {
            let mut shown = of_disk(disk);
            set(&mut shown, "/lun", json!(number(disk, "/lun")));
            shown
        })
        .collect();
    let mut shown = of_disk(&disk);
    set(&mut shown, "/osType", json!(text(&disk, "/osType")));
    set(&mut shown, "/osState", json!("Generalized"));
    set(body, "/properties/storageProfile/osDisk", shown);
    set(body, "/properties/storageProfile/dataDisks", json!(data));
    Ok(())
}

/// A disk of a VM as an image shows it.
fn of_disk(disk: &Value) -> Value {
    json!({
        "diskSizeGB": number(disk, "/diskSizeGB"),
        "managedDisk": {"id": text(disk, "/managedDisk/id")},
        "caching": text(disk, "/caching"),
        "storageAccountType": text(disk, "/managedDisk/storageAccountType"),
    })
}
