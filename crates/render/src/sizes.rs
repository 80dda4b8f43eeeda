//! The sizes of the catalogue as a table and as JSON.

use std::collections::BTreeSet;

use model::{
    catalog::{Architecture, GpuShare, Lifecycle, Size, SizeGpu, UnitPrices, VmPrice},
    units::Region,
};
use serde_json::{Value, json};

use crate::{
    cost, failure,
    line::Line,
    paper::Paper,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// A size in a region, in the order in which it is to be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeRow<'a> {
    /// The size.
    pub size: &'a Size,
    /// Its price row; `None` where there is none.
    pub price: Option<&'a VmPrice>,
    /// Prices of what it has.
    pub units: UnitPrices,
    /// Zones that have it; `None` where it is not known whether the region offers it.
    pub zones: Option<&'a BTreeSet<String>>,
    /// Whether the region offers it as spot; `None` where that is not known.
    pub spot: Option<bool>,
}

/// A unit whose price can be shown beside that of a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A GPU.
    Gpu,
    /// A GiB of GPU memory.
    GpuGib,
    /// A TFLOPS.
    Tflops,
}

impl Unit {
    fn heading(self) -> &'static str {
        match self {
            Self::Gpu => "per GPU",
            Self::GpuGib => "per GPU-GiB",
            Self::Tflops => "per TFLOPS",
        }
    }

    fn of(self, units: UnitPrices) -> Option<String> {
        let price = match self {
            Self::Gpu => units.gpu,
            Self::GpuGib => units.gpu_gib,
            Self::Tflops => units.tflops,
        };
        price.map(|price| price.to_string())
    }
}

/// A table of sizes, with the price of a unit where one is asked for.
pub fn text(rows: &[SizeRow<'_>], location: &Region, unit: Option<Unit>, style: Style) -> String {
    let mut paper = Paper::new(style);
    if rows.is_empty() {
        paper.paragraph(
            0,
            Ink::Plain,
            &format!("No size in {location} fits these filters."),
        );
        return paper.finish();
    }
    let columns = [
        Column::left("Size", Fit::Keep),
        Column::left("GPUs", Fit::Keep),
        Column::right("GB"),
        spare(Column::right("vCPUs")),
        spare(Column::right("GiB")),
        Column::left("RDMA", Fit::Keep),
        spare(Column::left("Zones", Fit::Keep)),
        Column::decimal("USD/h"),
    ];
    let of_unit = unit.map(|unit| Column::decimal(unit.heading()));
    let last = [Column::decimal("Spot"), Column::left("", Fit::Wrap)];
    let columns: Vec<Column> = columns.into_iter().chain(of_unit).chain(last).collect();
    let mut table = Table::new(columns, 0);
    for row in rows {
        table.row(cells(row, unit));
    }
    paper.lines(&table.lines(style));
    paper.blank();
    let dates: BTreeSet<&str> = rows
        .iter()
        .filter_map(|row| Some(&*row.price?.as_of))
        .collect();
    let prices = match (dates.first(), dates.last()) {
        (Some(first), Some(last)) if first == last => format!("; list prices of {first}"),
        (Some(first), Some(last)) => format!("; list prices of {first} to {last}"),
        (_, _) => String::new(),
    };
    let sizes = words::counted(rows.len(), "size", "sizes");
    // Where the offers are known, each row has the zones of its own.
    let which = if rows.iter().all(|row| row.zones.is_none()) {
        format!("{sizes} of the catalogue{prices}; what {location} offers is not known.")
    } else {
        format!("{sizes} in {location}{prices}.")
    };
    let which = if unit == Some(Unit::Tflops) {
        format!("{which} TFLOPS are those of dense bf16, or of fp16 for GPUs without it.")
    } else {
        which
    };
    let sentence =
        format!("{which} What your subscription may use there is not part of the catalogue.");
    paper.paragraph(0, Ink::Faint, &sentence);
    paper.finish()
}

/// A column that narrow terminals do without; the JSON document has everything.
const fn spare(column: Column) -> Column {
    Column {
        fit: Fit::Spare,
        ..column
    }
}

fn cells(row: &SizeRow<'_>, unit: Option<Unit>) -> Vec<Line> {
    let SizeRow {
        size, price, zones, ..
    } = row;
    let (gpus, gpu_memory) = size.gpu.as_ref().map_or_else(Default::default, gpu);
    let zones = match zones {
        Some(zones) if zones.is_empty() => Line::of("none"),
        Some(zones) => Line::of(
            zones
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(","),
        ),
        None => unknown(),
    };
    let amount = |amount: Option<String>| amount.map_or_else(unknown, Line::of);
    let of_unit = unit.map(|unit| match (unit.of(row.units), &size.gpu) {
        (Some(price), _) => Line::of(words::decimal(&price)),
        (None, Some(_)) => unknown(),
        (None, None) => Line::of("no GPU"),
    });
    let mut cells = vec![
        Line::of(size.name.as_str()),
        gpus,
        gpu_memory,
        Line::of(words::count(size.vcpus)),
        size.memory_mib
            .map_or_else(unknown, |memory| Line::of(gibibytes(memory))),
        Line::of(if size.rdma { "yes" } else { "" }),
        zones,
        amount(
            price
                .and_then(|price| price.linux)
                .map(|price| words::decimal(&price.to_string())),
        ),
    ];
    cells.extend(of_unit);
    cells.push(if row.spot == Some(false) {
        Line::of("no")
    } else {
        amount(
            price
                .and_then(|price| price.spot)
                .map(|price| words::decimal(&price.to_string())),
        )
    });
    cells.push(Line::inked(Ink::Faint, remarks(size, *price).join(", ")));
    cells
}

fn unknown() -> Line {
    Line::inked(Ink::Caution, words::UNKNOWN)
}

/// How many GPUs of which model, and the memory of one.
fn gpu(gpu: &SizeGpu) -> (Line, Line) {
    let SizeGpu {
        model,
        share,
        memory_gb,
    } = gpu;
    let count = match share {
        Some(GpuShare::Whole(count)) => Line::of(format!("{} × {model}", words::count(*count))),
        Some(GpuShare::Part(parts)) => Line::of(format!("1/{parts} {model}")),
        None => Line::inked(Ink::Caution, "?").then(Ink::Plain, format!(" × {model}")),
    };
    let memory = memory_gb.map_or_else(unknown, |memory| Line::of(words::count(memory)));
    (count, memory)
}

/// Memory in GiB, with decimals only where there are any.
fn gibibytes(mebibytes: u64) -> String {
    match mebibytes % 1024 {
        0 => words::count(mebibytes / 1024),
        rest => format!("{}.{}", words::count(mebibytes / 1024), rest * 10 / 1024),
    }
}

fn remarks(size: &Size, price: Option<&VmPrice>) -> Vec<String> {
    let mut remarks = Vec::new();
    match &size.lifecycle {
        Lifecycle::Current => {}
        Lifecycle::Extended => remarks.push("has a successor".to_owned()),
        Lifecycle::EndOfLife { retires } => remarks.push(format!("retires {retires}")),
        Lifecycle::Retired { since: Some(since) } => remarks.push(format!("retired {since}")),
        Lifecycle::Retired { since: None } => remarks.push("retired".to_owned()),
    }
    match size.architecture {
        Some(Architecture::X64) => {}
        Some(Architecture::Arm64) => remarks.push("Arm".to_owned()),
        None => remarks.push("CPU unknown".to_owned()),
    }
    remarks.extend(
        price
            .iter()
            .flat_map(|price| price.flags.iter().map(|flag| cost::word(flag))),
    );
    remarks
}

/// The sizes as one JSON document; what is not known is `null`.
pub fn json(rows: &[SizeRow<'_>], location: &Region) -> String {
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "location": location,
        "currency": "USD",
        "sizes": rows.iter().map(document).collect::<Vec<_>>(),
    }))
}

