//! When a request may be sent: pauses after a `429`, spacing when a bucket runs low, and the
//! limit that the user sets. A pause holds the whole class of calls, not one call.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use azure_core::{
    Method,
    headers::{HeaderName, Headers},
};

use crate::{clock::Clock, error::ArmError};

/// ARM's buckets refill at 25 reads a second.
const READ_SPACING: Duration = Duration::from_millis(40);
/// ARM's buckets refill at 10 writes and 10 deletes a second.
const WRITE_SPACING: Duration = Duration::from_millis(100);
/// Compute's narrowest subscription bucket refills at 500 a minute.
const RESOURCE_SPACING: Duration = Duration::from_millis(120);
/// Where providers tell how full their own buckets are: `Microsoft.Compute/PutVM…;1499,…`.
const RESOURCE_HEADER: HeaderName = HeaderName::from_static("x-ms-ratelimit-remaining-resource");
/// Below so many tokens a class is spaced at its refill rate: a tenth of ARM's buckets, so that
/// somebody else's burst does not end in a refusal for us.
const LOW_WATER: u64 = 20;

/// What a bucket counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// Reads.
    Read,
    /// Creates, changes and actions.
    Write,
    /// Deletes.
    Delete,
}

impl Access {
    fn spacing(self) -> Duration {
        match self {
            Self::Read => READ_SPACING,
            Self::Write | Self::Delete => WRITE_SPACING,
        }
    }

    fn remaining_header(self) -> HeaderName {
        match self {
            Self::Read => HeaderName::from_static("x-ms-ratelimit-remaining-subscription-reads"),
            Self::Write => HeaderName::from_static("x-ms-ratelimit-remaining-subscription-writes"),
            Self::Delete => {
                HeaderName::from_static("x-ms-ratelimit-remaining-subscription-deletes")
            }
        }
    }
}

/// Calls that share a bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class {
    /// What is done.
    pub(crate) access: Access,
    /// The provider's namespace in lower case; empty for ARM's own.
    pub(crate) provider: String,
}

impl Class {
    /// The class of a call.
    pub(crate) fn of(method: Method, path: &str) -> Self {
        let access = if method == Method::Get || method == Method::Head {
            Access::Read
        } else if method == Method::Delete {
            Access::Delete
        } else {
            Access::Write
        };
        let lower = path.to_lowercase();
        let provider = lower
            .rsplit_once("/providers/")
            .and_then(|(_, below)| below.split('/').next())
            .unwrap_or_default();
        Self {
            access,
            provider: provider.to_owned(),
        }
    }
}

/// When the next call of a class may go.
#[derive(Clone, Copy, Debug, Default)]
struct Gate {
    closed_until: Duration,
    next: Duration,
    spacing: Duration,
    /// Where the service tells how full its bucket is.
    tokens: Option<Tokens>,
    /// Calls that passed and have no answer yet: no header tells of them.
    in_flight: u64,
}

/// What is left of a bucket, as the last answer told it.
#[derive(Clone, Copy, Debug)]
struct Tokens {
    left: u64,
    /// When it was told.
    at: Duration,
}

impl Gate {
    /// The distance to the next call, where a bucket refills with one token in `spacing`: none
    /// while there are tokens for all calls that passed.
    fn distance(&mut self, spacing: Duration, now: Duration) -> Duration {
        let Some(tokens) = self.tokens else {
            return self.spacing;
        };
        let came = now.saturating_sub(tokens.at).as_micros() / spacing.as_micros().max(1);
        let came = u64::try_from(came).unwrap_or(u64::MAX);
        let left = tokens.left.saturating_add(came);
        if left.saturating_sub(self.in_flight) < LOW_WATER {
            spacing
        } else {
            Duration::ZERO
        }
    }
}

#[derive(Debug, Default)]
struct State {
    classes: BTreeMap<Class, Gate>,
    arm: BTreeMap<Access, Gate>,
    all: Gate,
}

/// All gates of a client.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    state: Mutex<State>,
}

