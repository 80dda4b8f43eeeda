//! The pools of a plan as node arrays of Azure CycleCloud.

use std::collections::BTreeSet;

use model::{
    catalog::{Catalog, Size},
    cyclecloud::{Cluster, ClusterNetwork, ClusterNote, NodeArray, SpotLimit},
    ids::ArmId,
    plan::{Plan, PoolPlan},
    resource::{
        self, BatchPool, ImageReference, InstanceOsDisk, ScaleSet, Security, System,
        VirtualMachine, VmPriority,
    },
    spec::{ContainerRuntime, Network, Outbound, Pool, Scheduler, Spec, Via},
};

use crate::bootstrap;

/// What nodes of a pool are made of, whichever resource makes them.
struct Nodes<'a> {
    os: System,
    image: &'a ImageReference,
    priority: &'a VmPriority,
    os_disk: InstanceOsDisk,
    security: &'a Security,
    subnet: Option<&'a ArmId>,
    identities: &'a BTreeSet<ArmId>,
    public_address: bool,
    reservation: Option<&'a ArmId>,
}

/// The cluster that the pools of a plan make. It has as many nodes as the plan at most: CycleCloud
/// makes a node when a job waits for it.
pub fn cluster(spec: &Spec, plan: &Plan, catalog: &Catalog, scheduler: Scheduler) -> Cluster {
    let mut cluster = Cluster {
        name: spec.name.clone(),
        user: spec.access.user.clone(),
        location: plan.scope.location.clone(),
        scheduler,
        subnet: None,
        network: network(spec),
        arrays: Vec::new(),
        notes: Vec::new(),
    };
    for (name, decided) in &plan.pools {
        let (Some(pool), Some(nodes)) = (spec.pools.get(name), nodes(plan, name)) else {
            continue;
        };
        let notes = notes(pool, &nodes, scheduler);
        cluster
            .notes
            .extend(notes.into_iter().map(|text| ClusterNote {
                pool: name.clone(),
                text,
            }));
        if nodes.os == System::Windows {
            continue;
        }
        if cluster.subnet.is_none() {
            cluster.subnet = nodes.subnet.cloned();
        }
        cluster
            .arrays
            .push(array(name, pool, decided, &nodes, catalog));
    }
    if let Some(first) = cluster.arrays.first_mut() {
        first.is_default = true;
    }
    cluster
}

fn network(spec: &Spec) -> ClusterNetwork {
    let (address_space, nat) = match &spec.network {
        Network::Own {
            address_space,
            outbound,
        } => (Some(address_space.to_string()), *outbound == Outbound::Nat),
        Network::Existing { .. } => (None, false),
    };
    ClusterNetwork {
        address_space,
        nat,
        bastion: spec.access.via == Via::Bastion,
    }
}

fn array(
    name: &str,
    pool: &Pool,
    decided: &PoolPlan,
    nodes: &Nodes<'_>,
    catalog: &Catalog,
) -> NodeArray {
    let size = catalog.size(&decided.size);
    NodeArray {
        name: name.to_owned(),
        size: decided.size.clone(),
        image: nodes.image.to_string(),
        most: decided.count,
        vcpus: size.map(|size| size.vcpus),
        memory_mib: size.and_then(|size| size.memory_mib),
        gpus: size.and_then(Size::visible_gpus),
        coupled: decided.placement == "single_placement_group",
        spot: SpotLimit::of(nodes.priority),
        zones: decided.zones.clone(),
        os_disk: nodes.os_disk.clone(),
        data_disks: pool.disks.data.clone(),
        security: nodes.security.clone(),
        identities: nodes.identities.clone(),
        public_address: nodes.public_address,
        is_default: false,
    }
}

