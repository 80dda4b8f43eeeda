//! What Azure Kubernetes Service is billed as: the control plane by its tier, and nodes with their
//! OS disks.

use model::{
    catalog::ImageOs,
    cost::PurchaseOption,
    resource::{AgentPool, KubernetesCluster},
    spec::DiskType,
    units::{CaseInsensitive, SizeName},
};

use super::{
    bill::{Item, State, Thing, of_service, option_of},
    quote::Meter,
    service::{KubernetesTier, Service},
};

/// The control plane and the system pool, each with its number.
pub(super) fn of_cluster(cluster: &KubernetesCluster, state: State) -> Vec<(Thing, u32)> {
    let system = &cluster.system;
    let nodes = match state {
        State::AsTheyAre | State::Running => system.count,
        State::Stopped | State::Evicted => 0,
    };
    let disk = (!system.os_disk_ephemeral).then_some(system.os_disk_gb);
    let mut things = nodes_of(&system.size, disk, PurchaseOption::OnDemand, nodes);
    things.extend(control_plane(&cluster.tier).map(|thing| (thing, 1)));
    things
}

/// A tier that no meter is known of has no price; the free one is no line at all.
fn control_plane(tier: &CaseInsensitive) -> Option<Thing> {
    match tier.key().as_str() {
        "free" => None,
        "standard" => Some(Thing::Service(Service::Kubernetes(
            KubernetesTier::Standard,
        ))),
        "premium" => Some(Thing::Service(Service::Kubernetes(KubernetesTier::Premium))),
        _ => Some(Thing::Software(format!("Kubernetes control plane, {tier}"))),
    }
}

/// Things of an agent pool; of as many nodes as there may be where the cluster decides.
pub(super) fn of_pool(pool: &AgentPool, item: Item<'_>, state: State) -> Vec<(Thing, u32)> {
    let nodes = of_service(pool.nodes, item, state);
    let option = option_of(&pool.priority);
    let disk = (!pool.os_disk_ephemeral).then_some(pool.os_disk_gb);
    nodes_of(&pool.size, disk, option, nodes)
}

fn nodes_of(
    size: &SizeName,
    disk_gb: Option<u32>,
    option: PurchaseOption,
    nodes: u32,
) -> Vec<(Thing, u32)> {
    if nodes == 0 {
        return Vec::new();
    }
    let disk = disk_gb.map(|size_gb| Thing::Disk {
        kind: DiskType::Premium,
        size_gb,
    });
    let machine = Thing::Machine {
        size: size.clone(),
        meter: Meter::of(ImageOs::Linux, option),
    };
    let things = disk.into_iter().chain([machine]);
    things.map(|thing| (thing, nodes)).collect()
}
