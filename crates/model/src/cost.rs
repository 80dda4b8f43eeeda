//! The document that `cost -o json` prints: a preview with every way to pay, side by side.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    diag::DiagnosticDocument,
    plan::{CatalogReference, Cost, CostKind, CostLine, Scope, SpecReference},
    price_book::PriceBookReference,
    units::{Micros, Region, SizeName, Timestamp},
};

/// The version of the document. The first number changes when old readers would misread it.
pub const FORMAT_VERSION: &str = "1.0";

/// A cost preview.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostReport {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: String,
    /// The tool's version.
    pub tensorform_version: String,
    /// The stack's name.
    pub stack: String,
    /// When the preview was made.
    pub created_at: Timestamp,
    /// The spec it was made from.
    pub spec: SpecReference,
    /// The catalogue it was made with.
    pub catalog: CatalogReference,
    /// The world it was made for.
    pub scope: Scope,
    /// The agreement's prices that are in it; `null` where all are list prices.
    pub price_book: Option<PriceBookReference>,
    /// What the stack costs before and after, as in the plan.
    pub cost: Cost,
    /// What was live before, line by line.
    pub before: Vec<CostLine>,
    /// What differs between before and after, line by line.
    pub changes: Vec<CostChange>,
    /// Each pool.
    pub pools: BTreeMap<String, PoolCost>,
    /// What belongs to no pool.
    pub shared: Amount,
    /// The whole stack with every pool bought in one way.
    pub options: Vec<StackOption>,
    /// What one run costs; `null` where no pool has a known length of a run.
    pub run: Option<StackRun>,
    /// What the stack costs until its lifetime ends; `null` where it has none or is over.
    pub lifetime: Option<LifetimeCost>,
    /// The same stack elsewhere; `null` unless asked for.
    pub regions: Option<RegionComparison>,
    /// Each pool of other sizes; `null` unless asked for.
    pub sizes: Option<BTreeMap<String, Vec<SizeCost>>>,
    /// Findings.
    pub diagnostics: Vec<DiagnosticDocument>,
}

/// Some money, or the part of it that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// Per hour.
    pub hourly_micros: Micros,
    /// Per month of 730 hours.
    pub monthly_micros: Micros,
    /// Whether every price is known; if not, the amounts are "at least".
    pub complete: bool,
}

impl Amount {
    /// The sum of lines.
    pub fn of<'a>(lines: impl IntoIterator<Item = &'a CostLine>) -> Self {
        let mut amount = Self::nothing();
        for line in lines {
            amount.complete &= line.known;
            let hourly = line.hourly_micros.unwrap_or_default();
            let monthly = line.monthly_micros.unwrap_or_default();
            amount.hourly_micros = amount.hourly_micros.saturating_add(hourly);
            amount.monthly_micros = amount.monthly_micros.saturating_add(monthly);
        }
        amount
    }

    /// Nothing, exactly.
    pub fn nothing() -> Self {
        Self {
            hourly_micros: Micros::default(),
            monthly_micros: Micros::default(),
            complete: true,
        }
    }

    /// The sum of two.
    pub fn plus(self, other: Self) -> Self {
        Self {
            hourly_micros: self.hourly_micros.saturating_add(other.hourly_micros),
            monthly_micros: self.monthly_micros.saturating_add(other.monthly_micros),
            complete: self.complete && other.complete,
        }
    }
}

/// What differs between before and after for one item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CostChange {
    /// A pool or a resource.
    pub address: String,
    /// What is paid for.
    pub kind: CostKind,
    /// The size, the disk tier, the service.
    pub item: String,
    /// The meter.
    pub meter: String,
    /// How many there were.
    pub quantity_before: u32,
    /// How many there will be.
    pub quantity_after: u32,
    /// The difference per hour; `null` where a price is not known.
    pub hourly_micros: Option<Micros>,
    /// The difference per month of 730 hours; `null` where a price is not known.
    pub monthly_micros: Option<Micros>,
}

/// What a pool costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolCost {
    /// The VM size.
    pub size: SizeName,
    /// Number of nodes.
    pub count: u32,
    /// GPUs of one node, such as `8` or `1/6`; `null` where it has none or it is not known.
    pub gpus_per_node: Option<String>,
    /// As it is bought, with its disks.
    pub total: Amount,
    /// The price of its nodes for one GPU and an hour; `null` where there is none.
    pub gpu_hour_micros: Option<Micros>,
    /// The ways to pay for its nodes.
    pub options: Vec<PoolOption>,
    /// What it costs in other states.
    pub states: PoolStates,
    /// What one run costs; `null` where its length is not known.
    pub run: Option<PoolRun>,
}

/// A way to pay for the nodes of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PoolOption {
    /// Which.
    pub option: PurchaseOption,
    /// Whether the spec buys this way.
    pub chosen: bool,
    /// The price of one node as a decimal; `null` where it is not known.
    pub unit_price: Option<String>,
    /// What the price of one node is for: `hour` or `term`.
    pub unit: &'static str,
    /// All nodes per hour; `null` where it is not known.
    pub hourly_micros: Option<Micros>,
    /// All nodes per month of 730 hours; `null` where it is not known.
    pub monthly_micros: Option<Micros>,
    /// One GPU for an hour; `null` where it is not known.
    pub gpu_hour_micros: Option<Micros>,
    /// All nodes for the hours of one run; of a commitment the share of these hours.
    pub run_micros: Option<Micros>,
    /// Hours of use in a month of 730 above which a commitment is cheaper than paying on demand;
    /// `null` where it is no commitment, or a price is not known.
    pub break_even_hours: Option<String>,
    /// The meter.
    pub meter: String,
    /// The day of the price.
    pub as_of: Option<String>,
    /// Where the price is from.
    pub source: Option<String>,
    /// What the reader must know about the price.
    pub flags: Vec<String>,
}

