//! The Azure Retail Prices API: from its items to rows of the price tables.
//!
//! The API lists meters, not prices of sizes: what is sold to Cloud Services, on dedicated hosts
//! or for development and testing stands among them under the same name of a size. What is left
//! out is counted with its reason. Where two meters say different things of one price, the primary
//! meter of the region counts before one that other regions or sizes share, then the newer one; of
//! equally good ones none is believed.

use std::{cmp::Ordering, collections::BTreeMap, fmt};

use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::{Number, Value};

use super::{lists::RegionOffers, rows::VmPrice};
use crate::units::{Region, SizeName};

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
    service_name: String,
    unit_of_measure: String,
    #[serde(rename = "type")]
    price_type: String,
    retail_price: Number,
    tier_minimum_units: Number,
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

/// Why an item is no price of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// It is sold to Cloud Services.
    CloudServices,
    /// It is a dedicated host, or runs on one.
    DedicatedHost,
    /// It is of a subscription for development and testing.
    DevelopmentAndTest,
    /// It is a reservation, whose price is for its whole term.
    Reservation,
    /// It is the old form of spot, which Batch alone sold.
    LowPriority,
    /// It is spot with Windows.
    WindowsSpot,
    /// Its price has ended.
    Ended,
    /// Its price has not begun.
    NotBegun,
    /// It names no size of tier Standard.
    NoSize,
    /// It is not paid by the hour from the first hour on.
    NotByTheHour,
    /// It costs nothing, which no machine does.
    Free,
    /// It is another service's.
    OtherService,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CloudServices => "Cloud Services",
            Self::DedicatedHost => "dedicated hosts",
            Self::DevelopmentAndTest => "development and testing",
            Self::Reservation => "reservations",
            Self::LowPriority => "low priority",
            Self::WindowsSpot => "spot with Windows",
            Self::Ended => "ended",
            Self::NotBegun => "not begun",
            Self::NoSize => "no size of tier Standard",
            Self::NotByTheHour => "not by the hour",
            Self::Free => "free",
            Self::OtherService => "another service",
        })
    }
}

/// A column of the price table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceColumn {
    /// Linux, on demand.
    Linux,
    /// Linux, spot.
    Spot,
    /// Windows, on demand.
    Windows,
    /// Linux, one-year savings plan.
    SavingsPlan1y,
}

impl PriceColumn {
    /// Every column, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Linux, Self::Spot, Self::Windows, Self::SavingsPlan1y];

    /// The price that a row has in this column.
    pub fn of(self, row: &VmPrice) -> Option<Decimal> {
        match self {
            Self::Linux => row.linux,
            Self::Spot => row.spot,
            Self::Windows => row.windows,
            Self::SavingsPlan1y => row.savings_plan_1y,
        }
    }
}

impl fmt::Display for PriceColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Linux => "linux",
            Self::Spot => "spot",
            Self::Windows => "windows",
            Self::SavingsPlan1y => "savings_plan_1y",
        })
    }
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

/// The prices of a region as its items say them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetailPrices {
    /// One row a size.
    pub rows: BTreeMap<SizeName, VmPrice>,
    /// Items that are no price of a size.
    pub left_out: BTreeMap<LeftOut, usize>,
    /// Prices that equally new items say differently; they are unknown.
    pub contradicted: Vec<(SizeName, PriceColumn)>,
}

/// What the items say of one price.
struct Said {
    price: Decimal,
    /// Whether the meter is the region's primary one, and since when it has the price.
    weight: (bool, String),
    contradicted: bool,
}

impl RetailPrices {
    /// Reads the items of one region; `day` is the day of the read, such as `2026-11-30`.
    /// Sizes that `offers` does not have are flagged.
    ///
    /// # Errors
    /// An item lacks something, is of another region or currency, or has a negative price.
    pub fn read(
        items: &[Value],
        region: &Region,
        offers: Option<RegionOffers<'_>>,
        day: &str,
    ) -> Result<Self, RetailError> {
        let mut prices = Self::default();
        let mut said: BTreeMap<(SizeName, PriceColumn), Said> = BTreeMap::new();
        for (position, value) in items.iter().enumerate() {
            let wrong = |problem: String| RetailError {
                region: region.clone(),
                number: position + 1,
                problem,
            };
            let item = Item::deserialize(value).map_err(|error| wrong(error.to_string()))?;
            match item.meaning(region, day).map_err(wrong)? {
                Err(reason) => *prices.left_out.entry(reason).or_default() += 1,
                Ok(meant) => {
                    for (column, price) in meant.prices {
                        note(&mut said, (meant.size.clone(), column), price, &item);
                    }
                }
            }
        }
        for ((size, column), said) in said {
            let row = prices
                .rows
                .entry(size.clone())
                .or_insert_with(|| empty(day));
            if said.contradicted {
                prices.contradicted.push((size, column));
            } else {
                *cell(row, column) = Some(said.price);
            }
        }
        for (size, row) in &mut prices.rows {
            row.flags = flags(row, offers.is_some_and(|offers| offers.get(size).is_none()));
        }
        Ok(prices)
    }

    /// The rows as the text of a price table whose source has this code.
    pub fn table(&self, source: &str) -> String {
        let mut text = String::from("size,linux,spot,windows,savings_plan_1y,source,flags\n");
        for (size, row) in &self.rows {
            let price = |price: Option<Decimal>| {
                price.map_or_else(String::new, |price| price.normalize().to_string())
            };
            let name = short(size.as_str()).unwrap_or_default();
            let mut fields = vec![name.to_owned()];
            fields.extend(PriceColumn::ALL.map(|column| price(column.of(row))));
            fields.extend([source.to_owned(), row.flags.join(" ")]);
            text.push_str(&fields.join(","));
            text.push('\n');
        }
        text
    }
}

