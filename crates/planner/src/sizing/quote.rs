//! An estimate without a spec: from the name of a GPU to VMs, hours and money.

use model::{
    catalog::{Catalog, GpuShare, Lifecycle, Size},
    diag::{At, Code, Diagnostic, Diagnostics},
    plan::{Cost, CostKind, CostLine, Total},
    spec::{Method, Precision, Stage},
    units::{HOURS_PER_MONTH, Micros, Region, SizeName, Span},
};
use rust_decimal::Decimal;

use super::{
    deadline::{Shortfall, vms},
    estimate::{self, Missed, Sizing, Trouble},
    layout::Fixed,
    machine::Machine,
    number::{float, whole},
    serving::Service,
    subject::Subject,
    training::Job,
};
use crate::cost::CURRENCY;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The model.
    pub subject: &'a Subject,
    /// The exact name of the GPU.
    pub gpu: &'a str,
    /// How many, where that is given.
    pub gpus: Option<u32>,
    /// Whether it is trained or served.
    pub stage: Stage,
    /// What is trained.
    pub method: Method,
    /// The number format.
    pub precision: Precision,
    /// Tokens of a sequence.
    pub sequence: Option<u32>,
    /// Tokens in all.
    pub tokens: Option<u64>,
    /// Sequences that are served at once.
    pub concurrency: Option<u32>,
    /// By when the tokens must be through.
    pub deadline: Option<Span>,
    /// What is fixed of the split.
    pub fixed: Fixed,
    /// Where it is to run.
    pub location: &'a Region,
}

/// What an estimate gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Quote {
    /// The VM size.
    pub size: SizeName,
    /// Memory, split and speed.
    pub sizing: Sizing,
    /// What the VMs cost by the hour and the month.
    pub cost: Cost,
    /// What they cost until the tokens are through; `None` where hours or price are not known.
    pub run: Option<Micros>,
    /// What a reader must know.
    pub findings: Diagnostics,
}

/// Makes an estimate.
///
/// # Errors
/// The GPU cannot do it, or the deadline is not met.
pub fn quote(request: Request<'_>, catalog: &Catalog) -> Result<Quote, Diagnostic> {
    let sizes = sizes(request, catalog);
    let Some((_, any)) = sizes.first() else {
        let message = format!("no size of the catalogue has whole GPUs `{}`", request.gpu);
        return Err(finding(Code::ModelNeverFits, message));
    };
    if !any.computes(request.precision) {
        return Err(cannot_compute(request, any));
    }
    let mut best: Option<(Rank, Size, Sizing)> = None;
    let mut trouble = Trouble::NeverFits;
    for (size, machine) in sizes {
        match sized(request, &machine) {
            Ok(sizing) => {
                let rank = rank(request, catalog, size, &sizing);
                if best.as_ref().is_none_or(|(best, ..)| rank < *best) {
                    best = Some((rank, size.clone(), sizing));
                }
            }
            Err(why) => trouble = why,
        }
    }
    let Some((_, size, sizing)) = best else {
        return Err(refusal(request, trouble));
    };
    let machine = Machine::of(&size, catalog).ok_or_else(|| refusal(request, trouble))?;
    let sizing = match request.gpus {
        Some(_) if !sizing.fits => return Err(too_few(&sizing)),
        _ => with_deadline(request, catalog, &size, &machine, sizing)?,
    };
    if !sizing.fits {
        return Err(too_few(&sizing));
    }
    let cost = cost(request.location, catalog, &size, sizing.vms);
    let seconds = sizing.throughput.as_ref().and_then(|speed| speed.seconds);
    Ok(Quote {
        run: seconds.and_then(|seconds| run(request.location, catalog, &size, sizing.vms, seconds)),
        findings: notes(request, catalog, &size.name, &sizing),
        size: size.name,
        sizing,
        cost,
    })
}

fn finding(code: Code, message: String) -> Diagnostic {
    Diagnostic::new(code, At::Nowhere, message)
}

/// The sizes with whole GPUs of the kind that are still sold, with their figures.
fn sizes<'a>(request: Request<'_>, catalog: &'a Catalog) -> Vec<(&'a Size, Machine)> {
    let sold = |size: &&Size| !matches!(size.lifecycle, Lifecycle::Retired { .. });
    let has_gpu = |size: &&Size| {
        let gpu = size.gpu.as_ref();
        gpu.is_some_and(|gpu| {
            gpu.model == request.gpu && gpu.share.is_some_and(|share| share.whole() > 0)
        })
    };
    let listed = catalog.sizes().iter().filter(|size| size.family.is_some());
    listed
        .filter(sold)
        .filter(has_gpu)
        .filter_map(|size| Some((size, Machine::of(size, catalog)?)))
        .collect()
}

