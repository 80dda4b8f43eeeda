//! What pools of Azure CycleCloud cannot have.

use super::{
    Check,
    excluded::{Excluded, refuse},
};
use crate::{
    diag::{At, Code, SpecPath},
    spec::{
        pool::{
            ContainerRuntime, Grouping, OnPartial, OperatingSystem, Orchestrator, Pool, Priority,
            Scheduler,
        },
        types::{Network, Outbound, Spec},
    },
};

/// Checks what belongs to the stack's server.
pub(super) fn stack(check: &mut Check<'_>, spec: &Spec) {
    let is_cycle = |pool: &Pool| pool.orchestrator == Orchestrator::CycleCloud;
    let mut pools = spec.pools.iter().filter(|(_, pool)| is_cycle(pool));
    let path = SpecPath::of(&["cyclecloud"]);
    let Some((name, first)) = pools.next() else {
        if check.given(&path).is_some() && check.may_be_used(&SpecPath::of(&["pools"])) {
            check.conflict(
                path,
                SpecPath::of(&["pools"]),
                "`cyclecloud` needs a pool with `orchestrator: cyclecloud`".to_owned(),
                "remove `cyclecloud`, or write `orchestrator: cyclecloud` in a pool",
            );
        }
        return;
    };
    let orchestrator = SpecPath::pool(name, &["orchestrator"]);
    if !check.may_be_used(&orchestrator) {
        return;
    }
    if check.given(&path).is_none() {
        check.report(
            Code::SpecMissingKey,
            At::Value(orchestrator.clone()),
            "`orchestrator: cyclecloud` needs `cyclecloud`, which has the identity and the locker of its server".to_owned(),
            "add `cyclecloud: {identity: …, locker: …}`; `tensorform export --cyclecloud` prints the cluster for a server that exists",
        );
    }
    let outbound = SpecPath::of(&["network", "outbound"]);
    let is_closed = matches!(
        spec.network,
        Network::Own {
            outbound: Outbound::None,
            ..
        }
    );
    if is_closed && check.may_be_used(&outbound) {
        check.conflict(
            outbound,
            orchestrator,
            "`orchestrator: cyclecloud` needs a way out: the server makes nodes and fetches what they run, and `outbound: none` lets nothing out".to_owned(),
            "use `outbound: nat`",
        );
    }
    for (other, pool) in pools {
        let (one, two) = (
            SpecPath::pool(other, &["scheduler"]),
            SpecPath::pool(name, &["scheduler"]),
        );
        if scheduler(pool) != scheduler(first) && check.is_sound(&one) && check.is_sound(&two) {
            check.conflict(
                one,
                two,
                format!("`{other}` and `{name}` have different schedulers: all pools of CycleCloud are in one cluster"),
                "use one scheduler, or two stacks",
            );
        }
    }
}

/// The scheduler of a pool.
fn scheduler(pool: &Pool) -> Scheduler {
    pool.scheduler.unwrap_or(Scheduler::Slurm)
}

/// Checks one pool.
pub(super) fn pool(check: &mut Check<'_>, name: &str, pool: &Pool) {
    let scope = Scope { name, pool };
    if pool.orchestrator != Orchestrator::CycleCloud
        || !check.may_be_used(&scope.path(&["orchestrator"]))
    {
        return;
    }
    let taken = match scheduler(pool) {
        Scheduler::Slurm => "scheduler",
        Scheduler::GridEngine => "master",
        Scheduler::Pbs => "server",
    };
    if [taken, "defaults"].contains(&name) {
        check.conflict(
            SpecPath::of(&["pools"]).key(name),
            scope.path(&["orchestrator"]),
            format!("the name `{name}` is taken: CycleCloud gives it to something of its own"),
            "use another name",
        );
    }
    let excluded = scope.of_nodes().into_iter().chain(scope.of_capacity());
    refuse(check, name, excluded.chain(scope.of_first_start()));
}

struct Scope<'a> {
    name: &'a str,
    pool: &'a Pool,
}

