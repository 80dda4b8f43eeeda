//! The buckets as they are now: taking tokens, and the refusals when there are none.

use std::collections::BTreeMap;

use serde_json::json;

use super::rules::{COMPUTE, NETWORK_READS, NETWORK_WRITES, Rule, Scope, region};
use crate::{
    clock::{Instant, Speed},
    error::ArmError,
    http::Method,
};

/// Whom a request is counted for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    pub(crate) subscription: &'a str,
    pub(crate) principal: &'a str,
    pub(crate) region: &'a str,
    /// What the request is about, for buckets per resource.
    pub(crate) resource: &'a str,
    pub(crate) now: Instant,
    pub(crate) speed: Speed,
}

#[derive(Clone, Copy, Debug)]
struct Level {
    /// In millionths of a token.
    tokens: u128,
    at: Instant,
}

/// How full every bucket is.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    levels: BTreeMap<(&'static str, String), Level>,
    /// Whether buckets are counted at all.
    off: bool,
}

/// Levels are looked through for full ones when there are more than this.
const MANY: usize = 20_000;

const MILLION: u128 = 1_000_000;

impl Limits {
    /// Buckets that never run out.
    pub(crate) fn unlimited() -> Self {
        Self {
            levels: BTreeMap::new(),
            off: true,
        }
    }

    /// Takes one token from each bucket, or none if one is empty: the bucket, and the seconds
    /// of Azure's time until it has a token again.
    fn take(
        &mut self,
        rules: &[Rule],
        caller: &Caller<'_>,
    ) -> Result<Vec<(&'static str, u128)>, (Rule, u64)> {
        if self.levels.len() > MANY {
            self.forget_full(caller);
        }
        let mut remaining = Vec::new();
        for rule in rules {
            let level = self.level(rule, caller);
            if level.tokens < MILLION && !self.off {
                let missing = MILLION - level.tokens;
                let seconds = (missing * 60).div_ceil(u128::from(rule.refill.max(1)) * MILLION);
                return Err((*rule, u64::try_from(seconds).unwrap_or(u64::MAX)));
            }
            remaining.push((rule.name, level.tokens / MILLION));
        }
        for rule in rules {
            let mut level = self.level(rule, caller);
            level.tokens = level.tokens.saturating_sub(MILLION);
            self.levels.insert((rule.name, key(rule, caller)), level);
        }
        Ok(remaining
            .into_iter()
            .map(|(name, tokens)| (name, tokens.saturating_sub(1)))
            .collect())
    }

    fn level(&self, rule: &Rule, caller: &Caller<'_>) -> Level {
        let full = u128::from(rule.capacity) * MILLION;
        let Some(level) = self.levels.get(&(rule.name, key(rule, caller))) else {
            return Level {
                tokens: full,
                at: caller.now,
            };
        };
        let passed = caller.speed.stretch(caller.now.since(level.at)).as_micros();
        let gained = passed.saturating_mul(u128::from(rule.refill)) / 60;
        Level {
            tokens: level.tokens.saturating_add(gained).min(full),
            at: caller.now,
        }
    }

    /// Levels that have not been touched for an hour of Azure's time are full again.
    fn forget_full(&mut self, caller: &Caller<'_>) {
        self.levels
            .retain(|_, level| caller.speed.stretch(caller.now.since(level.at)).as_secs() < 3_600);
    }