/// What of a pool no template says.
fn notes(pool: &Pool, nodes: &Nodes<'_>, scheduler: Scheduler) -> Vec<String> {
    let mut notes = Vec::new();
    if nodes.os == System::Windows {
        notes.push("Windows nodes are in no array: the schedulers run on Linux".to_owned());
        return notes;
    }
    if nodes.reservation.is_some() {
        notes.push("a node array names no capacity reservation: its nodes take what the region has, and quota".to_owned());
    }
    if !pool.fallback.is_empty() {
        notes.push("a node array has one size: those of `fallback` are not tried".to_owned());
    }
    if bootstrap::of_pool(pool).is_some() {
        notes.push("what its nodes run when they start first is not in the template: `tensorform bootstrap --shell` prints it for a project's cluster-init".to_owned());
    }
    if scheduler != Scheduler::Slurm {
        if !is_enterprise_linux(nodes.image) {
            notes.push(format!(
                "CycleCloud's project of the scheduler installs on Enterprise Linux 8 alone, and `{}` is not known to be one: give the pool such an `image`",
                nodes.image
            ));
        }
        let runtime = pool.containers.as_ref().map(|one| one.runtime);
        if runtime == Some(ContainerRuntime::Enroot) {
            notes.push("Enroot comes with Pyxis, which is a plugin of Slurm".to_owned());
        }
    }
    notes
}

/// Whether an image is known to be of Enterprise Linux 8.
pub(crate) fn is_enterprise_linux(image: &ImageReference) -> bool {
    image.marketplace().is_some_and(|image| {
        let publisher = image.publisher.as_str().to_ascii_lowercase();
        publisher == "almalinux" && image.sku.as_str().starts_with('8')
    })
}

/// What makes the nodes of a pool in a plan.
fn nodes<'a>(plan: &'a Plan, pool: &str) -> Option<Nodes<'a>> {
    let mut steps = plan
        .steps
        .iter()
        .filter(|step| step.address.pool_name() == Some(pool));
    steps.find_map(|step| {
        let resource = step.after.as_ref()?;
        let vm = resource.virtual_machine().map(of_vm);
        vm.or_else(|| resource.scale_set().map(of_set))
            .or_else(|| resource.batch_pool().map(of_batch))
            .or_else(|| resource.node_array().map(of_array))
    })
}

fn of_vm(vm: &VirtualMachine) -> Nodes<'_> {
    Nodes {
        os: vm.os,
        image: &vm.image,
        priority: &vm.priority,
        os_disk: InstanceOsDisk {
            size_gb: vm.os_disk.size_gb,
            disk_type: vm.os_disk.disk_type,
            ephemeral: vm.os_disk.ephemeral,
        },
        security: &vm.security,
        subnet: vm.network.subnet.as_ref(),
        identities: &vm.identities,
        public_address: vm.network.public_address,
        reservation: vm.capacity_reservation.as_ref(),
    }
}

fn of_set(set: &ScaleSet) -> Nodes<'_> {
    Nodes {
        os: set.os,
        image: &set.image,
        priority: &set.priority,
        os_disk: set.os_disk.clone(),
        security: &set.security,
        subnet: Some(&set.network.subnet),
        identities: &set.identities,
        public_address: set.network.public_address,
        reservation: set.capacity_reservation.as_ref(),
    }
}

fn of_batch(pool: &BatchPool) -> Nodes<'_> {
    Nodes {
        os: System::Linux,
        image: &pool.image,
        priority: &pool.priority,
        os_disk: pool.os_disk.clone(),
        security: &pool.security,
        subnet: pool.network.subnet.as_ref(),
        identities: &pool.identities,
        public_address: false,
        reservation: None,
    }
}

fn of_array(array: &resource::NodeArray) -> Nodes<'_> {
    Nodes {
        os: System::Linux,
        image: &array.image,
        priority: &array.priority,
        os_disk: array.os_disk.clone(),
        security: &array.security,
        subnet: Some(&array.subnet),
        identities: &array.identities,
        public_address: array.public_address,
        reservation: None,
    }
}
