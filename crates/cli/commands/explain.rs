//! `explain`: the decision record of a pool, or the page of a diagnostic code.

use model::{diag::Code, plan::PoolPlan};

use crate::{
    app::App,
    args,
    exit::Exit,
    planning,
    stop::{Outcome, Stop},
};

/// Explains.
pub(crate) fn run(app: &App, arguments: &args::Explain) -> Outcome {
    if let Some(code) = arguments
        .what
        .as_deref()
        .and_then(|what| what.parse::<Code>().ok())
    {
        let page = if app.output.is_json() {
            render::page::json(code.as_str(), code.severity(), code.page())
        } else {
            render::page::text(code.page(), app.output.stdout)
        };
        app.output.data(&page);
        return Ok(Exit::Done);
    }
    let looks_like_code = |what: &&str| {
        what.len() > 3
            && what
                .chars()
                .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    };
    if let Some(code) = arguments.what.as_deref().filter(looks_like_code) {
        let names = Code::ALL.iter().map(|code| code.as_str());
        let stop = Stop::usage(format!("no diagnostic has the code `{code}`"));
        return Err(match model::suggest::nearest(code, names) {
            Some(near) => stop.help(format!("did you mean `{near}`?")),
            None => stop,
        });
    }
    pool(app, arguments)
}

fn pool(app: &App, arguments: &args::Explain) -> Outcome {
    let made = planning::make(app, &arguments.planning, false)?;
    let Some(plan) = made.plan else {
        return Err(Stop::with(made.findings));
    };
    let wanted = arguments.what.as_deref();
    if let Some(pool) = wanted.filter(|pool| !plan.pools.contains_key(*pool)) {
        let names = plan.pools.keys().map(String::as_str);
        let stop = Stop::usage(format!("the spec has no pool `{pool}`"));
        return Err(match model::suggest::nearest(pool, names) {
            Some(near) => stop.help(format!("did you mean `{near}`?")),
            None => stop.help("diagnostic codes are written in capitals, such as SPEC002"),
        });
    }
    let pools: Vec<(&str, &PoolPlan)> = plan
        .pools
        .iter()
        .map(|(name, pool)| (name.as_str(), pool))
        .filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name))
        .collect();
    let text = if app.output.is_json() {
        render::explain::json(&pools)
    } else {
        render::explain::text(&pools, app.output.stdout)
    };
    app.output.data(&text);
    Ok(Exit::Done)
}
