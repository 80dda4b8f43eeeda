//! Events of an apply, and its outcome.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Action;
use crate::address::Address;

/// Something that happened during an apply. Text progress, JSON lines, the journal and the
/// summary all come from the same events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// The run begins.
    RunStarted {
        /// The stack.
        stack: String,
        /// The nonce that marks what this run makes.
        nonce: String,
        /// Steps that write.
        changes: usize,
    },
    /// A step begins.
    StepStarted {
        /// Which.
        address: Address,
        /// What it does.
        action: Action,
    },
    /// A write is about to be sent.
    Write {
        /// Of which step.
        address: Address,
        /// The method.
        method: String,
        /// The resource's id, and the action below it.
        target: String,
        /// The request id that we send along.
        client_request_id: String,
    },
    /// Azure accepted a write; an operation may go on.
    Accepted {
        /// Of which step.
        address: Address,
        /// The status.
        status: u16,
        /// Azure's request id.
        request_id: Option<String>,
    },
    /// An operation is still under way.
    Waiting {
        /// Of which step.
        address: Address,
        /// What Azure says of it.
        state: String,
        /// Seconds since the step began.
        seconds: f64,
    },
    /// A step ended.
    StepFinished {
        /// Which.
        address: Address,
        /// What it did.
        action: Action,
        /// How.
        ending: Ending,
        /// Seconds since the step began.
        seconds: f64,
    },
    /// There is no capacity for a pool, and all of it is made in another way.
    Moved {
        /// The pool.
        pool: String,
        /// The other way.
        to: String,
        /// Azure's code.
        because: String,
    },
    /// There is no capacity for a pool, and it is tried again later.
    Paused {
        /// The pool.
        pool: String,
        /// Seconds until then.
        seconds: u64,
        /// Azure's code.
        because: String,
    },
    /// The run was asked to stop.
    Interrupted,
    /// The run ended.
    RunFinished {
        /// Steps that were done.
        done: usize,
        /// Steps that failed.
        failed: usize,
        /// Steps of which nobody knows how they ended.
        #[serde(default)]
        unknown: usize,
        /// Steps that were not started.
        not_started: usize,
    },
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Ending {
    /// It was done.
    Done,
    /// It failed.
    Failed(Failure),
    /// It was not started, because of another step.
    Skipped {
        /// The step that failed.
        because: Address,
    },
    /// It was not started, because the run was interrupted.
    NotStarted,
}

impl Ending {
    /// Whether it failed for certain.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(failure) if !failure.unknown)
    }

    /// Whether nobody knows how it ended.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Failed(failure) if failure.unknown)
    }
}

/// Why a step failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Azure's code, such as `AllocationFailed`, or ours.
    pub code: String,
    /// What Azure or the tool says.
    pub message: String,
    /// The kind of fault, such as `capacity`.
    pub kind: String,
    /// What to do.
    pub help: Option<String>,
    /// The HTTP status, where there was an answer.
    pub status: Option<u16>,
    /// Azure's request id.
    pub request_id: Option<String>,
    /// Azure's correlation id.
    pub correlation_id: Option<String>,
    /// The resource is known to exist although the step failed.
    pub left_behind: bool,
    /// The number of instances that a scale set got nonetheless; `None` where nobody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<u32>,
    /// Whether nobody knows how it ended: Azure accepted the write or may have, and no answer
    /// told the end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
}

/// What came of an apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Every step that writes, in the order of the plan.
    pub steps: Vec<(Address, Action, Ending)>,
    /// Writes that Azure accepted, or may have carried out without an answer.
    pub writes: u64,
    /// Whether somebody interrupted the run.
    pub interrupted: bool,
    /// Pools that were made in another way, by its number.
    pub taken: BTreeMap<String, usize>,
}

impl Outcome {
    /// Whether every step was done.
    pub fn reached(&self) -> bool {
        self.steps
            .iter()
            .all(|(_, _, ending)| *ending == Ending::Done)
    }

    /// How many steps were not done although they were begun: they failed, or nobody knows.
    pub fn failed(&self) -> usize {
        self.count(|ending| matches!(ending, Ending::Failed(_)))
    }

    /// Of how many steps nobody knows how they ended.
    pub fn unknown(&self) -> usize {
        self.count(Ending::is_unknown)
    }

    /// How many steps ended so.
    pub fn count(&self, is: impl Fn(&Ending) -> bool) -> usize {
        let endings = self.steps.iter().map(|(_, _, ending)| ending);
        endings.filter(|ending| is(ending)).count()
    }
}
