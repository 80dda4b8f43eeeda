//! `sandbox serve`: the sandbox by itself, until somebody interrupts it.

use std::path::Path;

use emulator::{Clock, Opened, Options, Recording, Tls};
use model::diag::Code;

use crate::{
    app::App,
    args::{self, SandboxCommand},
    exit::Exit,
    stop::{Outcome, Stop},
    world,
};

/// Reads what https needs.
fn read_tls(certificate: &Path, key: &Path) -> Result<Tls, Stop> {
    Tls::read(certificate, key).map_err(|error| {
        Stop::because(Code::FileUnusable, azure::chain(&error))
            .help("`--tls-cert` and `--tls-key` name PEM files: a certificate and its private key")
    })
}

/// Begins a recording.
fn begin_recording(path: &Path) -> Result<Recording, Stop> {
    Recording::create(path).map_err(|error| {
        let message = format!("`{}` cannot be begun: {error}", path.display());
        Stop::because(Code::FileUnusable, message)
            .help("`--record` names a file that does not exist yet, in a folder that does")
    })
}

/// Serves.
pub(crate) fn run(app: &App, arguments: &args::Sandbox) -> Outcome {
    let SandboxCommand::Serve(arguments) = &arguments.command;
    let folder = arguments.state.display();
    let faults = world::faults(app.global.faults.as_deref())?;
    let times = app.global.speed.unwrap_or(1.0);
    let speed = world::speed(times)?;
    let tls = match (&arguments.tls_cert, &arguments.tls_key) {
        (Some(certificate), Some(key)) => Some(read_tls(certificate, key)?),
        _ => None,
    };
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
    let recording = arguments.record.as_deref().map(begin_recording);
    let recording = recording.transpose()?;
    let mut options = Options::new(*kept, Clock::real(speed));
    options.faults = faults;
    options.port = arguments.port;
    let secure = tls.is_some();
    options.tls = tls;
    options.recording = recording;
    let runtime = world::runtime()?;
    let sandbox = world::serve(&runtime, options).map_err(|stop| match arguments.port {
        0 => stop,
        _ => stop.help("name another port with `--port`; 0 takes a free one"),
    })?;
    let endpoint = sandbox.endpoint().to_owned();
    // Certificates name hosts more often than addresses.
    let https = secure.then(|| {
        let port = endpoint.rsplit(':').next().unwrap_or_default();
        format!("https://localhost:{port}")
    });
    if app.output.is_json() {
        app.output.data(&render::starter::served(
            &endpoint,
            https.as_deref(),
            &folder.to_string(),
        ));
    } else {
        let and = https
            .map(|https| format!(" and {https}"))
            .unwrap_or_default();
        app.output.data(&format!(
            "sandbox at {endpoint}{and}, world in {folder}, {times} times as fast as Azure\n"
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
