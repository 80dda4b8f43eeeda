//! Rows of the catalogue's tables.
//!
//! What a source does not say is `None` (or an empty set) here: unknown is not zero.

use std::{collections::BTreeSet, sync::Arc};

use rust_decimal::Decimal;

use crate::{
    transformer::Transformer,
    units::{CaseInsensitive, Region, SizeName},
};

/// Text that many rows have in common, kept once: where they are from, and the day.
pub type SharedText = Arc<str>;

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
    /// Virtual CPUs that quota counts; sizes such as `E4-2as_v4` show the guest fewer.
    pub vcpus: u32,
    /// Memory in MiB.
    pub memory_mib: Option<u64>,
    /// Data disks it can have.
    pub max_data_disks: Option<u32>,
    /// Network interfaces it can have.
    pub max_nics: Option<u32>,
    /// The architecture of its CPUs.
    pub architecture: Option<Architecture>,
    /// Hyper-V generations it accepts, 1 and 2; empty where they are not known.
    pub generations: BTreeSet<u8>,
    /// Whether it can have accelerated networking.
    pub accelerated_networking: Option<bool>,
    /// Whether it can have premium disks.
    pub premium_disks: Option<bool>,
    /// Whether its OS disk can be ephemeral.
    pub ephemeral_os_disk: Option<bool>,
    /// Whether its disks can be encrypted at the host.
    pub encryption_at_host: Option<bool>,
    /// Its GPUs.
    pub gpu: Option<SizeGpu>,
    /// Whether it has RDMA over InfiniBand.
    pub rdma: bool,
    /// How its GPUs are connected among themselves, as the source words it; `None` where no
    /// connection is stated.
    pub gpu_interconnect: Option<String>,
    /// Its local NVMe disks, as the source words it; `None` where none are stated.
    pub local_nvme: Option<String>,
    /// Where it stands in its life.
    pub lifecycle: Lifecycle,
    /// The row of the compatibility matrix it belongs to.
    pub image_family: String,
    /// What a reader must know about the row.
    pub notes: String,
    /// Where the row is from.
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
}

/// GPUs of a size.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeGpu {
    /// The GPU's name, as in [`Gpu::name`].
    pub model: String,
    /// How many: `8`, or `1/6` of one.
    pub share: Option<GpuShare>,
    /// Nameplate memory in GB of one of its GPUs, or of the part it has.
    pub memory_gb: Option<u32>,
}

impl SizeGpu {
    /// Nameplate memory in GB of all its GPUs together, or of the part it has.
    pub fn total_memory_gb(&self) -> Option<u32> {
        match self.share? {
            GpuShare::Whole(count) => self.memory_gb?.checked_mul(count),
            GpuShare::Part(_) => self.memory_gb,
        }
    }
}

impl Size {
    /// GPUs that a machine of it sees; `None` where their number is not known.
    pub fn visible_gpus(&self) -> Option<u32> {
        match &self.gpu {
            None => Some(0),
            // A part of a GPU is one to its machine.
            Some(gpu) => gpu.share.map(|share| share.whole().max(1)),
        }
    }
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
    /// Sold, and no source states a later stage.
    Current,
    /// Sold, with a successor.
    Extended,
    /// Sold for now; the retirement day is announced.
    EndOfLife {
        /// `YYYY-MM-DD`.
        retires: String,
    },
    /// Not sold any more on the day the catalogue was made.
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
    /// Dense fp8 in TFLOPS; `None` where the GPU has none.
    pub fp8_tflops: Option<Decimal>,
    /// Memory bandwidth in TB/s.
    pub bandwidth_tb_s: Decimal,
    /// The best measured matrix multiplication as a share of `dense_tflops`; `None` where
    /// nobody measured it.
    pub matmul_share: Option<Decimal>,
    /// Bandwidth of its link to the other GPUs of its domain in GB/s, one direction.
    pub link_gb_s: Decimal,
    /// GPUs that such links connect.
    pub link_domain: u32,
    /// Its part of a VM's InfiniBand in GB/s; `None` where no size has InfiniBand.
    pub fabric_gb_s: Option<Decimal>,
    /// What a reader must know.
    pub notes: String,
    /// Where the figures are from.
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
}

/// A model that is known by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownModel {
    /// The name that specs and options use, in lower case.
    pub name: String,
    /// Its repository on Hugging Face.
    pub repository: String,
    /// Its shape.
    pub transformer: Transformer,
    /// All parameters, as published.
    pub parameters: u64,
    /// Parameters that take part in one token, as published, for mixtures of experts.
    pub active_parameters: Option<u64>,
    /// What a reader must know.
    pub notes: String,
    /// Where the row is from.
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
}

