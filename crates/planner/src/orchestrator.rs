//! What runs the jobs of pools that leave it open (`orchestrator: auto`), by what the article goes
//! by: scheduling, containers and scaling. It chooses between nodes of the stack's own and Batch;
//! what else would fit better, it names.

use std::{borrow::Cow, collections::BTreeMap};

use model::{
    catalog::{Architecture, Catalog},
    live::{Live, Provisioning},
    plan::AutoChoice,
    resource::ResourceKind,
    spec::{
        ContainerRuntime, DiskType, EphemeralOs, Eviction, Grouping, Identity, Network, OnPartial,
        OperatingSystem, Orchestrator, Outbound, Pool, Priority, SizeChoice, Spec, Stage, Zones,
    },
};

/// Why an orchestrator was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// What is live of the pool is that of Batch, of AKS, or the stack's own.
    Kept(Orchestrator),
    /// The pool has settings of Batch.
    Settings,
    /// It trains in containers.
    Containers,
    /// It trains in containers, and with this key Batch is not chosen.
    Obstacle(&'static str),
    /// It serves from containers.
    Service,
    /// Nothing asks for more.
    Plain,
}

impl Decision {
    /// What it is.
    fn orchestrator(self) -> Orchestrator {
        match self {
            Self::Kept(orchestrator) => orchestrator,
            Self::Settings | Self::Containers => Orchestrator::Batch,
            Self::Obstacle(_) | Self::Service | Self::Plain => Orchestrator::Manual,
        }
    }

    /// The decision in words, once it is known how many nodes there are.
    pub(crate) fn explained(self, pool: &Pool, nodes: u32) -> AutoChoice {
        let (code, why) = match self {
            Self::Kept(Orchestrator::Batch) => (
                "orchestrator_kept",
                "the live nodes are of Azure Batch, and stay".to_owned(),
            ),
            Self::Kept(Orchestrator::Aks) => (
                "orchestrator_kept",
                "the live nodes are of Azure Kubernetes Service, and stay".to_owned(),
            ),
            Self::Kept(_) => (
                "orchestrator_kept",
                "the live nodes are the stack's own, and stay".to_owned(),
            ),
            Self::Settings => (
                "orchestrator_batch_settings",
                "`batch` says how its nodes come and go".to_owned(),
            ),
            Self::Containers => (
                "orchestrator_batch_containers",
                "it trains in containers: Azure Batch schedules jobs, runs containers by itself, and has nodes while there is work; nothing is to be installed"
                    .to_owned(),
            ),
            Self::Obstacle(key) => (
                "orchestrator_batch_cannot",
                format!(
                    "it trains in containers, for which Azure Batch would fit best; with `{key}` it is not chosen"
                ),
            ),
            Self::Service => (
                "orchestrator_aks_by_name",
                "it serves from containers, for which Azure Kubernetes Service would fit best; it is not chosen with `containers`, because its pods name their images: `orchestrator: aks` without that key makes it"
                    .to_owned(),
            ),
            Self::Plain if pool.stage == Stage::Training && nodes > 1 => (
                "orchestrator_cyclecloud_not_yet",
                "jobs of several nodes want a scheduler: Slurm on Azure CycleCloud would fit best, and this version does not make its server; `tensorform export --cyclecloud` prints the cluster for one that exists"
                    .to_owned(),
            ),
            Self::Plain => (
                "orchestrator_minimal",
                "the spec asks for no scheduling, no containers and no scaling: needs are minimal"
                    .to_owned(),
            ),
        };
        AutoChoice {
            key: "orchestrator".to_owned(),
            value: match self.orchestrator() {
                Orchestrator::Batch => "batch",
                Orchestrator::Aks => "aks",
                Orchestrator::Manual | Orchestrator::Auto | Orchestrator::CycleCloud => "manual",
            }
            .to_owned(),
            code: code.to_owned(),
            why,
        }
    }
}

/// The decisions, by pool.
pub(crate) type Decisions = BTreeMap<String, Decision>;

/// The spec with what runs the jobs of each pool, and why where it was open.
pub(crate) fn decide<'a>(
    spec: &'a Spec,
    catalog: &Catalog,
    live: &Live,
) -> (Cow<'a, Spec>, Decisions) {
    let open = spec
        .pools
        .iter()
        .filter(|(_, pool)| pool.orchestrator == Orchestrator::Auto);
    let decisions: Decisions = open
        .map(|(name, pool)| {
            let decision = decision(spec, pool, catalog, kept(live, name));
            (name.clone(), decision)
        })
        .collect();
    if decisions.is_empty() {
        return (Cow::Borrowed(spec), decisions);
    }
    let mut decided = spec.clone();
    for (name, pool) in &mut decided.pools {
        if let Some(decision) = decisions.get(name) {
            pool.orchestrator = decision.orchestrator();
        }
    }
    (Cow::Owned(decided), decisions)
}

/// Whether a pool is one of Batch, or may turn out to be, so that accounts are to be looked for.
pub fn may_be_of_batch(pool: &Pool) -> bool {
    let may_be = pool.batch.is_some() || (is_in_containers(pool) && pool.stage == Stage::Training);
    match pool.orchestrator {
        Orchestrator::Batch => true,
        Orchestrator::Auto => may_be,
        Orchestrator::Manual | Orchestrator::Aks | Orchestrator::CycleCloud => false,
    }
}

