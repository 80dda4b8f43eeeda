//! How the disks of a node are reached, and where an OS disk on the node itself stands.

use serde::{Deserialize, Serialize};

/// How a VM reaches its disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiskController {
    /// SCSI.
    Scsi,
    /// NVMe.
    Nvme,
}

impl DiskController {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Scsi, Self::Nvme];

    /// Azure's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Scsi => "SCSI",
            Self::Nvme => "NVMe",
        }
    }

    /// The one with a name as Azure spells it, whatever the case.
    pub fn named(word: &str) -> Option<Self> {
        let is = |controller: &Self| controller.word().eq_ignore_ascii_case(word.trim());
        Self::ALL.into_iter().find(is)
    }
}

/// Where an ephemeral OS disk stands on the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EphemeralPlacement {
    /// In the host's cache of the disks.
    CacheDisk,
    /// On the temporary disk.
    ResourceDisk,
    /// On local NVMe disks.
    NvmeDisk,
}

impl EphemeralPlacement {
    /// All of them, in the order in which Azure takes them where none is named.
    pub const ALL: [Self; 3] = [Self::CacheDisk, Self::ResourceDisk, Self::NvmeDisk];

    /// Azure's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::CacheDisk => "CacheDisk",
            Self::ResourceDisk => "ResourceDisk",
            Self::NvmeDisk => "NvmeDisk",
        }
    }

    /// The word of a spec.
    pub fn key(self) -> &'static str {
        match self {
            Self::CacheDisk => "cache_disk",
            Self::ResourceDisk => "resource_disk",
            Self::NvmeDisk => "nvme_disk",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::CacheDisk => "cache disk",
            Self::ResourceDisk => "temporary disk",
            Self::NvmeDisk => "local NVMe disks",
        }
    }

    /// The one with a name as Azure spells it, whatever the case.
    pub fn named(word: &str) -> Option<Self> {
        let is = |placement: &Self| placement.word().eq_ignore_ascii_case(word.trim());
        Self::ALL.into_iter().find(is)
    }
}

/// Whether the OS disk stands on the node itself, where nothing of it is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EphemeralOs {
    /// It is a managed disk.
    #[default]
    No,
    /// It does, where the planner decides.
    Auto,
    /// It does, at this place.
    At(EphemeralPlacement),
}
