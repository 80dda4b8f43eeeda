//! Drives an operation to its end: polls, waits, and stops at a deadline.

use std::{
    sync::{Mutex, PoisonError},
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

/// Polls per second, all operations together, once the first burst is over: ARM's read bucket
/// refills at 25 a second, and other reads need their part.
const POLLS_PER_SECOND: u32 = 15;
/// So many polls may come at once: the read bucket holds 250.
const BURST: u32 = 200;
/// How often a wait is reported.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// The budget of polls that all operations of a client share.
#[derive(Debug, Default)]
pub(crate) struct Polls(Mutex<Duration>);

impl Polls {
    /// Takes the next poll of the budget; answers how long it has to wait.
    fn take(&self, now: Duration) -> Duration {
        let each = Duration::from_secs(1) / POLLS_PER_SECOND;
        // When the budget is whole again.
        let mut whole = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = whole.saturating_sub(now + each * BURST);
        *whole = (*whole).max(now) + each;
        wait
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
    let clock = client.clock();
    let begun = clock.now();
    let mut last_answer = begun;
    loop {
        let (url, after, state) = match poll {
            Poll::Done(body) => return Ok(body),
            Poll::Failed(error) => return Err(OperationError::Failed(error)),
            Poll::Wait { url, after, state } => (url, after, state),
        };
        let mut left = after;
        // Short waits are those of a fast sandbox, whose budget is not ARM's.
        let mut counts = after >= Duration::from_secs(1);
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
            if left == Duration::ZERO && counts {
                counts = false;
                left = client.polls().take(clock.now());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_polls_waits_for_nobody_and_later_ones_are_spaced() {
        let polls = Polls::default();
        let now = Duration::from_secs(7);
        for _ in 0..BURST {
            assert_eq!(polls.take(now), Duration::ZERO);
        }
        let waits: Vec<Duration> = (0..30).map(|_| polls.take(now)).collect();
        let second = Duration::from_secs(1);
        assert!(waits.is_sorted() && waits[0] < second / 10, "{waits:?}");
        assert!(waits[29] > second && waits[29] < 2 * second, "{waits:?}");
        // Later the budget is whole again.
        let later = now + Duration::from_secs(60);
        assert_eq!(polls.take(later), Duration::ZERO);
    }
}
