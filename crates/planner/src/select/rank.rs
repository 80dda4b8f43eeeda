//! The only place that orders sizes.
//!
//! Keys are compared from left to right; the last one is the name, so that no order depends
//! on the input's. A size without a price goes behind those of the same class with one.

use model::catalog::{Lifecycle, SizeGpu};
use rust_decimal::Decimal;

use super::{Trial, role::Role};

/// The place of a size: smaller is better. What retires goes behind its class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    class: u32,
    ends: bool,
    order: [i64; 2],
    other_vendor: bool,
    price: (bool, Decimal),
    name: String,
}

/// The place of a size in its role.
pub fn key(trial: &Trial<'_>) -> Key {
    let is_known = trial.context.need.is_some();
    let newest = generation(trial).saturating_neg();
    let (class, order) = match trial.role {
        Role::TrainingGpu => match training_class(trial) {
            // One NC node holds the model: the smallest that does (A17).
            0 => (0, [gpu_memory(trial), newest]),
            class => (class, [newest, nodes(trial)]),
        },
        // A model of known size is served by the smallest GPUs that hold all its copies (A17);
        // otherwise by the newest ones (A18).
        Role::InferenceGpu if is_known => (inference_class(trial), [memory_of_all(trial), newest]),
        Role::InferenceGpu => (inference_class(trial), [newest, gpu_memory(trial)]),
        // The newest generation first (A18), then the smallest that clears the floor (A17).
        Role::TrainingCpu | Role::InferenceCpu => (0, [newest, i64::from(trial.size.vcpus)]),
    };
    Key {
        class,
        ends: matches!(trial.size.lifecycle, Lifecycle::EndOfLife { .. }),
        order,
        other_vendor: trial
            .size
            .gpu
            .as_ref()
            .is_some_and(|gpu| vendor_is_not_nvidia(trial, &gpu.model)),
        price: price(trial),
        name: trial.size.name.key(),
    }
}

/// ND first (A4); a model that one NC node holds does not need an ND node (A17).
fn training_class(trial: &Trial<'_>) -> u32 {
    let is_known = trial.context.need.is_some();
    match trial.size.series.as_str() {
        "NC" if is_known && nodes(trial) == 1 && trial.count.unwrap_or(1) == 1 => 0,
        // A19: with RDMA and an interconnect between the GPUs.
        "ND" if trial.size.rdma => 1,
        "ND" => 2,
        _ => 3,
    }
}

/// NC first, then ND without InfiniBand, then ND with it (A20).
fn inference_class(trial: &Trial<'_>) -> u32 {
    match (trial.size.series.as_str(), trial.size.rdma) {
        (_, true) => 2,
        ("NC", false) => 0,
        _ => 1,
    }
}

fn generation(trial: &Trial<'_>) -> i64 {
    match &trial.size.gpu {
        Some(gpu) => trial
            .context
            .catalog
            .gpu(&gpu.model)
            .map_or(0, |gpu| i64::from(gpu.generation)),
        None => trial.size.version.map_or(0, i64::from),
    }
}

fn vendor_is_not_nvidia(trial: &Trial<'_>, model: &str) -> bool {
    trial
        .context
        .catalog
        .gpu(model)
        .is_some_and(|gpu| gpu.vendor != "NVIDIA")
}

/// The fewest VMs that do; one where the model is not known.
fn nodes(trial: &Trial<'_>) -> i64 {
    let Some(need) = trial.context.need else {
        return 1;
    };
    let answer = need.answer(trial.size, trial.context.catalog);
    answer.map_or(i64::MAX, |answer| match answer.in_time {
        Some(Ok(vms)) => i64::from(vms),
        Some(Err(_)) | None => i64::from(answer.vms),
    })
}

/// Nameplate memory of all GPUs of one VM, in GB; what is not known goes last.
fn gpu_memory(trial: &Trial<'_>) -> i64 {
    trial
        .size
        .gpu
        .as_ref()
        .and_then(SizeGpu::total_memory_gb)
        .map_or(i64::MAX, i64::from)
}

/// The same of all nodes: many small VMs with a copy each may take more than one large VM.
fn memory_of_all(trial: &Trial<'_>) -> i64 {
    let count = trial
        .context
        .pool
        .count
        .map_or_else(|| nodes(trial), i64::from);
    gpu_memory(trial).saturating_mul(count)
}

fn price(trial: &Trial<'_>) -> (bool, Decimal) {
    let price = trial.context.hourly_price(trial.size);
    (price.is_none(), price.unwrap_or_default())
}
