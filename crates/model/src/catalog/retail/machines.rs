//! Meters of machines: prices on demand and as spot, and what one commits to.

use std::{collections::BTreeMap, fmt};

use rust_decimal::Decimal;
use serde_json::Value;

use super::{
    super::{
        lists::RegionOffers,
        rows::{CommitmentPlan, VmPrice},
    },
    Item, MACHINES, RetailError, SOURCE, Sayings, date, exact,
};
use crate::units::{Region, SizeName};

/// Why an item is no price of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// It is sold to Cloud Services.
    CloudServices,
    /// It is a dedicated host, or runs on one.
    DedicatedHost,
    /// It is of a subscription for development and testing.
    DevelopmentAndTest,
    /// It is a reservation for other terms than one or three years.
    OtherTerm,
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
            Self::OtherTerm => "reservations of another term",
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

/// The prices of a region as its items say them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetailPrices {
    /// One row a size.
    pub rows: BTreeMap<SizeName, VmPrice>,
    /// What one can commit to, by size, plan and years: the price as tables have it, and since when.
    pub commitments: BTreeMap<(SizeName, CommitmentPlan, u32), (Decimal, String)>,
    /// Items that are no price of a size.
    pub left_out: BTreeMap<LeftOut, usize>,
    /// Prices that equally new items say differently; they are unknown.
    pub contradicted: Vec<(SizeName, PriceColumn)>,
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
        let (mut said, mut committed) = (Sayings::new(), Sayings::new());
        Item::read_all(items, region, |item, price| {
            match item.meaning(price, day)? {
                Err(reason) => *prices.left_out.entry(reason).or_default() += 1,
                Ok(meant) => {
                    let size = || meant.size.clone();
                    for (column, price) in meant.prices {
                        said.note((size(), column), price, item);
                    }
                    for (plan, years, price) in meant.commitments {
                        committed.note((size(), plan, years), price, item);
                    }
                }
            }
            Ok(())
        })?;
        for (key, said) in committed.0 {
            if !said.contradicted {
                let since = date(&said.weight.1).to_owned();
                prices.commitments.insert(key, (said.price, since));
            }
        }
        for ((size, column), said) in said.0 {
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

    /// The commitments as the text of their table, whose source has this code.
    pub fn commitments_table(&self, source: &str, day: &str) -> String {
        let mut text = String::from("size,plan,years,price,effective,source,as_of\n");
        for ((size, plan, years), (price, since)) in &self.commitments {
            let plan = match plan {
                CommitmentPlan::Reservation => "reservation",
                CommitmentPlan::SavingsPlan => "savings_plan",
            };
            let fields = [
                short(size.as_str()).unwrap_or_default().to_owned(),
                plan.to_owned(),
                years.to_string(),
                price.normalize().to_string(),
                since.clone(),
                source.to_owned(),
                day.to_owned(),
            ];
            text.push_str(&fields.join(","));
            text.push('\n');
        }
        text
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
    commitments: Vec<(CommitmentPlan, u32, Decimal)>,
}

impl Item {
    /// What the item says, or why it says nothing of a size; an error where it cannot be used.
    fn meaning(&self, price: Decimal, day: &str) -> Result<Result<Meant, LeftOut>, String> {
        if let Some(reason) = self.reason(price, day)? {
            return Ok(Err(reason));
        }
        let Some(size) = self.size() else {
            return Ok(Err(LeftOut::NoSize));
        };
        let mut meant = Meant {
            size,
            prices: Vec::new(),
            commitments: Vec::new(),
        };
        if self.price_type == "Reservation" {
            let Some(years) = self.reservation_term.as_deref().and_then(years) else {
                return Ok(Err(LeftOut::OtherTerm));
            };
            meant
                .commitments
                .push((CommitmentPlan::Reservation, years, price));
            return Ok(Ok(meant));
        }
        let is_spot = self.sku_name.ends_with(" Spot");
        let column = match (self.is_windows(), is_spot) {
            (true, true) => return Ok(Err(LeftOut::WindowsSpot)),
            (true, false) => PriceColumn::Windows,
            (false, true) => PriceColumn::Spot,
            (false, false) => PriceColumn::Linux,
        };
        meant.prices.push((column, price));
        if column == PriceColumn::Linux {
            for plan in &self.savings_plan {
                let price = exact(&plan.retail_price)?;
                match years(&plan.term) {
                    Some(1) => meant.prices.push((PriceColumn::SavingsPlan1y, price)),
                    Some(years) => {
                        let plan = CommitmentPlan::SavingsPlan;
                        meant.commitments.push((plan, years, price));
                    }
                    None => {}
                }
            }
        }
        Ok(Ok(meant))
    }

    fn reason(&self, price: Decimal, day: &str) -> Result<Option<LeftOut>, String> {
        let product = self.product_name.as_str();
        let says = |words: [&str; 2]| words.iter().any(|word| product.contains(word));
        let is_test = self.is_for_tests()?;
        if self.service_name != MACHINES {
            return Ok(Some(LeftOut::OtherService));
        }
        Ok(if is_test {
            Some(LeftOut::DevelopmentAndTest)
        } else if says(["Cloud Services", "CloudServices"]) {
            Some(LeftOut::CloudServices)
        } else if says(["Dedicated Host", "DedicatedHost"]) {
            Some(LeftOut::DedicatedHost)
        } else if self.sku_name.ends_with(" Low Priority") {
            Some(LeftOut::LowPriority)
        } else if self.has_ended(day) {
            Some(LeftOut::Ended)
        } else if !self.has_begun(day) {
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

/// The years of a term that tables have.
fn years(term: &str) -> Option<u32> {
    match term {
        "1 Year" => Some(1),
        "3 Years" => Some(3),
        _ => None,
    }
}

/// A size's name without the tier that all in the tables have.
fn short(name: &str) -> Option<&str> {
    let tier = name.get(..9)?;
    tier.eq_ignore_ascii_case("Standard_")
        .then(|| name.get(9..))
        .flatten()
}

pub(in crate::catalog) fn empty(day: &str) -> VmPrice {
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
