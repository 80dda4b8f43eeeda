//! `init`: a commented starter spec.

use std::fs;

use model::{
    diag::Code,
    spec::{self, Orchestrator, Stage, Workload},
};

use crate::{
    VERSION,
    app::App,
    args,
    exit::Exit,
    files,
    stop::{Outcome, Stop},
};

/// Writes a starter spec; asks for what the options leave open when somebody can answer.
pub(crate) fn run(app: &App, arguments: &args::Init) -> Outcome {
    let path = &app.global.file;
    let file = path.display();
    if !files::is_standard(path) && path.exists() && !arguments.force {
        return Err(
            Stop::because(Code::FileUnusable, format!("`{file}` exists already"))
                .help("name another file with `-f`, or pass `--force` to overwrite it"),
        );
    }
    let ask = |given: &Option<String>, question: &str, default: &str| match given {
        Some(given) => given.clone(),
        None if app.output.can_ask => app.output.ask(question, default),
        None => default.to_owned(),
    };
    let stage = stage(&ask(
        &arguments.stage,
        "stage: training or inference?",
        "training",
    ))?;
    let workload = workload(&ask(
        &arguments.workload,
        "workload: generative, complex or small?",
        "generative",
    ))?;
    let orchestrator = match arguments.orchestrator.as_deref() {
        Some("auto") => Orchestrator::Auto,
        Some("batch") => Orchestrator::Batch,
        Some("aks") => Orchestrator::Aks,
        Some("cyclecloud") => Orchestrator::CycleCloud,
        _ => Orchestrator::Manual,
    };
    let text = spec::starter(stage, workload, arguments.model.as_deref(), orchestrator);
    if files::is_standard(path) {
        let text = if app.output.is_json() {
            render::generated::text(&text, app.command, VERSION)
        } else {
            text
        };
        app.output.data(&text);
        return Ok(Exit::Done);
    }
    fs::write(path, text).map_err(|error| files::unwritable(path, &error))?;
    let next = "tensorform --sandbox plan";
    if app.output.is_json() {
        app.output
            .data(&render::starter::json(&file.to_string(), next, VERSION));
    } else {
        app.output.note(&format!(
            "Wrote {file}. Next: `{next}`, which needs no account.\n"
        ));
    }
    Ok(Exit::Done)
}

fn stage(word: &str) -> Result<Stage, Stop> {
    match word {
        "training" => Ok(Stage::Training),
        "inference" => Ok(Stage::Inference),
        other => Err(unknown("stage", other, "training or inference")),
    }
}

fn workload(word: &str) -> Result<Workload, Stop> {
    match word {
        "generative" => Ok(Workload::Generative),
        "complex" => Ok(Workload::Complex),
        "small" => Ok(Workload::Small),
        other => Err(unknown("workload", other, "generative, complex or small")),
    }
}

fn unknown(what: &str, found: &str, expected: &str) -> Stop {
    Stop::usage(format!("{what}: expected {expected}, found `{found}`"))
}
