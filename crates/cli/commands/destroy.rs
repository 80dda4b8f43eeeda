//! `destroy`: deletes what the stack made, and names what it keeps.

use model::diag::Code;

use crate::{
    app::App,
    applying::{self, Applied},
    args::{self, Planning},
    exit::Exit,
    planning,
    stop::{Outcome, Stop},
};

/// Destroys.
pub(crate) fn run(app: &App, arguments: &args::Destroy) -> Outcome {
    let planning = Planning {
        max_rps: arguments.max_rps,
        orphans: arguments.orphans,
        ..Planning::default()
    };
    let made = planning::make(app, &planning, !arguments.orphans)?;
    let Some(plan) = made.plan else {
        return Err(Stop::with(made.findings));
    };
    planning::may_apply(&plan, &made.findings)?;
    applying::show(app, &plan, &arguments.applying);
    app.say_below(&made.findings);
    // Something stays that was to go: the rest goes, and the exit code says so.
    let stays = [Code::Protected, Code::UsedByOthers, Code::GroupKept];
    let kept = made
        .findings
        .iter()
        .any(|finding| stays.contains(&finding.code));
    let done = if kept { Exit::Refused } else { Exit::Done };
    if !plan.has_changes {
        return Ok(Applied::nothing(done).end(app, &plan));
    }
    applying::confirm(app, &plan, &arguments.applying)?;
    let (world, arguments) = (&made.world, &arguments.applying);
    let applied = applying::run(app, &plan, world, arguments, done, None)?;
    Ok(applied.end(app, &plan))
}
