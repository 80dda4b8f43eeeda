//! The world that a run looks at: Azure, another endpoint, the sandbox, or none.

use std::{cell::Cell, path::Path, time::Duration};

use azure::{Client, Cloud, CredentialChoice, CredentialName, Settings};
use emulator::{
    Clock, Faults, OpenError, Opened, Options, Problem, Sandbox, SandboxError, Speed, World as Kept,
};
use model::{
    diag::{At, Code, Diagnostic},
    live::Mode,
    spec::Spec,
};
use tokio::runtime::{Builder, Runtime};

use crate::{app::App, args::CloudName, errors, exit::Exit, files, signals::Signals, stop::Stop};

/// How much faster than time the sandbox runs unless somebody says: a VM in some milliseconds.
const USUAL_SPEED: f64 = 1_000.0;

/// How long a sandbox may be silent before it is given up: no network is between us, so that the
/// process that served it has ended.
const SANDBOX_SILENCE: Duration = Duration::from_secs(5);

/// The token that the sandbox, which asks for any, is given.
const SANDBOX_TOKEN: &str = "sandbox";

/// A world that was opened, with what keeps it going.
pub(crate) struct World {
    runtime: Option<Runtime>,
    client: Option<Client>,
    sandbox: Option<Sandbox>,
    /// Who listens to signals, once an apply has taken them over.
    signals: Cell<Option<Signals>>,
}

impl World {
    /// Opens the world that the options name.
    ///
    /// # Errors
    /// It cannot be reached, or nobody lets us in.
    pub(crate) fn open(
        app: &App,
        offline: bool,
        subscription: Option<String>,
    ) -> Result<Self, Stop> {
        Self::paced(app, offline, subscription, None)
    }

    /// Opens it, and sends at most so many requests a second.
    ///
    /// # Errors
    /// As [`World::open`].
    pub(crate) fn paced(
        app: &App,
        offline: bool,
        subscription: Option<String>,
        requests_per_second: Option<u32>,
    ) -> Result<Self, Stop> {
        if offline {
            return Ok(Self {
                runtime: None,
                client: None,
                sandbox: None,
                signals: Cell::default(),
            });
        }
        let runtime = runtime()?;
        let (sandbox, settings) = match &app.global.sandbox {
            Some(folder) => {
                let (sandbox, endpoint) = start(app, &runtime, folder, subscription.as_deref())?;
                let mut settings = Settings::new(app.environment.clone());
                settings.endpoint = Some(endpoint);
                settings.credential = CredentialChoice::Fixed(SANDBOX_TOKEN.to_owned());
                settings.limits.silence = SANDBOX_SILENCE;
                (sandbox, settings)
            }
            None => (None, settings(app)?),
        };
        // A new sandbox has one subscription, which a spec that names none means.
        let usual = sandboxed(app).then(|| emulator::SUBSCRIPTION.to_owned());
        let mut settings = Settings {
            subscription: subscription.or(usual),
            ..settings
        };
        settings.limits.requests_per_second = requests_per_second;
        let client = runtime
            .block_on(Client::connect(settings))
            .map_err(|error| errors::connect(&error))?;
        tracing::info!(
            credential = client.credential_name(),
            subscription = client.subscription(),
            "connected"
        );
        Ok(Self {
            runtime: Some(runtime),
            client: Some(client),
            sandbox,
            signals: Cell::default(),
        })
    }

    /// The client; none offline.
    pub(crate) fn client(&self) -> Option<&Client> {
        self.client.as_ref()
    }

