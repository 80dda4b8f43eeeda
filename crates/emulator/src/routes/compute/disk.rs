//! Managed disks.

use model::ids::ArmId;
use serde_json::{Value, json};

use crate::{
    call::Call,
    durations::{DISK_DELETE, DISK_WRITE, Timing},
    error::ArmError,
    http::{Answer, Method},
    json::{default, number, same, set, text},
    lro::{self, Plan, Twin},
    routes::common::{self, check_name, location, not_served, put_tags, tags},
    store::{
        entry::{Operation, Resource, Style, Work},
        world::World,
    },
    types::Type,
};

pub(crate) fn answer(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    match (call.method(), call.path.is_open()) {
        (Method::Get, true) => {
            let size = call.setup.pages.others;
            Ok(super::list(world, call, row, size, |disk| {
                show(world, disk)
            }))
        }
        (Method::Get, false) => {
            common::resource(world, call).map(|disk| Answer::json(200, show(world, disk)))
        }
        (Method::Put, false) => put(world, call, row),
        (Method::Patch, false) => patch(world, call, row),
        (Method::Delete, false) => delete(world, call),
        _ => Err(not_served(call)),
    }
}

/// The VM that holds a disk.
pub(crate) fn holder<'a>(world: &'a World, disk: &ArmId) -> Option<&'a Resource> {
    world
        .users(disk.key())
        .find(|user| user.is("Microsoft.Compute/virtualMachines"))
}

/// A disk as its GET shows it.
pub(crate) fn show(world: &World, resource: &Resource) -> Value {
    let mut shown = common::base(resource);
    let holder = holder(world, &resource.id);
    let state = match holder {
        None => "Unattached",
        Some(vm) => match &vm.hidden.machine {
            Some(machine) if machine.is_allocated() => "Attached",
            Some(_) | None => "Reserved",
        },
    };
    set(&mut shown, "/properties/diskState", json!(state));
    if let Some(vm) = holder {
        set(&mut shown, "/managedBy", json!(vm.id.as_str()));
    }
    shown
}

/// What the operation of a disk carries when it has succeeded.
pub(crate) fn output(world: &World, id: &ArmId) -> Option<Value> {
    world.resource(id).map(|disk| show(world, disk))
}

/// A VM shows the kind and size that its disks have now.
pub(crate) fn tell_holder(world: &mut World, id: &ArmId) {
    let Some(disk) = world.resource(id) else {
        return;
    };
    let size = disk.body.pointer("/properties/diskSizeGB").cloned();
    let kind = disk.body.pointer("/sku/name").cloned();
    let Some(holder) = holder(world, id).map(|holder| holder.id.clone()) else {
        return;
    };
    let tell = |shown: &mut Value| {
        let of_this = text(shown, "/managedDisk/id").is_some_and(|held| same(held, id.as_str()));
        if of_this && let (Some(size), Some(kind)) = (&size, &kind) {
            set(shown, "/diskSizeGB", size.clone());
            set(shown, "/managedDisk/storageAccountType", kind.clone());
        }
    };
    world.change(&holder, |machine| {
        let storage = machine.body.pointer_mut("/properties/storageProfile");
        let Some(storage) = storage else { return };
        storage.get_mut("osDisk").into_iter().for_each(tell);
        let data_disks = storage.get_mut("dataDisks").and_then(Value::as_array_mut);
        data_disks.into_iter().flatten().for_each(tell);
    });
}

fn put(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    check_name(call, row)?;
    let given = call.body(row)?;
    let id = common::id(world, call).ok_or_else(|| not_served(call))?;
    let old = world.resource(&id).cloned();
    let place = location(&given, row, old.as_ref())?;
    let tags = tags(&given)?;
    if let Some(old) = &old {
        check_change(world, old, &given)?;
    } else {
        check_new(world, &given)?;
    }
    let mut given = given;
    let source = "/properties/creationData/sourceResourceId";
    if let (None, Some(source)) = (&old, text(&given, source).map(str::to_owned)) {
        super::snapshot::inherit(world, &mut given, &source)?;
    }
    set(&mut given, "/location", json!(place));
    put_tags(&mut given, tags.clone());
    let mut body = old.as_ref().map(|old| old.body.clone()).unwrap_or_default();
    crate::json::merge(&mut body, &given);
    put_tags(&mut body, tags);
    Ok(write(world, call, row, id, old.as_ref(), &given, body))
}

fn patch(world: &mut World, call: &Call<'_>, row: &Type) -> Result<Answer, ArmError> {
    let given = call.body(row)?;
    let old = common::resource(world, call)?.clone();
    check_change(world, &old, &given)?;
    let mut body = old.body.clone();
    crate::json::merge(&mut body, &given);
    if let Some(tags) = tags(&given)? {
        put_tags(&mut body, Some(tags));
    }
    // The schema wants how the disk was made also of an answer to PATCH, which names only changes.
    let mut shown = given;
    for kept in ["/location", "/properties/creationData"] {
        if let Some(value) = old.body.pointer(kept) {
            set(&mut shown, kept, value.clone());
        }
    }
    let id = old.id.clone();
    Ok(write(world, call, row, id, Some(&old), &shown, body))
}

