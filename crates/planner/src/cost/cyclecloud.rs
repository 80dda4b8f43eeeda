//! What a node array of CycleCloud is billed as: the most nodes that there may be, with their
//! disks, and with the first array the node that runs the scheduler, which CycleCloud makes too.

use model::{
    catalog::ImageOs,
    cost::PurchaseOption,
    cyclecloud::{SCHEDULER_OS_DISK_GB, SCHEDULER_SIZE, shared_disks_gb},
    resource::NodeArray,
    spec::DiskType,
    units::SizeName,
};

use super::{
    bill::{Item, State, Thing, of_service, option_of},
    quote::Meter,
    service::Service,
};

/// Things of an array, each with its number.
pub(super) fn things(array: &NodeArray, item: Item<'_>, state: State) -> Vec<(Thing, u32)> {
    let nodes = of_service(array.nodes, item, state);
    let meter = Meter::of(ImageOs::Linux, option_of(&array.priority));
    let mut things = vec![(machine(array.size.clone(), meter), nodes)];
    if array.os_disk.ephemeral.is_none() {
        things.push((disk(array.os_disk.disk_type, array.os_disk.size_gb), nodes));
    }
    let data = array.data_disks.values();
    things.extend(data.map(|one| (disk(one.disk_type, one.size_gb), nodes)));
    if array.public_address {
        things.push((Thing::Service(Service::PublicIpAddress), nodes));
    }
    if array.is_default {
        things.extend(scheduler(array, state));
    }
    things.retain(|(_, count)| *count > 0);
    things
}

/// The scheduler's node: its disks stay while it is off.
fn scheduler(array: &NodeArray, state: State) -> Vec<(Thing, u32)> {
    let disks = shared_disks_gb(array.scheduler)
        .iter()
        .chain([&SCHEDULER_OS_DISK_GB]);
    let mut things: Vec<(Thing, u32)> = disks
        .map(|size_gb| (disk(DiskType::Premium, *size_gb), 1))
        .collect();
    let runs = matches!(state, State::AsTheyAre | State::Running);
    let meter = Meter::of(ImageOs::Linux, PurchaseOption::OnDemand);
    let size = SizeName::from(SCHEDULER_SIZE);
    things.push((machine(size, meter), u32::from(runs)));
    things
}

fn machine(size: SizeName, meter: Meter) -> Thing {
    Thing::Machine { size, meter }
}

fn disk(kind: DiskType, size_gb: u32) -> Thing {
    Thing::Disk { kind, size_gb }
}
