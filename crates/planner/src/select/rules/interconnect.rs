//! A19: for training, GPUs of one VM must be connected among themselves; a VM with one GPU
//! has nothing to connect.

use super::{Rule, Strength};
use crate::select::{Trial, role::Role};

pub(super) const RULE: Rule = Rule { id: "A19", strength: Strength::Advice, lasting: true, rejects };

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let gpu = trial.size.gpu.as_ref()?;
    let several = gpu.share.whole() > 1;
    let lonely = gpu.share.whole() == 0;
    if trial.role != Role::TrainingGpu {
        return None;
    }
    if lonely {
        return Some("has only a part of a GPU, which does not train".to_owned());
    }
    (several && trial.size.gpu_interconnect.is_none()).then(|| "has no interconnect between its GPUs".to_owned())
}
