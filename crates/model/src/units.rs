//! Quantities with their units: money, regions, size names, timestamps and spans of time.

use std::{cmp::Ordering, fmt, str::FromStr};

use rust_decimal::{Decimal, RoundingStrategy, prelude::ToPrimitive};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Hours that every monthly figure assumes, the convention of Azure's price pages.
pub const HOURS_PER_MONTH: u32 = 730;

const MICROS_PER_UNIT: u32 = 1_000_000;

/// An amount of money in integer micro-units of one currency; never a float.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Micros(pub i64);

impl Micros {
    /// Rounds `unit_price × quantity` once, half to even, to micro-units.
    ///
    /// Returns `None` when the product does not fit (more than about 9.2 × 10¹² units).
    pub fn from_price(unit_price: Decimal, quantity: Decimal) -> Option<Self> {
        let micros = unit_price
            .checked_mul(quantity)?
            .checked_mul(Decimal::from(MICROS_PER_UNIT))?;
        micros
            .round_dp_with_strategy(0, RoundingStrategy::MidpointNearestEven)
            .to_i64()
            .map(Self)
    }

    /// Rounds `unit_price × quantity ÷ divisor` once, half to even, to micro-units.
    ///
    /// Returns `None` when the product does not fit, or nothing is to be divided by.
    pub fn from_ratio(unit_price: Decimal, quantity: Decimal, divisor: Decimal) -> Option<Self> {
        let micros = unit_price
            .checked_mul(quantity)?
            .checked_mul(Decimal::from(MICROS_PER_UNIT))?
            .checked_div(divisor)?;
        micros
            .round_dp_with_strategy(0, RoundingStrategy::MidpointNearestEven)
            .to_i64()
            .map(Self)
    }

    /// As an exact decimal of whole units.
    pub fn to_decimal(self) -> Decimal {
        Decimal::new(self.0, 6)
    }

    /// Adds, staying at the largest amount instead of wrapping.
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Subtracts, staying at the smallest amount instead of wrapping.
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Micros {
    /// Prints with two decimals, or with up to six where the amount is below ten cents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = Decimal::new(self.0, 6);
        let decimals = if self.0 != 0 && self.0.abs() < 100_000 {
            4
        } else {
            2
        };
        let rounded =
            amount.round_dp_with_strategy(decimals, RoundingStrategy::MidpointNearestEven);
        let text = format!(
            "{:.*}",
            usize::try_from(decimals).unwrap_or(2),
            rounded.abs()
        );
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let digits = whole.len();
        for (position, digit) in whole.chars().enumerate() {
            if position > 0 && (digits - position) % 3 == 0 {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        if fraction.is_empty() {
            Ok(())
        } else {
            write!(f, ".{fraction}")
        }
    }
}

/// An Azure region in its short form (`eastus`); `East US` and `EASTUS` are the same region.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region(String);

impl Region {
    /// Normalises by dropping spaces and case, as ARM compares locations.
    pub fn new(text: &str) -> Self {
        Self(
            text.chars()
                .filter(|character| !character.is_whitespace())
                .flat_map(char::to_lowercase)
                .collect(),
        )
    }

    /// The short form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Region {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Region {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(&String::deserialize(deserializer)?))
    }
}

/// Text that compares without case and prints as it was given: names of sizes, tags, enums.
#[derive(Clone, Debug)]
pub struct CaseInsensitive(String);

impl CaseInsensitive {
    /// Keeps `text` for printing.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text as given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form that comparisons use.
    pub fn key(&self) -> String {
        self.0.to_lowercase()
    }

