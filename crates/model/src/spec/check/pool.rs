//! Keys of a pool that contradict each other.

use std::collections::BTreeMap;

use super::{Check, identities, mounts, together};
use crate::{
    diag::{At, Code, SpecPath},
    spec::{
        decode::pool::MOST_DATA_DISKS,
        pool::{
            ContainerRuntime, DiskType, Eviction, Grouping, ImageChoice, Method, Model,
            OperatingSystem, Orchestrator, Pool, Precision, Priority, SizeChoice, Stage, Workload,
            Zones,
        },
        storage::EphemeralOs,
        yaml::node::Node,
    },
};

/// Largest size of a data disk in GiB, by its type.
const LARGEST_DISK: u32 = 32_767;

/// Largest ephemeral OS disk in GiB.
const LARGEST_EPHEMERAL: u32 = 2_040;

/// Smallest Ultra Disk in GiB.
const SMALLEST_ULTRA: u32 = 4;

pub(super) fn check(check: &mut Check<'_>, name: &str, pool: &Pool) {
    let scope = Scope { name, pool };
    scope.model(check);
    scope.spot(check);
    identities::check(check, name, pool);
    together::check(check, name, pool);
    scope.scheduler(check);
    scope.system(check);
    scope.image(check);
    scope.disks(check);
    mounts::check(check, name, pool);
    scope.ephemeral(check);
    scope.capacity(check);
    scope.size(check);
    scope.deadline(check);
    scope.rollout(check);
}

struct Scope<'a> {
    name: &'a str,
    pool: &'a Pool,
}

