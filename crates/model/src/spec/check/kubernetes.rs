//! What an agent pool of Azure Kubernetes Service cannot have.

use super::{
    Check,
    excluded::{Excluded, refuse},
};
use crate::{
    diag::{At, Code, SpecPath},
    spec::{
        kubernetes::{AgentPoolSettings, GpuDriver, is_of_aks, may_be_of_aks},
        parts::SecurityChoice,
        pool::{
            ContainerRuntime, DiskType, Eviction, Grouping, ImageChoice, OnPartial,
            OperatingSystem, Orchestrator, Pool, Priority,
        },
        types::{Network, Outbound, Spec},
    },
};

/// The tag by which AKS was once told to install no driver; it has no effect any more.
const OLD_TAG: &str = "skipgpudriverinstall";

/// Checks what belongs to the stack's cluster.
pub(super) fn stack(check: &mut Check<'_>, spec: &Spec) {
    let first = spec.pools.iter().find(|(_, pool)| is_of_aks(pool));
    let path = SpecPath::of(&["aks"]);
    let Some((name, _)) = first else {
        let has_use = spec.pools.values().any(may_be_of_aks);
        if check.given(&path).is_some() && !has_use && check.may_be_used(&SpecPath::of(&["pools"]))
        {
            check.conflict(
                path,
                SpecPath::of(&["pools"]),
                "`aks` needs a pool with `orchestrator: aks`".to_owned(),
                "remove `aks`, or write `orchestrator: aks` in a pool",
            );
        }
        return;
    };
    let orchestrator = SpecPath::pool(name, &["orchestrator"]);
    if !check.may_be_used(&orchestrator) {
        return;
    }
    for tag in spec.tags.keys() {
        if is_old_tag(tag.as_str()) {
            old_tag(
                check,
                SpecPath::of(&["tags"]).key(tag.as_str()),
                &orchestrator,
            );
        }
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
            orchestrator.clone(),
            "`orchestrator: aks` needs a way out: nodes reach their API server and pull images, and `outbound: none` lets nothing out".to_owned(),
            "use `outbound: nat`",
        );
    }
}

fn is_old_tag(name: &str) -> bool {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    letters.eq_ignore_ascii_case(OLD_TAG)
}

fn old_tag(check: &mut Check<'_>, path: SpecPath, orchestrator: &SpecPath) {
    if check.is_sound(&path) {
        check.conflict(
            path,
            orchestrator.clone(),
            "AKS does not look at the tag `SkipGPUDriverInstall` any more: it would install the driver all the same".to_owned(),
            "remove it, and write `aks: {gpu_driver: none}` in the pool",
        );
    }
}

/// Checks one pool.
pub(super) fn pool(check: &mut Check<'_>, name: &str, pool: &Pool) {
    let scope = Scope { name, pool };
    let orchestrator = scope.path(&["orchestrator"]);
    if !check.may_be_used(&orchestrator) {
        return;
    }
    let path = scope.path(&["aks"]);
    if !is_of_aks(pool) {
        if check.given(&path).is_some() {
            check.conflict(
                path,
                orchestrator,
                "`aks` needs `orchestrator: aks` or `auto`".to_owned(),
                "remove `aks`, or write `orchestrator: aks`",
            );
        }
        return;
    }
    if pool.orchestrator == Orchestrator::Auto && pool.batch.is_some() {
        check.conflict(
            path,
            scope.path(&["batch"]),
            "`aks` and `batch` ask for two orchestrators of one pool".to_owned(),
            "remove one of them",
        );
        return;
    }
    scope.of_nodes(check);
    scope.of_pods(check);
    scope.later(check);
    scope.bootstrap(check);
    scope.priority(check);
    if let Some(settings) = &pool.aks {
        scope.settings(check, settings);
    }
}

struct Scope<'a> {
    name: &'a str,
    pool: &'a Pool,
}

