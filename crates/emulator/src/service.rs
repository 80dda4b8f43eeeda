//! The sandbox behind its wire: one request at a time over one world.

use std::{
    collections::BTreeMap,
    io,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::watch;

use crate::{
    admin,
    call::Setup,
    clock::Clock,
    error::ArmError,
    exchange::Recording,
    faults::{Action, Faults, Subject},
    gateway::{self, Desk, Headers},
    http::{Answer, Incoming},
    identity, prices,
    record::{Description, RequestKind, RequestLog, RequestRecord, describe},
    routes::{self, deployments},
    store::{
        entry::{Failure, Work},
        world::World,
    },
    throttle::Limits,
    work,
};

/// Everything that changes.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) world: World,
    pub(crate) limits: Limits,
    pub(crate) faults: Faults,
    pub(crate) log: RequestLog,
    /// How often each operation was polled.
    polls: BTreeMap<String, u32>,
}

/// Poll counts are forgotten when there are more than this.
const POLLS_KEPT: usize = 50_000;

/// A running sandbox, without the sockets.
#[derive(Debug)]
pub(crate) struct Service {
    state: Mutex<State>,
    pub(crate) clock: Clock,
    pub(crate) setup: Setup,
    /// Where whole exchanges are written to.
    pub(crate) recording: Option<Recording>,
    /// Says when the sandbox stops.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// What happens to a request.
#[derive(Debug)]
pub(crate) enum Reaction {
    Answer(Answer),
    /// The connection is closed without an answer.
    Drop,
}

impl Service {
    pub(crate) fn new(
        world: World,
        faults: Faults,
        limits: Limits,
        clock: Clock,
        setup: Setup,
        recording: Option<Recording>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        Self {
            state: Mutex::new(State {
                world,
                limits,
                faults,
                log: RequestLog::default(),
                polls: BTreeMap::new(),
            }),
            clock,
            setup,
            recording,
            stopping,
        }
    }

