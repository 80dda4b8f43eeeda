//! Sizes: what a region offers, and what is restricted for the subscription.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use model::{
    catalog::{GpuShare, Offer, Size},
    spec::{DiskController, EphemeralPlacement},
};
use serde_json::{Value, json};

use crate::{
    call::Call,
    catalogue,
    error::ArmError,
    http::{Answer, Body},
    odata::Filter,
    store::{entry::Restriction, world::World},
};

/// The answer of the SKUs API; its filter knows the location alone.
pub(crate) fn list(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let wanted = match call.query().get("$filter") {
        Some(filter) => Some(location_of(filter)?),
        None => None,
    };
    let restricted = world.restrictions().next().is_some();
    if restricted {
        let value = skus(wanted.as_deref(), |region, size| {
            world.restriction(call.subscription(), region, size)
        });
        return Ok(Answer::json(200, json!({"value": value})));
    }
    Ok(Answer {
        body: Body::Text(unrestricted(wanted)),
        ..Answer::empty(200)
    })
}

/// The list without restrictions. It is a megabyte and the same for everybody, so it is made once.
fn unrestricted(wanted: Option<String>) -> Arc<str> {
    static MADE: Mutex<BTreeMap<Option<String>, Arc<str>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = made.get(&wanted) {
        return Arc::clone(known);
    }
    let value = skus(wanted.as_deref(), |_, _| None);
    let text: Arc<str> = json!({"value": value}).to_string().into();
    // Places that are none would let it grow without end.
    if !value.is_empty() {
        made.insert(wanted, Arc::clone(&text));
    }
    text
}

fn skus<'a>(
    wanted: Option<&str>,
    restriction: impl Fn(&str, &str) -> Option<&'a Restriction>,
) -> Vec<Value> {
    let mut value = Vec::new();
    for region in catalogue::regions() {
        let name = region.name.as_str();
        if wanted.is_some_and(|wanted| wanted != name) {
            continue;
        }
        for offer in catalogue::offers(name)
            .into_iter()
            .flat_map(model::catalog::RegionOffers::iter)
        {
            if let Some(size) = catalogue::size(offer.size.as_str()) {
                let restriction = restriction(name, size.name.as_str());
                value.push(sku(restriction, name, size, offer));
            }
        }
    }
    value
}

fn location_of(filter: &str) -> Result<String, ArmError> {
    let parsed = Filter::parse(filter).ok();
    let location = parsed
        .as_ref()
        .and_then(|filter| filter.demanded("location"));
    match location {
        Some(location) => Ok(location.replace(' ', "").to_lowercase()),
        None => Err(ArmError::invalid_parameter(
            "$filter",
            format!("The filter '{filter}' is not supported. Only 'location eq' is."),
        )),
    }
}

fn sku(restriction: Option<&Restriction>, region: &str, size: &Size, offer: &Offer) -> Value {
    let name = size.name.as_str();
    let restrictions: Vec<Value> = restriction
        .map(|restriction| restrictions(restriction, region))
        .unwrap_or_default();
    let mut sku = json!({
        "resourceType": "virtualMachines",
        "name": name,
        "tier": "Standard",
        "size": name.trim_start_matches("Standard_"),
        "locations": [region],
        "locationInfo": [{
            "location": region,
            "zones": offer.zones.iter().collect::<Vec<_>>(),
            "zoneDetails": [],
        }],
        "capabilities": capabilities(size, offer),
        "restrictions": restrictions,
    });
    if let Some(family) = &size.family {
        crate::json::set(&mut sku, "/family", json!(family.as_str()));
    }
    sku
}

fn restrictions(restriction: &Restriction, region: &str) -> Vec<Value> {
    let mut info = json!({"locations": [region]});
    let kind = if restriction.zones.is_empty() {
        "Location"
    } else {
        crate::json::set(&mut info, "/zones", json!(restriction.zones));
        "Zone"
    };
    vec![json!({
        "type": kind,
        "values": [region],
        "restrictionInfo": info,
        "reasonCode": restriction.reason,
    })]
}

