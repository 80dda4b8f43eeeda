//! R13: the quota of the family and of the region must hold the pool's new nodes; whether it
//! holds those of all pools together is checked once the sizes are chosen.

use model::{
    live::{Live, UsageFact},
    spec::Priority,
    units::Region,
};

use super::{Rule, Strength};
use crate::select::{Trial, Weights, batch};

pub(super) const RULE: Rule = Rule {
    id: "quota",
    strength: Strength::Choice,
    lasting: false,
    rejects,
};

/// Azure's counter of all vCPUs of a region.
const REGIONAL: &str = "cores";
/// Azure's counter of spot vCPUs of a region, for all families together.
const SPOT: &str = "lowPriorityCores";

fn rejects(trial: &Trial<'_>) -> Option<String> {
    // Who has a reservation has drawn the quota for it.
    if !trial.grows() || trial.context.pool.capacity_reservation.is_some() {
        return None;
    }
    let needed = i64::from(trial.size.vcpus) * i64::from(trial.new_nodes);
    counters(trial)
        .into_iter()
        .find_map(|name| shortage(trial, &name, needed))
}

/// The counters that nodes of a size count for.
pub(in crate::select) fn counters(trial: &Trial<'_>) -> Vec<String> {
    // What an account of Batch may use is its own, and checked for the whole plan.
    if batch::is_wanted(trial.context) {
        return Vec::new();
    }
    if let Priority::Spot(_) = trial.context.pool.priority {
        return vec![SPOT.to_owned()];
    }
    let context = trial.context;
    let weights = Weights::of(context.catalog, context.live, context.location);
    let family = weights.family(&trial.size.name);
    family.into_iter().chain([REGIONAL.to_owned()]).collect()
}

/// What live Azure says of a counter in the region.
pub(in crate::select) fn counter<'a>(
    live: &'a Live,
    location: &Region,
    name: &str,
) -> Option<&'a UsageFact> {
    let counters = live.facts.compute_quota.get(location)?.known()?;
    counters
        .iter()
        .find(|counter| counter.name.eq_ignore_ascii_case(name))
}

fn shortage(trial: &Trial<'_>, name: &str, needed: i64) -> Option<String> {
    let location = trial.context.location;
    let counter = counter(trial.context.live, location, name)?;
    let free = counter.limit.saturating_sub(counter.used);
    (needed > free).then(|| match counter.limit {
        0 => format!(
            "has quota 0 for `{}` in {location}, needed {needed} vCPUs",
            counter.name
        ),
        limit => format!(
            "has {free} of {limit} vCPUs of `{}` free in {location}, needed {needed}",
            counter.name
        ),
    })
}
