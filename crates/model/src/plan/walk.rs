//! The order of an apply, as a state machine without a clock, a thread or a network.
//!
//! A driver asks [`Walk::ready`] what to start, and tells the walk when Azure accepted a step
//! and when the step ended. The walk keeps four rules: what a step needs ends first; writes
//! below one parent never overlap; like creations fan out 1, 2, 4, 8 … on acceptance; and a
//! failed step stops what depends on it while everything else goes on.

use std::collections::{BTreeMap, BTreeSet};

use super::{Action, Ending, Failure, Outcome, Step};
use crate::{address::Address, ids::ArmId, resource::ResourceKind};

/// Limits of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkLimits {
    /// The most steps under way at once, at least 1.
    pub parallelism: usize,
}

impl Default for WalkLimits {
    /// 128 steps: operations run for minutes in Azure and only wait here, so the number is
    /// bounded by the poll budget (15,000 a minute in a region, one poll per step each 10 s
    /// at the most), not by this machine.
    fn default() -> Self {
        Self { parallelism: 128 }
    }
}

/// Steps that wait for one another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("steps wait for one another: {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
pub struct Cycle(pub Vec<Address>);

#[derive(Clone, Debug, PartialEq)]
enum Status {
    Waiting,
    Started { accepted: bool },
    Ended(Ending),
}

/// Like creations, which fan out slowly.
type Group = (Option<String>, ResourceKind);

#[derive(Debug, Default)]
struct Ramp {
    started: usize,
    accepted: usize,
    held: BTreeSet<usize>,
}

impl Ramp {
    /// With nothing accepted one may start; each acceptance lets two more start, which makes
    /// the batches 1, 2, 4, 8 …
    fn room(&self) -> usize {
        (1 + 2 * self.accepted).saturating_sub(self.started)
    }

    /// Takes as many of the held as may start: all of them at each acceptance would be work that
    /// grows with the square of their number.
    fn let_go(&mut self) -> Vec<usize> {
        let room = self.room();
        std::iter::from_fn(|| self.held.pop_first())
            .take(room)
            .collect()
    }
}

/// The state of an apply.
#[derive(Debug)]
pub struct Walk {
    steps: Vec<Node>,
    candidates: BTreeSet<usize>,
    ramps: BTreeMap<Group, Ramp>,
    lanes: BTreeMap<ArmId, Lane>,
    limits: WalkLimits,
    under_way: usize,
    interrupted: bool,
}

#[derive(Debug)]
struct Node {
    address: Address,
    action: Action,
    status: Status,
    waits_for: usize,
    dependents: Vec<usize>,
    lane: Option<ArmId>,
    group: Option<Group>,
}

#[derive(Debug, Default)]
struct Lane {
    busy: bool,
    held: BTreeSet<usize>,
}

impl Walk {
    /// A walk over the steps of a plan.
    ///
    /// # Errors
    /// Steps wait for one another.
    pub fn new(steps: &[Step], limits: WalkLimits) -> Result<Self, Cycle> {
        let mut walk = Self {
            steps: steps.iter().map(Node::new).collect(),
            candidates: BTreeSet::new(),
            ramps: BTreeMap::new(),
            lanes: BTreeMap::new(),
            limits: WalkLimits {
                parallelism: limits.parallelism.max(1),
            },
            under_way: 0,
            interrupted: false,
        };
        for (first, then) in edges(steps) {
            walk.steps[first].dependents.push(then);
            walk.steps[then].waits_for += 1;
        }
        walk.refuse_cycles()?;
        let free: Vec<usize> = (0..walk.steps.len())
            .filter(|index| walk.steps[*index].waits_for == 0)
            .collect();
        for index in free {
            walk.release(index);
        }
        Ok(walk)
    }