/// Capabilities, each only where the catalogue knows it.
pub(crate) fn capabilities(size: &Size, offer: &Offer) -> Vec<Value> {
    let word = |flag: bool| if flag { "True" } else { "False" }.to_owned();
    let generations: Vec<String> = size
        .generations
        .iter()
        .map(|generation| format!("V{generation}"))
        .collect();
    let gpus = match size.gpu.as_ref().map(|gpu| gpu.share) {
        Some(Some(GpuShare::Whole(count))) => Some(count.to_string()),
        Some(Some(GpuShare::Part(_)) | None) | None => None,
    };
    let known = [
        ("vCPUs", Some(size.vcpus.to_string())),
        ("MemoryGB", size.memory_mib.map(gigabytes)),
        (
            "MaxDataDiskCount",
            size.max_data_disks.map(|count| count.to_string()),
        ),
        (
            "HyperVGenerations",
            (!generations.is_empty()).then(|| generations.join(",")),
        ),
        (
            "CpuArchitectureType",
            size.architecture
                .map(|architecture| catalogue::architecture(architecture).to_owned()),
        ),
        ("LowPriorityCapable", Some(word(offer.spot))),
        ("PremiumIO", size.premium_disks.map(word)),
        ("DiskControllerTypes", controllers(size)),
        ("EphemeralOSDiskSupported", size.ephemeral_os_disk.map(word)),
        (
            "EncryptionAtHostSupported",
            size.encryption_at_host.map(word),
        ),
        (
            "AcceleratedNetworkingEnabled",
            size.accelerated_networking.map(word),
        ),
        ("RdmaEnabled", Some(word(size.rdma))),
        (
            "MaxNetworkInterfaces",
            size.max_nics.map(|count| count.to_string()),
        ),
        ("GPUs", gpus),
    ];
    let on_the_node = disks_on_the_node(size).into_iter();
    known
        .into_iter()
        .chain(on_the_node)
        .filter_map(|(name, value)| Some(json!({"name": name, "value": value?})))
        .collect()
}

/// Recorded: sizes that have SCSI alone name no controller.
fn controllers(size: &Size) -> Option<String> {
    let had = size.disk_controllers();
    let words: Vec<&str> = had.iter().map(|controller| controller.word()).collect();
    had.contains(&DiskController::Nvme)
        .then(|| words.join(", "))
}

/// What holds an OS disk on the node, and how much of it.
fn disks_on_the_node(size: &Size) -> [(&'static str, Option<String>); 4] {
    let room = |place, parts| room(size, place, parts);
    [
        ("SupportedEphemeralOSDiskPlacements", placements(size)),
        (
            "CachedDiskBytes",
            room(EphemeralPlacement::CacheDisk, 1 << 30),
        ),
        (
            "MaxResourceVolumeMB",
            room(EphemeralPlacement::ResourceDisk, 1 << 10),
        ),
        (
            "NvmeDiskSizeInMiB",
            room(EphemeralPlacement::NvmeDisk, 1 << 10),
        ),
    ]
}

/// Recorded: `ResourceDisk,CacheDisk`; absent where there is none.
fn placements(size: &Size) -> Option<String> {
    let room = size.ephemeral_room()?;
    let words: Vec<&str> = room.keys().rev().map(|place| place.word()).collect();
    (!words.is_empty()).then(|| words.join(","))
}

/// What a size has at a place, counted in parts of a GiB.
fn room(size: &Size, place: EphemeralPlacement, parts: u64) -> Option<String> {
    let gib = size.ephemeral_room()?.get(&place).copied().flatten()?;
    Some((u64::from(gib) * parts).to_string())
}

/// MiB as GB with up to two decimals, as capabilities spell memory: `0.75`, `112`.
fn gigabytes(mib: u64) -> String {
    let whole = mib / 1024;
    let hundredths = (mib % 1024) * 100 / 1024;
    let text = format!("{whole}.{hundredths:02}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The answer of the older sizes API for a region.
pub(crate) fn sizes(region: &str) -> Vec<Value> {
    catalogue::offers(region)
        .into_iter()
        .flat_map(model::catalog::RegionOffers::iter)
        .filter_map(|offer| catalogue::size(offer.size.as_str()))
        .map(legacy)
        .collect()
}

/// A size as the older API shows it. The size of its temporary disk is not in the catalogue.
pub(crate) fn legacy(size: &Size) -> Value {
    let mut shown = json!({
        "name": size.name.as_str(),
        "numberOfCores": size.vcpus,
        "osDiskSizeInMB": 1_047_552,
    });
    if let Some(memory) = size.memory_mib {
        crate::json::set(&mut shown, "/memoryInMB", json!(memory));
    }
    if let Some(disks) = size.max_data_disks {
        crate::json::set(&mut shown, "/maxDataDiskCount", json!(disks));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_printed_without_needless_zeros() {
        assert_eq!(gigabytes(768), "0.75");
        assert_eq!(gigabytes(114_688), "112");
        assert_eq!(gigabytes(3_584), "3.5");
    }
}
