//! What is ours and not desired any more: deleted, unless it is protected or something
//! protected needs it.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    diag::{At, Code, Diagnostic, Severity},
    ids::ArmId,
    live::{Live, LiveResource, Owner, Provisioning},
    plan::{Action, Fingerprint, Operation, ReasonCode, Step},
    resource::{ResourceKind, tags},
};

use super::{
    Changes,
    decide::{is_protected, reason},
    index::{Index, account_of, identities},
    kind,
};
use crate::shape::Desired;

/// Adds deletions of what left the spec. The group stays: it goes only with everything.
pub(super) fn steps<'a>(
    desired: &[Desired],
    index: &Index<'a>,
    released: &BTreeSet<&'a Address>,
    changes: &mut Changes,
) {
    let leftover = undesired(desired, index);
    let going = without_kept(&leftover, index, Kept::with(released), changes);
    add(&going, index, ReasonCode::NotInSpec, changes);
}

/// The same where nothing else is planned: what is protected stays, and hinders nobody.
pub(super) fn orphans(desired: &[Desired], index: &Index<'_>, changes: &mut Changes) {
    let leftover = undesired(desired, index);
    let going = without_kept(&leftover, index, Kept::WARNED, changes);
    add(&going, index, ReasonCode::NotInSpec, changes);
}

/// Adds deletions of what goes when the stack's lifetime is over: what is protected stays.
pub(super) fn expired(desired: &[Desired], index: &Index<'_>, changes: &mut Changes) {
    let leftover = undesired(desired, index);
    let going = without_kept(&leftover, index, Kept::WARNED, changes);
    add(&going, index, ReasonCode::Expired, changes);
}

fn undesired<'a>(
    desired: &[Desired],
    index: &Index<'a>,
) -> BTreeMap<&'a Address, &'a LiveResource> {
    let wanted: BTreeSet<&Address> = desired.iter().map(|desired| &desired.address).collect();
    let leftover = index
        .ours()
        .filter(|(address, _)| !wanted.contains(address));
    leftover
        .filter(|(_, resource)| kind(resource) != Some(ResourceKind::ResourceGroup))
        .collect()
}

/// Adds deletions of everything that is ours.
pub(super) fn everything(live: &Live, index: &Index<'_>, changes: &mut Changes) {
    let all: BTreeMap<&Address, &LiveResource> = index.ours().collect();
    let mut going = without_kept(&all, index, Kept::WARNED, changes);
    keep_group_with_others(&mut going, &all, (live, index), changes);
    add(&going, index, ReasonCode::Destroy, changes);
}

/// What stays, and how bad it is that something protected is among what was to go.
#[derive(Clone, Copy)]
struct Kept<'a, 'b> {
    released: Option<&'b BTreeSet<&'a Address>>,
    severity: Severity,
}

impl<'a, 'b> Kept<'a, 'b> {
    const WARNED: Self = Self {
        released: None,
        severity: Severity::Warning,
    };

    fn with(released: &'b BTreeSet<&'a Address>) -> Self {
        Self {
            released: Some(released),
            severity: Severity::Error,
        }
    }
}

/// Leaves out what is protected, what others use, and what either needs, and says so.
fn without_kept<'a>(
    going: &BTreeMap<&'a Address, &'a LiveResource>,
    index: &Index<'a>,
    how: Kept<'a, '_>,
    changes: &mut Changes,
) -> BTreeMap<&'a Address, &'a LiveResource> {
    let mut kept: BTreeSet<&Address> = BTreeSet::new();
    let mut pending: Vec<&Address> = how.released.into_iter().flatten().copied().collect();
    let is_released = |address: &Address| how.released.is_some_and(|all| all.contains(address));
    for (address, resource) in going
        .iter()
        .filter(|(address, resource)| is_protected(resource) && !is_released(address))
    {
        let message = format!("`{}` is protected and stays", resource.id.name());
        let finding = Diagnostic::new(Code::Protected, At::Resource((*address).clone()), message)
            .with_help(way_out(resource));
        changes
            .diagnostics
            .push(finding.with_severity(how.severity));
        pending.push(address);
    }
    pending.extend(used_by_others(going, index, changes));
    let identity = used_by_nodes(going, index, changes);
    pending.extend(identity.and_then(|_| role_of_nodes(going)));
    pending.extend(identity);
    while let Some(address) = pending.pop() {
        if kept.insert(address)
            && let Some(resource) = going.get(address)
        {
            let held = index.references(resource);
            pending.extend(held.iter().filter_map(|id| index.address_at(id)));
        }
    }
    let goes = |address: &&Address| going.contains_key(*address) && !kept.contains(*address);
    // What is in an account goes with it, and only then.
    let account_stays = |resource: &LiveResource| {
        kind(resource) == Some(ResourceKind::BlobContainer)
            && !account_of(&resource.id)
                .and_then(|account| index.address_at(&account))
                .is_some_and(|account| goes(&account))
    };
    going
        .iter()
        .filter(|(address, resource)| goes(address) && !account_stays(resource))
        .map(|(address, resource)| (*address, *resource))
        .collect()
}