impl Gates {
    /// Gates with the user's limit on all requests.
    pub(crate) fn new(requests_per_second: Option<u32>) -> Self {
        let gates = Self::default();
        if let Some(limit) = requests_per_second.filter(|limit| *limit > 0) {
            // A tenth more than the exact spacing: requests that are late on the wire must not
            // meet the next ones in the same second.
            gates.with(|state| {
                state.all.spacing = Duration::from_micros(1_100_000 / u64::from(limit));
            });
        }
        gates
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until a call of this class may be sent.
    pub(crate) async fn pass(&self, class: &Class, clock: &dyn Clock) {
        loop {
            let now = clock.now();
            let closed = self.with(|state| state.closed_until(class));
            if closed > now {
                clock.sleep(closed.saturating_sub(now)).await;
                continue;
            }
            let slot = self.with(|state| state.reserve(class, now));
            if slot > now {
                clock.sleep(slot.saturating_sub(now)).await;
            }
            // Somebody may have been refused while we waited for our slot.
            if self.with(|state| state.closed_until(class)) <= clock.now() {
                return;
            }
            self.answered(class);
        }
    }

    /// Closes the class for a while after a `429`; all providers where ARM itself refused.
    pub(crate) fn close(&self, class: &Class, error: &ArmError, until: Duration) {
        let by_arm = error.has_code("SubscriptionRequestsThrottled")
            || error.has_code("TenantRequestsThrottled");
        self.with(|state| {
            let gate = if by_arm {
                state.arm.entry(class.access).or_default()
            } else {
                state.classes.entry(class.clone()).or_default()
            };
            gate.closed_until = gate.closed_until.max(until);
            gate.spacing = class.access.spacing();
        });
    }

    /// A call that passed is over, whatever came of it.
    pub(crate) fn answered(&self, class: &Class) {
        self.with(|state| {
            let gate = state.arm.entry(class.access).or_default();
            gate.in_flight = gate.in_flight.saturating_sub(1);
        });
    }

    /// Learns from the headers of an answer how full ARM's and the provider's buckets are.
    pub(crate) fn observe(&self, class: &Class, headers: &Headers, now: Duration) {
        let remaining = headers
            .get_optional_str(&class.access.remaining_header())
            .and_then(|text| text.trim().parse::<u64>().ok());
        self.with(|state| {
            if let Some(remaining) = remaining {
                let gate = state.arm.entry(class.access).or_default();
                gate.tokens = Some(Tokens {
                    left: remaining,
                    at: now,
                });
            }
            if headers
                .get_optional_str(&RESOURCE_HEADER)
                .is_some_and(is_low)
            {
                let gate = state.classes.entry(class.clone()).or_default();
                gate.spacing = gate.spacing.max(RESOURCE_SPACING);
            } else if let Some(gate) = state.classes.get_mut(class) {
                gate.spacing = gate.spacing.saturating_sub(gate.spacing / 8);
            }
        });
    }
}

/// Whether a bucket of the whole subscription is nearly empty. Those of one resource hold up
/// nobody else.
fn is_low(buckets: &str) -> bool {
    buckets.split(',').any(|bucket| {
        let Some((name, remaining)) = bucket.trim().rsplit_once(';') else {
            return false;
        };
        let of_subscription = name.ends_with("SubscriptionMaximum") || name.ends_with("Min");
        of_subscription
            && remaining
                .trim()
                .parse::<u64>()
                .is_ok_and(|left| left < LOW_WATER)
    })
}

impl State {
    fn closed_until(&self, class: &Class) -> Duration {
        let provider = self.classes.get(class).map(|gate| gate.closed_until);
        let arm = self.arm.get(&class.access).map(|gate| gate.closed_until);
        provider.max(arm).unwrap_or_default()
    }

