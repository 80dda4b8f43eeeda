//! Performs a plan: asks the walk what may start, performs it, and tells the walk how it ended.
//!
//! It makes one attempt and may fail anywhere; planning and applying again goes on from there.

mod bootstrap;
mod capacity;
mod change;
mod create;
mod failure;
mod holders;
mod instances;
mod remove;
mod replace;
mod resize;
mod rounds;
mod step;
mod terms;
mod write;

use std::{
    collections::BTreeMap,
    fmt,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use futures::{StreamExt as _, stream::FuturesUnordered};
use model::{
    plan::{Action, Ending, Event, Failure, Outcome, Plan, Walk, WalkLimits},
    units::Timestamp,
};
use tokio::sync::{mpsc, watch};

pub use self::bootstrap::CustomData;
use self::{failure::Stopped, step::Performer};
use crate::{
    client::Client,
    error::{SinkError, chain},
};

/// Where events go: progress, the journal, JSON lines.
///
/// [`Event::Write`] comes before each write is sent. An error stops the run before that write.
pub trait Sink: Send + Sync {
    /// Takes an event.
    ///
    /// # Errors
    /// The event could not be recorded.
    fn emit(&self, event: &Event) -> Result<(), SinkError>;
}

/// What an apply needs beside the plan. All that differs between runs is here.
#[derive(Clone, Debug)]
pub struct ApplyInputs {
    /// The nonce that marks what this run makes.
    pub nonce: String,
    /// The time to be written on what this run makes.
    pub created_at: Timestamp,
    /// The public key to use where the plan says that it is known only after apply.
    pub generated_ssh_key: Option<String>,
    /// What new nodes run when they start first.
    pub custom_data: CustomData,
    /// Passwords by the name of the variable that the plan names.
    pub passwords: Passwords,
    /// The most steps under way at once.
    pub parallelism: usize,
    /// How long a step may take.
    pub step_deadline: Duration,
    /// How much faster than time the world's clock runs: the pauses before capacity is tried for
    /// again are spans of that clock. Azure's runs as time does.
    pub pace: f64,
}

/// Passwords, which nothing prints.
#[derive(Clone, Default)]
pub struct Passwords(BTreeMap<String, String>);

impl Passwords {
    /// Keeps the password that a variable holds.
    pub fn keep(&mut self, variable: &str, password: &str) {
        self.0.insert(variable.to_owned(), password.to_owned());
    }

    /// The password that a variable holds.
    fn of(&self, variable: &str) -> Option<&str> {
        self.0.get(variable).map(String::as_str)
    }
}

impl fmt::Debug for Passwords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl ApplyInputs {
    /// Inputs with the usual limits. A VM with extensions may take 90 minutes by Azure's own count.
    pub fn new(nonce: impl Into<String>, created_at: Timestamp) -> Self {
        Self {
            nonce: nonce.into(),
            created_at,
            generated_ssh_key: None,
            custom_data: CustomData::default(),
            passwords: Passwords::default(),
            parallelism: WalkLimits::default().parallelism,
            step_deadline: Duration::from_secs(90 * 60),
            pace: 1.0,
        }
    }
}

/// Whether somebody wants the run to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interrupt {
    /// Nobody does.
    #[default]
    No,
    /// Start nothing new, and let what is under way finish.
    Graceful,
    /// Leave at once.
    Now,
}

/// What all steps of a run share.
struct Run<'a> {
    client: &'a Client,
    plan: &'a Plan,
    inputs: &'a ApplyInputs,
    sink: &'a dyn Sink,
    shared: &'a Shared,
    /// Whether only what this run has made may be deleted.
    only_own: bool,
}

/// What all walks of a run share.
#[derive(Default)]
struct Shared {
    /// Set once an event could not be recorded: nothing is written any more.
    broken: AtomicBool,
    writes: AtomicU64,
}

impl Run<'_> {
    /// Hands an event to the sink. Once that fails, nothing is written any more; whoever owns the
    /// sink knows why.
    fn emit(&self, event: &Event) -> Result<(), SinkError> {
        let result = self.sink.emit(event);
        if result.is_err() {
            self.shared.broken.store(true, Ordering::Relaxed);
        }
        result
    }

    /// The same where there is nothing to be held back.
    fn tell(&self, event: &Event) {
        if let Err(error) = self.emit(event) {
            tracing::debug!(error = %chain(&error), "the run stops");
        }
    }

    fn is_broken(&self) -> bool {
        self.shared.broken.load(Ordering::Relaxed)
    }
}

/// Performs the steps of a plan; pools without capacity in the other ways that the plan records.
pub async fn apply(
    client: &Client,
    plan: &Plan,
    inputs: &ApplyInputs,
    sink: &dyn Sink,
    mut interrupt: watch::Receiver<Interrupt>,
) -> Outcome {
    let shared = Shared::default();
    let run = Run {
        client,
        plan,
        inputs,
        sink,
        shared: &shared,
        only_own: false,
    };
    run.tell(&Event::RunStarted {
        stack: plan.stack.clone(),
        nonce: inputs.nonce.clone(),
        changes: plan.changes().count(),
    });
    let mut outcome = walk(&run, &mut interrupt).await;
    rounds::go_on(&run, &mut outcome, &mut interrupt).await;
    outcome.writes = shared.writes.load(Ordering::Relaxed);
    finish(&run, &outcome);
    outcome
}

