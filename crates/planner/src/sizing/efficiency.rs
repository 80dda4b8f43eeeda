//! How long a GPU takes for a token in training.
//!
//! The time is that of four kinds of work that follow each other, and of what cannot be hidden
//! behind them. Each has one constant, with its source; none is fitted to published training runs,
//! though some summarise them (`docs/sizing.md` says which). Where a published range was read the
//! low side was taken, because published runs are tuned.

use model::spec::{Method, Precision};

use super::{
    flops,
    machine::Machine,
    number::float,
    split::{Offload, Recompute, Sharding, Split},
    subject::Subject,
    training::Job,
};

/// Share of peak of matrix multiplications on GPUs that nobody measured: that of H100
/// (stas00/ml-engineering, 794 of 989 TFLOPS).
pub const MATMUL_UNMEASURED: f64 = 0.8;

/// What 8 bits gain over 16 in training, where the peak doubles and casts are added.
pub const FP8_GAIN: f64 = 1.5;

/// Share of peak of flash attention on Ampere, for which it was written
/// (`FlashAttention-2`, arXiv 2307.08691: 50 to 73 %).
pub const ATTENTION_AMPERE: f64 = 0.55;

/// The same on other GPUs (`FlashAttention-3`, arXiv 2407.08608: version 2 reaches 35 % on H100).
pub const ATTENTION_OTHER: f64 = 0.35;

/// Passes over what a layer keeps, between matrix multiplications: written and read once on the
/// way forward, read and written as gradients on the way back.
pub const PASSES: f64 = 4.0;

/// Share of a step in which the GPU does this work: the rest are gaps between kernels, clocks
/// below nominal, the optimizer, and communication that does not hide. One number for all GPUs,
/// models and formats, set where a 70B model in bf16 on a few hundred H100 comes to the 0.40 of
/// peak that plans usually take, which is the low side of what is published.
pub const BUSY: f64 = 0.65;

/// What a mixture of experts reaches of a dense model: small matrices, routing, all-to-all.
/// The first is for NVLink within a VM, the second for racks that are one domain.
pub const MIXTURE: (f64, f64) = (0.35, 0.55);

/// Share of a link's bandwidth that collectives reach (NCCL's bus bandwidth on large messages).
pub const LINK_SHARE: f64 = 0.8;

/// Share of tensor-parallel communication that does not hide behind matrix multiplications.
pub const TENSOR_EXPOSED: f64 = 0.5;

/// Micro-batches of one step over the stages of a pipeline.
pub const MICRO_BATCHES_PER_STAGE: f64 = 8.0;

/// What each doubling of the VMs beyond the first costs: published runs lose about 5 % from
/// hundreds to thousands of GPUs.
pub const DOUBLING: f64 = 0.99;

/// The most that VMs without InfiniBand reach of those with it.
pub const ETHERNET_AT_MOST: f64 = 0.5;

/// Bytes a second between a GPU and its host: `PCIe` 4.0, as collectives use it.
const HOST: f64 = 25e9;

/// Seconds that one GPU spends on one token, by kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Matrix multiplications, with what is recomputed.
    pub matmul: f64,
    /// Attention.
    pub attention: f64,
    /// What is read and written between multiplications.
    pub elementwise: f64,
    /// Communication between GPUs that share a layer.
    pub tensor: f64,
    /// Communication of data parallelism and of the host that does not hide.
    pub exposed: f64,
    /// Share of the time that is left after the pipeline's ramps.
    pub pipeline: f64,
    /// Share that is left after the size of the cluster.
    pub scale: f64,
    /// All of it together.
    pub seconds: f64,
}

/// Operations a second of matrix multiplications in a number format.
pub fn matmul_rate(machine: &Machine, precision: Precision) -> f64 {
    let share = machine.matmul.unwrap_or(MATMUL_UNMEASURED);
    let gain = match precision {
        Precision::Fp8 => FP8_GAIN,
        // TF32 has half the rate of 16 bits; before Ampere there is none.
        Precision::Fp32 if machine.generation > 2 => 0.5,
        Precision::Fp32 => 0.125,
        Precision::Bf16 | Precision::Fp16 | Precision::Int4 => 1.0,
    };
    machine.dense * share * gain
}

/// Share of peak that attention reaches.
pub fn attention_share(machine: &Machine) -> f64 {
    if machine.generation == 3 {
        ATTENTION_AMPERE
    } else {
        ATTENTION_OTHER
    }
}

/// What a mixture reaches of a dense model.
pub fn mixture_share(subject: &Subject, machine: &Machine) -> f64 {
    if !subject.is_mixture() {
        1.0
    } else if machine.domain > 8 {
        MIXTURE.1
    } else {
        MIXTURE.0
    }
}

