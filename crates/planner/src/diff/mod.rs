//! Compares desired with live resources: attribute by attribute, then one action a resource.

pub mod classify;

pub mod index;

mod adopt;

mod batch;

mod bootstrap;

mod compare;

mod decide;

mod existing;

mod foreign_disks;

pub(crate) mod anew;

pub(crate) mod instances;

mod leaving;

mod leftover;

mod merging;

mod refusing;

mod release;

mod replace;

use std::collections::BTreeMap;

use model::{
    address::Address,
    catalog::Catalog,
    diag::{At, Code, Diagnostic, Diagnostics, Severity},
    ids::ArmId,
    live::{Live, LiveResource, Provisioning},
    plan::{Action, Step},
    resource::{Resource, ResourceKind},
};

use self::index::Index;
use crate::shape::Desired;

/// What a diff may do.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    /// `--allow-stop`: nodes may be deallocated and replaced whatever the spec says.
    pub allow_stop: bool,
    /// `--replace`: these are replaced in any case.
    pub replace: Vec<Address>,
    /// `--release`: these, and what they have, stay and are the stack's no more.
    pub release: Vec<Address>,
    /// `--adopt`: these become the stack's, by the address that each gets.
    pub adopt: BTreeMap<Address, ArmId>,
}

/// Changes before they are put in order.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// One step a resource, in no particular order.
    pub steps: Vec<Step>,
    /// What the user must know.
    pub diagnostics: Diagnostics,
}

/// The steps from live to desired, deletions of what is not desired any more included.
pub fn run(
    desired: &[Desired],
    index: &Index<'_>,
    permissions: &Permissions,
    catalog: &Catalog,
) -> Changes {
    let mut changes = Changes::default();
    for resource in desired {
        decide::step(resource, index, permissions, catalog, &mut changes);
    }
    let released = release::steps(desired, index, permissions, &mut changes);
    leftover::steps(desired, index, &released, &mut changes);
    replace::check(desired, index, permissions, &mut changes);
    adopt::check(desired, index, permissions, &mut changes);
    changes
}

/// The steps that leave only what is desired once the stack's lifetime is over.
pub(crate) fn expire(desired: &[Desired], index: &Index<'_>, catalog: &Catalog) -> Changes {
    let mut changes = Changes::default();
    let permissions = Permissions::default();
    for resource in desired {
        decide::step(resource, index, &permissions, catalog, &mut changes);
    }
    leftover::expired(desired, index, &mut changes);
    changes
}

/// Says that a stack whose lifetime is over has nothing replaced, taken over or released.
pub(crate) fn refuse_at_the_end(permissions: &Permissions, diagnostics: &mut Diagnostics) {
    let Permissions {
        allow_stop: _,
        replace,
        release,
        adopt,
    } = permissions;
    let options = replace
        .iter()
        .map(|address| (Code::ReplaceRefused, "--replace", address))
        .chain(
            adopt
                .keys()
                .map(|address| (Code::AdoptRefused, "--adopt", address)),
        )
        .chain(
            release
                .iter()
                .map(|address| (Code::ReleaseRefused, "--release", address)),
        );
    for (code, option, address) in options {
        let message = format!(
            "`{option}` names `{address}`, and the stack's lifetime is over: all it does is end"
        );
        let finding = Diagnostic::new(code, At::Nowhere, message).with_severity(Severity::Error);
        diagnostics.push(finding.with_help("`--renew` starts the lifetime over"));
    }
}

/// The steps that delete what is ours and not desired, and do nothing else.
pub(crate) fn orphans(desired: &[Desired], index: &Index<'_>) -> Changes {
    let mut changes = Changes::default();
    leftover::orphans(desired, index, &mut changes);
    changes
}

/// The steps that delete everything that is ours and may be deleted.
pub fn destroy(live: &Live, index: &Index<'_>) -> Changes {
    let mut changes = Changes::default();
    leftover::everything(live, index, &mut changes);
    changes
}

/// Whether something is still to be done to a desired resource.
pub(crate) fn unequal(desired: &Desired, index: &Index<'_>, catalog: &Catalog) -> bool {
    let mut changes = Changes::default();
    let permissions = Permissions::default();
    decide::step(desired, index, &permissions, catalog, &mut changes);
    changes.steps.is_empty() || changes.steps.iter().any(|step| step.action.writes())
}

/// What kind of resource of ours this is.
fn kind(resource: &LiveResource) -> Option<ResourceKind> {
    resource.resource.as_ref().map(Resource::kind)
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
