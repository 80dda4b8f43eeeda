//! Numbers, money, memory and time in words.

use std::time::Duration;

use model::units::{Micros, Span};

/// What stands where a value is not known.
pub const UNKNOWN: &str = "unknown";

/// A whole number with its digits in groups: `1,000`.
pub fn count(number: impl TryInto<i128>) -> String {
    number.try_into().map_or_else(
        |_| UNKNOWN.to_owned(),
        |number| grouped(&number.to_string()),
    )
}

/// Groups the digits before the decimal point.
fn grouped(number: &str) -> String {
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", number),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let mut text = sign.to_owned();
    for (position, digit) in whole.chars().enumerate() {
        if position > 0 && (whole.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

/// A number with its noun: `1 error`, `2 errors`, `1,000 steps`.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", count(number))
}

/// A float rounded to `decimals` places; `unknown` where it is no number.
pub fn float(number: f64, decimals: usize) -> String {
    if number.is_finite() {
        grouped(&format!("{number:.decimals$}"))
    } else {
        UNKNOWN.to_owned()
    }
}

/// A decimal such as a unit price with its digits in groups, digit for digit as given; what
/// is no plain decimal stays as it is.
pub fn decimal(text: &str) -> String {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.starts_with(|first: char| first.is_ascii_digit())
        && digits.bytes().filter(|byte| *byte == b'.').count() <= 1
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain {
        grouped(text)
    } else {
        text.to_owned()
    }
}

/// An amount, or `unknown`.
pub fn money(amount: Option<Micros>) -> String {
    amount.map_or_else(|| UNKNOWN.to_owned(), |amount| amount.to_string())
}

/// An amount with its sign: `+12.00`, `-3.50`, `0.00`.
pub fn difference(amount: Micros) -> String {
    if amount > Micros::default() {
        format!("+{amount}")
    } else {
        amount.to_string()
    }
}

/// A difference, where it is known.
pub fn difference_if_known(amount: Option<Micros>) -> String {
    amount.map_or_else(|| UNKNOWN.to_owned(), difference)
}

/// Bytes in GB of 10⁹ bytes with one decimal.
pub fn gigabytes(bytes: u64) -> String {
    let tenths = bytes.saturating_add(50_000_000) / 100_000_000;
    format!("{}.{}", count(tenths / 10), tenths % 10)
}

/// A span of seconds as people say it: `0s`, `12s`, `3m12s`, `1h02m`, `2d03h`.
pub fn seconds(seconds: f64) -> String {
    let whole = if seconds > 0.0 {
        Duration::try_from_secs_f64(seconds).map_or(u64::MAX, |duration| duration.as_secs())
    } else {
        0
    };
    span(Span::from_seconds(whole))
}

/// A span as people say it, as [`seconds`].
pub fn span(span: Span) -> String {
    let whole = span.seconds();
    let (days, hours, minutes) = (whole / 86_400, whole / 3_600 % 24, whole / 60 % 60);
    if days > 0 {
        format!("{}d{hours:02}h", count(days))
    } else if hours > 0 {
        format!("{hours}h{minutes:02}m")
    } else if minutes > 0 {
        format!("{minutes}m{:02}s", whole % 60)
    } else {
        format!("{whole}s")
    }
}

/// Items in one enumeration, the rest as a number: `a, b, c and 4 more`.
pub fn listed<T: AsRef<str>>(items: &[T], most: usize) -> String {
    let shown = if items.len() > most {
        most
    } else {
        items.len()
    };
    let text = items
        .iter()
        .take(shown)
        .map(AsRef::as_ref)
        .collect::<Vec<_>>()
        .join(", ");
    match items.len() - shown {
        0 => text,
        more => format!("{text} and {} more", count(more)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_whatever_their_sign() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(-1_000), "-1,000");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(counted(1, "error", "errors"), "1 error");
        assert_eq!(counted(0, "error", "errors"), "0 errors");
    }

    #[test]
    fn floats_that_are_no_numbers_are_unknown() {
        assert_eq!(float(12_345.678, 1), "12,345.7");
        assert_eq!(float(f64::NAN, 1), UNKNOWN);
        assert_eq!(float(f64::NEG_INFINITY, 0), UNKNOWN);
    }

    #[test]
    fn decimals_keep_every_digit() {
        assert_eq!(decimal("98.3200"), "98.3200");
        assert_eq!(decimal("12345.5"), "12,345.5");
        assert_eq!(decimal("1e5"), "1e5");
        assert_eq!(decimal("1.2.3"), "1.2.3");
        assert_eq!(decimal(""), "");
    }

    #[test]
    fn memory_is_rounded_to_tenths() {
        assert_eq!(gigabytes(0), "0.0");
        assert_eq!(gigabytes(49_999_999), "0.0");
        assert_eq!(gigabytes(50_000_000), "0.1");
        assert_eq!(gigabytes(1_129_600_000_000), "1,129.6");
        assert_eq!(gigabytes(u64::MAX), "18,446,744,073.7");
    }

    #[test]
    fn time_is_said_in_two_units() {
        let check = |given: f64, expected: &str| assert_eq!(seconds(given), expected);
        check(0.0, "0s");
        check(-5.0, "0s");
        check(f64::NAN, "0s");
        check(59.9, "59s");
        check(192.0, "3m12s");
        check(3_720.0, "1h02m");
        check(183_600.0, "2d03h");
        check(f64::INFINITY, "213,503,982,334,601d07h");
    }

    #[test]
    fn long_enumerations_end_with_a_number() {
        assert_eq!(listed(&["a", "b"], 2), "a, b");
        assert_eq!(listed(&["a", "b", "c"], 2), "a, b and 1 more");
        assert_eq!(listed::<&str>(&[], 2), "");
    }
}