/// Performs the steps of the run's plan once.
async fn walk(run: &Run<'_>, interrupt: &mut watch::Receiver<Interrupt>) -> Outcome {
    let limits = WalkLimits {
        parallelism: run.inputs.parallelism,
    };
    match Walk::new(&run.plan.steps, limits) {
        Ok(walk) => {
            let mut driver = Driver {
                run,
                walk,
                under_way: BTreeMap::new(),
                interrupted: false,
            };
            driver.drive(interrupt).await;
            driver.outcome()
        }
        Err(cycle) => refused(run.plan, &failure::ours("PlanUnsound", cycle.to_string())),
    }
}

/// Feeds the walk.
struct Driver<'a> {
    run: &'a Run<'a>,
    walk: Walk,
    /// Started steps that have not ended, and whether Azure accepted their first write.
    under_way: BTreeMap<usize, bool>,
    interrupted: bool,
}

/// What the driver waits for.
enum Turn {
    Accepted(usize),
    Ended(usize, Result<(), Stopped>),
    Interrupt,
}

impl Driver<'_> {
    async fn drive(&mut self, interrupt: &mut watch::Receiver<Interrupt>) {
        let run = self.run;
        let (accept, mut accepted) = mpsc::unbounded_channel();
        let mut steps = FuturesUnordered::new();
        let mut watching = true;
        if self.heed(*interrupt.borrow_and_update()) {
            return;
        }
        loop {
            if run.is_broken() {
                self.walk.interrupt();
            }
            // Before new steps start: they begin when they are first polled, which is below.
            if interrupt.has_changed().unwrap_or(false) && self.heed(*interrupt.borrow_and_update())
            {
                return;
            }
            for index in self.walk.ready() {
                let Some(step) = run.plan.steps.get(index) else {
                    continue;
                };
                self.under_way.insert(index, false);
                let performer = Performer::new(run, step, index, accept.clone());
                steps.push(async move { (index, performer.perform().await) });
            }
            if self.walk.is_over() {
                return;
            }
            let turn = tokio::select! {
                biased;
                Some(index) = accepted.recv() => Turn::Accepted(index),
                Some((index, result)) = steps.next() => Turn::Ended(index, result),
                changed = interrupt.changed(), if watching => {
                    watching = changed.is_ok();
                    Turn::Interrupt
                }
            };
            match turn {
                Turn::Accepted(index) => self.accept(index),
                Turn::Ended(index, result) => {
                    // An end that is seen before its acceptance would look like a refusal.
                    while let Ok(index) = accepted.try_recv() {
                        self.accept(index);
                    }
                    self.under_way.remove(&index);
                    self.walk
                        .finished(index, result.map_err(|failure| *failure));
                }
                Turn::Interrupt => {
                    if self.heed(*interrupt.borrow_and_update()) {
                        return;
                    }
                }
            }
        }
    }

    /// Does what somebody asks; tells whether to leave at once.
    fn heed(&mut self, interrupt: Interrupt) -> bool {
        if interrupt == Interrupt::No {
            return false;
        }
        if !self.interrupted {
            self.interrupted = true;
            self.walk.interrupt();
            self.run.tell(&Event::Interrupted);
        }
        interrupt == Interrupt::Now
    }

    fn accept(&mut self, index: usize) {
        if let Some(accepted) = self.under_way.get_mut(&index) {
            *accepted = true;
            self.walk.accepted(index);
        }
    }

    fn outcome(&self) -> Outcome {
        let mut outcome = self.walk.outcome();
        outcome.interrupted = self.interrupted;
        let writing = self.run.plan.steps.iter().enumerate();
        let writing = writing.filter(|(_, step)| step.action.writes());
        for ((index, _), (_, _, ending)) in writing.zip(&mut outcome.steps) {
            // The walk calls a step that has no end yet "not started".
            if let Some(accepted) = self.under_way.get(&index) {
                *ending = Ending::Failed(*failure::left_alone(*accepted));
            }
        }
        outcome
    }
}

/// An outcome in which nothing was done.
fn refused(plan: &Plan, failure: &Failure) -> Outcome {
    let ending = Ending::Failed(failure.clone());
    Outcome {
        steps: plan
            .changes()
            .map(|step| (step.address.clone(), step.action, ending.clone()))
            .collect(),
        ..Outcome::default()
    }
}

/// Tells of steps that did not start, and of the end.
fn finish(run: &Run<'_>, outcome: &Outcome) {
    let count = |of: fn(&Ending) -> bool| {
        let endings = outcome.steps.iter();
        endings.filter(|(_, _, ending)| of(ending)).count()
    };
    for (address, action, ending) in &outcome.steps {
        if matches!(ending, Ending::Skipped { .. } | Ending::NotStarted) {
            tell_end(run, address, *action, ending, 0.0);
        }
    }
    run.tell(&Event::RunFinished {
        done: count(|ending| *ending == Ending::Done),
        failed: count(|ending| matches!(ending, Ending::Failed(_))),
        not_started: count(|ending| matches!(ending, Ending::Skipped { .. } | Ending::NotStarted)),
    });
}

fn tell_end(
    run: &Run<'_>,
    address: &model::address::Address,
    action: Action,
    ending: &Ending,
    seconds: f64,
) {
    run.tell(&Event::StepFinished {
        address: address.clone(),
        action,
        ending: ending.clone(),
        seconds,
    });
}

#[cfg(test)]
mod tests;
