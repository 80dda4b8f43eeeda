//! The formula lines of a sizing.

use model::{plan::Formula, spec::Method};

use crate::sizing::{
    efficiency, flops,
    formula::{gigabytes, line, short, source},
    layout::Layout,
    machine::{HOST_BUFFERS, Machine, USABLE},
    number::float,
    serving::{self, Copies, Service},
    split::{Offload, Recompute, Sharding},
    subject::Subject,
    time,
    training::{self, Job, Terms},
};

/// Lines of training.
pub(super) fn training(
    subject: &Subject,
    machine: &Machine,
    job: Job,
    layout: &Layout,
    needed: Option<(u32, u32)>,
    tokens: Option<f64>,
) -> Vec<Formula> {
    let mut lines = Vec::new();
    lines.extend(shape(subject));
    lines.push(work(subject, job));
    lines.extend(states(subject, job, layout));
    lines.extend(activations(subject, job, layout));
    lines.push(overhead(subject, layout));
    lines.push(sum(&layout.terms, machine));
    lines.extend(host(subject, machine, job, layout));
    if let Some((minimum, recommended)) = needed {
        lines.push(line(
            "gpus_minimum",
            "least GPUs with terms ≤ usable, over all splits",
            "sharded states, full recompute, 1 sequence a step",
            minimum.to_string(),
            source::STATES,
        ));
        lines.push(line(
            "gpus_recommended",
            "ceil(minimum / GPUs of a VM) × GPUs of a VM",
            format!("ceil({minimum} / {0}) × {0}", machine.gpus),
            recommended.to_string(),
            source::ARITHMETIC,
        ));
    }
    if layout.fits {
        lines.extend(pace(subject, machine, job, layout));
        lines.extend(hours(
            1.0 / layout.pace.seconds,
            layout.split.gpus(),
            tokens,
        ));
    }
    lines
}

/// The shape, where nobody gave it.
fn shape(subject: &Subject) -> Option<Formula> {
    subject.assumed.then(|| {
        line(
            "shape",
            "d = cbrt(100·P_active / 12), L = d / 100",
            format!("P_active {}", short(subject.active)),
            format!(
                "L {}, d {}",
                short(subject.shape.layers),
                short(subject.shape.hidden)
            ),
            source::ASSUMED,
        )
    })
}

/// The length of a sequence, where nobody gave it.
pub(super) fn sequence(job: Job, tokens: Option<f64>) -> Option<Formula> {
    let result = format!("{} tokens", short(job.timed_sequence()));
    let why = match tokens {
        Some(_) => "for memory and time, since nobody gave it",
        None => "for estimates of time only: what activations take stays unknown",
    };
    job.sequence
        .is_none()
        .then(|| line("sequence", "assumed", why, result, source::JUDGED))
}

fn work(subject: &Subject, job: Job) -> Formula {
    let linear = subject.active - subject.embedding;
    let result = format!(
        "{} FLOPs",
        short(flops::training(subject, job.method, job.timed_sequence()))
    );
    let (formula, values) = match job.method {
        Method::Lora | Method::Qlora => ("4·(P − E)", format!("4·{}", short(linear))),
        Method::Full => (
            "6·(P − E) + 6·L·w·s",
            format!(
                "6·{} + 6·{}·{}·{}",
                short(linear),
                short(subject.shape.layers),
                short(subject.shape.attention_width),
                short(job.timed_sequence())
            ),
        ),
    };
    line("flops_per_token", formula, values, result, source::FLOPS)
}

fn states(subject: &Subject, job: Job, layout: &Layout) -> [Formula; 3] {
    let split = &layout.split;
    let (weights, gradients, optimizer) = training::states(subject, job);
    let part = |sharded: bool| {
        let data = if sharded && split.data > 1 {
            format!("·{}", split.data)
        } else {
            String::new()
        };
        format!("({}·{}{data})", split.tensor, split.pipeline)
    };
    let one = |name, bytes: f64, sharded: bool, result: f64, on_host: bool| {
        let values = if on_host {
            format!("{} on the host", gigabytes(bytes))
        } else {
            format!("{} / {}", gigabytes(bytes), part(sharded))
        };
        let formula = if sharded {
            "bytes·P / (tensor·pipeline·data)"
        } else {
            "bytes·P / (tensor·pipeline)"
        };
        line(name, formula, values, gigabytes(result), source::STATES)
    };
    let terms = &layout.terms;
    let host = split.offload;
    [
        one(
            "weights",
            weights,
            split.sharding == Sharding::Fsdp,
            terms.weights,
            host == Offload::All,
        ),
        one(
            "gradients",
            gradients,
            split.sharding >= Sharding::Zero2,
            terms.gradients,
            host != Offload::None,
        ),
        one(
            "optimizer",
            optimizer,
            split.sharding >= Sharding::Zero1,
            terms.optimizer,
            host != Offload::None,
        ),
    ]
}

