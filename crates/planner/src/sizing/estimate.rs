//! Puts the maths together: memory, split, speed, hours, each with its formula.

use model::plan::{Formula, Memory, Parallelism, Throughput};

use super::{
    flops,
    layout::{self, Fixed, Layout},
    machine::Machine,
    number::{float, rounded, whole},
    serving::{self, Copies, Service},
    split::Offload,
    subject::Subject,
    time,
    training::{Job, Terms, USUAL_SEQUENCE},
};

mod lines;

/// Most VMs of one placement group, without which InfiniBand does not connect them.
pub const MOST_WITH_INFINIBAND: u32 = 100;

/// Most VMs of a pool.
pub const MOST_VMS: u32 = 1_000;

/// Further VMs for which a split is tried, where the first number has none.
const FURTHER: u32 = 64;

/// How much faster than those tried a number of VMs between them may be.
const FASTER: f64 = 0.9;

/// What sizing gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizing {
    /// GPUs in all.
    pub gpus: u32,
    /// VMs in all.
    pub vms: u32,
    /// Whether it fits.
    pub fits: bool,
    /// The memory of one GPU.
    pub memory: Memory,
    /// The split.
    pub parallelism: Parallelism,
    /// The speed; `None` where it does not fit.
    pub throughput: Option<Throughput>,
    /// Whether the length of a sequence is assumed, in memory and in time.
    pub assumed_sequence: bool,
    /// The numbers with their formulas.
    pub formulas: Vec<Formula>,
}

/// Why there is no sizing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No number of these GPUs holds the model.
    NeverFits,
    /// The number of GPUs cannot be split as the user fixed it.
    NoSplit {
        /// GPUs that were asked for.
        gpus: u32,
    },
    /// The pipeline that the user fixed has more stages than the model has layers.
    TooManyStages {
        /// Stages that were asked for.
        stages: u32,
        /// Layers that there are.
        layers: u32,
    },
}

/// A deadline that no number of VMs meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Missed {
    /// Most VMs there may be.
    pub most: u32,
    /// Seconds that they take.
    pub seconds: f64,
}

impl Sizing {
    /// What to say of a sequence that is assumed, and what helps.
    pub fn assumption(&self) -> Option<String> {
        self.assumed_sequence.then(|| {
            format!(
                "the length of a sequence is not known: {USUAL_SEQUENCE} tokens are assumed for memory and hours"
            )
        })
    }
}

/// Refuses a pipeline in which some stage would be empty.
fn check_stages(subject: &Subject, fixed: Fixed) -> Result<(), Trouble> {
    let layers = layout::most_stages(subject);
    match fixed.pipeline {
        Some(stages) if stages > layers => Err(Trouble::TooManyStages { stages, layers }),
        _ => Ok(()),
    }
}

/// The fewest GPUs, and the fewest in whole VMs on which a split fits.
pub fn needed(subject: &Subject, machine: &Machine, job: Job, fixed: Fixed) -> Option<(u32, u32)> {
    let minimum = layout::minimum(subject, machine, job, fixed)?;
    let first = minimum.div_ceil(machine.gpus);
    let fits = |vms: &u32| {
        let gpus = vms.saturating_mul(machine.gpus);
        layout::choose(subject, machine, job, fixed, gpus)
            .is_some_and(|layout| layout.fits && layout.split.offload == Offload::None)
    };
    let vms = (first..first.saturating_add(FURTHER))
        .find(fits)
        .unwrap_or(first);
    Some((minimum, vms.saturating_mul(machine.gpus)))
}

/// Sizes training on a number of GPUs, or on as many as are recommended.
///
/// # Errors
/// No number of GPUs holds the model, or it cannot be split as fixed.
pub fn training(
    subject: &Subject,
    machine: &Machine,
    job: Job,
    fixed: Fixed,
    (gpus, tokens): (Option<u32>, Option<f64>),
) -> Result<Sizing, Trouble> {
    check_stages(subject, fixed)?;
    let asked = job;
    let job = asked.for_tokens(tokens);
    let needed = needed(subject, machine, job, fixed);
    let gpus = match (gpus, needed) {
        (Some(gpus), _) => gpus,
        (None, Some((_, recommended))) => recommended,
        (None, None) => return Err(Trouble::NeverFits),
    };
    let layout =
        layout::choose(subject, machine, job, fixed, gpus).ok_or(Trouble::NoSplit { gpus })?;
    let flops_per_token = flops::training(subject, job.method, job.timed_sequence());
    let rate = 1.0 / layout.pace.seconds;
    let mfu = flops_per_token * rate / machine.dense;
    let throughput = throughput((flops_per_token, mfu, rate), tokens, gpus);
    let mut memory = document(&layout.terms, machine);
    (memory.gpus_minimum, memory.gpus_recommended) = needed.unzip();
    let mut formulas = lines::training(subject, machine, job, &layout, needed, tokens);
    let place = formulas
        .iter()
        .position(|line| line.name == "flops_per_token");
    if let Some(line) = lines::sequence(asked, tokens) {
        formulas.insert(place.unwrap_or_default(), line);
    }
    Ok(Sizing {
        gpus,
        vms: gpus.div_ceil(machine.gpus),
        fits: layout.fits,
        memory,
        parallelism: split(&layout),
        throughput: layout.fits.then_some(throughput),
        assumed_sequence: asked.sequence.is_none() && job.sequence.is_some(),
        formulas,
    })
}