fn is_in_containers(pool: &Pool) -> bool {
    let runtime = pool.containers.as_ref().map(|one| one.runtime);
    runtime.is_some_and(|runtime| runtime != ContainerRuntime::None)
}

fn decision(spec: &Spec, pool: &Pool, catalog: &Catalog, kept: Option<Orchestrator>) -> Decision {
    let obstacle = obstacle(spec, pool, catalog);
    match (kept, obstacle) {
        // What is live stays, also when choices are made anew: no pool moves to another one.
        (Some(Orchestrator::Batch), Some(key)) => return Decision::Obstacle(key),
        (Some(kept), _) => return Decision::Kept(kept),
        (None, _) => {}
    }
    if pool.batch.is_some() {
        return Decision::Settings;
    }
    match (is_in_containers(pool), pool.stage, obstacle) {
        (false, _, _) => Decision::Plain,
        (true, Stage::Inference, _) => Decision::Service,
        (true, Stage::Training, Some(key)) => Decision::Obstacle(key),
        (true, Stage::Training, None) => Decision::Containers,
    }
}

/// What the live nodes of a pool are.
fn kept(live: &Live, pool: &str) -> Option<Orchestrator> {
    let mut ours = live.resources.iter().filter(|one| {
        let is_ours = one
            .address()
            .is_some_and(|address| address.pool_name() == Some(pool));
        is_ours && one.state.provisioning != Provisioning::Deleting
    });
    ours.find_map(|one| {
        let resource = one.resource.as_ref()?;
        let nodes = [
            (ResourceKind::BatchPool, Orchestrator::Batch),
            (ResourceKind::AgentPool, Orchestrator::Aks),
            (ResourceKind::VirtualMachine, Orchestrator::Manual),
            (ResourceKind::VirtualMachineScaleSet, Orchestrator::Manual),
        ];
        let mut of_kind = nodes
            .into_iter()
            .filter(|(kind, _)| *kind == resource.kind());
        of_kind.next().map(|(_, orchestrator)| orchestrator)
    })
}

/// The first key with which Batch is not chosen: what a pool of Batch cannot have, and what its nodes
/// would run in another way.
fn obstacle(spec: &Spec, pool: &Pool, catalog: &Catalog) -> Option<&'static str> {
    let disks = &pool.disks;
    let is_newer = |disk: DiskType| matches!(disk, DiskType::PremiumV2 | DiskType::Ultra);
    let is_closed = matches!(
        &spec.network,
        Network::Own {
            outbound: Outbound::None,
            ..
        }
    );
    let has_spot_settings = match &pool.priority {
        Priority::Regular => false,
        Priority::Spot(spot) => {
            spot.max_price.is_some()
                || spot.eviction != Eviction::Delete
                || spot.fallback_to_regular
        }
    };
    let runtime = pool.containers.as_ref().map(|one| one.runtime);
    let has_registry = pool
        .containers
        .as_ref()
        .is_some_and(|one| one.registry.is_some());
    let keys = [
        ("os", pool.os != OperatingSystem::Linux),
        ("size", is_arm(pool, catalog)),
        ("grouping", pool.grouping != Grouping::Auto),
        ("zones", matches!(pool.zones, Zones::Listed(_))),
        ("fallback", !pool.fallback.is_empty()),
        ("capacity.min_count", pool.capacity.min_count.is_some()),
        ("capacity.wait", pool.capacity.wait.seconds() > 0),
        (
            "capacity.on_partial",
            pool.capacity.on_partial == OnPartial::Rollback,
        ),
        ("capacity_reservation", pool.capacity_reservation.is_some()),
        (
            "proximity_placement_group",
            pool.proximity_placement_group.is_some(),
        ),
        ("disks.os.ephemeral", disks.os_ephemeral != EphemeralOs::No),
        ("disk_controller", pool.disk_controller.is_some()),
        (
            "disks.data",
            disks.data.iter().any(|disk| is_newer(disk.disk_type)),
        ),
        ("disks.scratch", disks.scratch_nvme),
        ("mounts", !pool.mounts.is_empty()),
        ("bootstrap", pool.bootstrap.is_some()),
        ("checkpoint", pool.checkpoint.is_some()),
        ("containers.registry", has_registry),
        ("priority.spot", has_spot_settings),
        (
            "containers.runtime",
            runtime.is_some_and(|runtime| {
                !matches!(runtime, ContainerRuntime::Docker | ContainerRuntime::None)
            }),
        ),
        ("identity", spec.identity == Identity::System),
        ("network.outbound", is_closed),
    ];
    let mut asked = keys.into_iter().filter(|(_, is_asked)| *is_asked);
    asked.next().map(|(key, _)| key)
}

/// Whether the spec names a size of Arm, for which Batch has no image.
fn is_arm(pool: &Pool, catalog: &Catalog) -> bool {
    let SizeChoice::Named(name) = &pool.size else {
        return false;
    };
    let size = catalog.size(name);
    size.is_some_and(|size| size.architecture == Some(Architecture::Arm64))
}
