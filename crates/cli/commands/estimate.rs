//! `estimate`: memory, split, speed and cost of a model, without a spec.

use std::path::Path;

use model::{
    catalog::Catalog,
    diag::Code,
    spec::{Method, Precision, Stage, parse_count},
    transformer::{self, Transformer},
    units::{Region, Span},
};
use planner::sizing::{
    layout::Fixed,
    quote::{self, Request},
    split::{Recompute, Sharding},
    subject::Subject,
};

use crate::{
    app::App,
    args::{Estimate, MethodName, PrecisionName, RecomputeName, ShapeOptions, ShardingName},
    files,
    stop::{Outcome, Stop, exit_of},
};

/// The vocabulary of a shape that does not say it: that of Llama 3.
const VOCABULARY: u32 = 128_256;

/// Estimates.
pub(crate) fn run(app: &App, arguments: &Estimate) -> Outcome {
    let catalog = app.catalog(false);
    let location = super::sizes::region(catalog, &arguments.location)?;
    check_gpu(catalog, &arguments.gpu)?;
    let subject = subject(arguments, catalog)?;
    let precision = precision(arguments)?;
    let request = Request {
        subject: &subject,
        gpu: &arguments.gpu,
        gpus: arguments.gpus,
        stage: if arguments.serve {
            Stage::Inference
        } else {
            Stage::Training
        },
        method: match arguments.method {
            MethodName::Full => Method::Full,
            MethodName::Lora => Method::Lora,
            MethodName::Qlora => Method::Qlora,
        },
        precision,
        sequence: arguments.sequence,
        tokens: count("--tokens", arguments.tokens.as_deref())?,
        concurrency: arguments.concurrency,
        deadline: arguments.deadline.as_deref().map(span).transpose()?,
        fixed: fixed(arguments),
        location: &location,
    };
    let mut quote = quote::quote(request, catalog)?;
    quote.findings.extend(app.cache_findings());
    show(app, arguments, &location, &quote);
    app.say_below(&quote.findings);
    Ok(exit_of(&quote.findings))
}

fn show(app: &App, arguments: &Estimate, location: &Region, quote: &quote::Quote) {
    let shown = render::estimate::Estimate {
        gpu: &arguments.gpu,
        gpus: quote.sizing.gpus,
        size: &quote.size,
        vms: quote.sizing.vms,
        location,
        memory: &quote.sizing.memory,
        throughput: quote.sizing.throughput.as_ref(),
        parallelism: &quote.sizing.parallelism,
        cost: &quote.cost,
        run: quote.run,
        formulas: &quote.sizing.formulas,
    };
    let text = if app.output.is_json() {
        render::estimate::json(&shown, &app.documents(&quote.findings))
    } else {
        render::estimate::text(&shown, app.output.stdout)
    };
    app.output.data(&text);
}

/// GPU names are exact.
fn check_gpu(catalog: &Catalog, wanted: &str) -> Result<(), Stop> {
    if catalog.gpu(wanted).is_some() {
        return Ok(());
    }
    let names = catalog.gpus().iter().map(|gpu| gpu.name.as_str());
    let stop = Stop::usage(format!("--gpu: no figures are known of a GPU `{wanted}`"));
    if let Some(same) = names.clone().find(|name| name.eq_ignore_ascii_case(wanted)) {
        return Err(stop.help(format!("did you mean `{same}`?")));
    }
    let kinds: Vec<String> = names
        .clone()
        .filter(|name| name.starts_with(&format!("{}-", wanted.to_uppercase())))
        .map(|name| format!("`{name}`"))
        .collect();
    if !kinds.is_empty() {
        return Err(stop.help(format!("there are {}", kinds.join(" and "))));
    }
    if let Some(near) = model::suggest::nearest(wanted, names.clone()) {
        return Err(stop.help(format!("did you mean `{near}`?")));
    }
    let names: Vec<&str> = names.collect();
    Err(stop.help(format!("figures are known of {}", names.join(", "))))
}

fn subject(arguments: &Estimate, catalog: &Catalog) -> Result<Subject, Stop> {
    let parameters = count("--parameters", arguments.parameters.as_deref())?;
    let active = count(
        "--active-parameters",
        arguments.active_parameters.as_deref(),
    )?;
    if parameters
        .zip(active)
        .is_some_and(|(all, active)| active > all)
    {
        return Err(Stop::usage("--active-parameters: more than `--parameters`"));
    }
    let subject = if let Some(name) = &arguments.model {
        Subject::known(catalog, name, parameters, active)?
    } else if let Some(path) = &arguments.config {
        Subject::new(parameters, active, Some(&config(path)?))
    } else if let Some(transformer) = shape(arguments.shape, parameters)? {
        Subject::new(parameters, active, Some(&transformer))
    } else {
        Subject::new(parameters, active, None)
    };
    subject.ok_or_else(|| {
        Stop::usage("what is to be sized is not said").help(
            "give `--parameters`, `--model`, `--config`, or `--layers`, `--hidden` and `--heads`",
        )
    })
}

