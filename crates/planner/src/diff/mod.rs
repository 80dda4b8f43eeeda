//! Compares desired with live resources: attribute by attribute, then one action a resource.

pub mod classify;

mod compare;

mod decide;

mod existing;

mod leftover;

mod replace;

pub(crate) use self::leftover::references;

use std::collections::BTreeMap;

use model::{
    address::Address,
    catalog::Catalog,
    diag::Diagnostics,
    ids::ArmId,
    live::{Live, LiveResource, Owner, Provisioning},
    plan::{Action, Step},
};

use crate::shape::Desired;

/// What a diff may do.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    /// `--allow-stop`: nodes may be deallocated and replaced whatever the spec says.
    pub allow_stop: bool,
    /// `--replace`: these are replaced in any case.
    pub replace: Vec<Address>,
}

/// Changes before they are put in order.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// One step a resource, in no particular order.
    pub steps: Vec<Step>,
    /// What the user must know.
    pub diagnostics: Diagnostics,
}

/// Live resources by id and by address.
pub struct Index<'a> {
    by_id: BTreeMap<&'a ArmId, &'a LiveResource>,
    by_address: BTreeMap<&'a Address, &'a LiveResource>,
}

impl<'a> Index<'a> {
    /// Of everything that was read.
    pub fn new(live: &'a Live) -> Self {
        let by_id = live
            .resources
            .iter()
            .map(|resource| (&resource.id, resource))
            .collect();
        let addressed = live
            .resources
            .iter()
            .filter(|resource| is_of_stack(resource));
        let by_address = addressed
            .filter_map(|resource| Some((resource.address()?, resource)))
            .collect();
        Self { by_id, by_address }
    }

    /// The live resource with this id.
    pub fn at_id(&self, id: &ArmId) -> Option<&'a LiveResource> {
        self.by_id.get(id).copied()
    }

    /// The live resource of the stack with this address.
    pub fn at_address(&self, address: &Address) -> Option<&'a LiveResource> {
        self.by_address.get(address).copied()
    }
}

/// Children that copy their parent's tags (OS disks, interfaces) have no address of their own.
fn is_of_stack(resource: &LiveResource) -> bool {
    !matches!(resource.owner, Owner::Foreign)
}

/// The steps from live to desired, deletions of what is not desired any more included.
pub fn run(
    desired: &[Desired],
    live: &Live,
    permissions: &Permissions,
    catalog: &Catalog,
) -> Changes {
    let index = Index::new(live);
    let mut changes = Changes::default();
    for resource in desired {
        decide::step(resource, &index, permissions, catalog, &mut changes);
    }
    leftover::steps(desired, live, &mut changes);
    replace::check(desired, &index, permissions, &mut changes);
    changes
}

/// The steps that delete everything that is ours and may be deleted.
pub fn destroy(live: &Live) -> Changes {
    let mut changes = Changes::default();
    leftover::everything(live, &mut changes);
    changes
}

/// Whether something is still to be done to a desired resource.
pub(crate) fn unequal(desired: &Desired, index: &Index<'_>, catalog: &Catalog) -> bool {
    let mut changes = Changes::default();
    let permissions = Permissions::default();
    decide::step(desired, index, &permissions, catalog, &mut changes);
    changes.steps.is_empty() || changes.steps.iter().any(|step| step.action.writes())
}

/// Whether a resource is on its way out.
pub(crate) fn is_deleting(resource: &LiveResource) -> bool {
    resource.state.provisioning == Provisioning::Deleting
}

/// The stronger of two actions on one resource.
fn stronger(one: Action, other: Action) -> Action {
    let strength = |action: Action| match action {
        Action::NoOp => 0,
        Action::Update => 1,
        Action::RestartUpdate => 2,
        Action::StopUpdate => 3,
        Action::Replace => 4,
        Action::Create | Action::Repair | Action::Start | Action::Delete => 5,
    };
    if strength(other) > strength(one) {
        other
    } else {
        one
    }
}
