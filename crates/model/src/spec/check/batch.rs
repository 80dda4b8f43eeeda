//! What a pool of Azure Batch cannot have.

use super::Check;
use crate::{
    diag::{At, Code, Diagnostic, SpecPath},
    spec::{
        batch::Autoscale,
        pool::{
            ContainerRuntime, DataDisk, DiskType, Eviction, Grouping, OnPartial, OperatingSystem,
            Orchestrator, Pool, Priority, Zones,
        },
        storage::EphemeralOs,
        types::{Identity, Network, Outbound, Spec},
    },
};

/// Seconds between which Batch evaluates a formula.
const SHORTEST_INTERVAL: u64 = 5 * 60;
const LONGEST_INTERVAL: u64 = 7 * 86_400;

pub(super) fn check(check: &mut Check<'_>, spec: &Spec, name: &str, pool: &Pool) {
    let scope = Scope { name, pool };
    let orchestrator = scope.path(&["orchestrator"]);
    if !check.may_be_used(&orchestrator) {
        return;
    }
    scope.containers(check);
    // Settings of Batch decide what is left open.
    let is_open = pool.orchestrator == Orchestrator::Auto && pool.batch.is_some();
    if pool.orchestrator != Orchestrator::Batch && !is_open {
        let path = scope.path(&["batch"]);
        if check.given(&path).is_some() {
            check.conflict(
                path,
                orchestrator,
                "`batch` needs `orchestrator: batch` or `auto`".to_owned(),
                "remove `batch`, or write `orchestrator: batch`",
            );
        }
        return;
    }
    scope.excluded(check);
    scope.priority(check);
    scope.stack(check, spec);
    scope.scaling(check);
    scope.later(check);
}

/// A key that a pool of Batch cannot have.
#[derive(Clone, Copy)]
enum Key {
    Os,
    Grouping,
    Zones,
    Fallback,
    MinCount,
    Wait,
    Partial,
    Reservation,
    Disks,
    Ephemeral,
    Controller,
}

/// Where such a key stands, and what is said of it.
struct Refused {
    keys: &'static [&'static str],
    message: &'static str,
    help: &'static str,
}

const fn refused(
    keys: &'static [&'static str],
    message: &'static str,
    help: &'static str,
) -> Refused {
    Refused {
        keys,
        message,
        help,
    }
}

