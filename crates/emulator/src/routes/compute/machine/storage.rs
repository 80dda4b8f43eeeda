//! The disks of a VM.

use model::{catalog::Size, ids::ArmId};
use serde_json::{Value, json};

use crate::{
    error::ArmError,
    json::{default, items, number, remove, same, set, text},
    routes::{
        common,
        compute::{disk, machine::ephemeral},
    },
    store::{
        entry::{Image, Resource},
        world::World,
    },
    types,
};

/// The VM whose disks are made or checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    pub(crate) id: &'a ArmId,
    pub(crate) location: &'a str,
    pub(crate) size: &'a Size,
}

/// Whether a disk kind needs a size that takes premium disks.
fn is_premium(kind: &str) -> bool {
    kind.to_lowercase().starts_with("premium")
}

/// The kind of a VM's disk: the one given, or the usual one of its size.
pub(crate) fn kind(owner: Owner<'_>, disk: &Value, name: &str) -> Result<String, ArmError> {
    let premium = owner.size.premium_disks != Some(false);
    let usual = if premium {
        "Premium_LRS"
    } else {
        "Standard_LRS"
    };
    let kind = text(disk, "/managedDisk/storageAccountType").unwrap_or(usual);
    if is_premium(kind) && !premium {
        return Err(ArmError::invalid_parameter(
            "osDisk.managedDisk.storageAccountType",
            format!(
                "Requested operation cannot be performed because the VM size {} does not support \
                 the storage account type {kind} of disk '{name}'. Consider updating the VM to a \
                 size that supports Premium storage.",
                owner.size.name.as_str()
            ),
        ));
    }
    Ok(kind.to_owned())
}

/// Checks the OS disk, makes its resource, and fills in its defaults.
pub(crate) fn os_disk(
    world: &mut World,
    owner: Owner<'_>,
    body: &mut Value,
    image: &Image,
    image_gb: u64,
) -> Result<(), ArmError> {
    let place = "/properties/storageProfile/osDisk";
    let mut disk = body.pointer(place).cloned().unwrap_or_default();
    if text(&disk, "/createOption").is_some_and(|option| same(option, "Attach")) {
        let found = attach(world, owner, &disk, None)?;
        set(&mut disk, "/createOption", json!("Attach"));
        default(&mut disk, "/name", found.name());
        default(&mut disk, "/diskSizeGB", image_gb);
        let kind = text(&found.body, "/sku/name").unwrap_or_default();
        set(&mut disk, "/managedDisk/storageAccountType", json!(kind));
    } else {
        let hex = world.mint().replace('-', "");
        default(
            &mut disk,
            "/name",
            format!("{}_OsDisk_1_{hex}", owner.id.name()),
        );
        // Recorded: spelled as the service does, whatever a template said.
        set(&mut disk, "/createOption", json!("FromImage"));
        default(&mut disk, "/diskSizeGB", image_gb);
        let name = text(&disk, "/name").unwrap_or_default().to_owned();
        let size = number(&disk, "/diskSizeGB").unwrap_or(image_gb);
        check_os_disk(body, owner, &disk, image_gb)?;
        let ephemeral = ephemeral::is_ephemeral(&disk);
        let kind = kind(owner, &disk, &name)?;
        set(&mut disk, "/managedDisk/storageAccountType", json!(kind));
        if !ephemeral {
            let draft = Draft {
                name: &name,
                kind: &kind,
                size,
                option: "FromImage",
                image: Some(image),
            };
            let id = make(world, owner, body, &draft)?;
            set(&mut disk, "/managedDisk/id", json!(id.as_str()));
        }
    }
    set(&mut disk, "/osType", json!(image.os));
    ephemeral::complete(owner.size, &mut disk);
    default(&mut disk, "/caching", "ReadWrite");
    default(&mut disk, "/deleteOption", "Detach");
    set(body, place, disk);
    Ok(())
}

/// Whether an OS disk holds its image, and can be ephemeral if it shall.
pub(crate) fn check_os_disk(
    machine: &Value,
    owner: Owner<'_>,
    disk: &Value,
    image_gb: u64,
) -> Result<(), ArmError> {
    let size = number(disk, "/diskSizeGB").unwrap_or(image_gb);
    if size < image_gb {
        return Err(ArmError::not_allowed(format!(
            "The specified disk size {size} GB is smaller than the size of the corresponding disk \
             in the VM image: {image_gb} GB. This is not allowed. Please choose equal or greater \
             size or do not specify an explicit size."
        ))
        .with_target("osDisk.diskSizeGB"));
    }
    if ephemeral::is_ephemeral(disk) {
        ephemeral::check(machine, owner.size, disk, size)?;
    }
    Ok(())
}

struct Draft<'a> {
    name: &'a str,
    kind: &'a str,
    size: u64,
    option: &'a str,
    image: Option<&'a Image>,
}

/// Makes the resource of a disk that comes with its VM; it copies the VM's tags and zone.
fn make(
    world: &mut World,
    owner: Owner<'_>,
    vm: &Value,
    draft: &Draft<'_>,
) -> Result<ArmId, ArmError> {
    let row = types::named("Microsoft.Compute/disks")
        .ok_or_else(|| ArmError::missing_parameter("managedDisk"))?;
    if let Some(rule) = row.names {
        rule.check(draft.name)?;
    }
    let id: ArmId = owner
        .id
        .group_id()
        .map(|group| group.in_group("Microsoft.Compute/disks", draft.name))
        .ok_or_else(|| ArmError::missing_parameter("managedDisk"))?;
    if world.resource(&id).is_some() {
        return Err(ArmError::new(
            409,
            "ConflictingUserInput",
            format!("Disk {} already exists in resource group.", draft.name),
        )
        .with_target("dataDisk"));
    }
    let mut body = json!({
        "location": owner.location,
        "sku": {"name": draft.kind},
        "properties": {
            "creationData": {"createOption": draft.option},
            "diskSizeGB": draft.size,
            "provisioningState": "Succeeded",
        },
    });
    for member in ["tags", "zones"] {
        if let Some(value) = vm.get(member) {
            set(&mut body, &format!("/{member}"), value.clone());
        }
    }
    if let Some(image) = draft.image {
        set(&mut body, "/properties/osType", json!(image.os));
        set(
            &mut body,
            "/properties/hyperVGeneration",
            json!(format!("V{}", image.generation)),
        );
        set(
            &mut body,
            "/properties/supportedCapabilities/architecture",
            json!(image.architecture),
        );
    }
    let mut made = common::new(world, id.clone(), row, owner.location, body);
    disk::complete(world, &mut made, None);
    world.put_resource(made);
    Ok(id)
}