/// The role of the identity by which nodes write checkpoints.
fn role_of_nodes<'a>(going: &BTreeMap<&'a Address, &'a LiveResource>) -> Option<&'a Address> {
    let mut roles = going.iter();
    let role = roles.find(|(_, one)| kind(one) == Some(ResourceKind::RoleAssignment));
    role.map(|(address, _)| *address)
}

/// The identity by which nodes that stay write checkpoints: they go on doing that.
fn used_by_nodes<'a>(
    going: &BTreeMap<&'a Address, &'a LiveResource>,
    index: &Index<'a>,
    changes: &mut Changes,
) -> Option<&'a Address> {
    let (address, identity) = going
        .iter()
        .find(|(_, resource)| kind(resource) == Some(ResourceKind::ManagedIdentity))?;
    let is_made_anew = |address: &Address| {
        let mut steps = changes.steps.iter();
        steps.any(|step| step.address == *address && step.action == Action::Replace)
    };
    let mut staying = index
        .ours()
        .filter(|(node, _)| !going.contains_key(node) && !is_made_anew(node));
    let (node, _) = staying.find(|(_, node)| identities(node).any(|id| *id == identity.id))?;
    let message = format!(
        "`{}` stays, with its role and the container: `{node}` writes checkpoints by it, and goes on doing that",
        identity.id.name()
    );
    let finding = Diagnostic::new(
        Code::IdentityKept,
        At::Resource((*address).clone()),
        message,
    );
    changes.diagnostics.push(
        finding.with_help("they go once such nodes were made anew: `--replace` does that now"),
    );
    Some(address)
}

/// How something protected can be deleted.
fn way_out(resource: &LiveResource) -> &'static str {
    if kind(resource) == Some(ResourceKind::StorageAccount) {
        return "checkpoints are in it: to delete it with them, apply `checkpoint: {protect: false}` first, or remove its tag `tensorform-protect`";
    }
    "to delete it, apply the pool with `protect: false` first, or remove its tag `tensorform-protect`"
}

/// What something of others uses: Azure would refuse to delete it.
fn used_by_others<'a>(
    going: &BTreeMap<&'a Address, &'a LiveResource>,
    index: &Index<'a>,
    changes: &mut Changes,
) -> Vec<&'a Address> {
    let used: Vec<(&'a Address, &LiveResource)> = going
        .iter()
        .filter(|(_, resource)| index.strangers(&resource.id).next().is_some())
        .map(|(address, resource)| (*address, *resource))
        .collect();
    let strangers: BTreeSet<&ArmId> = used
        .iter()
        .flat_map(|(_, resource)| index.strangers(&resource.id))
        .collect();
    if let Some((first, _)) = used.first() {
        let names: Vec<String> = used
            .iter()
            .map(|(_, resource)| format!("`{}`", resource.id.name()))
            .collect();
        let users: Vec<String> = strangers.into_iter().map(named).collect();
        let (stay, them) = match names.len() {
            1 => ("stays", "it"),
            _ => ("stay", "them"),
        };
        let message = format!(
            "{} {stay}: what is not ours uses {them}: {}",
            names.join(", "),
            users.join(", ")
        );
        let finding = Diagnostic::new(Code::UsedByOthers, At::Resource((*first).clone()), message);
        let finding = finding
            .with_help("with it stays what it needs, and goes on costing")
            .with_help("delete or move what is named, and destroy once more");
        changes.diagnostics.push(finding);
    }
    used.into_iter().map(|(address, _)| address).collect()
}

/// A resource of others, for people: also where it is, for it may be anywhere.
fn named(id: &ArmId) -> String {
    let group = id.group().unwrap_or_default();
    format!("{} ({} in `{group}`)", id.name(), id.resource_type())
}

