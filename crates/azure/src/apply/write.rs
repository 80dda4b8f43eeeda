//! Sends one write: recorded before it goes, repeated while Azure is busy with the same resource,
//! followed to its end.

use std::{sync::atomic::Ordering, time::Duration};

use azure_core::Method;
use model::{plan::Event, resource::ResourceKind};
use serde_json::Value;

use super::{
    create::is_written_once,
    failure::{self, Stopped},
    step::Performer,
};
use crate::{
    call::{Call, Reply},
    error::{ArmError, RequestError, RequestFault},
    fault::{Retry, classify},
    lro::drive::{self, OperationError},
};

/// The longest wait between two tries: what is in the way is gone for so long, at most, before we
/// notice, and a write each so often is no burden.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Why a write did not do what it was sent for.
pub(super) enum WriteError {
    /// The request failed.
    Request(RequestError),
    /// The step cannot go on.
    Step(Stopped),
}

impl WriteError {
    /// What Azure said, where it answered.
    pub(super) fn arm(&self) -> Option<&ArmError> {
        match self {
            Self::Request(error) => error.arm(),
            Self::Step(_) => None,
        }
    }

    /// Whether the write may have been carried out although nobody said so.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Request(error) => may_have_been_done(error),
            Self::Step(_) => false,
        }
    }

    /// The failure of the step.
    pub(super) fn failure(&self, spot: bool) -> Stopped {
        match self {
            Self::Request(error) => failure::of_request(error, spot),
            Self::Step(failure) => failure.clone(),
        }
    }
}

/// Whether nothing was said about a request that may have been carried out. What Azure calls a
/// failure is one, also where it may have done some of it.
fn is_unknown(error: &RequestError) -> bool {
    match error.arm() {
        Some(arm) => arm.after_unanswered || matches!(arm.status, 408 | 504),
        None => may_have_been_done(error),
    }
}

/// Whether a request may have been carried out although it was not answered well.
fn may_have_been_done(error: &RequestError) -> bool {
    match error.arm() {
        Some(arm) => arm.after_unanswered || matches!(arm.status, 408 | 500..=599),
        None => matches!(
            error.fault,
            RequestFault::Unanswered { .. } | RequestFault::Unreadable(_)
        ),
    }
}

impl Performer<'_> {
    /// Sends a write until Azure accepts or refuses it.
    pub(super) async fn send_write(&self, call: &Call) -> Result<Reply, WriteError> {
        let mut call = call.clone();
        let begun = self.clock().now();
        let mut wait = Duration::from_secs(1);
        loop {
            self.announce(&call)?;
            let sent = self.run.client.send(&call).await;
            self.discount(&sent);
            let is_open = sent.as_ref().map_or_else(is_unknown, |_| true);
            self.is_open.store(is_open, Ordering::Relaxed);
            match sent {
                Ok(reply) => {
                    self.accept(&reply);
                    return Ok(reply);
                }
                Err(error) => {
                    if let Some(arm) = error.arm()
                        && let Some(stranger) = self.stranger_in(arm).await
                    {
                        let failure = failure::used_by(arm, &stranger, self.is_spot());
                        return Err(WriteError::Step(failure));
                    }
                    let now = self.clock().now();
                    let patience = error
                        .arm()
                        .map(|arm| self.patience(call.method, arm))
                        .unwrap_or_default();
                    if now.saturating_sub(begun) + wait > patience || now + wait > self.deadline {
                        return Err(WriteError::Request(error));
                    }
                    let state = error.arm().map(|arm| arm.innermost().0).unwrap_or_default();
                    self.waiting(state);
                    self.clock().sleep(wait).await;
                    wait = wait.saturating_mul(2).min(LONGEST_WAIT);
                    call = call.again();
                }
            }
        }
    }

    /// How long a refusal is waited out: as long as what is in the way usually lasts.
    fn patience(&self, method: Method, error: &ArmError) -> Duration {
        let code = error.innermost().0.to_lowercase();
        // The plan's order has made what is referred to; its news may not have spread yet. An
        // identity is mostly somebody else's, who has made it long before or not at all.
        let is_spreading = match code.as_str() {
            "parentresourcenotfound" | "invalidresourcereference" => true,
            "failedidentityoperation" => self.makes_an_identity(),
            _ => false,
        };
        if is_spreading {
            return Duration::from_secs(20);
        }
        // Our own earlier attempt may be what is in the way of a write that must not happen twice:
        // the caller looks. Any other write may.
        let once = is_written_once(self.step.kind) && method != Method::Delete;
        if error.after_unanswered && once {
            return Duration::ZERO;
        }
        if classify(error, self.is_spot()).retry != Retry::Soon {
            return Duration::ZERO;
        }
        let seconds = if code.starts_with("inuse") || code.ends_with("cannotbedeleted") {
            60
        } else if code == "nicreservedforanothervm" {
            240
        } else {
            300
        };
        Duration::from_secs(seconds)
    }

    /// Records a write before it is sent.
    fn announce(&self, call: &Call) -> Result<(), WriteError> {
        let target = call.url.path().to_owned();
        let event = Event::Write {
            address: self.step.address.clone(),
            method: call.method.to_string(),
            target,
            client_request_id: call.client_request_id.clone(),
        };
        if self.run.is_broken() {
            let stopped = failure::ours("JournalFailed", "an earlier event could not be recorded");
            return Err(WriteError::Step(stopped));
        }
        self.run
            .emit(&event)
            .map_err(|error| WriteError::Step(failure::journal(&error)))?;
        self.run.shared.writes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Takes a write out of the count that certainly had no effect: a refused one changes nothing.
    fn discount(&self, sent: &Result<Reply, RequestError>) {
        if let Err(error) = sent
            && !may_have_been_done(error)
        {
            self.run.shared.writes.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Sends a write and follows it to its end.
    pub(super) async fn write(&self, call: &Call) -> Result<Option<Value>, WriteError> {
        let reply = self.send_write(call).await?;
        self.follow(call, &reply).await.map_err(WriteError::Step)
    }

    /// Whether the plan makes an identity that this step needs.
    fn makes_an_identity(&self) -> bool {
        let mut steps = self.run.plan.steps.iter();
        steps.any(|step| {
            step.kind == ResourceKind::ManagedIdentity
                && step.action.writes()
                && self.step.needs.contains(&step.address)
        })
    }

    /// The failure of an operation: one that failed has ended.
    pub(super) fn not_ended(&self, error: &OperationError) -> Stopped {
        if matches!(error, OperationError::Failed(_)) {
            self.is_open.store(false, Ordering::Relaxed);
        }
        failure::of_operation(error, self.is_spot())
    }

    /// Follows an accepted write to its end.
    pub(super) async fn follow(
        &self,
        call: &Call,
        reply: &Reply,
    ) -> Result<Option<Value>, Stopped> {
        let mut report = |state: &str| self.waiting(state);
        drive::follow(self.run.client, call, reply, self.deadline, &mut report)
            .await
            .inspect(|_| self.is_open.store(false, Ordering::Relaxed))
            .map_err(|error| self.not_ended(&error))
    }
}
