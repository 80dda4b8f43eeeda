//! Capacity reservation groups: which sizes can be reserved at all, and the places that a group
//! has for a size.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    catalog::Size,
    ids::ArmId,
    live::{Answer, Live, ReservationGroupFact},
    resource::{Orchestration, ResourceKind},
    units::SizeName,
};

/// Series that Azure reserves no capacity of.
const NOT_RESERVED: [&str; 4] = ["ND", "HB", "HC", "HX"];

/// Whether Azure reserves capacity of a size: not of those with InfiniBand, and of the NC series
/// not of the H100.
pub(crate) fn can_be_reserved(size: &Size) -> bool {
    let gpu = size.gpu.as_ref();
    let is_hopper = gpu.is_some_and(|gpu| gpu.model.starts_with("H100"));
    let series = size.series.as_str();
    !(NOT_RESERVED.contains(&series) || series == "NC" && is_hopper)
}

/// What is known of a group; `None` where nobody asked or could tell.
pub(crate) fn group<'a>(live: &'a Live, id: &ArmId) -> Option<&'a Option<ReservationGroupFact>> {
    live.facts.reservations.get(id).and_then(Answer::known)
}

/// Places for VMs of one size in one zone, or in the region as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// All of them.
    pub(crate) all: u32,
    /// Those that others have.
    pub(crate) taken: u32,
}

impl Places {
    /// Those that are left.
    pub(crate) fn free(self) -> u32 {
        self.all.saturating_sub(self.taken)
    }
}

/// The places that a group has for a size, by zone; what our own machines have is not taken.
pub(crate) fn places(
    group: &ReservationGroupFact,
    size: &SizeName,
    ours: &BTreeSet<ArmId>,
) -> BTreeMap<Option<String>, Places> {
    let mut places: BTreeMap<Option<String>, Places> = BTreeMap::new();
    let fitting = group.reservations.iter().filter(|one| one.size == *size);
    for reservation in fitting {
        let there = places.entry(reservation.zone.clone()).or_default();
        let others = reservation.allocated.difference(ours).count();
        let others = u32::try_from(others).unwrap_or(u32::MAX);
        there.all = there.all.saturating_add(reservation.capacity);
        there.taken = there.taken.saturating_add(others);
    }
    places
}

/// The ids of the stack's machines, VMs and instances of sets, of one pool or of all.
pub(crate) fn machines(live: &Live, pool: Option<&str>) -> BTreeSet<ArmId> {
    let mut machines = BTreeSet::new();
    for resource in &live.resources {
        let Some(address) = resource.address() else {
            continue;
        };
        if pool.is_some_and(|pool| address.pool_name() != Some(pool)) {
            continue;
        }
        let Some(found) = &resource.resource else {
            continue;
        };
        if found.virtual_machine().is_some() {
            machines.insert(resource.id.clone());
        }
        let Some(set) = found.scale_set() else {
            continue;
        };
        let instances = live.instances.get(&resource.id).into_iter().flatten();
        for instance in instances {
            let id = match set.orchestration {
                Orchestration::Uniform => Some(resource.id.child("virtualMachines", &instance.id)),
                Orchestration::Flexible => resource.id.group_id().map(|group| {
                    group.in_group(ResourceKind::VirtualMachine.arm_type(), &instance.name)
                }),
            };
            machines.extend(id);
        }
    }
    machines
}

/// Zones in words.
pub(crate) fn in_words<'a>(zones: impl Iterator<Item = &'a Option<String>>) -> String {
    let words: Vec<String> = zones
        .map(|zone| match zone {
            Some(zone) => format!("zone {zone}"),
            None => "no zone".to_owned(),
        })
        .collect();
    words.join(", ")
}

/// A number of nodes in words.
pub(crate) fn nodes(count: u32) -> String {
    match count {
        1 => "1 node".to_owned(),
        several => format!("{several} nodes"),
    }
}
