//! A client and a sandbox in one process. Time is the runtime's own, which stands still while
//! anything can be done, and jumps to the next moment at which something can.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use azure::{ApplyInputs, Carried, Carrier, Client, CredentialChoice, Delivered, Interrupt, Lost};
use azure::{ReadScope, Settings, Sink, SinkError};
use emulator::{Embedded, Faults, Options, World};
use model::{
    live::Live,
    plan::{Event, Outcome, Plan},
    spec::{Orchestrator, Spec, Via},
    units::Timestamp,
};
use planner::Planned;
use serde_json::Value;
use tokio::{
    sync::{Notify, watch},
    time::Instant,
};

use super::plans::{SIZES, decide, of_these_tests, options};

/// The public key of every run: nobody has the private part.
pub(super) const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBqKZ1SKfVnXyBQwJdS6Wqv0cYzL8q1p3mXl5rY7Jd1E";

/// The longest wait for an answer, as over the network.
const ANSWER: Duration = Duration::from_secs(100);

/// Lets a future run to its end on a clock that jumps.
pub(super) fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.expect("a runtime").block_on(future)
}

/// The clock of the runtime.
#[derive(Debug)]
struct Jumping {
    begun: Instant,
}

#[async_trait]
impl azure::Clock for Jumping {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    async fn sleep(&self, span: Duration) {
        tokio::time::sleep(span).await;
    }
}

/// A request that went out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sent {
    pub(super) method: String,
    /// The path, without the query.
    pub(super) path: String,
    /// The body; `null` where there is none.
    pub(super) body: Value,
    /// `If-Match` or `If-None-Match`.
    pub(super) condition: Option<String>,
    /// Whether the answer tells how full the bucket is that the request came out of.
    pub(super) tells_its_bucket: bool,
    /// The status; `None` where no answer came.
    pub(super) status: Option<u16>,
    /// When, since the stage was set.
    pub(super) at: Duration,
}

/// Changes a request before it goes out.
pub(super) type OnTheWay = Box<dyn FnMut(&mut Carried) + Send>;

/// Changes the body of an answer.
pub(super) type OnTheWayBack = Box<dyn FnMut(&str, &mut Value) + Send>;

#[derive(Default)]
struct Tampering {
    out: Option<OnTheWay>,
    back: Option<OnTheWayBack>,
    sent: Vec<Sent>,
    /// Requests until the process that sends them dies, and whether the last one arrives.
    until_death: Option<(usize, bool)>,
}

/// Hands requests to the sandbox, whose clock follows the runtime's.
struct Hand {
    sandbox: Arc<Embedded>,
    clock: emulator::Clock,
    begun: (Instant, emulator::Instant),
    tampering: Arc<Mutex<Tampering>>,
    dead: Arc<Notify>,
}

impl Hand {
    fn follow_time(&self) {
        let (runtime, sandbox) = self.begun;
        let ahead = runtime
            .elapsed()
            .saturating_sub(self.clock.now().since(sandbox));
        if ahead > Duration::ZERO {
            self.clock.advance(ahead);
        }
    }

    async fn answer(&self, request: Carried) -> Option<emulator::Handed> {
        let Carried {
            method,
            url,
            headers,
            body,
        } = request;
        let answer = self.sandbox.hand(&method, &url, headers, body);
        tokio::pin!(answer);
        let ticking = async {
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                self.follow_time();
            }
        };
        tokio::select! {
            biased;
            answer = &mut answer => answer,
            () = ticking => None,
            () = tokio::time::sleep(ANSWER) => None,
        }
    }

    async fn die(&self) -> Lost {
        self.dead.notify_one();
        std::future::pending().await
    }
}

