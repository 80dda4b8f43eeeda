//! `show`: any plan file, also a stale one.

use crate::{app::App, args, commands::plan, exit::Exit, stop::Outcome};

/// Shows a plan file.
pub(crate) fn run(app: &App, arguments: &args::Show) -> Outcome {
    let saved = plan::load(&arguments.plan)?;
    plan::print(app, &saved);
    if !app.output.is_json() {
        app.output
            .say(&render::plan::findings(&saved, app.output.stderr));
    }
    Ok(Exit::Done)
}
