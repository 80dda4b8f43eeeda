//! A pool.

use std::collections::BTreeSet;

use rust_decimal::Decimal;

use super::reader::{Reader, integer, scalar};
use crate::{
    spec::{
        parts::{ProximityGroup, SecurityChoice},
        pool::{
            Bootstrap, Capacity, Checkpoint, CheckpointTarget, ContainerRuntime, Containers,
            DataDisk, DiskType, Disks, Eviction, Grouping, ImageChoice, Method, Model, Mount,
            MountKind, OnBootstrapChange, OnPartial, OperatingSystem, Orchestrator, Pool,
            Precision, Priority, Rollout, SizeChoice, SizeConstraints, Spot, Stage, Workload,
            Zones,
        },
        schema::{
            forms::quantities::{self, parse_count},
            words,
        },
        storage::EphemeralOs,
    },
    units::{SizeName, Span},
};

/// Most data disks of a node: their numbers go from 0 to 63.
pub(crate) const MOST_DATA_DISKS: u32 = 64;

pub(super) fn pool(block: Reader<'_>) -> Pool {
    let stage = block.word("stage", words::STAGES);
    let workload = block.word("workload", words::WORKLOADS);
    Pool {
        stage: stage.unwrap_or(Stage::Training),
        workload: workload.unwrap_or(Workload::Generative),
        model: model(block.inner("model")),
        deadline: block.read("deadline", |text| quantities::span(text).ok()),
        count: block.integer("count"),
        grouping: block
            .word("grouping", words::GROUPINGS)
            .unwrap_or(Grouping::Auto),
        os: system(block),
        size: size(block),
        fallback: block
            .texts("fallback")
            .into_iter()
            .map(SizeName::from)
            .collect(),
        capacity: capacity(block.inner("capacity")),
        image: image(block),
        priority: priority(block),
        zones: zones(block),
        orchestrator: block
            .word("orchestrator", words::ORCHESTRATORS)
            .unwrap_or(Orchestrator::Manual),
        batch: super::batch::batch(block.inner("batch")),
        aks: super::kubernetes::agent_pool(block.inner("aks")),
        scheduler: block.word("scheduler", words::SCHEDULERS),
        server: None,
        containers: containers(block.inner("containers")),
        disks: disks(block.inner("disks")),
        mounts: mounts(block),
        bootstrap: bootstrap(block.inner("bootstrap")),
        checkpoint: checkpoint(block.inner("checkpoint")),
        accelerated_networking: block.boolean("accelerated_networking"),
        disk_controller: block
            .word("disk_controller", words::DISK_CONTROLLERS)
            .flatten(),
        security: block
            .word("security", words::SECURITIES)
            .unwrap_or(SecurityChoice::Auto),
        rollout: rollout(block.inner("rollout")),
        capacity_reservation: block
            .scalar("capacity_reservation")
            .and_then(|scalar| scalar.text.parse().ok()),
        proximity_placement_group: proximity(block),
        allow_stop: block.boolean("allow_stop").unwrap_or(false),
        protect: block.boolean("protect").unwrap_or(false),
    }
}

fn proximity(block: Reader<'_>) -> Option<ProximityGroup> {
    const KEY: &str = "proximity_placement_group";
    if block.word(KEY, words::PROXIMITY_GROUPS) == Some(true) {
        return Some(ProximityGroup::Own);
    }
    let id = block.scalar(KEY)?.text.parse().ok()?;
    Some(ProximityGroup::Existing(id))
}

fn model(block: Reader<'_>) -> Option<Model> {
    block.is_there().then(|| Model {
        parameters: block.read("parameters", parse_count),
        active_parameters: block.read("active_parameters", parse_count),
        name: block.text("name"),
        config: block.text("config"),
        transformer: None,
        precision: block
            .word("precision", words::PRECISIONS)
            .unwrap_or(Precision::Bf16),
        method: block.word("method", words::METHODS).unwrap_or(Method::Full),
        sequence: block.integer("sequence"),
        tokens: block.read("tokens", parse_count),
        concurrency: block.integer("concurrency"),
    })
}

fn system(block: Reader<'_>) -> OperatingSystem {
    if block.word("os", words::SYSTEMS) == Some(true) {
        OperatingSystem::Windows {
            password_from_env: block.inner("password").text("from_env"),
        }
    } else {
        OperatingSystem::Linux
    }
}

fn size(block: Reader<'_>) -> SizeChoice {
    let constraints = block.inner("size");
    if constraints.is_there() {
        let texts = |name: &str| {
            constraints
                .texts(name)
                .into_iter()
                .map(str::to_owned)
                .collect()
        };
        return SizeChoice::Constrained(SizeConstraints {
            family: texts("family"),
            gpu: texts("gpu"),
            min_gpu_memory_gb: constraints.read("min_gpu_memory", quantities::memory),
            rdma: constraints.boolean("rdma"),
            max_hourly: constraints.decimal("max_hourly"),
        });
    }
    match block.scalar("size") {
        Some(scalar) if scalar.text != "auto" => {
            SizeChoice::Named(SizeName::from(scalar.text.as_str()))
        }
        _ => SizeChoice::Auto,
    }
}

fn rollout(block: Reader<'_>) -> Option<Rollout> {
    let max_unavailable = block.read("max_unavailable", quantities::share)?;
    Some(Rollout { max_unavailable })
}

