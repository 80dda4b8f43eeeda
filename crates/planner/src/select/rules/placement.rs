//! R4: InfiniBand nodes share a fabric only inside one scale set, never as loose VMs.

use super::{Rule, Strength};
use crate::{select::Trial, sizing::estimate::MOST_WITH_INFINIBAND};

pub(super) const RULE: Rule = Rule {
    id: "placement",
    strength: Strength::Law,
    lasting: true,
    rejects,
};

/// VMs of one placement group.
pub(in crate::select) const MOST_ON_A_FABRIC: u32 = MOST_WITH_INFINIBAND;

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let nodes = trial.count.unwrap_or(1);
    let training = trial.context.pool.stage == model::spec::Stage::Training;
    if !training || !trial.size.rdma || nodes <= 1 {
        return None;
    }
    let more = nodes.saturating_sub(MOST_ON_A_FABRIC);
    Some(if more > 0 {
        format!(
            "has InfiniBand, whose nodes share a fabric up to {MOST_ON_A_FABRIC}: {nodes} are {more} more"
        )
    } else {
        format!(
            "has InfiniBand, whose {nodes} nodes need one scale set to share a fabric, and scale sets are not supported yet"
        )
    })
}
