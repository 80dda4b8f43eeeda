//! A virtual machine as Azure answers it, in canonical form.

use std::{
    collections::{BTreeMap, BTreeSet},
    str::FromStr,
};

use model::{
    ids::ArmId,
    resource::{
        DataDiskAttachment, ImageReference, Known, MarketplaceImage, NetworkInterface, OsDisk,
        OwnImage, PurchasePlan, ResourceKind, Security, System, VirtualMachine, VmPriority,
    },
    spec::{DiskController, DiskType, EphemeralPlacement, Eviction},
    units::CaseInsensitive,
};
use rust_decimal::Decimal;
use serde_json::Value;

use super::super::{
    DecodeError,
    fields::{
        disk_type, goes_with_vm, id, items, location, member, number, required, required_id,
        required_number, text, unsupported, without_comment, zones,
    },
    identity, proximity_placement_group, readiness,
};

const INTERFACES: &str = "/properties/networkProfile/networkInterfaces";
const ADDRESS: &str = "/properties/ipConfigurations/0/properties/publicIPAddressConfiguration";
const OS_DISK: &str = "/properties/storageProfile/osDisk";
const OS_DISK_TYPE: &str = "/properties/storageProfile/osDisk/managedDisk/storageAccountType";
const OS_DISK_SIZE: &str = "/properties/storageProfile/osDisk/diskSizeGB";
const PRIORITY: &str = "/properties/priority";
const EVICTION: &str = "/properties/evictionPolicy";
const PRICE: &str = "/properties/billingProfile/maxPrice";
const SECURITY: &str = "/properties/securityProfile/securityType";

/// Types and sizes of disks by id. A deallocated VM may leave out those of its OS disk.
#[derive(Debug, Default)]
pub(crate) struct VmDisks(BTreeMap<ArmId, (Option<String>, Option<u32>)>);

impl VmDisks {
    /// Remembers a disk's body.
    pub(crate) fn add(&mut self, body: &Value) {
        if let Some(disk) = text(body, "/id").and_then(|id| id.parse().ok()) {
            let name = text(body, "/sku/name").map(ToOwned::to_owned);
            self.0
                .insert(disk, (name, number(body, "/properties/diskSizeGB")));
        }
    }
}

/// The id of a VM's OS disk, where the body leaves out what must be looked up there.
pub(crate) fn os_disk_id(body: &Value) -> (Option<ArmId>, bool) {
    let complete = text(body, OS_DISK_TYPE).is_some() && number(body, OS_DISK_SIZE).is_some();
    let disk = id(body, "/properties/storageProfile/osDisk/managedDisk/id");
    (disk.ok().flatten(), complete)
}

/// The id of a machine's OS disk. While the machine is being made its body may name the disk
/// only; it stands in the machine's group.
pub(crate) fn os_disk_of(machine: &ArmId, body: &Value) -> Option<ArmId> {
    let named = || {
        let name = text(body, &format!("{OS_DISK}/name"))?;
        let group = machine.group_id()?;
        Some(group.in_group(ResourceKind::Disk.arm_type(), name))
    };
    os_disk_id(body).0.or_else(named)
}

/// Reads a machine.
pub(in crate::wire) fn decode(
    body: &Value,
    disks: &VmDisks,
) -> Result<VirtualMachine, DecodeError> {
    Ok(VirtualMachine {
        location: location(body)?,
        zones: zones(body),
        size: required(body, "/properties/hardwareProfile/vmSize")?.into(),
        image: image(body)?,
        plan: plan(body),
        os: system(body),
        password: None,
        priority: priority(body)?,
        capacity_reservation: reservation(body)?,
        proximity_placement_group: proximity_placement_group::of(body)?,
        computer_name: required(body, "/properties/osProfile/computerName")?.to_owned(),
        admin_user: required(body, "/properties/osProfile/adminUsername")?.to_owned(),
        ssh_keys: Known::Value(ssh_keys(body)),
        os_disk: os_disk(body, disks)?,
        disk_controller: disk_controller(body),
        data_disks: data_disks(body)?,
        network: network(body)?,
        security: security(body)?,
        identities: identity::decode(body)?,
        reports_readiness: readiness::is_extended(body),
    })
}

pub(in crate::wire) fn image(body: &Value) -> Result<ImageReference, DecodeError> {
    const IMAGE: &str = "/properties/storageProfile/imageReference";
    let part = |name: &str| required(body, &format!("{IMAGE}/{name}"));
    let exact = text(body, &format!("{IMAGE}/exactVersion")).filter(|exact| !exact.is_empty());
    for member in ["id", "communityGalleryImageId", "sharedGalleryImageId"] {
        if let Some(id) = text(body, &format!("{IMAGE}/{member}")) {
            return Ok(ImageReference::Own(own_image(id, exact)));
        }
    }
    // The version asked for may be `latest`; the one it was made from is exact.
    let version = part("version")?;
    Ok(ImageReference::Marketplace(MarketplaceImage {
        publisher: part("publisher")?.into(),
        offer: part("offer")?.into(),
        sku: part("sku")?.into(),
        version: exact.unwrap_or(version).to_owned(),
    }))
}

