//! A client, its server and a server that it has no business with, for properties: made once, as
//! a client costs more than all the requests of a case.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use proptest::{
    strategy::Strategy,
    test_runner::{Config, TestRunner},
};
use tokio::runtime::{Builder, Runtime};

use super::{Act, Server};
use crate::{Client, Settings};

/// Cases of a property at the wire.
const CASES: u32 = 50;

/// What a property needs.
pub(crate) struct Stage {
    runtime: Runtime,
    /// The endpoint of the client.
    pub(crate) server: Server,
    /// Somebody else.
    pub(crate) elsewhere: Server,
    /// The client.
    pub(crate) client: Client,
    script: Arc<Mutex<Vec<Act>>>,
    next: Arc<AtomicUsize>,
}

impl Stage {
    /// Servers, and a client with changed settings.
    pub(crate) fn new(change: impl FnOnce(&mut Settings)) -> Self {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let script: Arc<Mutex<Vec<Act>>> = Arc::default();
        let next: Arc<AtomicUsize> = Arc::default();
        let (acts, at) = (Arc::clone(&script), Arc::clone(&next));
        let (server, elsewhere, client) = runtime.block_on(async move {
            let server = Server::start(move |_| {
                let acts = acts.lock().expect("no thread panics");
                acts[at.fetch_add(1, Ordering::SeqCst) % acts.len()].clone()
            })
            .await;
            let elsewhere = Server::script(vec![Act::empty(200)]).await;
            let (client, _) = server.client_with(change).await;
            (server, elsewhere, client)
        });
        Self {
            runtime,
            server,
            elsewhere,
            client,
            script,
            next,
        }
    }

    /// The server answers with these in turn, over and over.
    pub(crate) fn answers(&self, acts: Vec<Act>) {
        *self.script.lock().expect("no thread panics") = acts;
        self.next.store(0, Ordering::SeqCst);
    }

    /// Runs to its end what talks to the servers.
    pub(crate) fn wait_for<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Host and port of somebody else.
    pub(crate) fn host_elsewhere(&self) -> String {
        self.elsewhere.url().replace("http://", "")
    }

    /// Checks a property; what does not hold panics.
    pub(crate) fn holds<S: Strategy>(&self, cases: &S, property: &impl AsyncFn(&Self, S::Value)) {
        let mut runner = TestRunner::new(Config {
            cases: CASES,
            ..Config::default()
        });
        let checked = runner.run(cases, |case| {
            self.runtime.block_on(property(self, case));
            Ok(())
        });
        if let Err(failure) = checked {
            panic!("{failure}");
        }
    }
}
