//! Meters of disks, addresses and services of the network.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde_json::Value;

use super::{Item, RetailError, Sayings, exact};
use crate::units::Region;

/// A filter of the API for what is read here of a region, without the region.
pub const PRODUCTS: &str = "(productName eq 'Premium SSD Managed Disks' \
    or productName eq 'Standard SSD Managed Disks' \
    or productName eq 'Standard HDD Managed Disks' \
    or productName eq 'Azure Premium SSD v2' \
    or productName eq 'Ultra Disks' \
    or productName eq 'IP Addresses' \
    or serviceName eq 'Azure Bastion' \
    or serviceName eq 'Azure Kubernetes Service')";

/// A filter of the API for what is sold at one price everywhere, under the region `Global`.
pub const PRODUCTS_EVERYWHERE: &str = "armRegionName eq 'Global' \
    and (serviceName eq 'NAT Gateway' or serviceName eq 'Load Balancer')";

/// Disks with a price a month for each tier: product, item, letter of the tiers.
const TIERED: [(&str, &str, char); 3] = [
    ("Premium SSD Managed Disks", "disk.premium_ssd", 'P'),
    ("Standard SSD Managed Disks", "disk.standard_ssd", 'E'),
    ("Standard HDD Managed Disks", "disk.standard_hdd", 'S'),
];

/// A meter that has one item of the tables.
struct Single {
    service: &'static str,
    product: &'static str,
    meter: &'static str,
    /// The units that the API writes; the first one is the usual one.
    units: &'static [&'static str],
    item: &'static str,
    /// The unit of the table.
    unit: &'static str,
    is_everywhere: bool,
}

impl Single {
    const fn new(
        sold: (&'static str, &'static str, &'static str),
        units: &'static [&'static str],
        item: &'static str,
        unit: &'static str,
    ) -> Self {
        let (service, product, meter) = sold;
        Self {
            service,
            product,
            meter,
            units,
            item,
            unit,
            is_everywhere: false,
        }
    }

    const fn everywhere(self) -> Self {
        Self {
            is_everywhere: true,
            ..self
        }
    }
}

const BASTION: &str = "Azure Bastion";
const KUBERNETES: &str = "Azure Kubernetes Service";
const BALANCER: &str = "Load Balancer";
const NAT: &str = "NAT Gateway";
const PREMIUM_V2: (&str, &str) = ("Storage", "Azure Premium SSD v2");
const ULTRA: (&str, &str) = ("Storage", "Ultra Disks");
const HOUR: &[&str] = &["1 Hour"];
const EACH_HOUR: &[&str] = &["1/Hour"];
/// Rules of load balancers are seen with both spellings.
const ANY_HOUR: &[&str] = &["1/Hour", "1 Hour"];
const GIB_HOUR: &[&str] = &["1 GiB/Hour"];
const GB: &[&str] = &["1 GB"];

/// Meters of one item each.
const SINGLE: [Single; 18] = [
    Single::new(
        (
            PREMIUM_V2.0,
            PREMIUM_V2.1,
            "Premium LRS Provisioned Capacity",
        ),
        GIB_HOUR,
        "disk.premium_v2.capacity_gib_hour",
        "GiB-hour",
    ),
    Single::new(
        (PREMIUM_V2.0, PREMIUM_V2.1, "Premium LRS Provisioned IOPS"),
        EACH_HOUR,
        "disk.premium_v2.iops_hour",
        "IOPS-hour",
    ),
    Single::new(
        (
            PREMIUM_V2.0,
            PREMIUM_V2.1,
            "Premium LRS Provisioned Throughput (MBps)",
        ),
        EACH_HOUR,
        "disk.premium_v2.mbps_hour",
        "MBps-hour",
    ),
    Single::new(
        (ULTRA.0, ULTRA.1, "Ultra LRS Provisioned Capacity"),
        GIB_HOUR,
        "disk.ultra.capacity_gib_hour",
        "GiB-hour",
    ),
    Single::new(
        (ULTRA.0, ULTRA.1, "Ultra LRS Provisioned IOPS"),
        EACH_HOUR,
        "disk.ultra.iops_hour",
        "IOPS-hour",
    ),
    Single::new(
        (ULTRA.0, ULTRA.1, "Ultra LRS Provisioned Throughput (MBps)"),
        EACH_HOUR,
        "disk.ultra.mbps_hour",
        "MBps-hour",
    ),
    Single::new(
        (
            ULTRA.0,
            ULTRA.1,
            "Ultra LRS Reservation per vCPU Provisioned",
        ),
        EACH_HOUR,
        "disk.ultra.vcpu_reservation_hour",
        "vCPU-hour",
    ),
    Single::new(
        (
            "Virtual Network",
            "IP Addresses",
            "Standard IPv4 Static Public IP",
        ),
        HOUR,
        "public_ip.standard.static.hour",
        "hour",
    ),
    Single::new(
        (BASTION, BASTION, "Basic Gateway"),
        HOUR,
        "bastion.basic.hour",
        "hour",
    ),
    Single::new(
        (BASTION, BASTION, "Standard Gateway"),
        HOUR,
        "bastion.standard.hour",
        "hour",
    ),
    Single::new(
        (BASTION, BASTION, "Premium Gateway"),
        HOUR,
        "bastion.premium.hour",
        "hour",
    ),
    Single::new(
        (KUBERNETES, KUBERNETES, "Standard Uptime SLA"),
        HOUR,
        "aks.standard.hour",
        "hour",
    ),
    Single::new(
        (KUBERNETES, KUBERNETES, "Standard Long Term Support"),
        HOUR,
        "aks.premium.hour",
        "hour",
    ),
    Single::new(
        (NAT, NAT, "Standard Gateway"),
        HOUR,
        "nat_gateway.hour",
        "hour",
    )
    .everywhere(),
    Single::new(
        (NAT, NAT, "Standard Data Processed"),
        GB,
        "nat_gateway.data_gb",
        "GB",
    )
    .everywhere(),
    Single::new(
        (
            BALANCER,
            BALANCER,
            "Standard Included LB Rules and Outbound Rules",
        ),
        HOUR,
        "load_balancer.standard.rules_hour",
        "hour",
    )
    .everywhere(),
    Single::new(
        (
            BALANCER,
            BALANCER,
            "Standard Overage LB Rules and Outbound Rules",
        ),
        ANY_HOUR,
        "load_balancer.standard.extra_rule_hour",
        "rule-hour",
    )
    .everywhere(),
    Single::new(
        (BALANCER, BALANCER, "Standard Data Processed"),
        GB,
        "load_balancer.standard.data_gb",
        "GB",
    )
    .everywhere(),
];