impl Scope<'_> {
    fn path(&self, keys: &[&str]) -> SpecPath {
        SpecPath::pool(self.name, keys)
    }

    /// Keys of what pods bring along.
    fn of_pods(&self, check: &mut Check<'_>) {
        let pool = self.pool;
        let containers = pool.containers.as_ref();
        let excluded: [Excluded; 3] = [
            (
                &["containers"],
                containers.is_some_and(|containers| {
                    containers.runtime != ContainerRuntime::None || !containers.images.is_empty()
                }),
                "`containers` means nothing with `orchestrator: aks`: nodes run containerd, and pods name their images",
                "remove it",
            ),
            (
                &["mounts"],
                !pool.mounts.is_empty(),
                "`mounts` means nothing with `orchestrator: aks`: pods mount volumes of the cluster",
                "remove it, and make a PersistentVolume",
            ),
            (
                &["disks", "data"],
                !pool.disks.data.is_empty(),
                "`disks.data` means nothing with `orchestrator: aks`: pods claim disks of the cluster",
                "remove it, and make a PersistentVolumeClaim",
            ),
        ];
        refuse(check, self.name, excluded);
    }

    /// Keys of what AKS decides.
    fn of_nodes(&self, check: &mut Check<'_>) {
        let pool = self.pool;
        let excluded: [Excluded; 7] = [
            (
                &["grouping"],
                pool.grouping != Grouping::Auto,
                "`grouping` means nothing with `orchestrator: aks`: AKS groups the nodes itself",
                "remove it",
            ),
            (
                &["image"],
                pool.image != ImageChoice::Auto,
                "`image` cannot be chosen with `orchestrator: aks`: nodes boot an image of AKS",
                "write `image: auto`",
            ),
            (
                &["disks", "os", "type"],
                pool.disks
                    .os_type
                    .is_some_and(|kind| kind != DiskType::Premium),
                "the OS disks of `orchestrator: aks` are Premium SSD, or on the node",
                "remove `type`",
            ),
            (
                &["disk_controller"],
                pool.disk_controller.is_some(),
                "`disk_controller` means nothing with `orchestrator: aks`: AKS decides it",
                "remove it",
            ),
            (
                &["accelerated_networking"],
                pool.accelerated_networking.is_some(),
                "`accelerated_networking` means nothing with `orchestrator: aks`: AKS decides it",
                "write `accelerated_networking: auto`",
            ),
            (
                &["rollout"],
                pool.rollout.is_some(),
                "`rollout` means nothing with `orchestrator: aks`: AKS upgrades nodes itself",
                "remove it",
            ),
            (
                &["capacity", "min_count"],
                pool.capacity.min_count.is_some(),
                "`min_count` means nothing with `orchestrator: aks`: AKS makes all the nodes, or says that it failed",
                "remove it",
            ),
        ];
        refuse(check, self.name, excluded);
    }

    /// What agent pools could have, and do not have yet.
    fn later(&self, check: &mut Check<'_>) {
        let pool = self.pool;
        let later: [Excluded; 7] = [
            (
                &["os"],
                pool.os != OperatingSystem::Linux,
                "`os: windows` is not supported yet with `orchestrator: aks`",
                "use `os: linux`",
            ),
            (
                &["fallback"],
                !pool.fallback.is_empty(),
                "`fallback` is not supported yet with `orchestrator: aks`: a pool has one size",
                "remove it, or make a second pool of the other size",
            ),
            (
                &["capacity", "wait"],
                pool.capacity.wait.seconds() > 0,
                "`wait` is not supported yet with `orchestrator: aks`",
                "remove it: the next `tensorform apply` tries again",
            ),
            (
                &["capacity", "on_partial"],
                pool.capacity.on_partial == OnPartial::Rollback,
                "`on_partial: rollback` is not supported yet with `orchestrator: aks`",
                "remove it: nodes that come stay",
            ),
            (
                &["capacity_reservation"],
                pool.capacity_reservation.is_some(),
                "`capacity_reservation` is not supported yet with `orchestrator: aks`",
                "remove it",
            ),
            (
                &["security"],
                pool.security == SecurityChoice::TrustedLaunch,
                "`security: trusted_launch` is not supported yet with `orchestrator: aks`",
                "use `security: auto`",
            ),
            (
                &["checkpoint"],
                pool.checkpoint.is_some(),
                "`checkpoint` is not supported yet with `orchestrator: aks`",
                "remove it: pods are told before a node goes, and write their own",
            ),
        ];
        refuse(check, self.name, later);
    }

    /// Nodes of AKS run no script, and a driver has one owner.
    fn bootstrap(&self, check: &mut Check<'_>) {
        let path = self.path(&["bootstrap"]);
        if self.pool.bootstrap.is_none() || !check.may_be_used(&path) {
            return;
        }
        let driver = self.path(&["aks", "gpu_driver"]);
        let settings = self.pool.aks.as_ref();
        let owner = settings.map(|settings| settings.gpu_driver);
        if check.is_sound(&driver)
            && let Some(GpuDriver::Install | GpuDriver::Managed) = owner
        {
            check.conflict(
                path,
                driver,
                "two owners of the driver: AKS installs it, and `bootstrap` is a script that could do so too".to_owned(),
                "remove `bootstrap`, which nodes of AKS do not run: a DaemonSet sets nodes up",
            );
            return;
        }
        let one: Excluded = (
            &["bootstrap"],
            true,
            "`bootstrap` means nothing with `orchestrator: aks`: nodes of AKS run no script of yours",
            "remove it: a DaemonSet sets nodes up",
        );
        refuse(check, self.name, [one]);
    }

    fn priority(&self, check: &mut Check<'_>) {
        let Priority::Spot(spot) = &self.pool.priority else {
            return;
        };
        let one: Excluded = (
            &["priority", "spot", "fallback"],
            spot.fallback_to_regular,
            "`fallback` is not supported yet with `orchestrator: aks`: a pool is of one kind",
            "remove it, or make a second pool with `priority: regular`",
        );
        refuse(check, self.name, [one]);
        let scales = self
            .pool
            .aks
            .as_ref()
            .is_some_and(|settings| settings.autoscale_min.is_some());
        let one: Excluded = (
            &["priority", "spot", "eviction"],
            scales && spot.eviction == Eviction::Deallocate,
            "`eviction: deallocate` cannot be used with `aks.autoscale`: stopped nodes count as nodes, and no others come",
            "use `eviction: delete`",
        );
        refuse(check, self.name, [one]);
    }

    fn settings(&self, check: &mut Check<'_>, settings: &AgentPoolSettings) {
        let min = self.path(&["aks", "autoscale", "min"]);
        let count = self.path(&["count"]);
        let least = settings.autoscale_min.unwrap_or(0);
        if let Some(most) = self.pool.count.filter(|most| least > *most)
            && check.is_sound(&min)
            && check.may_be_used(&count)
        {
            check.conflict(
                min,
                count,
                format!("`min: {least}` is more than `count: {most}`"),
                "use at most `count`",
            );
        }
        let driver = self.path(&["aks", "gpu_driver"]);
        let autoscale = self.path(&["aks", "autoscale"]);
        if settings.gpu_driver == GpuDriver::Managed && settings.autoscale_min.is_some() {
            check.conflict(
                autoscale,
                driver,
                "`autoscale` cannot be used with `gpu_driver: managed`: AKS does not scale such pools".to_owned(),
                "remove `autoscale`, or use `gpu_driver: install`",
            );
        }
        let orchestrator = self.path(&["orchestrator"]);
        for label in settings.labels.keys() {
            if is_old_tag(label) {
                old_tag(check, self.path(&["aks", "labels", label]), &orchestrator);
            } else if label.contains("kubernetes.azure.com/") {
                check.report(
                    Code::SpecInvalidValue,
                    At::Key(self.path(&["aks", "labels", label])),
                    format!("label `{label}` is one that AKS sets itself"),
                    "remove it, or use another prefix",
                );
            }
        }
    }
}
