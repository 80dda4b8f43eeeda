//! Images, and what runs on what.

use crate::catalog::{
    rows::{Architecture, Fit, ImageFamily, ImageFit, ImageOs, ImageRow, TrustedLaunch},
    sources::{Citations, Sources},
    table::{Fields, Mismatch, Table, read_table},
};

/// Reads `images.csv`; its order is the order of preference.
pub(in crate::catalog) fn images(name: &str, text: &str, sources: &Sources) -> Table<ImageRow> {
    const COLUMNS: &[&str] = &[
        "kind",
        "column",
        "publisher",
        "offer",
        "sku",
        "version",
        "os",
        "generation",
        "architecture",
        "usable",
        "plan",
        "os_disk_floor_gb",
        "os_disk_default_gb",
        "notes",
        "source",
        "as_of",
    ];
    let mut citations = Citations::new(sources);
    read_table(name, text, COLUMNS, |fields| image(fields, &mut citations)).unnumbered()
}

fn image(fields: &mut Fields<'_>, citations: &mut Citations<'_>) -> Result<ImageRow, Mismatch> {
    Ok(ImageRow {
        kind: fields.required()?.to_owned(),
        column: fields.required()?.to_owned(),
        publisher: fields.required()?.to_owned(),
        offer: fields.required()?.to_owned(),
        sku: fields.required()?.to_owned(),
        version: fields.optional().map(str::to_owned),
        os: fields.choice(&[("linux", ImageOs::Linux), ("windows", ImageOs::Windows)])?,
        generation: fields.choice(&[("1", 1), ("2", 2)])?,
        architecture: fields
            .choice(&[("x64", Architecture::X64), ("arm64", Architecture::Arm64)])?,
        usable: fields.yes_or_no()?,
        has_plan: fields.choice(&[
            ("none", Some(false)),
            ("required", Some(true)),
            ("unknown", None),
        ])?,
        os_disk_floor_gb: fields.number()?,
        os_disk_default_gb: fields.number()?,
        notes: fields.text().to_owned(),
        source: citations.source(fields)?,
        as_of: citations.day(fields)?,
    })
}

/// Reads `image_fit.csv`.
pub(in crate::catalog) fn image_fits(name: &str, text: &str, sources: &Sources) -> Table<ImageFit> {
    const COLUMNS: &[&str] = &[
        "family", "column", "verdict", "driver", "reason", "source", "as_of",
    ];
    let mut citations = Citations::new(sources);
    let read = |fields: &mut Fields<'_>| {
        Ok(ImageFit {
            family: fields.required()?.to_owned(),
            column: fields.required()?.to_owned(),
            verdict: fields.choice(&[
                ("ok", Fit::Ok),
                ("expected", Fit::Expected),
                ("needs_driver", Fit::NeedsDriver),
                ("no", Fit::No),
            ])?,
            driver: fields.optional().map(str::to_owned),
            reason: fields.required()?.to_owned(),
            source: citations.source(fields)?,
            as_of: citations.day(fields)?,
        })
    };
    read_table(name, text, COLUMNS, read).sorted(
        name,
        |a, b| (&a.family, &a.column).cmp(&(&b.family, &b.column)),
        |fit| format!("{} {}", fit.family, fit.column),
    )
}

/// Reads `image_families.csv`.
pub(in crate::catalog) fn image_families(
    name: &str,
    text: &str,
    sources: &Sources,
) -> Table<ImageFamily> {
    const COLUMNS: &[&str] = &[
        "family",
        "title",
        "trusted_launch",
        "reason",
        "source",
        "as_of",
    ];
    let mut citations = Citations::new(sources);
    let read = |fields: &mut Fields<'_>| {
        Ok(ImageFamily {
            name: fields.required()?.to_owned(),
            title: fields.required()?.to_owned(),
            trusted_launch: fields.choice(&[
                ("supported", TrustedLaunch::Supported),
                ("secure_boot_off", TrustedLaunch::SecureBootOff),
                ("unsupported", TrustedLaunch::Unsupported),
                ("unknown", TrustedLaunch::Unknown),
            ])?,
            reason: fields.required()?.to_owned(),
            source: citations.source(fields)?,
            as_of: citations.day(fields)?,
        })
    };
    read_table(name, text, COLUMNS, read).sorted(
        name,
        |a, b| a.name.cmp(&b.name),
        |family| family.name.clone(),
    )
}
