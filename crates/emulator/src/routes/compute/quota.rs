//! Limits of Compute, and what a VM uses of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    catalogue,
    error::ArmError,
    json::{same, text},
    routes::network::{public_ip, usages},
    store::world::World,
};

/// Virtual CPUs of a family that a new world grants in every region.
const FAMILY_LIMIT: u64 = 100_000;

/// Virtual CPUs of all families together.
const REGIONAL_LIMIT: u64 = 200_000;

/// Virtual CPUs of Spot VMs.
const SPOT_LIMIT: u64 = 100_000;

/// Counters that are no families: name, title, limit. The limits of the last three are Azure's
/// own, as recorded; those of the virtual CPUs are generous on purpose.
const COUNTERS: [(&str, &str, u64); 5] = [
    ("cores", "Total Regional vCPUs", REGIONAL_LIMIT),
    (
        "lowPriorityCores",
        "Total Regional Low-priority vCPUs",
        SPOT_LIMIT,
    ),
    ("virtualMachines", "Virtual Machines", 25_000),
    ("availabilitySets", "Availability Sets", 2_500),
    (
        "virtualMachineScaleSets",
        "Virtual Machine Scale Sets",
        2_500,
    ),
];

/// Whether a VM is Spot, by either word for it.
pub(crate) fn is_spot(body: &Value) -> bool {
    text(body, "/properties/priority")
        .is_some_and(|priority| same(priority, "Spot") || same(priority, "Low"))
}

/// What a VM uses of each counter, running or not.
pub(crate) fn of_machine(body: &Value) -> BTreeMap<String, u64> {
    let mut used = BTreeMap::from([("virtualMachines".to_owned(), 1)]);
    let size = text(body, "/properties/hardwareProfile/vmSize").and_then(catalogue::size);
    let Some(size) = size else {
        return used;
    };
    let cores = u64::from(size.vcpus);
    if is_spot(body) {
        used.insert("lowPriorityCores".to_owned(), cores);
    } else {
        used.insert("cores".to_owned(), cores);
        if let Some(family) = catalogue::family(size) {
            used.insert(family.name, cores);
        }
    }
    used
}

/// The limit of a counter: the world's, or that of a new world.
pub(crate) fn limit(world: &World, subscription: &str, location: &str, name: &str) -> u64 {
    if let Some(quota) = world.quota(subscription, location, name) {
        return quota.limit;
    }
    let mut counters = COUNTERS.iter();
    let own = counters.find(|(known, _, _)| same(known, name));
    // Machines may bring along what the network counts.
    own.map(|(_, _, limit)| *limit)
        .or_else(|| usages::usual(name))
        .unwrap_or(FAMILY_LIMIT)
}

/// The names of all counters.
pub(crate) fn names() -> impl Iterator<Item = String> {
    let families = catalogue::families()
        .into_iter()
        .map(|counter| counter.name);
    COUNTERS
        .iter()
        .map(|(name, _, _)| (*name).to_owned())
        .chain(families)
}

/// Refuses what would exceed a counter, the family's before the region's.
pub(crate) fn check(
    world: &World,
    subscription: &str,
    location: &str,
    old: &BTreeMap<String, u64>,
    new: &BTreeMap<String, u64>,
) -> Result<(), ArmError> {
    match short(world, subscription, location, old, new) {
        None => Ok(()),
        Some(Short {
            name,
            limit,
            used,
            more,
        }) => Err(exceeded(name, location, limit, used, more)),
    }
}

/// A counter that does not suffice.
pub(crate) struct Short<'a> {
    pub(crate) name: &'a str,
    pub(crate) limit: u64,
    pub(crate) used: u64,
    pub(crate) more: u64,
}

/// The first counter that something new would exceed, the family's before the region's.
pub(crate) fn short<'a>(
    world: &World,
    subscription: &str,
    location: &str,
    old: &BTreeMap<String, u64>,
    new: &'a BTreeMap<String, u64>,
) -> Option<Short<'a>> {
    let mut names: Vec<&String> = new.keys().collect();
    names.sort_by_key(|name| COUNTERS.iter().any(|(known, _, _)| same(known, name)));
    names.into_iter().find_map(|name| {
        let wanted = new.get(name).copied().unwrap_or(0);
        let more = wanted.saturating_sub(old.get(name).copied().unwrap_or(0));
        let used = world.usage(subscription, location, name);
        let limit = limit(world, subscription, location, name);
        (more > 0 && used + more > limit).then_some(Short {
            name,
            limit,
            used,
            more,
        })
    })
}

fn exceeded(name: &str, location: &str, limit: u64, used: u64, more: u64) -> ArmError {
    if usages::usual(name).is_some() {
        return public_ip::too_many(limit);
    }
    let title = match name {
        "cores" => "Total Regional Cores".to_owned(),
        "lowPriorityCores" => "LowPriorityCores".to_owned(),
        "virtualMachines" => "VirtualMachines".to_owned(),
        family => format!("{family} Cores"),
    };
    ArmError::not_allowed(format!(
        "Operation could not be completed as it results in exceeding approved {title} quota. \
         Additional details - Deployment Model: Resource Manager, Location: {location}, Current \
         Limit: {limit}, Current Usage: {used}, Additional Required: {more}, (Minimum) New Limit \
         Required: {}. Setup Alerts when Quota reaches threshold. Learn more at \
         https://aka.ms/quotamonitoringalerting . Submit a request for Quota increase at \
         https://aka.ms/ProdportalCRP/.",
        used + more
    ))
}

/// The answer of the usages API.
pub(crate) fn list(world: &World, subscription: &str, location: &str) -> Vec<Value> {
    let families = catalogue::families();
    let fixed = COUNTERS.iter().map(|(name, title, _)| (*name, *title));
    let families = families
        .iter()
        .map(|counter| (counter.name.as_str(), counter.title.as_str()));
    fixed
        .chain(families)
        .map(|(name, title)| {
            json!({
                "limit": limit(world, subscription, location, name),
                "unit": "Count",
                "currentValue": world.usage(subscription, location, name),
                "name": {"value": name, "localizedValue": title},
            })
        })
        .collect()
}
