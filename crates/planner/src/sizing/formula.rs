//! Formula lines: each number with how it came about.

use model::plan::Formula;

/// Sources that formulas name.
pub(super) mod source {
    pub(crate) const FLOPS: &str =
        "mosaicml/llm-foundry@8c8dd48f, NVIDIA-NeMo/Megatron-Bridge@067f987d";
    pub(crate) const STATES: &str =
        "ZeRO, arXiv 1910.02054; deepspeedai/DeepSpeed@edaa7221 memory.rst";
    pub(crate) const ACTIVATIONS: &str = "Korthikanti et al., arXiv 2205.05198";
    pub(crate) const GPUS: &str = "manifests/gpus.csv (stas00/ml-engineering@744d01e1)";
    pub(crate) const JUDGED: &str = "docs/sizing.md, efficiency";
    pub(crate) const ARITHMETIC: &str = "arithmetic";
    pub(crate) const CACHE: &str = "the shape of the model";
    pub(crate) const ASSUMED: &str = "assumed: published dense models have 70 to 130";
}

/// One line.
pub(super) fn line(
    name: &str,
    formula: &str,
    values: impl Into<String>,
    result: impl Into<String>,
    source: &str,
) -> Formula {
    Formula {
        name: name.to_owned(),
        formula: formula.to_owned(),
        values: values.into(),
        result: result.into(),
        source: source.to_owned(),
    }
}

/// A number with four digits that count: `70.6e9`, `8192`, `0.75`.
pub(super) fn short(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let size = number.abs();
    if (0.01..1e5).contains(&size) {
        let text = if size < 10.0 {
            format!("{number:.3}")
        } else if size < 1_000.0 {
            format!("{number:.1}")
        } else {
            format!("{number:.0}")
        };
        return match text.split_once('.') {
            Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            None => text,
        };
    }
    format!("{number:.3e}")
}

/// Bytes in GB.
pub(super) fn gigabytes(bytes: f64) -> String {
    format!("{} GB", short(bytes / 1e9))
}
