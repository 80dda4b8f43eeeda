//! Chooses how a model is laid over GPUs: of the splits that fit, the fastest.
//!
//! Splits are tried from the simplest one on, and a more involved one must be faster by
//! 2 % to be taken. Host memory is used only where nothing else fits.

use super::{
    efficiency::{Pace, pace},
    machine::Machine,
    number::float,
    serving::{self, Copies, Service},
    split::{Offload, Recompute, Sharding, Split},
    subject::Subject,
    training::{Job, Terms, memory, on_host},
};

/// What a more involved split must save of the time.
const WORTH: f64 = 0.98;

/// Stages that are tried.
const PIPELINES: [u32; 5] = [1, 2, 4, 8, 16];

/// Sequences of a step that are tried.
const MICRO_BATCHES: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Most ranks that shard a copy.
const MOST_RANKS: u32 = 1 << 17;

/// What the user fixed of a split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fixed {
    /// GPUs that share a layer.
    pub tensor: Option<u32>,
    /// Stages of layers.
    pub pipeline: Option<u32>,
    /// Sequences of a step.
    pub micro_batch: Option<u32>,
    /// What data ranks shard.
    pub sharding: Option<Sharding>,
    /// What is recomputed.
    pub recompute: Option<Recompute>,
}

/// A split with what follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// The split.
    pub split: Split,
    /// The memory of one GPU.
    pub terms: Terms,
    /// The time of a token.
    pub pace: Pace,
    /// Whether it fits.
    pub fits: bool,
}

/// The fastest split that fits on a number of GPUs; where none does, the one that takes the
/// least memory. `None` where no split has this many GPUs.
pub fn choose(
    subject: &Subject,
    machine: &Machine,
    job: Job,
    fixed: Fixed,
    gpus: u32,
) -> Option<Layout> {
    let mut smallest: Option<Layout> = None;
    for offload in [Offload::None, Offload::Optimizer, Offload::All] {
        let mut best: Option<Layout> = None;
        for split in splits(subject, machine, fixed, gpus, offload) {
            let terms = memory(subject, job, &split);
            let fits = terms.sum() <= machine.usable() && host_holds(subject, machine, job, &split);
            let layout = |split| Layout {
                split,
                terms,
                pace: pace(subject, machine, job, &split),
                fits,
            };
            if fits {
                let layout = layout(split);
                let is_better =
                    best.is_none_or(|best| layout.pace.seconds < best.pace.seconds * WORTH);
                if is_better {
                    best = Some(layout);
                }
            } else if offload == Offload::None
                && smallest.is_none_or(|smallest| terms.sum() < smallest.terms.sum())
            {
                smallest = Some(layout(split));
            }
        }
        if best.is_some() {
            return best;
        }
    }
    smallest
}

/// Whether the VMs have room for what a split leaves on them. Nobody offloads to a host whose
/// memory is not known.
fn host_holds(subject: &Subject, machine: &Machine, job: Job, split: &Split) -> bool {
    if split.offload == Offload::None {
        return true;
    }
    let gpus = float(u64::from(split.gpus().min(machine.gpus)));
    let left = on_host(subject, job, split) * gpus;
    machine.usable_host().is_some_and(|usable| left <= usable)
}

/// The fewest GPUs on which some split fits, with everything in their memory; `None` where no
/// number does.
pub fn minimum(subject: &Subject, machine: &Machine, job: Job, fixed: Fixed) -> Option<u32> {
    let mut fewest: Option<u32> = None;
    for tensor in tensors(subject, machine, fixed) {
        for pipeline in pipelines(subject, fixed) {
            let split = |data| Split {
                tensor,
                pipeline,
                data,
                sharding: fixed.sharding.unwrap_or(Sharding::Fsdp),
                recompute: fixed.recompute.unwrap_or(Recompute::Full),
                offload: Offload::None,
                micro_batch: fixed.micro_batch.unwrap_or(1),
            };
            let fits = |data| memory(subject, job, &split(data)).sum() <= machine.usable();
            let data = if fits(1) {
                Some(1)
            } else {
                least(2, MOST_RANKS, fits)
            };
            let gpus = data.map(|data| split(data).gpus());
            fewest = fewest.into_iter().chain(gpus).min();
        }
    }
    fewest
}