fn config(path: &Path) -> Result<Transformer, Stop> {
    let text = files::text(path)?;
    transformer::of_config(&text).map_err(|error| {
        let message = format!("`{}` gives no shape: {error}", files::name(path));
        Stop::because(Code::ConfigUnusable, message)
            .help("expected the `config.json` of a model in the form of Hugging Face")
    })
}

/// The shape that options give. The inner width is what the parameters leave for it.
fn shape(options: ShapeOptions, parameters: Option<u64>) -> Result<Option<Transformer>, Stop> {
    let ShapeOptions {
        layers,
        hidden,
        heads,
        kv_heads,
        head_dim,
        vocab,
        intermediate,
    } = options;
    let (Some(layers), Some(hidden), Some(heads)) = (layers, hidden, heads) else {
        return Ok(None);
    };
    let kv_heads = kv_heads.unwrap_or(heads);
    check_heads(options, (hidden, heads, kv_heads))?;
    let given = Transformer {
        layers,
        hidden,
        heads,
        kv_heads,
        head_dim: head_dim.unwrap_or((hidden / heads).max(1)),
        vocab: vocab.unwrap_or(VOCABULARY),
        intermediate: intermediate.unwrap_or(0),
        gated: true,
        tied: false,
        experts: None,
        latent: None,
    };
    let whole = match intermediate {
        Some(_) => given,
        None => given.clone().with_usual_width(parameters),
    };
    if whole.parameters().is_none() {
        return Err(Stop::usage(
            "--layers, --hidden: a model of this shape has more parameters than can be counted",
        ));
    }
    // What nobody gave counts as little as it can.
    let least = Transformer {
        intermediate: intermediate.unwrap_or(1),
        vocab: vocab.unwrap_or(1),
        gated: false,
        tied: true,
        ..whole
    };
    match parameters.zip(least.parameters()) {
        Some((given, least)) if given < least => Err(Stop::usage(format!(
            "--parameters: {given} are fewer than the {least} that the shape has at least"
        ))
        .help("give `--parameters` or the shape alone")),
        _ => Ok(Some(whole)),
    }
}

/// Refuses heads that do not divide what is divided over them.
fn check_heads(
    options: ShapeOptions,
    (hidden, heads, kv_heads): (u32, u32, u32),
) -> Result<(), Stop> {
    if kv_heads > heads {
        return Err(Stop::usage("--kv-heads: more than `--heads`"));
    }
    if !heads.is_multiple_of(kv_heads) {
        let message = format!("--kv-heads: {kv_heads} do not divide the {heads} of `--heads`");
        return Err(Stop::usage(message).help("each of them serves as many query heads"));
    }
    if options.head_dim.is_none() && !hidden.is_multiple_of(heads) {
        let message = format!("--heads: {heads} do not divide the {hidden} of `--hidden`");
        return Err(Stop::usage(message).help("give `--head-dim` where heads have another width"));
    }
    Ok(())
}

fn precision(arguments: &Estimate) -> Result<Precision, Stop> {
    match arguments.precision {
        PrecisionName::Fp32 => Ok(Precision::Fp32),
        PrecisionName::Bf16 => Ok(Precision::Bf16),
        PrecisionName::Fp16 => Ok(Precision::Fp16),
        PrecisionName::Fp8 => Ok(Precision::Fp8),
        PrecisionName::Int4 if arguments.serve => Ok(Precision::Int4),
        PrecisionName::Int4 => Err(Stop::usage("--precision: `int4` is for `--serve`")
            .help("`--method qlora` trains adapters on 4-bit weights")),
    }
}

fn fixed(arguments: &Estimate) -> Fixed {
    Fixed {
        tensor: arguments.tensor,
        pipeline: arguments.pipeline,
        micro_batch: arguments.micro_batch,
        sharding: arguments.sharding.map(|name| match name {
            ShardingName::Ddp => Sharding::Ddp,
            ShardingName::Zero1 => Sharding::Zero1,
            ShardingName::Zero2 => Sharding::Zero2,
            ShardingName::Fsdp => Sharding::Fsdp,
        }),
        recompute: arguments.recompute.map(|name| match name {
            RecomputeName::None => Recompute::None,
            RecomputeName::Selective => Recompute::Selective,
            RecomputeName::Full => Recompute::Full,
        }),
    }
}

fn count(option: &str, text: Option<&str>) -> Result<Option<u64>, Stop> {
    let Some(text) = text else {
        return Ok(None);
    };
    match parse_count(text) {
        Some(count) if count > 0 => Ok(Some(count)),
        _ => {
            let message =
                format!("{option}: expected a number such as `70B` or `1.5T`, found `{text}`");
            Err(Stop::usage(message))
        }
    }
}

fn span(text: &str) -> Result<Span, Stop> {
    match text.parse::<Span>() {
        Ok(span) if span.seconds() > 0 => Ok(span),
        _ => Err(Stop::usage(format!(
            "--deadline: expected a span of time such as `72h` or `30d`, found `{text}`"
        ))),
    }
}