/// How long one GPU takes for one token.
pub fn pace(subject: &Subject, machine: &Machine, job: Job, split: &Split) -> Pace {
    let again = split.recompute == Recompute::Full;
    let linear = subject.active - subject.embedding;
    let passes = passes(job.method, again);
    let rate = matmul_rate(machine, job.precision) * mixture_share(subject, machine);
    let matmul = passes * linear / rate;
    // Flash attention computes the scores again on the way back: 7 products instead of 6.
    let products = if again { 9.0 } else { 7.0 } / 6.0;
    let attention = flops::attention(subject, job.timed_sequence()) * products
        / (machine.dense * attention_share(machine));
    let shape = &subject.shape;
    let touched = PASSES * 34.0 * shape.hidden * shape.layers;
    let elementwise = touched * if again { 4.0 / 3.0 } else { 1.0 } / machine.bandwidth;
    let busy = (matmul + attention + elementwise) / BUSY;
    let tensor = tensor(subject, machine, split, again);
    let exposed = exposed(subject, machine, job, split, busy + tensor);
    let stages = float(u64::from(split.pipeline));
    let pipeline =
        MICRO_BATCHES_PER_STAGE * stages / (MICRO_BATCHES_PER_STAGE * stages + stages - 1.0);
    let vms = split.gpus().div_ceil(machine.gpus).max(1);
    let scale = (0..vms.ilog2()).fold(1.0, |share, _| share * DOUBLING);
    let seconds = (busy + tensor + exposed) / pipeline / scale;
    // Without InfiniBand at most half of what there would be with nothing to wait for.
    let seconds = if vms > 1 && !machine.rdma {
        seconds.max((busy + tensor) / ETHERNET_AT_MOST)
    } else {
        seconds
    };
    Pace {
        matmul,
        attention,
        elementwise,
        tensor,
        exposed,
        pipeline,
        scale,
        seconds,
    }
}

/// Operations for each parameter and token: forward 2, gradients of activations 2, of weights 2,
/// and the forward ones once more where layers are computed again.
pub fn passes(method: Method, again: bool) -> f64 {
    let once = match method {
        Method::Full => 6.0,
        Method::Lora | Method::Qlora => 4.0,
    };
    if again { once + 2.0 } else { once }
}

/// Four all-reduces of a layer's activations in 16 bits, six where they are computed again
/// (Megatron-LM, arXiv 1909.08053).
fn tensor(subject: &Subject, machine: &Machine, split: &Split, again: bool) -> f64 {
    let ranks = float(u64::from(split.tensor));
    let reduces = if again { 6.0 } else { 4.0 };
    let shape = &subject.shape;
    // A ring sends 2·(t − 1)/t of a message; a token of the group takes the time of t GPUs.
    let bytes = reduces * 2.0 * (ranks - 1.0) * 2.0 * shape.hidden * shape.layers;
    bytes * TENSOR_EXPOSED / (machine.link * LINK_SHARE)
}

/// Bytes that data ranks exchange for one step, and those of the host, beyond what the step's
/// work hides; for one token of one GPU.
fn exposed(subject: &Subject, machine: &Machine, job: Job, split: &Split, work: f64) -> f64 {
    let sequence = job.timed_sequence();
    let model_ranks = float(u64::from(split.tensor)) * float(u64::from(split.pipeline));
    // Tokens of a step for each GPU of the group that shares a copy.
    let tokens = sequence * float(u64::from(split.micro_batch)) / model_ranks;
    let data = float(u64::from(split.data));
    let trained = match job.method {
        // Experts stay where they are, and tokens travel to them: only the rest is exchanged,
        // which is at most what takes part in a token.
        Method::Full => subject.active,
        Method::Lora | Method::Qlora => subject.shape.adapter,
    };
    let gathered = 2.0 * super::serving::weight_bytes(job.precision).min(2.0) * subject.active;
    let bytes = match split.sharding {
        // Weights are gathered for both passes, gradients are scattered.
        Sharding::Fsdp => gathered + 2.0 * trained,
        Sharding::Ddp | Sharding::Zero1 | Sharding::Zero2 => 4.0 * trained,
    };
    let share = (data - 1.0) / data / model_ranks;
    let within = split.gpus() <= machine.domain.max(machine.gpus);
    let rate = if within {
        machine.link
    } else {
        // A ring over VMs crosses each of them once, on the networks of the ranks it has there.
        let per_vm = (f64::from(machine.gpus) / float(u64::from(split.tensor))).max(1.0);
        (machine.fabric * per_vm).min(machine.link)
    };
    let exchange = bytes * share / (rate * LINK_SHARE);
    let hosted = match split.offload {
        Offload::None => 0.0,
        Offload::Optimizer => 4.0,
        Offload::All => 8.0,
    };
    let host = hosted * trained / model_ranks / data / HOST;
    (exchange / tokens - work).max(0.0) + host / tokens
}
