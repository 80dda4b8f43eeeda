//! What checks of a new node expect, by size: figures that no list of sizes has.

use rust_decimal::Decimal;

use super::{
    lists::find,
    load::Catalog,
    rows::SharedText,
    sources::{Citations, Sources},
    table::{Fields, Table, read_table},
};
use crate::units::SizeName;

/// What a node of a size must show; `None` where no source says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// The size.
    pub size: SizeName,
    /// Ports of InfiniBand.
    pub infiniband_ports: Option<u32>,
    /// The rate of each port in Gb/s.
    pub infiniband_gbit_s: Option<u32>,
    /// Local NVMe disks.
    pub nvme_disks: Option<u32>,
    /// Whether its GPUs need the fabric manager.
    pub fabric_manager: Option<bool>,
    /// The least bus bandwidth of an all-reduce over its GPUs, in GB/s.
    pub all_reduce_gb_s: Option<Decimal>,
    /// The message that this bandwidth holds for, as `all_reduce_perf` takes it.
    pub all_reduce_message: Option<String>,
    /// What a reader must know.
    pub notes: String,
    /// Where the row is from.
    pub source: SharedText,
    /// The day of the source.
    pub as_of: SharedText,
}

impl Catalog {
    /// What a node of a size must show, where a source says something of it.
    pub fn acceptance(&self, size: &SizeName) -> Option<&Acceptance> {
        find(&self.acceptance_table().rows, |row| row.size.cmp(size))
    }

    /// Every row about what nodes must show, by name of the size.
    pub fn acceptances(&self) -> &[Acceptance] {
        &self.acceptance_table().rows
    }

    pub(super) fn acceptance_table(&self) -> &Table<Acceptance> {
        self.acceptance
            .get_or_init(|| self.table("acceptance.csv", read))
    }
}

/// Reads `acceptance.csv`.
fn read(name: &str, text: &str, sources: &Sources) -> Table<Acceptance> {
    const COLUMNS: &[&str] = &[
        "size",
        "infiniband_ports",
        "infiniband_gbit_s",
        "nvme_disks",
        "fabric_manager",
        "all_reduce_gb_s",
        "all_reduce_message",
        "notes",
        "source",
        "as_of",
    ];
    let mut citations = Citations::new(sources);
    let read = |fields: &mut Fields<'_>| {
        Ok(Acceptance {
            size: SizeName::new(fields.required()?),
            infiniband_ports: fields.optional_number()?,
            infiniband_gbit_s: fields.optional_number()?,
            nvme_disks: fields.optional_number()?,
            fabric_manager: fields.yes_no_or_unknown()?,
            all_reduce_gb_s: fields.optional_decimal()?,
            all_reduce_message: fields.optional().map(str::to_owned),
            notes: fields.text().to_owned(),
            source: citations.source(fields)?,
            as_of: citations.day(fields)?,
        })
    };
    read_table(name, text, COLUMNS, read).sorted(
        name,
        |a, b| a.size.cmp(&b.size),
        |row| row.size.to_string(),
    )
}
