//! The temporary disks of sizes, told by their names.

use super::Size;

/// The disk of a VM that loses its contents with the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemporaryDisk {
    /// There is none.
    None,
    /// A disk behind the SCSI controller.
    Scsi,
    /// Disks over NVMe.
    Nvme,
}

impl TemporaryDisk {
    /// In words, behind "with".
    pub fn words(self) -> &'static str {
        match self {
            Self::None => "no temporary disk",
            Self::Scsi => "a SCSI temporary disk",
            Self::Nvme => "an NVMe temporary disk",
        }
    }
}

impl Size {
    /// Its temporary disk, by the rule of names: all D, E and F sizes had one up to version 3,
    /// and since then those with a `d` behind the number, from version 6 on over NVMe. Other
    /// families do not follow the rule: `None`.
    pub fn temporary_disk(&self) -> Option<TemporaryDisk> {
        if !["D", "E", "F"].contains(&self.series.as_str()) {
            return None;
        }
        let name = self.name.as_str().trim_start_matches("Standard_");
        let first = name.split('_').next().unwrap_or_default();
        let features = first.trim_start_matches(|letter: char| {
            letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '-'
        });
        Some(match self.version {
            Some(version) if version >= 4 && !features.contains('d') => TemporaryDisk::None,
            Some(version) if version >= 6 => TemporaryDisk::Nvme,
            Some(_) | None => TemporaryDisk::Scsi,
        })
    }
}
