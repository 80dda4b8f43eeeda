//! Time of the sandbox.
//!
//! Instants are real UTC times, so that dates in answers agree with the client's clock; what
//! a speed scales is spans: an operation of ten seconds ends after ten seconds divided by the
//! speed, and so do reservations, refills of request buckets and `Retry-After`. A manual clock
//! stands still until a test moves it, and its spans are not scaled.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tokio::sync::watch;

/// A point in time: microseconds since the Unix epoch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Instant(i64);

impl Instant {
    /// The instant so many microseconds after the Unix epoch.
    pub fn from_unix_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the Unix epoch.
    pub fn unix_micros(self) -> i64 {
        self.0
    }

    /// Whole seconds since the Unix epoch.
    pub fn unix_seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// The instant this much later.
    pub fn plus(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(span.as_micros()).unwrap_or(i64::MAX)),
        )
    }

    /// How long after the other instant this is; zero if it is before.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    fn date_time(self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1000)
            .unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }

    /// As the resource providers print it: `2024-08-27T10:10:20.1376930+00:00`.
    pub(crate) fn precise(self) -> String {
        let at = self.date_time();
        format!("{}T{}.{:06}0+00:00", at.date(), hours(at), at.microsecond())
    }

    /// Without a fraction: `2024-08-27T10:07:58+00:00`.
    pub(crate) fn plain(self) -> String {
        let at = self.date_time();
        format!("{}T{}+00:00", at.date(), hours(at))
    }

    /// As the `Date` header prints it: `Tue, 27 Aug 2024 10:08:49 GMT`.
    pub(crate) fn http_date(self) -> String {
        let at = self.date_time();
        let weekday = at.weekday().to_string();
        let month = at.month().to_string();
        format!(
            "{}, {:02} {} {} {} GMT",
            weekday.get(..3).unwrap_or_default(),
            at.day(),
            month.get(..3).unwrap_or_default(),
            at.year(),
            hours(at)
        )
    }
}

fn hours(at: OffsetDateTime) -> String {
    format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.precise())
    }
}

/// How much faster than real time the sandbox lives.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Speed(f64);

/// Why a number is no speed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("expected a speed between 0.001 and 1000000, found `{0}`")]
pub struct InvalidSpeed(f64);

impl Speed {
    /// As fast as the real Azure.
    pub const REAL: Self = Self(1.0);

    /// So many times as fast as the real Azure.
    pub fn new(times: f64) -> Result<Self, InvalidSpeed> {
        if (0.001..=1_000_000.0).contains(&times) {
            Ok(Self(times))
        } else {
            Err(InvalidSpeed(times))
        }
    }

    /// The factor.
    pub fn times(self) -> f64 {
        self.0
    }

    /// What a span of the real Azure takes here.
    pub fn shrink(self, span: Duration) -> Duration {
        span.div_f64(self.0)
    }

    /// What a span that passed here is in the real Azure.
    pub(crate) fn stretch(self, span: Duration) -> Duration {
        Duration::try_from_secs_f64(span.as_secs_f64() * self.0).unwrap_or(Duration::MAX)
    }

    /// A number of seconds for a `Retry-After` header: scaled and rounded down.
    pub(crate) fn retry_after(self, seconds: u64) -> u64 {
        self.shrink(Duration::from_secs(seconds)).as_secs()
    }
}

/// Where the sandbox takes the time from.
#[derive(Clone, Debug)]
pub struct Clock {
    source: Arc<Source>,
}

#[derive(Debug)]
enum Source {
    Real(Speed),
    Manual(watch::Sender<Instant>),
}

impl Clock {
    /// The machine's clock, with spans divided by the speed.
    pub fn real(speed: Speed) -> Self {
        Self {
            source: Arc::new(Source::Real(speed)),
        }
    }

    /// A clock that stands at 2026-08-01T00:00:00Z until it is moved; speed 1.
    pub fn manual() -> Self {
        let (sender, _) = watch::channel(Instant(1_785_542_400_000_000));
        Self {
            source: Arc::new(Source::Manual(sender)),
        }
    }

    /// The time now.
    pub fn now(&self) -> Instant {
        match &*self.source {
            Source::Real(_) => Instant(
                SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .ok()
                    .and_then(|since| i64::try_from(since.as_micros()).ok())
                    .unwrap_or(0),
            ),
            Source::Manual(sender) => *sender.borrow(),
        }
    }

    /// The speed of the sandbox.
    pub fn speed(&self) -> Speed {
        match *self.source {
            Source::Real(speed) => speed,
            Source::Manual(_) => Speed::REAL,
        }
    }

    /// Moves a manual clock on; answers whether it is one.
    pub fn advance(&self, span: Duration) -> bool {
        match &*self.source {
            Source::Real(_) => false,
            Source::Manual(sender) => {
                sender.send_modify(|now| *now = now.plus(span));
                true
            }
        }
    }

    /// Waits until the instant has come.
    pub(crate) async fn wait_until(&self, instant: Instant) {
        match &*self.source {
            Source::Real(_) => tokio::time::sleep(instant.since(self.now())).await,
            Source::Manual(sender) => {
                // The sender lives as long as this clock, so the wait cannot end with an error.
                let mut receiver = sender.subscribe();
                let _ = receiver.wait_for(|now| *now >= instant).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_print_as_the_service_prints_them() {
        let at = Instant::from_unix_micros(1_724_753_420_137_693);
        assert_eq!(at.precise(), "2024-08-27T10:10:20.1376930+00:00");
        assert_eq!(at.plain(), "2024-08-27T10:10:20+00:00");
        assert_eq!(at.http_date(), "Tue, 27 Aug 2024 10:10:20 GMT");
    }

    #[test]
    fn spans_shrink_and_retry_after_is_rounded_down() {
        let fast = Speed::new(20.0).expect("a speed");
        assert_eq!(
            fast.shrink(Duration::from_secs(10)),
            Duration::from_millis(500)
        );
        assert_eq!(fast.retry_after(35), 1);
        assert_eq!(fast.retry_after(10), 0);
        assert_eq!(Speed::REAL.retry_after(10), 10);
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Speed::new(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_manual_clock_moves_only_by_hand() {
        let clock = Clock::manual();
        let start = clock.now();
        assert_eq!(start.plain(), "2026-08-01T00:00:00+00:00");
        assert_eq!(clock.now(), start);
        assert!(clock.advance(Duration::from_secs(3)));
        assert_eq!(clock.now().since(start), Duration::from_secs(3));
        assert!(!Clock::real(Speed::REAL).advance(Duration::from_secs(1)));
    }
}
