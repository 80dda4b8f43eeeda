//! R13: the family's quota must hold the pool's new nodes; whether it holds those of all pools
//! together is checked once the sizes are chosen.

use model::spec::Priority;

use super::{Rule, Strength};
use crate::select::Trial;

pub(super) const RULE: Rule = Rule {
    id: "quota",
    strength: Strength::Choice,
    lasting: false,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    if !trial.grows() {
        return None;
    }
    let counters = trial
        .context
        .live
        .facts
        .compute_quota
        .get(trial.context.location)?
        .known()?;
    let name = match trial.context.pool.priority {
        Priority::Regular => trial.size.family.as_ref()?.key(),
        Priority::Spot(_) => "lowprioritycores".to_owned(),
    };
    let counter = counters
        .iter()
        .find(|counter| counter.name.to_lowercase() == name)?;
    let needed = i64::from(trial.size.vcpus) * i64::from(trial.new_nodes);
    let free = counter.limit.saturating_sub(counter.used);
    (needed > free).then(|| {
        format!(
            "{} has {free} of {} vCPUs free in {}, needed {needed}",
            counter.name, counter.limit, trial.context.location
        )
    })
}