    /// Waits for something asynchronous.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        match &self.runtime {
            Some(runtime) => runtime.block_on(future),
            // Offline nothing is asynchronous: a future that waits for nothing needs no timers.
            None => futures::executor::block_on(future),
        }
    }

    /// Waits for something that needs timers even where nothing was opened.
    ///
    /// # Errors
    /// The system gives no threads.
    pub(crate) fn wait_or_start<T>(&self, future: impl Future<Output = T>) -> Result<T, Stop> {
        match &self.runtime {
            Some(runtime) => Ok(runtime.block_on(future)),
            None => Ok(runtime()?.block_on(future)),
        }
    }

    /// Waits for something while signals are listened to, and goes on listening afterwards: one
    /// that comes between two waits ends the next [`World::read`].
    pub(crate) fn listening<T>(&self, work: impl AsyncFnOnce(&mut Signals) -> T) -> T {
        let kept = self.signals.take();
        let (done, signals) = self.wait(async {
            let mut signals = kept.unwrap_or_else(Signals::new);
            let done = work(&mut signals).await;
            (done, signals)
        });
        self.signals.set(Some(signals));
        done
    }

    /// Waits for something to be read. After an apply has listened to signals an interrupt would
    /// go unheard, so that it ends the wait here.
    ///
    /// # Errors
    /// Somebody interrupted.
    pub(crate) fn read<T>(&self, future: impl Future<Output = T>) -> Result<T, Stop> {
        let Some(mut signals) = self.signals.take() else {
            return Ok(self.wait(future));
        };
        let read = self.wait(async {
            tokio::select! {
                read = future => Ok(read),
                () = signals.next() => Err(Stop::because(
                    Code::NotAsPlanned,
                    "interrupted while the result was read: nobody knows whether it is as planned",
                )
                .help("`tensorform plan` reads it again")
                .exit(Exit::Interrupted)),
            }
        });
        self.signals.set(Some(signals));
        read
    }
}

