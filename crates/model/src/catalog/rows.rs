//! Rows of the catalogue's tables.

use std::collections::BTreeSet;

use rust_decimal::Decimal;

use crate::units::{CaseInsensitive, Region, SizeName};

/// A VM size.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    /// Its name.
    pub name: SizeName,
    /// The quota family, as Azure spells it; `None` for sizes known only from pages.
    pub family: Option<CaseInsensitive>,
    /// The letters of its family: `ND`, `NC`, `NV`, `E`, `F`, `FX`, `M`, `D` …
    pub series: String,
    /// The version suffix: 6 for `…_v6`; `None` where there is none.
    pub version: Option<u8>,
    /// Virtual CPUs.
    pub vcpus: u32,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Data disks it can have; `None` where it is not known.
    pub max_data_disks: Option<u32>,
    /// The architecture of its CPUs.
    pub architecture: Architecture,
    /// Hyper-V generations it accepts, 1 and 2.
    pub generations: BTreeSet<u8>,
    /// Whether it can have accelerated networking.
    pub accelerated_networking: bool,
    /// Whether it can have premium disks.
    pub premium_disks: bool,
    /// Its GPUs.
    pub gpu: Option<SizeGpu>,
    /// Whether it has RDMA over InfiniBand.
    pub rdma: bool,
    /// How its GPUs are connected among themselves, as the source words it; `None` for none.
    pub gpu_interconnect: Option<String>,
    /// Where it stands in its life.
    pub lifecycle: Lifecycle,
    /// The row of the compatibility matrix it belongs to.
    pub image_family: String,
    /// What a reader must know about the row.
    pub notes: String,
    /// Where the row is from.
    pub source: String,
    /// The day of the source.
    pub as_of: String,
}

/// GPUs of a size.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeGpu {
    /// The GPU's name, as in [`Gpu::name`].
    pub model: String,
    /// How many, as the source says: `8`, or `1/6` of one.
    pub share: GpuShare,
    /// Nameplate memory in GB that one VM has per whole GPU, or of the part it has.
    pub memory_gb: u32,
}

/// Whole GPUs, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuShare {
    /// This many.
    Whole(u32),
    /// One part of this many.
    Part(u32),
}

impl GpuShare {
    /// Whole GPUs; a part counts as none.
    pub fn whole(self) -> u32 {
        match self {
            Self::Whole(count) => count,
            Self::Part(_) => 0,
        }
    }
}

/// The architecture of a size's CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Architecture {
    /// x86, 64 bits.
    X64,
    /// Arm, 64 bits.
    Arm64,
}

/// Where a size stands in its life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// Sold as a current generation.
    Current,
    /// Sold, with a successor.
    Extended,
    /// Sold for now; the retirement day is announced.
    EndOfLife {
        /// `YYYY-MM-DD`.
        retires: String,
    },
    /// Not sold any more.
    Retired {
        /// `YYYY-MM-DD`, where it is known.
        since: Option<String>,
    },
}

/// A GPU model.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// The exact name that specs and options use, such as `A100-80`.
    pub name: String,
    /// `NVIDIA` or `AMD`.
    pub vendor: String,
    /// Order of generations: higher is newer.
    pub generation: u32,
    /// Nameplate memory in GB.
    pub memory_gb: u32,
    /// Dense bf16 (fp16 where there is no bf16) in TFLOPS.
    pub dense_tflops: Decimal,
    /// Memory bandwidth in TB/s.
    pub bandwidth_tb_s: Decimal,
    /// Where the figures are from.
    pub source: String,
    /// The day of the source.
    pub as_of: String,
}

/// A size that a region offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The size.
    pub size: SizeName,
    /// Zones that have it.
    pub zones: BTreeSet<String>,
    /// Whether it can be spot there.
    pub spot: bool,
}

/// A region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionRow {
    /// Its short name.
    pub name: Region,
    /// Its name for people.
    pub display_name: String,
    /// The group of its geography, such as `US`.
    pub geography: String,
    /// Whether the catalogue has the list of sizes that it offers.
    pub has_offers: bool,
}

/// Prices of a size in a region, in US dollars per hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmPrice {
    /// Linux, on demand.
    pub linux: Option<Decimal>,
    /// Linux, spot.
    pub spot: Option<Decimal>,
    /// Windows, on demand.
    pub windows: Option<Decimal>,
    /// Linux, one-year savings plan.
    pub savings_plan_1y: Option<Decimal>,
    /// Where the row is from.
    pub source: String,
    /// The day of the source.
    pub as_of: String,
    /// What a reader must know, such as `cs_estimated`.
    pub flags: Vec<String>,
}

/// The price of a disk tier or a network item in a region, in US dollars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemPrice {
    /// The item, such as `nat_gateway.hour` or `disk.premium_ssd.P10.lrs`.
    pub item: String,
    /// The price.
    pub price: Decimal,
    /// What it is the price of.
    pub unit: PriceUnit,
    /// Where the row is from.
    pub source: String,
    /// The day of the source.
    pub as_of: String,
    /// `recorded`, `derived` or `reported`.
    pub confidence: String,
}

/// What a price is the price of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceUnit {
    /// One for an hour.
    Hour,
    /// One for a month of 730 hours.
    Month,
    /// One GiB for an hour.
    GibHour,
    /// One GiB for a month.
    GibMonth,
    /// Another unit, which the previews do not use.
    Other,
}

/// A marketplace image that the tool knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRow {
    /// `dsvm`, `hpc` or `distribution`.
    pub kind: String,
    /// Column of the compatibility matrix.
    pub column: String,
    /// Who publishes it.
    pub publisher: String,
    /// The product.
    pub offer: String,
    /// The variant.
    pub sku: String,
    /// The newest version that was seen.
    pub version: String,
    /// Hyper-V generation.
    pub generation: u8,
    /// The architecture.
    pub architecture: Architecture,
    /// Whether it may still be used.
    pub usable: bool,
    /// Smallest OS disk in GiB that is sensible for it.
    pub os_disk_floor_gb: u32,
    /// OS disk in GiB that the tool asks for.
    pub os_disk_default_gb: u32,
    /// What a reader must know.
    pub notes: String,
    /// Where the row is from.
    pub source: String,
    /// The day of the source.
    pub as_of: String,
}

/// Whether an image runs on a family of sizes: one cell of the compatibility matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFit {
    /// Row of the matrix, as in [`Size::image_family`].
    pub family: String,
    /// Column of the matrix, as in [`ImageRow::column`].
    pub column: String,
    /// The verdict.
    pub verdict: Fit,
    /// Why, for people.
    pub reason: String,
}

/// A verdict of the compatibility matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Documented.
    Ok,
    /// Expected but not documented.
    Expected,
    /// Only with a driver installed afterwards.
    NeedsDriver,
    /// Refused in the plan.
    No,
}

/// A row of the source article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleRow {
    /// Its number; `A4` is row 4.
    pub number: u32,
    /// The section it stands in.
    pub section: String,
    /// What it is about.
    pub item: String,
    /// What it says, in our words.
    pub says: String,
}

/// What a table holds and where it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// The table's name.
    pub name: String,
    /// How many rows it has.
    pub rows: usize,
    /// The day of its newest row.
    pub as_of: String,
    /// Its sources.
    pub sources: Vec<String>,
}
