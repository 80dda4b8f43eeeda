//! Whether the world is as a plan says, once the plan was applied.

use model::{address::Address, catalog::Catalog, live::Live, plan::Plan, resource::ResourceKind};

use crate::{
    diff::{index::Index, is_deleting, unequal},
    shape::{Allowed, Desired},
};

/// Addresses of the plan's resources that are not as the plan says, in its order. Whatever else
/// exists is no matter of the plan.
pub fn unreached(plan: &Plan, live: &Live, catalog: &Catalog) -> Vec<Address> {
    let index = Index::new(live);
    let is_reached = |step: &&model::plan::Step| match &step.after {
        None => index
            .at_address(&step.address)
            .is_none_or(|resource| is_deleting(resource) || resource.id != step.id),
        Some(after) => {
            let desired = Desired {
                address: step.address.clone(),
                id: step.id.clone(),
                resource: after.clone(),
                needs: Vec::new(),
                allowed: Allowed::default(),
            };
            !unequal(&desired, &index, catalog)
        }
    };
    // Terms are no resource that a list has: the step that accepts them looks for itself.
    let listed = |step: &&model::plan::Step| step.kind != ResourceKind::MarketplaceTerms;
    plan.steps
        .iter()
        .filter(listed)
        .filter(|step| !is_reached(step))
        .map(|step| step.address.clone())
        .collect()
}