fn document(row: &SizeRow<'_>) -> Value {
    let SizeRow {
        size,
        price,
        units,
        zones,
        spot,
    } = row;
    let Size {
        name,
        family,
        series,
        version,
        vcpus,
        memory_mib,
        max_data_disks,
        max_nics,
        architecture,
        generations,
        accelerated_networking,
        premium_disks,
        ephemeral_os_disk,
        encryption_at_host,
        gpu,
        rdma,
        gpu_interconnect,
        local_nvme,
        lifecycle,
        image_family: _,
        notes,
        source,
        as_of,
    } = size;
    json!({
        "size": name,
        "family": family,
        "series": series,
        "version": version,
        "vcpus": vcpus,
        "memory_mib": memory_mib,
        "max_data_disks": max_data_disks,
        "max_nics": max_nics,
        "architecture": architecture.map(architecture_word),
        "generations": (!generations.is_empty()).then_some(generations),
        "accelerated_networking": accelerated_networking,
        "premium_disks": premium_disks,
        "ephemeral_os_disk": ephemeral_os_disk,
        "encryption_at_host": encryption_at_host,
        "gpu": gpu.as_ref().map(gpu_document),
        "rdma": rdma,
        "gpu_interconnect": gpu_interconnect,
        "local_nvme": local_nvme,
        "lifecycle": lifecycle_document(lifecycle),
        "zones": zones,
        "spot": spot,
        "price": price.map(|price| price_document(price, *spot)),
        "unit_prices": unit_document(*units),
        "notes": notes,
        "source": &**source,
        "as_of": &**as_of,
    })
}

pub(crate) fn architecture_word(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X64 => "x64",
        Architecture::Arm64 => "arm64",
    }
}

fn unit_document(units: UnitPrices) -> Value {
    json!({
        "gpu_hourly": Unit::Gpu.of(units),
        "gpu_gib_hourly": Unit::GpuGib.of(units),
        "tflops_hourly": Unit::Tflops.of(units),
    })
}

fn gpu_document(gpu: &SizeGpu) -> Value {
    let SizeGpu {
        model,
        share,
        memory_gb,
    } = gpu;
    let (count, part_of) = match share {
        Some(GpuShare::Whole(count)) => (Some(count), None),
        Some(GpuShare::Part(parts)) => (None, Some(parts)),
        None => (None, None),
    };
    json!({"model": model, "count": count, "part_of": part_of, "memory_gb": memory_gb})
}

fn lifecycle_document(lifecycle: &Lifecycle) -> Value {
    match lifecycle {
        Lifecycle::Current => json!({"stage": "current", "date": null}),
        Lifecycle::Extended => json!({"stage": "extended", "date": null}),
        Lifecycle::EndOfLife { retires } => json!({"stage": "end_of_life", "date": retires}),
        Lifecycle::Retired { since } => json!({"stage": "retired", "date": since}),
    }
}

fn price_document(price: &VmPrice, offered: Option<bool>) -> Value {
    let VmPrice {
        linux,
        spot,
        windows,
        savings_plan_1y,
        source,
        as_of,
        flags,
    } = price;
    let text = |price: &Option<_>| price.as_ref().map(ToString::to_string);
    json!({
        "linux_hourly": text(linux),
        // The price of what nobody can buy is none.
        "spot_hourly": text(&spot.filter(|_| offered != Some(false))),
        "windows_hourly": text(windows),
        "savings_plan_1y_hourly": text(savings_plan_1y),
        "source": &**source,
        "as_of": &**as_of,
        "flags": flags,
    })
}
