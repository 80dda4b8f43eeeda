//! `quota`: what the subscription may have, has, and would have with the spec applied.

use model::diag::Diagnostics;
use planner::QuotaReport;

use crate::{
    app::App,
    args::Planning,
    errors,
    planning::{self, Made},
    stop::{Outcome, Stop, exit_of},
};

/// Shows quota.
pub(crate) fn run(app: &App) -> Outcome {
    let mut made = planning::make(app, &Planning::default(), false)?;
    let Some(report) = report(app, &mut made)? else {
        return Err(Stop::with(made.findings));
    };
    let findings: Diagnostics = report.diagnostics;
    let text = if app.output.is_json() {
        render::quota::json(&report.lines, &app.documents(&findings))
    } else {
        render::quota::text(&report.lines, app.output.stdout)
    };
    app.output.data(&text);
    app.say_below(&findings);
    Ok(exit_of(&findings))
}

/// The quota of the plan, with the counters that planning had no need of.
fn report(app: &App, made: &mut Made) -> Result<Option<QuotaReport>, Stop> {
    let Some(plan) = &made.plan else {
        return Ok(None);
    };
    let catalog = app.catalog(false);
    let report = planner::quota(plan, catalog, &made.live);
    let Some(client) = made.world.client().filter(|_| !report.questions.is_empty()) else {
        return Ok(Some(report));
    };
    let questions: Vec<_> = report.questions.into_iter().collect();
    let answered = azure::answer(client, &questions, &mut made.live.facts);
    made.world
        .read(answered)?
        .map_err(|error| errors::read(&error))?;
    Ok(Some(planner::quota(plan, catalog, &made.live)))
}