    fn folded(&self) -> impl Iterator<Item = char> {
        self.0.chars().flat_map(char::to_lowercase)
    }
}

/// How many bytes are compared at once.
const ALIKE: usize = 8;

/// The bytes of an ASCII text from a place on, in the case that comparisons use.
fn folded(text: &[u8], from: usize) -> impl Iterator<Item = u8> {
    let rest = text.get(from..).unwrap_or_default();
    rest.iter().map(u8::to_ascii_lowercase)
}

impl PartialEq for CaseInsensitive {
    fn eq(&self, other: &Self) -> bool {
        // Most texts differ in length or in their first letters, which needs no folding.
        self.0.eq_ignore_ascii_case(&other.0)
            || (!(self.0.is_ascii() && other.0.is_ascii()) && self.folded().eq(other.folded()))
    }
}

impl Eq for CaseInsensitive {}

impl PartialOrd for CaseInsensitive {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CaseInsensitive {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.0.is_ascii() && other.0.is_ascii() {
            // The same order as below, without decoding, and without looking closely at where both
            // are alike: lookups in the catalogue live on it.
            let (own, others) = (self.0.as_bytes(), other.0.as_bytes());
            let pairs = own.chunks_exact(ALIKE).zip(others.chunks_exact(ALIKE));
            let alike = pairs.take_while(|(own, other)| own == other).count() * ALIKE;
            folded(own, alike).cmp(folded(others, alike))
        } else {
            self.folded().cmp(other.folded())
        }
    }
}

impl std::hash::Hash for CaseInsensitive {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Display for CaseInsensitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Serialize for CaseInsensitive {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CaseInsensitive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

impl From<&str> for CaseInsensitive {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// The name of a VM size, such as `Standard_ND96isr_H100_v5`.
pub type SizeName = CaseInsensitive;

/// A point in time with whole seconds, printed as RFC 3339 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From seconds since 1970-01-01T00:00:00Z.
    pub fn from_unix(seconds: i64) -> Self {
        Self(seconds)
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    pub fn unix(self) -> i64 {
        self.0
    }

    /// This point plus a span.
    pub fn plus(self, span: Span) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(span.seconds()).unwrap_or(i64::MAX)),
        )
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = OffsetDateTime::from_unix_timestamp(self.0)
            .ok()
            .and_then(|time| time.format(&Rfc3339).ok());
        match text {
            Some(text) => f.write_str(&text),
            None => write!(f, "@{}", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        OffsetDateTime::parse(text, &Rfc3339)
            .map(|time| Self(time.unix_timestamp()))
            .map_err(|_| {
                format!("expected an RFC 3339 time such as `2026-11-30T12:00:00Z`, found `{text}`")
            })
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// A span of time in whole seconds, written `90s`, `15m`, `72h` or `30d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Span {
    /// From seconds.
    pub fn from_seconds(seconds: u64) -> Self {
        Self(seconds)
    }

    /// Whole seconds.
    pub fn seconds(self) -> u64 {
        self.0
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = || {
            format!(
                "expected a whole number with `s`, `m`, `h` or `d`, such as `72h`, found `{text}`"
            )
        };
        let unit = text.chars().last().ok_or_else(expected)?;
        let factor = match unit {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            _ => return Err(expected()),
        };
        let number = text.strip_suffix(unit).unwrap_or_default();
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(expected());
        }
        let count: u64 = number.parse().map_err(|_| expected())?;
        count.checked_mul(factor).map(Self).ok_or_else(expected)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0s"),
            seconds if seconds % 86_400 == 0 => write!(f, "{}d", seconds / 86_400),
            seconds if seconds % 3_600 == 0 => write!(f, "{}h", seconds / 3_600),
            seconds if seconds % 60 == 0 => write!(f, "{}m", seconds / 60),
            seconds => write!(f, "{seconds}s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_rounds_once_half_to_even() {
        let check = |price: &str, quantity: u32, expected: i64| {
            let price: Decimal = price.parse().expect("test price");
            assert_eq!(
                Micros::from_price(price, Decimal::from(quantity)),
                Some(Micros(expected)),
                "{price}"
            );
        };
        check("98.32", 8, 786_560_000);
        check("0.0000005", 1, 0);
        check("0.0000015", 1, 2);
        check("0.0000025", 1, 2);
        assert_eq!(Micros::from_price(Decimal::MAX, Decimal::from(2)), None);
    }

    #[test]
    fn money_prints_groups_and_small_amounts() {
        let check = |micros: i64, expected: &str| assert_eq!(Micros(micros).to_string(), expected);
        check(0, "0.00");
        check(786_560_000, "786.56");
        check(574_188_800_000, "574,188.80");
        check(-1_234_567_890, "-1,234.57");
        check(5_000, "0.0050");
        check(45_000, "0.0450");
    }

    #[test]
    fn spans_read_and_print() {
        let check = |text: &str, seconds: u64, printed: &str| {
            let span: Span = text.parse().expect(text);
            assert_eq!(
                (span.seconds(), span.to_string().as_str()),
                (seconds, printed)
            );
        };
        check("72h", 259_200, "3d");
        check("90s", 90, "90s");
        check("15m", 900, "15m");
        for wrong in [
            "",
            "h",
            "-1h",
            "1.5h",
            "10",
            "10w",
            "99999999999999999999d",
            "9999999999999999d",
            "1 h",
        ] {
            assert!(wrong.parse::<Span>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn regions_and_sizes_compare_as_arm_does() {
        assert_eq!(Region::new("East US"), Region::new("eastus"));
        assert_eq!(
            SizeName::from("Standard_nd96isr_h100_V5"),
            SizeName::from("Standard_ND96isr_H100_v5")
        );
        assert_ne!(
            SizeName::from("Standard_D2s_v5"),
            SizeName::from("Standard_D2s_v4")
        );
    }

    #[test]
    fn text_without_case_orders_alike_with_and_without_other_letters() {
        // The Kelvin sign folds to a plain `k`; it takes the long way, `k` the short one.
        assert_eq!(SizeName::from("\u{212A}2"), SizeName::from("k2"));
        let mut names = ["b", "\u{212A}", "A", "j", "L", "\u{e9}"].map(SizeName::from);
        names.sort();
        let sorted = names.each_ref().map(SizeName::as_str);
        assert_eq!(sorted, ["A", "b", "j", "\u{212A}", "L", "\u{e9}"]);
    }

    #[test]
    fn long_names_order_by_what_differs_wherever_it_is() {
        let sorted = [
            "standard_nd96",
            "Standard_ND96asr_v4",
            "STANDARD_ND96ISR_H100_v5",
            "Standard_nd96isr_h200_v5",
            "standard_nd96isr_h200_v5_",
        ];
        for (place, name) in sorted.iter().enumerate() {
            for (other_place, other) in sorted.iter().enumerate() {
                let order = SizeName::from(*name).cmp(&SizeName::from(*other));
                assert_eq!(order, place.cmp(&other_place), "{name} {other}");
            }
        }
    }

    #[test]
    fn timestamps_round_trip() {
        let time: Timestamp = "2026-11-30T12:00:00Z".parse().expect("a time");
        assert_eq!(time.to_string(), "2026-11-30T12:00:00Z");
        assert!("yesterday".parse::<Timestamp>().is_err());
    }
}
