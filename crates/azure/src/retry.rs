//! Whether a request is sent again, decided without a clock or a network.

use std::time::Duration;

use azure_core::Method;

use crate::error::ArmError;

/// Tries again after a connection could not be made.
const CONNECTION_RETRIES: u32 = 3;
/// Tries again after the service failed or the connection broke.
const FAILURE_RETRIES: u32 = 5;
/// Tries again while something that the request refers to is not ready: about five minutes.
const NOT_READY_RETRIES: u32 = 20;
/// The longest wait that a `503` may ask for.
const UNAVAILABLE_CAP: Duration = Duration::from_secs(300);
/// The longest wait that a `429` may ask for.
const THROTTLE_CAP: Duration = Duration::from_secs(1_800);
/// The wait after a `429` that names none.
const THROTTLE_DEFAULT: Duration = Duration::from_secs(10);
/// The first wait where the service asks for none at all; it doubles.
const FLOOR: Duration = Duration::from_millis(20);

/// What came of one attempt.
#[derive(Debug)]
pub(crate) enum Attempt<'a> {
    /// An answer that is no error.
    Answered,
    /// An error answer, and the seconds of its `Retry-After`.
    Refused {
        /// The error.
        error: &'a ArmError,
        /// Seconds.
        retry_after: Option<u64>,
    },
    /// No connection was made.
    NotConnected,
    /// The connection broke or the answer did not come in time.
    Broken,
    /// The request cannot be made, or its answer cannot be used: the next one is the same.
    Unusable,
}

/// What to do after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The attempt stands, good or bad.
    Stands,
    /// Wait, then try again.
    Again(Duration),
    /// Nothing of this class may be sent for this long; then try again.
    Pause(Duration),
    /// Get a new token, then try again.
    NewToken,
}

/// What has happened to a request so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct History {
    failures: u32,
    not_ready: u32,
    throttles: u32,
    renewed: bool,
    /// Time spent waiting because of throttling.
    pub(crate) throttled: Duration,
    /// Attempts that may have been carried out without an answer.
    pub(crate) unanswered: u32,
}

impl History {
    /// Decides what comes after an attempt.
    pub(crate) fn judge(
        &mut self,
        method: Method,
        attempt: &Attempt<'_>,
        patience: Duration,
    ) -> Verdict {
        match attempt {
            Attempt::Answered | Attempt::Unusable => Verdict::Stands,
            Attempt::NotConnected => self.after_failure(CONNECTION_RETRIES, 250),
            Attempt::Broken => {
                self.unanswered += 1;
                if repeats_safely(method) {
                    self.after_failure(FAILURE_RETRIES, 1_000)
                } else {
                    Verdict::Stands
                }
            }
            Attempt::Refused { error, retry_after } => {
                self.after_refusal(method, error, *retry_after, patience)
            }
        }
    }

    fn after_refusal(
        &mut self,
        method: Method,
        error: &ArmError,
        retry_after: Option<u64>,
        patience: Duration,
    ) -> Verdict {
        match error.status {
            401 if error.has_code("ExpiredAuthenticationToken") && !self.renewed => {
                self.renewed = true;
                Verdict::NewToken
            }
            429 if error.has_code("RetryableError") => self.not_ready(error, retry_after),
            429 => self.throttled(error, retry_after, patience),
            503 => match self.after_failure(FAILURE_RETRIES, 1_000) {
                Verdict::Again(backoff) => Verdict::Again(
                    retry_after
                        .map_or(backoff, Duration::from_secs)
                        .min(UNAVAILABLE_CAP)
                        .max(FLOOR),
                ),
                verdict @ (Verdict::Stands | Verdict::Pause(_) | Verdict::NewToken) => verdict,
            },
            408 | 500 | 502 | 504 if repeats_safely(method) => {
                // The provider behind ARM may have carried it out.
                self.unanswered += 1;
                self.after_failure(FAILURE_RETRIES, 1_000)
            }
            _ => Verdict::Stands,
        }
    }

    fn after_failure(&mut self, most: u32, first_milliseconds: u64) -> Verdict {
        if self.failures >= most {
            return Verdict::Stands;
        }
        let factor = 2_u64.saturating_pow(self.failures);
        self.failures += 1;
        Verdict::Again(Duration::from_millis(
            first_milliseconds.saturating_mul(factor),
        ))
    }

    /// Something that the request refers to is still being made. That is no throttling: only
    /// this request waits.
    fn not_ready(&mut self, error: &ArmError, retry_after: Option<u64>) -> Verdict {
        if self.not_ready >= NOT_READY_RETRIES {
            return Verdict::Stands;
        }
        let own = 2_u64.saturating_pow(self.not_ready.min(4)).min(15);
        self.not_ready += 1;
        let seconds = retry_after
            .or_else(|| seconds_in(&error.message))
            .unwrap_or(own);
        Verdict::Again(Duration::from_secs(seconds).max(FLOOR).min(UNAVAILABLE_CAP))
    }

    /// Throttling does not count as a failure: it ends only with the patience.
    fn throttled(
        &mut self,
        error: &ArmError,
        retry_after: Option<u64>,
        patience: Duration,
    ) -> Verdict {
        let doubled = FLOOR.saturating_mul(2_u32.saturating_pow(self.throttles.min(8)));
        self.throttles += 1;
        let asked = retry_after.or_else(|| seconds_in(&error.message));
        let wait = asked
            .map_or(THROTTLE_DEFAULT, Duration::from_secs)
            .max(doubled)
            .min(THROTTLE_CAP);
        self.throttled += wait;
        if self.throttled > patience {
            return Verdict::Stands;
        }
        Verdict::Pause(wait)
    }
}

