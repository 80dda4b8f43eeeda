//! Prices of managed disks: by tier for the fixed kinds, by GiB for Premium SSD v2.

use model::spec::DiskType;

use super::{bill::Bill, quote::Unit};

/// Tiers and the sizes in GiB that they hold: `P1` is 4 GiB, `P80` is 32 TiB.
const TIERS: [(u32, u32); 14] = [
    (1, 4),
    (2, 8),
    (3, 16),
    (4, 32),
    (6, 64),
    (10, 128),
    (15, 256),
    (20, 512),
    (30, 1_024),
    (40, 2_048),
    (50, 4_096),
    (60, 8_192),
    (70, 16_384),
    (80, 32_768),
];

/// The smallest tier of Standard HDD is `S4`.
const SMALLEST_HDD_TIER: u32 = 4;

/// What a disk is billed as. IOPS and throughput above what the capacity includes are not in it.
pub(super) fn bill(kind: DiskType, size_gb: u32) -> Bill {
    let (letter, product, words) = match kind {
        DiskType::Premium => ("P", "premium_ssd", "Premium SSD"),
        DiskType::StandardSsd => ("E", "standard_ssd", "Standard SSD"),
        DiskType::StandardHdd => ("S", "standard_hdd", "Standard HDD"),
        DiskType::PremiumV2 => {
            return Bill {
                item: format!("Premium SSD v2 {size_gb} GiB"),
                meter: "disk.premium_v2.capacity_gib_hour".to_owned(),
                unit: Unit::Hour,
                amount: size_gb,
            };
        }
        // Ultra also bills IOPS and throughput, which the spec does not say: never a partial price.
        DiskType::Ultra => {
            return Bill::unpriced(format!("Ultra Disk {size_gb} GiB"), "disk.ultra");
        }
    };
    match tier(kind, size_gb) {
        Some(tier) => Bill {
            item: format!("{words} {letter}{tier}"),
            meter: format!("disk.{product}.{letter}{tier}.lrs"),
            unit: Unit::Month,
            amount: 1,
        },
        None => Bill::unpriced(format!("{words} {size_gb} GiB"), "disk tier"),
    }
}

/// The tier that a size is billed as: the next larger one.
fn tier(kind: DiskType, size_gb: u32) -> Option<u32> {
    let smallest = if kind == DiskType::StandardHdd {
        SMALLEST_HDD_TIER
    } else {
        1
    };
    TIERS
        .iter()
        .find(|(tier, holds)| *tier >= smallest && *holds >= size_gb)
        .map(|(tier, _)| *tier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_billed_as_the_next_larger_tier() {
        let check = |kind: DiskType, size: u32, expected: Option<u32>| {
            assert_eq!(tier(kind, size), expected, "{size}");
        };
        check(DiskType::Premium, 1, Some(1));
        check(DiskType::Premium, 128, Some(10));
        check(DiskType::Premium, 129, Some(15));
        check(DiskType::Premium, 1_024, Some(30));
        check(DiskType::StandardHdd, 1, Some(4));
        check(DiskType::Premium, 32_767, Some(80));
        check(DiskType::Premium, 40_000, None);
    }
}
