//! `bootstrap`: what nodes of a pool run when they start first, to be read or tried.

use model::spec::Orchestrator;
use planner::bootstrap::{Node, given, shell};

use super::explain::check_name;
use crate::{
    app::App,
    args::{self, Planning},
    exit::Exit,
    planning,
    stop::{Outcome, Stop},
};

/// Prints it.
pub(crate) fn run(app: &App, arguments: &args::Bootstrap) -> Outcome {
    let spec = &planner::with_server(app.source()?.spec()?);
    let name = match (&arguments.pool, spec.pools.first_key_value()) {
        (Some(pool), _) => {
            check_name(pool, spec)?;
            pool
        }
        (None, Some((only, _))) if spec.pools.len() == 1 => only,
        (None, _) => return Err(Stop::usage("the spec has several pools: name one of them")),
    };
    let planning = Planning {
        offline: arguments.offline,
        renew: spec.lifetime.is_some(),
        ..Planning::default()
    };
    let made = planning::make(app, &planning, false)?;
    let Some(plan) = made.plan.filter(|_| !made.findings.has_errors()) else {
        return Err(Stop::with(made.findings));
    };
    let size = plan.pools.get(name).map(|pool| &pool.size);
    let planned = planner::as_planned(spec, &plan);
    let mut pool = planned.pools.get(name).cloned();
    let decided = plan.pools.get(name).map(|pool| pool.orchestrator.as_str());
    if let (Some(pool), Some("batch")) = (&mut pool, decided) {
        pool.orchestrator = Orchestrator::Batch;
    }
    let pool = pool.as_ref();
    let asked = pool.and_then(planner::bootstrap::of_pool);
    let recorded = asked.and_then(|(setup, script)| {
        let tag = model::plan::Bootstrap::tag(&setup, script.as_ref());
        plan.bootstraps.get(&tag)
    });
    let (Some(bootstrap), Some(size)) = (recorded, size) else {
        if app.output.is_json() {
            app.output.data(&render::bootstrap::json(name, size, None));
        }
        app.output
            .note("Nodes of the pool run nothing when they start first.\n");
        return Ok(Exit::Done);
    };
    let script = pool.and_then(|pool| pool.bootstrap.as_ref()?.text.as_ref());
    let node = Node {
        setup: &bootstrap.setup,
        local_disks: bootstrap.sizes.get(size).and_then(|one| one.local_disks),
        script: script.map(|text| text.0.as_str()),
    };
    let text = if arguments.shell {
        shell(node)
    } else {
        given(node)
    };
    if app.output.is_json() {
        app.output
            .data(&render::bootstrap::json(name, Some(size), Some(&text)));
    } else {
        app.output.data(&text);
    }
    Ok(Exit::Done)
}
