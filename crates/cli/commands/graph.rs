//! `graph`: the resources of the plan, and what must be there before what.

use crate::{
    app::App,
    args::{Graph, GraphFormat, Planning},
    planning::{self, Made},
    stop::{Outcome, Stop, exit_of},
};

/// Shows the graph.
pub(crate) fn run(app: &App, arguments: &Graph) -> Outcome {
    let planning = Planning {
        offline: arguments.offline,
        without_budget: true,
        ..Planning::default()
    };
    let Made { plan, findings, .. } = planning::make(app, &planning, false)?;
    let Some(plan) = plan else {
        return Err(Stop::with(findings));
    };
    let text = if app.output.is_json() {
        render::graph::json(&plan, &app.documents(&findings))
    } else {
        match arguments.format {
            GraphFormat::Mermaid => render::graph::mermaid(&plan),
            GraphFormat::Dot => render::graph::dot(&plan),
            GraphFormat::Svg => render::graph::svg(&plan),
        }
    };
    app.output.data(&text);
    app.say_below(&findings);
    Ok(exit_of(&findings))
}