fn activations(subject: &Subject, job: Job, layout: &Layout) -> Option<Formula> {
    let sequence = job.sequence?;
    let split = &layout.split;
    let formula = match (split.recompute, subject.shape.mixture) {
        (Recompute::None, false) => "s·b·((34·d + 5·a·s)·L + 6·vocab) / tensor",
        (Recompute::Selective, false) => "s·b·(34·d·L + 6·vocab) / tensor",
        (Recompute::Full, false) => "s·b·(2·d·L + 34·d + 6·vocab) / tensor",
        (Recompute::None, true) => "s·b·((18·d + 4·i + 5·a·s)·L + 6·vocab) / tensor",
        (Recompute::Selective, true) => "s·b·((18·d + 4·i)·L + 6·vocab) / tensor",
        (Recompute::Full, true) => "s·b·(2·d·L + 18·d + 4·i + 6·vocab) / tensor",
    };
    let vocab = subject
        .shape
        .vocab
        .map_or_else(|| "unknown".to_owned(), short);
    let values = format!(
        "s {}, b {}, d {}, L {}, i {}, vocab {vocab}, tensor {}",
        short(sequence),
        split.micro_batch,
        short(subject.shape.hidden),
        short(subject.shape.layers),
        short(subject.shape.active_width),
        split.tensor
    );
    let result = gigabytes(layout.terms.activations?);
    Some(line(
        "activations",
        formula,
        values,
        result,
        source::ACTIVATIONS,
    ))
}

fn overhead(subject: &Subject, layout: &Layout) -> Formula {
    line(
        "overhead",
        "context 1.5 GB + buffers 1 GB where GPUs talk + 4·largest layer / tensor where weights are gathered",
        format!(
            "largest layer {}, tensor {}",
            short(subject.shape.largest_layer),
            layout.split.tensor
        ),
        gigabytes(layout.terms.overhead),
        source::STATES,
    )
}

fn sum(terms: &Terms, machine: &Machine) -> Formula {
    line(
        "per_gpu",
        "sum of the terms ≤ 0.9·memory",
        format!(
            "0.9·{} = {}",
            gigabytes(machine.memory),
            gigabytes(machine.memory * USABLE)
        ),
        gigabytes(terms.sum()),
        source::JUDGED,
    )
}

/// The memory of a VM, where GPUs leave something in it.
fn host(subject: &Subject, machine: &Machine, job: Job, layout: &Layout) -> Option<Formula> {
    let split = &layout.split;
    if split.offload == Offload::None {
        return None;
    }
    let gpus = split.gpus().min(machine.gpus);
    let one = training::on_host(subject, job, split);
    Some(line(
        "host",
        "bytes that a GPU leaves·GPUs of a VM·1.5 for buffers ≤ 0.9·memory of the VM",
        format!(
            "{}·{gpus}·{HOST_BUFFERS}, 0.9·{} = {}",
            gigabytes(one),
            gigabytes(machine.host?),
            gigabytes(machine.host? * USABLE)
        ),
        gigabytes(one * float(u64::from(gpus)) * HOST_BUFFERS),
        source::STATES,
    ))
}

fn pace(subject: &Subject, machine: &Machine, job: Job, layout: &Layout) -> Vec<Formula> {
    let pace = &layout.pace;
    let micro = |seconds: f64| format!("{} µs", short(seconds * 1e6));
    let rate = efficiency::matmul_rate(machine, job.precision);
    let mixture = efficiency::mixture_share(subject, machine);
    let flops = flops::training(subject, job.method, job.timed_sequence());
    let again = layout.split.recompute == Recompute::Full;
    vec![
        line(
            "time_matmul",
            "passes·(P_active − E) / (peak·matmul share·gain·mixture)",
            format!(
                "{}·{} / {}, mixture {}",
                short(efficiency::passes(job.method, again)),
                short(subject.active - subject.embedding),
                short(rate),
                short(mixture)
            ),
            micro(pace.matmul),
            source::GPUS,
        ),
        line(
            "time_attention",
            "6·L·w·s·(7/6, with recompute 9/6) / (peak·attention share)",
            format!("share {}", short(efficiency::attention_share(machine))),
            micro(pace.attention),
            "arXiv 2307.08691, arXiv 2407.08608",
        ),
        line(
            "time_elementwise",
            "4·34·d·L / bandwidth",
            format!("{} B/s", short(machine.bandwidth)),
            micro(pace.elementwise),
            source::ACTIVATIONS,
        ),
        line(
            "time_communication",
            "tensor all-reduces not hidden + data-parallel exchange beyond the work",
            format!("{} + {}", micro(pace.tensor), micro(pace.exposed)),
            micro(pace.tensor + pace.exposed),
            "arXiv 1909.08053",
        ),
        line(
            "mfu",
            "flops_per_token / (peak·seconds per token)",
            format!(
                "{} / ({}·{}); busy {}, pipeline {}, scale {}",
                short(flops),
                short(machine.dense),
                micro(pace.seconds),
                short(efficiency::BUSY),
                short(pace.pipeline),
                short(pace.scale)
            ),
            short(flops / machine.dense / pace.seconds),
            source::JUDGED,
        ),
    ]
}

