//! `cost`: what the stack costs, and what it would cost otherwise.

use model::cost::CostReport;
use planner::{
    Input,
    cost::{self, Prices, ReportInput},
};
use render::preview::{self, text::Shown};

use crate::{
    app::App,
    args::{self, Format, Planning},
    planning::{self, Made},
    stop::{Outcome, Stop, exit_of},
};

/// Shows a cost preview.
pub(crate) fn run(app: &App, arguments: &args::Cost) -> Outcome {
    let planning = Planning {
        offline: arguments.offline,
        reselect: arguments.reselect,
        pricing: arguments.pricing.clone(),
        ..Planning::default()
    };
    let made = planning::make(app, &planning, false)?;
    let Some(report) = report(app, &made, arguments)? else {
        return Err(Stop::with(made.findings));
    };
    let shown = Shown {
        changes: arguments.diff,
    };
    let text = match app.output.format {
        Format::Text => preview::text::text(&report, shown, app.output.stdout),
        Format::Json => preview::json::document(&report),
        Format::Markdown => preview::markdown::comment(&report),
        Format::Html => preview::html::page(&report),
        Format::Csv => preview::csv::table(&report),
        Format::Infracost => preview::infracost::document(&report),
    };
    app.output.data(&text);
    app.say_below(&made.findings);
    Ok(exit_of(&made.findings))
}

fn report(app: &App, made: &Made, arguments: &args::Cost) -> Result<Option<CostReport>, Stop> {
    let Some(plan) = &made.plan else {
        return Ok(None);
    };
    let spec = app.source()?.spec()?;
    let catalog = app.catalog(arguments.offline);
    let prices = Prices {
        catalog,
        book: made.options.price_book.as_ref(),
    };
    let seconds = arguments.hours;
    let mut report = cost::report(ReportInput {
        spec,
        plan,
        before: &cost::of_live(&made.live, prices),
        prices,
        seconds,
    });
    if arguments.compare_regions {
        report.regions = Some(cost::regions(spec, plan, prices));
    }
    if arguments.compare_sizes {
        let input = Input {
            spec,
            catalog,
            live: &made.live,
            options: &made.options,
        };
        report.sizes = Some(cost::sizes(input, plan, prices, seconds));
    }
    Ok(Some(report))
}
