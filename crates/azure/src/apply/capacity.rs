//! What a pool does next that did not get its nodes: decided by what the plan records alone.

use std::time::Duration;

use model::{
    plan::{Action, Ending, Failure, Operation, Plan, Scarcity, Step},
    resource::{Resource, ResourceKind},
};
use serde_json::Value;

/// The first and the longest pause between two tries: capacity comes back when others give it
/// back, which is a matter of minutes.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// How far the tries of a pool are.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempt {
    /// The other way that was taken last.
    pub(super) taken: Option<usize>,
    /// When there was no capacity for the first time.
    since: Option<Duration>,
    pauses: u32,
    /// Nothing more is tried.
    pub(super) over: bool,
}

/// What is done next for a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// All of it is made in the other way of this number.
    Alternate(usize),
    /// After a pause all of it is made as planned first.
    Restart(Duration),
    /// After a pause the nodes that are missing are tried again.
    Again(Duration),
    /// What there is stays.
    Keep,
    /// What there is is removed.
    Remove,
}

/// A step of a pool with how it ended.
pub(super) type Ended<'a> = (&'a Step, &'a Ending);

/// What is done next for a pool; `None` where it has all its nodes, or lacks them for another
/// reason than capacity.
pub(super) fn next(
    plan: &Plan,
    pool: &str,
    ended: &[Ended<'_>],
    attempt: &mut Attempt,
    now: Duration,
) -> Option<(Next, String)> {
    let scarcity = plan.pools.get(pool)?.scarcity?;
    // Nodes that are only brought up to date or replaced are there already: nothing is made or
    // removed instead.
    let is_rolled = |(step, ending): &Ended<'_>| {
        failure_of(ending).is_some() && step.operations.iter().any(is_upgrade)
    };
    if ended.iter().any(is_rolled) {
        return None;
    }
    let failures: Vec<&Failure> = ended
        .iter()
        .filter_map(|(_, ending)| failure_of(ending))
        .collect();
    let code = failures.first()?.code.clone();
    // Quota of another way is no error of the plan's own: the next one may have some.
    let lacks_quota = |failure: &Failure| attempt.taken.is_some() && failure.kind == "quota";
    let may_go_on = |failure: &&Failure| is_scarcity(failure) || lacks_quota(failure);
    if attempt.over || !failures.iter().all(may_go_on) {
        return None;
    }
    let since = *attempt.since.get_or_insert(now);
    let next = choose(plan, pool, scarcity, ended, &failures, attempt).unwrap_or_else(|| {
        let end = since.saturating_add(Duration::from_secs(scarcity.wait_seconds));
        match end.checked_sub(now).filter(|left| !left.is_zero()) {
            Some(left) if failures.iter().all(|failure| passes(failure)) => {
                attempt.pause(left, ended)
            }
            _ => attempt.end(scarcity, ended),
        }
    });
    match next {
        Next::Alternate(number) => attempt.taken = Some(number),
        Next::Restart(_) => attempt.taken = None,
        Next::Keep | Next::Remove => attempt.over = true,
        Next::Again(_) => {}
    }
    Some((next, code))
}

