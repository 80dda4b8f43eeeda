//! `destroy`: deletes what the stack made, and names what it keeps.

use model::diag::Code;

use crate::{
    app::App,
    applying,
    args::{self, Planning},
    commands::plan as planned,
    exit::Exit,
    planning,
    stop::{Outcome, Stop},
};

/// Destroys.
pub(crate) fn run(app: &App, arguments: &args::Destroy) -> Outcome {
    let made = planning::make(app, &Planning::default(), true)?;
    let Some(plan) = made.plan else {
        return Err(Stop::with(made.findings));
    };
    planning::may_apply(&plan, &made.findings)?;
    if !app.output.is_json() {
        app.output
            .note(&render::plan::text(&plan, app.output.stderr));
    }
    app.say_unless_json(&made.findings);
    // Something protected stays: the rest goes, and the exit code says so.
    let kept = made
        .findings
        .iter()
        .any(|finding| finding.code == Code::Protected);
    let done = if kept { Exit::Refused } else { Exit::Done };
    if !plan.has_changes {
        if app.output.is_json() {
            planned::print(app, &plan);
        }
        return Ok(done);
    }
    applying::confirm(app, &plan, &arguments.applying)?;
    let exit = applying::run(app, &plan, None, &made.world, &arguments.applying)?;
    Ok(if exit == Exit::Done { done } else { exit })
}