    /// The state. What a request did that panicked is undone, so that it stays usable.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| {
            let mut state = PoisonError::into_inner(poisoned);
            state.world.roll_back();
            self.state.clear_poison();
            state
        })
    }

    /// Serves a request.
    pub(crate) async fn react(&self, incoming: Incoming) -> Reaction {
        let description = describe(&incoming);
        if description.kind == RequestKind::Admin {
            return Reaction::Answer(admin::answer(self, &incoming));
        }
        let decided = self.state().faults.decide(Subject {
            method: incoming.method,
            kind: &description.resource_type,
            path: &incoming.path,
            name: &description.name,
        });
        let (rule, action) = decided.unzip();
        let unanswered = match &action {
            Some(Action::Hang) => {
                self.until_stopped().await;
                true
            }
            Some(Action::Slow { seconds }) => !self.pause(*seconds).await,
            Some(Action::DropBefore) => true,
            Some(
                Action::FailAtBegin { .. }
                | Action::FailInOperation(_)
                | Action::Throttle { .. }
                | Action::DropAfterAcceptance,
            )
            | None => false,
        };
        if unanswered {
            self.log(&incoming, &description, None, rule);
            return Reaction::Drop;
        }
        let answer = self.answer(&incoming, &description, action.as_ref());
        if action == Some(Action::DropAfterAcceptance) {
            self.log(&incoming, &description, None, rule);
            return Reaction::Drop;
        }
        self.log(&incoming, &description, Some(answer.status), rule);
        Reaction::Answer(answer)
    }

    async fn until_stopped(&self) {
        let mut stopping = self.stopping.clone();
        // An error means that the sandbox is gone, which ends the wait as well.
        let _ = stopping.wait_for(|stop| *stop).await;
    }

    /// Waits so many seconds of Azure's time; answers whether they passed before the sandbox stopped.
    async fn pause(&self, seconds: u64) -> bool {
        let until = self
            .clock
            .now()
            .plus(self.setup.speed.shrink(Duration::from_secs(seconds)));
        tokio::select! {
            () = self.clock.wait_until(until) => true,
            () = self.until_stopped() => false,
        }
    }

    fn log(
        &self,
        incoming: &Incoming,
        description: &Description,
        status: Option<u16>,
        fault: Option<String>,
    ) {
        let query: Vec<String> = incoming
            .query
            .pairs()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        let path = if query.is_empty() {
            incoming.path.clone()
        } else {
            format!("{}?{}", incoming.path, query.join("&"))
        };
        self.state().log.add(RequestRecord {
            number: 0,
            at: self.clock.now(),
            method: incoming.method,
            path,
            kind: description.kind,
            resource_type: description.resource_type.clone(),
            status,
            client_request_id: incoming.header("x-ms-client-request-id").map(str::to_owned),
            fault,
        });
    }

    fn answer(
        &self,
        incoming: &Incoming,
        description: &Description,
        action: Option<&Action>,
    ) -> Answer {
        match action {
            Some(Action::FailAtBegin {
                status,
                code,
                message,
                retry_after,
            }) => return self.refuse(*status, code, message, *retry_after),
            Some(Action::Throttle { retry_after }) => {
                return self.refuse(
                    429,
                    "SubscriptionRequestsThrottled",
                    "Number of requests exceeded the limit. Please try again later.",
                    Some(*retry_after),
                );
            }
            Some(
                Action::FailInOperation(_)
                | Action::DropBefore
                | Action::DropAfterAcceptance
                | Action::Hang
                | Action::Slow { .. },
            )
            | None => {}
        }
        let now = self.clock.now();
        match description.kind {
            RequestKind::Token => identity::answer(incoming, &self.setup, now),
            RequestKind::Prices => prices::answer(incoming, &self.setup),
            RequestKind::Read
            | RequestKind::List
            | RequestKind::Write
            | RequestKind::Delete
            | RequestKind::Action
            | RequestKind::Poll
            | RequestKind::Admin => {
                let failure = match action {
                    Some(Action::FailInOperation(failure)) => Some(failure.clone()),
                    Some(_) | None => None,
                };
                self.arm(incoming, description, failure)
            }
        }
    }

    fn refuse(&self, status: u16, code: &str, message: &str, retry_after: Option<u64>) -> Answer {
        let mut error = ArmError::new(status, code, message);
        if code == "ExpiredAuthenticationToken" {
            error = gateway::expired(self.clock.now());
        }
        if let Some(seconds) = retry_after {
            let seconds = self.setup.speed.retry_after(seconds);
            error = error.with_header("Retry-After", seconds.to_string());
        }
        gateway::refusal(error)
    }

    fn arm(
        &self,
        incoming: &Incoming,
        description: &Description,
        failure: Option<Failure>,
    ) -> Answer {
        let mut guard = self.state();
        let state = &mut *guard;
        let mut headers = Headers::new();
        let answer = match self.served(state, incoming, description, failure, &mut headers) {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => gateway::refusal(error),
            Err(error) => unwritten(&error),
        };
        let mut answer = answer;
        answer.headers.extend(headers);
        answer
    }

    fn served(
        &self,
        state: &mut State,
        incoming: &Incoming,
        description: &Description,
        failure: Option<Failure>,
        headers: &mut Headers,
    ) -> io::Result<Result<Answer, ArmError>> {
        let now = self.clock.now();
        advance(&mut state.world, &mut state.faults, &self.setup, now)?;
        let polls = if description.kind == RequestKind::Poll {
            if state.polls.len() > POLLS_KEPT {
                state.polls.clear();
            }
            let count = state.polls.entry(description.name.clone()).or_default();
            *count += 1;
            *count
        } else {
            0
        };
        let mut desk = Desk {
            world: &state.world,
            limits: &mut state.limits,
            faults: &state.faults,
            setup: &self.setup,
            now,
        };
        let admitted = match gateway::admit(&mut desk, incoming, failure, polls, headers) {
            Ok(admitted) => admitted,
            Err(error) => return Ok(Err(error)),
        };
        let outcome = state
            .world
            .transact(now, |world| routes::answer(world, &admitted))?;
        state.world.compact(false)?;
        Ok(outcome)
    }
}

fn unwritten(error: &io::Error) -> Answer {
    ArmError::new(
        500,
        "SandboxNotWritten",
        format!("The sandbox could not write its world, and nothing was changed: {error}."),
    )
    .into()
}

/// Ends all operations whose time has come by now, each in a record of its own; running
/// deployments begin new ones on the way.
pub(crate) fn advance(
    world: &mut World,
    faults: &mut Faults,
    setup: &Setup,
    now: crate::clock::Instant,
) -> io::Result<()> {
    while let Some(operation) = world.next_due(now) {
        let ends = operation.ends;
        world
            .transact(ends, |world| -> Result<(), io::Error> {
                if operation.work == Work::Deploy {
                    deployments::go_on(world, faults, setup, operation);
                } else {
                    work::finish(world, operation);
                }
                Ok(())
            })
            .and_then(|done| done)?;
    }
    Ok(())
}
