//! What runs the jobs of pools that leave it open (`orchestrator: auto`), by what the article goes
//! by: scheduling, containers and scaling. It chooses between nodes of the stack's own, Batch and
//! AKS; what else would fit better, it names.

use std::{borrow::Cow, collections::BTreeMap};

use model::{
    catalog::{Architecture, Catalog},
    live::{Live, Provisioning},
    plan::AutoChoice,
    resource::ResourceKind,
    spec::{
        ContainerRuntime, DiskType, EphemeralOs, Eviction, Grouping, Identity, ImageChoice,
        Network, OnPartial, OperatingSystem, Orchestrator, Outbound, Pool, Priority,
        SecurityChoice, SizeChoice, Spec, Stage, Via, Zones, kubernetes::may_be_of_aks,
    },
};

use crate::server;

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
    /// The pool has settings of AKS.
    AksSettings,
    /// It serves from containers.
    Service,
    /// It serves from containers, and with this key AKS is not chosen.
    AksObstacle(&'static str),
    /// Nothing asks for more.
    Plain,
}

impl Decision {
    /// What it is.
    fn orchestrator(self) -> Orchestrator {
        match self {
            Self::Kept(orchestrator) => orchestrator,
            Self::Settings | Self::Containers => Orchestrator::Batch,
            Self::AksSettings | Self::Service => Orchestrator::Aks,
            Self::Obstacle(_) | Self::AksObstacle(_) | Self::Plain => Orchestrator::Manual,
        }
    }

    /// The decision in words, once it is known how many nodes there are.
    pub(crate) fn explained(self, pool: &Pool, nodes: u32) -> AutoChoice {
        let (code, why) = match self {
            Self::Kept(live) => (
                "orchestrator_kept",
                format!("the live nodes are {}, and stay", owner(live)),
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
            Self::AksSettings => (
                "orchestrator_aks_settings",
                "`aks` says what its nodes have, and how they come and go".to_owned(),
            ),
            Self::Service => (
                "orchestrator_aks_service",
                "it serves from containers: Azure Kubernetes Service keeps as many of them running as there is use for, and starts anew what stops"
                    .to_owned(),
            ),
            Self::AksObstacle(key) => (
                "orchestrator_aks_cannot",
                format!(
                    "it serves from containers, for which Azure Kubernetes Service would fit best; with `{key}` it is not chosen{}",
                    aks_instead(key)
                ),
            ),
            Self::Plain if pool.stage == Stage::Training && nodes > 1 => (
                "orchestrator_cyclecloud_by_name",
                "jobs of several nodes want a scheduler: Slurm on Azure CycleCloud would fit best, and its server needs an identity that may make nodes: `orchestrator: cyclecloud` makes it"
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
                Orchestrator::CycleCloud => "cyclecloud",
                Orchestrator::Manual | Orchestrator::Auto => "manual",
            }
            .to_owned(),
            code: code.to_owned(),
            why,
        }
    }
}

/// Whose live nodes are, in words.
fn owner(live: Orchestrator) -> &'static str {
    match live {
        Orchestrator::Batch => "of Azure Batch",
        Orchestrator::Aks => "of Azure Kubernetes Service",
        Orchestrator::CycleCloud => "of Azure CycleCloud",
        Orchestrator::Manual | Orchestrator::Auto => "the stack's own",
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
    let mut decided = Cow::Borrowed(spec);
    if !decisions.is_empty() {
        for (name, pool) in &mut decided.to_mut().pools {
            if let Some(decision) = decisions.get(name) {
                pool.orchestrator = decision.orchestrator();
            }
        }
    }
    server::add(&mut decided);
    (decided, decisions)
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

/// What to write instead of a key that pods have no use for.
fn aks_instead(key: &str) -> &'static str {
    match key {
        "containers.runtime" => ": its nodes run containerd, which `runtime: containerd` says too",
        "containers.images" => ": its pods name their images",
        _ => "",
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
    if pool.aks.is_some() {
        return Decision::AksSettings;
    }
    match (is_in_containers(pool), pool.stage, obstacle) {
        (false, _, _) => Decision::Plain,
        (true, Stage::Inference, _) => {
            let obstacle = aks_obstacle(spec, pool);
            obstacle.map_or(Decision::Service, Decision::AksObstacle)
        }
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
            (ResourceKind::NodeArray, Orchestrator::CycleCloud),
            (ResourceKind::VirtualMachine, Orchestrator::Manual),
            (ResourceKind::VirtualMachineScaleSet, Orchestrator::Manual),
        ];
        let mut of_kind = nodes
            .into_iter()
            .filter(|(kind, _)| *kind == resource.kind());
        of_kind.next().map(|(_, orchestrator)| orchestrator)
    })
}

