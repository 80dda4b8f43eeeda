//! One step for each desired resource: made, compared, or refused.

use model::{
    address::Address,
    catalog::Catalog,
    diag::{At, Code, Diagnostic, SpecPath},
    live::{FingerprintValues, LiveResource, Owner},
    plan::{Action, AttributeChange, Fingerprint, Operation, Reason, ReasonCode, Step},
    resource::{ResourceKind, tags},
};

use super::{
    Changes, Permissions, adopt, existing::Existing, foreign_disks, index::Index, is_deleting,
};
use crate::shape::Desired;

/// Adds the step for a desired resource; none where it may not be made.
pub(super) fn step(
    desired: &Desired,
    index: &Index<'_>,
    permissions: &Permissions,
    catalog: &Catalog,
    changes: &mut Changes,
) {
    let absent = || reason(ReasonCode::Absent, Vec::new());
    match index.at_id(&desired.id) {
        Some(live) if adopt::wants(desired, live, permissions) => {
            let decision = Existing {
                desired,
                live,
                instances: index.instances(&live.id),
                foreign_disks: foreign_disks::on(desired, live, index),
                permissions,
                catalog,
                is_for_new_principal: is_for_new_principal(desired, index),
            };
            let step = adopt::taken_over(decision.step(changes));
            changes.steps.push(step);
        }
        Some(live) if is_existing_group(live) => note_existing_group(live, changes),
        Some(live) if live.owner == Owner::Foreign || live.address() != Some(&desired.address) => {
            refuse_foreign(desired, live, changes);
        }
        Some(live) if is_going(live, index) => {
            let operations = vec![Operation::AwaitGone, Operation::Create];
            changes
                .steps
                .push(build(desired, None, Action::Create, operations, absent()));
        }
        Some(live) => {
            let decision = Existing {
                desired,
                live,
                instances: index.instances(&live.id),
                foreign_disks: foreign_disks::on(desired, live, index),
                permissions,
                catalog,
                is_for_new_principal: is_for_new_principal(desired, index),
            };
            let step = decision.step(changes);
            changes.steps.push(step);
        }
        None => match index.at_address(&desired.address) {
            Some(elsewhere) => refuse_moved(desired, elsewhere, changes),
            None => changes.steps.push(build(
                desired,
                None,
                Action::Create,
                vec![Operation::Create],
                absent(),
            )),
        },
    }
}

/// Whether a role is for the stack's identity, and that is not there.
fn is_for_new_principal(desired: &Desired, index: &Index<'_>) -> bool {
    let identity = Address::checkpoint("identity");
    desired.resource.kind() == ResourceKind::RoleAssignment
        && index
            .at_address(&identity)
            .is_none_or(|identity| is_going(identity, index))
}

/// Whether a resource is on its way out, by itself or with its group: what is in a group that is
/// being deleted looks sound until its turn comes.
fn is_going(live: &LiveResource, index: &Index<'_>) -> bool {
    let group = live.id.group_id();
    let group = group.and_then(|group| index.at_id(&group));
    is_deleting(live) || group.is_some_and(is_deleting)
}

fn is_existing_group(live: &LiveResource) -> bool {
    live.owner == Owner::Foreign
        && live
            .arm_type
            .eq_ignore_ascii_case(ResourceKind::ResourceGroup.arm_type())
}

fn note_existing_group(live: &LiveResource, changes: &mut Changes) {
    let message = format!(
        "the resource group `{}` exists already; it is used and never deleted",
        live.id.name()
    );
    changes.diagnostics.push(Diagnostic::new(
        Code::GroupNotOurs,
        At::Named(live.id.to_string()),
        message,
    ));
}

fn refuse_foreign(desired: &Desired, live: &LiveResource, changes: &mut Changes) {
    let message = format!("`{}` exists and does not belong to this stack", live.id);
    let mut finding = Diagnostic::new(
        Code::NameTaken,
        At::Resource(desired.address.clone()),
        message,
    )
    .with_help(
        "choose another `name` or `resource_group`, or delete the resource if nobody needs it",
    );
    if live.tags.get(tags::STACK).is_none() && desired.resource.kind().takes_tags() {
        let help = format!("or take it over: `--adopt {}={}`", desired.address, live.id);
        finding = finding.with_help(help);
    }
    changes.diagnostics.push(finding);
}

fn refuse_moved(desired: &Desired, live: &LiveResource, changes: &mut Changes) {
    // One finding for all: what moves one resource moves its neighbours.
    if changes
        .diagnostics
        .iter()
        .any(|finding| finding.code == Code::StackMoved)
    {
        return;
    }
    let same_group = match (live.id.group(), desired.id.group()) {
        (Some(live), Some(desired)) => live.eq_ignore_ascii_case(desired),
        (live, desired) => live == desired,
    };
    let (at, message, help) = match live.id.group() {
        Some(group) if !same_group => (
            At::Value(SpecPath::of(&["resource_group"])),
            format!(
                "the stack lives in the resource group `{group}`, the spec puts it in `{}`",
                desired.id.group().unwrap_or_default()
            ),
            "a stack cannot move: put `resource_group` back, or destroy the stack first",
        ),
        _ => (
            At::Resource(desired.address.clone()),
            format!(
                "the resource is live as `{}`, the spec puts it at `{}`",
                live.id, desired.id
            ),
            "a stack cannot move: put back what changed, or destroy the stack first",
        ),
    };
    changes
        .diagnostics
        .push(Diagnostic::new(Code::StackMoved, at, message).with_help(help));
}

pub(super) fn reason(code: ReasonCode, attributes: Vec<AttributeChange>) -> Reason {
    Reason { code, attributes }
}

pub(super) fn build(
    desired: &Desired,
    live: Option<&LiveResource>,
    action: Action,
    operations: Vec<Operation>,
    reason: Reason,
) -> Step {
    Step {
        address: desired.address.clone(),
        kind: desired.resource.kind(),
        id: live.map_or_else(|| desired.id.clone(), |live| live.id.clone()),
        action,
        operations,
        reason,
        before: live.and_then(|live| live.resource.clone()),
        after: Some(desired.resource.clone()),
        needs: desired.needs.clone(),
        fingerprint: Fingerprint::new(live.map(|live| relied_on(desired, live, action))),
        alternates: Vec::new(),
    }
}

/// What a step relies on: every attribute, of the tags those that the spec sets, and the state
/// only where something is done. A stranger's tag or a stopped neighbour makes no plan stale.
fn relied_on(desired: &Desired, live: &LiveResource, action: Action) -> FingerprintValues {
    let mut values = live.values();
    // A VM read alone does not tell it.
    if desired.resource.kind() == ResourceKind::VirtualMachine {
        values.remove("network.public_address");
    }
    values.retain(
        |path, _| match (path.strip_prefix("tags."), path.starts_with("state.")) {
            (Some(name), _) => {
                tags::WISHED.contains(&name) || desired.resource.tags.get(name).is_some()
            }
            (None, true) => action.writes(),
            (None, false) => true,
        },
    );
    values
}

/// Whether a live resource carries the mark of protection.
pub(super) fn is_protected(live: &LiveResource) -> bool {
    live.tags
        .get(tags::PROTECT)
        .is_some_and(|value| value.eq_ignore_ascii_case("true"))
}