/// Whether doing it twice is doing it once.
fn repeats_safely(method: Method) -> bool {
    matches!(
        method,
        Method::Get | Method::Put | Method::Patch | Method::Delete | Method::Head
    )
}

/// The seconds that a message such as "Please try again after '6' seconds" asks for.
fn seconds_in(message: &str) -> Option<u64> {
    let (before, _) = message.split_once(" second")?;
    let number = before.rsplit(' ').next()?;
    number.trim_matches(['\'', '"', '(']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(3_600);

    fn refusal(status: u16, code: &str) -> ArmError {
        ArmError {
            status,
            code: code.to_owned(),
            ..ArmError::default()
        }
    }

    fn retries(method: Method, attempt: &Attempt<'_>) -> Vec<u64> {
        let mut history = History::default();
        let mut waits = Vec::new();
        while let Verdict::Again(wait) | Verdict::Pause(wait) =
            history.judge(method, attempt, PATIENCE)
        {
            waits.push(u64::try_from(wait.as_millis()).expect("a short wait"));
        }
        waits
    }

    #[test]
    fn failures_are_tried_again_only_where_that_is_safe() {
        for status in [408, 500, 502, 504] {
            let error = refusal(status, "X");
            let attempt = Attempt::Refused {
                error: &error,
                retry_after: None,
            };
            for method in [Method::Get, Method::Put, Method::Patch, Method::Delete] {
                assert_eq!(
                    retries(method, &attempt),
                    [1_000, 2_000, 4_000, 8_000, 16_000]
                );
            }
            assert!(retries(Method::Post, &attempt).is_empty(), "{status}");
        }
        assert_eq!(retries(Method::Get, &Attempt::Broken).len(), 5);
        assert!(retries(Method::Post, &Attempt::Broken).is_empty());
    }

    #[test]
    fn a_connection_never_made_is_tried_again_for_any_method_and_not_for_long() {
        for method in [Method::Get, Method::Post] {
            assert_eq!(retries(method, &Attempt::NotConnected), [250, 500, 1_000]);
        }
    }

    #[test]
    fn unavailable_waits_as_long_as_asked_up_to_a_cap() {
        let error = refusal(503, "ServiceUnavailable");
        let check = |retry_after: Option<u64>, first: u64| {
            let attempt = Attempt::Refused {
                error: &error,
                retry_after,
            };
            let waits = retries(Method::Post, &attempt);
            assert_eq!((waits.len(), waits.first()), (5, Some(&first)));
        };
        check(None, 1_000);
        check(Some(7), 7_000);
        check(Some(10_000), 300_000);
    }

    #[test]
    fn throttling_pauses_the_class_and_ends_only_with_the_patience() {
        let error = refusal(429, "TooManyRequests");
        let attempt = Attempt::Refused {
            error: &error,
            retry_after: Some(600),
        };
        assert_eq!(retries(Method::Post, &attempt), [600_000; 6]);
        let mut history = History::default();
        assert_eq!(
            history.judge(Method::Get, &attempt, PATIENCE),
            Verdict::Pause(Duration::from_secs(600))
        );
        let mut error = refusal(429, "SubscriptionRequestsThrottled");
        error.message = "Please try again after '6' seconds.".to_owned();
        let attempt = Attempt::Refused {
            error: &error,
            retry_after: None,
        };
        assert_eq!(
            history.judge(Method::Get, &attempt, PATIENCE),
            Verdict::Pause(Duration::from_secs(6))
        );
    }

    #[test]
    fn a_dependency_that_is_not_ready_is_no_throttling() {
        let error = refusal(429, "RetryableError");
        let attempt = Attempt::Refused {
            error: &error,
            retry_after: None,
        };
        let mut history = History::default();
        assert_eq!(
            history.judge(Method::Put, &attempt, PATIENCE),
            Verdict::Again(Duration::from_secs(1))
        );
        let waits = retries(Method::Put, &attempt);
        assert_eq!(waits.len(), 20);
        assert!((240_000..400_000).contains(&waits.iter().sum::<u64>()));
    }

    #[test]
    fn an_expired_token_is_renewed_once() {
        let error = refusal(401, "ExpiredAuthenticationToken");
        let attempt = Attempt::Refused {
            error: &error,
            retry_after: None,
        };
        let mut history = History::default();
        assert_eq!(
            history.judge(Method::Post, &attempt, PATIENCE),
            Verdict::NewToken
        );
        assert_eq!(
            history.judge(Method::Post, &attempt, PATIENCE),
            Verdict::Stands
        );
    }

    #[test]
    fn refusals_stand() {
        for (status, code) in [
            (409, "Conflict"),
            (403, "AuthorizationFailed"),
            (404, "NotFound"),
        ] {
            let error = refusal(status, code);
            let attempt = Attempt::Refused {
                error: &error,
                retry_after: None,
            };
            assert!(retries(Method::Put, &attempt).is_empty());
        }
    }

    #[test]
    fn a_retry_after_of_nothing_still_waits_a_little_more_each_time() {
        let error = refusal(429, "TooManyRequests");
        let attempt = Attempt::Refused {
            error: &error,
            retry_after: Some(0),
        };
        let mut history = History::default();
        let waits: Vec<Verdict> = (0..3)
            .map(|_| history.judge(Method::Get, &attempt, PATIENCE))
            .collect();
        assert_eq!(
            waits,
            [20, 40, 80].map(|wait| Verdict::Pause(Duration::from_millis(wait)))
        );
    }
}
