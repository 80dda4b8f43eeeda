//! Quantities with units: spans of time, memory, and large counts.

use rust_decimal::{Decimal, prelude::ToPrimitive};

use super::{form, form_as_written};
use crate::{
    spec::{
        pool::Share,
        schema::kind::{Decimals, Refusal, TextForm, Verdict},
    },
    units::Span,
};

/// Longest span: ten years.
const LONGEST_SECONDS: u64 = 10 * 365 * 86_400;

pub(crate) const SPAN: TextForm = form_as_written(
    "a span of time such as `90s`, `15m`, `72h` or `30d`",
    "^[0-9]+[smhd]$",
    |text| match span(text) {
        Ok(span) if span.seconds() == 0 => Err(Refusal::because("it must be longer than nothing")),
        Ok(_) => Ok(()),
        Err(refusal) => Err(refusal),
    },
);

pub(crate) const SPAN_OR_ZERO: TextForm = form_as_written(
    "a span of time such as `0h`, `15m` or `2h`",
    "^[0-9]+[smhd]$",
    |text| span(text).map(|_| ()),
);

pub(crate) const SHARE: TextForm = form_as_written(
    "a number of nodes such as `2`, or a part of them such as `20%`",
    "^([1-9][0-9]{0,3}|([1-9][0-9]?|100)%)$",
    |text| share(text).map(|_| ()).ok_or_else(Refusal::plain),
);

/// A number of nodes, or a part of them.
pub(crate) fn share(text: &str) -> Option<Share> {
    let (digits, percent) = match text.strip_suffix('%') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    let number: u32 = digits.parse().ok().filter(|_| is_plain)?;
    if percent {
        (number <= 100).then_some(Share::Percent(number))
    } else {
        (number <= 9_999).then_some(Share::Count(number))
    }
}

pub(crate) const MEMORY: TextForm = form(
    "an amount of memory such as `80GB`",
    "^[1-9][0-9]{0,5}GB$",
    |text| match memory(text) {
        Some(_) => Ok(()),
        None => Err(memory_refusal(text)),
    },
);

pub(crate) const PARAMETERS: TextForm = form_as_written(
    "a number of parameters such as `350M`, `1.5B`, `70B` or `7e9`",
    "^([1-9][0-9]*|[0-9]+\\.[0-9]+)([KkMmBbTt]|[eE]\\+?[0-9]{1,2})?$",
    large,
);

pub(crate) const TOKENS: TextForm = form_as_written(
    "a number of tokens such as `20B`, `1.5T` or `2e12`",
    "^([1-9][0-9]*|[0-9]+\\.[0-9]+)([KkMmBbTt]|[eE]\\+?[0-9]{1,2})?$",
    large,
);

pub(crate) const MONEY: Decimals = Decimals {
    expected: "an amount above 0 with at most 6 decimals",
    most_digits: 6,
    minus_one: false,
};

pub(crate) const SPOT_PRICE: Decimals = Decimals {
    expected: "`-1`, which is up to the regular price, or US dollars an hour above 0 with at most 5 decimals",
    most_digits: 5,
    minus_one: true,
};

/// Reads a span of time.
pub(crate) fn span(text: &str) -> Result<Span, Refusal> {
    match text.parse::<Span>() {
        Ok(span) if span.seconds() > LONGEST_SECONDS => {
            Err(Refusal::because("it is longer than ten years"))
        }
        Ok(span) => Ok(span),
        Err(_) => Err(span_refusal(text)),
    }
}

fn span_refusal(text: &str) -> Refusal {
    let trimmed = text.trim();
    let digits = trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = trimmed.split_at(digits);
    let unit = match unit.trim().to_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "m" | "min" | "mins" | "minute" | "minutes" => "m",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        "d" | "day" | "days" => "d",
        "" if !number.is_empty() => {
            return Refusal::instead(format!("add the unit: `{number}h` for hours"));
        }
        _ => return Refusal::plain(),
    };
    if number.is_empty() {
        Refusal::plain()
    } else {
        Refusal::instead(format!("write `{number}{unit}`"))
    }
}

