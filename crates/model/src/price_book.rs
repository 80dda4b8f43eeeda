//! A price book: what somebody pays instead of list prices, by their agreement with Microsoft.
//!
//! A CSV file with the header `applies_to,name,meter,region,discount,price`. A line says what it
//! applies to, and either a discount in percent or a price in US dollars in the unit of its meter.
//! The most specific line counts: size before family before meter before all, then one that names
//! a meter, then one that names a region. Lines without a meter are about prices on demand.

mod cells;

mod read;

use std::cmp::Ordering;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{
    catalog::Size,
    digest,
    units::{Region, SizeName},
};

pub use self::read::PriceBookError;

/// The meters of virtual machines, by the names that price books use.
pub const COMPUTE_METERS: [&str; 8] = [
    "linux.on_demand",
    "linux.spot",
    "linux.savings_plan_1y",
    "linux.savings_plan_3y",
    "linux.reservation_1y",
    "linux.reservation_3y",
    "windows.on_demand",
    "windows.spot",
];

/// Prices of an agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceBook {
    /// The file, as given on the command line.
    pub file: String,
    /// Digest of its text.
    pub digest: String,
    /// Its lines.
    pub rules: Vec<Rule>,
}

/// A price book as documents name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceBookReference {
    /// The file, as given on the command line.
    pub file: String,
    /// Digest of its text.
    pub digest: String,
    /// Its lines.
    pub rules: usize,
}

/// One line of a price book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it applies to.
    pub subject: Subject,
    /// The meter it is about; `None` is every price on demand.
    pub meter: Option<String>,
    /// The region it is about; `None` is every one.
    pub region: Option<Region>,
    /// What it changes.
    pub change: Change,
    /// Its line in the file.
    pub line: u64,
}

/// What a line applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// One size.
    Size(SizeName),
    /// Sizes whose letters or quota family this is.
    Family(String),
    /// Whatever has the meter of the line.
    Meter,
    /// Everything.
    All,
}

/// What a line changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Percent off the list price, 0 to 100.
    Discount(Decimal),
    /// This price in the unit of the meter.
    Price(Decimal),
}

/// Something with a price.
#[derive(Clone, Copy, Debug)]
pub struct Priced<'a> {
    /// Its meter.
    pub meter: &'a str,
    /// Where it is.
    pub region: &'a Region,
    /// The size, for virtual machines.
    pub size: Option<&'a Size>,
}

impl PriceBook {
    /// How documents name it.
    pub fn reference(&self) -> PriceBookReference {
        PriceBookReference {
            file: self.file.clone(),
            digest: self.digest.clone(),
            rules: self.rules.len(),
        }
    }

    /// The line that counts for something, where there is one.
    pub fn rule(&self, priced: Priced<'_>) -> Option<&Rule> {
        let fitting = self.rules.iter().filter(|rule| rule.fits(priced));
        // No two lines are about the same, so that the order of the file means nothing.
        fitting.max_by(|a, b| a.compare(b))
    }

    fn of(file: &str, text: &str, rules: Vec<Rule>) -> Self {
        Self {
            file: file.to_owned(),
            digest: digest::of_text(text),
            rules,
        }
    }
}

impl Rule {
    fn fits(&self, priced: Priced<'_>) -> bool {
        let subject = match &self.subject {
            Subject::Size(name) => priced.size.is_some_and(|size| size.name == *name),
            Subject::Family(family) => priced.size.is_some_and(|size| is_of(size, family)),
            Subject::Meter | Subject::All => true,
        };
        let meter = match &self.meter {
            Some(meter) => meter == priced.meter,
            None => priced.size.is_none() || priced.meter.ends_with(".on_demand"),
        };
        let region = self
            .region
            .as_ref()
            .is_none_or(|region| region == priced.region);
        subject && meter && region
    }

    /// The more specific line is the greater one.
    fn compare(&self, other: &Self) -> Ordering {
        let key = |rule: &Self| {
            let subject = match rule.subject {
                Subject::Size(_) => 3,
                Subject::Family(_) => 2,
                Subject::Meter => 1,
                Subject::All => 0,
            };
            let quota_family = matches!(&rule.subject, Subject::Family(name) if name.len() > 3);
            (
                subject,
                quota_family,
                rule.meter.is_some(),
                rule.region.is_some(),
            )
        };
        key(self).cmp(&key(other))
    }

    /// Whether another line is about the same.
    fn is_about_the_same(&self, other: &Self) -> bool {
        let subject = match (&self.subject, &other.subject) {
            (Subject::Family(a), Subject::Family(b)) => a.eq_ignore_ascii_case(b),
            (a, b) => a == b,
        };
        subject && self.meter == other.meter && self.region == other.region
    }
}

/// Whether a size is of a family, named by its letters or by its quota family.
pub(crate) fn is_of(size: &Size, family: &str) -> bool {
    size.series.eq_ignore_ascii_case(family)
        || size
            .family
            .as_ref()
            .is_some_and(|own| own.as_str().eq_ignore_ascii_case(family))
}

#[cfg(test)]
mod tests;