/// The existing disk that a VM attaches, or the refusal.
fn attach(
    world: &World,
    owner: Owner<'_>,
    disk: &Value,
    current: Option<&Resource>,
) -> Result<Resource, ArmError> {
    let id = text(disk, "/managedDisk/id")
        .ok_or_else(|| ArmError::missing_parameter("managedDisk.id"))?;
    let found = world.resource_by_key(&id.to_lowercase()).ok_or_else(|| {
        ArmError::new(404, "NotFound", format!("Disk {id} is not found.")).with_target("dataDisk")
    })?;
    if found.location != owner.location {
        return Err(ArmError::new(
            400,
            "BadRequest",
            format!(
                "Disk {id} cannot be attached to the VM because it is not in the same location as \
                 the VM."
            ),
        ));
    }
    let holder = disk::holder(world, &found.id);
    if let Some(holder) = holder.filter(|holder| current.is_none_or(|vm| vm.id != holder.id)) {
        return Err(ArmError::new(
            409,
            "ConflictingUserInput",
            format!(
                "Disk '{id}' cannot be attached as the disk is already owned by VM '{}'.",
                holder.id
            ),
        )
        .with_target("dataDisk"));
    }
    Ok(found.clone())
}

/// Checks the data disks of a body, makes those that are new, and fills in their defaults.
pub(crate) fn data_disks(
    world: &mut World,
    owner: Owner<'_>,
    body: &mut Value,
    current: Option<&Resource>,
) -> Result<(), ArmError> {
    let place = "/properties/storageProfile/dataDisks";
    let mut disks = items(body, place).to_vec();
    disks.retain(|disk| crate::json::flag(disk, "/toBeDetached") != Some(true));
    check_luns(owner, &disks)?;
    for item in &mut disks {
        data_disk(world, owner, body, item, current)?;
    }
    set(body, place, json!(disks));
    Ok(())
}

/// Whether a size takes so many data disks, each in a place of its own.
pub(crate) fn check_luns(owner: Owner<'_>, disks: &[Value]) -> Result<(), ArmError> {
    let most = owner
        .size
        .max_data_disks
        .and_then(|most| usize::try_from(most).ok());
    if let Some(most) = most.filter(|most| disks.len() > *most) {
        return Err(ArmError::not_allowed(format!(
            "The maximum number of data disks allowed to be attached to a VM of this size is \
             {most}."
        ))
        .with_target("dataDisks"));
    }
    let mut luns = Vec::new();
    for item in disks {
        let lun =
            number(item, "/lun").ok_or_else(|| ArmError::missing_parameter("dataDisk.lun"))?;
        if luns.contains(&lun) {
            return Err(ArmError::invalid_parameter(
                "dataDisk.lun",
                format!("A disk with LUN {lun} is already attached or requested."),
            ));
        }
        luns.push(lun);
    }
    Ok(())
}

fn data_disk(
    world: &mut World,
    owner: Owner<'_>,
    vm: &Value,
    item: &mut Value,
    current: Option<&Resource>,
) -> Result<(), ArmError> {
    let option = text(item, "/createOption")
        .unwrap_or_default()
        .to_lowercase();
    let known = text(item, "/managedDisk/id")
        .is_some_and(|id| world.resource_by_key(&id.to_lowercase()).is_some());
    if option == "attach" || known {
        let found = attach(world, owner, item, current)?;
        let kind = text(&found.body, "/sku/name").unwrap_or_default();
        default(item, "/name", found.name());
        set(item, "/managedDisk/storageAccountType", json!(kind));
        let size = number(&found.body, "/properties/diskSizeGB");
        set(item, "/diskSizeGB", json!(size));
    } else if option == "empty" {
        let size = number(item, "/diskSizeGB")
            .ok_or_else(|| ArmError::missing_parameter("dataDisk.diskSizeGB"))?;
        let hex = world.mint().replace('-', "");
        let lun = number(item, "/lun").unwrap_or(0);
        default(
            item,
            "/name",
            format!("{}_disk{}_{hex}", owner.id.name(), lun + 2),
        );
        let name = text(item, "/name").unwrap_or_default().to_owned();
        let kind = kind(owner, item, &name)?;
        let draft = Draft {
            name: &name,
            kind: &kind,
            size,
            option: "Empty",
            image: None,
        };
        let id = make(world, owner, vm, &draft)?;
        set(item, "/managedDisk/storageAccountType", json!(kind));
        set(item, "/managedDisk/id", json!(id.as_str()));
    } else {
        return Err(ArmError::invalid_parameter(
            "dataDisk.createOption",
            format!("The create option '{option}' of a data disk is neither 'Empty' nor 'Attach'."),
        ));
    }
    default(item, "/caching", "None");
    default(item, "/deleteOption", "Detach");
    remove(item, "/detachOption");
    set(item, "/toBeDetached", json!(false));
    Ok(())
}
