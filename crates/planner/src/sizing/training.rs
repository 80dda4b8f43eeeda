//! The memory of training, on one GPU.

use model::spec::{Method, Precision};

use super::{
    number::float,
    serving::weight_bytes,
    split::{Offload, Recompute, Sharding, Split},
    subject::Subject,
};

/// Bytes of a CUDA context with the libraries a framework loads: the middle of 1 to 2 GB.
const CONTEXT: f64 = 1.5e9;

/// Bytes of the buffers of collective communication: the middle of 0.5 to 2 GB.
const COMMUNICATION: f64 = 1e9;

/// Bytes that one layer keeps of one token for the backward pass, in units of the hidden size:
/// attention 11, feed-forward 19, norms 4 (Korthikanti et al., arXiv 2205.05198).
const KEPT: f64 = 34.0;

/// Of these, what the inner width of the feed-forward block takes where it is 4·d.
const KEPT_INNER: f64 = 16.0;

/// Bytes that the loss keeps of one token, in units of the vocabulary: 32-bit logits and
/// their 16-bit gradients.
const LOGITS: f64 = 6.0;

/// What is trained, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// The method.
    pub method: Method,
    /// The number format.
    pub precision: Precision,
    /// Tokens of one sequence, where known.
    pub sequence: Option<f64>,
}

/// Tokens of a sequence for which time is estimated where nobody says how many: the middle of
/// usual ones. Where hours are asked for, memory goes by it too, since a split that holds no
/// activations is faster than any that runs; else what activations take stays unknown.
pub const USUAL_SEQUENCE: f64 = 4_096.0;

impl Job {
    /// The job by which hours are estimated: with a sequence, where there are tokens to count.
    #[must_use]
    pub fn for_tokens(self, tokens: Option<f64>) -> Self {
        match tokens {
            Some(_) => Self {
                sequence: Some(self.timed_sequence()),
                ..self
            },
            None => self,
        }
    }

    /// Tokens of a sequence for estimates of time.
    pub fn timed_sequence(&self) -> f64 {
        self.sequence.unwrap_or(USUAL_SEQUENCE)
    }
}

/// The terms of the memory of one GPU, in bytes. A term that is not known is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// Weights.
    pub weights: f64,
    /// Gradients.
    pub gradients: f64,
    /// States of the optimizer.
    pub optimizer: f64,
    /// Activations; `None` without a sequence, and within the overhead of a served model.
    pub activations: Option<f64>,
    /// The cache of keys and values; `None` without a sequence or a shape.
    pub kv_cache: Option<f64>,
    /// Contexts, buffers, layers gathered for use.
    pub overhead: f64,
}

impl Terms {
    /// The terms that are known, added.
    pub fn sum(&self) -> f64 {
        self.weights
            + self.gradients
            + self.optimizer
            + self.activations.unwrap_or(0.0)
            + self.kv_cache.unwrap_or(0.0)
            + self.overhead
    }
}

/// Bytes of one parameter in training: weights, gradients, and the optimizer (two moments in 32
/// bits, and 32-bit master weights beside narrower ones). The sum is 16.
pub fn state_bytes(precision: Precision) -> (f64, f64, f64) {
    match precision {
        Precision::Fp32 => (4.0, 4.0, 8.0),
        Precision::Bf16 | Precision::Fp16 | Precision::Fp8 | Precision::Int4 => (2.0, 2.0, 12.0),
    }
}

/// Bytes of the states of one GPU, wherever they are kept: weights, gradients, optimizer.
fn shares(subject: &Subject, job: Job, split: &Split) -> (f64, f64, f64) {
    let model_ranks = float(u64::from(split.tensor)) * float(u64::from(split.pipeline));
    let data = float(u64::from(split.data));
    let (weights, gradients, optimizer) = states(subject, job);
    let shards = |sharded: bool| if sharded { data } else { 1.0 };
    let weights = weights / model_ranks / shards(split.sharding == Sharding::Fsdp);
    let gradients = gradients / model_ranks / shards(split.sharding >= Sharding::Zero2);
    let optimizer = optimizer / model_ranks / shards(split.sharding >= Sharding::Zero1);
    (weights, gradients, optimizer)
}

/// Bytes that one GPU leaves in the memory of its host.
pub fn on_host(subject: &Subject, job: Job, split: &Split) -> f64 {
    let (weights, gradients, optimizer) = shares(subject, job, split);
    match split.offload {
        Offload::None => 0.0,
        Offload::Optimizer => gradients + optimizer,
        Offload::All => weights + gradients + optimizer,
    }
}

/// The memory of one GPU under a split.
pub fn memory(subject: &Subject, job: Job, split: &Split) -> Terms {
    let (weights, gradients, optimizer) = shares(subject, job, split);
    let gathers =
        split.sharding == Sharding::Fsdp && split.data > 1 || split.offload == Offload::All;
    let tensor = float(u64::from(split.tensor));
    let gathered = if gathers {
        4.0 * subject.shape.largest_layer / tensor
    } else {
        0.0
    };
    let buffers = if split.gpus() > 1 { COMMUNICATION } else { 0.0 };
    let on_host = split.offload >= Offload::Optimizer;
    Terms {
        weights: if split.offload == Offload::All {
            0.0
        } else {
            weights
        },
        gradients: if on_host { 0.0 } else { gradients },
        optimizer: if on_host { 0.0 } else { optimizer },
        activations: job
            .sequence
            .map(|sequence| activations(subject, sequence, split)),
        kv_cache: Some(0.0),
        overhead: CONTEXT + buffers + gathered,
    }
}

/// Bytes of the states of all GPUs: weights, gradients, optimizer.
pub fn states(subject: &Subject, job: Job) -> (f64, f64, f64) {
    let (weights, gradients, optimizer) = state_bytes(job.precision);
    let all = subject.parameters;
    let adapter = subject.shape.adapter;
    match job.method {
        Method::Full => (weights * all, gradients * all, optimizer * all),
        Method::Lora => (
            weight_bytes(job.precision) * all + 2.0 * adapter,
            2.0 * adapter,
            12.0 * adapter,
        ),
        Method::Qlora => (
            weight_bytes(Precision::Int4) * all + 2.0 * adapter,
            2.0 * adapter,
            12.0 * adapter,
        ),
    }
}

/// Bytes that the layers and the loss keep for the backward pass. A pipeline's first stage holds
/// as many micro-batches as there are stages, each of a part of the layers: it divides nothing.
pub fn activations(subject: &Subject, sequence: f64, split: &Split) -> f64 {
    let shape = &subject.shape;
    let tokens = sequence * float(u64::from(split.micro_batch));
    let tensor = float(u64::from(split.tensor));
    let inner = KEPT_INNER * shape.active_width / 4.0;
    let kept = if shape.mixture {
        // A token meets the experts it takes: their width stands for 4·d.
        (KEPT - KEPT_INNER) * shape.hidden + inner
    } else {
        KEPT * shape.hidden
    };
    let scores = 5.0 * shape.heads * sequence;
    let layers = match split.recompute {
        Recompute::None => (kept + scores) * shape.layers,
        Recompute::Selective => kept * shape.layers,
        Recompute::Full => 2.0 * shape.hidden * shape.layers + kept,
    };
    let logits = shape.vocab.map_or(0.0, |vocab| LOGITS * vocab);
    tokens * (layers + logits) / tensor
}