    /// Counts a request at ARM; answers its headers.
    pub(crate) fn arm(
        &mut self,
        method: Method,
        operation: &str,
        caller: &Caller<'_>,
    ) -> Result<Vec<(String, String)>, ArmError> {
        let (own, all) = match method {
            Method::Get | Method::Head => ("reads", "global-reads"),
            Method::Delete => ("deletes", "global-deletes"),
            Method::Put | Method::Patch | Method::Post | Method::Other => {
                ("writes", "global-writes")
            }
        };
        let (capacity, refill) = if own == "reads" {
            (250, 25 * 60)
        } else {
            (200, 10 * 60)
        };
        let per_caller = region(own, capacity, refill);
        let per_subscription = region(all, capacity * 15, refill * 15);
        let principal = Caller {
            region: caller.principal,
            ..*caller
        };
        let everybody = Caller {
            region: "",
            ..*caller
        };
        let mut remaining = self
            .take(&[per_caller], &principal)
            .and_then(|mut mine| {
                mine.extend(self.take(&[per_subscription], &everybody)?);
                Ok(mine)
            })
            .map_err(|(rule, seconds)| subscription_throttled(rule, seconds, operation, caller))?;
        // Recorded answers to reads carry the subscription's bucket alone.
        if own == "reads" {
            remaining.retain(|(name, _)| *name == all);
        }
        Ok(remaining
            .into_iter()
            .map(|(name, tokens)| {
                (
                    format!("x-ms-ratelimit-remaining-subscription-{name}"),
                    tokens.to_string(),
                )
            })
            .collect())
    }

    /// Counts a request at Compute; answers its header.
    pub(crate) fn compute(
        &mut self,
        group: &str,
        caller: &Caller<'_>,
    ) -> Result<Option<(String, String)>, ArmError> {
        let Some((_, rules)) = COMPUTE.iter().find(|(name, _)| *name == group) else {
            return Ok(None);
        };
        let remaining = self
            .take(rules, caller)
            .map_err(|(rule, seconds)| compute_throttled(rule, seconds, caller))?;
        let value: Vec<String> = remaining
            .into_iter()
            .map(|(name, tokens)| format!("Microsoft.Compute/{name};{tokens}"))
            .collect();
        Ok(Some((
            "x-ms-ratelimit-remaining-resource".to_owned(),
            value.join(","),
        )))
    }

    /// Counts a request at Microsoft.Network, which shows nothing of it.
    pub(crate) fn network(
        &mut self,
        method: Method,
        action: &str,
        caller: &Caller<'_>,
    ) -> Result<(), ArmError> {
        let rule = if matches!(method, Method::Get | Method::Head) {
            NETWORK_READS
        } else {
            NETWORK_WRITES
        };
        self.take(&[rule], caller).map_err(|(rule, seconds)| {
            let wait = caller.speed.retry_after(seconds);
            ArmError::gateway(
                429,
                "ResourceRequestsThrottled",
                format!(
                    "Number of requests for action '{action}' exceeded the limit of '{}' for time \
                     interval '00:05:00'. Please try again after '{wait}' seconds.",
                    rule.capacity
                ),
            )
            .with_header("Retry-After", wait.to_string())
        })?;
        Ok(())
    }
}

fn key(rule: &Rule, caller: &Caller<'_>) -> String {
    match rule.scope {
        Scope::Region => format!("{} {}", caller.subscription, caller.region).to_lowercase(),
        Scope::Resource => caller.resource.to_lowercase(),
    }
}

fn subscription_throttled(
    rule: Rule,
    seconds: u64,
    operation: &str,
    caller: &Caller<'_>,
) -> ArmError {
    let wait = caller.speed.retry_after(seconds);
    ArmError::gateway(
        429,
        "SubscriptionRequestsThrottled",
        format!(
            "Number of requests for subscription '{}' and operation '{operation}' exceeded the \
             backend storage limit. Please try again after '{wait}' seconds.",
            caller.subscription
        ),
    )
    .with_header("Retry-After", wait.to_string())
    .with_header(
        &format!("x-ms-ratelimit-remaining-subscription-{}", rule.name),
        "0",
    )
}

