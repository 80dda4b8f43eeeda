//! What a plan says of a pool.

use model::{
    plan::{PoolImage, PoolPlan, Scarcity},
    spec::{OnPartial, Pool, Priority},
};

use crate::select::{Placement, Selection};

/// The pool as the plan has it.
pub(crate) fn pool_plan(pool: &Pool, chosen: &mut Selection) -> PoolPlan {
    // Of all that was considered one copy is enough.
    let candidates = std::mem::take(&mut chosen.candidates);
    let first = chosen.places.keys().next().copied();
    let image = &chosen.node(first.unwrap_or_default()).image;
    PoolPlan {
        size: chosen.size.clone(),
        count: chosen.count,
        image: PoolImage {
            kind: chosen.image_kind.clone(),
            urn: image.to_string(),
        },
        priority: match chosen.priority {
            Priority::Regular => "regular",
            Priority::Spot(_) => "spot",
        }
        .to_owned(),
        zones: chosen.zones.clone(),
        scarcity: scarcity(pool, chosen),
        placement: chosen.placement.placement().to_owned(),
        grouping: chosen.placement.grouping().to_owned(),
        orchestrator: orchestrator_of(chosen).to_owned(),
        memory: chosen.memory.clone(),
        throughput: chosen.throughput.clone(),
        parallelism: chosen.parallelism.clone(),
        formulas: chosen.formulas.clone(),
        rules: chosen.rules.clone(),
        why: chosen.why.clone(),
        choices: chosen.choices.clone(),
        candidates,
    }
}

/// What runs the jobs of a pool, by what its nodes are.
fn orchestrator_of(chosen: &Selection) -> &'static str {
    match chosen.placement {
        Placement::BatchPool => "batch",
        Placement::AgentPool => "aks",
        Placement::NodeArray(_) => "cyclecloud",
        Placement::SingleVms | Placement::ScaleSet(_) => "manual",
    }
}

/// What the pool does without capacity, where one attempt is not all.
fn scarcity(pool: &Pool, chosen: &Selection) -> Option<Scarcity> {
    let scarcity = Scarcity {
        wait_seconds: pool.capacity.wait.seconds(),
        min_count: pool.capacity.min_count,
        rollback: pool.capacity.on_partial == OnPartial::Rollback,
    };
    let is_usual = scarcity.wait_seconds == 0 && scarcity.min_count.is_none() && !scarcity.rollback;
    (!is_usual || !chosen.others.is_empty()).then_some(scarcity)
}