/// Stores a disk, begins its operation, and answers with what was asked for.
fn write(
    world: &mut World,
    call: &Call<'_>,
    row: &Type,
    id: ArmId,
    old: Option<&Resource>,
    given: &Value,
    body: Value,
) -> Answer {
    let place = text(&body, "/location").unwrap_or_default().to_owned();
    let mut disk = old
        .cloned()
        .unwrap_or_else(|| common::new(world, id, row, &place, Value::Null));
    // The first answer shows the request, and of a disk that was there also its tier.
    disk.body = given.clone();
    default(
        &mut disk.body,
        "/sku/name",
        text(&body, "/sku/name").unwrap_or("Standard_LRS"),
    );
    disk.set_state("Updating");
    let mut shown = common::base(&disk);
    disk.body = body;
    default(&mut disk.body, "/sku/name", "Standard_LRS");
    disk.set_state("Updating");
    disk.changed = world.now();
    if let Some(tier) = old.and_then(|old| text(&old.body, "/properties/tier")) {
        set(&mut shown, "/properties/tier", json!(tier));
    }
    complete(world, &mut disk, old);
    let operation = begin(world, call, &disk, Work::Settle, DISK_WRITE);
    disk.operation = Some(operation.id.clone());
    world.put_resource(disk);
    lro::announce(
        Answer::json(202, shown),
        call,
        &operation,
        Twin::Yes,
        DISK_WRITE.retry_after,
    )
}

fn begin(
    world: &mut World,
    call: &Call<'_>,
    disk: &Resource,
    work: Work,
    timing: Timing,
) -> Operation {
    lro::begin(
        world,
        call,
        &Plan {
            target: &disk.id,
            location: &disk.location,
            style: Style::Disk,
            work,
            title: "DiskOperation",
            timing,
        },
    )
}

/// Gives a disk the members that Azure adds.
pub(crate) fn complete(world: &mut World, disk: &mut Resource, old: Option<&Resource>) {
    let created = disk.created.precise();
    let unique = old
        .and_then(|old| text(&old.body, "/properties/uniqueId").map(str::to_owned))
        .unwrap_or_else(|| world.mint());
    let body = &mut disk.body;
    let sku = text(body, "/sku/name").unwrap_or_default().to_owned();
    let size = number(body, "/properties/diskSizeGB").unwrap_or(0);
    set(body, "/sku/tier", json!(sku_tier(&sku)));
    set(body, "/properties/timeCreated", json!(created));
    set(body, "/properties/uniqueId", json!(unique));
    set(
        body,
        "/properties/diskSizeBytes",
        json!(size.saturating_mul(1_073_741_824)),
    );
    let tier = tier(&sku, size);
    let fixed = !sku.starts_with("PremiumV2") && !sku.starts_with("UltraSSD");
    if fixed {
        set(body, "/properties/diskIOPSReadWrite", json!(tier.iops));
        set(body, "/properties/diskMBpsReadWrite", json!(tier.mbps));
    } else {
        default(body, "/properties/diskIOPSReadWrite", tier.iops);
        default(body, "/properties/diskMBpsReadWrite", tier.mbps);
    }
    if let Some(name) = tier.name {
        set(body, "/properties/tier", json!(name));
    }
    default(
        body,
        "/properties/encryption/type",
        "EncryptionAtRestWithPlatformKey",
    );
    default(body, "/properties/networkAccessPolicy", "AllowAll");
    default(body, "/properties/publicNetworkAccess", "Enabled");
}

fn sku_tier(sku: &str) -> &'static str {
    if sku.starts_with("Premium") {
        "Premium"
    } else if sku.starts_with("Ultra") {
        "Ultra"
    } else {
        "Standard"
    }
}

/// The performance of a disk of a kind and size.
struct Tier {
    name: Option<String>,
    iops: u64,
    mbps: u64,
}

/// Premium SSD tiers by their largest size in GiB: name, IOPS, MB/s. One is recorded (P20);
/// the others are Microsoft's table.
const PREMIUM: [(u64, &str, u64, u64); 14] = [
    (4, "P1", 120, 25),
    (8, "P2", 120, 25),
    (16, "P3", 120, 25),
    (32, "P4", 120, 25),
    (64, "P6", 240, 50),
    (128, "P10", 500, 100),
    (256, "P15", 1_100, 125),
    (512, "P20", 2_300, 150),
    (1_024, "P30", 5_000, 200),
    (2_048, "P40", 7_500, 250),
    (4_096, "P50", 7_500, 250),
    (8_192, "P60", 16_000, 500),
    (16_384, "P70", 18_000, 750),
    (32_767, "P80", 20_000, 900),
];

