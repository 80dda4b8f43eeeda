//! What to say of a deadline that is not met: what binds, by how much, and what would do.

use super::number::{float, whole};

/// A deadline that is not met.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// What there is at most, such as "100 VMs of `…`, the most that InfiniBand connects".
    pub limit: String,
    /// Seconds that this takes.
    pub seconds: f64,
    /// Seconds that there are.
    pub deadline: f64,
    /// Tokens that are to get through.
    pub tokens: f64,
}

impl Shortfall {
    /// The finding: what binds, and by how much it misses.
    pub fn message(&self) -> String {
        let deadline = span(self.deadline);
        if !self.seconds.is_finite() {
            return format!(
                "the deadline of {deadline} is not met: {} would not hold the model",
                self.limit
            );
        }
        format!(
            "the deadline of {deadline} is not met: {} would take {}, which is {} longer",
            self.limit,
            span(self.seconds),
            span(self.seconds - self.deadline)
        )
    }

    /// The nearest changes that would do, of the deadline and of the tokens.
    pub fn help(&self) -> Vec<String> {
        if !self.seconds.is_finite() {
            return Vec::new();
        }
        let hours = (self.seconds / 3_600.0).ceil();
        let longer = if hours >= 72.0 {
            format!("{}d", (hours / 24.0).ceil())
        } else {
            format!("{hours}h")
        };
        let fewer = self.tokens * self.deadline / self.seconds;
        vec![format!(
            "a deadline of `{longer}` would do, or {} tokens in {}",
            tokens(fewer),
            span(self.deadline)
        )]
    }
}

/// A number of VMs of a size.
pub fn vms(count: u32, size: &str) -> String {
    match count {
        1 => format!("1 VM of `{size}`"),
        count => format!("{count} VMs of `{size}`"),
    }
}

/// A number of tokens, rounded down, as options take it.
fn tokens(count: f64) -> String {
    let units = [(1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")];
    for (unit, letter) in units {
        if count >= unit {
            let tenths = (count / unit * 10.0).floor() / 10.0;
            return format!("`{tenths}{letter}`");
        }
    }
    format!("`{}`", count.floor())
}

/// Seconds as people say them.
pub fn span(seconds: f64) -> String {
    let seconds = whole(seconds.max(0.0)).unwrap_or(u64::MAX);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    if days > 9_999_999 {
        format!("{:.1e} days", float(days))
    } else if days > 0 {
        format!("{days}d{hours:02}h")
    } else if hours > 0 {
        format!("{hours}h{minutes:02}m")
    } else {
        format!("{minutes}m{:02}s", seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_miss_names_what_binds_and_what_would_do() {
        let shortfall = Shortfall {
            limit: "100 VMs".to_owned(),
            seconds: 10.0 * 86_400.0,
            deadline: 4.0 * 86_400.0,
            tokens: 1e12,
        };
        assert_eq!(
            shortfall.message(),
            "the deadline of 4d00h is not met: 100 VMs would take 10d00h, which is 6d00h longer"
        );
        let help = ["a deadline of `10d` would do, or `400B` tokens in 4d00h"];
        assert_eq!(shortfall.help(), help);
    }

    #[test]
    fn absurd_spans_are_said_somehow() {
        assert_eq!(span(f64::INFINITY), "2.1e14 days");
        assert_eq!(span(61.0), "1m01s");
        assert_eq!(tokens(12.7), "`12`");
    }
}