/// The least number from `low` to `high` for which something holds that goes on holding.
fn least(low: u32, high: u32, holds: impl Fn(u32) -> bool) -> Option<u32> {
    if !holds(high) {
        return None;
    }
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

/// The copies of a served model on the fewest GPUs that hold all sequences; of equal numbers the
/// smallest copies. `None` where no copy within one domain and 16 stages holds the model.
pub fn copies(
    subject: &Subject,
    machine: &Machine,
    service: Service,
    fixed: Fixed,
) -> Option<Copies> {
    let mut best: Option<Copies> = None;
    for pipeline in pipelines(subject, fixed) {
        for tensor in tensors(subject, machine, fixed) {
            // Layers are split over VMs only where all GPUs of one do not do.
            if pipeline > 1 && fixed.pipeline.is_none() && best.is_some() {
                break;
            }
            let one = Copies {
                tensor,
                pipeline,
                count: 1,
            };
            let Some(count) = count(subject, machine, service, &one) else {
                continue;
            };
            let copies = Copies { count, ..one };
            if best.is_none_or(|best| copies.gpus() < best.gpus()) {
                best = Some(copies);
            }
        }
    }
    best
}

/// How many copies of this shape hold all sequences.
fn count(subject: &Subject, machine: &Machine, service: Service, one: &Copies) -> Option<u32> {
    let alone = Service {
        concurrency: service.concurrency.map(|_| 1.0),
        ..service
    };
    if serving::memory(subject, alone, one).sum() > machine.usable() {
        return None;
    }
    let room = serving::room(subject, service, machine, one);
    match room.zip(service.concurrency) {
        Some((room, wanted)) => super::number::count(wanted / room.max(1.0)),
        None => Some(1),
    }
}

fn tensors(subject: &Subject, machine: &Machine, fixed: Fixed) -> Vec<u32> {
    if let Some(tensor) = fixed.tensor {
        return vec![tensor.max(1)];
    }
    let limit = machine.tensor_limit();
    let divides = |tensor: u32| {
        subject
            .shape
            .divisible
            .is_none_or(|heads| heads.is_multiple_of(tensor))
    };
    (0..=6)
        .map(|power| 1_u32 << power)
        .filter(|tensor| *tensor <= limit && divides(*tensor))
        .collect()
}

/// The most stages that a pipeline may have: one for each layer, given or assumed.
pub fn most_stages(subject: &Subject) -> u32 {
    let assumed = || super::number::whole(subject.shape.layers.floor());
    let layers = subject.shape.stages.map(u64::from).or_else(assumed);
    let layers = layers.and_then(|layers| u32::try_from(layers).ok());
    layers.unwrap_or(u32::MAX).max(1)
}

fn pipelines(subject: &Subject, fixed: Fixed) -> Vec<u32> {
    if let Some(pipeline) = fixed.pipeline {
        let has_layers = pipeline <= most_stages(subject);
        return has_layers.then_some(pipeline.max(1)).into_iter().collect();
    }
    let layers = subject.shape.stages.unwrap_or(u32::MAX);
    let mut all = PIPELINES.to_vec();
    all.retain(|stages| *stages <= layers);
    all
}

/// Every split of a number of GPUs, the simplest ones first.
fn splits(
    subject: &Subject,
    machine: &Machine,
    fixed: Fixed,
    gpus: u32,
    offload: Offload,
) -> Vec<Split> {
    let mut all = Vec::new();
    let recomputes = match fixed.recompute {
        Some(recompute) => vec![recompute],
        None => vec![Recompute::Selective, Recompute::Full],
    };
    let micro_batches = match fixed.micro_batch {
        Some(micro_batch) => vec![micro_batch.max(1)],
        None => MICRO_BATCHES.to_vec(),
    };
    for pipeline in pipelines(subject, fixed) {
        for tensor in tensors(subject, machine, fixed) {
            let Some(ranks) = tensor.checked_mul(pipeline) else {
                continue;
            };
            if ranks > gpus || !gpus.is_multiple_of(ranks) {
                continue;
            }
            let data = gpus / ranks;
            for sharding in shardings(fixed, pipeline, data) {
                for recompute in &recomputes {
                    for micro_batch in &micro_batches {
                        all.push(Split {
                            tensor,
                            pipeline,
                            data,
                            sharding,
                            recompute: *recompute,
                            offload,
                            micro_batch: *micro_batch,
                        });
                    }
                }
            }
        }
    }
    all
}

/// Whole copies, or shards of one. With a pipeline gathered weights would be gathered for each
/// micro-batch, so there the optimizer alone is sharded first.
fn shardings(fixed: Fixed, pipeline: u32, data: u32) -> Vec<Sharding> {
    match (fixed.sharding, data, pipeline) {
        (Some(sharding), ..) => vec![sharding],
        (None, 1, _) => vec![Sharding::Ddp],
        (None, _, 1) => vec![Sharding::Ddp, Sharding::Fsdp],
        (None, ..) => vec![Sharding::Zero1, Sharding::Fsdp],
    }
}
