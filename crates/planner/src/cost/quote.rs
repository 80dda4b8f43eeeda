//! Prices: of the catalogue, and of an agreement that stands above it.

use model::{
    catalog::{Catalog, CommitmentPlan, ImageOs, ItemPrice, PriceUnit, Size, VmPrice},
    cost::PurchaseOption,
    price_book::{Change, PriceBook, Priced},
    resource::System,
    spec::{OperatingSystem, Pool, Priority},
    units::{HOURS_PER_MONTH, Micros, Region, SizeName},
};
use rust_decimal::Decimal;

/// Hours of a year, as prices of reservations count them: twelve months of 730.
const HOURS_PER_YEAR: u32 = 12 * HOURS_PER_MONTH;

const SECONDS_PER_HOUR: u32 = 3_600;

/// The flag of a price that a price book gives or changes.
pub(crate) const BY_AGREEMENT: &str = "price_book";

/// The flag of a spot price that is of no use, because the region does not offer the size so.
pub(crate) const NOT_SPOT: &str = "spot_not_offered";

/// Where prices are from.
#[derive(Clone, Copy, Debug)]
pub struct Prices<'a> {
    /// List prices.
    pub catalog: &'a Catalog,
    /// An agreement's prices, where there is one.
    pub book: Option<&'a PriceBook>,
}

impl<'a> Prices<'a> {
    /// List prices alone.
    pub fn list(catalog: &'a Catalog) -> Self {
        Self {
            catalog,
            book: None,
        }
    }
}

/// What the price of one thing is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// An hour.
    Hour,
    /// A month of 730 hours.
    Month,
    /// So many years.
    Years(u32),
}

impl Unit {
    fn hours(self) -> u32 {
        match self {
            Self::Hour => 1,
            Self::Month => HOURS_PER_MONTH,
            Self::Years(years) => HOURS_PER_YEAR * years,
        }
    }
}

/// A price with its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quote {
    /// The price of one thing.
    pub(crate) amount: Decimal,
    /// What it is for.
    pub(crate) unit: Unit,
    /// The day of the price.
    pub(crate) as_of: Option<String>,
    /// Where it is from.
    pub(crate) source: String,
    /// What the reader must know about it.
    pub(crate) flags: Vec<String>,
}

impl Quote {
    /// So many things for an hour.
    pub(crate) fn hourly(&self, count: u32) -> Option<Micros> {
        self.over(count, Decimal::ONE)
    }

    /// So many things for a month of 730 hours.
    pub(crate) fn monthly(&self, count: u32) -> Option<Micros> {
        self.over(count, Decimal::from(HOURS_PER_MONTH))
    }

    /// So many things for some seconds.
    pub(crate) fn run(&self, count: u32, seconds: u64) -> Option<Micros> {
        let quantity = Decimal::from(count).checked_mul(Decimal::from(seconds))?;
        let divisor = Decimal::from(self.unit.hours()).checked_mul(SECONDS_PER_HOUR.into())?;
        Micros::from_ratio(self.amount, quantity, divisor)
    }

    /// One of `parts` parts of the thing for an hour; parts may be less than one.
    pub(crate) fn share(&self, numerator: u32, parts: u32) -> Option<Micros> {
        let divisor = Decimal::from(self.unit.hours()).checked_mul(parts.into())?;
        Micros::from_ratio(self.amount, numerator.into(), divisor)
    }

    fn over(&self, count: u32, hours: Decimal) -> Option<Micros> {
        let quantity = Decimal::from(count).checked_mul(hours)?;
        Micros::from_ratio(self.amount, quantity, self.unit.hours().into())
    }

    /// The price as it is told for one hour, exactly; `None` where it is for a longer time.
    pub(crate) fn text(&self, unit: Unit) -> Option<String> {
        (self.unit == unit).then(|| self.amount.normalize().to_string())
    }
}

/// A meter of virtual machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Meter {
    pub(crate) windows: bool,
    pub(crate) option: PurchaseOption,
}

impl Meter {
    /// As price books name it.
    fn id(self) -> String {
        let system = if self.windows { "windows" } else { "linux" };
        format!("{system}.{}", self.option.name())
    }

    /// As people read it.
    pub(crate) fn words(self) -> String {
        let system = if self.windows { "Windows" } else { "Linux" };
        format!("{system}, {}", self.option.words())
    }

    /// Of a node whose image runs some system.
    pub(crate) fn of(system: ImageOs, option: PurchaseOption) -> Self {
        Self {
            windows: system == ImageOs::Windows,
            option,
        }
    }
}

