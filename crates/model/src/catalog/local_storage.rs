//! Disk controllers of sizes and room for an OS disk on the node, by the rule of names.
//!
//! Azure's own list of sizes says both and goes first; the tables do not have them. The rules
//! are those of recorded lists: sizes that name no controller have SCSI, and disks on the node
//! grow with the virtual CPUs. What no record shows is unknown.

use std::collections::{BTreeMap, BTreeSet};

use super::{Architecture, Size, TemporaryDisk};
use crate::spec::{DiskController, EphemeralPlacement};

/// GiB of local NVMe disks for each virtual CPU of D and E sizes of version 6.
const NVME_GIB: u32 = 55;

/// GiB of the host's cache for each virtual CPU of D and E sizes of versions 3 to 5.
const CACHE_GIB: u32 = 25;

/// Half GiB of the temporary disk for each virtual CPU of D and E sizes of versions 4 and 5.
const TEMPORARY_HALF_GIB: u32 = 75;

/// Sizes with more virtual CPUs than this do not follow the rule.
const MOST_VCPUS: u32 = 96;

/// Places for an OS disk on a node, each with its room in GiB where that is known.
pub type EphemeralRoom = BTreeMap<EphemeralPlacement, Option<u32>>;

impl Size {
    /// The disk controllers it has; empty where they are not known.
    pub fn disk_controllers(&self) -> BTreeSet<DiskController> {
        const SCSI: &[DiskController] = &[DiskController::Scsi];
        const NVME: &[DiskController] = &[DiskController::Nvme];
        const UNKNOWN: &[DiskController] = &[];
        let version = self.version.unwrap_or(1);
        let is_rack = self.gpu_name().is_some_and(|name| name.starts_with("GB"));
        let known = match self.series.as_str() {
            _ if is_rack => NVME,
            "D" | "E" | "F" if version >= 6 => match self.architecture {
                Some(Architecture::X64) => NVME,
                Some(Architecture::Arm64) | None => UNKNOWN,
            },
            "E" if version == 5 && self.features().contains('b') => &DiskController::ALL,
            "D" | "E" | "F" => SCSI,
            "NC" if version <= 4 => SCSI,
            "A" | "B" | "M" if version <= 1 => SCSI,
            _ => UNKNOWN,
        };
        known.iter().copied().collect()
    }

    /// Where an OS disk can stand on the node: nowhere (an empty map), or at these places;
    /// `None` where that is not known.
    pub fn ephemeral_room(&self) -> Option<EphemeralRoom> {
        if !self.ephemeral_os_disk? {
            return Some(EphemeralRoom::new());
        }
        let version = self.version.unwrap_or(1);
        if self.gpu_name() == Some("GB300") {
            return Some([(EphemeralPlacement::CacheDisk, None)].into());
        }
        match self.series.as_str() {
            "D" | "E" | "F" if self.temporary_disk() == Some(TemporaryDisk::Nvme) => {
                Some([(EphemeralPlacement::NvmeDisk, self.nvme_gib())].into())
            }
            "D" | "E" | "F" | "NC" | "B" | "M" if version <= 5 => Some(
                [
                    (EphemeralPlacement::CacheDisk, self.cache_gib()),
                    (EphemeralPlacement::ResourceDisk, self.temporary_gib()),
                ]
                .into(),
            ),
            _ => None,
        }
    }

    fn nvme_gib(&self) -> Option<u32> {
        let follows = matches!(self.series.as_str(), "D" | "E") && self.version == Some(6);
        follows.then(|| self.vcpus.saturating_mul(NVME_GIB))
    }

    fn cache_gib(&self) -> Option<u32> {
        let follows = self.is_plain(3) && self.premium_disks == Some(true);
        follows.then(|| self.vcpus.saturating_mul(CACHE_GIB))
    }

    fn temporary_gib(&self) -> Option<u32> {
        let follows = self.is_plain(4) && self.temporary_disk() == Some(TemporaryDisk::Scsi);
        follows.then(|| self.vcpus.saturating_mul(TEMPORARY_HALF_GIB) / 2)
    }

    /// Whether it is a D or E size from a version on up to version 5, of the usual kind: those
    /// for confidential VMs, and the largest, go their own ways.
    fn is_plain(&self, first: u8) -> bool {
        let versions = first..=5;
        let features = self.features();
        matches!(self.series.as_str(), "D" | "E")
            && self
                .version
                .is_some_and(|version| versions.contains(&version))
            && self.vcpus <= MOST_VCPUS
            && !features.contains(['b', 'c', 'i', 'a'])
    }

    fn gpu_name(&self) -> Option<&str> {
        self.gpu.as_ref().map(|gpu| gpu.model.as_str())
    }

    /// The small letters behind the number of a name: `ads` of `Standard_D8ads_v6`.
    fn features(&self) -> &str {
        let name = self.name.as_str().trim_start_matches("Standard_");
        let first = name.split('_').next().unwrap_or_default();
        first.trim_start_matches(|letter: char| {
            letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '-'
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalog::Catalog, units::SizeName};

    fn size(name: &str) -> &'static Size {
        let found = Catalog::embedded().size(&SizeName::from(name));
        found.expect(name)
    }

    #[test]
    fn the_rules_say_what_recorded_lists_say() {
        use EphemeralPlacement::{CacheDisk, NvmeDisk, ResourceDisk};
        // Recorded: places, and bytes or MiB of each.
        let recorded = [
            ("Standard_D128ds_v6", vec![(NvmeDisk, Some(7_040))]),
            (
                "Standard_D16plds_v5",
                vec![(CacheDisk, Some(400)), (ResourceDisk, Some(600))],
            ),
            (
                "Standard_E4d_v5",
                vec![(CacheDisk, None), (ResourceDisk, Some(150))],
            ),
            (
                "Standard_D64s_v3",
                vec![(CacheDisk, Some(1_600)), (ResourceDisk, None)],
            ),
            (
                "Standard_NC24ads_A100_v4",
                vec![(CacheDisk, None), (ResourceDisk, None)],
            ),
            ("Standard_D2as_v6", Vec::new()),
            ("Standard_D2_v5", Vec::new()),
        ];
        for (name, expected) in recorded {
            let room = size(name).ephemeral_room();
            assert_eq!(room, Some(expected.into_iter().collect()), "{name}");
        }
        assert_eq!(size("Standard_ND96isr_H100_v5").ephemeral_room(), None);
    }

    #[test]
    fn controllers_change_with_version_6() {
        let of = |name: &str| {
            size(name)
                .disk_controllers()
                .into_iter()
                .collect::<Vec<_>>()
        };
        let (scsi, nvme) = (vec![DiskController::Scsi], vec![DiskController::Nvme]);
        for name in ["Standard_D128ds_v6", "Standard_D2as_v6", "Standard_E8s_v6"] {
            assert_eq!(of(name), nvme, "{name}");
        }
        for name in ["Standard_D8ds_v5", "Standard_NC16as_T4_v3", "Standard_B1s"] {
            assert_eq!(of(name), scsi, "{name}");
        }
        assert_eq!(of("Standard_E4bds_v5"), DiskController::ALL);
        // No record names their controllers.
        for name in ["Standard_ND96isr_H100_v5", "Standard_D8pds_v6"] {
            assert_eq!(of(name), [], "{name}");
        }
    }
}
