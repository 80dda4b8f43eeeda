//! `start` and `stop`: nodes of pools get hardware, or give it back.

use planner::Power;

use crate::{
    app::App,
    applying::{self, Applied},
    args::{self, Planning},
    exit::Exit,
    planning,
    stop::{Outcome, Stop},
};

/// Starts or stops the nodes of pools.
pub(crate) fn run(app: &App, arguments: &args::Power, wish: Power) -> Outcome {
    let planning = Planning {
        max_rps: arguments.max_rps,
        target: arguments.pools.clone(),
        power: Some(wish),
        ..Planning::default()
    };
    let made = planning::make(app, &planning, false)?;
    let Some(plan) = made.plan else {
        return Err(Stop::with(made.findings));
    };
    planning::may_apply(&plan, &made.findings)?;
    applying::show(app, &plan, &arguments.applying);
    app.say_below(&made.findings);
    if !plan.has_changes {
        return Ok(Applied::nothing(Exit::Done).end(app, &plan));
    }
    applying::confirm(app, &plan, &arguments.applying)?;
    let (world, arguments) = (&made.world, &arguments.applying);
    let applied = applying::run(app, &plan, world, arguments, Exit::Done, None)?;
    Ok(applied.end(app, &plan))
}
