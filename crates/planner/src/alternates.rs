//! Records in a plan how its pools are made otherwise, where there is no capacity.

use std::collections::BTreeMap;

use model::{
    address::Address,
    plan::{Action, Alternate, Step, different_members},
    resource::Resource,
    spec::Spec,
};

use crate::{location::Selections, shape};

/// Adds the other ways of each pool to its creations: the same number of ways to every step of
/// a pool, so that a number means one way of the whole pool.
pub(crate) fn record(
    spec: &Spec,
    selections: &Selections,
    context: shape::Context<'_>,
    steps: &mut [Step],
) {
    for (name, selection) in selections {
        for other in &selection.others {
            let alone = Selections::from([(name.clone(), other.selection.clone())]);
            let made: BTreeMap<Address, Resource> = shape::run(spec, &alone, context)
                .into_iter()
                .map(|desired| (desired.address, desired.resource))
                .collect();
            let of_pool = |step: &&mut Step| {
                step.action == Action::Create && step.address.pool_name() == Some(name)
            };
            for step in steps.iter_mut().filter(of_pool) {
                let (Some(after), Some(resource)) = (&step.after, made.get(&step.address)) else {
                    continue;
                };
                step.alternates.push(Alternate {
                    label: other.label.clone(),
                    attributes: different_members(after, resource),
                });
            }
        }
    }
}
