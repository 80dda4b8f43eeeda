//! The profile that instances are made from: its checks and defaults.

use model::{catalog::Size, ids::ArmId};
use serde_json::{Value, json};

use super::{is_flexible, network};
use crate::{
    call::Call,
    error::ArmError,
    json::{default, items, number, remove, same, set, text},
    routes::compute::machine::{create, ephemeral, profile, size, source, spot, storage},
    store::{entry::Image, scale_set::Model, world::World},
};

/// Where the profile stands.
pub(crate) const PLACE: &str = "/properties/virtualMachineProfile";

/// The set whose profile is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    pub(crate) id: &'a ArmId,
    pub(crate) location: &'a str,
    /// The model that it has, which knows what bodies do not show.
    pub(crate) old: Option<&'a Model>,
}

/// Checks a set's profile, fills in its defaults, and answers the model that it makes. There is
/// none for a Flexible set without a profile.
pub(crate) fn complete(
    world: &World,
    call: &Call<'_>,
    owner: Owner<'_>,
    body: &mut Value,
) -> Result<Option<(Model, &'static Size)>, ArmError> {
    let flexible = is_flexible(body);
    if body.pointer(PLACE).is_none() {
        return if flexible {
            Ok(None)
        } else {
            Err(ArmError::missing_parameter("virtualMachineProfile"))
        };
    }
    let name = text(body, "/sku/name").ok_or_else(|| ArmError::missing_parameter("sku.name"))?;
    let name = name.to_owned();
    prefix(body, owner.id.name());
    let mut machine = machine(body, &name, owner.old);
    let size = check_size(world, call, owner, body, &machine)?;
    let (image, image_gb) = source::image(world, call, &mut machine)?;
    size::check_image(size, &image)?;
    source::set_controller(&mut machine, size, &image)?;
    if !image.specialized {
        profile::check(&mut machine, owner.id.name(), &image)?;
    }
    profile::check_security(&machine, &image)?;
    profile::check_security_size(&machine, size)?;
    spot::check(&mut machine, size, owner.location)?;
    let disks = storage::Owner {
        id: owner.id,
        location: owner.location,
        size,
    };
    os_disk(disks, &mut machine, &image, image_gb, flexible)?;
    data_disks(disks, &mut machine, flexible)?;
    let mut model = Model {
        size: size.name.as_str().to_owned(),
        profile: Value::Null,
        image,
        password: text(&machine, "/properties/osProfile/adminPassword").is_some(),
        user_data: None,
        custom_data: create::custom_data_digest(&machine)
            .or_else(|| owner.old.and_then(|old| old.custom_data.clone())),
    };
    model.user_data =
        profile::hide(&mut machine).or_else(|| owner.old.and_then(|old| old.user_data.clone()));
    let mut shown = shown(body, machine, flexible);
    network::complete(world, owner.id, owner.location, size, &mut shown, flexible)?;
    if generation_two(&model.image) {
        default(&mut shown, "/storageProfile/diskControllerType", "SCSI");
    }
    model.profile = shown.clone();
    // When it was made says nothing of what instances are made from.
    remove(&mut model.profile, "/timeCreated");
    set(body, PLACE, shown);
    Ok(Some((model, size)))
}

/// Recorded: profiles of images of the second generation name their disk controller.
fn generation_two(image: &Image) -> bool {
    image.generation == 2
}

fn prefix(body: &mut Value, set_name: &str) {
    let place = format!("{PLACE}/osProfile");
    if body.pointer(&place).is_some() {
        default(body, &format!("{place}/computerNamePrefix"), set_name);
    }
}

/// A VM as the profile would make it, in the form in which VMs are checked.
fn machine(body: &Value, size: &str, old: Option<&Model>) -> Value {
    let mut properties = body.pointer(PLACE).cloned().unwrap_or_default();
    remove(&mut properties, "/networkProfile");
    set(&mut properties, "/hardwareProfile/vmSize", json!(size));
    if let Some(prefix) = remove(&mut properties, "/osProfile/computerNamePrefix") {
        let prefix = prefix.as_str().unwrap_or_default();
        set(
            &mut properties,
            "/osProfile/computerName",
            json!(format!("{prefix}000000")),
        );
    }
    if old.is_some_and(|old| old.password) && properties.pointer("/osProfile").is_some() {
        // The one given at first is not kept; that there was one is.
        default(&mut properties, "/osProfile/adminPassword", "kept");
    }
    let mut machine = json!({"properties": properties});
    if let Some(location) = body.get("location") {
        set(&mut machine, "/location", location.clone());
    }
    if let Some(plan) = body.get("plan") {
        set(&mut machine, "/plan", plan.clone());
    }
    machine
}