/// The place of a size: what fits, what the region offers, what is made for it, what costs less.
type Rank = (bool, bool, bool, bool, Decimal, [u32; 2], SizeName);

fn rank(request: Request<'_>, catalog: &Catalog, size: &Size, sizing: &Sizing) -> Rank {
    let offers = catalog.offers(request.location);
    let offered = offers.is_some_and(|offers| offers.get(&size.name).is_some());
    let price = catalog
        .vm_price(request.location, &size.name)
        .and_then(|price| price.linux)
        .and_then(|price| price.checked_mul(Decimal::from(sizing.vms)));
    // Training over several VMs wants InfiniBand, serving does without.
    let misplaced = match request.stage {
        Stage::Training => sizing.vms > 1 && !size.rdma,
        Stage::Inference => size.rdma || spans_vms(size, sizing),
    };
    (
        !sizing.fits,
        !offered,
        misplaced,
        price.is_none(),
        price.unwrap_or_default(),
        [sizing.gpus, sizing.vms],
        size.name.clone(),
    )
}

/// Whether a copy of a served model needs more GPUs than one VM has.
fn spans_vms(size: &Size, sizing: &Sizing) -> bool {
    let gpu = size.gpu.as_ref();
    let gpus = gpu.and_then(|gpu| gpu.share).map_or(0, GpuShare::whole);
    let split = &sizing.parallelism;
    split.tensor.saturating_mul(split.pipeline) > gpus
}

fn sized(request: Request<'_>, machine: &Machine) -> Result<Sizing, Trouble> {
    let sequence = request.sequence.map(f64::from);
    let tokens = request.tokens.map(float);
    match request.stage {
        Stage::Training => {
            let job = job(request);
            estimate::training(
                request.subject,
                machine,
                job,
                request.fixed,
                (request.gpus, tokens),
            )
        }
        Stage::Inference => {
            let service = Service {
                precision: request.precision,
                sequence,
                concurrency: request.concurrency.map(f64::from),
            };
            estimate::service(
                request.subject,
                machine,
                service,
                request.fixed,
                (request.gpus, tokens),
            )
        }
    }
}

fn job(request: Request<'_>) -> Job {
    Job {
        method: request.method,
        precision: request.precision,
        sequence: request.sequence.map(f64::from),
    }
}

/// As many VMs as the deadline takes, where no number is given.
fn with_deadline(
    request: Request<'_>,
    catalog: &Catalog,
    size: &Size,
    machine: &Machine,
    sizing: Sizing,
) -> Result<Sizing, Diagnostic> {
    let (Some(deadline), Some(tokens)) = (request.deadline, request.tokens) else {
        return Ok(sizing);
    };
    let goal = (float(tokens), float(deadline.seconds()));
    let seconds = sizing.throughput.as_ref().and_then(|speed| speed.seconds);
    if seconds.is_some_and(|seconds| seconds <= goal.1) {
        return Ok(sizing);
    }
    let plan = |machine: &Machine, least| {
        let job = job(request);
        estimate::vms_for_deadline(request.subject, machine, job, goal, (least, request.fixed))
    };
    let least = sizing.vms;
    match (request.gpus, plan(machine, least)) {
        (None, Ok(enough)) => {
            let gpus = enough.saturating_mul(machine.gpus);
            let more = Request {
                gpus: Some(gpus),
                ..request
            };
            sized(more, machine).map_err(|trouble| refusal(request, trouble))
        }
        (Some(gpus), found) => {
            let shortfall = Shortfall {
                limit: if gpus == 1 {
                    "1 GPU".to_owned()
                } else {
                    format!("{gpus} GPUs")
                },
                seconds: seconds.unwrap_or(f64::INFINITY),
                deadline: goal.1,
                tokens: goal.0,
            };
            let mut finding = missed(&shortfall);
            if let Ok(enough) = found {
                let gpus = enough.saturating_mul(machine.gpus);
                finding = finding.with_help(format!("`--gpus {gpus}` would do"));
            }
            Err(finding)
        }
        (None, Err(late)) => {
            let finding = missed(&at_most(size, machine, late, goal));
            let would_do = |machine: &Machine| plan(machine, 1).is_ok();
            Err(match faster(request, catalog, machine, would_do) {
                Some(other) => finding.with_help(format!("`--gpu {other}` would do")),
                None => finding,
            })
        }
    }
}

