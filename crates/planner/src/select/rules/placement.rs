//! R4: InfiniBand nodes share a fabric only inside one scale set, never as loose VMs.

use super::{Rule, Strength};
use crate::select::Trial;

pub(super) const RULE: Rule = Rule {
    id: "placement",
    strength: Strength::Law,
    lasting: true,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let nodes = trial.count.unwrap_or(1);
    let training = trial.context.pool.stage == model::spec::Stage::Training;
    (training && trial.size.rdma && nodes > 1).then(|| {
        format!("{nodes} InfiniBand nodes need one scale set to share a fabric, and scale sets are not supported yet")
    })
}
