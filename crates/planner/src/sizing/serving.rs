//! The memory and the ceilings of serving.

use model::spec::Precision;

use super::{
    efficiency::BUSY, flops, machine::Machine, number::float, subject::Subject, training::Terms,
};

/// Overhead of serving as a share of the weights: graphs, activations, allocator (10 to 20 %).
pub const OVERHEAD: f64 = 0.15;

/// Scales and layers that stay unquantised, as a share of 4-bit weights (5 to 15 %).
const QUANTISED_EXTRA: f64 = 0.1;

/// Share of the memory's bandwidth that writing tokens reaches: the middle of 0.6 to 0.8.
pub const BANDWIDTH_SHARE: f64 = 0.7;

/// Share of peak operations that reading prompts and full batches reach: the middle of 0.4 to 0.6.
pub const COMPUTE_SHARE: f64 = 0.5;

/// What is served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// The number format of the weights.
    pub precision: Precision,
    /// Tokens of one sequence, prompt and answer, where known.
    pub sequence: Option<f64>,
    /// Sequences that are served at once by all copies together, where known.
    pub concurrency: Option<f64>,
}

/// Copies of the model over GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// GPUs that share a layer.
    pub tensor: u32,
    /// Stages of layers.
    pub pipeline: u32,
    /// Copies.
    pub count: u32,
}

impl Copies {
    /// GPUs of one copy.
    pub fn each(&self) -> u32 {
        self.tensor.saturating_mul(self.pipeline)
    }

    /// GPUs in all.
    pub fn gpus(&self) -> u32 {
        self.each().saturating_mul(self.count)
    }
}

/// Bytes of one parameter of a model that is not trained.
pub fn weight_bytes(precision: Precision) -> f64 {
    match precision {
        Precision::Fp32 => 4.0,
        Precision::Bf16 | Precision::Fp16 => 2.0,
        Precision::Fp8 => 1.0,
        Precision::Int4 => 0.5 * (1.0 + QUANTISED_EXTRA),
    }
}

/// Bytes of one number of the cache: 8 bits where the model computes in 8 bits, else 16.
pub fn cache_bytes(precision: Precision) -> f64 {
    match precision {
        Precision::Fp8 => 1.0,
        Precision::Fp32 => 4.0,
        Precision::Bf16 | Precision::Fp16 | Precision::Int4 => 2.0,
    }
}

/// Bytes of the weights of one copy, and of their overhead.
pub fn weights(subject: &Subject, precision: Precision) -> (f64, f64) {
    let weights = weight_bytes(precision) * subject.parameters;
    (weights, weights * OVERHEAD)
}

/// Bytes of the cache of one sequence; `None` where its length or the shape is not known.
pub fn sequence_cache(subject: &Subject, service: Service) -> Option<f64> {
    let numbers = subject.shape.cache_per_token?;
    Some(numbers * cache_bytes(service.precision) * service.sequence?)
}

/// How many times the cache is kept where more GPUs share a layer than it has parts.
pub fn cache_copies(subject: &Subject, tensor: u32) -> f64 {
    let parts = subject.shape.cache_parts.unwrap_or(f64::INFINITY);
    (float(u64::from(tensor)) / parts).max(1.0)
}

/// Sequences that one copy serves at once.
pub fn sequences(service: Service, copies: &Copies) -> Option<f64> {
    let all = service.concurrency?;
    Some((all / float(u64::from(copies.count.max(1)))).ceil())
}

/// The memory of one GPU.
pub fn memory(subject: &Subject, service: Service, copies: &Copies) -> Terms {
    let each = float(u64::from(copies.each().max(1)));
    let (weights, overhead) = weights(subject, service.precision);
    let cache = sequence_cache(subject, service).zip(sequences(service, copies));
    let kept = cache_copies(subject, copies.tensor);
    Terms {
        weights: weights / each,
        gradients: 0.0,
        optimizer: 0.0,
        activations: None,
        kv_cache: cache.map(|(one, sequences)| one * sequences * kept / each),
        overhead: overhead / each,
    }
}

/// Sequences for which one copy of this many GPUs has room; `None` where that is not known.
pub fn room(
    subject: &Subject,
    service: Service,
    machine: &Machine,
    copies: &Copies,
) -> Option<f64> {
    let (weights, overhead) = weights(subject, service.precision);
    let free = machine.usable() * float(u64::from(copies.each())) - weights - overhead;
    let one = sequence_cache(subject, service)? * cache_copies(subject, copies.tensor);
    Some((free / one).floor().max(0.0))
}

/// Operations a second that a served model has for its number format.
pub fn peak(machine: &Machine, precision: Precision) -> f64 {
    match precision {
        Precision::Fp8 => machine.fp8.unwrap_or(machine.dense),
        Precision::Fp32 => machine.dense / 2.0,
        // 4-bit weights are widened before they are multiplied.
        Precision::Bf16 | Precision::Fp16 | Precision::Int4 => machine.dense,
    }
}

/// Seconds of one step of one copy, in which every sequence gets a token: what reading the
/// memory takes, or what computing takes, whichever is longer.
pub fn step(
    subject: &Subject,
    precision: Precision,
    machine: &Machine,
    gpus: u32,
    (sequences, context): (f64, f64),
) -> f64 {
    let gpus = float(u64::from(gpus.max(1)));
    let touched = (subject.active * sequences).min(subject.parameters);
    let numbers = subject.shape.cache_per_token.unwrap_or(0.0);
    let read =
        weight_bytes(precision) * touched + numbers * cache_bytes(precision) * sequences * context;
    let reading = read / (gpus * machine.bandwidth * BANDWIDTH_SHARE);
    let work = flops::inference(subject) * sequences;
    let computing = work / (gpus * peak(machine, precision) * COMPUTE_SHARE);
    reading.max(computing)
}

/// Tokens a second of one GPU that writes, as far as its copy is busy.
pub fn rate(sequences: f64, step: f64, gpus: u32) -> f64 {
    sequences / step / float(u64::from(gpus.max(1))) * BUSY
}

/// Tokens a second of one copy that reads prompts.
pub fn prefill(subject: &Subject, precision: Precision, machine: &Machine, gpus: u32) -> f64 {
    let gpus = float(u64::from(gpus.max(1)));
    gpus * peak(machine, precision) * COMPUTE_SHARE / flops::inference(subject)
}
