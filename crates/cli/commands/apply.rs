//! `apply`: plans, asks, applies; or applies a saved plan after checking that it still holds.

use std::path::Path;

use model::{diag::Code, live::Mode, plan::Plan};

use crate::{
    app::App,
    applying,
    args::{self, Applying},
    commands::plan as planned,
    exit::Exit,
    planning,
    stop::{Outcome, Stop},
    world::{self, World},
};

/// Applies.
pub(crate) fn run(app: &App, arguments: &args::Apply) -> Outcome {
    match &arguments.plan {
        Some(path) => saved(app, path, &arguments.applying),
        None => fresh(app, arguments),
    }
}

fn fresh(app: &App, arguments: &args::Apply) -> Outcome {
    let made = planning::make(app, &arguments.planning, false)?;
    let Some(plan) = made.plan else {
        return Err(Stop::with(made.findings));
    };
    planning::may_apply(&plan, &made.findings)?;
    if !app.output.is_json() {
        app.output
            .note(&render::plan::text(&plan, app.output.stderr));
    }
    app.say_unless_json(&made.findings);
    if !plan.has_changes {
        if app.output.is_json() {
            planned::print(app, &plan);
        }
        return Ok(Exit::Done);
    }
    applying::confirm(app, &plan, &arguments.applying)?;
    applying::run(
        app,
        &plan,
        Some(app.source()?.spec()?),
        &made.world,
        &arguments.applying,
    )
}

/// Applies exactly what a file says, if the world is still as it was.
fn saved(app: &App, path: &Path, applying: &Applying) -> Outcome {
    let plan = planned::load(path)?;
    check_world(app, &plan)?;
    let source = app.source()?;
    let spec = source.spec()?;
    if spec.name != plan.stack {
        let message = format!(
            "the plan is for the stack `{}`, the spec is for `{}`",
            plan.stack, spec.name
        );
        return Err(
            Stop::because(Code::PlanForOther, message).help("name the spec of the plan with `-f`")
        );
    }
    let world = World::open(app, false, plan.scope.subscription.clone())?;
    let live = planning::read(&world, spec, planning::now(), false)?;
    let stale = planner::staleness(&plan, &live);
    if stale.has_errors() {
        return Err(Stop::with(stale));
    }
    if !app.output.is_json() {
        app.output
            .note(&render::plan::text(&plan, app.output.stderr));
    }
    if !plan.has_changes {
        return Ok(Exit::Done);
    }
    applying::confirm(app, &plan, applying)?;
    applying::run(app, &plan, Some(spec), &world, applying)
}

/// A plan is applied to the world it was made for.
fn check_world(app: &App, plan: &Plan) -> Result<(), Stop> {
    if plan
        .diagnostics
        .iter()
        .any(|finding| finding.severity == model::diag::Severity::Error)
    {
        return Err(Stop::because(
            Code::PlanUnreadable,
            "the plan has errors: it cannot be applied",
        ));
    }
    if !plan.complete {
        return Err(Stop::because(
            Code::PlanIncomplete,
            "the plan is incomplete: it cannot be applied",
        ));
    }
    let words = |mode: Mode| match mode {
        Mode::Azure => "Azure",
        Mode::Sandbox => "the sandbox",
        Mode::Offline => "no world (it was made offline)",
    };
    let here = world::mode(app, false);
    let cloud = world::cloud(app).name();
    if plan.scope.mode != here || plan.scope.cloud != cloud {
        let message = format!(
            "the plan is for {} ({}), this run is for {} ({cloud})",
            words(plan.scope.mode),
            plan.scope.cloud,
            words(here)
        );
        return Err(Stop::because(Code::PlanForOther, message)
            .help("plan again for this world, or run with the options of the plan"));
    }
    Ok(())
}
