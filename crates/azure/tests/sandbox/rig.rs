//! A sandbox and a client that share one clock, which moves when somebody waits on it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use emulator::{Faults, Options, Sandbox, World};
use model::{
    live::{Live, Mode},
    plan::{CatalogReference, Cost, Event, Outcome, Plan, Run, Scope, SpecReference, Step},
    units::{Region, Timestamp},
};
use tensorform_azure::{
    ApplyInputs, Client, Clock, CredentialChoice, Interrupt, ReadScope, Settings, Sink, SinkError,
    apply, read,
};
use tokio::sync::watch;

/// The sandbox's clock as the client's: who waits moves it, unless somebody else did already.
#[derive(Debug)]
struct Shared {
    clock: emulator::Clock,
    begun: emulator::Instant,
}

#[async_trait]
impl Clock for Shared {
    fn now(&self) -> Duration {
        self.clock.now().since(self.begun)
    }

    async fn sleep(&self, span: Duration) {
        let until = self.clock.now().plus(span);
        // Everybody who is ready goes first, so that waits side by side cost the longest of them.
        for _ in 0..8 {
            tokio::task::yield_now().await;
        }
        let left = until.since(self.clock.now());
        if left > Duration::ZERO {
            self.clock.advance(left);
        }
    }
}

/// Remembers events.
#[derive(Debug, Default)]
pub(crate) struct Events(Mutex<Vec<Event>>);

impl Events {
    pub(crate) fn all(&self) -> Vec<Event> {
        self.0.lock().expect("no thread panics").clone()
    }
}

impl Sink for Events {
    fn emit(&self, event: &Event) -> Result<(), SinkError> {
        self.0.lock().expect("no thread panics").push(event.clone());
        Ok(())
    }
}

/// A sandbox and its client.
pub(crate) struct Rig {
    pub(crate) sandbox: Sandbox,
    pub(crate) client: Client,
    pub(crate) clock: emulator::Clock,
    pub(crate) parallelism: usize,
}

impl Rig {
    /// An empty world.
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// An empty world in which these rules hold.
    pub(crate) async fn faulty(rules: &str) -> Self {
        let faults = Faults::parse(rules, "faults.yaml").expect("rules");
        Self::with(|options| options.faults = faults).await
    }

    /// An empty world with other options.
    pub(crate) async fn with(change: impl FnOnce(&mut Options)) -> Self {
        let clock = emulator::Clock::manual();
        let mut options = Options::new(World::in_memory(7), clock.clone());
        change(&mut options);
        let sandbox = Sandbox::start(options).await.expect("a sandbox");
        let mut settings = Settings::new(BTreeMap::new());
        settings.endpoint = Some(sandbox.endpoint().to_owned());
        settings.credential = CredentialChoice::Fixed("sandbox".to_owned());
        settings.subscription = Some(emulator::SUBSCRIPTION.to_owned());
        settings.clock = Arc::new(Shared {
            begun: clock.now(),
            clock: clock.clone(),
        });
        let client = Client::connect(settings).await.expect("a client");
        Self {
            sandbox,
            client,
            clock,
            parallelism: 128,
        }
    }

    /// What exists.
    pub(crate) async fn read(&self) -> Live {
        let scope = ReadScope {
            stack: "demo".to_owned(),
            resource_group: "rg-demo".to_owned(),
            has_data_disks: false,
            has_batch: false,
            has_aks: false,
            has_bastion: false,
            pools: None,
            has_checkpoints: false,
            whole_group: false,
            read_at: None,
        };
        read(&self.client, &scope).await.expect("a world")
    }

    /// Applies steps under a nonce.
    pub(crate) async fn apply(&self, nonce: &str, steps: Vec<Step>) -> Outcome {
        self.apply_to(nonce, steps, &Events::default()).await
    }

    /// The same, with a sink.
    pub(crate) async fn apply_to(&self, nonce: &str, steps: Vec<Step>, sink: &dyn Sink) -> Outcome {
        let (_, interrupt) = watch::channel(Interrupt::No);
        self.apply_until(nonce, steps, sink, interrupt).await
    }

    /// The same, with somebody who may interrupt.
    pub(crate) async fn apply_until(
        &self,
        nonce: &str,
        steps: Vec<Step>,
        sink: &dyn Sink,
        interrupt: watch::Receiver<Interrupt>,
    ) -> Outcome {
        let mut inputs = ApplyInputs::new(nonce, Timestamp::from_unix(1_785_542_400));
        inputs.generated_ssh_key = Some(super::stack::KEY.to_owned());
        inputs.parallelism = self.parallelism;
        apply(&self.client, &plan(steps), &inputs, sink, interrupt).await
    }
}

pub(crate) fn plan(steps: Vec<Step>) -> Plan {
    let counts = Plan::count(&steps);
    Plan {
        format_version: model::plan::FORMAT_VERSION.to_owned(),
        tensorform_version: "0".to_owned(),
        digest: String::new(),
        stack: "demo".to_owned(),
        created_at: Timestamp::from_unix(0),
        spec: SpecReference {
            digest: String::new(),
            path: "tensorform.yaml".to_owned(),
        },
        catalog: CatalogReference {
            digest: String::new(),
            prices_as_of: String::new(),
            skus_as_of: String::new(),
        },
        scope: Scope {
            cloud: "public".to_owned(),
            mode: Mode::Sandbox,
            subscription: Some(emulator::SUBSCRIPTION.to_owned()),
            location: Region::new("eastus"),
            resource_group: "rg-demo".to_owned(),
        },
        has_changes: true,
        complete: true,
        counts,
        pools: BTreeMap::new(),
        steps,
        bootstraps: std::collections::BTreeMap::new(),
        quota: Vec::new(),
        cost: Cost::default(),
        run: Run::default(),
        lifetime: None,
        targets: Vec::new(),
        orphans: false,
        diagnostics: Vec::new(),
    }
}
