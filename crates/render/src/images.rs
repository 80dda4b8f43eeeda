//! The images of the catalogue as a table and as JSON.

use model::catalog::{Fit as Verdict, ImageFit, ImageOs, ImageRow};
use serde_json::{Value, json};

use crate::{
    failure,
    line::Line,
    paper::Paper,
    sizes,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// An image, and how it fits the sizes that were asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImageEntry<'a> {
    /// The image.
    pub image: &'a ImageRow,
    /// Whether it runs on the family of sizes that was asked for; `None` where none was, or
    /// where the matrix has no such cell.
    pub fit: Option<&'a ImageFit>,
}

/// A table of images.
pub fn text(rows: &[ImageEntry<'_>], style: Style) -> String {
    let mut paper = Paper::new(style);
    if rows.is_empty() {
        paper.paragraph(0, Ink::Plain, "No image fits these filters.");
        return paper.finish();
    }
    let columns = [
        Column::left("Kind", Fit::Keep),
        Column::left("Image", Fit::Wrap),
        Column::left("OS", Fit::Keep),
        Column::right("Gen"),
        Column::left("CPU", Fit::Keep),
        Column::right("OS disk"),
        Column::left("Fits", Fit::Keep),
        Column::left("", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 0);
    for row in rows {
        table.row(cells(row));
    }
    paper.lines(&table.lines(style));
    paper.blank();
    let sentence = format!(
        "{}; OS disks in GiB. The version is the newest that was seen; a plan asks Azure and pins what it finds.",
        words::counted(rows.len(), "image", "images")
    );
    paper.paragraph(0, Ink::Faint, &sentence);
    paper.finish()
}

fn cells(row: &ImageEntry<'_>) -> Vec<Line> {
    let ImageEntry { image, fit } = row;
    let mut remarks = Vec::new();
    if !image.usable {
        remarks.push("not to be used any more");
    }
    match image.has_plan {
        Some(true) => remarks.push("has a purchase plan, whose terms must be accepted"),
        Some(false) => {}
        None => remarks.push("purchase plan unknown"),
    }
    if let Some(fit) = fit.filter(|fit| fit.verdict != Verdict::Ok) {
        remarks.push(&fit.reason);
        remarks.extend(fit.driver.as_deref());
    }
    if !image.notes.is_empty() {
        remarks.push(&image.notes);
    }
    let fit = fit.map_or_else(Line::default, |fit| {
        let (ink, word) = verdict(fit.verdict);
        Line::inked(ink, word)
    });
    vec![
        Line::of(&image.kind),
        urn(image),
        Line::of(os_word(image.os)),
        Line::of(image.generation.to_string()),
        Line::of(sizes::architecture_word(image.architecture)),
        Line::of(words::count(image.os_disk_default_gb)),
        fit,
        Line::inked(Ink::Faint, remarks.join("; ")),
    ]
}

/// The image's URN; a version that was never seen is said to be unknown.
fn urn(image: &ImageRow) -> Line {
    let line = Line::of(format!(
        "{}:{}:{}:",
        image.publisher, image.offer, image.sku
    ));
    match &image.version {
        Some(version) => line.then(Ink::Plain, version),
        None => line.then(Ink::Caution, format!("({})", words::UNKNOWN)),
    }
}

fn os_word(os: ImageOs) -> &'static str {
    match os {
        ImageOs::Linux => "linux",
        ImageOs::Windows => "windows",
    }
}

fn verdict(verdict: Verdict) -> (Ink, &'static str) {
    match verdict {
        Verdict::Ok => (Ink::Good, "yes"),
        Verdict::Expected => (Ink::Plain, "expected"),
        Verdict::NeedsDriver => (Ink::Caution, "with driver"),
        Verdict::No => (Ink::Bad, "no"),
    }
}

/// The images as one JSON document.
pub fn json(rows: &[ImageEntry<'_>]) -> String {
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "images": rows.iter().map(document).collect::<Vec<_>>(),
    }))
}

fn document(row: &ImageEntry<'_>) -> Value {
    let ImageEntry { image, fit } = row;
    let ImageRow {
        kind,
        column: _,
        publisher,
        offer,
        sku,
        version,
        os,
        generation,
        architecture,
        usable,
        has_plan,
        os_disk_floor_gb,
        os_disk_default_gb,
        notes,
        source,
        as_of,
    } = image;
    json!({
        "kind": kind,
        "publisher": publisher,
        "offer": offer,
        "sku": sku,
        "version": version,
        "os": os_word(*os),
        "generation": generation,
        "architecture": sizes::architecture_word(*architecture),
        "usable": usable,
        "has_plan": has_plan,
        "os_disk_floor_gb": os_disk_floor_gb,
        "os_disk_default_gb": os_disk_default_gb,
        "fit": fit.map(fit_document),
        "notes": notes,
        "source": &**source,
        "as_of": &**as_of,
    })
}

fn fit_document(fit: &ImageFit) -> Value {
    let ImageFit {
        family,
        column: _,
        verdict,
        driver,
        reason,
        source,
        as_of,
    } = fit;
    let verdict = match verdict {
        Verdict::Ok => "ok",
        Verdict::Expected => "expected",
        Verdict::NeedsDriver => "needs_driver",
        Verdict::No => "no",
    };
    json!({
        "family": family,
        "verdict": verdict,
        "driver": driver,
        "reason": reason,
        "source": &**source,
        "as_of": &**as_of,
    })
}