    fn refuse_cycles(&self) -> Result<(), Cycle> {
        let mut waits_for: Vec<usize> = self.steps.iter().map(|node| node.waits_for).collect();
        let mut free: Vec<usize> = (0..waits_for.len())
            .filter(|index| waits_for[*index] == 0)
            .collect();
        while let Some(index) = free.pop() {
            for dependent in &self.steps[index].dependents {
                waits_for[*dependent] -= 1;
                if waits_for[*dependent] == 0 {
                    free.push(*dependent);
                }
            }
        }
        let stuck: Vec<Address> = self
            .steps
            .iter()
            .zip(&waits_for)
            .filter(|(_, count)| **count > 0)
            .map(|(node, _)| node.address.clone())
            .collect();
        if stuck.is_empty() {
            Ok(())
        } else {
            Err(Cycle(stuck))
        }
    }

    /// A step has nothing left to wait for: a no-op ends, anything else may start.
    fn release(&mut self, index: usize) {
        let mut released = vec![index];
        while let Some(index) = released.pop() {
            if self.steps[index].action.writes() {
                self.candidates.insert(index);
            } else {
                self.steps[index].status = Status::Ended(Ending::Done);
                released.extend(self.let_dependents_go(index));
            }
        }
    }

    fn let_dependents_go(&mut self, index: usize) -> Vec<usize> {
        let dependents = self.steps[index].dependents.clone();
        let mut free = Vec::new();
        for dependent in dependents {
            let node = &mut self.steps[dependent];
            node.waits_for -= 1;
            if node.waits_for == 0 && node.status == Status::Waiting {
                free.push(dependent);
            }
        }
        free
    }

    /// Steps that may start now. They count as started.
    pub fn ready(&mut self) -> Vec<usize> {
        let mut ready = Vec::new();
        while !self.interrupted && self.under_way < self.limits.parallelism {
            let Some(index) = self.candidates.pop_first() else {
                // One that was let go may have met a busy lane, and left its place to another.
                let held: Vec<usize> = self.ramps.values_mut().flat_map(Ramp::let_go).collect();
                if held.is_empty() {
                    break;
                }
                self.candidates.extend(held);
                continue;
            };
            if self.hold(index) {
                continue;
            }
            self.steps[index].status = Status::Started { accepted: false };
            self.under_way += 1;
            ready.push(index);
        }
        ready
    }

    /// Holds a step back behind its lane or its ramp; takes the place there otherwise.
    fn hold(&mut self, index: usize) -> bool {
        if let Some(lane) = self.steps[index].lane.clone() {
            let lane = self.lanes.entry(lane).or_default();
            if lane.busy {
                lane.held.insert(index);
                return true;
            }
        }
        if let Some(group) = self.steps[index].group.clone() {
            let ramp = self.ramps.entry(group).or_default();
            if ramp.room() == 0 {
                ramp.held.insert(index);
                return true;
            }
            ramp.started += 1;
        }
        if let Some(lane) = self.steps[index].lane.clone() {
            self.lanes.entry(lane).or_default().busy = true;
        }
        false
    }

    /// Azure accepted the first write of a started step.
    pub fn accepted(&mut self, index: usize) {
        let Some(node) = self.steps.get_mut(index) else {
            return;
        };
        if node.status != (Status::Started { accepted: false }) {
            return;
        }
        node.status = Status::Started { accepted: true };
        if let Some(group) = node.group.clone() {
            let ramp = self.ramps.entry(group).or_default();
            ramp.accepted += 1;
            self.candidates.extend(ramp.let_go());
        }
    }

    /// A started step ended: well, or with a failure.
    pub fn finished(&mut self, index: usize, result: Result<(), Failure>) {
        let Some(Status::Started { accepted }) =
            self.steps.get(index).map(|node| node.status.clone())
        else {
            return;
        };
        self.under_way -= 1;
        if let Some(lane) = self.steps[index].lane.clone() {
            let lane = self.lanes.entry(lane).or_default();
            lane.busy = false;
            let held = std::mem::take(&mut lane.held);
            self.candidates.extend(held);
        }
        match result {
            Ok(()) => {
                self.accepted(index);
                self.steps[index].status = Status::Ended(Ending::Done);
                for free in self.let_dependents_go(index) {
                    self.release(free);
                }
            }
            Err(failure) => {
                self.steps[index].status = Status::Ended(Ending::Failed(failure));
                self.skip_dependents(index);
                if !accepted {
                    self.stop_ramp(index);
                }
            }
        }
    }