/// How far as many VMs as there may be miss a deadline.
fn at_most(
    size: &Size,
    machine: &Machine,
    Missed { most, seconds }: Missed,
    (tokens, deadline): (f64, f64),
) -> Shortfall {
    let why = if machine.rdma {
        "the most that InfiniBand connects"
    } else {
        "the most of a pool"
    };
    Shortfall {
        limit: format!("{}, {why},", vms(most, size.name.as_str())),
        seconds,
        deadline,
        tokens,
    }
}

fn missed(shortfall: &Shortfall) -> Diagnostic {
    let finding = finding(Code::DeadlineMissed, shortfall.message());
    let help = shortfall.help().into_iter();
    help.fold(finding, Diagnostic::with_help)
}

/// The slowest GPU that is faster and would do.
fn faster(
    request: Request<'_>,
    catalog: &Catalog,
    machine: &Machine,
    would_do: impl Fn(&Machine) -> bool,
) -> Option<String> {
    let mut others: Vec<Machine> = catalog
        .gpus()
        .iter()
        .filter_map(|gpu| {
            let other = Request {
                gpu: &gpu.name,
                ..request
            };
            let all = sizes(other, catalog)
                .into_iter()
                .map(|(_, machine)| machine);
            all.max_by_key(|machine| (machine.rdma, machine.gpus))
        })
        .filter(|other| other.dense > machine.dense && other.computes(request.precision))
        .collect();
    others.sort_by(|a, b| a.dense.total_cmp(&b.dense));
    let found = others.into_iter().find(would_do)?;
    Some(found.gpu)
}

fn cannot_compute(request: Request<'_>, machine: &Machine) -> Diagnostic {
    let word = match request.precision {
        Precision::Fp8 => "fp8",
        Precision::Bf16 => "bf16",
        Precision::Fp16 => "fp16",
        Precision::Fp32 => "fp32",
        Precision::Int4 => "int4",
    };
    let instead = if machine.computes(Precision::Bf16) {
        "bf16"
    } else {
        "fp16"
    };
    finding(
        Code::ModelNeverFits,
        format!("`{}` does not compute in {word}", machine.gpu),
    )
    .with_help(format!("`--precision {instead}` runs on it"))
}

fn refusal(request: Request<'_>, trouble: Trouble) -> Diagnostic {
    match trouble {
        Trouble::NeverFits => finding(
            Code::ModelNeverFits,
            format!("no number of `{}` holds the model", request.gpu),
        )
        .with_help(
            "a GPU with more memory, another method or precision, or a shorter sequence takes less",
        ),
        Trouble::NoSplit { gpus } => finding(
            Code::ModelNeverFits,
            format!("{gpus} GPUs cannot be split as the options fix it"),
        )
        .with_help("tensor times pipeline must divide the number of GPUs"),
        Trouble::TooManyStages { stages, layers } => {
            let whose = if request.subject.assumed {
                "that are assumed for the model"
            } else {
                "of the model"
            };
            finding(
                Code::ModelNeverFits,
                format!("a pipeline of {stages} stages is longer than the {layers} layers {whose}"),
            )
            .with_help(format!("give at most `--pipeline {layers}`"))
        }
    }
}

/// The refusal of GPUs that do not hold the model, by what they lack.
fn too_few(sizing: &Sizing) -> Diagnostic {
    let what = match sizing.gpus {
        1 => "1 GPU does not".to_owned(),
        gpus => format!("{gpus} GPUs do not"),
    };
    let gigabytes = |bytes: Option<u64>| bytes.map(|bytes| float(bytes) / 1e9);
    let memory = &sizing.memory;
    let (found, usable) = (memory.per_gpu_bytes, memory.usable_per_gpu_bytes);
    let by_how_much = match gigabytes(found).zip(gigabytes(usable)) {
        Some((found, usable)) => {
            format!(
                ": the least that a split takes of each is {found:.1} GB, usable are {usable:.1}"
            )
        }
        None => String::new(),
    };
    let help = match memory.gpus_recommended {
        Some(gpus) if gpus > sizing.gpus => format!("`--gpus {gpus}` would do"),
        Some(_) => "another split, or GPUs with more memory, may hold it".to_owned(),
        None => "no number of them does: take GPUs with more memory".to_owned(),
    };
    let message = format!("{what} hold the model{by_how_much}");
    finding(Code::ModelNeverFits, message).with_help(help)
}

