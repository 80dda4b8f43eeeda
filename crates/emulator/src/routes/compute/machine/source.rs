//! The image that a VM is made from: of the marketplace, of the subscription, or on a disk.

use model::{catalog::Size, spec::DiskController};
use serde_json::{Value, json};

use crate::{
    call::Call,
    catalogue::{self, MarketImage},
    error::ArmError,
    json::{items, number, same, set, text},
    routes::{compute::gallery, services::terms},
    store::{entry::Image, world::World},
};

/// The image of a VM body and the size of its OS disk; fills in the exact version. The terms of
/// its plan must be accepted.
pub(crate) fn image(
    world: &World,
    call: &Call<'_>,
    body: &mut Value,
) -> Result<(Image, u64), ArmError> {
    let found = find(world, call, body)?;
    terms::check(world, call, body)?;
    Ok(found)
}

fn find(world: &World, call: &Call<'_>, body: &mut Value) -> Result<(Image, u64), ArmError> {
    let reference = "/properties/storageProfile/imageReference";
    let disk = "/properties/storageProfile/osDisk";
    let own = text(body, &format!("{reference}/id")).map(str::to_owned);
    if let Some(id) = own {
        return of_subscription(world, body, &id);
    }
    for member in ["communityGalleryImageId", "sharedGalleryImageId"] {
        if let Some(id) = text(body, &format!("{reference}/{member}")) {
            return Err(missing(&format!(
                "The gallery image {id} is not available: the sandbox has no galleries of others."
            )));
        }
    }
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
        let architecture = "/properties/supportedCapabilities/architecture";
        let image = Image {
            os,
            generation,
            architecture: text(&found.body, architecture).unwrap_or("x64").to_owned(),
            ..Image::default()
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
    let unknown = || {
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
    let found = catalogue::image(publisher, offer, sku).ok_or_else(unknown)?;
    let exact = if same(version, "latest") || same(version, &found.version) {
        found.version.clone()
    } else if was_used(world, call, &found, version) {
        version.clone()
    } else {
        return Err(unknown());
    };
    check_plan(body, &found)?;
    set(body, &format!("{reference}/exactVersion"), json!(exact));
    let mut image = found.image;
    image.version = exact;
    Ok((image, u64::from(found.disk_gb)))
}

/// Whether a VM of this world was made from the version: then it exists, however old it is.
fn was_used(world: &World, call: &Call<'_>, image: &MarketImage, version: &str) -> bool {
    let is_it = |used: &Image| same(&used.offer, image.offer) && used.version == version;
    let of_kind = |kind: &str| world.of_kind(call.subscription(), kind, None);
    of_kind("Microsoft.Compute/virtualMachines")
        .filter_map(|vm| vm.hidden.machine.as_ref())
        .any(|machine| is_it(&machine.image))
        || of_kind("Microsoft.Compute/virtualMachineScaleSets")
            .filter_map(|set| set.hidden.scale_set.as_ref())
            .flat_map(|hidden| hidden.models.values())
            .any(|model| is_it(&model.image))
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

/// The refusal of an image of a gallery that is not there, or not here.
fn missing(message: &str) -> ArmError {
    ArmError::new(404, "GalleryImageNotFound", message).with_target("imageReference")
}

/// An image of the subscription: a managed image, or one of a gallery.
fn of_subscription(world: &World, body: &mut Value, id: &str) -> Result<(Image, u64), ArmError> {
    let key = id.trim_end_matches('/').to_lowercase();
    if key.contains("/galleries/") {
        return of_gallery(world, body, &key);
    }
    let location = text(body, "/location").unwrap_or_default();
    let found = world
        .resource_by_key(&key)
        .filter(|found| found.is("Microsoft.Compute/images"))
        .filter(|found| location.is_empty() || found.location == location)
        .ok_or_else(|| {
            ArmError::new(404, "NotFound", format!("Image '{id}' is not found."))
                .with_target("imageReference")
        })?;
    let security = "/properties/securityProfile/securityType";
    if text(body, security).is_some_and(|kind| same(kind, "TrustedLaunch")) {
        return Err(ArmError::new(
            400,
            "BadRequest",
            "Managed Images are not supported for virtual machines with security type \
             TrustedLaunch.",
        ));
    }
    let disk = "/properties/storageProfile/osDisk";
    let image = Image {
        os: text(&found.body, &format!("{disk}/osType"))
            .unwrap_or("Linux")
            .to_owned(),
        generation: generation(&found.body),
        architecture: "x64".to_owned(),
        specialized: text(&found.body, &format!("{disk}/osState"))
            .is_some_and(|state| same(state, "Specialized")),
        ..Image::default()
    };
    let size = number(&found.body, &format!("{disk}/diskSizeGB")).unwrap_or(0);
    Ok((image, size))
}

fn generation(body: &Value) -> u8 {
    match text(body, "/properties/hyperVGeneration") {
        Some("V2") => 2,
        Some(_) | None => 1,
    }
}

/// A version of a gallery's image, the newest where none is named.
fn of_gallery(world: &World, body: &mut Value, key: &str) -> Result<(Image, u64), ArmError> {
    let (definition, version) = match key.split_once("/versions/") {
        Some((definition, version)) => (definition, Some(version).filter(|name| *name != "latest")),
        None => (key, None),
    };
    let location = text(body, "/location").unwrap_or_default().to_owned();
    let gone = || {
        missing(&format!(
            "The gallery image {key} is not available in {location} region. Please contact image \
             owner to replicate to this region, or change your requested region."
        ))
    };
    let of = world
        .resource_by_key(definition)
        .filter(|found| found.is("Microsoft.Compute/galleries/images"))
        .ok_or_else(gone)?;
    let found = gallery::version(world, &of.id, version, &location).ok_or_else(gone)?;
    let feature = |name: &str| {
        items(&of.body, "/properties/features")
            .iter()
            .find(|feature| text(feature, "/name").is_some_and(|own| same(own, name)))
            .and_then(|feature| text(feature, "/value"))
            .map(str::to_owned)
    };
    let word = |member: &str| {
        text(&of.body, &format!("/properties/{member}"))
            .unwrap_or_default()
            .to_owned()
    };
    let image = Image {
        os: word("osType"),
        generation: generation(&of.body),
        architecture: text(&of.body, "/properties/architecture")
            .unwrap_or("x64")
            .to_owned(),
        version: found.name().to_owned(),
        specialized: same(&word("osState"), "Specialized"),
        security: Some(feature("SecurityType").unwrap_or_default()),
        // Documented: a definition that names none is for SCSI.
        controllers: Some(
            feature("DiskControllerTypes")
                .unwrap_or_else(|| DiskController::Scsi.word().to_owned()),
        ),
        ..Image::default()
    };
    let place = "/properties/storageProfile/imageReference/exactVersion";
    set(body, place, json!(image.version));
    let size = number(
        &found.body,
        "/properties/storageProfile/osDiskImage/sizeInGB",
    )
    .unwrap_or(0);
    Ok((image, size))
}

/// Where the disk controller stands.
pub(crate) const CONTROLLER: &str = "/properties/storageProfile/diskControllerType";

/// The disk controller of a VM: one that nobody named is SCSI, and NVMe on sizes that have
/// nothing else.
pub(crate) fn controller<'a>(body: &'a Value, size: &Size) -> &'a str {
    let had = size.disk_controllers();
    let only_nvme = !had.is_empty() && !had.contains(&DiskController::Scsi);
    let usual = if only_nvme {
        DiskController::Nvme
    } else {
        DiskController::Scsi
    };
    text(body, CONTROLLER).unwrap_or(usual.word())
}

/// Checks the disk controller of a new VM, and names NVMe where it is that.
pub(crate) fn set_controller(body: &mut Value, size: &Size, image: &Image) -> Result<(), ArmError> {
    let wanted = controller(body, size).to_owned();
    check_controller(&wanted, size, image)?;
    if same(&wanted, DiskController::Nvme.word()) {
        set(body, CONTROLLER, json!(DiskController::Nvme.word()));
    }
    Ok(())
}

/// Whether a disk controller is one that the size has and the image has a driver for; of sizes
/// whose controllers nobody knows nothing is refused.
pub(crate) fn check_controller(wanted: &str, size: &Size, image: &Image) -> Result<(), ArmError> {
    let Some(controller) = DiskController::named(wanted) else {
        return Err(ArmError::invalid_parameter(
            "diskControllerType",
            format!("The value '{wanted}' of parameter diskControllerType is invalid."),
        ));
    };
    let had = size.disk_controllers();
    let is_had = had.is_empty() || had.contains(&controller);
    let driven = image.controllers.as_ref().is_none_or(|controllers| {
        let mut all = controllers.split(',').filter_map(DiskController::named);
        all.any(|driven| driven == controller)
    });
    let boots = match controller {
        DiskController::Scsi => true,
        DiskController::Nvme => image.generation == 2 && driven,
    };
    if is_had && boots {
        return Ok(());
    }
    let size = size.name.as_str();
    Err(ArmError::invalid_parameter(
        "vmSize",
        format!(
            "The VM size '{size}' cannot boot with OS image or disk. Please check that disk \
             controller types supported by the OS image or disk is one of the supported disk \
             controller types for the VM size '{size}'. Please query sku api at \
             https://aka.ms/azure-compute-skus to determine supported disk controller types \
             for the VM size."
        ),
    ))
}