impl Drop for World {
    /// The sandbox writes its world down before the process ends.
    fn drop(&mut self) {
        self.client = None;
        if let (Some(runtime), Some(sandbox)) = (&self.runtime, self.sandbox.take())
            && let Err(error) = runtime.block_on(sandbox.stop())
        {
            tracing::error!(error = %azure::chain(&error), "the sandbox could not be closed; its log is complete");
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// A runtime for the asynchronous edges.
///
/// # Errors
/// The system gives no threads.
pub(crate) fn runtime() -> Result<Runtime, Stop> {
    // Without it the HTTP client has no TLS; a provider that is there already is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| {
            Stop::because(
                Code::Unreachable,
                format!("no threads for the network: {error}"),
            )
        })
}

fn sandboxed(app: &App) -> bool {
    app.global.sandbox.is_some()
}

/// Which world the options name.
pub(crate) fn mode(app: &App, offline: bool) -> Mode {
    match (offline, &app.global.sandbox) {
        (true, _) => Mode::Offline,
        (false, Some(_)) => Mode::Sandbox,
        (false, None) => Mode::Azure,
    }
}

/// Which cloud the options name.
pub(crate) fn cloud(app: &App) -> Cloud {
    match app.global.cloud {
        CloudName::Public => Cloud::Public,
        CloudName::Usgovernment => Cloud::UsGovernment,
        CloudName::China => Cloud::China,
    }
}

/// The subscription that the spec, the options or the environment name.
///
/// # Errors
/// The spec and the options name different ones.
pub(crate) fn subscription(app: &App, spec: Option<&Spec>) -> Result<Option<String>, Stop> {
    let of_spec = spec.and_then(|spec| spec.subscription.clone());
    match (of_spec, &app.global.subscription) {
        (Some(spec), Some(option)) if !spec.eq_ignore_ascii_case(option) => {
            let message = format!(
                "the spec is for the subscription `{spec}`, `--subscription` names `{option}`"
            );
            Err(Stop::because(Code::SubscriptionNotFound, message).help("leave one of them out"))
        }
        (Some(spec), _) => Ok(Some(spec)),
        (None, option) => Ok(option.clone()),
    }
}

/// How Azure, or the endpoint that the options name, is reached.
///
/// # Errors
/// No credential has the name that the options give.
pub(crate) fn settings(app: &App) -> Result<Settings, Stop> {
    let mut settings = Settings::new(app.environment.clone());
    settings.cloud = cloud(app);
    settings.endpoint.clone_from(&app.global.endpoint);
    if let Some(name) = &app.global.credential {
        let name: CredentialName = name
            .parse()
            .map_err(|problem: String| Stop::usage(format!("--credential: {problem}")))?;
        settings.credential = CredentialChoice::Named(name);
    }
    Ok(settings)
}

/// Serves the world of a folder, or connects to the process that does.
fn start(
    app: &App,
    runtime: &Runtime,
    folder: &Path,
    subscription: Option<&str>,
) -> Result<(Option<Sandbox>, String), Stop> {
    let mut kept = match open(folder)? {
        Opened::Serve(kept) => kept,
        Opened::Connect(endpoint) => {
            if app.global.faults.is_some() || app.global.speed.is_some() {
                let stop = Stop::because(
                    Code::SandboxUnusable,
                    format!("another process serves `{}` already", folder.display()),
                );
                return Err(
                    stop.help("`--faults` and `--speed` belong to the process that serves it")
                );
            }
            return Ok((None, endpoint));
        }
    };
    if let Some(subscription) = subscription {
        kept.add_subscription(subscription).map_err(|error| {
            let message = format!("`{}` cannot be written: {error}", folder.display());
            Stop::because(Code::SandboxUnusable, message)
        })?;
    }
    let speed = speed(app.global.speed.unwrap_or(USUAL_SPEED))?;
    let mut options = Options::new(*kept, Clock::real(speed));
    options.faults = faults(app.global.faults.as_deref())?;
    let sandbox = serve(runtime, options)?;
    let endpoint = sandbox.endpoint().to_owned();
    Ok((Some(sandbox), endpoint))
}

/// Only a world may be deleted, and only where that helps.
fn unusable(folder: &Path, error: &OpenError) -> Stop {
    let stop = Stop::because(Code::SandboxUnusable, azure::chain(error));
    match error {
        OpenError::Damaged { .. } | OpenError::Format { .. } => stop.help(format!(
            "name another folder with `--sandbox=DIR`, or delete `{}` to start anew",
            folder.display()
        )),
        OpenError::Io { .. } | OpenError::Busy { .. } | OpenError::NoWorld { .. } => {
            stop.help("name another folder with `--sandbox=DIR`")
        }
    }
}

/// Opens the folder of a world.
///
/// # Errors
/// It is damaged, or of another version; it is left as it is.
pub(crate) fn open(folder: &Path) -> Result<Opened, Stop> {
    if folder.exists() && !folder.is_dir() {
        let message = format!("`{}` is a file, expected a folder", folder.display());
        return Err(Stop::because(Code::SandboxUnusable, message)
            .help("name another folder with `--sandbox=DIR`"));
    }
    Kept::open(folder).map_err(|error| unusable(folder, &error))
}

/// Starts a sandbox.
///
/// # Errors
/// The port is taken, or the folder cannot be written.
pub(crate) fn serve(runtime: &Runtime, options: Options) -> Result<Sandbox, Stop> {
    runtime
        .block_on(Sandbox::start(options))
        .map_err(|error: SandboxError| Stop::because(Code::SandboxUnusable, azure::chain(&error)))
}

/// A speed.
///
/// # Errors
/// It is out of range.
pub(crate) fn speed(times: f64) -> Result<Speed, Stop> {
    Speed::new(times).map_err(|error| Stop::usage(format!("--speed: {error}")))
}

/// The faults of a file.
///
/// # Errors
/// It cannot be read, or has a mistake.
pub(crate) fn faults(path: Option<&Path>) -> Result<Faults, Stop> {
    let Some(path) = path else {
        return Ok(Faults::none());
    };
    files::text(path)?;
    Faults::read(path).map_err(|error| {
        let finding = |problem: &Problem| {
            let Problem {
                line,
                column,
                message,
                help,
            } = problem;
            let message = format!("{}:{line}:{column}: {message}", error.file);
            let finding = Diagnostic::new(Code::SandboxUnusable, At::Nowhere, message);
            match help {
                Some(help) => finding.with_help(help),
                None => finding,
            }
        };
        Stop::with(error.problems.iter().map(finding).collect())
    })
}