/// What to say of a size that the region is known not to offer.
fn not_offered(location: &Region, catalog: &Catalog, size: &SizeName) -> Option<Diagnostic> {
    let offers = |region| Some(catalog.offers(region)?.get(size).is_some());
    if offers(location) != Some(false) {
        return None;
    }
    let message = format!("`{size}` is not offered in {location}");
    let found = finding(Code::SizeAgainstAdvice, message);
    let others = catalog.regions().iter().map(|region| &region.name);
    let others: Vec<&str> = others
        .filter(|region| offers(region) == Some(true))
        .map(Region::as_str)
        .collect();
    Some(match others.as_slice() {
        [] => found.with_help("no region is known to offer it"),
        others => found.with_help(format!("offered in {}", others.join(", "))),
    })
}

/// What is not in the sums.
fn notes(request: Request<'_>, catalog: &Catalog, size: &SizeName, sizing: &Sizing) -> Diagnostics {
    let mut findings = Diagnostics::default();
    if let Some(found) = not_offered(request.location, catalog, size) {
        findings.push(found);
    }
    if let Some(message) = sizing.assumption() {
        findings.push(finding(Code::MemoryIncomplete, message).with_help("give `--sequence`"));
    }
    let memory = &sizing.memory;
    let missing = match request.stage {
        Stage::Training if memory.activations_bytes.is_none() => {
            Some(("the activations", "give `--sequence`"))
        }
        Stage::Inference if memory.kv_cache_bytes.is_none() => Some((
            "the KV cache",
            "give `--model`, `--config` or the shape, `--sequence` and `--concurrency`",
        )),
        Stage::Training | Stage::Inference => None,
    };
    if let Some((what, help)) = missing {
        let message = format!("{what} are not known and not in the sum: the model may need more");
        let message = message.replace("cache are", "cache is");
        findings.push(finding(Code::MemoryIncomplete, message).with_help(help));
    }
    findings
}

/// The VMs as one line of a cost preview.
fn cost(location: &Region, catalog: &Catalog, size: &Size, vms: u32) -> Cost {
    let row = catalog.vm_price(location, &size.name);
    let price = row.and_then(|row| row.linux);
    let count = Decimal::from(vms);
    let hours = Decimal::from(HOURS_PER_MONTH);
    let hourly = price.and_then(|price| Micros::from_price(price, count));
    let monthly = price
        .zip(count.checked_mul(hours))
        .and_then(|(price, hours)| Micros::from_price(price, hours));
    let total = Total {
        hourly_micros: hourly.unwrap_or_default(),
        monthly_micros: monthly.unwrap_or_default(),
    };
    let line = CostLine {
        address: "estimate".to_owned(),
        kind: CostKind::Compute,
        item: size.name.to_string(),
        quantity: vms,
        unit_hourly: price.map(|price| price.normalize().to_string()),
        unit_monthly: None,
        hourly_micros: hourly,
        monthly_micros: monthly,
        meter: "Linux, on demand".to_owned(),
        as_of: row.map(|row| row.as_of.to_string()),
        source: row.map(|row| row.source.to_string()),
        known: hourly.is_some() && monthly.is_some(),
        flags: row.map(|row| row.flags.clone()).unwrap_or_default(),
    };
    Cost {
        currency: CURRENCY.to_owned(),
        complete: line.known,
        after: total,
        delta: total,
        lines: vec![line],
        ..Cost::default()
    }
}

/// What VMs cost for some seconds: the price times whole seconds, rounded once.
fn run(
    location: &Region,
    catalog: &Catalog,
    size: &Size,
    vms: u32,
    seconds: f64,
) -> Option<Micros> {
    let price = catalog.vm_price(location, &size.name)?.linux?;
    let seconds = Decimal::from(whole(seconds)?);
    let hours = seconds
        .checked_mul(Decimal::from(vms))?
        .checked_div(Decimal::from(3_600))?;
    Micros::from_price(price, hours)
}
