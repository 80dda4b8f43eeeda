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
    faults::{Decision, Fate, Faults, Request, Subject, allocation, effects, tags},
    gateway::{self, Desk, Headers},
    http::{Answer, Incoming},
    identity, prices,
    record::{Description, RequestKind, RequestLog, RequestRecord, describe},
    routes::{self, deployments},
    store::{entry::Work, world::World},
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
        let mut decision = self.decide(&incoming, &description);
        let unanswered = match &decision.fate {
            Some(Fate::Hang) => {
                self.until_stopped().await;
                true
            }
            Some(Fate::Slow { seconds }) => !self.pause(*seconds).await,
            Some(fate) => *fate == Fate::DropBefore,
            None => false,
        };
        if unanswered {
            self.log(&incoming, &description, None, &decision);
            return Reaction::Drop;
        }
        let answer = self.answer(&incoming, &description, &mut decision);
        if decision.fate == Some(Fate::DropAfterAcceptance) {
            self.log(&incoming, &description, None, &decision);
            return Reaction::Drop;
        }
        self.log(&incoming, &description, Some(answer.status), &decision);
        Reaction::Answer(answer)
    }

    /// Gives the sandbox other rules, or more of them.
    pub(crate) fn give(&self, state: &mut State, faults: Faults, more: bool) {
        let mut faults = faults;
        faults.start(self.clock.now(), self.setup.speed);
        if more {
            state.faults.extend(faults);
        } else {
            state.faults = faults;
        }
        state.world.remember(state.faults.memory());
    }

    /// Replaces the rules.
    pub(crate) fn set_faults(&self, faults: Faults) {
        self.give(&mut self.state(), faults, false);
    }

    /// Lets the rules decide on a request.
    fn decide(&self, incoming: &Incoming, description: &Description) -> Decision {
        let now = self.clock.now();
        let mut guard = self.state();
        let State { world, faults, .. } = &mut *guard;
        if faults.is_empty() {
            return Decision::default();
        }
        // What cannot be written now cannot be written when the request is served, which tells.
        let _ = advance(world, faults, &self.setup, now);
        let scope = tags::scope(incoming, description).map(|path| Incoming {
            path,
            ..incoming.clone()
        });
        let at_scope = scope.as_ref().map(describe);
        let subject = Subject::of(incoming, description);
        let tagged = scope.as_ref().zip(at_scope.as_ref());
        let decision = faults.decide(&Request {
            subject,
            tagged: tagged.map_or(subject, |(scope, description)| {
                Subject::of(scope, description)
            }),
            writes: description.kind == RequestKind::Write || scope.is_some(),
            now,
            speed: self.setup.speed,
            changed: &|path| world.last_change(path),
        });
        if decision.fate == Some(Fate::ExpireToken)
            && let Ok(token) = gateway::token(incoming)
        {
            faults.expire(token);
        }
        decision
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
        decision: &Decision,
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
            fault: (!decision.rules.is_empty()).then(|| decision.rules.join(", ")),
        });
    }

    fn answer(
        &self,
        incoming: &Incoming,
        description: &Description,
        decision: &mut Decision,
    ) -> Answer {
        match &decision.fate {
            Some(Fate::FailAtBegin {
                status,
                code,
                message,
                retry_after,
            }) => return self.refuse(*status, code, message, *retry_after),
            Some(Fate::Throttle { retry_after }) => {
                return self.refuse(
                    429,
                    "SubscriptionRequestsThrottled",
                    "Number of requests exceeded the limit. Please try again later.",
                    Some(*retry_after),
                );
            }
            Some(_) | None => {}
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
            | RequestKind::Admin => self.arm(incoming, description, decision),
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
        decision: &mut Decision,
    ) -> Answer {
        let mut guard = self.state();
        let state = &mut *guard;
        let mut headers = Headers::new();
        let mut answer = match self.served(state, incoming, description, decision, &mut headers) {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => gateway::refusal(error),
            Err(error) => unwritten(&error),
        };
        answer.headers.extend(headers);
        answer
    }

    fn served(
        &self,
        state: &mut State,
        incoming: &Incoming,
        description: &Description,
        decision: &mut Decision,
        headers: &mut Headers,
    ) -> io::Result<Result<Answer, ArmError>> {
        let now = self.clock.now();
        advance(&mut state.world, &mut state.faults, &self.setup, now)?;
        let polls = state.polled(description);
        let State {
            world,
            limits,
            faults,
            ..
        } = state;
        let failure = match &decision.fate {
            Some(Fate::FailInOperation(failure)) => Some(failure.clone()),
            Some(_) | None => None,
        };
        let ailment = match &decision.fate {
            Some(Fate::Guest(ailment)) => Some((**ailment).clone()),
            Some(_) | None => None,
        };
        let rewritten =
            tags::rewritten(world, incoming, &description.resource_type, &decision.tags);
        let incoming = rewritten.as_ref().unwrap_or(incoming);
        let admit = |world: &World, faults: &Faults| {
            let mut desk = Desk {
                world,
                limits: &mut *limits,
                faults,
                setup: &self.setup,
                now,
            };
            gateway::admit(&mut desk, incoming, (failure, ailment), polls, headers)
        };
        if let Some(point) = decision.point {
            return Ok(world.in_past(point, |world| {
                let admitted = admit(world, faults)?;
                routes::answer(world, &admitted)
            }));
        }
        let admitted = match admit(world, faults) {
            Ok(admitted) => admitted,
            Err(error) => return Ok(Err(error)),
        };
        let outcome = world.transact(now, |world| {
            let mark = world.mark();
            let mut answer = routes::answer(world, &admitted)?;
            let subject = Subject::of(incoming, description);
            allocation::check(world, faults, subject, mark, &mut decision.rules)?;
            tags::written(world, incoming, description, &decision.tags, &mut answer);
            Ok(answer)
        })?;
        if outcome.is_ok() {
            tags::schedule(
                faults,
                &self.setup,
                incoming,
                description,
                &decision.tags,
                now,
            );
        }
        world.compact(false)?;
        Ok(outcome)
    }
}

impl State {
    /// Counts a look at an operation; answers how many there were.
    fn polled(&mut self, description: &Description) -> u32 {
        if description.kind != RequestKind::Poll {
            return 0;
        }
        if self.polls.len() > POLLS_KEPT {
            self.polls.clear();
        }
        let count = self.polls.entry(description.name.clone()).or_default();
        *count += 1;
        *count
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

/// Lets everything happen whose time has come by now, in order and each in a record of its own:
/// operations end, running deployments begin new ones, and rules do what they do by themselves.
pub(crate) fn advance(
    world: &mut World,
    faults: &mut Faults,
    setup: &Setup,
    now: crate::clock::Instant,
) -> io::Result<()> {
    loop {
        let operation = world.next_due(now);
        let effect = faults.next_due().filter(|at| *at <= now);
        match (operation, effect) {
            (Some(operation), effect) if effect.is_none_or(|at| operation.ends <= at) => {
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
            (_, Some(at)) => {
                if let Some(effect) = faults.take_due(at) {
                    world
                        .transact(at, |world| -> Result<(), io::Error> {
                            effects::apply(world, &effect);
                            Ok(())
                        })
                        .and_then(|done| done)?;
                }
            }
            (_, None) => return Ok(()),
        }
    }
}