#[async_trait]
impl Carrier for Hand {
    async fn carry(&self, mut request: Carried) -> Result<Delivered, Lost> {
        self.follow_time();
        let at = self.begun.0.elapsed();
        let death = {
            let mut tampering = self.tampering.lock().expect("no thread panics");
            if let Some(change) = &mut tampering.out {
                change(&mut request);
            }
            tampering.until_death.as_mut().and_then(|(left, arrives)| {
                *left = left.saturating_sub(1);
                (*left == 0).then_some(*arrives)
            })
        };
        if death == Some(false) {
            return Err(self.die().await);
        }
        let path = path_of(&request.url);
        let (method, body) = (request.method.clone(), request.body.clone());
        let conditions = ["if-match", "if-none-match"];
        let condition = conditions
            .iter()
            .find_map(|name| request.headers.get(*name).cloned());
        let answer = self.answer(request).await;
        let mut sent = Sent {
            method,
            path,
            body: serde_json::from_slice(&body).unwrap_or_default(),
            condition,
            tells_its_bucket: answer.as_ref().is_some_and(tells_its_bucket),
            status: answer.as_ref().map(|answer| answer.status),
            at,
        };
        let mut answer = answer.ok_or(Lost);
        {
            let mut tampering = self.tampering.lock().expect("no thread panics");
            if let (Some(change), Ok(answer)) = (&mut tampering.back, &mut answer)
                && let Ok(mut body) = serde_json::from_slice(&answer.body)
            {
                change(&sent.path, &mut body);
                answer.body = body.to_string().into_bytes();
            }
            if sent.method == "GET" {
                sent.body = Value::Null;
            }
            tampering.sent.push(sent);
        }
        if death.is_some() {
            return Err(self.die().await);
        }
        let answer = answer?;
        Ok(Delivered {
            status: answer.status,
            headers: answer.headers,
            body: answer.body,
        })
    }
}

/// Whether an answer tells of a principal's own bucket.
fn tells_its_bucket(answer: &emulator::Handed) -> bool {
    let own = ["reads", "writes", "deletes"]
        .map(|kind| format!("x-ms-ratelimit-remaining-subscription-{kind}"));
    let mut headers = answer.headers.iter();
    // A refusal is no warning.
    answer.status < 400
        && headers.any(|(name, _)| own.iter().any(|own| own.eq_ignore_ascii_case(name)))
}

/// The path of an address, without host and query.
fn path_of(url: &str) -> String {
    let below = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = below.find('/').map_or("", |at| below.split_at(at).1);
    path.split('?').next().unwrap_or_default().to_owned()
}

/// Takes events and forgets them.
struct Nobody;

impl Sink for Nobody {
    fn emit(&self, _event: &Event) -> Result<(), SinkError> {
        Ok(())
    }
}

/// A sandbox and a client, and what happens between them.
pub(super) struct Stage {
    pub(super) sandbox: Arc<Embedded>,
    pub(super) client: Client,
    pub(super) parallelism: usize,
    tampering: Arc<Mutex<Tampering>>,
    dead: Arc<Notify>,
    carrier: Arc<Hand>,
}

impl Stage {
    /// An empty world.
    pub(super) async fn with(change: impl FnOnce(&mut Options)) -> Self {
        let clock = emulator::Clock::manual();
        let mut options = Options::new(World::in_memory(7), clock.clone());
        change(&mut options);
        let begun = (Instant::now(), clock.now());
        let sandbox = Arc::new(Embedded::new(options).expect("a sandbox"));
        let (tampering, dead) = (Arc::default(), Arc::default());
        let carrier = Arc::new(Hand {
            sandbox: Arc::clone(&sandbox),
            clock,
            begun,
            tampering: Arc::clone(&tampering),
            dead: Arc::clone(&dead),
        });
        let client = client(&carrier).await;
        Self {
            sandbox,
            client,
            parallelism: 128,
            tampering,
            dead,
            carrier,
        }
    }

    /// The same world, seen by another process.
    pub(super) async fn in_another_process(&self) -> Self {
        Self {
            sandbox: Arc::clone(&self.sandbox),
            client: self.another().await,
            parallelism: self.parallelism,
            tampering: Arc::clone(&self.tampering),
            dead: Arc::clone(&self.dead),
            carrier: Arc::clone(&self.carrier),
        }
    }

