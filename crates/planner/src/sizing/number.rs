//! Conversions that lose nothing silently.

use rust_decimal::{Decimal, prelude::ToPrimitive};

/// A whole number as a float; beyond 2⁵³ the nearest one.
pub(crate) fn float(number: u64) -> f64 {
    number.to_f64().unwrap_or(f64::MAX)
}

/// A decimal as a float.
pub(super) fn of_decimal(number: Decimal) -> f64 {
    number.to_f64().unwrap_or(f64::MAX)
}

/// The whole number that is not below; `None` where it does not fit.
pub(super) fn whole(number: f64) -> Option<u64> {
    number.is_finite().then(|| number.ceil().to_u64())?
}

/// The same for counts of GPUs.
pub(super) fn count(number: f64) -> Option<u32> {
    whole(number).and_then(|number| u32::try_from(number).ok())
}

/// Rounds to a number of decimals, so that documents do not show digits that mean nothing.
pub(super) fn rounded(number: f64, decimals: u32) -> f64 {
    let scale = float(10_u64.saturating_pow(decimals));
    let scaled = (number * scale).round() / scale;
    if scaled.is_finite() { scaled } else { number }
}

/// The cube root by Newton's steps: the four operations only, so that it is the same everywhere.
pub(super) fn cube_root(number: f64) -> f64 {
    if !number.is_finite() || number <= 0.0 {
        return 0.0;
    }
    // From above, the steps fall until they reach the root.
    let mut root = number.max(1.0);
    for _ in 0..200 {
        let next = (2.0 * root + number / (root * root)) / 3.0;
        if next >= root {
            break;
        }
        root = next;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_hold_at_their_limits() {
        assert_eq!(whole(f64::MAX), None);
        assert_eq!(whole(f64::NAN), None);
        assert_eq!(whole(-1.5), None);
        assert_eq!(whole(2.1), Some(3));
        assert_eq!(count(5e9), None);
        assert!((cube_root(27.0) - 3.0).abs() < 1e-12);
        assert!((cube_root(1e30) - 1e10).abs() < 1.0);
        assert!((rounded(0.123_456, 3) - 0.123).abs() < f64::EPSILON);
    }
}
