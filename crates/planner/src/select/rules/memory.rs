//! A17: the pool must hold the model.

use model::spec::Stage;

use super::{Rule, Strength};
use crate::select::Trial;

pub(super) const RULE: Rule = Rule {
    id: "memory",
    strength: Strength::Advice,
    lasting: true,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    if !trial.role.has_gpu() {
        return None;
    }
    let need = trial.context.need?;
    let gpu = trial.size.gpu.as_ref()?;
    let (memory_gb, own) = (gpu.memory_gb?, gpu.share?.whole().max(1));
    let Some(answer) = need.answer(trial.size, trial.context.catalog) else {
        return Some(format!(
            "is too small: no number of its GPUs of {memory_gb} GB holds the model"
        ));
    };
    let gpus = answer.gpus;
    let served = trial.context.pool.stage == Stage::Inference;
    if served && answer.vms_of_copy > 1 {
        let own = match own {
            1 => format!("GPU of {memory_gb} GB"),
            gpus => format!("{gpus} GPUs of {memory_gb} GB"),
        };
        return Some(format!(
            "is too small: the model takes {:.0} GB, more than 90 % of its {own}, and a served model stays on one VM",
            need.copy_bytes() / 1e9
        ));
    }
    let there_are = trial.count.unwrap_or(u32::MAX);
    let vms = answer.vms;
    (vms > there_are).then(|| {
        let what = if served { "the sequences need" } else { "the model needs" };
        format!(
            "is too small: {what} {gpus} GPUs of {memory_gb} GB or {vms} VMs, and the pool has {there_are}"
        )
    })
}
