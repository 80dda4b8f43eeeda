//! Sizes and GPUs.

use crate::{
    catalog::{
        rows::{Architecture, Gpu, GpuShare, Lifecycle, Size, SizeGpu},
        sources::{Citations, Sources},
        table::{Fields, Mismatch, Table, quoted, read_table},
    },
    units::{CaseInsensitive, SizeName},
};

const ARCHITECTURES: &[(&str, Option<Architecture>)] = &[
    ("x64", Some(Architecture::X64)),
    ("arm64", Some(Architecture::Arm64)),
    ("", None),
];

/// Reads `sizes.csv`.
pub(in crate::catalog) fn sizes(name: &str, text: &str, sources: &Sources) -> Table<Size> {
    const COLUMNS: &[&str] = &[
        "name",
        "family",
        "series",
        "version",
        "vcpus",
        "memory_mib",
        "max_data_disks",
        "max_nics",
        "architecture",
        "generations",
        "accelerated_networking",
        "premium_disks",
        "ephemeral_os_disk",
        "encryption_at_host",
        "gpu",
        "gpu_share",
        "gpu_memory_gb",
        "gpu_interconnect",
        "rdma",
        "local_nvme",
        "lifecycle",
        "lifecycle_day",
        "image_family",
        "notes",
        "source",
        "as_of",
    ];
    let mut citations = Citations::new(sources);
    read_table(name, text, COLUMNS, |fields| size(fields, &mut citations)).sorted(
        name,
        |a, b| a.name.cmp(&b.name),
        |size| size.name.to_string(),
    )
}

fn size(fields: &mut Fields<'_>, citations: &mut Citations<'_>) -> Result<Size, Mismatch> {
    Ok(Size {
        name: SizeName::new(fields.required()?),
        family: fields.optional().map(CaseInsensitive::new),
        series: fields.required()?.to_owned(),
        version: fields.optional_number()?,
        vcpus: fields.number()?,
        memory_mib: fields.optional_number()?,
        max_data_disks: fields.optional_number()?,
        max_nics: fields.optional_number()?,
        architecture: fields.choice(ARCHITECTURES)?,
        generations: fields
            .choice(&[("1", &[1][..]), ("2", &[2]), ("1+2", &[1, 2]), ("", &[])])?
            .iter()
            .copied()
            .collect(),
        accelerated_networking: fields.yes_no_or_unknown()?,
        premium_disks: fields.yes_no_or_unknown()?,
        ephemeral_os_disk: fields.yes_no_or_unknown()?,
        encryption_at_host: fields.yes_no_or_unknown()?,
        gpu: size_gpu(fields)?,
        gpu_interconnect: fields.optional().map(str::to_owned),
        rdma: fields.yes_or_no()?,
        local_nvme: fields.optional().map(str::to_owned),
        lifecycle: lifecycle(fields)?,
        image_family: fields.required()?.to_owned(),
        notes: fields.text().to_owned(),
        source: citations.source(fields)?,
        as_of: citations.day(fields)?,
    })
}

fn size_gpu(fields: &mut Fields<'_>) -> Result<Option<SizeGpu>, Mismatch> {
    let model = fields.optional();
    let share = fields.optional();
    let memory_gb = fields.optional_number()?;
    let Some(model) = model else {
        return match share {
            Some(share) => Err(Mismatch::new("a GPU for its share", quoted(share))),
            None => Ok(None),
        };
    };
    Ok(Some(SizeGpu {
        model: model.to_owned(),
        share: share.map(gpu_share).transpose()?,
        memory_gb,
    }))
}

fn gpu_share(text: &str) -> Result<GpuShare, Mismatch> {
    let (parts, number) = match text.strip_prefix("1/") {
        Some(parts) => (true, parts),
        None => (false, text),
    };
    match number.parse() {
        Ok(number) if number > 0 => Ok(if parts {
            GpuShare::Part(number)
        } else {
            GpuShare::Whole(number)
        }),
        _ => Err(Mismatch::new(
            "a number of GPUs such as `8` or `1/6` in `gpu_share`",
            quoted(text),
        )),
    }
}

fn lifecycle(fields: &mut Fields<'_>) -> Result<Lifecycle, Mismatch> {
    let stage = fields.required()?;
    let day = fields.optional_day()?;
    match (stage, day) {
        ("current", None) => Ok(Lifecycle::Current),
        ("extended", None) => Ok(Lifecycle::Extended),
        ("end_of_life", Some(day)) => Ok(Lifecycle::EndOfLife {
            retires: day.to_owned(),
        }),
        ("retired", day) => Ok(Lifecycle::Retired {
            since: day.map(str::to_owned),
        }),
        _ => Err(Mismatch::new(
            "`current` or `extended` without a day, `end_of_life` with one, or `retired`",
            format!("`{stage}` and `{}`", day.unwrap_or_default()),
        )),
    }
}

/// Reads `gpus.csv`.
pub(in crate::catalog) fn gpus(name: &str, text: &str, sources: &Sources) -> Table<Gpu> {
    const COLUMNS: &[&str] = &[
        "name",
        "vendor",
        "generation",
        "memory_gb",
        "dense_tflops",
        "fp8_tflops",
        "bandwidth_tb_s",
        "matmul_share",
        "link_gb_s",
        "link_domain",
        "fabric_gb_s",
        "notes",
        "source",
        "as_of",
    ];
    let mut citations = Citations::new(sources);
    let read = |fields: &mut Fields<'_>| {
        Ok(Gpu {
            name: fields.required()?.to_owned(),
            vendor: fields.required()?.to_owned(),
            generation: fields.number()?,
            memory_gb: fields.number()?,
            dense_tflops: fields.decimal()?,
            fp8_tflops: fields.optional_decimal()?,
            bandwidth_tb_s: fields.decimal()?,
            matmul_share: fields.optional_decimal()?,
            link_gb_s: fields.decimal()?,
            link_domain: fields.number()?,
            fabric_gb_s: fields.optional_decimal()?,
            notes: fields.text().to_owned(),
            source: citations.source(fields)?,
            as_of: citations.day(fields)?,
        })
    };
    read_table(name, text, COLUMNS, read).sorted(
        name,
        |a, b| a.name.cmp(&b.name),
        |gpu| gpu.name.clone(),
    )
}
