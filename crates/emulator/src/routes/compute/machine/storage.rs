//! The disks of a VM and the image it is made from.

use model::{catalog::Size, ids::ArmId};
use serde_json::{Value, json};

use crate::{
    call::Call,
    catalogue::{self, MarketImage},
    error::ArmError,
    json::{default, items, number, remove, same, set, text},
    routes::{common, compute::disk},
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

/// The image of a VM body and the size of its OS disk; fills in the exact version.
pub(crate) fn image(
    world: &World,
    call: &Call<'_>,
    body: &mut Value,
) -> Result<(Image, u64), ArmError> {
    let reference = "/properties/storageProfile/imageReference";
    let disk = "/properties/storageProfile/osDisk";
    if body.pointer(reference).is_some() {
        return market(world, call, body);
    }
    let attached = text(body, &format!("{disk}/managedDisk/id")).map(str::to_owned);
    if let Some(id) = attached {
        let found = world.resource_by_key(&id.to_lowercase()).ok_or_else(|| {
            ArmError::new(404, "NotFound", format!("Disk {id} is not found.")).with_target("osDisk")
        })?;
        let os = text(body, &format!("{disk}/osType"))
            .or_else(|| text(&found.body, "/properties/osType"))
            .ok_or_else(|| ArmError::missing_parameter("osDisk.osType"))?
            .to_owned();
        let generation = match text(&found.body, "/properties/hyperVGeneration") {
            Some("V2") => 2,
            Some(_) | None => 1,
        };
        let image = Image {
            os,
            generation,
            architecture: "x64".to_owned(),
            offer: String::new(),
            version: String::new(),
        };
        return Ok((
            image,
            number(&found.body, "/properties/diskSizeGB").unwrap_or(0),
        ));
    }
    Err(ArmError::missing_parameter("imageReference"))
}

fn market(world: &World, call: &Call<'_>, body: &mut Value) -> Result<(Image, u64), ArmError> {
    let reference = "/properties/storageProfile/imageReference";
    if let Some(id) = text(body, &format!("{reference}/id")) {
        return Err(ArmError::new(
            404,
            "GalleryImageNotFound",
            format!("The gallery image {id} is not available in this sandbox, which has none."),
        )
        .with_target("imageReference"));
    }
    let mut names = Vec::new();
    for member in ["publisher", "offer", "sku", "version"] {
        let name = text(body, &format!("{reference}/{member}")).unwrap_or_default();
        let wrong = name.is_empty() || name.chars().any(char::is_whitespace);
        if wrong {
            let target = format!("imageReference.{member}");
            return Err(ArmError::invalid_parameter(
                &target,
                format!("The value of parameter {target} is invalid."),
            ));
        }
        names.push(name.to_owned());
    }
    let [publisher, offer, sku, version] = names.as_slice() else {
        return Err(ArmError::missing_parameter("imageReference"));
    };
    let missing = || {
        ArmError::new(
            404,
            "PlatformImageNotFound",
            format!(
                "The platform image '{publisher}:{offer}:{sku}:{version}' is not available. \
                 Verify that all fields in the storage profile are correct. For more details \
                 about storage profile information, please refer to https://aka.ms/storageprofile"
            ),
        )
        .with_target("imageReference")
    };
    let found = catalogue::image(publisher, offer, sku).ok_or_else(missing)?;
    let exact = if same(version, "latest") || same(version, &found.version) {
        found.version.clone()
    } else if was_used(world, call, &found, version) {
        version.clone()
    } else {
        return Err(missing());
    };
    check_plan(body, &found)?;
    set(body, &format!("{reference}/exactVersion"), json!(exact));
    let mut image = found.image;
    image.version = exact;
    Ok((image, u64::from(found.disk_gb)))
}

/// Whether a VM of this world was made from the version: then it exists, however old it is.
fn was_used(world: &World, call: &Call<'_>, image: &MarketImage, version: &str) -> bool {
    world
        .of_kind(
            call.subscription(),
            "Microsoft.Compute/virtualMachines",
            None,
        )
        .filter_map(|vm| vm.hidden.machine.as_ref())
        .any(|machine| same(&machine.image.offer, image.offer) && machine.image.version == version)
}

/// A purchase plan must stand in the request if the image has one, and must not if it has none.
fn check_plan(body: &Value, image: &MarketImage) -> Result<(), ArmError> {
    let given = body.get("plan").is_some_and(|plan| !plan.is_null());
    if given == image.has_plan {
        return Ok(());
    }
    let message = if given {
        "Plan information was given for an image that has none."
    } else {
        "Creating a virtual machine from Marketplace image or a custom image sourced from a \
         Marketplace image requires Plan information in the request."
    };
    Err(ArmError::new(400, "VMMarketplaceInvalidInput", message))
}

/// Whether a disk kind needs a size that takes premium disks.
fn is_premium(kind: &str) -> bool {
    kind.to_lowercase().starts_with("premium")
}

/// The kind of a VM's disk: the one given, or the usual one of its size.
fn kind(owner: Owner<'_>, disk: &Value, name: &str) -> Result<String, ArmError> {
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
        default(&mut disk, "/createOption", "FromImage");
        default(&mut disk, "/diskSizeGB", image_gb);
        let name = text(&disk, "/name").unwrap_or_default().to_owned();
        let size = number(&disk, "/diskSizeGB").unwrap_or(image_gb);
        if size < image_gb {
            return Err(ArmError::not_allowed(format!(
                "The specified disk size {size} GB is smaller than the size of the corresponding \
                 disk in the VM image: {image_gb} GB. This is not allowed. Please choose equal or \
                 greater size or do not specify an explicit size."
            ))
            .with_target("osDisk.diskSizeGB"));
        }
        let ephemeral = text(&disk, "/diffDiskSettings/option").is_some();
        if ephemeral {
            check_ephemeral(owner, &disk)?;
        }
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
    default(&mut disk, "/caching", "ReadWrite");
    default(&mut disk, "/deleteOption", "Detach");
    set(body, place, disk);
    Ok(())
}

fn check_ephemeral(owner: Owner<'_>, disk: &Value) -> Result<(), ArmError> {
    let size = owner.size.name.as_str();
    if owner.size.ephemeral_os_disk == Some(false) {
        return Err(ArmError::new(
            409,
            "NotSupported",
            format!(
                "OS disk of Ephemeral VM is not supported for VM size {size}. Please refer to \
                 https://aka.ms/Ephemeral for more details."
            ),
        ));
    }
    let read_only = text(disk, "/caching").is_none_or(|caching| same(caching, "ReadOnly"));
    if read_only {
        return Ok(());
    }
    Err(ArmError::invalid_parameter(
        "osDisk.caching",
        "The value of parameter osDisk.caching must be 'ReadOnly' for an ephemeral OS disk.",
    ))
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
    let most = owner
        .size
        .max_data_disks
        .and_then(|most| usize::try_from(most).ok());
    if most.is_some_and(|most| disks.len() > most) {
        return Err(ArmError::not_allowed(format!(
            "The maximum number of data disks allowed to be attached to a VM of this size is {}.",
            most.unwrap_or(0)
        ))
        .with_target("dataDisks"));
    }
    let mut luns = Vec::new();
    for item in &mut disks {
        let lun =
            number(item, "/lun").ok_or_else(|| ArmError::missing_parameter("dataDisk.lun"))?;
        if luns.contains(&lun) {
            return Err(ArmError::invalid_parameter(
                "dataDisk.lun",
                format!("A disk with LUN {lun} is already attached or requested."),
            ));
        }
        luns.push(lun);
        data_disk(world, owner, body, item, current)?;
    }
    set(body, place, json!(disks));
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
