//! A17: a GPU must compute in the precision of the model: no bf16 before Ampere, no fp8 before Hopper.

use model::spec::{Method, Precision, Stage};

use super::{Rule, Strength};
use crate::select::Trial;

pub(super) const RULE: Rule = Rule {
    id: "precision",
    strength: Strength::Law,
    lasting: true,
    rejects,
};

/// GPUs without bf16, by the makers' data sheets.
const NO_BF16: &[&str] = &["K80", "M60", "P40", "P100", "V100", "T4", "MI25"];

/// GPUs with bf16 and without fp8.
const NO_FP8: &[&str] = &["A10", "A100-40", "A100-80"];

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let model = trial.context.pool.model.as_ref()?;
    let gpu = trial.size.gpu.as_ref()?.model.as_str();
    let trains_in_bf16 =
        trial.context.pool.stage == Stage::Training && model.method != Method::Qlora;
    let (lacks, name) = match model.precision {
        Precision::Bf16 => (NO_BF16.contains(&gpu), "bf16"),
        Precision::Fp8 => (NO_BF16.contains(&gpu) || NO_FP8.contains(&gpu), "fp8"),
        Precision::Int4 | Precision::Fp16 | Precision::Fp32 => (false, ""),
    };
    let hint = if name == "bf16" && !trains_in_bf16 {
        "; `precision: fp16` would run"
    } else {
        ""
    };
    lacks.then(|| format!("cannot compute in {name} on its {gpu}{hint}"))
}