impl Scope<'_> {
    fn path(&self, keys: &[&str]) -> SpecPath {
        SpecPath::pool(self.name, keys)
    }

    /// Keys of what CycleCloud decides when it makes nodes.
    fn of_nodes(&self) -> [Excluded; 5] {
        let pool = self.pool;
        [
            (
                &["os"],
                pool.os != OperatingSystem::Linux,
                "`os: windows` cannot be used with `orchestrator: cyclecloud`: its schedulers run on Linux",
                "use `os: linux`",
            ),
            (
                &["grouping"],
                pool.grouping != Grouping::Auto,
                "`grouping` means nothing with `orchestrator: cyclecloud`: it groups the nodes itself",
                "remove it",
            ),
            (
                &["capacity_reservation"],
                pool.capacity_reservation.is_some(),
                "`capacity_reservation` cannot be used with `orchestrator: cyclecloud`: a node array names none",
                "remove it, or use `orchestrator: manual`",
            ),
            (
                &["disk_controller"],
                pool.disk_controller.is_some(),
                "`disk_controller` cannot be used with `orchestrator: cyclecloud`: a node array names none",
                "remove it",
            ),
            (
                &["rollout"],
                pool.rollout.is_some(),
                "`rollout` means nothing with `orchestrator: cyclecloud`: nodes are as new as the job they were made for",
                "remove it",
            ),
        ]
    }

    /// Keys of what is done where capacity is scarce: jobs wait, and decide how many nodes there are.
    fn of_capacity(&self) -> [Excluded; 5] {
        let pool = self.pool;
        let falls_back = matches!(&pool.priority, Priority::Spot(spot) if spot.fallback_to_regular);
        [
            (
                &["fallback"],
                !pool.fallback.is_empty(),
                "`fallback` cannot be used with `orchestrator: cyclecloud`: a node array has one size",
                "remove it, or make a second pool of the other size",
            ),
            (
                &["capacity", "wait"],
                pool.capacity.wait.seconds() > 0,
                "`wait` means nothing with `orchestrator: cyclecloud`: it tries by itself as long as a job waits",
                "remove it",
            ),
            (
                &["capacity", "min_count"],
                pool.capacity.min_count.is_some(),
                "`min_count` means nothing with `orchestrator: cyclecloud`: jobs decide how many nodes there are",
                "remove it",
            ),
            (
                &["capacity", "on_partial"],
                pool.capacity.on_partial == OnPartial::Rollback,
                "`on_partial: rollback` means nothing with `orchestrator: cyclecloud`: jobs decide how many nodes there are",
                "remove it",
            ),
            (
                &["priority", "spot", "fallback"],
                falls_back,
                "`fallback` cannot be used with `orchestrator: cyclecloud`: a node array is of one kind",
                "remove it, or make a second pool with `priority: regular`",
            ),
        ]
    }

    /// Keys of what nodes run when they start first, which on these is what their scheduler's
    /// project says.
    fn of_first_start(&self) -> [Excluded; 6] {
        let pool = self.pool;
        let containers = pool.containers.as_ref();
        let runtime = containers.map_or(ContainerRuntime::None, |one| one.runtime);
        [
            (
                &["bootstrap"],
                pool.bootstrap.is_some(),
                "`bootstrap` is not supported yet with `orchestrator: cyclecloud`",
                "remove it: a project of CycleCloud's sets nodes up",
            ),
            (
                &["mounts"],
                !pool.mounts.is_empty(),
                "`mounts` is not supported yet with `orchestrator: cyclecloud`",
                "remove it: nodes share `/shared` and `/sched` of the scheduler's node",
            ),
            (
                &["disks", "scratch"],
                pool.disks.scratch_nvme,
                "`scratch` is not supported yet with `orchestrator: cyclecloud`",
                "remove it: a project of CycleCloud's sets nodes up",
            ),
            (
                &["checkpoint"],
                pool.checkpoint.is_some(),
                "`checkpoint` is not supported yet with `orchestrator: cyclecloud`",
                "remove it: nodes are told ten minutes before they go, and jobs write their own",
            ),
            (
                &["containers", "runtime"],
                runtime != ContainerRuntime::None,
                "`containers` means nothing with `orchestrator: cyclecloud`: with Slurm nodes have Enroot and Pyxis, and jobs name their images",
                "remove it",
            ),
            (
                &["accelerated_networking"],
                pool.accelerated_networking.is_some(),
                "`accelerated_networking` means nothing with `orchestrator: cyclecloud`: it decides it by the size",
                "write `accelerated_networking: auto`",
            ),
        ]
    }
}