    /// Another process that works on the same world.
    pub(super) async fn another(&self) -> Client {
        client(&self.carrier).await
    }

    /// What is live of a stack.
    pub(super) async fn read(&self, spec: &Spec, destroy: bool) -> Result<Live, String> {
        let scope = ReadScope {
            stack: spec.name.clone(),
            resource_group: spec.resource_group.clone(),
            has_data_disks: spec.pools.values().any(|pool| !pool.disks.data.is_empty()),
            has_batch: spec
                .pools
                .values()
                .any(|pool| pool.orchestrator == Orchestrator::Batch),
            has_aks: spec
                .pools
                .values()
                .any(|pool| pool.orchestrator == Orchestrator::Aks),
            has_checkpoints: spec.pools.values().any(planner::makes_checkpoints),
            has_bastion: spec.access.via == Via::Bastion,
            pools: (!destroy).then(|| spec.pools.keys().cloned().collect()),
            whole_group: destroy,
            read_at: None,
        };
        let live = azure::read(&self.client, &scope).await;
        live.map_err(|error| format!("{error:?}"))
    }

    /// Plans as the command line does: reads, asks, decides. Which sizes there are is the same
    /// in all worlds here, and is asked once: it is the longest answer by far.
    pub(super) async fn plan(&self, spec: &Spec, destroy: bool) -> Result<Planned, String> {
        let mut live = self.read(spec, destroy).await?;
        if let Some(sizes) = SIZES.get() {
            live.facts.sizes.clone_from(sizes);
        }
        let options = options(destroy);
        for _ in 0..8 {
            let planned = decide(spec, &live, &options);
            let open: Vec<_> = planned
                .questions
                .iter()
                .filter(|question| !live.facts.has(question))
                .cloned()
                .collect();
            if open.is_empty() {
                return Ok(planned);
            }
            let answered = azure::answer(&self.client, &open, &mut live.facts).await;
            answered.map_err(|error| format!("{error:?}"))?;
            if live
                .facts
                .sizes
                .values()
                .any(|sizes| sizes.known().is_some())
            {
                SIZES.get_or_init(|| of_these_tests(&live.facts.sizes));
            }
        }
        Err("the planner asks without end".to_owned())
    }

    /// Applies a plan.
    pub(super) async fn apply(&self, plan: &Plan, nonce: &str) -> Outcome {
        self.apply_by(&self.client, plan, nonce).await
    }

    /// The same by another process.
    pub(super) async fn apply_by(&self, client: &Client, plan: &Plan, nonce: &str) -> Outcome {
        Self::apply_with(client, plan, nonce, self.parallelism).await
    }

    /// Applies a plan with a client.
    pub(super) async fn apply_with(
        client: &Client,
        plan: &Plan,
        nonce: &str,
        parallelism: usize,
    ) -> Outcome {
        let (_keep, interrupt) = watch::channel(Interrupt::No);
        let mut inputs = ApplyInputs::new(nonce, Timestamp::from_unix(1_785_542_400));
        inputs.generated_ssh_key = Some(KEY.to_owned());
        inputs
            .passwords
            .keep("NODE_PASSWORD", "Correct-Horse-7-Battery");
        for (tag, bootstrap) in &plan.bootstraps {
            for size in bootstrap.sizes.keys() {
                let text = planner::bootstrap::custom_data(bootstrap, size, None);
                inputs.custom_data.keep(tag, size, text.expect("no script"));
            }
        }
        inputs.parallelism = parallelism;
        azure::apply(client, plan, &inputs, &Nobody, interrupt).await
    }

