//! What the maths says of a point, or why it says nothing.

use model::spec::{Method, Precision};
use tensorform_planner::sizing::{
    efficiency::BUSY,
    flops,
    layout::{self, Fixed, Layout},
    machine::Machine,
    serving::{self, Copies, Service},
    split::{Offload, Recompute, Sharding, Split},
    subject::Subject,
    time,
    training::{Job, memory, states},
};

use super::{points::Point, setting};

const GIB: f64 = 1_073_741_824.0;

pub(super) fn of(point: &Point) -> Result<f64, String> {
    if point.note.contains("8-bit or paged") || point.note.contains("batch not stated") {
        return Err("batch or optimizer are not comparable".to_owned());
    }
    if point.method == "serve" {
        return served(point);
    }
    let subject = setting::subject(point)?;
    let machine = setting::machine(point)?;
    let job = job(point)?;
    match point.quantity.as_str() {
        "mfu_percent" => counted(point, &subject, &machine),
        "tflops" => {
            let rate = leading_number(&point.note);
            Ok(rate * flops::training(&subject, job.method, job.timed_sequence()) / 1e12)
        }
        "states_gib" => Ok(states_only(point, &subject, job) / GIB),
        "memory_gb" => {
            let alone = alone();
            Ok(memory(&subject, job, &alone).sum() / 1e9)
        }
        quantity => run(point, &subject, &machine, job, quantity),
    }
}

/// A figure of a whole run.
fn run(
    point: &Point,
    subject: &Subject,
    machine: &Machine,
    job: Job,
    quantity: &str,
) -> Result<f64, String> {
    if job.sequence.is_none() {
        return Err("the sequence length is not stated".to_owned());
    }
    let layout = chosen(point, subject, machine, job)?;
    let rate = 1.0 / layout.pace.seconds;
    let tokens = || {
        let unknown = || "the number of tokens is not stated".to_owned();
        point.tokens.ok_or_else(unknown)
    };
    match quantity {
        "rate" => Ok(rate),
        "tflops_rate" => {
            Ok(rate * flops::training(subject, job.method, job.timed_sequence()) / 1e12)
        }
        "minutes" => Ok(time::seconds(tokens()?, rate, point.gpus) / 60.0),
        "gpu_hours" => Ok(time::gpu_hours(tokens()?, rate)),
        "memory_gib" => Ok(layout.terms.sum() / GIB),
        other => panic!("no such quantity: {other}"),
    }
}

fn chosen(point: &Point, subject: &Subject, machine: &Machine, job: Job) -> Result<Layout, String> {
    let fixed = setting::fixed(point);
    let none = || "no split has this many GPUs".to_owned();
    layout::choose(subject, machine, job, fixed, point.gpus).ok_or_else(none)
}

fn job(point: &Point) -> Result<Job, String> {
    let precision = match point.precision.as_str() {
        "fp8" => Precision::Fp8,
        "bf16" | "4 bits" => Precision::Bf16,
        "fp16" => Precision::Fp16,
        "" => return Err("no language model".to_owned()),
        other => return Err(format!("`{other}` is no format that can be asked for")),
    };
    Ok(Job {
        method: match point.method.as_str() {
            "full" => Method::Full,
            "lora" => Method::Lora,
            "qlora" => Method::Qlora,
            other => panic!("no such method: {other}"),
        },
        precision,
        sequence: point.sequence,
    })
}

fn alone() -> Split {
    Split {
        tensor: 1,
        pipeline: 1,
        data: 1,
        sharding: Sharding::Ddp,
        recompute: Recompute::Selective,
        offload: Offload::None,
        micro_batch: 1,
    }
}

/// MFU that follows from published tokens a second, attention counted over the whole square.
fn counted(point: &Point, subject: &Subject, machine: &Machine) -> Result<f64, String> {
    let Some(sequence) = point.sequence else {
        return Err("shape and sequence length are not stated".to_owned());
    };
    let square = 2.0 * flops::attention(subject, sequence);
    let peak = match point.precision.as_str() {
        "fp8" => machine.fp8.expect("fp8 was measured"),
        _ => machine.dense,
    };
    let rate = leading_number(&point.note);
    Ok((6.0 * subject.parameters + square) * rate / peak * 100.0)
}

/// The number of tokens a second that a note starts with, or ends its first part with.
fn leading_number(note: &str) -> f64 {
    let mut numbers = note
        .split_whitespace()
        .filter_map(|word| word.parse::<f64>().ok());
    numbers.next_back().expect("the note has the speed")
}

fn states_only(point: &Point, subject: &Subject, job: Job) -> f64 {
    let (weights, gradients, optimizer) = states(subject, job);
    let ranks = f64::from(point.gpus);
    if point.layout.contains("OFFLOAD") {
        weights
    } else {
        (weights + gradients + optimizer) / ranks + 4.0 * 32e6
    }
}

fn served(point: &Point) -> Result<f64, String> {
    let precision = match point.precision.as_str() {
        "fp8" => Precision::Fp8,
        "fp16" => Precision::Fp16,
        "int4" => Precision::Int4,
        other => return Err(format!("`{other}` is no format that can be asked for")),
    };
    let subject = setting::subject(point)?;
    let service = Service {
        precision,
        sequence: point.sequence,
        concurrency: Some(1.0),
    };
    match point.quantity.as_str() {
        "weights_gb" => return Ok(serving::weights(&subject, precision).0 / 1e9),
        "cache_gib" => {
            let cache = serving::sequence_cache(&subject, service);
            return Ok(cache.expect("the shape is known") / GIB);
        }
        _ => {}
    }
    let machine = setting::machine(point)?;
    let copies = Copies {
        tensor: point.gpus,
        pipeline: 1,
        count: 1,
    };
    let (input, output) = point.sequence.zip(point.output).expect("both are stated");
    let longest = Service {
        sequence: Some(input + output),
        ..service
    };
    let room = serving::room(&subject, longest, &machine, &copies).unwrap_or_default();
    if room < 1.0 {
        return Err("8-bit weights leave no room; this model is published in 4 bits".to_owned());
    }
    let context = input + output / 2.0;
    let step = serving::step(&subject, precision, &machine, point.gpus, (room, context));
    let prefill = serving::prefill(&subject, precision, &machine, point.gpus);
    let seconds = (output * step + room * input / prefill) / BUSY;
    Ok(room * output / seconds / f64::from(point.gpus))
}

/// Only so that what a point leaves open is left to the planner.
#[test]
fn nothing_is_fixed_where_nothing_is_said() {
    let points = super::points();
    let open = points.iter().filter(|point| point.layout.is_empty());
    assert!(open.clone().count() > 100);
    assert!(
        open.into_iter()
            .all(|point| setting::fixed(point) == Fixed::default())
    );
}
