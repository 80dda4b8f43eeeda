//! Points in time that a faults file names.

use std::time::Duration;

use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::clock::{Instant, Speed};

/// When something is to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum When {
    /// So many seconds of Azure's time after the rules were given.
    After(u64),
    /// At this time of the sandbox.
    At(Instant),
}

impl When {
    /// Reads `600` or `2026-08-01T00:10:00Z`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if let Ok(seconds) = text.parse() {
            return Some(Self::After(seconds));
        }
        let at = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        let micros = i64::try_from(at.unix_timestamp_nanos() / 1_000).ok()?;
        Some(Self::At(Instant::from_unix_micros(micros)))
    }

    /// Whether it is no earlier than another; what is told apart by the clock alone is not.
    pub(super) fn is_not_before(self, other: Self) -> bool {
        match (self, other) {
            (Self::After(this), Self::After(other)) => this >= other,
            (Self::At(this), Self::At(other)) => this >= other,
            (Self::After(_), Self::At(_)) | (Self::At(_), Self::After(_)) => false,
        }
    }

    /// The instant, for rules that are given now.
    pub(super) fn fixed(self, now: Instant, speed: Speed) -> Self {
        match self {
            Self::After(seconds) => Self::At(now.plus(speed.shrink(Duration::from_secs(seconds)))),
            Self::At(instant) => Self::At(instant),
        }
    }

    /// The instant, once the rules have been given.
    pub(super) fn instant(self) -> Option<Instant> {
        match self {
            Self::At(instant) => Some(instant),
            Self::After(_) => None,
        }
    }

    /// Whether it has come.
    pub(super) fn has_come(self, now: Instant) -> bool {
        self.instant().is_some_and(|instant| instant <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read() {
        let at = |micros| When::At(Instant::from_unix_micros(micros));
        assert_eq!(When::parse("600"), Some(When::After(600)));
        let date = Some(at(1_785_543_000_000_000));
        assert_eq!(When::parse("2026-08-01T00:10:00Z"), date);
        assert_eq!(When::parse("2026-08-01T02:10:00+02:00"), date);
        for wrong in ["soon", "-1", "1.5", "2026-08-01", ""] {
            assert_eq!(When::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn spans_shrink_with_the_speed() {
        let now = Instant::from_unix_micros(0);
        let fast = Speed::new(100.0).expect("a speed");
        let fixed = When::After(600).fixed(now, fast);
        assert_eq!(fixed.instant(), Some(Instant::from_unix_micros(6_000_000)));
        assert!(!fixed.has_come(Instant::from_unix_micros(5_999_999)));
        assert!(fixed.has_come(Instant::from_unix_micros(6_000_000)));
        assert!(!When::After(0).has_come(now));
    }
}
