//! `sandbox serve`: the sandbox by itself, until somebody interrupts it.

use emulator::{Clock, Opened, Options};
use model::diag::Code;

use crate::{
    app::App,
    args::{self, SandboxCommand},
    exit::Exit,
    stop::{Outcome, Stop},
    world,
};

/// Serves.
pub(crate) fn run(app: &App, arguments: &args::Sandbox) -> Outcome {
    let SandboxCommand::Serve(arguments) = &arguments.command;
    let folder = arguments.state.display();
    let faults = world::faults(app.global.faults.as_deref())?;
    let times = app.global.speed.unwrap_or(1.0);
    let speed = world::speed(times)?;
    let kept = match world::open(&arguments.state)? {
        Opened::Serve(kept) => kept,
        Opened::Connect(endpoint) => {
            let stop = Stop::because(
                Code::SandboxUnusable,
                format!("`{folder}` is served already, at {endpoint}"),
            );
            return Err(stop.help("use it with `--sandbox`, or name another folder with `--state`"));
        }
    };
    let mut options = Options::new(*kept, Clock::real(speed));
    options.faults = faults;
    options.port = arguments.port;
    let runtime = world::runtime()?;
    let sandbox = world::serve(&runtime, options).map_err(|stop| match arguments.port {
        0 => stop,
        _ => stop.help("name another port with `--port`; 0 takes a free one"),
    })?;
    let endpoint = sandbox.endpoint().to_owned();
    if app.output.is_json() {
        app.output
            .data(&render::starter::served(&endpoint, &folder.to_string()));
    } else {
        app.output.data(&format!(
            "sandbox at {endpoint}, world in {folder}, {times} times as fast as Azure\n"
        ));
        app.output.note(&format!(
            "in another terminal: tensorform --sandbox={folder} plan\n\
             or with any client:  TENSORFORM_ACCESS_TOKEN=any tensorform --endpoint {endpoint} --credential token plan\n"
        ));
    }
    runtime.block_on(crate::signals::interrupted());
    let stopped = runtime.block_on(sandbox.stop());
    stopped.map_err(|error| Stop::because(Code::SandboxUnusable, azure::chain(&error)))?;
    Ok(Exit::Done)
}
