//! What the pools of a new stack need of each quota counter, all together.

use std::collections::BTreeMap;

use model::{live::Live, units::Region};

use super::{Context, Selection, Trial, role::Role, rules::quota};

/// vCPUs by counter.
#[derive(Debug, Default)]
pub(crate) struct Demand(BTreeMap<String, i64>);

impl Demand {
    /// Adds a pool of which nothing is live.
    pub(crate) fn add(&mut self, context: Context<'_>, selection: &Selection) {
        // Who has a reservation has drawn the quota for it.
        if context.pool.capacity_reservation.is_some() {
            return;
        }
        let Some(size) = context.catalog.size(&selection.size) else {
            return;
        };
        let trial = Trial {
            context,
            role: Role::of(context.pool.stage, context.pool.workload),
            size,
            count: Some(selection.count),
            new_nodes: selection.count,
        };
        let vcpus = i64::from(size.vcpus).saturating_mul(i64::from(selection.count));
        for counter in quota::counters(&trial) {
            let needed = self.0.entry(counter).or_default();
            *needed = needed.saturating_add(vcpus);
        }
    }

    /// Counters that do not suffice, in words; what could not be read is none of them.
    pub(crate) fn short(&self, live: &Live, location: &Region) -> Vec<String> {
        let short = self.0.iter().filter_map(|(name, needed)| {
            let counter = quota::counter(live, location, name)?;
            let free = counter.limit.saturating_sub(counter.used);
            (*needed > free).then(|| {
                let quota = match counter.limit {
                    0 => "quota 0".to_owned(),
                    limit => format!("quota {limit}, of which {free} are free"),
                };
                format!("{quota} for `{}`, needed {needed} vCPUs", counter.name)
            })
        });
        short.collect()
    }
}
