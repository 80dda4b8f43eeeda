//! Pools that differ from the one that cannot be met in one key: what could be changed.

use std::collections::BTreeSet;

use model::{
    catalog::Fit,
    spec::{
        EphemeralOs, ImageChoice, Method, OperatingSystem, Pool, Precision, Priority, SizeChoice,
        SizeConstraints, Stage, Zones,
    },
};
use rust_decimal::Decimal;

use super::{
    super::{
        Context, Trial,
        rules::{self, budget},
    },
    constraints, vms_needed,
};

/// Larger numbers of nodes that are tried.
const MOST_COUNTS: usize = 6;

/// Pools that differ in one key, and the words for it; the least change first.
pub(super) fn changes(context: Context<'_>, near: &[Trial<'_>]) -> Vec<(String, Pool)> {
    let pool = context.pool;
    let mut changes: Vec<(String, Pool)> = Vec::new();
    let mut change = |words: String, edit: &dyn Fn(&mut Pool)| {
        let mut changed = pool.clone();
        edit(&mut changed);
        changes.push((words, changed));
    };
    if matches!(pool.zones, Zones::Listed(_)) {
        change("`zones: none`".to_owned(), &|pool| pool.zones = Zones::None);
    }
    changes_of_images(context, near, &mut change);
    changes_of_disks(pool, &mut change);
    if pool.capacity_reservation.is_some() {
        change("`capacity_reservation: null`".to_owned(), &|pool| {
            pool.capacity_reservation = None;
        });
    }
    if pool.proximity_placement_group.is_some() {
        change("`proximity_placement_group: null`".to_owned(), &|pool| {
            pool.proximity_placement_group = None;
        });
    }
    for count in counts(context, near) {
        change(format!("`count: {count}`"), &|pool| {
            pool.count = Some(count);
        });
    }
    if matches!(pool.priority, Priority::Spot(_)) {
        change("`priority: regular`".to_owned(), &|pool| {
            pool.priority = Priority::Regular;
        });
    }
    for (word, precision) in lower_precisions(pool) {
        change(format!("`precision: {word}`"), &|pool| {
            if let Some(model) = &mut pool.model {
                model.precision = precision;
            }
        });
    }
    for (word, method) in lighter_methods(pool) {
        change(format!("`method: {word}`"), &|pool| {
            if let Some(model) = &mut pool.model {
                model.method = method;
            }
        });
    }
    changes.extend(without_constraints(pool));
    changes
}

/// The plain distribution for a size that no image with a driver runs on, with the words for it.
fn plain_image(context: Context<'_>, near: &[Trial<'_>]) -> Option<(String, String)> {
    let trial = near.first()?;
    if context.pool.image != ImageChoice::Auto || context.pool.os != OperatingSystem::Linux {
        return None;
    }
    let size = trial.size;
    let rows = context.catalog.images().iter();
    let mut plain = rows.filter(|row| row.kind == "distribution" && row.usable);
    let (row, verdict) = plain.find_map(|row| {
        let boots = size.generations.is_empty() || size.generations.contains(&row.generation);
        let runs = size
            .architecture
            .is_none_or(|architecture| architecture == row.architecture);
        let cell = (context.catalog).image_fit(&size.image_family, &row.column)?;
        (boots && runs && cell.verdict != Fit::No).then_some((row, cell.verdict))
    })?;
    let urn = format!("{}:{}:{}:latest", row.publisher, row.offer, row.sku);
    let driver = match verdict {
        Fit::NeedsDriver => ", with a driver that you install,",
        Fit::Ok | Fit::Expected | Fit::No => "",
    };
    let words = format!("`image: {{urn: \"{urn}\"}}`{driver}");
    Some((urn, words))
}

