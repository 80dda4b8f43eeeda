//! Whether the world is as a plan says, once the plan was applied.

use model::{
    address::Address,
    catalog::Catalog,
    live::{Live, LiveResource, Provisioning},
    plan::{Action, Plan, ReasonCode, Step},
    resource::{ResourceKind, attributes::same},
};

use crate::{
    diff::{index::Index, is_deleting, unequal},
    shape::{Allowed, Desired},
};

/// A resource that is not as a plan says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// Its address.
    pub address: Address,
    /// Whether it looks as it did before or under way: a list that is behind would show that too.
    pub may_be_behind: bool,
}

/// The plan's resources that are not as the plan says, in its order. Whatever else exists is no
/// matter of the plan.
pub fn unreached(plan: &Plan, live: &Live, catalog: &Catalog) -> Vec<Unreached> {
    let index = Index::new(live);
    plan.steps
        .iter()
        // Terms are no resource that a list has: the step that accepts them looks for itself.
        .filter(|step| step.kind != ResourceKind::MarketplaceTerms)
        .filter(|step| !is_reached(step, &index, catalog))
        .map(|step| Unreached {
            address: step.address.clone(),
            may_be_behind: may_be_behind(step, index.at_id(&step.id)),
        })
        .collect()
}

fn is_reached(step: &Step, index: &Index<'_>, catalog: &Catalog) -> bool {
    if step.reason.code == ReasonCode::Released {
        return index.at_address(&step.address).is_none();
    }
    let Some(after) = &step.after else {
        let found = index.at_address(&step.address);
        return found.is_none_or(|resource| is_deleting(resource) || resource.id != step.id);
    };
    let desired = Desired {
        address: step.address.clone(),
        id: step.id.clone(),
        resource: after.clone(),
        needs: Vec::new(),
        allowed: Allowed::default(),
    };
    !unequal(&desired, index, catalog)
}

/// Whether what was found is what there was before the step, or half of it.
fn may_be_behind(step: &Step, found: Option<&LiveResource>) -> bool {
    if step.reason.code == ReasonCode::Released {
        return true;
    }
    let Some(after) = &step.after else {
        // What was deleted is still shown.
        return step.action == Action::Delete;
    };
    let Some(found) = found else {
        return matches!(
            step.action,
            Action::Create | Action::Replace | Action::Repair
        );
    };
    if matches!(
        found.state.provisioning,
        Provisioning::Creating | Provisioning::Updating | Provisioning::Deleting
    ) {
        return step.action.writes();
    }
    let after = after.attributes();
    let before = step
        .before
        .as_ref()
        .map(model::resource::Resource::attributes);
    let now = found.values();
    let was = |path: &String| before.as_ref().and_then(|before| before.get(path));
    // An attribute that only one of the two has is nothing in the other.
    let is_old = |path: &String| {
        let [now, before, after] = [now.get(path), was(path), after.get(path)]
            .map(|value| value.cloned().unwrap_or_default());
        same(path, &now, &before) || same(path, &now, &after)
    };
    let mut paths = after
        .keys()
        .chain(before.iter().flat_map(|before| before.keys()));
    step.action.writes() && before.is_some() && paths.all(is_old)
}
