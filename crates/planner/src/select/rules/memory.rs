//! A17: the pool must hold the model.

use model::spec::Stage;

use super::{Rule, Strength};
use crate::select::{Trial, memory::Demand};

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
    let model = trial.context.pool.model.as_ref()?;
    let demand = Demand::of(model, trial.context.pool.stage)?;
    let needed = demand.nodes(trial.size)?;
    // A served model stays on one VM; a trained one may be spread over the nodes asked for.
    let there_are = match trial.context.pool.stage {
        Stage::Inference => 1,
        Stage::Training => trial.count.unwrap_or(u32::MAX),
    };
    let memory_gb = trial.size.gpu.as_ref()?.memory_gb?;
    (needed > there_are).then(|| {
        let gigabytes = demand.bytes() / 1_000_000_000;
        let gpus = demand.gpus(memory_gb);
        let need =
            format!("the model takes {gigabytes} GB, which is {gpus} GPUs of {memory_gb} GB");
        match trial.context.pool.stage {
            Stage::Inference => format!("is too small: {need}, and a served model stays on one VM"),
            Stage::Training => {
                format!("is too small: {need} or {needed} VMs, and the pool has {there_are}")
            }
        }
    })
}
