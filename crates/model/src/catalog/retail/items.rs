//! Meters of disks and addresses.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde_json::Value;

use super::{Item, RetailError, Sayings, exact};
use crate::units::Region;

/// A filter of the API for the products that are read here, without the region.
pub const PRODUCTS: &str = "(productName eq 'Premium SSD Managed Disks' \
    or productName eq 'Standard SSD Managed Disks' \
    or productName eq 'Standard HDD Managed Disks' \
    or productName eq 'Azure Premium SSD v2' \
    or productName eq 'Ultra Disks' \
    or productName eq 'IP Addresses')";

/// Disks with a price a month for each tier: product, item, letter of the tiers.
const TIERED: [(&str, &str, char); 3] = [
    ("Premium SSD Managed Disks", "disk.premium_ssd", 'P'),
    ("Standard SSD Managed Disks", "disk.standard_ssd", 'E'),
    ("Standard HDD Managed Disks", "disk.standard_hdd", 'S'),
];

/// Meters by the hour: product, meter, unit of the API, item, unit of the table.
const HOURLY: [(&str, &str, &str, &str, &str); 8] = [
    (
        "Azure Premium SSD v2",
        "Premium LRS Provisioned Capacity",
        "1 GiB/Hour",
        "disk.premium_v2.capacity_gib_hour",
        "GiB-hour",
    ),
    (
        "Azure Premium SSD v2",
        "Premium LRS Provisioned IOPS",
        "1/Hour",
        "disk.premium_v2.iops_hour",
        "IOPS-hour",
    ),
    (
        "Azure Premium SSD v2",
        "Premium LRS Provisioned Throughput (MBps)",
        "1/Hour",
        "disk.premium_v2.mbps_hour",
        "MBps-hour",
    ),
    (
        "Ultra Disks",
        "Ultra LRS Provisioned Capacity",
        "1 GiB/Hour",
        "disk.ultra.capacity_gib_hour",
        "GiB-hour",
    ),
    (
        "Ultra Disks",
        "Ultra LRS Provisioned IOPS",
        "1/Hour",
        "disk.ultra.iops_hour",
        "IOPS-hour",
    ),
    (
        "Ultra Disks",
        "Ultra LRS Provisioned Throughput (MBps)",
        "1/Hour",
        "disk.ultra.mbps_hour",
        "MBps-hour",
    ),
    (
        "Ultra Disks",
        "Ultra LRS Reservation per vCPU Provisioned",
        "1/Hour",
        "disk.ultra.vcpu_reservation_hour",
        "vCPU-hour",
    ),
    (
        "IP Addresses",
        "Standard IPv4 Static Public IP",
        "1 Hour",
        "public_ip.standard.static.hour",
        "hour",
    ),
];

/// The product, the meter and the unit by which the API sells an item of the tables; `None` for
/// items that are not read from it.
pub fn meter_of(item: &str) -> Option<(&'static str, String, &'static str)> {
    if let Some((product, meter, unit, ..)) = HOURLY.iter().find(|(.., of, _)| *of == item) {
        return Some((product, (*meter).to_owned(), unit));
    }
    TIERED.iter().find_map(|(product, prefix, letter)| {
        let tier = item.strip_prefix(prefix)?.strip_prefix('.')?;
        let tier = tier.strip_suffix(".lrs")?;
        let meter = format!("{tier} LRS Disk");
        tier.starts_with(*letter)
            .then_some((*product, meter, "1/Month"))
    })
}

/// The prices of disks and addresses of a region as its items say them. What no item says is not
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
        let hourly = HOURLY.iter().find(|(of, name, unit, ..)| {
            (*of, *name, *unit) == (product, meter, self.unit_of_measure.as_str())
        });
        if let Some((_, _, _, item, unit)) = hourly {
            return Some(((*item).to_owned(), unit));
        }
        let (_, item, letter) = TIERED.iter().find(|(of, ..)| *of == product)?;
        let tier = meter.strip_suffix(" LRS Disk")?;
        let number = tier.strip_prefix(*letter)?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && self.unit_of_measure == "1/Month")
            .then(|| (format!("{item}.{tier}.lrs"), "disk-month"))
    }
}