/// The first key with which Batch is not chosen: what a pool of Batch cannot have.
fn obstacle(spec: &Spec, pool: &Pool, catalog: &Catalog) -> Option<&'static str> {
    let disks = &pool.disks;
    let is_newer = |disk: DiskType| matches!(disk, DiskType::PremiumV2 | DiskType::Ultra);
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
        ("network.outbound", is_closed(spec)),
    ];
    first(keys)
}

fn first<const COUNT: usize>(keys: [(&'static str, bool); COUNT]) -> Option<&'static str> {
    let mut asked = keys.into_iter().filter(|(_, is_asked)| *is_asked);
    asked.next().map(|(key, _)| key)
}

/// Whether nothing leads out of the stack's network.
fn is_closed(spec: &Spec) -> bool {
    matches!(
        &spec.network,
        Network::Own {
            outbound: Outbound::None,
            ..
        }
    )
}

/// The first key with which AKS is not chosen: what an agent pool cannot have.
fn aks_obstacle(spec: &Spec, pool: &Pool) -> Option<&'static str> {
    let capacity = &pool.capacity;
    let disks = &pool.disks;
    let containers = pool.containers.as_ref();
    let falls_back = matches!(&pool.priority, Priority::Spot(spot) if spot.fallback_to_regular);
    first([
        ("os", pool.os != OperatingSystem::Linux),
        ("grouping", pool.grouping != Grouping::Auto),
        ("image", pool.image != ImageChoice::Auto),
        ("fallback", !pool.fallback.is_empty()),
        ("capacity.min_count", capacity.min_count.is_some()),
        ("capacity.wait", capacity.wait.seconds() > 0),
        (
            "capacity.on_partial",
            capacity.on_partial == OnPartial::Rollback,
        ),
        ("capacity_reservation", pool.capacity_reservation.is_some()),
        (
            "disks.os.type",
            disks.os_type.is_some_and(|kind| kind != DiskType::Premium),
        ),
        ("disks.data", !disks.data.is_empty()),
        ("disks.scratch", disks.scratch_nvme),
        ("disk_controller", pool.disk_controller.is_some()),
        (
            "accelerated_networking",
            pool.accelerated_networking.is_some(),
        ),
        ("security", pool.security == SecurityChoice::TrustedLaunch),
        ("mounts", !pool.mounts.is_empty()),
        ("bootstrap", pool.bootstrap.is_some()),
        ("checkpoint", pool.checkpoint.is_some()),
        ("rollout", pool.rollout.is_some()),
        ("priority.spot.fallback", falls_back),
        (
            "containers.images",
            containers.is_some_and(|one| !one.images.is_empty()),
        ),
        ("containers.runtime", !may_be_of_aks(pool)),
        ("access.via", spec.access.via == Via::PublicIp),
        ("network.outbound", is_closed(spec)),
    ])
}

/// Whether the spec names a size of Arm, for which Batch has no image.
fn is_arm(pool: &Pool, catalog: &Catalog) -> bool {
    let SizeChoice::Named(name) = &pool.size else {
        return false;
    };
    let size = catalog.size(name);
    size.is_some_and(|size| size.architecture == Some(Architecture::Arm64))
}
