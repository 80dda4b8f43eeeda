//! Memory, split and speed of a model in words, and the formulas behind them.

use std::fmt::Write as _;

use model::plan::{Formula, Memory, Parallelism, Throughput};

use crate::{
    line::Line,
    style::Ink,
    table::{Column, Fit, Table},
    words,
};

/// What one GPU needs, and how many are needed.
pub(crate) fn memory_need(memory: &Memory) -> String {
    let gigabytes =
        |bytes: &Option<u64>| bytes.map_or_else(|| words::UNKNOWN.to_owned(), words::gigabytes);
    let gpus = |gpus: &Option<u32>| gpus.map_or_else(|| words::UNKNOWN.to_owned(), words::count);
    format!(
        "{} of {} usable GB on each GPU; GPUs at least {}, recommended {}",
        gigabytes(&memory.per_gpu_bytes),
        gigabytes(&memory.usable_per_gpu_bytes),
        gpus(&memory.gpus_minimum),
        gpus(&memory.gpus_recommended),
    )
}

/// What the need is made of, and what is not known of it. What is known to be nothing is left
/// out, and so are the activations of a served model, which are in its overhead.
pub(crate) fn memory_terms(memory: &Memory) -> String {
    let Memory {
        per_gpu_bytes: _,
        usable_per_gpu_bytes: _,
        weights_bytes,
        gradients_bytes,
        optimizer_bytes,
        activations_bytes,
        kv_cache_bytes,
        overhead_bytes,
        gpus_minimum: _,
        gpus_recommended: _,
    } = memory;
    let terms = [
        ("weights", weights_bytes),
        ("gradients", gradients_bytes),
        ("optimizer", optimizer_bytes),
        ("activations", activations_bytes),
        ("KV cache", kv_cache_bytes),
        ("overhead", overhead_bytes),
    ];
    let known: Vec<String> = terms
        .iter()
        .filter_map(|(name, bytes)| Some((name, (**bytes)?)))
        .filter(|(_, bytes)| *bytes > 0)
        .map(|(name, bytes)| format!("{name} {}", words::gigabytes(bytes)))
        .collect();
    let serves = gradients_bytes.is_some_and(|bytes| bytes == 0);
    let missing: Vec<&str> = terms
        .iter()
        .filter(|(name, bytes)| bytes.is_none() && !(serves && *name == "activations"))
        .map(|(name, _)| *name)
        .collect();
    let mut parts = Vec::new();
    if !known.is_empty() {
        parts.push(known.join(" + "));
    }
    if !missing.is_empty() {
        parts.push(format!("not in this sum: {}", missing.join(", ")));
    }
    parts.join("; ")
}

/// How a model is split.
pub(crate) fn parallelism_words(parallelism: &Parallelism) -> String {
    let Parallelism {
        tensor,
        pipeline,
        data,
        strategy,
        recompute,
        micro_batch,
    } = parallelism;
    let mut words = format!("tensor {tensor} × pipeline {pipeline} × data {data}, {strategy}");
    if let Some(recompute) = recompute {
        let _ = write!(words, ", recompute {recompute}");
    }
    if let Some(micro_batch) = micro_batch {
        let _ = write!(words, ", micro-batch {micro_batch}");
    }
    words
}

/// How fast it runs.
pub(crate) fn throughput_words(throughput: &Throughput) -> String {
    let Throughput {
        flops_per_token: _,
        mfu,
        tokens_per_second_per_gpu,
        gpu_hours,
        seconds,
    } = throughput;
    let speed = format!(
        "{} tokens/s on each GPU at {}% of its peak",
        words::float(*tokens_per_second_per_gpu, 0),
        words::float(mfu * 100.0, 0),
    );
    match (gpu_hours, seconds) {
        (Some(hours), Some(seconds)) if seconds.is_finite() => format!(
            "{speed}; {} GPU hours, {} in all",
            words::float(*hours, 0),
            words::seconds(*seconds)
        ),
        _ => speed,
    }
}

/// Each number with its formula, the values, and where it is from.
pub(crate) fn formulas(formulas: &[Formula], indent: usize) -> Table {
    let columns = [
        Column::left("", Fit::Keep),
        Column::left("", Fit::Keep),
        Column::left("", Fit::Wrap),
    ];
    let mut table = Table::new(columns, indent);
    for formula in formulas {
        let Formula {
            name,
            formula,
            values,
            result,
            source,
        } = formula;
        let how = Line::of(format!("{formula}: {values}")).then(Ink::Faint, format!(" [{source}]"));
        table.row([
            Line::inked(Ink::Faint, name.replace('_', " ")),
            Line::of(result.as_str()),
            how,
        ]);
    }
    table
}
