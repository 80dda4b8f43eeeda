//! Starting and stopping a sandbox.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use crate::{
    call::{Pace, Pages, Setup},
    clock::Clock,
    exchange::Recording,
    faults::Faults,
    record::{Counters, RequestRecord},
    server,
    service::{Service, advance},
    store::{folder::OpenError, world::World},
    throttle::Limits,
    tls::Tls,
};

/// What a sandbox is started with.
#[derive(Debug)]
pub struct Options {
    /// The world it serves.
    pub world: World,
    /// Where it takes the time from.
    pub clock: Clock,
    /// Which requests go wrong.
    pub faults: Faults,
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// With what it also speaks TLS on that port.
    pub tls: Option<Tls>,
    /// Where it writes whole exchanges to.
    pub recording: Option<Recording>,
    /// How long pages of lists are.
    pub pages: Pages,
    /// How long operations take; as recorded unless this says.
    pub pace: Option<Pace>,
    /// Whether request buckets can run out.
    pub throttling: bool,
    /// Whether some answers differ in the case of ids and in headers as recorded ones do.
    pub quirks: bool,
}

impl Options {
    /// The usual options: a free port, Azure's page lengths, buckets and quirks, no faults.
    pub fn new(world: World, clock: Clock) -> Self {
        Self {
            world,
            clock,
            faults: Faults::none(),
            port: 0,
            tls: None,
            recording: None,
            pages: Pages::default(),
            pace: None,
            throttling: true,
            quirks: true,
        }
    }
}

/// Why a sandbox cannot start or stop cleanly.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The port is not to be had.
    #[error("cannot listen on `{address}`")]
    Listen {
        /// Where it was to listen.
        address: SocketAddr,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The world folder cannot be written.
    #[error("cannot write the world")]
    World(#[source] io::Error),
    /// Not all exchanges were written.
    #[error("cannot write the recording, which ends before the sandbox did")]
    Recording(#[source] io::Error),
    /// The endpoint cannot be announced.
    #[error("cannot announce the endpoint")]
    Announce(#[source] OpenError),
}

/// Takes a port of 127.0.0.1.
async fn listen(port: u16) -> Result<(TcpListener, SocketAddr), SandboxError> {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let listening = async {
        let listener = TcpListener::bind(address).await?;
        let bound = listener.local_addr()?;
        Ok((listener, bound))
    };
    listening
        .await
        .map_err(|source| SandboxError::Listen { address, source })
}

/// A sandbox that nobody listens for yet.
pub(crate) struct Begun {
    pub(crate) service: Arc<Service>,
    tls: Option<Tls>,
}

/// Begins a sandbox: what ended while nobody served is ended.
pub(crate) fn begin(
    options: Options,
    stopping: watch::Receiver<bool>,
) -> Result<Begun, SandboxError> {
    let Options {
        mut world,
        clock,
        mut faults,
        port: _,
        tls,
        recording,
        pages,
        pace,
        throttling,
        quirks,
    } = options;
    let now = clock.now();
    let facts = world.facts();
    let setup = Setup {
        speed: clock.speed(),
        seed: facts.seed,
        tenant: facts.tenant,
        quirks,
        pages,
        pace,
    };
    faults.start(now, setup.speed);
    world.remember(faults.memory());
    advance(&mut world, &mut faults, &setup, now)
        .and_then(|()| world.adopt_speed(now, clock.speed()))
        .map_err(SandboxError::World)?;
    let limits = if throttling {
        Limits::default()
    } else {
        Limits::unlimited()
    };
    let service = Service::new(world, faults, limits, clock, setup, recording, stopping);
    Ok(Begun {
        service: Arc::new(service),
        tls,
    })
}

/// A running sandbox.
#[derive(Debug)]
pub struct Sandbox {
    endpoint: String,
    service: Arc<Service>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Sandbox {
    /// Starts to serve. Operations that ended while nobody served are ended first.
    pub async fn start(options: Options) -> Result<Self, SandboxError> {
        let (listener, bound) = listen(options.port).await?;
        let endpoint = format!("http://{bound}");
        let (stop, stopping) = watch::channel(false);
        let begun = begin(options, stopping.clone())?;
        if let Some(folder) = begun.service.state().world.folder() {
            folder.announce(&endpoint).map_err(SandboxError::Announce)?;
        }
        let task = tokio::spawn(server::serve(
            listener,
            Arc::clone(&begun.service),
            begun.tls.map(|tls| tls.acceptor),
            stopping,
        ));
        Ok(Self {
            endpoint,
            service: begun.service,
            stop,
            task,
        })
    }

    /// Where it listens, such as `http://127.0.0.1:40123`.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// The requests it served, oldest first.
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.service.state().log.records().cloned().collect()
    }

    /// Counts of the requests it served.
    pub fn counters(&self) -> Counters {
        self.service.state().log.counters().clone()
    }

    /// Replaces the fault rules; their counts start over.
    pub fn set_faults(&self, faults: Faults) {
        self.service.set_faults(faults);
    }

    /// Moves a manual clock on; answers whether it is one.
    pub fn advance(&self, span: Duration) -> bool {
        self.service.clock.advance(span)
    }

    /// Lets running requests finish, writes a snapshot, and frees the world folder.
    pub async fn stop(self) -> Result<(), SandboxError> {
        let Self {
            service,
            stop,
            task,
            ..
        } = self;
        // Nobody listens any more if the task has ended by itself, which is the aim.
        let _ = stop.send(true);
        let _ = task.await;
        let mut state = service.state();
        state.world.compact(true).map_err(SandboxError::World)?;
        if let Some(folder) = state.world.folder() {
            folder.withdraw().map_err(SandboxError::Announce)?;
        }
        drop(state);
        let ended = service.recording.as_ref().map_or(Ok(()), Recording::end);
        ended.map_err(SandboxError::Recording)
    }
}