/// Ways to pay for virtual machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PurchaseOption {
    /// By the hour.
    OnDemand,
    /// Spare capacity.
    Spot,
    /// A savings plan of one year.
    #[serde(rename = "savings_plan_1y")]
    SavingsPlan1y,
    /// A savings plan of three years.
    #[serde(rename = "savings_plan_3y")]
    SavingsPlan3y,
    /// A reservation of one year.
    #[serde(rename = "reservation_1y")]
    Reservation1y,
    /// A reservation of three years.
    #[serde(rename = "reservation_3y")]
    Reservation3y,
}

impl PurchaseOption {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::OnDemand,
        Self::Spot,
        Self::SavingsPlan1y,
        Self::SavingsPlan3y,
        Self::Reservation1y,
        Self::Reservation3y,
    ];

    /// Its name in documents and in the meters of price books.
    pub fn name(self) -> &'static str {
        match self {
            Self::OnDemand => "on_demand",
            Self::Spot => "spot",
            Self::SavingsPlan1y => "savings_plan_1y",
            Self::SavingsPlan3y => "savings_plan_3y",
            Self::Reservation1y => "reservation_1y",
            Self::Reservation3y => "reservation_3y",
        }
    }

    /// Its name for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::OnDemand => "on demand",
            Self::Spot => "spot",
            Self::SavingsPlan1y => "savings plan, 1 year",
            Self::SavingsPlan3y => "savings plan, 3 years",
            Self::Reservation1y => "reservation, 1 year",
            Self::Reservation3y => "reservation, 3 years",
        }
    }

    /// Whether one pays for every hour of years, used or not.
    pub fn is_commitment(self) -> bool {
        !matches!(self, Self::OnDemand | Self::Spot)
    }
}

/// What a pool costs in its states. Disks cost as long as they exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PoolStates {
    /// All nodes run.
    pub running: Amount,
    /// All nodes are deallocated.
    pub stopped: Amount,
    /// All nodes were evicted; `null` where they are not spot.
    pub evicted: Option<Amount>,
    /// The pool has no node.
    pub no_nodes: Amount,
}

/// What one run of a pool costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PoolRun {
    /// What its length is from.
    pub basis: RunBasis,
    /// Its length.
    pub seconds: u64,
    /// What it costs, disks included.
    pub micros: Micros,
    /// Whether every price is known; if not, the amount is "at least".
    pub complete: bool,
    /// One million training tokens; `null` where the tokens or a price are not known.
    pub million_tokens_micros: Option<Micros>,
}

/// What the length of a run is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunBasis {
    /// The hours that were asked for.
    Hours,
    /// The tokens of the spec and the speed of the pool.
    Throughput,
    /// The deadline of the spec, which is the most it may take.
    Deadline,
}

/// The whole stack with every pool bought in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StackOption {
    /// Which.
    pub option: PurchaseOption,
    /// What the stack costs so, disks and network included; `None` where no pool has a price that
    /// way.
    pub total: Option<Amount>,
}

/// What a stack costs from the moment of the preview until its lifetime ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LifetimeCost {
    /// When the lifetime began, or begins.
    pub starts: Timestamp,
    /// When it ends.
    pub expires: Timestamp,
    /// What is left of it in seconds.
    pub seconds: u64,
    /// What the stack costs for that long, as it is bought.
    pub micros: Micros,
    /// Whether every price is known; if not, it is "at least".
    pub complete: bool,
    /// What it costs with every pool bought in one of the ways that bind for no longer.
    pub options: Vec<LifetimeOption>,
}

/// What a stack costs until its lifetime ends with every pool bought in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LifetimeOption {
    /// Which.
    pub option: PurchaseOption,
    /// The amount; `null` where no pool has a price that way.
    pub micros: Option<Micros>,
    /// Whether every price is known; if not, it is "at least".
    pub complete: bool,
}

/// What one run of the stack costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StackRun {
    /// The longest run of a pool.
    pub seconds: u64,
    /// What the runs of all pools cost, and what they share for the longest.
    pub micros: Micros,
    /// Whether every price, and the length of every pool's run, is known.
    pub complete: bool,
    /// Pools without a known length, which are not in it.
    pub without: Vec<String>,
}

/// The same stack in other regions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegionComparison {
    /// Regions that offer every size at a known price, the cheapest first.
    pub ranked: Vec<RegionCost>,
    /// The others, and why.
    pub left_out: Vec<RegionLeftOut>,
}

/// What the stack costs in a region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegionCost {
    /// The region.
    pub location: Region,
    /// What the stack costs there.
    pub total: Amount,
    /// The difference to where it is planned, per month; `null` where a price of either is not
    /// known.
    pub monthly_difference_micros: Option<Micros>,
    /// Whether it is the one that the plan is for.
    pub planned: bool,
    /// The days of the prices of its sizes.
    pub as_of: Vec<String>,
    /// What the reader must know about its prices.
    pub flags: Vec<String>,
}

/// A region that is not ranked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegionLeftOut {
    /// The region.
    pub location: Region,
    /// Why.
    pub reason: String,
}

/// What a pool of another size costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SizeCost {
    /// The size.
    pub size: SizeName,
    /// Nodes that the job needs of it.
    pub count: u32,
    /// Its place in the planner's order.
    pub rank: Option<u32>,
    /// Whether it is the one that the plan has.
    pub planned: bool,
    /// What the pool costs.
    pub total: Amount,
    /// What one run costs; `null` where its length is not known.
    pub run: Option<PoolRun>,
}