/// Another image, or another operating system.
fn changes_of_images(
    context: Context<'_>,
    near: &[Trial<'_>],
    change: &mut impl FnMut(String, &dyn Fn(&mut Pool)),
) {
    let pool = context.pool;
    if pool.image != ImageChoice::Auto {
        change("`image: auto`".to_owned(), &|pool| {
            pool.image = ImageChoice::Auto;
        });
    }
    if pool.os != OperatingSystem::Linux {
        change("`os: linux`".to_owned(), &|pool| {
            pool.os = OperatingSystem::Linux;
        });
    }
    if let Some((urn, words)) = plain_image(context, near) {
        change(words, &|pool| {
            if let Ok(urn) = urn.parse() {
                pool.image = ImageChoice::Urn {
                    urn,
                    accept_terms: false,
                };
            }
        });
    }
}

/// Without what the pool asks of the disks of its nodes.
fn changes_of_disks(pool: &Pool, change: &mut impl FnMut(String, &dyn Fn(&mut Pool))) {
    if pool.disk_controller.is_some() {
        change("`disk_controller: auto`".to_owned(), &|pool| {
            pool.disk_controller = None;
        });
    }
    if let EphemeralOs::At(_) = pool.disks.os_ephemeral {
        change("`ephemeral: auto`".to_owned(), &|pool| {
            pool.disks.os_ephemeral = EphemeralOs::Auto;
        });
    }
    if pool.disks.os_ephemeral != EphemeralOs::No {
        change("`ephemeral: none`".to_owned(), &|pool| {
            pool.disks.os_ephemeral = EphemeralOs::No;
        });
    }
}

/// Numbers of nodes that could do instead of the one that the spec has: what the model needs,
/// what the money buys, what shares a fabric.
fn counts(context: Context<'_>, near: &[Trial<'_>]) -> Vec<u32> {
    let Some(there_are) = context.count() else {
        return Vec::new();
    };
    let needed = near.iter().filter_map(vms_needed);
    let needed: BTreeSet<u32> = needed.filter(|vms| *vms > there_are).collect();
    let affordable = near.iter().filter_map(|trial| {
        let excess = budget::excess(trial)?;
        let share = Decimal::from(there_are)
            .checked_mul(excess.limit)?
            .checked_div(excess.cost)?;
        u32::try_from(share.floor()).ok()
    });
    let affordable = affordable.max();
    let on_one_fabric = (there_are > rules::MOST_ON_A_FABRIC).then_some(rules::MOST_ON_A_FABRIC);
    let single = (there_are > 1).then_some(1);
    let mut counts: Vec<u32> = Vec::new();
    let fewer = [affordable, on_one_fabric, single].into_iter().flatten();
    for count in needed.into_iter().take(MOST_COUNTS).chain(fewer) {
        if count > 0 && count != there_are && !counts.contains(&count) {
            counts.push(count);
        }
    }
    counts
}

fn lower_precisions(pool: &Pool) -> Vec<(&'static str, Precision)> {
    let Some(model) = &pool.model else {
        return Vec::new();
    };
    let fp8 = ("fp8", Precision::Fp8);
    let half = [("bf16", Precision::Bf16), ("fp16", Precision::Fp16)];
    let mut lower = match model.precision {
        Precision::Fp32 => half.into_iter().chain([fp8]).collect(),
        Precision::Bf16 => vec![("fp16", Precision::Fp16), fp8],
        Precision::Fp16 => vec![fp8],
        Precision::Fp8 | Precision::Int4 => Vec::new(),
    };
    // Weights of 4 bits serve, and do not train but by QLoRA.
    if pool.stage == Stage::Inference && model.precision != Precision::Int4 {
        lower.push(("int4", Precision::Int4));
    }
    lower
}

fn lighter_methods(pool: &Pool) -> Vec<(&'static str, Method)> {
    let trains = pool.stage == Stage::Training;
    match pool.model.as_ref().filter(|_| trains) {
        Some(model) => match model.method {
            Method::Full => vec![("lora", Method::Lora), ("qlora", Method::Qlora)],
            Method::Lora => vec![("qlora", Method::Qlora)],
            Method::Qlora => Vec::new(),
        },
        None => Vec::new(),
    }
}

/// The pool without each of its constraints but the price, of which the nearest is known.
fn without_constraints(pool: &Pool) -> Vec<(String, Pool)> {
    let Some(constraints) = constraints(pool) else {
        return Vec::new();
    };
    let without = |key: &str, constraints: SizeConstraints| {
        let pool = Pool {
            size: SizeChoice::Constrained(constraints),
            ..pool.clone()
        };
        (format!("a pool without `size.{key}`"), pool)
    };
    let mut pools = Vec::new();
    if !constraints.family.is_empty() {
        let family = Vec::new();
        let constraints = constraints.clone();
        pools.push(without(
            "family",
            SizeConstraints {
                family,
                ..constraints
            },
        ));
    }
    if !constraints.gpu.is_empty() {
        let gpu = Vec::new();
        let constraints = constraints.clone();
        pools.push(without("gpu", SizeConstraints { gpu, ..constraints }));
    }
    if constraints.min_gpu_memory_gb.is_some() {
        let constraints = SizeConstraints {
            min_gpu_memory_gb: None,
            ..constraints.clone()
        };
        pools.push(without("min_gpu_memory", constraints));
    }
    if constraints.rdma.is_some() {
        let constraints = SizeConstraints {
            rdma: None,
            ..constraints.clone()
        };
        pools.push(without("rdma", constraints));
    }
    pools
}