/// A size that a region offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The size.
    pub size: SizeName,
    /// Zones that have it; none in regions without zones.
    pub zones: Arc<BTreeSet<String>>,
    /// Whether it can be spot there.
    pub spot: bool,
    /// Where the row is from.
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
}

/// A region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionRow {
    /// Its short name.
    pub name: Region,
    /// Its name for people.
    pub display_name: String,
    /// The group of its geography, such as `US`.
    pub geography: Option<String>,
    /// Whether the catalogue has the list of sizes that it offers.
    pub has_offers: bool,
    /// Where the row is from.
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
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
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
    /// What a reader must know, such as `cs_estimated`.
    pub flags: Vec<String>,
}

/// The price of a size for those who commit themselves for years, in US dollars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commitment {
    /// The size.
    pub size: SizeName,
    /// What one commits to.
    pub plan: CommitmentPlan,
    /// For how many years: 1 or 3.
    pub years: u32,
    /// The price: of a reservation for all its years, of a savings plan for an hour.
    pub price: Decimal,
    /// Where the row is from.
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
}

/// What one commits to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommitmentPlan {
    /// This size in this region.
    Reservation,
    /// An amount an hour.
    SavingsPlan,
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
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
    /// `recorded`, `derived` or `reported`.
    pub confidence: String,
    /// What a reader must know.
    pub notes: String,
}

/// What a price is the price of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PriceUnit {
    /// One for an hour: a gateway, an address, a rule.
    Hour,
    /// One for a month of 730 hours: a disk.
    Month,
    /// One GiB for an hour.
    GibHour,
    /// One GB for a month.
    GbMonth,
    /// One operation a second for an hour.
    IopsHour,
    /// One MB a second for an hour.
    MbpsHour,
    /// One virtual CPU for an hour.
    VcpuHour,
    /// One GB that passes.
    Gb,
    /// Ten thousand operations.
    TenThousandOperations,
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
    /// The newest version that was seen; `None` where none was.
    pub version: Option<String>,
    /// What it runs.
    pub os: ImageOs,
    /// Hyper-V generation.
    pub generation: u8,
    /// The architecture.
    pub architecture: Architecture,
    /// Whether it may still be used.
    pub usable: bool,
    /// Whether it has a purchase plan, whose terms must be accepted; `None` where that is not
    /// known.
    pub has_plan: Option<bool>,
    /// Smallest OS disk in GiB that is sensible for it.
    pub os_disk_floor_gb: u32,
    /// OS disk in GiB that the tool asks for.
    pub os_disk_default_gb: u32,
    /// What a reader must know.
    pub notes: String,
    /// Where the row is from.
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
}

/// What an image runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageOs {
    /// Linux.
    Linux,
    /// Windows.
    Windows,
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
    /// The VM extension that installs the driver, where one is documented.
    pub driver: Option<String>,
    /// Why, for people.
    pub reason: String,
    /// Where the row is from.
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
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

/// A family of sizes that image rules treat alike: one row of the compatibility matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFamily {
    /// Its name, as in [`Size::image_family`].
    pub name: String,
    /// Its sizes, for people.
    pub title: String,
    /// How it stands with Trusted Launch.
    pub trusted_launch: TrustedLaunch,
    /// Why, for people.
    pub reason: String,
    /// Where the row is from.
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
}

/// How a family of sizes stands with Trusted Launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustedLaunch {
    /// Supported.
    Supported,
    /// Supported, and drivers load only with Secure Boot off.
    SecureBootOff,
    /// Not supported.
    Unsupported,
    /// Not documented.
    Unknown,
}

/// The quota counter of a family of sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaFamily {
    /// The family, as in [`Size::family`].
    pub family: CaseInsensitive,
    /// The counter's name in the answers of the usages API.
    pub usage_name: CaseInsensitive,
    /// The counter's name for people, where it was seen.
    pub localized_name: Option<String>,
    /// Whether the counter was seen under this name, or the name is taken from the family.
    pub confirmed: bool,
    /// Where the row is from.
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
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
    /// `rule`, `principle`, `option`, `system`, `fact` …
    pub kind: String,
    /// What it says, in our words.
    pub says: String,
    /// Where the row is from.
    pub source: SharedText,
    /// The day of the edition.
    pub as_of: SharedText,
}

/// What a table, or the tables of all regions together, hold and where that is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// The table's name, such as `sizes` or `prices/vm`.
    pub name: String,
    /// How many rows it has.
    pub rows: usize,
    /// The day of its oldest row.
    pub oldest: String,
    /// The day of its newest row.
    pub as_of: String,
    /// The day that most of its rows are of.
    pub usual_day: String,
    /// The repositories its rows are from.
    pub sources: Vec<String>,
}
