//! Drives an operation to its end: polls, waits, and stops at a deadline.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use azure_core::Method;

use super::{Operation, Poll};
use crate::{
    call::{Call, Reply},
    client::Client,
    error::{ArmError, RequestError},
};
use serde_json::Value;

/// Most polls per second, all operations together: ARM's read bucket refills at 25 a second, and
/// other reads need their part.
const POLLS_PER_SECOND: u32 = 15;
/// How often a wait is reported.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Operations under way in a client.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(AtomicU32);

/// Counts an operation for as long as it lives.
struct Counted<'a>(&'a UnderWay);

impl UnderWay {
    fn count(&self) -> Counted<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self)
    }

    /// The shortest wait that keeps all operations together within the poll budget.
    fn shortest_wait(&self) -> Duration {
        Duration::from_secs(1) * self.0.load(Ordering::Relaxed) / POLLS_PER_SECOND
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why an operation did not end well.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperationError {
    /// It ended badly.
    #[error(transparent)]
    Failed(Box<ArmError>),
    /// Its address cannot be used.
    #[error(transparent)]
    Request(RequestError),
    /// It did not end in time.
    #[error("no end within {} s; it is `{state}`", waited.as_secs())]
    Deadline {
        /// How long we waited.
        waited: Duration,
        /// What Azure said last.
        state: String,
    },
}

/// Waits for what a write has started.
pub(crate) async fn follow(
    client: &Client,
    call: &Call,
    first: &Reply,
    deadline: Duration,
    report: &mut (dyn FnMut(&str) + Send),
) -> Result<Option<Value>, OperationError> {
    let mut resource = call.url.clone();
    // An action's path has the action below the resource.
    if call.method == Method::Post
        && let Ok(mut segments) = resource.path_segments_mut()
    {
        segments.pop();
    }
    let begun = Operation::begin(call.method, resource, first);
    drive(client, begun, deadline, report).await
}

/// Waits until a resource that somebody else writes is settled, or gone after a `DELETE`.
pub(crate) async fn settle(
    client: &Client,
    method: Method,
    read: &Call,
    deadline: Duration,
    report: &mut (dyn FnMut(&str) + Send),
) -> Result<Option<Value>, OperationError> {
    let begun = Operation::resume(method, read.url.clone());
    drive(client, begun, deadline, report).await
}

async fn drive(
    client: &Client,
    (mut operation, mut poll): (Operation, Poll),
    deadline: Duration,
    report: &mut (dyn FnMut(&str) + Send),
) -> Result<Option<Value>, OperationError> {
    let counted = client.under_way().count();
    let clock = client.clock();
    let begun = clock.now();
    let mut last_answer = begun;
    loop {
        let (url, after, state) = match poll {
            Poll::Done(body) => return Ok(body),
            Poll::Failed(error) => return Err(OperationError::Failed(error)),
            Poll::Wait { url, after, state } => (url, after, state),
        };
        // Short waits are those of a fast sandbox, whose budget is not ARM's.
        let mut left = if after >= Duration::from_secs(1) {
            after.max(counted.0.shortest_wait())
        } else {
            after
        };
        while left > Duration::ZERO {
            report(&state);
            let now = clock.now();
            let slice = left.min(HEARTBEAT).min(deadline.saturating_sub(now));
            clock.sleep(slice).await;
            left = left.saturating_sub(slice.max(Duration::from_millis(1)));
            if clock.now() >= deadline {
                let waited = clock.now().saturating_sub(begun);
                return Err(OperationError::Deadline { waited, state });
            }
        }
        let answer = client.send(&Call::new(Method::Get, url)).await;
        let answer = match answer {
            Err(error) if error.arm().is_none() => {
                let silence = clock.now().saturating_sub(last_answer);
                if is_final(&error) || silence > client.limits().silence {
                    return Err(OperationError::Request(error));
                }
                Err(error)
            }
            answered => {
                last_answer = clock.now();
                answered
            }
        };
        poll = operation.next(&answer);
        if clock.now() >= deadline
            && let Poll::Wait { state, .. } = poll
        {
            let waited = clock.now().saturating_sub(begun);
            return Err(OperationError::Deadline { waited, state });
        }
    }
}

/// Whether asking again cannot help.
fn is_final(error: &RequestError) -> bool {
    use crate::error::RequestFault as Fault;
    match error.fault {
        Fault::ForeignOrigin { .. }
        | Fault::PlainHttp(_)
        | Fault::InvalidName(_)
        | Fault::Sdk(_) => true,
        Fault::Refused(_)
        | Fault::NotConnected { .. }
        | Fault::Unanswered { .. }
        | Fault::Token(_)
        | Fault::Unreadable(_) => false,
    }
}