/// What needs no waiting: enough is there, or there is another way.
fn choose(
    plan: &Plan,
    pool: &str,
    scarcity: Scarcity,
    ended: &[Ended<'_>],
    failures: &[&Failure],
    attempt: &Attempt,
) -> Option<Next> {
    let enough = |least: u32| u32::try_from(nodes(plan, pool, ended)).is_ok_and(|got| got >= least);
    if !scarcity.rollback && scarcity.min_count.is_some_and(enough) {
        return Some(Next::Keep);
    }
    let (step, _) = ended.iter().find(|(step, _)| is_node(step))?;
    let only_regular = failures.iter().any(|failure| is_spot_quota(failure));
    let first = attempt.taken.map_or(0, |taken| taken.saturating_add(1));
    // A way in which a node would be asked for just as it was refused is no way out.
    let refused: Vec<(&Step, Option<Resource>)> = ended
        .iter()
        .filter(|(step, ending)| is_node(step) && failure_of(ending).is_some())
        .map(|(step, _)| (*step, (*step).clone().taking(attempt.taken).after))
        .collect();
    let is_other = |number: usize| {
        let mut refused = refused.iter();
        refused.all(|(step, tried)| (*step).clone().taking(Some(number)).after != *tried)
    };
    (first..step.alternates.len())
        .find(|number| (!only_regular || is_regular(step, *number)) && is_other(*number))
        .map(Next::Alternate)
}

impl Attempt {
    fn pause(&mut self, left: Duration, ended: &[Ended<'_>]) -> Next {
        let pause = FIRST_PAUSE
            .saturating_mul(2_u32.saturating_pow(self.pauses))
            .min(LONGEST_PAUSE)
            .min(left)
            .max(Duration::from_secs(1));
        self.pauses = self.pauses.saturating_add(1);
        if ended.iter().any(|(step, _)| !step.alternates.is_empty()) {
            Next::Restart(pause)
        } else {
            Next::Again(pause)
        }
    }

    /// A half-obtained pool is kept unless the spec says otherwise; of another way that gave
    /// nothing, nothing is left that a later plan would have to keep to.
    fn end(&self, scarcity: Scarcity, ended: &[Ended<'_>]) -> Next {
        let got_one = ended
            .iter()
            .any(|(step, ending)| is_node(step) && **ending == Ending::Done);
        if scarcity.rollback || (self.taken.is_some() && !got_one) {
            Next::Remove
        } else {
            Next::Keep
        }
    }
}

/// Nodes of a pool that exist: those that were made, also by a write of a scale set that failed,
/// and those that were there.
fn nodes(plan: &Plan, pool: &str, ended: &[Ended<'_>]) -> usize {
    let made = ended
        .iter()
        .filter(|(step, ending)| is_node(step) && **ending == Ending::Done);
    let of_sets = ended
        .iter()
        .filter_map(|(_, ending)| failure_of(ending)?.made)
        .filter_map(|made| usize::try_from(made).ok());
    let there = plan.steps.iter().filter(|step| {
        step.address.pool_name() == Some(pool) && is_node(step) && !step.action.writes()
    });
    made.count() + of_sets.sum::<usize>() + there.count()
}

/// Whether a step is about a node, or about the scale set that is all of them.
pub(super) fn is_node(step: &Step) -> bool {
    let is_kind = matches!(
        step.kind,
        ResourceKind::VirtualMachine
            | ResourceKind::VirtualMachineScaleSet
            | ResourceKind::BatchPool
            | ResourceKind::AgentPool
    );
    is_kind && step.action != Action::Delete
}

fn is_upgrade(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::UpgradeInstances { .. } | Operation::ReplaceInstances { .. }
    )
}

fn failure_of(ending: &Ending) -> Option<&Failure> {
    match ending {
        Ending::Failed(failure) => Some(failure),
        Ending::Done | Ending::Skipped { .. } | Ending::NotStarted => None,
    }
}

/// Whether another size, zone or price may help.
fn is_scarcity(failure: &Failure) -> bool {
    matches!(failure.kind.as_str(), "capacity" | "sku_unavailable") || is_spot_quota(failure)
}

/// Whether a quota of spot capacity is what lacks.
fn is_spot_quota(failure: &Failure) -> bool {
    failure.kind == "quota" && failure.message.to_lowercase().contains("lowprioritycores")
}

/// Whether time alone may help. What is not sold, and constraints that contradict each other,
/// stay.
fn passes(failure: &Failure) -> bool {
    failure.kind == "capacity" && !failure.code.starts_with("Overconstrained")
}

fn is_regular(step: &Step, number: usize) -> bool {
    let attributes = step.alternates.get(number).map(|other| &other.attributes);
    let priority = attributes.and_then(|attributes| attributes.get("priority"));
    priority.and_then(|priority| priority.get("kind")) == Some(&Value::from("regular"))
}