fn hours(rate: f64, gpus: u32, tokens: Option<f64>) -> Vec<Formula> {
    let mut lines = vec![line(
        "tokens_per_second_per_gpu",
        "1 / seconds per token",
        format!("1 / {} s", short(1.0 / rate)),
        short(rate),
        source::ARITHMETIC,
    )];
    if let Some(tokens) = tokens {
        lines.push(line(
            "gpu_hours",
            "tokens / rate / 3600",
            format!("{} / {} / 3600", short(tokens), short(rate)),
            short(time::gpu_hours(tokens, rate)),
            source::ARITHMETIC,
        ));
        lines.push(line(
            "seconds",
            "tokens / (rate·GPUs)",
            format!("{} / ({}·{gpus})", short(tokens), short(rate)),
            short(time::seconds(tokens, rate, gpus)),
            source::ARITHMETIC,
        ));
    }
    lines
}

/// Lines of serving.
pub(super) fn serving(
    subject: &Subject,
    machine: &Machine,
    service: Service,
    copies: &Copies,
    (sequences, step): (f64, f64),
) -> Vec<Formula> {
    let precision = service.precision;
    let terms = serving::memory(subject, service, copies);
    let mut lines = vec![
        line(
            "weights",
            "bytes·P / GPUs of a copy",
            format!(
                "{}·{} / {}",
                short(serving::weight_bytes(precision)),
                short(subject.parameters),
                copies.each()
            ),
            gigabytes(terms.weights),
            source::ARITHMETIC,
        ),
        line(
            "overhead",
            "0.15·weights: graphs, activations, allocator",
            format!("0.15·{}", gigabytes(terms.weights)),
            gigabytes(terms.overhead),
            source::JUDGED,
        ),
    ];
    lines.extend(cache(subject, service, copies, sequences, &terms));
    lines.push(sum(&terms, machine));
    // Without sequences there is no speed to show.
    let of_load = |line: &Formula| line.name == "step" || line.name.starts_with("tokens");
    let ceilings = ceilings(subject, machine, service, copies, (sequences, step));
    let known = ceilings
        .into_iter()
        .filter(|line| service.concurrency.is_some() || !of_load(line));
    lines.extend(known);
    lines
}

fn ceilings(
    subject: &Subject,
    machine: &Machine,
    service: Service,
    copies: &Copies,
    (sequences, step): (f64, f64),
) -> [Formula; 4] {
    let precision = service.precision;
    [
        line(
            "flops_per_token",
            "2·P_active",
            format!("2·{}", short(subject.active)),
            format!("{} FLOPs", short(flops::inference(subject))),
            source::FLOPS,
        ),
        line(
            "step",
            "max(bytes read / (GPUs·bandwidth·0.7), 2·P_active·sequences / (GPUs·peak·0.5))",
            format!(
                "sequences {}, GPUs {}, {} B/s, {} FLOP/s",
                short(sequences),
                copies.each(),
                short(machine.bandwidth),
                short(serving::peak(machine, precision))
            ),
            format!("{} ms", short(step * 1e3)),
            source::JUDGED,
        ),
        line(
            "tokens_per_second_per_gpu",
            "busy·sequences / step / GPUs of a copy, while writing",
            format!(
                "{}·{} / {} s / {}",
                short(efficiency::BUSY),
                short(sequences),
                short(step),
                copies.each()
            ),
            short(serving::rate(sequences, step, copies.each())),
            source::ARITHMETIC,
        ),
        line(
            "prefill",
            "GPUs·peak·0.5 / (2·P_active), a ceiling while reading prompts",
            format!("GPUs {}", copies.each()),
            format!(
                "{} tokens/s of one copy",
                short(serving::prefill(subject, precision, machine, copies.each()))
            ),
            source::JUDGED,
        ),
    ]
}

fn cache(
    subject: &Subject,
    service: Service,
    copies: &Copies,
    sequences: f64,
    terms: &Terms,
) -> Option<Formula> {
    let bytes = terms.kv_cache?;
    let values = format!(
        "{}·{}·{}·{} / {}, kept {} times",
        short(subject.shape.cache_per_token?),
        short(serving::cache_bytes(service.precision)),
        short(sequences),
        short(service.sequence?),
        copies.each(),
        short(serving::cache_copies(subject, copies.tensor))
    );
    Some(line(
        "kv_cache",
        "numbers of a token·bytes·sequences·tokens / GPUs of a copy",
        values,
        gigabytes(bytes),
        source::CACHE,
    ))
}
