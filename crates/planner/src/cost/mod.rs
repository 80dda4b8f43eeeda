//! What a stack costs: one line for each thing that is paid for, each with its meter.
//!
//! A thing without a price row is a line with an unknown price, and the totals say "at least".
//! Traffic, transactions and other use are not in the preview.

mod quote;

mod bill;

mod disk;

mod scale_set;

mod batch;

mod aks;

mod cyclecloud;

mod service;

mod gate;

mod odd;

mod compare;

mod report;

mod run;

mod lifetime;

mod elsewhere;

pub use self::{
    bill::Item,
    compare::{compare, of_live, of_service, of_stack, taking, without_hardware},
    elsewhere::{regions, sizes},
    gate::{Limits, check_limits},
    quote::Prices,
    report::{ReportInput, report},
    service::{BastionTier, KubernetesTier, Service},
};

pub(crate) use self::{
    compare::{at_regular_prices, live_items},
    elsewhere::of_pool,
    gate::{check, has_gates, refused},
    odd::check_pools,
    quote::of_node,
    report::pool_cost,
};

/// The currency of the embedded price rows.
pub const CURRENCY: &str = "USD";