/// The price of one VM.
pub(crate) fn machine(
    prices: Prices<'_>,
    location: &Region,
    name: &SizeName,
    meter: Meter,
) -> Option<Quote> {
    let listed = listed(prices.catalog, location, name, meter);
    let priced = Priced {
        meter: &meter.id(),
        region: location,
        size: prices.catalog.size(name),
    };
    by_agreement(prices, priced, listed, unit_of(meter.option))
}

/// The price of a node for an hour, as its pool buys capacity.
pub(crate) fn of_node(
    prices: Prices<'_>,
    location: &Region,
    size: &SizeName,
    pool: &Pool,
) -> Option<Decimal> {
    let meter = Meter {
        windows: pool.os != OperatingSystem::Linux,
        option: match pool.priority {
            Priority::Regular => PurchaseOption::OnDemand,
            Priority::Spot(_) => PurchaseOption::Spot,
        },
    };
    Some(machine(prices, location, size, meter)?.amount)
}

/// What a row says of a price that it does not have, such as that it is withheld.
pub(crate) fn gap(
    prices: Prices<'_>,
    location: &Region,
    name: &SizeName,
    meter: Meter,
) -> Vec<String> {
    let row = prices.catalog.vm_price_row(location, name);
    let flags = row.map(|row| flags(&row, meter)).unwrap_or_default();
    // What is said of a price that moves, or compared with another, needs a price.
    let is_about_nothing = |flag: &String| flag == "spot" || flag == "spot_eq_od";
    flags
        .into_iter()
        .filter(|flag| !is_about_nothing(flag))
        .collect()
}

fn unit_of(option: PurchaseOption) -> Unit {
    match option {
        PurchaseOption::OnDemand
        | PurchaseOption::Spot
        | PurchaseOption::SavingsPlan1y
        | PurchaseOption::SavingsPlan3y => Unit::Hour,
        PurchaseOption::Reservation1y => Unit::Years(1),
        PurchaseOption::Reservation3y => Unit::Years(3),
    }
}

fn listed(catalog: &Catalog, location: &Region, size: &SizeName, meter: Meter) -> Option<Quote> {
    let hourly = |price: fn(&VmPrice) -> Option<Decimal>| {
        let row = catalog.vm_price_row(location, size)?;
        Some(Quote {
            amount: price(&row)?,
            unit: Unit::Hour,
            as_of: Some(row.as_of.to_string()),
            source: row.source.to_string(),
            flags: flags(&row, meter),
        })
    };
    let committed = |plan, years| {
        let row = catalog.commitment(location, size, plan, years)?;
        Some(Quote {
            amount: row.price,
            unit: unit_of(meter.option),
            as_of: Some(row.as_of.to_string()),
            source: row.source.to_string(),
            flags: Vec::new(),
        })
    };
    match (meter.windows, meter.option) {
        (false, PurchaseOption::OnDemand) => hourly(|row| row.linux),
        (false, PurchaseOption::Spot) => hourly(|row| row.spot),
        (false, PurchaseOption::SavingsPlan1y) => hourly(|row| row.savings_plan_1y),
        (false, PurchaseOption::SavingsPlan3y) => committed(CommitmentPlan::SavingsPlan, 3),
        (false, PurchaseOption::Reservation1y) => committed(CommitmentPlan::Reservation, 1),
        (false, PurchaseOption::Reservation3y) => committed(CommitmentPlan::Reservation, 3),
        (true, PurchaseOption::OnDemand) => hourly(|row| row.windows),
        // The licence is not in the Linux price, and no row has it together with the others.
        (true, _) => None,
    }
}

/// Flags of a row that are about this price: the `cs_` ones are about Linux on demand.
fn flags(row: &VmPrice, meter: Meter) -> Vec<String> {
    let is_about = |flag: &&String| match flag.split_once('_') {
        Some(("cs", _)) => meter.option == PurchaseOption::OnDemand && !meter.windows,
        Some(("spot", _)) => meter.option == PurchaseOption::Spot,
        Some(_) | None => true,
    };
    let mut flags: Vec<String> = row.flags.iter().filter(is_about).cloned().collect();
    if meter.option == PurchaseOption::Spot {
        flags.push("spot".to_owned());
    }
    let saves = |committed: Decimal| row.linux.is_none_or(|linux| committed < linux);
    if meter.option == PurchaseOption::SavingsPlan1y && !row.savings_plan_1y.is_none_or(saves) {
        flags.push("saves_nothing".to_owned());
    }
    flags
}

/// The price of a disk tier, or of something in the network, times an amount such as GiB.
pub(crate) fn item(
    prices: Prices<'_>,
    location: &Region,
    meter: &str,
    unit: Unit,
    amount: u32,
) -> Option<Quote> {
    let row = prices.catalog.item_price(location, meter);
    let listed = row.and_then(|row| of_row(row, unit));
    let priced = Priced {
        meter,
        region: location,
        size: None,
    };
    let quote = by_agreement(prices, priced, listed, unit)?;
    let amount = quote.amount.checked_mul(amount.into())?;
    Some(Quote { amount, ..quote })
}