impl Key {
    fn refused(self) -> Refused {
        match self {
            Self::Os => refused(
                &["os"],
                "`os: windows` is not supported yet with `orchestrator: batch`",
                "use `os: linux`",
            ),
            Self::Grouping => refused(
                &["grouping"],
                "`grouping` means nothing with `orchestrator: batch`: Batch groups the nodes itself",
                "remove it",
            ),
            Self::Zones => refused(
                &["zones"],
                "`zones` cannot be listed with `orchestrator: batch`: a pool is regional",
                "write `zones: auto`",
            ),
            Self::Fallback => refused(
                &["fallback"],
                "`fallback` is not supported yet with `orchestrator: batch`: a pool has one size",
                "remove it, or make a second pool of the other size",
            ),
            Self::MinCount => refused(
                &["capacity", "min_count"],
                "`min_count` means nothing with `orchestrator: batch`: nodes come one by one, and all that come stay",
                "remove it",
            ),
            Self::Wait => refused(
                &["capacity", "wait"],
                "`wait` is not supported yet with `orchestrator: batch`",
                "remove it: the next `tensorform apply` asks for the nodes that are missing",
            ),
            Self::Partial => refused(
                &["capacity", "on_partial"],
                "`on_partial: rollback` is not supported yet with `orchestrator: batch`",
                "remove it: nodes that come stay",
            ),
            Self::Reservation => refused(
                &["capacity_reservation"],
                "`capacity_reservation` cannot be used with `orchestrator: batch`: nodes are in a subscription of Batch's own",
                "remove one of them",
            ),
            Self::Disks => refused(
                &["disks", "data"],
                "data disks of `orchestrator: batch` are Premium SSD, Standard SSD or Standard HDD",
                "use `type: premium`",
            ),
            Self::Ephemeral => refused(
                &["disks", "os", "ephemeral"],
                "`ephemeral` is not supported yet with `orchestrator: batch`",
                "remove it: the OS disks of the nodes are managed disks",
            ),
            Self::Controller => refused(
                &["disk_controller"],
                "`disk_controller` means nothing with `orchestrator: batch`: Batch decides it",
                "remove it",
            ),
        }
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

    fn conflict(&self, check: &mut Check<'_>, path: SpecPath, message: &str, help: &str) {
        let orchestrator = self.path(&["orchestrator"]);
        check.conflict(path, orchestrator, message.to_owned(), help);
    }

    /// Keys that are about VMs which the stack would have itself.
    fn excluded(&self, check: &mut Check<'_>) {
        let pool = self.pool;
        let is_newer =
            |disk: &DataDisk| matches!(disk.disk_type, DiskType::PremiumV2 | DiskType::Ultra);
        for (keys, is_asked) in [
            (Key::Os, pool.os != OperatingSystem::Linux),
            (Key::Grouping, pool.grouping != Grouping::Auto),
            (Key::Zones, matches!(pool.zones, Zones::Listed(_))),
            (Key::Fallback, !pool.fallback.is_empty()),
            (Key::MinCount, pool.capacity.min_count.is_some()),
            (Key::Wait, pool.capacity.wait.seconds() > 0),
            (
                Key::Partial,
                pool.capacity.on_partial == OnPartial::Rollback,
            ),
            (Key::Reservation, pool.capacity_reservation.is_some()),
            (Key::Ephemeral, pool.disks.os_ephemeral != EphemeralOs::No),
            (Key::Controller, pool.disk_controller.is_some()),
            (Key::Disks, pool.disks.data.iter().any(is_newer)),
        ] {
            let Refused {
                keys,
                message,
                help,
            } = keys.refused();
            let path = self.path(keys);
            if is_asked && check.may_be_used(&path) {
                self.conflict(check, path, message, help);
            }
        }
    }

    /// Containers, which pools of Batch have alone, and their images.
    fn containers(&self, check: &mut Check<'_>) {
        let Some(containers) = &self.pool.containers else {
            return;
        };
        let runtime = self.path(&["containers", "runtime"]);
        if !check.may_be_used(&runtime) {
            return;
        }
        let is_other = containers.runtime == ContainerRuntime::Containerd;
        if is_other && self.pool.orchestrator == Orchestrator::Batch {
            let message = "`runtime: containerd` cannot be used with `orchestrator: batch`: Batch runs containers with Docker";
            self.conflict(check, runtime.clone(), message, "use `runtime: docker`");
        }
        let images = self.path(&["containers", "images"]);
        if containers.runtime == ContainerRuntime::None && !containers.images.is_empty() {
            check.conflict(
                images,
                runtime,
                "`images` need a runtime that pulls them".to_owned(),
                "add `runtime: docker`, or remove `images`",
            );
        }
    }

    /// Batch buys spare capacity without settings.
    fn priority(&self, check: &mut Check<'_>) {
        let Priority::Spot(spot) = &self.pool.priority else {
            return;
        };
        let settings = [
            ("max_price", spot.max_price.is_some()),
            ("eviction", spot.eviction != Eviction::Delete),
            ("fallback", spot.fallback_to_regular),
        ];
        for (key, is_set) in settings {
            let path = self.path(&["priority", "spot", key]);
            if is_set && check.is_sound(&path) {
                let message = format!(
                    "`{key}` cannot be used with `orchestrator: batch`: Batch has no such setting for spot nodes"
                );
                self.conflict(check, path, &message, "remove it");
            }
        }
    }

    /// What the stack has and a pool of Batch cannot do with.
    fn stack(&self, check: &mut Check<'_>, spec: &Spec) {
        let outbound = SpecPath::of(&["network", "outbound"]);
        let is_closed = matches!(
            spec.network,
            Network::Own {
                outbound: Outbound::None,
                ..
            }
        );
        if is_closed && check.may_be_used(&outbound) {
            let message = "`orchestrator: batch` needs a way out: nodes tell Batch of themselves, and `outbound: none` lets nothing out";
            self.conflict(check, outbound, message, "use `outbound: nat`");
        }
        let identity = SpecPath::of(&["identity"]);
        if spec.identity == Identity::System && check.is_sound(&identity) {
            let message = "`identity: system` cannot be used with `orchestrator: batch`: nodes have user-assigned identities alone";
            self.conflict(
                check,
                identity,
                message,
                "use a user-assigned identity, or `identity: none`",
            );
        }
    }

    fn scaling(&self, check: &mut Check<'_>) {
        let settings = self.pool.batch.as_ref();
        let autoscale = settings.and_then(|batch| batch.autoscale.as_ref());
        let inter_node = self.path(&["batch", "inter_node"]);
        if settings.is_some_and(|batch| batch.inter_node == Some(true)) {
            if autoscale.is_some() {
                check.conflict(
                    inter_node.clone(),
                    self.path(&["batch", "autoscale"]),
                    "`inter_node: true` needs a fixed number of nodes".to_owned(),
                    "remove `autoscale`, or `inter_node`",
                );
            }
            if matches!(self.pool.priority, Priority::Spot(_)) {
                check.conflict(
                    inter_node,
                    self.path(&["priority"]),
                    "`inter_node: true` cannot be used with spot nodes: Batch takes dedicated ones alone".to_owned(),
                    "use `priority: regular`",
                );
            }
        }
        if let Some(autoscale) = autoscale {
            self.autoscale(check, autoscale);
        }
    }

    fn autoscale(&self, check: &mut Check<'_>, autoscale: &Autoscale) {
        let min = self.path(&["batch", "autoscale", "min"]);
        let count = self.path(&["count"]);
        if let Some(most) = self.pool.count.filter(|most| autoscale.min > *most)
            && check.is_sound(&min)
            && check.may_be_used(&count)
        {
            check.conflict(
                min,
                count,
                format!("`min: {}` is more than `count: {most}`", autoscale.min),
                "use at most `count`",
            );
        }
        let every = self.path(&["batch", "autoscale", "every"]);
        let seconds = autoscale.every.seconds();
        let is_odd = !(SHORTEST_INTERVAL..=LONGEST_INTERVAL).contains(&seconds)
            || !seconds.is_multiple_of(60);
        if is_odd && check.is_sound(&every) {
            check.report(
                Code::SpecInvalidValue,
                At::Value(every),
                format!(
                    "Batch evaluates a formula each 5 minutes at most and each 7 days at least, in whole minutes; found `{}`",
                    autoscale.every
                ),
                "use a span from `5m` to `7d`",
            );
        }
    }

    /// What pools of Batch will have, and do not yet.
    fn later(&self, check: &mut Check<'_>) {
        let containers = self.pool.containers.as_ref();
        let asked: [(&[&str], bool, &str); 4] = [
            (
                &["disks", "os", "ephemeral"],
                self.pool.disks.os_ephemeral != EphemeralOs::No,
                "take the managed disk",
            ),
            (
                &["disk_controller"],
                self.pool.disk_controller.is_some(),
                "leave the controller to Azure",
            ),
            (
                &["checkpoint"],
                self.pool.checkpoint.is_some(),
                "let the job write its checkpoints",
            ),
            (
                &["containers", "registry"],
                containers.is_some_and(|containers| containers.registry.is_some()),
                "name images that need no one to sign in",
            ),
        ];
        for (keys, is_asked, help) in asked {
            let path = self.path(keys);
            let key = keys.last().copied().unwrap_or_default();
            if is_asked && check.is_sound(&path) {
                let message = format!(
                    "`{key}` is not supported yet with `orchestrator: batch`: this version makes pools without it"
                );
                check.findings.push(
                    Diagnostic::new(Code::SpecNotSupportedYet, At::Value(path), message)
                        .with_help(format!("remove it, and {help}")),
                );
            }
        }
    }
}