/// A size and what an item says of its prices.
struct Meant {
    size: SizeName,
    prices: Vec<(PriceColumn, Decimal)>,
}

impl Item {
    /// What the item says, or why it says nothing of a size; an error where it cannot be used.
    fn meaning(&self, region: &Region, day: &str) -> Result<Result<Meant, LeftOut>, String> {
        if !self.currency_code.eq_ignore_ascii_case(CURRENCY) {
            let found = &self.currency_code;
            return Err(format!("expected prices in `{CURRENCY}`, found `{found}`"));
        }
        if Region::new(&self.arm_region_name) != *region {
            return Err(format!("it is of `{}`", self.arm_region_name));
        }
        let price = exact(&self.retail_price)?;
        if let Some(reason) = self.reason(price, day)? {
            return Ok(Err(reason));
        }
        let Some(size) = self.size() else {
            return Ok(Err(LeftOut::NoSize));
        };
        let is_spot = self.sku_name.ends_with(" Spot");
        let column = match (self.is_windows(), is_spot) {
            (true, true) => return Ok(Err(LeftOut::WindowsSpot)),
            (true, false) => PriceColumn::Windows,
            (false, true) => PriceColumn::Spot,
            (false, false) => PriceColumn::Linux,
        };
        let mut prices = vec![(column, price)];
        if column == PriceColumn::Linux {
            let plans = self.savings_plan.iter();
            for plan in plans.filter(|plan| plan.term == "1 Year") {
                prices.push((PriceColumn::SavingsPlan1y, exact(&plan.retail_price)?));
            }
        }
        Ok(Ok(Meant { size, prices }))
    }

    fn reason(&self, price: Decimal, day: &str) -> Result<Option<LeftOut>, String> {
        let product = self.product_name.as_str();
        let says = |words: [&str; 2]| words.iter().any(|word| product.contains(word));
        let other_type = match self.price_type.as_str() {
            "Consumption" => None,
            "DevTestConsumption" => Some(LeftOut::DevelopmentAndTest),
            "Reservation" => Some(LeftOut::Reservation),
            found => return Err(format!("its type `{found}` is not known")),
        };
        if self.service_name != MACHINES {
            return Ok(Some(LeftOut::OtherService));
        }
        if other_type.is_some() {
            return Ok(other_type);
        }
        let ended = self.effective_end_date.as_deref();
        Ok(if says(["Cloud Services", "CloudServices"]) {
            Some(LeftOut::CloudServices)
        } else if says(["Dedicated Host", "DedicatedHost"]) {
            Some(LeftOut::DedicatedHost)
        } else if self.sku_name.ends_with(" Low Priority") {
            Some(LeftOut::LowPriority)
        } else if ended.is_some_and(|end| date(end) < day) {
            Some(LeftOut::Ended)
        } else if date(&self.effective_start_date) > day {
            Some(LeftOut::NotBegun)
        } else if self.unit_of_measure != "1 Hour" || !exact(&self.tier_minimum_units)?.is_zero() {
            Some(LeftOut::NotByTheHour)
        } else if price.is_zero() {
            Some(LeftOut::Free)
        } else {
            None
        })
    }

    /// Some products say `Win` only.
    fn is_windows(&self) -> bool {
        let product = self.product_name.as_str();
        product.ends_with("Windows") || product.ends_with(" Win")
    }

    fn size(&self) -> Option<SizeName> {
        let name = self.arm_sku_name.as_deref()?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let short = short(name)?;
        (!short.is_empty() && short.bytes().all(is_plain)).then(|| SizeName::new(name))
    }
}

fn note(
    said: &mut BTreeMap<(SizeName, PriceColumn), Said>,
    key: (SizeName, PriceColumn),
    price: Decimal,
    item: &Item,
) {
    let is_primary = item.is_primary_meter_region != Some(false);
    let new = Said {
        price,
        weight: (is_primary, item.effective_start_date.clone()),
        contradicted: false,
    };
    let Some(known) = said.get_mut(&key) else {
        said.insert(key, new);
        return;
    };
    match new.weight.cmp(&known.weight) {
        Ordering::Greater => *known = new,
        Ordering::Equal => known.contradicted |= new.price != known.price,
        Ordering::Less => {}
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

/// A size's name without the tier that all in the tables have.
fn short(name: &str) -> Option<&str> {
    let tier = name.get(..9)?;
    tier.eq_ignore_ascii_case("Standard_")
        .then(|| name.get(9..))
        .flatten()
}

pub(super) fn empty(day: &str) -> VmPrice {
    VmPrice {
        linux: None,
        spot: None,
        windows: None,
        savings_plan_1y: None,
        source: SOURCE.into(),
        as_of: day.into(),
        flags: Vec::new(),
    }
}

fn cell(row: &mut VmPrice, column: PriceColumn) -> &mut Option<Decimal> {
    match column {
        PriceColumn::Linux => &mut row.linux,
        PriceColumn::Spot => &mut row.spot,
        PriceColumn::Windows => &mut row.windows,
        PriceColumn::SavingsPlan1y => &mut row.savings_plan_1y,
    }
}

fn flags(row: &VmPrice, is_unlisted: bool) -> Vec<String> {
    let same = row.spot.is_some() && row.spot == row.linux;
    let all = [(is_unlisted, "not_in_arm_list"), (same, "spot_eq_od")];
    let said = all.into_iter().filter(|(holds, _)| *holds);
    said.map(|(_, flag)| flag.to_owned()).collect()
}
