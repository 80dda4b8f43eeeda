//! What a pool of Batch is billed as: its nodes with their disks. Batch itself costs nothing.

use model::{catalog::ImageOs, resource::BatchPool};

use super::{
    bill::{Item, State, Thing, of_service, option_of},
    quote::Meter,
};

/// Things of a pool, each with its number; the most that there may be where a formula decides.
pub(super) fn things(pool: &BatchPool, item: Item<'_>, state: State) -> Vec<(Thing, u32)> {
    let nodes = of_service(pool.nodes, item, state);
    let option = option_of(&pool.priority);
    let os = Thing::Disk {
        kind: pool.os_disk.disk_type,
        size_gb: pool.os_disk.size_gb,
    };
    let data = pool.data_disks.values().map(|disk| Thing::Disk {
        kind: disk.disk_type,
        size_gb: disk.size_gb,
    });
    let machine = Thing::Machine {
        size: pool.size.clone(),
        meter: Meter::of(ImageOs::Linux, option),
    };
    let all = data.chain([os, machine]).map(|thing| (thing, nodes));
    all.filter(|(_, count)| *count > 0).collect()
}