/// Sizes serving on a number of GPUs, or on as few as hold it.
///
/// # Errors
/// No copy of the model fits on these GPUs, or it cannot be split as fixed.
pub fn service(
    subject: &Subject,
    machine: &Machine,
    service: Service,
    fixed: Fixed,
    (gpus, tokens): (Option<u32>, Option<f64>),
) -> Result<Sizing, Trouble> {
    check_stages(subject, fixed)?;
    let least = layout::copies(subject, machine, service, fixed).ok_or(Trouble::NeverFits)?;
    let recommended = least
        .gpus()
        .div_ceil(machine.gpus)
        .saturating_mul(machine.gpus);
    let gpus = gpus.unwrap_or(recommended);
    let copies = if least.each() <= gpus {
        Copies {
            count: gpus / least.each(),
            ..least
        }
    } else {
        // It does not fit; what one copy over all of them would take says by how much.
        Copies {
            tensor: gpus.max(1),
            pipeline: 1,
            count: 1,
        }
    };
    let terms = serving::memory(subject, service, &copies);
    let fits = terms.sum() <= machine.usable();
    let sequences = serving::sequences(service, &copies).unwrap_or(1.0);
    let context = service.sequence.unwrap_or(0.0);
    let step = serving::step(
        subject,
        service.precision,
        machine,
        copies.each(),
        (sequences, context),
    );
    let rate = serving::rate(sequences, step, copies.each());
    let flops_per_token = flops::inference(subject);
    let mfu = flops_per_token * rate / serving::peak(machine, service.precision);
    let mut memory = document(&terms, machine);
    memory.gpus_minimum = Some(least.gpus());
    memory.gpus_recommended = Some(recommended);
    let formulas = lines::serving(subject, machine, service, &copies, (sequences, step));
    Ok(Sizing {
        gpus,
        vms: gpus.div_ceil(machine.gpus),
        fits,
        memory,
        parallelism: Parallelism {
            tensor: copies.tensor,
            pipeline: copies.pipeline,
            data: copies.count,
            strategy: if copies.count == 1 {
                "single"
            } else {
                "replicas"
            }
            .to_owned(),
            recompute: None,
            micro_batch: None,
        },
        // One sequence more or less is no speed of a service whose load nobody said.
        throughput: (fits && service.concurrency.is_some())
            .then(|| throughput((flops_per_token, mfu, rate), tokens, gpus)),
        assumed_sequence: false,
        formulas,
    })
}

/// The fewest VMs, from `least` on, that get tokens through in some seconds.
///
/// # Errors
/// As many VMs as there may be do not.
pub fn vms_for_deadline(
    subject: &Subject,
    machine: &Machine,
    job: Job,
    (tokens, deadline): (f64, f64),
    (least, fixed): (u32, Fixed),
) -> Result<u32, Missed> {
    let most = if machine.rdma {
        MOST_WITH_INFINIBAND
    } else {
        MOST_VMS
    };
    let job = job.for_tokens(Some(tokens));
    let seconds = |vms: u32| {
        let gpus = vms.saturating_mul(machine.gpus);
        let layout = layout::choose(subject, machine, job, fixed, gpus);
        let layout = layout.filter(|layout| layout.fits)?;
        Some(time::seconds(tokens, 1.0 / layout.pace.seconds, gpus))
    };
    let least = least.max(1);
    // The best that any of some numbers of VMs makes of one of them: fewer cannot do.
    let tried = (0..32_u32)
        .map_while(|power| least.checked_shl(power))
        .take_while(|vms| *vms < most)
        .chain([most]);
    let fastest = tried
        .filter_map(|vms| Some(seconds(vms)? * float(u64::from(vms))))
        .fold(f64::INFINITY, f64::min);
    let first = super::number::count(fastest / deadline * FASTER).unwrap_or(u32::MAX);
    let meets = |vms: &u32| seconds(*vms).is_some_and(|seconds| seconds <= deadline);
    (least.max(first)..=most).find(meets).ok_or_else(|| Missed {
        most,
        seconds: seconds(most).unwrap_or(f64::INFINITY),
    })
}

/// The terms as documents show them.
fn document(terms: &Terms, machine: &Machine) -> Memory {
    Memory {
        per_gpu_bytes: whole(terms.sum()),
        usable_per_gpu_bytes: whole(machine.usable()),
        weights_bytes: whole(terms.weights),
        gradients_bytes: whole(terms.gradients),
        optimizer_bytes: whole(terms.optimizer),
        activations_bytes: terms.activations.and_then(whole),
        kv_cache_bytes: terms.kv_cache.and_then(whole),
        overhead_bytes: whole(terms.overhead),
        gpus_minimum: None,
        gpus_recommended: None,
    }
}

fn split(layout: &Layout) -> Parallelism {
    Parallelism {
        tensor: layout.split.tensor,
        pipeline: layout.split.pipeline,
        data: layout.split.data,
        strategy: layout.split.strategy(),
        recompute: Some(layout.split.recompute.word().to_owned()),
        micro_batch: Some(layout.split.micro_batch),
    }
}

fn throughput(
    (flops_per_token, mfu, rate): (f64, f64, f64),
    tokens: Option<f64>,
    gpus: u32,
) -> Throughput {
    let known = |number: f64, decimals| Some(rounded(number, decimals)).filter(|it| it.is_finite());
    Throughput {
        flops_per_token: rounded(flops_per_token, 0),
        mfu: rounded(mfu, 4),
        tokens_per_second_per_gpu: rounded(rate, 2),
        gpu_hours: tokens.and_then(|tokens| known(time::gpu_hours(tokens, rate), 2)),
        seconds: tokens.and_then(|tokens| known(time::seconds(tokens, rate, gpus), 0)),
    }
}