/// Reads an amount of memory in GB.
pub(crate) fn memory(text: &str) -> Option<u32> {
    let digits = text.strip_suffix("GB")?;
    let plain = !digits.is_empty()
        && digits.len() <= 6
        && !digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

fn memory_refusal(text: &str) -> Refusal {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    let unit = text.get(digits.len()..).unwrap_or_default().trim();
    let known = ["", "g", "gb", "gib", "gi"].contains(&unit.to_lowercase().as_str());
    if known && memory(&format!("{digits}GB")).is_some() {
        Refusal::instead(format!("write `{digits}GB`"))
    } else {
        Refusal::plain()
    }
}

fn large(text: &str) -> Verdict {
    match parse_count(text) {
        Some(0) => Err(Refusal::because("it must be above 0")),
        Some(_) => Ok(()),
        None => {
            let tight: String = text
                .chars()
                .filter(|character| !matches!(character, ' ' | ',' | '_'))
                .collect();
            if tight != text && parse_count(&tight).is_some() {
                Err(Refusal::instead(format!("write `{tight}`")))
            } else {
                Err(Refusal::plain())
            }
        }
    }
}

/// Reads a large whole number: `70B`, `1.5T`, `7e9`, `125000000`. Letters are powers of a
/// thousand: K, M, B (10⁹) and T.
pub fn parse_count(text: &str) -> Option<u64> {
    let begins_with_digit = text.bytes().next()?.is_ascii_digit();
    if !begins_with_digit || text.len() > 24 {
        return None;
    }
    let (number, factor) = match text.char_indices().next_back()? {
        (at, 'K' | 'k') => (text.get(..at)?, 1_000),
        (at, 'M' | 'm') => (text.get(..at)?, 1_000_000),
        (at, 'B' | 'b') => (text.get(..at)?, 1_000_000_000),
        (at, 'T' | 't') => (text.get(..at)?, 1_000_000_000_000),
        _ => (text, 1_u64),
    };
    let leading_zero = number.len() > 1 && number.starts_with('0') && !number.starts_with("0.");
    if leading_zero {
        return None;
    }
    let number = decimal(number)?;
    let product = number.checked_mul(Decimal::from(factor))?;
    if product.fract().is_zero() {
        product.to_u64()
    } else {
        None
    }
}

/// Reads a plain or scientific decimal number exactly; digits on both sides of a point.
pub(crate) fn decimal(text: &str) -> Option<Decimal> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let all_digits =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_is_plain = match mantissa.split_once('.') {
        Some((whole, fraction)) => all_digits(whole) && all_digits(fraction),
        None => all_digits(mantissa),
    };
    let exponent_is_plain =
        exponent.is_none_or(|text| all_digits(text.strip_prefix(['+', '-']).unwrap_or(text)));
    if !mantissa_is_plain || !exponent_is_plain {
        return None;
    }
    let parsed = match exponent {
        Some(exponent) => {
            let mantissa: Decimal = mantissa.parse().ok()?;
            let exponent: i64 = exponent.parse().ok()?;
            shifted(mantissa, exponent)?
        }
        None => mantissa.parse().ok()?,
    };
    let negative = unsigned.len() != text.len();
    Some(if negative { -parsed } else { parsed })
}

/// `number × 10^exponent`, where that can be held exactly.
fn shifted(number: Decimal, exponent: i64) -> Option<Decimal> {
    let power = u32::try_from(exponent.unsigned_abs())
        .ok()
        .filter(|power| *power <= 28)?;
    if exponent >= 0 {
        let factor = 10_i128.checked_pow(power)?;
        number.checked_mul(Decimal::try_from_i128_with_scale(factor, 0).ok()?)
    } else {
        let factor = Decimal::try_from_i128_with_scale(1, power).ok()?;
        let product = number.checked_mul(factor)?;
        (number.is_zero() || !product.is_zero()).then_some(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_exact() {
        for (text, expected) in [
            ("70B", Some(70_000_000_000)),
            ("70b", Some(70_000_000_000)),
            ("1.5B", Some(1_500_000_000)),
            ("0.5B", Some(500_000_000)),
            ("350M", Some(350_000_000)),
            ("1.8T", Some(1_800_000_000_000)),
            ("7e9", Some(7_000_000_000)),
            ("1.5e+9", Some(1_500_000_000)),
            ("125000000", Some(125_000_000)),
            ("0", Some(0)),
            ("1.5", None),
            ("0.0001K", None),
            ("007B", None),
            ("-1B", None),
            ("B", None),
            ("70 B", None),
            ("70G", None),
            ("70_000", None),
            (".5B", None),
            ("5.B", None),
            ("99999999999999T", None),
            ("1e30", None),
            ("1e99999999999999999999", None),
            ("7٣B", None),
        ] {
            assert_eq!(parse_count(text), expected, "{text}");
        }
    }

    #[test]
    fn decimals_are_exact() {
        for (text, expected) in [
            ("98.32", Some("98.32")),
            ("-1", Some("-1")),
            ("1e3", Some("1000")),
            ("12e-3", Some("0.012")),
            ("1e-28", Some("0.0000000000000000000000000001")),
            ("1.", None),
            (".5", None),
            ("1,5", None),
            ("0x10", None),
            ("1e29", None),
            ("", None),
            ("-", None),
        ] {
            let expected: Option<Decimal> = expected.map(|text| text.parse().expect(text));
            assert_eq!(decimal(text), expected, "{text}");
        }
    }

    #[test]
    fn wrong_quantities_get_a_spelling() {
        let check = |form: &TextForm, text: &str, help: Option<&str>| {
            let refusal = (form.check)(text).expect_err(text);
            assert_eq!(refusal.help.as_deref(), help, "{text}");
        };
        check(&SPAN, "72", Some("add the unit: `72h` for hours"));
        check(&SPAN, "72 hours", Some("write `72h`"));
        check(&SPAN, "3 weeks", None);
        check(&SPAN, "0h", None);
        check(&SPAN, "9999d", None);
        check(&MEMORY, "80", Some("write `80GB`"));
        check(&MEMORY, "80 GiB", Some("write `80GB`"));
        check(&MEMORY, "80MB", None);
        check(&PARAMETERS, "70 B", Some("write `70B`"));
        check(&PARAMETERS, "7,000,000", Some("write `7000000`"));
        check(&PARAMETERS, "many", None);
        assert!((SPAN_OR_ZERO.check)("0h").is_ok());
    }
}
