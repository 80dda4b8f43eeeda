//! `validate`: the spec alone, without any cloud.

use crate::{VERSION, app::App, exit::Exit, stop::Outcome};

/// Checks the spec.
pub(crate) fn run(app: &App) -> Outcome {
    let source = app.source()?;
    let spec = source.spec()?;
    let warnings = source.warnings();
    if app.output.is_json() {
        app.output.data(&render::failure::json(
            &app.documents(&warnings),
            "validate",
            VERSION,
        ));
    } else {
        app.say(&warnings);
        let pools = render::words::counted(spec.pools.len(), "pool", "pools");
        app.output.note(&format!(
            "`{}` is valid: stack {}, {pools}\n",
            source.file, spec.name
        ));
    }
    Ok(Exit::Done)
}