/// How the API sells an item of the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meter {
    /// The service.
    pub service: &'static str,
    /// The product.
    pub product: &'static str,
    /// The name of the meter.
    pub name: String,
    /// The unit, as the API writes it.
    pub unit: &'static str,
    /// Whether it has one price everywhere, under the region `Global`.
    pub is_everywhere: bool,
}

/// The meter by which the API sells an item of the tables; `None` for items that are not read
/// from it.
pub fn meter_of(item: &str) -> Option<Meter> {
    if let Some(single) = SINGLE.iter().find(|single| single.item == item) {
        return Some(Meter {
            service: single.service,
            product: single.product,
            name: single.meter.to_owned(),
            unit: single.units.first()?,
            is_everywhere: single.is_everywhere,
        });
    }
    TIERED.iter().find_map(|(product, prefix, letter)| {
        let tier = item.strip_prefix(prefix)?.strip_prefix('.')?;
        let tier = tier.strip_suffix(".lrs")?;
        tier.starts_with(*letter).then(|| Meter {
            service: "Storage",
            product,
            name: format!("{tier} LRS Disk"),
            unit: "1/Month",
            is_everywhere: false,
        })
    })
}

/// The prices of disks, addresses and services of a region as its items say them. What no item says is not
/// in here, and stays as it was known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetailItems {
    /// The price and the unit of the table, by item.
    pub rows: BTreeMap<String, (Decimal, &'static str)>,
    /// Items that are no such price.
    pub left_out: usize,
    /// Items whose price is said differently in two places.
    pub contradicted: Vec<String>,
}

impl RetailItems {
    /// Reads the items of one region; `day` is the day of the read, such as `2026-11-30`.
    ///
    /// # Errors
    /// An item lacks something, is of another region or currency, or has a negative price.
    pub fn read(items: &[Value], region: &Region, day: &str) -> Result<Self, RetailError> {
        let mut read = Self::default();
        let mut said = Sayings::new();
        Item::read_all(items, region, |item, price| {
            let counts = item.price_type == "Consumption"
                && item.has_begun(day)
                && !item.has_ended(day)
                && exact(&item.tier_minimum_units)?.is_zero()
                && !price.is_zero();
            match item.meter().filter(|_| counts) {
                Some(meter) => said.note(meter, price, item),
                None => read.left_out += 1,
            }
            item.is_for_tests().map(|_| ())
        })?;
        for ((name, unit), said) in said.0 {
            if said.contradicted {
                read.contradicted.push(name);
            } else {
                read.rows.insert(name, (said.price, unit));
            }
        }
        Ok(read)
    }

    /// The rows as the text of a table of items whose source has this code.
    pub fn table(&self, source: &str) -> String {
        let mut text = String::from("item,price,unit,confidence,source,notes\n");
        for (name, (price, unit)) in &self.rows {
            let price = price.normalize().to_string();
            let fields = [name.as_str(), &price, *unit, "recorded", source, ""];
            text.push_str(&fields.join(","));
            text.push('\n');
        }
        text
    }
}

impl Item {
    /// The item of the tables that this meter is the price of, and its unit there.
    fn meter(&self) -> Option<(String, &'static str)> {
        let (product, meter) = (self.product_name.as_str(), self.meter_name.as_str());
        let single = SINGLE.iter().find(|single| {
            (single.product, single.meter) == (product, meter)
                && single.units.contains(&self.unit_of_measure.as_str())
        });
        if let Some(single) = single {
            return Some((single.item.to_owned(), single.unit));
        }
        let (_, item, letter) = TIERED.iter().find(|(of, ..)| *of == product)?;
        let tier = meter.strip_suffix(" LRS Disk")?;
        let number = tier.strip_prefix(*letter)?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && self.unit_of_measure == "1/Month")
            .then(|| (format!("{item}.{tier}.lrs"), "disk-month"))
    }
}
