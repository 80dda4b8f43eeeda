//! A19: for training, GPUs of one VM must be connected among themselves; a VM with one GPU
//! has nothing to connect.

use super::{Rule, Strength};
use crate::select::{Trial, role::Role};

pub(super) const RULE: Rule = Rule {
    id: "A19",
    strength: Strength::Advice,
    lasting: true,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let gpu = trial.size.gpu.as_ref()?;
    let count = gpu.share?.whole();
    if trial.role != Role::TrainingGpu {
        return None;
    }
    if count == 0 {
        return Some("has only a part of a GPU, which does not train".to_owned());
    }
    (count > 1 && trial.size.gpu_interconnect.is_none())
        .then(|| "has no interconnect between its GPUs".to_owned())
}