/// An image by its id; one of a gallery with the version that it was made from.
fn own_image(id: &str, exact: Option<&str>) -> OwnImage {
    let id = id.trim_end_matches('/');
    let lower = id.to_lowercase();
    let image = lower
        .strip_suffix("/versions/latest")
        .and_then(|image| id.get(..image.len()))
        .unwrap_or(id);
    let is_versioned = image.len() == id.len() && lower.contains("/versions/");
    match exact.filter(|_| lower.contains("galleries/") && !is_versioned) {
        Some(exact) => OwnImage {
            id: CaseInsensitive::new(format!("{image}/versions/{exact}")),
        },
        None => OwnImage { id: id.into() },
    }
}

/// The capacity reservation group that it draws from.
pub(in crate::wire) fn reservation(body: &Value) -> Result<Option<ArmId>, DecodeError> {
    id(
        body,
        "/properties/capacityReservation/capacityReservationGroup/id",
    )
}

pub(in crate::wire) fn plan(body: &Value) -> Option<PurchasePlan> {
    let part = |name: &str| text(body, &format!("/plan/{name}"));
    Some(PurchasePlan {
        publisher: part("publisher")?.into(),
        product: part("product")?.into(),
        name: part("name")?.into(),
    })
}

/// The operating system: as the disk says, or by the settings that a body that creates has.
pub(in crate::wire) fn system(body: &Value) -> System {
    let told = text(body, &format!("{OS_DISK}/osType"));
    let windows = match told {
        Some(os) => os.eq_ignore_ascii_case("Windows"),
        None => member(body, "/properties/osProfile/windowsConfiguration").is_some(),
    };
    if windows {
        System::Windows
    } else {
        System::Linux
    }
}

pub(in crate::wire) fn priority(body: &Value) -> Result<VmPriority, DecodeError> {
    let word = text(body, PRIORITY).unwrap_or("Regular");
    match word.to_lowercase().as_str() {
        "regular" => Ok(VmPriority::Regular),
        // Machines made with the old word keep it.
        "spot" | "low" => Ok(VmPriority::Spot {
            eviction: eviction(body)?,
            max_price: max_price(body)?,
        }),
        _ => Err(unsupported(PRIORITY, word)),
    }
}

fn eviction(body: &Value) -> Result<Eviction, DecodeError> {
    let word = text(body, EVICTION).unwrap_or("Deallocate");
    match word.to_lowercase().as_str() {
        "deallocate" => Ok(Eviction::Deallocate),
        "delete" => Ok(Eviction::Delete),
        _ => Err(unsupported(EVICTION, word)),
    }
}

/// The price by its digits: `-1.0` and `-1` are one price.
fn max_price(body: &Value) -> Result<Decimal, DecodeError> {
    let Some(value) = member(body, PRICE).filter(|value| !value.is_null()) else {
        return Ok(Decimal::NEGATIVE_ONE);
    };
    let digits = value
        .as_str()
        .map_or_else(|| value.to_string(), ToOwned::to_owned);
    Decimal::from_str(&digits)
        .or_else(|_| Decimal::from_scientific(&digits))
        .map(|price| price.normalize())
        .map_err(|_| unsupported(PRICE, &digits))
}

pub(in crate::wire) fn ssh_keys(body: &Value) -> BTreeSet<String> {
    items(
        body,
        "/properties/osProfile/linuxConfiguration/ssh/publicKeys",
    )
    .filter_map(|key| text(key, "/keyData"))
    .map(without_comment)
    .collect()
}

fn os_disk(body: &Value, disks: &VmDisks) -> Result<OsDisk, DecodeError> {
    let name = required(body, &format!("{OS_DISK}/name"))?;
    let (disk, _) = os_disk_id(body);
    let looked_up = disk.and_then(|disk| disks.0.get(&disk).cloned());
    let (type_there, size_there) = looked_up.unwrap_or_default();
    let disk_type: Result<DiskType, DecodeError> = match (text(body, OS_DISK_TYPE), type_there) {
        (Some(name), _) => disk_type(name, OS_DISK_TYPE),
        (None, Some(name)) => disk_type(&name, OS_DISK_TYPE),
        (None, None) => required(body, OS_DISK_TYPE).and_then(|name| disk_type(name, OS_DISK_TYPE)),
    };
    let size_gb = match number(body, OS_DISK_SIZE).or(size_there) {
        Some(size) => size,
        None => required_number(body, OS_DISK_SIZE)?,
    };
    Ok(OsDisk {
        name: name.to_owned(),
        size_gb,
        disk_type: disk_type?,
        delete_with_vm: goes_with_vm(body, &format!("{OS_DISK}/deleteOption")),
        ephemeral: ephemeral(body),
    })
}

