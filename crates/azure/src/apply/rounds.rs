//! Goes on with pools that did not get their nodes: what is left of one try is removed, and all
//! of the pool is made in the next way that the plan records, or the same way later.

use std::{collections::BTreeMap, time::Duration};

use model::{
    address::Address,
    plan::{Action, Ending, Event, Fingerprint, Operation, Outcome, Plan, Step},
};
use tokio::sync::watch;

use super::{
    Interrupt, Run,
    capacity::{self, Attempt, Ended, Next},
    failure, walk,
};

/// Tries until every pool has its nodes or nothing more is to be tried.
pub(super) async fn go_on(
    run: &Run<'_>,
    outcome: &mut Outcome,
    interrupt: &mut watch::Receiver<Interrupt>,
) {
    let mut attempts: BTreeMap<String, Attempt> = BTreeMap::new();
    for pool in run.plan.pools.keys() {
        let attempt = attempts.entry(pool.clone()).or_default();
        while !outcome.interrupted && !run.is_broken() {
            let now = run.client.clock().now().mul_f64(run.inputs.pace);
            let ended = ended(run.plan, pool, outcome);
            let before = attempt.taken;
            let Some((next, because)) = capacity::next(run.plan, pool, &ended, attempt, now) else {
                break;
            };
            let round = Round {
                run,
                pool,
                from: before,
                to: attempt.taken,
            };
            if !round.perform(next, because, outcome, interrupt).await {
                // What cannot be removed would stand in the way of every other try.
                attempt.taken = before;
                attempt.over = true;
            }
            if attempt.over {
                break;
            }
        }
    }
    let taken = attempts
        .into_iter()
        .filter_map(|(pool, attempt)| Some((pool, attempt.taken?)));
    outcome.taken = taken.collect();
}

/// Steps that make something of a pool, with how they ended.
fn ended<'a>(plan: &'a Plan, pool: &str, outcome: &'a Outcome) -> Vec<Ended<'a>> {
    let endings: BTreeMap<&Address, &Ending> = outcome
        .steps
        .iter()
        .map(|(address, _, ending)| (address, ending))
        .collect();
    plan.changes()
        .filter(|step| step.address.pool_name() == Some(pool))
        .filter_map(|step| Some((step, *endings.get(&step.address)?)))
        .collect()
}

/// One more try of a pool.
struct Round<'a> {
    run: &'a Run<'a>,
    pool: &'a str,
    /// The way that was tried.
    from: Option<usize>,
    /// The way that is tried next.
    to: Option<usize>,
}

