//! What a stack costs: one line for each thing that is paid for, each with its meter.
//!
//! A thing without a price row is a line with an unknown price, and the totals say "at least".
//! Traffic, transactions and other use are not in the preview.

pub mod disk;

mod check;

use std::collections::BTreeMap;

use model::{
    address::Address,
    catalog::{Catalog, ItemPrice, PriceUnit},
    plan::{Cost, CostKind, CostLine, Total},
    resource::{Properties, Resource, VirtualMachine, VmPriority},
    units::{HOURS_PER_MONTH, Micros, Region},
};
use rust_decimal::Decimal;

pub(crate) use self::check::check;

/// The currency of the embedded price rows.
pub const CURRENCY: &str = "USD";

/// Something that is paid for.
#[derive(Clone, Copy)]
pub struct Item<'a> {
    /// Its address.
    pub address: &'a Address,
    /// What it is.
    pub resource: &'a Resource,
    /// Whether it has hardware: a deallocated VM pays only for its disks.
    pub has_hardware: bool,
}

/// What it costs before and after.
pub fn compare<'a>(
    before: impl IntoIterator<Item = Item<'a>>,
    after: impl IntoIterator<Item = Item<'a>>,
    catalog: &Catalog,
) -> Cost {
    let before = lines(before, catalog);
    let after = lines(after, catalog);
    let (total_before, total_after) = (total(&before), total(&after));
    Cost {
        currency: CURRENCY.to_owned(),
        complete: after.iter().all(|line| line.known),
        before: total_before,
        after: total_after,
        delta: total_after.minus(total_before),
        lines: after,
    }
}

fn total(lines: &[CostLine]) -> Total {
    let sum = |of: fn(&CostLine) -> Option<Micros>| {
        lines
            .iter()
            .filter_map(of)
            .fold(Micros::default(), Micros::saturating_add)
    };
    Total {
        hourly_micros: sum(|line| line.hourly_micros),
        monthly_micros: sum(|line| line.monthly_micros),
    }
}

/// The lines for some items: equal things of one pool are one line.
fn lines<'a>(items: impl IntoIterator<Item = Item<'a>>, catalog: &Catalog) -> Vec<CostLine> {
    let mut grouped: BTreeMap<(String, CostKind, String, String), (u32, Priced)> = BTreeMap::new();
    for item in items {
        for priced in priced(item, catalog) {
            let pool = item.address.pool_name();
            let address =
                pool.map_or_else(|| item.address.to_string(), |pool| format!("pool.{pool}"));
            let key = (
                address,
                priced.kind,
                priced.item.clone(),
                priced.meter.clone(),
            );
            grouped.entry(key).or_insert_with(|| (0, priced)).0 += 1;
        }
    }
    grouped
        .into_iter()
        .map(|((address, ..), (quantity, priced))| priced.line(address, quantity))
        .collect()
}

/// One thing with its price, where there is one.
pub(crate) struct Priced {
    kind: CostKind,
    item: String,
    meter: String,
    price: Option<Price>,
}

/// A price with its origin.
struct Price {
    amount: Decimal,
    monthly: bool,
    as_of: String,
    source: String,
    flags: Vec<String>,
}

impl Priced {
    /// A thing whose price an item row may give, times an amount such as GiB.
    fn of_row(
        kind: CostKind,
        item: String,
        meter: &str,
        row: Option<&ItemPrice>,
        amount: Decimal,
    ) -> Self {
        let price = row.and_then(|row| {
            let monthly = match row.unit {
                PriceUnit::Hour | PriceUnit::GibHour => false,
                PriceUnit::Month => true,
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
            let amount = row.price.checked_mul(amount)?;
            Some(Price {
                amount,
                monthly,
                as_of: row.as_of.to_string(),
                source: row.source.to_string(),
                flags,
            })
        });
        Self {
            kind,
            item,
            meter: meter.to_owned(),
            price,
        }
    }

    fn line(self, address: String, quantity: u32) -> CostLine {
        let hours = Decimal::from(HOURS_PER_MONTH);
        let count = Decimal::from(quantity);
        let Self {
            kind,
            item,
            meter,
            price,
        } = self;
        let (mut hourly, mut monthly, mut unit_hourly, mut unit_monthly) = (None, None, None, None);
        if let Some(price) = &price {
            let text = Some(price.amount.normalize().to_string());
            if price.monthly {
                unit_monthly = text;
                monthly = Micros::from_price(price.amount, count);
                hourly = price
                    .amount
                    .checked_div(hours)
                    .and_then(|amount| Micros::from_price(amount, count));
            } else {
                unit_hourly = text;
                hourly = Micros::from_price(price.amount, count);
                monthly = Micros::from_price(price.amount, count * hours);
            }
        }
        CostLine {
            address,
            kind,
            item,
            quantity,
            unit_hourly,
            unit_monthly,
            known: hourly.is_some() && monthly.is_some(),
            hourly_micros: hourly,
            monthly_micros: monthly,
            meter,
            as_of: price.as_ref().map(|price| price.as_of.clone()),
            source: price.as_ref().map(|price| price.source.clone()),
            flags: price.map(|price| price.flags).unwrap_or_default(),
        }
    }
}

fn priced(item: Item<'_>, catalog: &Catalog) -> Vec<Priced> {
    match &item.resource.properties {
        Properties::VirtualMachine(vm) => {
            let mut all = vec![disk::priced(
                &vm.location,
                vm.os_disk.disk_type,
                vm.os_disk.size_gb,
                catalog,
            )];
            if item.has_hardware {
                all.push(machine(vm, catalog));
            }
            all
        }
        Properties::Disk(data) => vec![disk::priced(
            &data.location,
            data.disk_type,
            data.size_gb,
            catalog,
        )],
        Properties::NatGateway(gateway) => vec![network(
            &gateway.location,
            "NAT gateway",
            "nat_gateway.hour",
            catalog,
        )],
        Properties::PublicIpAddress(address) => {
            let meter = "public_ip.standard.static.hour";
            vec![network(
                &address.location,
                "Standard public IP address",
                meter,
                catalog,
            )]
        }
        // These cost nothing by themselves.
        Properties::ResourceGroup(_)
        | Properties::VirtualNetwork(_)
        | Properties::Subnet(_)
        | Properties::NetworkSecurityGroup(_)
        | Properties::SshPublicKey(_) => Vec::new(),
    }
}

fn network(location: &Region, item: &str, meter: &str, catalog: &Catalog) -> Priced {
    let row = catalog.item_price(location, meter);
    Priced::of_row(CostKind::Network, item.to_owned(), meter, row, Decimal::ONE)
}

fn machine(vm: &VirtualMachine, catalog: &Catalog) -> Priced {
    let row = catalog.vm_price(&vm.location, &vm.size);
    let (meter, amount) = match vm.priority {
        VmPriority::Regular => ("Linux, on demand", row.and_then(|row| row.linux)),
        VmPriority::Spot { .. } => ("Linux, spot", row.and_then(|row| row.spot)),
    };
    let price = row.zip(amount).map(|(row, amount)| Price {
        amount,
        monthly: false,
        as_of: row.as_of.to_string(),
        source: row.source.to_string(),
        flags: row.flags.clone(),
    });
    let size = catalog
        .size(&vm.size)
        .map_or_else(|| vm.size.to_string(), |size| size.name.to_string());
    Priced {
        kind: CostKind::Compute,
        item: size,
        meter: meter.to_owned(),
        price,
    }
}