/// Where an OS disk stands on the node. Azure puts one whose place nobody named into the cache.
pub(in crate::wire) fn ephemeral(body: &Value) -> Option<EphemeralPlacement> {
    text(body, &format!("{OS_DISK}/diffDiskSettings/option"))?;
    let placement = text(body, &format!("{OS_DISK}/diffDiskSettings/placement"));
    let named = placement.and_then(EphemeralPlacement::named);
    Some(named.unwrap_or(EphemeralPlacement::CacheDisk))
}

/// How a machine reaches its disks, where Azure says it.
pub(in crate::wire) fn disk_controller(body: &Value) -> Option<DiskController> {
    text(body, "/properties/storageProfile/diskControllerType").and_then(DiskController::named)
}

fn data_disks(body: &Value) -> Result<BTreeMap<u32, DataDiskAttachment>, DecodeError> {
    items(body, "/properties/storageProfile/dataDisks")
        .filter(|disk| disk.get("toBeDetached").and_then(Value::as_bool) != Some(true))
        .map(|disk| {
            let attachment = DataDiskAttachment {
                disk: required_id(disk, "/managedDisk/id")?,
                caching: text(disk, "/caching").unwrap_or("None").into(),
                delete_with_vm: goes_with_vm(disk, "/deleteOption"),
            };
            Ok((required_number(disk, "/lun")?, attachment))
        })
        .collect()
}

/// A live machine names its interface; a body that creates one describes it.
fn network(body: &Value) -> Result<NetworkInterface, DecodeError> {
    let described = "/properties/networkProfile/networkInterfaceConfigurations/0";
    if let Some(configuration) = member(body, described) {
        let subnet = "/properties/ipConfigurations/0/properties/subnet/id";
        return Ok(NetworkInterface {
            name: required(configuration, "/name")?.to_owned(),
            subnet: id(configuration, subnet)?,
            accelerated: member(configuration, "/properties/enableAcceleratedNetworking")
                .and_then(Value::as_bool),
            delete_with_vm: goes_with_vm(configuration, "/properties/deleteOption"),
            public_address: member(configuration, ADDRESS).is_some(),
        });
    }
    let is_primary = |interface: &&Value| {
        member(interface, "/properties/primary").and_then(Value::as_bool) == Some(true)
    };
    let interface = items(body, INTERFACES)
        .find(is_primary)
        .or_else(|| items(body, INTERFACES).next());
    let Some(interface) = interface else {
        return no_interface(body);
    };
    Ok(NetworkInterface {
        name: asked_name(required_id(interface, "/id")?.name()).to_owned(),
        subnet: None,
        accelerated: None,
        delete_with_vm: goes_with_vm(interface, "/properties/deleteOption"),
        // Only the list of addresses tells.
        public_address: false,
    })
}

/// The name that was asked for. Azure puts eight hexadecimal digits behind the names of
/// interfaces that it makes from a configuration.
pub(in crate::wire) fn asked_name(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((asked, suffix))
            if suffix.len() == 8 && suffix.bytes().all(|byte| byte.is_ascii_hexdigit()) =>
        {
            asked
        }
        _ => name,
    }
}

/// A machine whose creation failed or goes on has no interface yet; any other has one.
fn no_interface(body: &Value) -> Result<NetworkInterface, DecodeError> {
    let state = text(body, "/properties/provisioningState").unwrap_or("Succeeded");
    if state.eq_ignore_ascii_case("Succeeded") {
        let member = "properties.networkProfile.networkInterfaces".to_owned();
        return Err(DecodeError::Missing(member));
    }
    Ok(NetworkInterface {
        name: String::new(),
        subnet: None,
        accelerated: None,
        delete_with_vm: false,
        public_address: false,
    })
}

pub(in crate::wire) fn security(body: &Value) -> Result<Security, DecodeError> {
    let word = text(body, SECURITY).unwrap_or("Standard");
    let setting = |name: &str| {
        let setting = format!("/properties/securityProfile/uefiSettings/{name}");
        member(body, &setting)
            .and_then(Value::as_bool)
            .unwrap_or(false)
    };
    match word.to_lowercase().as_str() {
        "standard" => Ok(Security::Standard),
        "trustedlaunch" => Ok(Security::TrustedLaunch {
            secure_boot: setting("secureBootEnabled"),
            vtpm: setting("vTpmEnabled"),
        }),
        _ => Err(unsupported(SECURITY, word)),
    }
}
