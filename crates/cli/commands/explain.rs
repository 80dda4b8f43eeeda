//! `explain`: the decision record of a pool, or the page of a diagnostic code.

use std::collections::BTreeMap;

use model::{
    diag::{Code, Diagnostics},
    plan::PoolMemo,
    spec::Spec,
};
use planner::Input;

use crate::{
    app::App,
    args::{self, Planning},
    exit::Exit,
    planning::{self, Made},
    stop::{Outcome, Stop, exit_of},
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
    let wanted = arguments.what.as_deref();
    if let Some(pool) = wanted {
        check_name(pool, &planner::with_server(app.source()?.spec()?))?;
    }
    let planning = Planning {
        offline: arguments.offline,
        reselect: arguments.reselect,
        // What would be chosen, also for a stack whose time is over.
        renew: app.source()?.spec()?.lifetime.is_some(),
        ..Planning::default()
    };
    let mut made = planning::make(app, &planning, false)?;
    let mut explanation = std::mem::take(&mut made.explanation);
    let is_shown = |name: &str| wanted.is_none_or(|wanted| wanted == name);
    explanation.pools.retain(|name, _| is_shown(name));
    explanation.refused.retain(|name, _| is_shown(name));
    if explanation.pools.is_empty() && explanation.refused.is_empty() {
        return Err(Stop::with(made.findings));
    }
    let memos = memos(app, &mut made, arguments.offline)?
        .into_iter()
        .filter(|(name, _)| is_shown(name))
        .collect();
    let findings: Diagnostics = made
        .findings
        .into_iter()
        .filter(|finding| finding.at.pool_name().is_some_and(is_shown))
        .collect();
    let text = if app.output.is_json() {
        render::explain::json(&explanation, &memos, &app.documents(&findings))
    } else {
        render::explain::text(&explanation, &memos, app.output.stdout)
    };
    app.output.data(&text);
    app.say_below(&findings);
    Ok(exit_of(&findings))
}

/// What stands beside the decisions; nothing where there is no plan.
fn memos(app: &App, made: &mut Made, offline: bool) -> Result<BTreeMap<String, PoolMemo>, Stop> {
    let Some(plan) = made.plan.take() else {
        return Ok(BTreeMap::new());
    };
    let input = Input {
        spec: app.source()?.spec()?,
        catalog: app.catalog(offline),
        live: &made.live,
        options: &made.options,
    };
    Ok(planner::memos(input, plan))
}

pub(super) fn check_name(pool: &str, spec: &Spec) -> Result<(), Stop> {
    if spec.pools.contains_key(pool) {
        return Ok(());
    }
    let names = spec.pools.keys().map(String::as_str);
    let stop = Stop::usage(format!("the spec has no pool `{pool}`"));
    if let Some(near) = model::suggest::nearest(pool, names.clone()) {
        return Err(stop.help(format!("did you mean `{near}`?")));
    }
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    Err(stop
        .help(format!("it has {}", render::words::listed(&names, 8)))
        .help("diagnostic codes are written in capitals, such as SPEC002"))
}
