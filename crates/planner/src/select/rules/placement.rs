//! R4: InfiniBand nodes share a fabric only inside one scale set, never as loose VMs.

use super::{Rule, Strength};
use crate::select::{Trial, grouping};

pub(super) const RULE: Rule = Rule {
    id: "placement",
    strength: Strength::Law,
    lasting: true,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let nodes = trial.count.unwrap_or(1);
    let context = trial.context;
    let why = if context.grouped.is_some() {
        "the pool is live as single VMs"
    } else {
        "the spec has `grouping: vms`"
    };
    grouping::is_torn(context, trial.size, nodes).then(|| {
        format!("{nodes} InfiniBand nodes need one scale set to share a fabric, and {why}")
    })
}
