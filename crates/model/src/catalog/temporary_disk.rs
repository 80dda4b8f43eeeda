//! Temporary disks of sizes, by the rule of names.

use super::Size;

/// A disk that lives as long as a VM stays on its hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemporaryDisk {
    /// There is none.
    Absent,
    /// It is a SCSI disk.
    Scsi,
    /// It is an NVMe disk.
    Nvme,
}

impl TemporaryDisk {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Absent => "no temporary disk",
            Self::Scsi => "a SCSI temporary disk",
            Self::Nvme => "an NVMe temporary disk",
        }
    }
}

impl Size {
    /// Its temporary disk, by the rule of names: where D, E and F sizes have one, it is an NVMe
    /// disk since version 6 and a SCSI disk before.
    pub fn temporary_disk(&self) -> Option<TemporaryDisk> {
        Some(match (self.has_temporary_disk()?, self.version) {
            (false, _) => TemporaryDisk::Absent,
            (true, Some(version)) if version >= 6 => TemporaryDisk::Nvme,
            (true, _) => TemporaryDisk::Scsi,
        })
    }

    /// Whether it has a temporary disk, by the rule of names: all D, E and F sizes did up to
    /// version 3, and since then those with a `d` behind the number. Other families do not follow
    /// the rule: `None`.
    pub fn has_temporary_disk(&self) -> Option<bool> {
        if !["D", "E", "F"].contains(&self.series.as_str()) {
            return None;
        }
        let name = self.name.as_str().trim_start_matches("Standard_");
        let first = name.split('_').next().unwrap_or_default();
        let features = first.trim_start_matches(|letter: char| {
            letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '-'
        });
        match self.version {
            Some(version) if version >= 4 => Some(features.contains('d')),
            Some(_) | None => Some(true),
        }
    }
}