impl Scope<'_> {
    fn path(&self, keys: &[&str]) -> SpecPath {
        SpecPath::pool(self.name, keys)
    }

    fn rollout(&self, check: &mut Check<'_>) {
        let (rollout, grouping) = (self.path(&["rollout"]), self.path(&["grouping"]));
        let is_given = self.pool.rollout.is_some() && check.is_sound(&rollout);
        if is_given && self.pool.grouping == Grouping::Vms && check.is_sound(&grouping) {
            let message =
                "`rollout` is for scale sets, and `grouping: vms` makes single VMs".to_owned();
            check.conflict(rollout, grouping, message, "remove `rollout`");
        }
    }

    fn stage_is_sound(&self, check: &Check<'_>) -> bool {
        check.is_sound(&self.path(&["stage"]))
    }

    fn model(&self, check: &mut Check<'_>) {
        let Some(model) = &self.pool.model else {
            return;
        };
        let method = self.path(&["model", "method"]);
        let stage = self.path(&["stage"]);
        if self.stage_is_sound(check) {
            let inference = self.pool.stage == Stage::Inference;
            if inference && model.method != Method::Full && check.is_sound(&method) {
                check.conflict(
                    method.clone(),
                    stage.clone(),
                    "`method` says what is trained, and `stage: inference` trains nothing"
                        .to_owned(),
                    "remove `method`",
                );
            }
            for (key, wrong_stage) in [
                ("concurrency", Stage::Training),
                ("tokens", Stage::Inference),
            ] {
                let path = self.path(&["model", key]);
                if self.pool.stage == wrong_stage && check.given(&path).is_some() {
                    let word = if inference { "inference" } else { "training" };
                    check.conflict(
                        path,
                        stage.clone(),
                        format!("`{key}` means nothing with `stage: {word}`"),
                        "remove it",
                    );
                }
            }
        }
        let precision = self.path(&["model", "precision"]);
        let full = model.method == Method::Full && check.may_be_used(&method);
        let trained = self.pool.stage == Stage::Training && self.stage_is_sound(check);
        if model.precision == Precision::Int4 && full && trained && check.is_sound(&precision) {
            check.conflict(
                precision,
                method,
                "`precision: int4` cannot be trained with `method: full`".to_owned(),
                "use `method: qlora`, or `precision: bf16`",
            );
        }
        self.known_model(check, model);
    }

    /// What says which model it is, and how large.
    fn known_model(&self, check: &mut Check<'_>, model: &Model) {
        let (name, config) = (
            self.path(&["model", "name"]),
            self.path(&["model", "config"]),
        );
        if model.name.is_some() && model.config.is_some() {
            check.conflict(
                config,
                name,
                "`config` and `name` both say the model's shape".to_owned(),
                "remove one of them",
            );
        }
        let active = self.path(&["model", "active_parameters"]);
        if let (Some(all), Some(some)) = (model.parameters, model.active_parameters)
            && some > all
        {
            check.conflict(
                active,
                self.path(&["model", "parameters"]),
                "`active_parameters` is more than `parameters`".to_owned(),
                "active parameters are those of all that take part in one token",
            );
        }
    }

    fn spot(&self, check: &mut Check<'_>) {
        let path = self.path(&["priority"]);
        if !matches!(self.pool.priority, Priority::Spot(_)) || !check.may_be_used(&path) {
            return;
        }
        let training = self.pool.stage == Stage::Training && self.stage_is_sound(check);
        let checkpoint = check.given(&self.path(&["checkpoint"])).is_some();
        if training && !checkpoint {
            check.conflict(
                path,
                self.path(&["stage"]),
                "`priority: spot` with `stage: training` needs `checkpoint`: Azure may take the nodes back at any time".to_owned(),
                "add `checkpoint: {to: blob, hook: /…}`, or use `priority: regular`",
            );
        }
    }

    fn scheduler(&self, check: &mut Check<'_>) {
        let path = self.path(&["scheduler"]);
        let orchestrator = self.path(&["orchestrator"]);
        let cyclecloud = self.pool.orchestrator == Orchestrator::CycleCloud;
        if self.pool.scheduler.is_some() && !cyclecloud && check.may_be_used(&orchestrator) {
            check.conflict(
                path,
                orchestrator,
                "`scheduler` needs `orchestrator: cyclecloud`".to_owned(),
                "remove `scheduler`",
            );
        }
    }

    fn system(&self, check: &mut Check<'_>) {
        let password = self.path(&["password"]);
        let os = self.path(&["os"]);
        match &self.pool.os {
            OperatingSystem::Linux => {
                if check.given(&password).is_some() && check.may_be_used(&os) {
                    check.conflict(
                        password,
                        os,
                        "`password` is for `os: windows`; Linux nodes have SSH keys only"
                            .to_owned(),
                        "remove `password`",
                    );
                }
            }
            OperatingSystem::Windows { .. } => {
                if check.given(&password).is_none() {
                    check.report(
                        Code::SpecMissingKey,
                        At::Value(os.clone()),
                        "`os: windows` needs `password`".to_owned(),
                        "add `password: {from_env: ADMIN_PASSWORD}`",
                    );
                }
                self.no_bootstrap(check);
                if self.pool.image == ImageChoice::Hpc {
                    check.conflict(
                        self.path(&["image"]),
                        os,
                        "`image: hpc` is Linux".to_owned(),
                        "use `image: dsvm`",
                    );
                }
            }
        }
    }

    fn has_runtime(&self) -> bool {
        let containers = self.pool.containers.as_ref();
        containers.is_some_and(|all| all.runtime != ContainerRuntime::None)
    }

    /// What nodes run when they start first is for Linux.
    fn no_bootstrap(&self, check: &mut Check<'_>) {
        let scratch = self.pool.disks.scratch_nvme.then_some("scratch");
        let asked = [
            self.pool
                .bootstrap
                .as_ref()
                .map(|_| ("bootstrap", self.path(&["bootstrap"]))),
            scratch.map(|key| (key, self.path(&["disks", key]))),
            (!self.pool.mounts.is_empty()).then(|| ("mounts", self.path(&["mounts"]))),
            self.has_runtime()
                .then(|| ("containers", self.path(&["containers"]))),
        ];
        for (key, path) in asked.into_iter().flatten() {
            check.conflict(
                path,
                self.path(&["os"]),
                format!("`{key}` sets up Linux nodes, and these have `os: windows`"),
                "remove it",
            );
        }
    }

    fn image(&self, check: &mut Check<'_>) {
        let path = self.path(&["image"]);
        let has = |key: &str| check.given(&path.key(key)).is_some();
        let (urn, id, terms) = (has("urn"), has("id"), has("accept_terms"));
        let is_block = check.is_block(&path);
        if urn && id {
            check.conflict(
                path.key("id"),
                path.key("urn"),
                "`image` has both `urn` and `id`".to_owned(),
                "keep one of them",
            );
        } else if is_block && !urn && !id {
            check.report(
                Code::SpecMissingKey,
                At::Key(path.clone()),
                "`image` needs `urn` or `id`".to_owned(),
                "add `urn: publisher:offer:sku:version`, or write `image: auto`",
            );
        }
        if terms && id && !urn {
            check.conflict(
                path.key("accept_terms"),
                path.key("id"),
                "`accept_terms` is for marketplace images".to_owned(),
                "remove it",
            );
        }
    }

    fn disks(&self, check: &mut Check<'_>) {
        let list = self.path(&["disks", "data"]);
        let most = usize::try_from(MOST_DATA_DISKS).unwrap_or(usize::MAX);
        if self.pool.disks.data.len() > most {
            let found = self.pool.disks.data.len();
            check.report(
                Code::SpecInvalidValue,
                At::Key(list),
                format!("`data` takes {most} disks at most, found {found}"),
                "use fewer and larger disks",
            );
            return;
        }
        let mut luns: BTreeMap<u32, usize> = BTreeMap::new();
        for (index, disk) in self.pool.disks.data.iter().enumerate() {
            let path = list.index(index);
            let large = matches!(disk.disk_type, DiskType::PremiumV2 | DiskType::Ultra);
            let least = if disk.disk_type == DiskType::Ultra {
                SMALLEST_ULTRA
            } else {
                1
            };
            let size = path.key("size_gb");
            let most = if large { u32::MAX } else { LARGEST_DISK };
            if !(least..=most).contains(&disk.size_gb) && check.is_sound(&path) {
                let message = if large {
                    format!(
                        "an Ultra Disk has {least} GiB or more, found `{}`",
                        disk.size_gb
                    )
                } else {
                    format!(
                        "a disk of that type has {most} GiB at most, found `{}`",
                        disk.size_gb
                    )
                };
                check.report(
                    Code::SpecInvalidValue,
                    At::Value(size),
                    message,
                    "use another size, `type: premium_v2`, or several disks",
                );
            }
            if let Some(first) = luns.insert(disk.lun, index) {
                check.conflict(
                    path.key("lun"),
                    list.index(first).key("lun"),
                    format!("`lun: {}` is used by two disks", disk.lun),
                    "leave `lun` out: the disks are numbered in their order",
                );
            }
        }
    }

    /// An OS disk on the node goes with the hardware.
    fn ephemeral(&self, check: &mut Check<'_>) {
        let path = self.path(&["disks", "os", "ephemeral"]);
        let is_wanted = self.pool.disks.os_ephemeral != EphemeralOs::No;
        if !is_wanted || !check.is_sound(&path) {
            return;
        }
        let deallocates = matches!(&self.pool.priority, Priority::Spot(spot) if spot.eviction == Eviction::Deallocate);
        if deallocates {
            check.conflict(
                self.path(&["priority", "spot", "eviction"]),
                path.clone(),
                "`eviction: deallocate` needs an OS disk that stays, and `ephemeral` makes one that goes with the hardware".to_owned(),
                "use `eviction: delete`, or `ephemeral: none`",
            );
        }
        let size = self.pool.disks.os_size_gb;
        if let Some(size) = size.filter(|size| *size > LARGEST_EPHEMERAL) {
            check.conflict(
                self.path(&["disks", "os", "size_gb"]),
                path,
                format!("an ephemeral OS disk has {LARGEST_EPHEMERAL} GiB at most, found `{size}`"),
                "use a smaller disk, or `ephemeral: none`",
            );
        }
    }

    fn capacity(&self, check: &mut Check<'_>) {
        let path = self.path(&["capacity", "min_count"]);
        let counts = self.path(&["count"]);
        let Some(least) = self.pool.capacity.min_count else {
            return;
        };
        if !check.is_sound(&path) || !check.may_be_used(&counts) {
            return;
        }
        if let Some(count) = self.pool.count.filter(|count| least > *count) {
            check.conflict(
                path,
                counts,
                format!("`min_count: {least}` is more than `count: {count}`"),
                "use at most `count`",
            );
        }
    }

    fn size(&self, check: &mut Check<'_>) {
        let path = self.path(&["size"]);
        let is_empty = |node: &Node| node.entries().is_empty();
        if check.is_block(&path) && check.given(&path).is_some_and(is_empty) {
            check.report(
                Code::SpecInvalidValue,
                At::Value(path),
                "`size` is an empty block, which asks for nothing".to_owned(),
                "write `size: auto`, or what a size must have",
            );
        }
        let too_many_zones = matches!(&self.pool.zones, Zones::Listed(zones) if zones.len() > 1)
            && self.pool.grouping != Grouping::Vms
            && matches!(&self.pool.size, SizeChoice::Constrained(size) if size.rdma == Some(true));
        if too_many_zones {
            check.conflict(
                self.path(&["zones"]),
                self.path(&["size", "rdma"]),
                "nodes with RDMA share one zone".to_owned(),
                "list one zone, or write `zones: auto`",
            );
        }
    }

    fn deadline(&self, check: &mut Check<'_>) {
        if self.pool.deadline.is_none() {
            return;
        }
        let tokens = self.pool.model.as_ref().and_then(|model| model.tokens);
        let inference = self.pool.stage == Stage::Inference && self.stage_is_sound(check);
        let path = self.path(&["deadline"]);
        if inference {
            check.conflict(
                path,
                self.path(&["stage"]),
                "`deadline` is for training, and `stage: inference` has no end".to_owned(),
                "remove `deadline`",
            );
        } else if self.pool.workload == Workload::Small {
            check.conflict(
                path,
                self.path(&["workload"]),
                "`deadline` needs GPUs, and `workload: small` runs on CPUs, whose speed is not estimated".to_owned(),
                "remove `deadline`, and give `count`",
            );
        } else if tokens.is_none() && check.may_be_used(&self.path(&["model"])) {
            check.report(
                Code::SpecMissingKey,
                At::Value(path),
                "`deadline` needs `model.tokens`: without it there is no end to reach".to_owned(),
                "add `tokens: 20B` to `model`, or remove `deadline`",
            );
        } else if !self.is_model_known() && check.may_be_used(&self.path(&["model"])) {
            check.report(
                Code::SpecMissingKey,
                At::Value(path),
                "`deadline` needs a model whose size is known: `model` says no parameters"
                    .to_owned(),
                "add `parameters`, `name` or `config` to `model`, or remove `deadline`",
            );
        }
    }

    /// Whether the spec says which model it is, or how large.
    fn is_model_known(&self) -> bool {
        self.pool.model.as_ref().is_some_and(|model| {
            model.parameters.is_some() || model.name.is_some() || model.config.is_some()
        })
    }
}
