//! Commands, one file each: arguments in, wiring, exit code out.

mod init;

mod validate;

mod plan;

mod cost;

mod show;

mod apply;

mod destroy;

mod status;

mod inventory;

mod graph;

mod export;

mod power;

mod explain;

mod bootstrap;

mod quota;

mod doctor;

mod estimate;

mod sizes;

mod images;

mod catalog;

mod sandbox;

mod generated;

use crate::{app::App, args::Command, stop::Outcome};

/// Runs a command.
pub(crate) fn run(app: &App, command: Command) -> Outcome {
    match command {
        Command::Init(arguments) => init::run(app, &arguments),
        Command::Validate => validate::run(app),
        Command::Plan(arguments) => plan::run(app, &arguments),
        Command::Cost(arguments) => cost::run(app, &arguments),
        Command::Show(arguments) => show::run(app, &arguments),
        Command::Apply(arguments) => apply::run(app, &arguments),
        Command::Destroy(arguments) => destroy::run(app, &arguments),
        Command::Status(arguments) => status::run(app, &arguments),
        Command::Inventory(arguments) => inventory::run(app, &arguments),
        Command::Graph(arguments) => graph::run(app, &arguments),
        Command::Export(arguments) => export::run(app, &arguments),
        Command::Start(arguments) => power::run(app, &arguments, planner::Power::Start),
        Command::Stop(arguments) => power::run(app, &arguments, planner::Power::Stop),
        Command::Explain(arguments) => explain::run(app, &arguments),
        Command::Bootstrap(arguments) => bootstrap::run(app, &arguments),
        Command::Quota => quota::run(app),
        Command::Doctor => doctor::run(app),
        Command::Estimate(arguments) => estimate::run(app, &arguments),
        Command::Sizes(arguments) => sizes::run(app, &arguments),
        Command::Images => Ok(images::run(app)),
        Command::Catalog(arguments) => catalog::run(app, &arguments),
        Command::Sandbox(arguments) => sandbox::run(app, &arguments),
        Command::Schema(arguments) => Ok(generated::schema(app, &arguments)),
        Command::Completions(arguments) => Ok(generated::completions(app, &arguments)),
        Command::Man(arguments) => generated::man(app, &arguments),
    }
}