fn of_row(row: &ItemPrice, unit: Unit) -> Option<Quote> {
    let of_row = match row.unit {
        PriceUnit::Hour | PriceUnit::GibHour => Unit::Hour,
        PriceUnit::Month => Unit::Month,
        // Prices of use, which no preview multiplies by hours.
        PriceUnit::GbMonth
        | PriceUnit::IopsHour
        | PriceUnit::MbpsHour
        | PriceUnit::VcpuHour
        | PriceUnit::Gb
        | PriceUnit::TenThousandOperations => return None,
    };
    let flags = if row.confidence == "recorded" {
        Vec::new()
    } else {
        vec![row.confidence.clone()]
    };
    (of_row == unit).then(|| Quote {
        amount: row.price,
        unit,
        as_of: Some(row.as_of.to_string()),
        source: row.source.to_string(),
        flags,
    })
}

fn by_agreement(
    prices: Prices<'_>,
    priced: Priced<'_>,
    listed: Option<Quote>,
    unit: Unit,
) -> Option<Quote> {
    let Some((book, rule)) = prices
        .book
        .and_then(|book| Some((book, book.rule(priced)?)))
    else {
        return listed;
    };
    let line = format!("`{}` line {}", book.file, rule.line);
    match rule.change {
        Change::Price(amount) => Some(Quote {
            amount,
            unit,
            as_of: None,
            source: line,
            flags: vec![BY_AGREEMENT.to_owned()],
        }),
        Change::Discount(percent) => {
            let mut quote = listed?;
            let rest = Decimal::ONE_HUNDRED.checked_sub(percent)?;
            let list = quote.amount.normalize();
            quote.amount = quote
                .amount
                .checked_mul(rest)?
                .checked_div(Decimal::ONE_HUNDRED)?;
            quote.source = format!(
                "{line}: {}% off {list} of {}",
                percent.normalize(),
                quote.source
            );
            quote.flags.push(BY_AGREEMENT.to_owned());
            Some(quote)
        }
    }
}

/// The system that a VM is billed for.
pub(crate) fn system(system: System) -> ImageOs {
    match system {
        System::Linux => ImageOs::Linux,
        System::Windows => ImageOs::Windows,
    }
}

/// The name of a size as the catalogue spells it.
pub(crate) fn spelled(catalog: &Catalog, name: &SizeName) -> String {
    let row: Option<&Size> = catalog.size(name);
    row.map_or_else(|| name.to_string(), |size| size.name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quote(amount: &str, unit: Unit) -> Quote {
        Quote {
            amount: amount.parse().expect(amount),
            unit,
            as_of: None,
            source: String::new(),
            flags: Vec::new(),
        }
    }

    #[test]
    fn each_amount_is_rounded_once_from_its_own_meter() {
        let hour = quote("0.0000015", Unit::Hour);
        // Not 730 times the rounded hour, which is 2.
        assert_eq!(hour.hourly(1), Some(Micros(2)));
        assert_eq!(hour.monthly(1), Some(Micros(1_095)));
        let month = quote("38.012142", Unit::Month);
        assert_eq!(month.monthly(3), Some(Micros(114_036_426)));
        // 114.036426 by 730, not three times the rounded 0.052071.
        assert_eq!(month.hourly(3), Some(Micros(156_214)));
        let years = quote("71642", Unit::Years(3));
        assert_eq!(years.monthly(1), Some(Micros(1_990_055_556)));
        assert_eq!(years.hourly(1), Some(Micros(2_726_104)));
        assert_eq!(
            quote("10", Unit::Hour).run(2, 1_800),
            Some(Micros(10_000_000))
        );
        assert_eq!(
            quote("730", Unit::Month).run(1, 3_600),
            Some(Micros(1_000_000))
        );
    }

    #[test]
    fn the_price_of_a_gpu_is_that_of_a_whole_one() {
        // Eight GPUs for 98.32, and a sixth of one for 0.454.
        assert_eq!(
            quote("98.32", Unit::Hour).share(1, 8),
            Some(Micros(12_290_000))
        );
        assert_eq!(
            quote("0.454", Unit::Hour).share(6, 1),
            Some(Micros(2_724_000))
        );
    }

    #[test]
    fn amounts_beyond_all_bounds_are_unknown() {
        let most = quote("79228162514264337593543950335", Unit::Hour);
        assert_eq!(
            (most.hourly(2), most.monthly(1), most.run(9, u64::MAX)),
            (None, None, None)
        );
    }
}