    fn skip_dependents(&mut self, failed: usize) {
        let because = self.steps[failed].address.clone();
        let mut pending = self.steps[failed].dependents.clone();
        while let Some(index) = pending.pop() {
            if self.steps[index].status == Status::Waiting {
                self.skip(index, &because);
                pending.extend(self.steps[index].dependents.iter().copied());
            }
        }
    }

    fn skip(&mut self, index: usize, because: &Address) {
        self.steps[index].status = Status::Ended(Ending::Skipped {
            because: because.clone(),
        });
        self.candidates.remove(&index);
        if let Some(group) = &self.steps[index].group
            && let Some(ramp) = self.ramps.get_mut(group)
        {
            ramp.held.remove(&index);
        }
    }

    /// A refusal stops the ramp: what has not started of the same kind would be refused too.
    fn stop_ramp(&mut self, refused: usize) {
        let Some(group) = self.steps[refused].group.clone() else {
            return;
        };
        let because = self.steps[refused].address.clone();
        let alike: Vec<usize> = (0..self.steps.len())
            .filter(|index| {
                self.steps[*index].group.as_ref() == Some(&group)
                    && self.steps[*index].status == Status::Waiting
            })
            .collect();
        for index in alike {
            self.skip(index, &because);
            self.skip_dependents(index);
        }
    }

    /// Starts nothing new; what is under way goes on.
    pub fn interrupt(&mut self) {
        self.interrupted = true;
    }

    /// Whether nothing is under way and nothing more will start.
    pub fn is_over(&self) -> bool {
        self.under_way == 0 && (self.interrupted || self.candidates.is_empty())
    }

    /// How many steps are under way.
    pub fn under_way(&self) -> usize {
        self.under_way
    }

    /// What came of it, once it is over.
    pub fn outcome(&self) -> Outcome {
        let ended = |node: &Node| match &node.status {
            Status::Ended(ending) => ending.clone(),
            Status::Waiting | Status::Started { .. } => Ending::NotStarted,
        };
        let writing = self.steps.iter().filter(|node| node.action.writes());
        Outcome {
            steps: writing
                .map(|node| (node.address.clone(), node.action, ended(node)))
                .collect(),
            writes: 0,
            interrupted: self.interrupted,
            taken: BTreeMap::new(),
        }
    }
}

impl Node {
    fn new(step: &Step) -> Self {
        let fans_out = step.action == Action::Create;
        Self {
            address: step.address.clone(),
            action: step.action,
            status: Status::Waiting,
            waits_for: 0,
            dependents: Vec::new(),
            lane: step.id.parent(),
            group: fans_out.then(|| (step.address.pool_name().map(ToOwned::to_owned), step.kind)),
        }
    }
}

/// Pairs of steps by index: the first must end before the second starts.
///
/// `a needs b` means that `b` goes first, except where `b` is deleted: then `a` goes first,
/// whether it is deleted too or changed so that it needs `b` no longer.
fn edges(steps: &[Step]) -> Vec<(usize, usize)> {
    let by_address: BTreeMap<&Address, usize> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| (&step.address, index))
        .collect();
    let mut edges = BTreeSet::new();
    for (index, step) in steps.iter().enumerate() {
        for need in step
            .needs
            .iter()
            .filter_map(|need| by_address.get(need).copied())
        {
            if steps[need].action == Action::Delete {
                edges.insert((index, need));
            } else if step.action != Action::Delete {
                edges.insert((need, index));
            }
        }
    }
    edges.into_iter().collect()
}

#[cfg(test)]
mod tests;