/// A group goes only when nothing of anybody else is in it and nothing of ours stays.
fn keep_group_with_others<'a>(
    going: &mut BTreeMap<&'a Address, &'a LiveResource>,
    all: &BTreeMap<&'a Address, &'a LiveResource>,
    (live, index): (&Live, &Index<'a>),
    changes: &mut Changes,
) {
    let group = Address::resource_group();
    let Some(resource) = going.get(&group) else {
        return;
    };
    let inside = |other: &&LiveResource| {
        other.id.group_id().as_ref() == Some(&resource.id) && other.id != resource.id
    };
    let foreign: Vec<String> = live
        .resources
        .iter()
        .filter(inside)
        .filter(|other| other.owner == Owner::Foreign)
        .filter(|other| !index.cluster_nodes().contains(&other.id))
        .map(|other| format!("{} ({})", other.id.name(), other.arm_type))
        .collect();
    let stays = all.len() != going.len();
    if foreign.is_empty() && !stays {
        return;
    }
    if !foreign.is_empty() {
        let message = format!(
            "the resource group `{}` stays: it holds what is not ours: {}",
            resource.id.name(),
            foreign.join(", ")
        );
        let finding = Diagnostic::new(Code::GroupKept, At::Resource(group.clone()), message);
        changes
            .diagnostics
            .push(finding.with_help("if nobody needs that, delete it, and destroy once more"));
    }
    going.remove(&group);
}

/// Says that a cluster's machines end with its node arrays.
fn say_nodes_run(
    going: &BTreeMap<&Address, &LiveResource>,
    index: &Index<'_>,
    changes: &mut Changes,
) {
    let array = |resource: &&LiveResource| Some(resource.resource.as_ref()?.node_array()?.clone());
    let Some(first) = going.values().find_map(array) else {
        return;
    };
    let is_machine = |id: &&&ArmId| {
        let kind = ResourceKind::from_arm_type(&id.resource_type());
        matches!(
            kind,
            Some(ResourceKind::VirtualMachine | ResourceKind::VirtualMachineScaleSet)
        )
    };
    let machines = index.cluster_nodes().iter().filter(is_machine).count();
    if machines == 0 {
        return;
    }
    let (machines, exist) = match machines {
        1 => ("1 machine".to_owned(), "exists"),
        more => (format!("{more} machines"), "exist"),
    };
    let message = format!(
        "{machines} of the cluster `{}` {exist}: its server ends them before its node arrays go",
        first.cluster
    );
    let at = At::Resource(Address::node_array(&first.name));
    let finding = Diagnostic::new(Code::CycleCloudNodesRun, at, message);
    changes.diagnostics.push(
        finding.with_help(
            "to let jobs end first, wait until `squeue` on the scheduler's node is empty",
        ),
    );
}

fn add(
    going: &BTreeMap<&Address, &LiveResource>,
    index: &Index<'_>,
    code: ReasonCode,
    changes: &mut Changes,
) {
    say_nodes_run(going, index, changes);
    for (address, resource) in going {
        let Some(kind) = kind(resource) else { continue };
        let needs: BTreeSet<Address> = index
            .references(resource)
            .iter()
            .filter_map(|id| index.address_at(id).cloned())
            .collect();
        changes.steps.push(Step {
            address: (*address).clone(),
            kind,
            id: resource.id.clone(),
            action: Action::Delete,
            operations: deletion(resource),
            reason: reason(code, Vec::new()),
            before: resource.resource.clone(),
            after: None,
            needs: needs.into_iter().collect(),
            fingerprint: Fingerprint::new(Some(identity(resource, code))),
            alternates: Vec::new(),
        });
    }
}

fn deletion(resource: &LiveResource) -> Vec<Operation> {
    match resource.state.provisioning {
        Provisioning::Deleting => vec![Operation::AwaitGone],
        Provisioning::Creating | Provisioning::Updating | Provisioning::Other => {
            vec![Operation::Settle, Operation::Delete]
        }
        Provisioning::Succeeded | Provisioning::Failed | Provisioning::Canceled => {
            vec![Operation::Delete]
        }
    }
}

/// A deletion relies on what the resource is, not on every value it has; because of time also on
/// the end that stands on it, which somebody may move.
fn identity(resource: &LiveResource, code: ReasonCode) -> model::live::FingerprintValues {
    let is_tag = |path: &str, tag: &str| path.eq_ignore_ascii_case(&format!("tags.{tag}"));
    let relied_on = |path: &String| {
        path == "location"
            || is_tag(path, tags::PROTECT)
            || (code == ReasonCode::Expired && is_tag(path, tags::EXPIRES))
    };
    resource
        .values()
        .into_iter()
        .filter(|(path, _)| relied_on(path))
        .collect()
}
