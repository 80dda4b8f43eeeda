//! Commands, one file each: arguments in, wiring, exit code out.

mod init;

mod validate;

mod plan;

mod show;

mod apply;

mod destroy;

mod status;

mod explain;

mod estimate;

mod sizes;

mod images;

mod sandbox;

mod generated;

use model::{catalog::Catalog, diag::Code, units::Region};

use crate::{
    app::App,
    args::Command,
    stop::{Outcome, Stop},
};

/// Runs a command.
pub(crate) fn run(app: &App, command: Command) -> Outcome {
    match command {
        Command::Init(arguments) => init::run(app, &arguments),
        Command::Validate => validate::run(app),
        Command::Plan(arguments) => plan::run(app, &arguments),
        Command::Show(arguments) => show::run(app, &arguments),
        Command::Apply(arguments) => apply::run(app, &arguments),
        Command::Destroy(arguments) => destroy::run(app, &arguments),
        Command::Status => status::run(app),
        Command::Explain(arguments) => explain::run(app, &arguments),
        Command::Estimate(arguments) => estimate::run(app, &arguments),
        Command::Sizes(arguments) => sizes::run(app, &arguments),
        Command::Images => Ok(images::run(app)),
        Command::Sandbox(arguments) => sandbox::run(app, &arguments),
        Command::Schema(arguments) => Ok(generated::schema(app, &arguments)),
        Command::Completions(arguments) => Ok(generated::completions(app, &arguments)),
        Command::Man(arguments) => generated::man(app, &arguments),
    }
}

/// A region of the catalogue.
fn region(catalog: &Catalog, name: &str) -> Result<Region, Stop> {
    let location = Region::new(name);
    if catalog.region(&location).is_some() {
        return Ok(location);
    }
    let names = catalog.regions().iter().map(|region| region.name.as_str());
    let stop = Stop::because(
        Code::LocationUnknown,
        format!("the catalogue has no region `{location}`"),
    );
    Err(match model::suggest::nearest(location.as_str(), names) {
        Some(near) => stop.help(format!("did you mean `{near}`?")),
        None => stop,
    })
}
