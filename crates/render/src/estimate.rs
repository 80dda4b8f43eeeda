//! An estimate: memory, split, speed and cost of a model on GPUs, without a spec.

use model::{
    diag::DiagnosticDocument,
    plan::{Cost, Formula, Memory, Parallelism, Throughput},
    units::{Micros, Region, SizeName},
};
use serde_json::json;

use crate::{
    failure,
    line::Line,
    paper::Paper,
    sizing,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// Columns of the labels.
const LABEL: usize = 9;

/// An estimate to show.
#[derive(Clone, Copy, Debug)]
pub struct Estimate<'a> {
    /// The exact name of the GPU.
    pub gpu: &'a str,
    /// GPUs in all.
    pub gpus: u32,
    /// The VM size.
    pub size: &'a SizeName,
    /// VMs in all.
    pub vms: u32,
    /// The region of the prices.
    pub location: &'a Region,
    /// The memory of one GPU.
    pub memory: &'a Memory,
    /// The speed; `None` where it does not fit.
    pub throughput: Option<&'a Throughput>,
    /// The split.
    pub parallelism: &'a Parallelism,
    /// What the VMs cost.
    pub cost: &'a Cost,
    /// What they cost until the tokens are through.
    pub run: Option<Micros>,
    /// How the numbers came about.
    pub formulas: &'a [Formula],
}

/// The estimate for people.
pub fn text(estimate: &Estimate<'_>, style: Style) -> String {
    let mut paper = Paper::new(style);
    let headline = format!(
        "{} {} on {} of {} in {}",
        words::count(estimate.gpus),
        estimate.gpu,
        words::counted(
            usize::try_from(estimate.vms).unwrap_or(usize::MAX),
            "VM",
            "VMs"
        ),
        estimate.size,
        estimate.location
    );
    paper.line(&Line::inked(Ink::Strong, headline));
    paper.blank();
    let columns = [Column::left("", Fit::Keep), Column::left("", Fit::Wrap)];
    let mut table = Table::new(columns, 2);
    let mut row = |name: &str, value: String| {
        table.row([
            Line::inked(Ink::Faint, format!("{name:<LABEL$}")),
            Line::of(value),
        ]);
    };
    row("memory", sizing::memory_need(estimate.memory));
    row("", sizing::memory_terms(estimate.memory));
    row("split", sizing::parallelism_words(estimate.parallelism));
    match estimate.throughput {
        Some(throughput) => row("speed", sizing::throughput_words(throughput)),
        None => row("speed", words::UNKNOWN.to_owned()),
    }
    row("cost", cost_words(estimate));
    paper.lines(&table.lines(style));
    paper.heading("How the numbers come about");
    paper.lines(&sizing::formulas(estimate.formulas, 2).lines(style));
    paper.finish()
}

fn cost_words(estimate: &Estimate<'_>) -> String {
    let currency = &estimate.cost.currency;
    let unknown = || "unknown: the region has no price of the size".to_owned();
    let Some(line) = estimate.cost.lines.first() else {
        return unknown();
    };
    let Some((hourly, unit)) = line.hourly_micros.zip(line.unit_hourly.as_deref()) else {
        return unknown();
    };
    let run = estimate.run.map_or_else(String::new, |run| {
        format!("; {run} {currency} until the tokens are through")
    });
    format!(
        "{hourly} {currency}/h ({} × {unit}, {}){run}",
        line.quantity,
        line.as_of.as_deref().unwrap_or(words::UNKNOWN)
    )
}

/// The estimate as one JSON document: memory, throughput, parallelism and cost as in a plan.
pub fn json(estimate: &Estimate<'_>, diagnostics: &[DiagnosticDocument]) -> String {
    let Estimate {
        gpu,
        gpus,
        size,
        vms,
        location,
        memory,
        throughput,
        parallelism,
        cost,
        run,
        formulas,
    } = estimate;
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "gpu": gpu,
        "gpus": gpus,
        "size": size,
        "vms": vms,
        "location": location,
        "memory": memory,
        "throughput": throughput,
        "parallelism": parallelism,
        "cost": cost,
        "run_micros": run,
        "formulas": formulas,
        "diagnostics": diagnostics,
    }))
}