    /// Takes the next free slot of every gate that the call passes.
    fn reserve(&mut self, class: &Class, now: Duration) -> Duration {
        let arm = self.arm.entry(class.access).or_default();
        arm.spacing = arm.distance(class.access.spacing(), now);
        arm.in_flight += 1;
        let mut slot = now;
        let provider = self.classes.get_mut(class);
        let mut gates: Vec<&mut Gate> = provider.into_iter().collect();
        gates.extend([arm, &mut self.all]);
        for gate in &gates {
            slot = slot.max(gate.next);
        }
        for gate in gates {
            if gate.spacing > Duration::ZERO {
                gate.next = slot + gate.spacing;
            }
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::testing::TestClock;

    fn class(method: Method) -> Class {
        Class::of(
            method,
            "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm",
        )
    }

    fn throttled(code: &str) -> ArmError {
        ArmError {
            status: 429,
            code: code.to_owned(),
            ..ArmError::default()
        }
    }

    #[test]
    fn classes_are_told_apart_by_access_and_provider() {
        assert_eq!(class(Method::Get).provider, "microsoft.compute");
        assert_ne!(class(Method::Get), class(Method::Put));
        assert_eq!(class(Method::Post), class(Method::Patch));
        assert_eq!(
            Class::of(Method::Get, "/subscriptions/s/resources").provider,
            ""
        );
    }

    #[tokio::test]
    async fn a_pause_holds_the_class_and_nothing_else() {
        let (gates, clock) = (Gates::default(), TestClock::default());
        let refused = class(Method::Get);
        gates.close(
            &refused,
            &throttled("TooManyRequests"),
            Duration::from_secs(17),
        );
        gates.pass(&class(Method::Put), &clock).await;
        assert_eq!(clock.now(), Duration::ZERO);
        gates.pass(&refused, &clock).await;
        assert_eq!(clock.now(), Duration::from_secs(17));
    }

    #[tokio::test]
    async fn arm_pauses_every_provider() {
        let (gates, clock) = (Gates::default(), TestClock::default());
        gates.close(
            &class(Method::Put),
            &throttled("SubscriptionRequestsThrottled"),
            Duration::from_secs(6),
        );
        let network = Class::of(
            Method::Put,
            "/subscriptions/s/providers/Microsoft.Network/x/y",
        );
        gates.pass(&network, &clock).await;
        assert_eq!(clock.now(), Duration::from_secs(6));
    }

    #[tokio::test]
    async fn the_users_limit_holds_in_any_second() {
        let (gates, clock) = (Gates::new(Some(5)), TestClock::default());
        let mut sent = Vec::new();
        for _ in 0..40 {
            gates.pass(&class(Method::Get), &clock).await;
            sent.push(clock.now());
        }
        for window in sent.windows(6) {
            let [first, .., last] = window else {
                panic!("a window of six");
            };
            assert!(
                last.saturating_sub(*first) > Duration::from_secs(1),
                "{window:?}"
            );
        }
    }

    #[tokio::test]
    async fn a_low_bucket_of_the_provider_spaces_its_calls() {
        let (gates, clock) = (Gates::default(), TestClock::default());
        let writes = class(Method::Put);
        let mut headers = Headers::new();
        let per_resource =
            "Microsoft.Compute/PutVMSubscriptionMaximum;1400,Microsoft.Compute/PutVMResource;2";
        headers.insert("x-ms-ratelimit-remaining-resource", per_resource);
        gates.answered(&writes);
        gates.observe(&writes, &headers, clock.now());
        for _ in 0..3 {
            gates.pass(&writes, &clock).await;
        }
        assert_eq!(clock.now(), Duration::ZERO);
        headers.insert(
            "x-ms-ratelimit-remaining-resource",
            "Microsoft.Compute/PutVMSubscriptionMaximum;7",
        );
        gates.answered(&writes);
        gates.observe(&writes, &headers, clock.now());
        for _ in 0..3 {
            gates.pass(&writes, &clock).await;
        }
        assert_eq!(clock.now(), Duration::from_millis(240));
    }

    #[tokio::test]
    async fn a_low_bucket_spaces_calls_and_a_full_one_does_not() {
        let (gates, clock) = (Gates::default(), TestClock::default());
        let writes = class(Method::Put);
        let mut headers = Headers::new();
        headers.insert("x-ms-ratelimit-remaining-subscription-writes", "3");
        gates.answered(&writes);
        gates.observe(&writes, &headers, clock.now());
        for _ in 0..3 {
            gates.pass(&writes, &clock).await;
        }
        assert_eq!(clock.now(), Duration::from_millis(200));
        headers.insert("x-ms-ratelimit-remaining-subscription-writes", "150");
        gates.answered(&writes);
        gates.observe(&writes, &headers, clock.now());
        for _ in 0..3 {
            gates.pass(&writes, &clock).await;
        }
        assert!(clock.now() <= Duration::from_millis(300));
    }

    /// Calls that start together all pass before any of them is answered: they count too.
    #[tokio::test]
    async fn a_burst_stops_where_the_bucket_is_empty() {
        let (gates, clock) = (Gates::default(), TestClock::default());
        let writes = class(Method::Put);
        let mut headers = Headers::new();
        headers.insert("x-ms-ratelimit-remaining-subscription-writes", "60");
        gates.pass(&writes, &clock).await;
        gates.answered(&writes);
        gates.observe(&writes, &headers, clock.now());
        for _ in 0..40 {
            gates.pass(&writes, &clock).await;
        }
        assert_eq!(clock.now(), Duration::ZERO);
        for _ in 0..12 {
            gates.pass(&writes, &clock).await;
        }
        assert_eq!(clock.now(), Duration::from_secs(1));
    }
}