    /// Lets the process die with the request after so many, which arrives or not; `None` where
    /// it ended before.
    pub(super) async fn apply_until_death(
        &self,
        plan: &Plan,
        nonce: &str,
        requests: usize,
        arrives: bool,
    ) -> Option<Outcome> {
        self.tampering().until_death = Some((requests.max(1), arrives));
        let outcome = tokio::select! {
            biased;
            () = self.dead.notified() => None,
            outcome = self.apply(plan, nonce) => Some(outcome),
        };
        self.tampering().until_death = None;
        outcome
    }

    fn tampering(&self) -> std::sync::MutexGuard<'_, Tampering> {
        self.tampering.lock().expect("no thread panics")
    }

    /// Changes requests from now on.
    pub(super) fn change_requests(&self, change: Option<OnTheWay>) {
        self.tampering().out = change;
    }

    /// Changes answers from now on.
    pub(super) fn change_answers(&self, change: Option<OnTheWayBack>) {
        self.tampering().back = change;
    }

    /// The requests since this was asked last.
    pub(super) fn take_sent(&self) -> Vec<Sent> {
        std::mem::take(&mut self.tampering().sent)
    }

    /// Replaces the rules of faults.
    pub(super) fn set_faults(&self, rules: &Value) {
        let faults = Faults::parse(&rules.to_string(), "faults.json").expect("rules");
        self.sandbox.set_faults(faults);
    }

    /// Lets time pass.
    pub(super) async fn wait(&self, span: Duration) {
        tokio::time::sleep(span).await;
        self.carrier.follow_time();
    }

    /// One request past the tool; the answer's status and body.
    pub(super) async fn raw(
        &self,
        method: &str,
        target: &str,
        body: Option<&Value>,
    ) -> (u16, Value) {
        self.carrier.follow_time();
        let headers = [
            ("authorization", "Bearer raw"),
            ("content-type", "application/json"),
        ];
        let headers: BTreeMap<String, String> = headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let body = body.map(Value::to_string).unwrap_or_default();
        let url = format!("http://sandbox{target}");
        let answer = self
            .sandbox
            .hand(method, &url, headers, body.into_bytes())
            .await;
        let answer = answer.expect("no fault is set");
        let body = serde_json::from_slice(&answer.body).unwrap_or_default();
        (answer.status, body)
    }

    /// All items of a list, whatever its pages.
    pub(super) async fn list(&self, target: &str) -> Vec<Value> {
        let mut items = Vec::new();
        let mut next = Some(target.to_owned());
        while let Some(target) = next {
            let (status, page) = self.raw("GET", &target, None).await;
            if status == 404 {
                break;
            }
            items.extend(page["value"].as_array().expect("a list").iter().cloned());
            let link = page["nextLink"].as_str();
            next = link.map(|link| link.replacen("http://sandbox", "", 1));
        }
        items
    }

    /// Every group and resource of the subscription, with their bodies in the list.
    pub(super) async fn everything(&self) -> Vec<Value> {
        let below = format!("/subscriptions/{}", emulator::SUBSCRIPTION);
        let mut all = self
            .list(&format!("{below}/resourcegroups?api-version=2021-04-01"))
            .await;
        all.extend(
            self.list(&format!("{below}/resources?api-version=2021-04-01"))
                .await,
        );
        all
    }
}

async fn client(carrier: &Arc<Hand>) -> Client {
    let begun = carrier.begun.0;
    connected(Arc::<Hand>::clone(carrier), begun).await
}

/// A client of another Azure than the sandbox.
pub(super) async fn client_over(carrier: impl Carrier + 'static) -> Client {
    connected(Arc::new(carrier), Instant::now()).await
}

async fn connected(carrier: Arc<dyn Carrier>, begun: Instant) -> Client {
    let mut settings = Settings::new(BTreeMap::new());
    settings.endpoint = Some("http://127.0.0.1:9".to_owned());
    settings.credential = CredentialChoice::Fixed("sandbox".to_owned());
    settings.subscription = Some(emulator::SUBSCRIPTION.to_owned());
    settings.clock = Arc::new(Jumping { begun });
    settings.carrier = Some(carrier);
    Client::connect(settings).await.expect("a client")
}