fn capacity(block: Reader<'_>) -> Capacity {
    Capacity {
        wait: block
            .read("wait", |text| quantities::span(text).ok())
            .unwrap_or(Span::from_seconds(0)),
        min_count: block.integer("min_count"),
        on_partial: block
            .word("on_partial", words::ON_PARTIALS)
            .unwrap_or(OnPartial::Keep),
    }
}

fn image(block: Reader<'_>) -> ImageChoice {
    let named = block.inner("image");
    if let Some(urn) = named.read("urn", |text| text.parse().ok()) {
        return ImageChoice::Urn {
            urn,
            accept_terms: named.boolean("accept_terms").unwrap_or(false),
        };
    }
    if let Some(id) = named.text("id") {
        return ImageChoice::Id(id);
    }
    match block.text("image").as_deref() {
        Some("dsvm") => ImageChoice::Dsvm,
        Some("hpc") => ImageChoice::Hpc,
        _ => ImageChoice::Auto,
    }
}

fn priority(block: Reader<'_>) -> Priority {
    let settings = block.inner("priority");
    let is_spot = block
        .scalar("priority")
        .is_some_and(|scalar| scalar.text == "spot")
        || settings.given("spot").is_some();
    if !is_spot {
        return Priority::Regular;
    }
    let spot = settings.inner("spot");
    let max_price = spot.decimal("max_price");
    Priority::Spot(Spot {
        max_price: max_price.filter(Decimal::is_sign_positive),
        eviction: spot
            .word("eviction", words::EVICTIONS)
            .unwrap_or(Eviction::Delete),
        fallback_to_regular: spot
            .word("fallback", words::SPOT_FALLBACKS)
            .unwrap_or(false),
    })
}

fn zones(block: Reader<'_>) -> Zones {
    let listed: Vec<u8> = block
        .items("zones")
        .iter()
        .filter_map(|item| u8::try_from(integer(scalar(item)?)?).ok())
        .collect();
    match block.text("zones").as_deref() {
        _ if !listed.is_empty() => Zones::Listed(listed),
        Some("none") => Zones::None,
        _ => Zones::Auto,
    }
}

fn containers(block: Reader<'_>) -> Option<Containers> {
    block.is_there().then(|| Containers {
        runtime: block
            .word("runtime", words::RUNTIMES)
            .unwrap_or(ContainerRuntime::None),
        images: block
            .texts("images")
            .into_iter()
            .map(str::to_owned)
            .collect(),
        registry: block.scalar("registry").map(|scalar| scalar.text.clone()),
        identity: None,
    })
}

fn disks(block: Reader<'_>) -> Disks {
    let os = block.inner("os");
    Disks {
        os_size_gb: os.integer("size_gb"),
        os_type: os.word("type", words::OS_DISK_TYPES),
        os_ephemeral: os
            .word("ephemeral", words::EPHEMERALS)
            .unwrap_or(EphemeralOs::No),
        data: data_disks(block),
        scratch_nvme: block.word("scratch", words::SCRATCH_DISKS).unwrap_or(false),
    }
}

/// Data disks with their numbers: given ones are kept, the others get the lowest free ones in
/// the order of the list.
fn data_disks(block: Reader<'_>) -> Vec<DataDisk> {
    let disks: Vec<Reader<'_>> = block
        .items("data")
        .iter()
        .map(|item| Reader::new(Some(item), &crate::spec::schema::pool::DATA_DISK))
        .collect();
    let mut taken: BTreeSet<u32> = disks
        .iter()
        .filter_map(|disk| disk.integer("lun"))
        .collect();
    disks
        .iter()
        .map(|disk| {
            let lun = disk.integer("lun").unwrap_or_else(|| {
                let free = (0..MOST_DATA_DISKS).find(|lun| !taken.contains(lun));
                let free = free.unwrap_or(MOST_DATA_DISKS);
                taken.insert(free);
                free
            });
            DataDisk {
                size_gb: disk.integer("size_gb").unwrap_or(1),
                disk_type: disk
                    .word("type", words::DISK_TYPES)
                    .unwrap_or(DiskType::Premium),
                lun,
            }
        })
        .collect()
}

fn mounts(block: Reader<'_>) -> Vec<Mount> {
    let mounts = block.items("mounts").iter();
    mounts
        .map(|item| {
            let mount = Reader::new(Some(item), &crate::spec::schema::pool::MOUNT);
            Mount {
                path: mount.text("path").unwrap_or_default(),
                source: mount.text("source").unwrap_or_default(),
                kind: mount.word("type", words::MOUNTS).unwrap_or(MountKind::Nfs),
            }
        })
        .collect()
}

fn bootstrap(block: Reader<'_>) -> Option<Bootstrap> {
    Some(Bootstrap {
        script: block.text("script")?,
        on_change: block
            .word("on_change", words::ON_CHANGES)
            .unwrap_or(OnBootstrapChange::Warn),
        text: None,
    })
}

fn checkpoint(block: Reader<'_>) -> Option<Checkpoint> {
    let to = match block.text("to")?.as_str() {
        "blob" => CheckpointTarget::Blob,
        url => CheckpointTarget::Url(url.to_owned()),
    };
    Some(Checkpoint {
        to,
        every: block.read("every", |text| quantities::span(text).ok()),
        hook: block.text("hook").unwrap_or_default(),
        identity: None,
        protect: block.boolean("protect").unwrap_or(true),
    })
}