fn compute_throttled(rule: Rule, seconds: u64, caller: &Caller<'_>) -> ArmError {
    let wait = caller.speed.retry_after(seconds);
    let inner = json!({
        "operationGroup": rule.name,
        "startTime": caller.now.precise(),
        "endTime": caller.now.plus(std::time::Duration::from_secs(wait)).plain(),
        "allowedRequestCount": rule.capacity,
        "measuredRequestCount": rule.capacity + 1,
    });
    ArmError::new(
        429,
        "OperationNotAllowed",
        "The server rejected the request because too many requests have been received for this \
         subscription.",
    )
    .with_details(vec![json!({
        "code": "TooManyRequests",
        "target": rule.name,
        "message": inner.to_string(),
    })])
    .with_member(
        "innererror",
        json!({"internalErrorCode": "TooManyRequestsReceived"}),
    )
    .with_header("Retry-After", wait.to_string())
    .with_header(
        "x-ms-ratelimit-remaining-resource",
        format!("Microsoft.Compute/{};0", rule.name),
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn caller(now: Instant, speed: f64) -> Caller<'static> {
        Caller {
            subscription: "s",
            principal: "p",
            region: "eastus",
            resource: "vm",
            now,
            speed: Speed::new(speed).expect("a speed"),
        }
    }

    #[test]
    fn a_resource_bucket_runs_out_and_refills_at_its_rate() {
        let mut limits = Limits::default();
        let start = Instant::from_unix_micros(0);
        for left in (0..12).rev() {
            let (_, value) = limits
                .compute("PutVM", &caller(start, 1.0))
                .expect("a token")
                .expect("a header");
            assert!(value.ends_with(&format!("PutVMResource;{left}")), "{value}");
        }
        let error = limits
            .compute("PutVM", &caller(start, 1.0))
            .expect_err("an empty bucket");
        assert_eq!(
            (error.status, error.code.as_str()),
            (429, "OperationNotAllowed")
        );
        assert!(
            error
                .headers
                .contains(&("Retry-After".to_owned(), "15".to_owned()))
        );
        let details = error.details.as_deref().expect("details");
        let target = details.first().and_then(|detail| detail.get("target"));
        assert_eq!(target, Some(&json!("PutVMResource")));
        let later = start.plus(Duration::from_secs(15));
        assert!(limits.compute("PutVM", &caller(later, 1.0)).is_ok());
        assert!(limits.compute("PutVM", &caller(later, 1.0)).is_err());
    }

    #[test]
    fn buckets_refill_with_the_speed() {
        let mut limits = Limits::default();
        let start = Instant::from_unix_micros(0);
        while limits.compute("PutVM", &caller(start, 100.0)).is_ok() {}
        let error = limits
            .compute("PutVM", &caller(start, 100.0))
            .expect_err("an empty bucket");
        assert!(
            error
                .headers
                .contains(&("Retry-After".to_owned(), "0".to_owned()))
        );
        let later = start.plus(Duration::from_millis(150));
        assert!(limits.compute("PutVM", &caller(later, 100.0)).is_ok());
    }

    #[test]
    fn arm_counts_reads_and_writes_apart_and_shows_what_recordings_show() {
        let mut limits = Limits::default();
        let now = Instant::from_unix_micros(0);
        let reads = limits
            .arm(Method::Get, "op", &caller(now, 1.0))
            .expect("a token");
        assert_eq!(
            reads,
            vec![(
                "x-ms-ratelimit-remaining-subscription-global-reads".to_owned(),
                "3749".to_owned()
            )]
        );
        let writes = limits
            .arm(Method::Post, "op", &caller(now, 1.0))
            .expect("a token");
        assert_eq!(writes.len(), 2);
        assert!(writes.iter().any(|(_, tokens)| tokens == "199"));
        let mut served = 1;
        while limits.arm(Method::Put, "op", &caller(now, 1.0)).is_ok() {
            served += 1;
        }
        assert_eq!(served, 200);
        assert!(limits.arm(Method::Get, "op", &caller(now, 1.0)).is_ok());
    }

    #[test]
    fn unlimited_buckets_never_refuse() {
        let mut limits = Limits::unlimited();
        let now = Instant::from_unix_micros(0);
        for _ in 0..100 {
            assert!(limits.compute("PutVM", &caller(now, 1.0)).is_ok());
        }
    }
}
