//! `plan`: what would be done, and why.

use std::path::Path;

use model::{
    diag::{At, Code, Diagnostic, Diagnostics},
    live::Mode,
    plan::Plan,
};

use crate::{
    app::App,
    args,
    exit::Exit,
    files,
    planning::{self, Made},
    stop::{Outcome, Stop, exit_of},
};

/// Plans and shows.
pub(crate) fn run(app: &App, arguments: &args::Plan) -> Outcome {
    if arguments.out.as_deref().is_some_and(files::is_standard) {
        let stop = Stop::usage("--out: expected a file, found `-`");
        return Err(stop.help("`-o json` prints the document that `--out` saves"));
    }
    let made = planning::make(app, &arguments.planning, arguments.destroy)?;
    if arguments.refresh_only {
        return drift(app, made, arguments.detailed_exitcode);
    }
    let exit = exit_of(&made.findings);
    let Some(plan) = made.plan else {
        return Err(Stop::with(made.findings));
    };
    // Before anything is printed: a document is one, also where saving fails.
    let saved = match &arguments.out {
        Some(path) if exit == Exit::Done => {
            files::write(path, &render::plan::json(&plan))
                .map_err(|error| files::unwritable(path, &error))?;
            let path = path.display();
            if plan.scope.mode == Mode::Offline {
                format!(
                    "Saved in {path} for `tensorform show`: an offline plan cannot be applied.\n"
                )
            } else {
                format!("Saved in {path}; `tensorform apply {path}` applies exactly this.\n")
            }
        }
        Some(path) => format!(
            "Not saved because of the errors: {} is as it was.\n",
            path.display()
        ),
        None => String::new(),
    };
    print(app, &plan);
    app.say_below(&made.findings);
    app.output.note(&saved);
    if exit != Exit::Done {
        return Ok(exit);
    }
    Ok(if arguments.detailed_exitcode && plan.has_changes {
        Exit::Changes
    } else {
        Exit::Done
    })
}

/// Tells what is live and not as the spec says. What speaks against applying the spec now, such
/// as quota or a budget, is no matter of it.
fn drift(app: &App, made: Made, detailed_exitcode: bool) -> Outcome {
    let Some(plan) = made.plan else {
        return Err(Stop::with(made.findings));
    };
    let is_about_live = |finding: &Diagnostic| {
        matches!(finding.at, At::Resource(_) | At::Named(_))
            || matches!(
                finding.code,
                Code::PlanPartial | Code::TargetUnknown | Code::PlanIncomplete
            )
    };
    let findings: Diagnostics = made.findings.into_iter().filter(is_about_live).collect();
    let read_at = made.live.read_at;
    let text = if app.output.is_json() {
        render::drift::json(&plan, read_at, &app.documents(&findings))
    } else {
        render::drift::text(&plan, read_at, app.output.stdout)
    };
    app.output.data(&text);
    app.say_below(&findings);
    let unread = [Code::TargetUnknown, Code::PlanIncomplete];
    if findings
        .iter()
        .any(|finding| unread.contains(&finding.code))
    {
        return Ok(Exit::Error);
    }
    Ok(if detailed_exitcode && plan.has_changes {
        Exit::Changes
    } else {
        Exit::Done
    })
}

/// Prints a plan.
pub(crate) fn print(app: &App, plan: &Plan) {
    let text = if app.output.is_json() {
        render::plan::json(plan)
    } else {
        render::plan::text(plan, app.output.stdout)
    };
    app.output.data(&text);
}

/// Reads a plan file.
///
/// # Errors
/// It cannot be read, or is no plan that this version may use.
pub(crate) fn load(path: &Path) -> Result<Plan, Stop> {
    let file = files::name(path);
    let text = files::text(path)?;
    model::plan::read_plan(&text).map_err(|error| {
        Stop::because(Code::PlanUnreadable, format!("`{file}`: {error}"))
            .help("make a new plan with `plan --out FILE`")
    })
}