/// The size, which must be offered in every zone that the set spans.
fn check_size(
    world: &World,
    call: &Call<'_>,
    owner: Owner<'_>,
    body: &Value,
    machine: &Value,
) -> Result<&'static Size, ArmError> {
    let place = size::Place {
        subscription: call.subscription(),
        location: owner.location,
        name: owner.id.name(),
        spot: crate::routes::compute::quota::is_spot(machine),
    };
    let mut found = None;
    let mut zones: Vec<Value> = items(body, "/zones")
        .iter()
        .map(|zone| json!([zone]))
        .collect();
    if zones.is_empty() {
        zones.push(json!([]));
    }
    for zone in zones {
        let mut machine = machine.clone();
        set(&mut machine, "/zones", zone);
        found = Some(size::check(world, place, &machine)?);
    }
    found.ok_or_else(|| ArmError::missing_parameter("sku.name"))
}

fn os_disk(
    owner: storage::Owner<'_>,
    machine: &mut Value,
    image: &Image,
    image_gb: u64,
    flexible: bool,
) -> Result<(), ArmError> {
    let place = "/properties/storageProfile/osDisk";
    let mut disk = machine.pointer(place).cloned().unwrap_or_else(|| json!({}));
    default(&mut disk, "/createOption", "FromImage");
    default(&mut disk, "/diskSizeGB", image_gb);
    storage::check_os_disk(machine, owner, &disk, image_gb)?;
    let kind = storage::kind(owner, &disk, "osDisk")?;
    set(&mut disk, "/managedDisk/storageAccountType", json!(kind));
    set(&mut disk, "/osType", json!(image.os));
    ephemeral::complete(owner.size, &mut disk);
    // Recorded: `None` where nothing was given, other than with VMs.
    default(&mut disk, "/caching", "None");
    if flexible {
        default(&mut disk, "/deleteOption", "Delete");
    }
    set(machine, place, disk);
    Ok(())
}

fn data_disks(
    owner: storage::Owner<'_>,
    machine: &mut Value,
    flexible: bool,
) -> Result<(), ArmError> {
    let place = "/properties/storageProfile/dataDisks";
    let mut disks = items(machine, place).to_vec();
    if disks.is_empty() {
        return Ok(());
    }
    storage::check_luns(owner, &disks)?;
    for disk in &mut disks {
        let option = text(disk, "/createOption").unwrap_or_default();
        if !same(option, "Empty") {
            return Err(ArmError::invalid_parameter(
                "dataDisk.createOption",
                format!("The create option '{option}' of a scale set's data disk is not 'Empty'."),
            ));
        }
        if number(disk, "/diskSizeGB").is_none() {
            return Err(ArmError::missing_parameter("dataDisk.diskSizeGB"));
        }
        let kind = storage::kind(owner, disk, "dataDisk")?;
        set(disk, "/managedDisk/storageAccountType", json!(kind));
        default(disk, "/caching", "None");
        if flexible {
            default(disk, "/deleteOption", "Delete");
        }
    }
    set(machine, place, json!(disks));
    Ok(())
}

/// The profile as answers show it, from the VM that it was checked as.
fn shown(body: &Value, machine: Value, flexible: bool) -> Value {
    let mut machine = machine;
    let mut shown = remove(&mut machine, "/properties").unwrap_or_default();
    let given = body.pointer(PLACE).cloned().unwrap_or_default();
    remove(&mut shown, "/hardwareProfile");
    remove(&mut shown, "/storageProfile/imageReference/exactVersion");
    if let Some(hardware) = given.get("hardwareProfile") {
        set(&mut shown, "/hardwareProfile", hardware.clone());
    }
    if let Some(network) = given.get("networkProfile") {
        set(&mut shown, "/networkProfile", network.clone());
    }
    if shown.pointer("/osProfile").is_some() {
        remove(&mut shown, "/osProfile/computerName");
        let prefix = text(&given, "/osProfile/computerNamePrefix").unwrap_or_default();
        set(&mut shown, "/osProfile/computerNamePrefix", json!(prefix));
    }
    let extensions = "/extensionProfile/extensions";
    let mut all = items(&shown, extensions).to_vec();
    for extension in &mut all {
        remove(extension, "/properties/protectedSettings");
        default(extension, "/properties/autoUpgradeMinorVersion", false);
    }
    if !all.is_empty() {
        set(&mut shown, extensions, json!(all));
    }
    for system in ["linuxConfiguration", "windowsConfiguration"] {
        let patches = format!("/osProfile/{system}/patchSettings");
        // Recorded: only Flexible profiles show them where nothing was given.
        if !flexible && given.pointer(&patches).is_none() {
            remove(&mut shown, &patches);
        }
    }
    shown
}