fn tier(sku: &str, size: u64) -> Tier {
    if sku.starts_with("PremiumV2") || sku.starts_with("Ultra") {
        return Tier {
            name: None,
            iops: 3_000,
            mbps: 125,
        };
    }
    if sku.starts_with("Premium") {
        let found = PREMIUM.iter().find(|(largest, ..)| size <= *largest);
        return match found.or(PREMIUM.last()) {
            Some((_, name, iops, mbps)) => Tier {
                name: Some((*name).to_owned()),
                iops: *iops,
                mbps: *mbps,
            },
            None => Tier {
                name: None,
                iops: 0,
                mbps: 0,
            },
        };
    }
    let (iops, mbps) = match size {
        0..=4_096 => (500, 60),
        4_097..=8_192 => (2_000, 400),
        8_193..=16_384 => (4_000, 600),
        _ => (6_000, 750),
    };
    Tier {
        name: None,
        iops,
        mbps,
    }
}

fn check_new(world: &World, given: &Value) -> Result<(), ArmError> {
    let option = text(given, "/properties/creationData/createOption").unwrap_or_default();
    let size = number(given, "/properties/diskSizeGB");
    match option.to_lowercase().as_str() {
        "empty" => {
            let Some(size) = size else {
                return Err(ArmError::missing_parameter("disk.diskSizeGB"));
            };
            check_size(size)
        }
        "copy" => {
            let source = text(given, "/properties/creationData/sourceResourceId");
            let Some(source) = source else {
                return Err(ArmError::missing_parameter("creationData.sourceResourceId"));
            };
            if world.resource_by_key(&source.to_lowercase()).is_some() {
                return Ok(());
            }
            Err(ArmError::new(
                404,
                "NotFound",
                format!("The source '{source}' of the disk is not found."),
            ))
        }
        "fromimage" => Ok(()),
        "" => Err(ArmError::missing_parameter("creationData.createOption")),
        other => Err(ArmError::new(
            501,
            "NotServedBySandbox",
            format!("The sandbox makes no disks with the create option '{other}'."),
        )),
    }
}

fn check_size(size: u64) -> Result<(), ArmError> {
    if (1..=65_536).contains(&size) {
        return Ok(());
    }
    Err(ArmError::invalid_parameter(
        "disk.diskSizeGB",
        format!("The value '{size}' of parameter 'disk.diskSizeGB' is out of range."),
    ))
}

/// A disk of a running VM does not grow from below this many GiB to above it.
const ONLINE_BOUND: u64 = 4_096;

/// Whether a disk has the system of a VM.
fn holds_system(vm: &Resource, disk: &Resource) -> bool {
    let system = "/properties/storageProfile/osDisk/managedDisk/id";
    text(&vm.body, system).is_some_and(|id| same(id, disk.id.as_str()))
}

/// What a disk that is there cannot become.
fn check_change(world: &World, old: &Resource, given: &Value) -> Result<(), ArmError> {
    let option = text(given, "/properties/creationData/createOption");
    let before = text(&old.body, "/properties/creationData/createOption").unwrap_or_default();
    if option.is_some_and(|option| !same(option, before)) {
        return Err(ArmError::property_change("creationData.createOption"));
    }
    if given.get("zones").is_some() && given.get("zones") != old.body.get("zones") {
        return Err(ArmError::property_change("zones"));
    }
    let running = holder(world, &old.id).filter(|vm| {
        vm.hidden
            .machine
            .as_ref()
            .is_some_and(crate::store::entry::Machine::is_allocated)
    });
    let size = number(given, "/properties/diskSizeGB");
    let had = number(&old.body, "/properties/diskSizeGB");
    if let (Some(size), Some(had)) = (size, had)
        && size != had
    {
        check_size(size)?;
        if size < had {
            return Err(ArmError::invalid_parameter(
                "disk.diskSizeGB",
                format!("The disk size of {had} GB cannot be reduced to {size} GB."),
            ));
        }
        // Documented: data disks grow while their VM runs, but not across this bound.
        let crosses = had <= ONLINE_BOUND && size > ONLINE_BOUND;
        if let Some(vm) = running.filter(|vm| crosses || holds_system(vm, old)) {
            return Err(ArmError::new(
                409,
                "Conflict",
                format!(
                    "Cannot resize disk {} while it is attached to running VM {}. Resizing a disk \
                     of an Azure Virtual Machine requires the virtual machine to be deallocated.",
                    old.name(),
                    vm.id
                ),
            ));
        }
    }
    let sku = text(given, "/sku/name");
    if sku.is_some_and(|sku| text(&old.body, "/sku/name").is_some_and(|had| !same(sku, had)))
        && let Some(vm) = running
    {
        return Err(ArmError::new(
            409,
            "Conflict",
            format!(
                "Cannot change the storage account type of disk {} while it is attached to \
                 running VM {}.",
                old.name(),
                vm.id
            ),
        ));
    }
    Ok(())
}

fn delete(world: &mut World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let Some(disk) = super::existing(world, call) else {
        return Ok(Answer::empty(204));
    };
    if let Some(vm) = holder(world, &disk.id) {
        return Err(ArmError::not_allowed(format!(
            "Disk {} is attached to VM {}.",
            disk.name(),
            vm.id
        )));
    }
    let operation = begin(world, call, &disk, Work::Delete, DISK_DELETE);
    world.change(&disk.id, |disk| disk.operation = Some(operation.id.clone()));
    Ok(lro::announce(
        Answer::empty(202),
        call,
        &operation,
        Twin::Yes,
        DISK_DELETE.retry_after,
    ))
}
