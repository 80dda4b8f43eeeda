//! The command line of Tensorform. It reads arguments, files and the environment, wires the
//! crates together and prints what they say; it decides nothing.

mod args;

mod exit;

mod help;

#[cfg(test)]
mod reference;

mod output;

mod app;

mod stop;

mod usage;

mod files;

mod cache;

mod source;

mod bootstraps;

mod errors;

mod logging;

mod keys;

mod world;

mod planning;

mod journal;

mod signals;

mod applying;

mod commands;

use std::process::ExitCode;

use crate::{app::App, args::Arguments};

/// The version that plans and documents carry.
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn main() -> ExitCode {
    let arguments = match Arguments::read() {
        Ok(arguments) => arguments,
        Err(error) => return usage::report(&error).into(),
    };
    let app = App::new(arguments.global, arguments.command.name());
    logging::start(&app);
    let exit = match commands::run(&app, arguments.command) {
        Ok(exit) => exit,
        Err(stop) => app.report(&stop),
    };
    app.end(exit).into()
}
