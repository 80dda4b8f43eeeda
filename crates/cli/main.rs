//! The command line of Tensorform. It reads arguments, files and the environment, wires the
//! crates together and prints what they say; it decides nothing.

mod args;

mod exit;

mod output;

mod app;

mod stop;

mod source;

mod errors;

mod logging;

mod keys;

mod world;

mod planning;

mod journal;

mod applying;

mod commands;

use std::process::ExitCode;

use clap::Parser;

use crate::{app::App, args::Arguments, exit::Exit};

/// The version that plans and documents carry.
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // A reader that went away is no error of ours.
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            }
            .into();
        }
    };
    let app = App::new(arguments.global);
    logging::start(&app.global);
    match commands::run(&app, arguments.command) {
        Ok(exit) => exit.into(),
        Err(stop) => app.report(stop).into(),
    }
}
