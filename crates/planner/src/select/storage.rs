//! How nodes reach their disks, and where an OS disk on the node stands: by what the size has
//! and the image drives. What Azure says of a size goes before the rule of names.

use std::collections::BTreeSet;

use model::{
    catalog::{EphemeralRoom, Size},
    live::SizeFact,
    resource::VirtualMachine,
    spec::{DiskController, EphemeralOs, EphemeralPlacement, SecurityChoice},
    units::SizeName,
};

use super::{Context, image};

/// GiB that the state of a Trusted Launch guest takes beside an ephemeral OS disk.
const GUEST_STATE_GIB: u32 = 1;

/// The disk controllers of a size; empty where nobody says.
pub(super) fn controllers(context: Context<'_>, size: &Size) -> BTreeSet<DiskController> {
    let fact = context.size_fact(size);
    let told = fact.and_then(|fact| fact.capabilities.get("DiskControllerTypes"));
    match told {
        Some(told) => told.split(',').filter_map(DiskController::named).collect(),
        None => size.disk_controllers(),
    }
}

/// Where an OS disk can stand on a node of a size; `None` where nobody says.
pub(super) fn room(context: Context<'_>, size: &Size) -> Option<EphemeralRoom> {
    let by_name = size.ephemeral_room();
    let Some(fact) = context.size_fact(size) else {
        return by_name;
    };
    let told = |name: &str| fact.capabilities.get(name);
    if told("EphemeralOSDiskSupported").is_some_and(|told| told.eq_ignore_ascii_case("false")) {
        return Some(EphemeralRoom::new());
    }
    let Some(places) = told("SupportedEphemeralOSDiskPlacements") else {
        return by_name;
    };
    let places = places.split(',').filter_map(EphemeralPlacement::named);
    let by_name = by_name.unwrap_or_default();
    let with_room = places.map(|place| {
        let known = told_gib(fact, place);
        (place, known.or(by_name.get(&place).copied().flatten()))
    });
    Some(with_room.collect())
}

/// GiB at a place by the capability that says them: bytes of the cache, MiB of the others.
fn told_gib(fact: &SizeFact, place: EphemeralPlacement) -> Option<u32> {
    let (name, a_gib) = match place {
        EphemeralPlacement::CacheDisk => ("CachedDiskBytes", 1_u64 << 30),
        EphemeralPlacement::ResourceDisk => ("MaxResourceVolumeMB", 1 << 10),
        EphemeralPlacement::NvmeDisk => ("NvmeDiskSizeInMiB", 1 << 10),
    };
    let amount: u64 = fact.capabilities.get(name)?.parse().ok()?;
    u32::try_from(amount / a_gib).ok()
}

/// Where the OS disk of new nodes stands: nowhere but in a managed disk (`None`), at a place, or
/// why there is no place for it. `os_disk_gb` is its size where it is known.
pub(super) fn placement(
    context: Context<'_>,
    size: &Size,
    os_disk_gb: Option<u32>,
) -> Result<Option<EphemeralPlacement>, String> {
    let wanted = match context.pool.disks.os_ephemeral {
        EphemeralOs::No => return Ok(None),
        EphemeralOs::Auto => None,
        EphemeralOs::At(place) => Some(place),
    };
    let Some(room) = room(context, size) else {
        // The place that Azure takes first; it decides whether there is one.
        return Ok(Some(wanted.unwrap_or(EphemeralPlacement::CacheDisk)));
    };
    if room.is_empty() {
        return Err("takes no OS disk on the node".to_owned());
    }
    let lacks = |place: EphemeralPlacement| {
        let others: Vec<String> = room.keys().map(|key| format!("`{}`", key.key())).collect();
        format!(
            "has no {} for the OS disk, it takes {}",
            place.words(),
            others.join(" or ")
        )
    };
    if let Some(place) = wanted.filter(|place| !room.contains_key(place)) {
        return Err(lacks(place));
    }
    let needed = os_disk_gb.map(|gib| gib + guest_state(context));
    let places = room.iter();
    let places: Vec<(EphemeralPlacement, Option<u32>)> = places
        .filter(|(place, _)| wanted.is_none_or(|wanted| wanted == **place))
        .map(|(place, gib)| (*place, *gib))
        .collect();
    let is_enough = |gib: &Option<u32>| match (gib, needed) {
        (Some(gib), Some(needed)) => *gib >= needed,
        (Some(_), None) => true,
        (None, _) => false,
    };
    let sure = places.iter().find(|(_, gib)| is_enough(gib));
    let likely = places.iter().find(|(_, gib)| gib.is_none());
    match sure.or(likely) {
        Some((place, _)) => Ok(Some(*place)),
        None => Err(too_small(&places, needed.unwrap_or_default())),
    }
}

fn too_small(places: &[(EphemeralPlacement, Option<u32>)], needed: u32) -> String {
    let room: Vec<String> = places
        .iter()
        .filter_map(|(place, gib)| Some(format!("{} GiB of {}", (*gib)?, place.words())))
        .collect();
    format!(
        "has {}, the OS disk on the node needs {needed} GiB",
        room.join(" and ")
    )
}

fn guest_state(context: Context<'_>) -> u32 {
    match context.pool.security {
        SecurityChoice::TrustedLaunch => GUEST_STATE_GIB,
        SecurityChoice::Auto | SecurityChoice::Standard => 0,
    }
}

/// The size of the OS disk that the spec or the image asks for.
pub(super) fn os_disk_gb(context: Context<'_>, size: &Size) -> Option<u32> {
    let by_image = || Some(image::choose(context, size).ok()?.os_disk_gb);
    context.pool.disks.os_size_gb.or_else(by_image)
}

/// Why a size does not have the disk controller that the spec names.
pub(super) fn lacks_controller(context: Context<'_>, size: &Size) -> Option<String> {
    let wanted = context.pool.disk_controller?;
    let had = controllers(context, size);
    let known = !had.is_empty() && !had.contains(&wanted);
    known.then(|| {
        format!(
            "has no {} disk controller, it has {}",
            wanted.word(),
            words(&had)
        )
    })
}

/// Controllers as Azure spells them.
pub(super) fn words(controllers: &BTreeSet<DiskController>) -> String {
    let words: Vec<&str> = controllers.iter().map(|one| one.word()).collect();
    words.join(" and ")
}

/// How new nodes reach their disks: as the spec says, by NVMe where the size has nothing else,
/// and as Azure does by itself otherwise (`None`), which is SCSI wherever a size has it.
pub(super) fn controller(context: Context<'_>, size: &Size) -> Option<DiskController> {
    context.pool.disk_controller.or_else(|| {
        let had = controllers(context, size);
        let only_nvme = had.contains(&DiskController::Nvme) && had.len() == 1;
        only_nvme.then_some(DiskController::Nvme)
    })
}

/// How a live node goes on reaching its disks: as it does, as long as its size has that.
pub(super) fn kept(
    context: Context<'_>,
    size: &SizeName,
    vm: &VirtualMachine,
    new_node: Option<DiskController>,
) -> Option<DiskController> {
    if context.pool.disk_controller.is_some() {
        return new_node;
    }
    let live = vm.disk_controller;
    if vm.size == *size {
        return live;
    }
    let Some(size) = context.catalog.size(size) else {
        return live;
    };
    let had = controllers(context, size);
    if had.is_empty() || live.is_some_and(|live| had.contains(&live)) {
        return live;
    }
    match live {
        Some(_) => had.first().copied(),
        None => new_node,
    }
}
