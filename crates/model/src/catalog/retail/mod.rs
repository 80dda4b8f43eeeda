//! The Azure Retail Prices API: from its items to rows of the price tables.
//!
//! The API lists meters, not prices of things: what is sold to Cloud Services, on dedicated hosts
//! or for development and testing stands among them under the same name of a size. What is left
//! out is counted with its reason. Where two meters say different things of one price, the primary
//! meter of the region counts before one that other regions or sizes share, then the newer one; of
//! equally good ones none is believed.

use std::{cmp::Ordering, collections::BTreeMap};

use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::{Number, Value};

use crate::units::Region;

mod items;

mod machines;

pub(super) use self::machines::empty;
pub use self::{
    items::{Meter, PRODUCTS, PRODUCTS_EVERYWHERE, RetailItems, meter_of},
    machines::{LeftOut, PriceColumn, RetailPrices},
};

/// The currency of the price tables.
pub const CURRENCY: &str = "USD";
/// Where rows made of the API say that they are from.
pub const SOURCE: &str = "Azure Retail Prices API";
/// The name of the API's service whose meters are machines.
pub const MACHINES: &str = "Virtual Machines";

/// One item of the API, as far as prices of machines need it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    currency_code: String,
    arm_region_name: String,
    #[serde(default)]
    arm_sku_name: Option<String>,
    product_name: String,
    sku_name: String,
    #[serde(default)]
    meter_name: String,
    service_name: String,
    unit_of_measure: String,
    #[serde(rename = "type")]
    price_type: String,
    retail_price: Number,
    tier_minimum_units: Number,
    #[serde(default)]
    reservation_term: Option<String>,
    #[serde(default)]
    is_primary_meter_region: Option<bool>,
    effective_start_date: String,
    #[serde(default)]
    effective_end_date: Option<String>,
    #[serde(default)]
    savings_plan: Vec<SavingsPlan>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SavingsPlan {
    term: String,
    retail_price: Number,
}

/// Something in the API's answer that is not as it should be; nothing of the answer is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("item {number} of the price list of {region}: {problem}")]
pub struct RetailError {
    /// The region that was asked for.
    pub region: Region,
    /// The item, from 1.
    pub number: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl Item {
    /// Reads each item; `meaning` enters what it says.
    ///
    /// # Errors
    /// An item lacks something, is of another region or currency, or is refused by `meaning`.
    fn read_all(
        items: &[Value],
        region: &Region,
        mut meaning: impl FnMut(&Self, Decimal) -> Result<(), String>,
    ) -> Result<(), RetailError> {
        for (position, value) in items.iter().enumerate() {
            let wrong = |problem: String| RetailError {
                region: region.clone(),
                number: position + 1,
                problem,
            };
            let item = Self::deserialize(value).map_err(|error| wrong(error.to_string()))?;
            let price = item.checked(region).map_err(wrong)?;
            meaning(&item, price).map_err(wrong)?;
        }
        Ok(())
    }

    /// The price, where it is one of the region in the currency of the tables.
    fn checked(&self, region: &Region) -> Result<Decimal, String> {
        if !self.currency_code.eq_ignore_ascii_case(CURRENCY) {
            let found = &self.currency_code;
            return Err(format!("expected prices in `{CURRENCY}`, found `{found}`"));
        }
        if Region::new(&self.arm_region_name) != *region {
            return Err(format!("it is of `{}`", self.arm_region_name));
        }
        exact(&self.retail_price)
    }

    /// Whether it is sold for development and testing alone.
    ///
    /// # Errors
    /// Its type is none that is known.
    fn is_for_tests(&self) -> Result<bool, String> {
        match self.price_type.as_str() {
            "Consumption" | "Reservation" => Ok(false),
            "DevTestConsumption" => Ok(true),
            found => Err(format!("its type `{found}` is not known")),
        }
    }

    fn has_ended(&self, day: &str) -> bool {
        let ended = self.effective_end_date.as_deref();
        ended.is_some_and(|end| date(end) < day)
    }

    fn has_begun(&self, day: &str) -> bool {
        date(&self.effective_start_date) <= day
    }
}

/// What the items say of one price.
struct Said {
    price: Decimal,
    /// Whether the meter is the region's primary one, and since when it has the price.
    weight: (bool, String),
    contradicted: bool,
}

/// What items say, by what they say it of.
struct Sayings<K>(BTreeMap<K, Said>);

impl<K: Ord> Sayings<K> {
    fn new() -> Self {
        Self(BTreeMap::new())
    }

    fn note(&mut self, key: K, price: Decimal, item: &Item) {
        let is_primary = item.is_primary_meter_region != Some(false);
        let new = Said {
            price,
            weight: (is_primary, item.effective_start_date.clone()),
            contradicted: false,
        };
        let Some(known) = self.0.get_mut(&key) else {
            self.0.insert(key, new);
            return;
        };
        match new.weight.cmp(&known.weight) {
            Ordering::Greater => *known = new,
            Ordering::Equal => known.contradicted |= new.price != known.price,
            Ordering::Less => {}
        }
    }
}

/// A number as the API wrote it: the shortest text of a float is that text again.
fn exact(number: &Number) -> Result<Decimal, String> {
    let text = number.to_string();
    let decimal = Decimal::from_str_exact(&text).or_else(|_| Decimal::from_scientific(&text));
    let decimal = decimal.map_err(|_| format!("expected a price, found `{text}`"))?;
    if decimal.is_sign_negative() && !decimal.is_zero() {
        return Err(format!("expected a price, found the negative `{text}`"));
    }
    Ok(decimal)
}

/// The day of a moment such as `2026-08-31T23:59:00Z`.
fn date(moment: &str) -> &str {
    moment.get(..10).unwrap_or(moment)
}
