//! `apply`: plans, asks, applies; or applies a saved plan after checking that it still holds.

use std::path::Path;

use model::{diag::Code, live::Mode, plan::Plan, units::Region};

use crate::{
    app::App,
    applying::{self, Applied},
    args::{self, Applying, Planning},
    commands::plan as planned,
    exit::Exit,
    planning,
    source::Source,
    stop::{Outcome, Stop},
    world::{self, World},
};

/// Applies.
pub(crate) fn run(app: &App, arguments: &args::Apply) -> Outcome {
    match &arguments.plan {
        Some(path) => saved(app, path, arguments),
        None => fresh(app, arguments),
    }
}

/// Rounds of planning and applying: each ends what earlier runs had left under way.
const MOST_ROUNDS: u32 = 3;

fn fresh(app: &App, arguments: &args::Apply) -> Outcome {
    let mut earlier = None;
    let mut round = 1;
    let mut planning = arguments.planning.clone();
    loop {
        let (plan, applied) = match once(app, &planning, &arguments.applying, earlier) {
            Ok(done) => done,
            // Whatever stops a later round, an earlier one may have written something.
            Err(stop) if earlier.is_some_and(|writes| writes > 0) => {
                return Err(stop.exit(Exit::NotReached));
            }
            Err(stop) => return Err(stop),
        };
        if applied.found_no_room(&plan) {
            planning.passed.push(plan.scope.location.clone());
            if let Some(next) = planning::next_location(app, &planning.passed)? {
                let written = move_on(app, arguments, &plan, &next, applied.writes());
                earlier = Some(written.map_err(|stop| stop.exit(Exit::NotReached))?);
                continue;
            }
        }
        if !applied.settled || round == MOST_ROUNDS {
            return Ok(applied.end(app, &plan));
        }
        round += 1;
        earlier = Some(applied.writes());
        app.output
            .note("\nWhat an earlier run had left under way has ended: planning again.\n\n");
    }
}

/// Removes what a stack without capacity has made, so that it can be made in the next location;
/// tells how much was written until now.
fn move_on(
    app: &App,
    arguments: &args::Apply,
    plan: &Plan,
    next: &Region,
    earlier: u64,
) -> Result<u64, Stop> {
    app.output.note(&format!(
        "\nThere is no capacity in {}: what was made there is removed, and {next} is planned next.\n\n",
        plan.scope.location
    ));
    let planning = Planning {
        max_rps: arguments.planning.max_rps,
        ..Planning::default()
    };
    let made = planning::make(app, &planning, true)?;
    let Some(removal) = made.plan else {
        return Err(Stop::with(made.findings));
    };
    planning::may_apply(&removal, &made.findings)?;
    if !removal.has_changes {
        return Ok(earlier);
    }
    let (world, applying) = (&made.world, &arguments.applying);
    let removed = applying::run(app, &removal, world, applying, Exit::Done, Some(earlier))?;
    if !removed.is(Exit::Done) {
        return Err(Stop::because(
            Code::StepsFailed,
            format!(
                "what was made in {} could not be removed",
                plan.scope.location
            ),
        )
        .help("`tensorform destroy` goes on with it; then `apply` starts anew"));
    }
    app.output.note("\n");
    Ok(removed.writes())
}

fn once(
    app: &App,
    planning: &Planning,
    applying: &Applying,
    earlier: Option<u64>,
) -> Result<(Box<Plan>, Applied), Stop> {
    let made = planning::make(app, planning, false)?;
    let Some(plan) = made.plan else {
        return Err(Stop::with(made.findings));
    };
    planning::may_apply(&plan, &made.findings)?;
    applying::show(app, &plan, applying);
    app.say_below(&made.findings);
    let applied = apply(app, &plan, &made.world, applying, earlier)?;
    Ok((Box::new(plan), applied))
}

fn apply(
    app: &App,
    plan: &Plan,
    world: &World,
    applying: &Applying,
    earlier: Option<u64>,
) -> Result<Applied, Stop> {
    if !plan.has_changes {
        return Ok(Applied::nothing(Exit::Done));
    }
    applying::confirm(app, plan, applying)?;
    applying::run(app, plan, world, applying, Exit::Done, earlier)
}

/// Applies exactly what a file says, if the world is still as it was.
fn saved(app: &App, path: &Path, arguments: &args::Apply) -> Outcome {
    let applying = &arguments.applying;
    let plan = planned::load(path)?;
    check_plan(&plan)?;
    let limits = planning::limits(&arguments.planning.pricing);
    let over = planner::cost::check_limits(&plan, &limits, app.catalog(false));
    if over.has_errors() {
        return Err(Stop::with(over));
    }
    check_world(app, &plan)?;
    check_stack(app, &plan)?;
    let world = World::paced(
        app,
        false,
        plan.scope.subscription.clone(),
        arguments.planning.max_rps,
    )?;
    let now = planning::now();
    let live = planning::read(&world, &planning::scope_of_plan(&plan, now))?;
    let mut stale = planner::staleness(&plan, &live);
    stale.extend(planner::outlived(&plan, now).into_iter().collect());
    if stale.has_errors() {
        return Err(Stop::with(stale));
    }
    applying::show(app, &plan, applying);
    if !app.output.is_json() {
        let findings = render::plan::findings(&plan, app.output.stderr);
        if !findings.is_empty() {
            app.output.note("\n");
            app.output.say(&findings);
        }
    }
    let applied = apply(app, &plan, &world, applying, None)?;
    if applied.found_no_room(&plan) {
        app.output.note(&format!(
            "There is no capacity in {}. A saved plan is for one location: `tensorform destroy` removes what was made, and `apply` without a plan goes on to the next location of the spec.\n",
            plan.scope.location
        ));
    }
    Ok(applied.end(app, &plan))
}

/// The spec is not needed, but where one is at hand it must be the plan's.
fn check_stack(app: &App, plan: &Plan) -> Result<(), Stop> {
    let file = app.global.file.display();
    match Source::stack(app) {
        Some(stack) if stack != plan.stack => {
            let message = format!(
                "the plan is for the stack `{}`, `{file}` is for `{stack}`",
                plan.stack
            );
            Err(Stop::because(Code::PlanForOther, message)
                .help("name the spec of the plan with `-f`, or apply where no spec is"))
        }
        _ => Ok(()),
    }
}

/// A plan with errors, or with something left unread, is shown and not applied.
fn check_plan(plan: &Plan) -> Result<(), Stop> {
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
    Ok(())
}

/// A plan is applied to the world it was made for.
fn check_world(app: &App, plan: &Plan) -> Result<(), Stop> {
    if plan.scope.mode == Mode::Offline {
        return Err(planning::is_offline());
    }
    let words = |mode: Mode| match mode {
        Mode::Azure => "Azure",
        Mode::Sandbox => "the sandbox",
        Mode::Offline => "no world",
    };
    let here = world::mode(app, false);
    let cloud = world::cloud(app).name();
    let (planned, run) = if plan.scope.mode == here {
        let named = |cloud: &str| format!("the cloud `{cloud}`");
        (named(&plan.scope.cloud), named(cloud))
    } else {
        (words(plan.scope.mode).to_owned(), words(here).to_owned())
    };
    if planned == run && plan.scope.cloud == cloud {
        return Ok(());
    }
    let message = format!("the plan is for {planned}, this run is for {run}");
    Err(Stop::because(Code::PlanForOther, message)
        .help("plan again for this world, or run with the options of the plan"))
}