impl Round<'_> {
    /// Whether the way was free for it.
    async fn perform(
        &self,
        next: Next,
        because: String,
        outcome: &mut Outcome,
        interrupt: &mut watch::Receiver<Interrupt>,
    ) -> bool {
        let pool = self.pool.to_owned();
        let (goes, pause) = match next {
            Next::Keep => return true,
            Next::Alternate(number) => {
                let to = self.run.plan.alternate_label(self.pool, number);
                let to = to.unwrap_or_default().to_owned();
                self.run.tell(&Event::Moved { pool, to, because });
                (self.moving(outcome), None)
            }
            Next::Remove => (self.all(outcome), None),
            Next::Restart(pause) => (self.of_other_way(outcome), Some((pause, pool, because))),
            Next::Again(pause) => (self.unfinished(outcome), Some((pause, pool, because))),
        };
        // What is left is removed before the pause: nobody pays for what cannot be used.
        if !self.remove(&goes, outcome, interrupt).await {
            return false;
        }
        if next == Next::Remove {
            return true;
        }
        if let Some((pause, pool, because)) = pause {
            let seconds = pause.as_secs();
            let paused = Event::Paused {
                pool,
                seconds,
                because,
            };
            self.run.tell(&paused);
            if !self.wait(pause, interrupt).await {
                self.run.tell(&Event::Interrupted);
                outcome.interrupted = true;
                return true;
            }
        }
        self.make(outcome, interrupt).await;
        true
    }

    fn steps<'o>(&'o self, outcome: &'o Outcome) -> impl Iterator<Item = Ended<'o>> {
        ended(self.run.plan, self.pool, outcome)
            .into_iter()
            .filter(|(step, _)| step.action == Action::Create)
    }

    /// Everything that was begun.
    fn all(&self, outcome: &Outcome) -> Vec<Step> {
        self.steps(outcome)
            .filter(|(_, ending)| is_begun(ending))
            .map(|(step, _)| step.clone())
            .collect()
    }

    /// Whether a step is made otherwise in the next way.
    fn differs(&self, step: &Step) -> bool {
        step.clone().taking(self.from).after != step.clone().taking(self.to).after
    }

    /// What did not become anything, and what is made otherwise in the next way: a node in a
    /// zone that stays is not made again.
    fn moving(&self, outcome: &Outcome) -> Vec<Step> {
        let begun = self.steps(outcome).filter(|(_, ending)| is_begun(ending));
        begun
            .filter(|(step, ending)| match ending {
                Ending::Done => self.differs(step),
                Ending::Failed(_) | Ending::Skipped { .. } | Ending::NotStarted => {
                    capacity::is_node(step) || self.differs(step)
                }
            })
            .map(|(step, _)| step.clone())
            .collect()
    }

    /// Nodes, and what is made otherwise in the next way.
    fn of_other_way(&self, outcome: &Outcome) -> Vec<Step> {
        let mut all = self.all(outcome);
        all.retain(|step| capacity::is_node(step) || self.differs(step));
        all
    }

    /// What was begun and did not become anything.
    fn unfinished(&self, outcome: &Outcome) -> Vec<Step> {
        self.steps(outcome)
            .filter(|(_, ending)| matches!(ending, Ending::Failed(_)))
            .map(|(step, _)| step.clone())
            .collect()
    }

    /// Removes what this run has made of these; whether all is gone.
    async fn remove(
        &self,
        goes: &[Step],
        outcome: &mut Outcome,
        interrupt: &mut watch::Receiver<Interrupt>,
    ) -> bool {
        let deletions = goes.iter().map(|step| deletion(step, goes)).collect();
        let removed = self.walk(deletions, interrupt).await;
        outcome.interrupted |= removed.interrupted;
        for (address, _, ending) in &removed.steps {
            if *ending == Ending::Done {
                mark_removed(outcome, address);
            }
        }
        removed.reached() && !removed.interrupted
    }

    /// Makes what is missing, in the next way.
    async fn make(&self, outcome: &mut Outcome, interrupt: &mut watch::Receiver<Interrupt>) {
        let missing: Vec<Step> = self
            .steps(outcome)
            .filter(|(_, ending)| **ending != Ending::Done)
            .map(|(step, _)| step.clone().taking(self.to))
            .collect();
        let there: Vec<Address> = missing.iter().map(|step| step.address.clone()).collect();
        let creations = missing.into_iter().map(|mut step| {
            step.needs.retain(|need| there.contains(need));
            step
        });
        let made = self.walk(creations.collect(), interrupt).await;
        outcome.interrupted |= made.interrupted;
        for (address, _, ending) in made.steps {
            set(outcome, &address, ending);
        }
    }

    async fn walk(&self, steps: Vec<Step>, interrupt: &mut watch::Receiver<Interrupt>) -> Outcome {
        let plan = Plan {
            steps,
            pools: BTreeMap::new(),
            ..self.run.plan.clone()
        };
        let run = Run {
            plan: &plan,
            only_own: true,
            ..*self.run
        };
        walk(&run, interrupt).await
    }

    /// Waits; whether nobody interrupted.
    async fn wait(&self, pause: Duration, interrupt: &mut watch::Receiver<Interrupt>) -> bool {
        let interrupted = async {
            if interrupt
                .wait_for(|interrupt| *interrupt != Interrupt::No)
                .await
                .is_err()
            {
                // Nobody is there any more who could.
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = self.run.client.clock().sleep(pause.div_f64(self.run.inputs.pace)) => true,
            () = interrupted => false,
        }
    }
}

fn is_begun(ending: &Ending) -> bool {
    matches!(ending, Ending::Done | Ending::Failed(_))
}

/// The deletion of what a step has made; what is not there, or not made by this run, stays as
/// it is.
fn deletion(step: &Step, goes: &[Step]) -> Step {
    let goes_too = |need: &&Address| goes.iter().any(|other| other.address == **need);
    Step {
        action: Action::Delete,
        operations: vec![Operation::Delete],
        before: step.after.clone(),
        after: None,
        needs: step.needs.iter().filter(goes_too).cloned().collect(),
        fingerprint: Fingerprint::new(Some(BTreeMap::new())),
        alternates: Vec::new(),
        ..step.clone()
    }
}

fn set(outcome: &mut Outcome, address: &Address, ending: Ending) {
    let mut steps = outcome.steps.iter_mut();
    if let Some((_, _, old)) = steps.find(|(other, ..)| other == address) {
        *old = ending;
    }
}

/// What was made is gone again, and what failed has left nothing.
fn mark_removed(outcome: &mut Outcome, address: &Address) {
    let mut steps = outcome.steps.iter_mut();
    let Some((_, _, ending)) = steps.find(|(other, ..)| other == address) else {
        return;
    };
    match ending {
        Ending::Done => *ending = Ending::Failed(*failure::rolled_back()),
        Ending::Failed(failure) => failure.left_behind = false,
        Ending::Skipped { .. } | Ending::NotStarted => {}
    }
}
