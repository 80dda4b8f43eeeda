//! The images of the catalogue as a table and as JSON.

use model::catalog::{Fit as Verdict, ImageFit, ImageRow};
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
    if let Some(fit) = fit.filter(|fit| fit.verdict != Verdict::Ok) {
        remarks.push(&fit.reason);
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
        Line::of(urn(image)),
        Line::of(image.generation.to_string()),
        Line::of(sizes::architecture_word(image.architecture)),
        Line::of(words::count(image.os_disk_default_gb)),
        fit,
        Line::inked(Ink::Faint, remarks.join("; ")),
    ]
}

fn urn(image: &ImageRow) -> String {
    format!(
        "{}:{}:{}:{}",
        image.publisher, image.offer, image.sku, image.version
    )
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
        generation,
        architecture,
        usable,
        os_disk_floor_gb,
        os_disk_default_gb,
        notes,
        source,
        as_of,
    } = image;
    json!({
        "kind": kind,
        "urn": urn(image),
        "publisher": publisher,
        "offer": offer,
        "sku": sku,
        "version": version,
        "generation": generation,
        "architecture": sizes::architecture_word(*architecture),
        "usable": usable,
        "os_disk_floor_gb": os_disk_floor_gb,
        "os_disk_default_gb": os_disk_default_gb,
        "fit": fit.map(fit_document),
        "notes": notes,
        "source": source,
        "as_of": as_of,
    })
}

fn fit_document(fit: &ImageFit) -> Value {
    let ImageFit {
        family,
        column: _,
        verdict,
        reason,
    } = fit;
    let verdict = match verdict {
        Verdict::Ok => "ok",
        Verdict::Expected => "expected",
        Verdict::NeedsDriver => "needs_driver",
        Verdict::No => "no",
    };
    json!({"family": family, "verdict": verdict, "reason": reason})
}
