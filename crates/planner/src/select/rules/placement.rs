//! R4: InfiniBand nodes share a fabric only inside one scale set, never as loose VMs.

use model::{
    resource::Orchestration,
    spec::{Priority, SizeChoice},
};

use super::{Rule, Strength};
use crate::{
    select::{Trial, grouping, grouping::Placement},
    sizing::estimate::MOST_WITH_INFINIBAND,
};

pub(super) const RULE: Rule = Rule {
    id: "placement",
    strength: Strength::Law,
    lasting: true,
    rejects,
};

/// VMs of one placement group.
pub(in crate::select) const MOST_ON_A_FABRIC: u32 = MOST_WITH_INFINIBAND;

/// A fabric connects so many nodes; a named size is refused with a way out where it is checked
/// what its scale set can be.
pub(super) const FABRIC: Rule = Rule {
    id: "placement",
    strength: Strength::Choice,
    lasting: false,
    rejects: is_beyond,
};

fn is_beyond(trial: &Trial<'_>) -> Option<String> {
    let nodes = trial.count.unwrap_or(1);
    let is_spot = matches!(trial.context.pool.priority, Priority::Spot(_));
    // Who asks for InfiniBand is told that it excludes spot capacity, where the set is checked.
    if is_spot && !asks_for_infiniband(trial) && is_group(trial, nodes) {
        return Some(format!(
            "has InfiniBand, whose {nodes} nodes are one placement group, which takes no spot capacity"
        ));
    }
    let more = nodes.saturating_sub(MOST_ON_A_FABRIC);
    let shares = grouping::needs_fabric(trial.context, trial.size);
    (shares && more > 0).then(|| {
        format!(
            "has InfiniBand, whose nodes share a fabric up to {MOST_ON_A_FABRIC}: {nodes} are {more} more"
        )
    })
}

fn asks_for_infiniband(trial: &Trial<'_>) -> bool {
    matches!(&trial.context.pool.size, SizeChoice::Constrained(asked) if asked.rdma == Some(true))
}

/// Whether the nodes would be one placement group for the sake of their fabric.
fn is_group(trial: &Trial<'_>, nodes: u32) -> bool {
    grouping::needs_fabric(trial.context, trial.size)
        && grouping::of(trial.context, trial.size, nodes)
            == Placement::ScaleSet(Orchestration::Uniform)
}

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let nodes = trial.count.unwrap_or(1);
    let context = trial.context;
    let why = if context.grouped.is_some() {
        "the pool is live as single VMs"
    } else {
        "the spec has `grouping: vms`"
    };
    grouping::is_torn(context, trial.size, nodes).then(|| {
        format!(
            "has InfiniBand, whose {nodes} nodes need one scale set to share a fabric, and {why}"
        )
    })
}
