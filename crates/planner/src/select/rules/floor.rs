//! A17: the smallest sizes of a CPU family are cheaper than the work they cannot do.

use super::{Rule, Strength};
use crate::select::{Trial, role::Role};

pub(super) const RULE: Rule = Rule {
    id: "floor",
    strength: Strength::Advice,
    lasting: true,
    rejects,
};

/// Small-model training keeps its data in memory: 8 vCPUs and 64 GiB are the smallest size on
/// which scikit-learn or gradient boosting over tens of GB of data is sensible. Our judgement.
const TRAINING: (u32, u64) = (8, 64 * 1024);

/// Serving a small model: 4 vCPUs and 8 GiB leave room for the runtime beside the model. Our judgement.
const INFERENCE: (u32, u64) = (4, 8 * 1024);

/// Above this memory the article's family is M (`domain`: E for all below 1 TiB).
const M_SERIES_FROM_MIB: u64 = 1024 * 1024;

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let (vcpus, memory_mib) = match trial.role {
        Role::TrainingCpu => TRAINING,
        Role::InferenceCpu => INFERENCE,
        Role::TrainingGpu | Role::InferenceGpu => return None,
    };
    let found_mib = trial.size.memory_mib.unwrap_or(0);
    if trial.size.vcpus < vcpus || found_mib < memory_mib {
        return Some(format!(
            "has fewer than {vcpus} vCPUs or {} GiB",
            memory_mib / 1024
        ));
    }
    let small_m = trial.size.series == "M" && found_mib <= M_SERIES_FROM_MIB;
    small_m.then(|| "is of the M series with 1 TiB or less, where E is enough".to_owned())
}
