//! What a scale set is billed as: its instances with their disks.

use model::{
    catalog::ImageOs,
    resource::{ScaleSet, VmPriority},
    spec::Eviction,
};

use super::{
    bill::{Item, State, Thing, option_of},
    quote::Meter,
    service::Service,
};

/// Things of a set, each with its number.
pub(super) fn things(
    set: &ScaleSet,
    system: ImageOs,
    item: Item<'_>,
    state: State,
) -> Vec<(Thing, u32)> {
    let all = set.capacity;
    let running = match state {
        State::AsTheyAre if item.has_hardware => all.saturating_sub(item.without_hardware),
        State::Running => all,
        State::AsTheyAre | State::Stopped | State::Evicted => 0,
    };
    let goes = matches!(
        set.priority,
        VmPriority::Spot {
            eviction: Eviction::Delete,
            ..
        }
    );
    let disks = if state == State::Evicted && goes {
        0
    } else {
        all
    };
    // One on the node is part of the machine.
    let is_managed = set.os_disk.ephemeral.is_none();
    let os_disk = is_managed.then_some(Thing::Disk {
        kind: set.os_disk.disk_type,
        size_gb: set.os_disk.size_gb,
    });
    let mut things: Vec<(Thing, u32)> = os_disk.into_iter().map(|disk| (disk, disks)).collect();
    things.extend(set.data_disks.values().map(|disk| {
        let each = Thing::Disk {
            kind: disk.disk_type,
            size_gb: disk.size_gb,
        };
        (each, disks)
    }));
    if set.network.public_address {
        things.push((Thing::Service(Service::PublicIpAddress), disks));
    }
    let machine = Thing::Machine {
        size: set.size.clone(),
        meter: Meter::of(system, option_of(&set.priority)),
    };
    things.push((machine, running));
    things.retain(|(_, count)| *count > 0);
    things
}
