//! What is ours and not desired any more: deleted, unless it is protected or something
//! protected needs it.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    diag::{At, Code, Diagnostic, Severity},
    ids::ArmId,
    live::{Live, LiveResource, Owner, Provisioning},
    plan::{Action, Fingerprint, Operation, ReasonCode, Step},
    resource::{Properties, ResourceKind},
};

use super::{
    Changes,
    decide::{is_protected, reason},
};
use crate::shape::Desired;

/// Adds deletions of what left the spec. The group stays: it goes only with everything.
pub(super) fn steps(desired: &[Desired], live: &Live, changes: &mut Changes) {
    let wanted: BTreeSet<&Address> = desired.iter().map(|desired| &desired.address).collect();
    let leftover = ours(live).filter(|(address, _)| !wanted.contains(address));
    let leftover: BTreeMap<&Address, &LiveResource> = leftover
        .filter(|(_, resource)| kind(resource) != Some(ResourceKind::ResourceGroup))
        .collect();
    let going = without_kept(&leftover, live, Severity::Error, changes);
    add(&going, live, ReasonCode::NotInSpec, changes);
}

/// Adds deletions of everything that is ours.
pub(super) fn everything(live: &Live, changes: &mut Changes) {
    let all: BTreeMap<&Address, &LiveResource> = ours(live).collect();
    let mut going = without_kept(&all, live, Severity::Warning, changes);
    keep_group_with_others(&mut going, &all, live, changes);
    add(&going, live, ReasonCode::Destroy, changes);
}

fn ours(live: &Live) -> impl Iterator<Item = (&Address, &LiveResource)> {
    live.resources
        .iter()
        .filter_map(|resource| Some((resource.address()?, resource)))
}

fn kind(resource: &LiveResource) -> Option<ResourceKind> {
    resource
        .resource
        .as_ref()
        .map(model::resource::Resource::kind)
}

/// Leaves out what is protected and what that needs, and says so.
fn without_kept<'a>(
    going: &BTreeMap<&'a Address, &'a LiveResource>,
    live: &'a Live,
    severity: Severity,
    changes: &mut Changes,
) -> BTreeMap<&'a Address, &'a LiveResource> {
    let by_id: BTreeMap<&ArmId, &Address> = ours(live)
        .map(|(address, resource)| (&resource.id, address))
        .collect();
    let mut kept: BTreeSet<&Address> = BTreeSet::new();
    let mut pending: Vec<&Address> = Vec::new();
    for (address, resource) in going.iter().filter(|(_, resource)| is_protected(resource)) {
        let message = format!("`{}` is protected and stays", resource.id.name());
        let finding = Diagnostic::new(Code::Protected, At::Resource((*address).clone()), message)
            .with_help("to delete it, apply the pool with `protect: false` first, or remove its tag `tensorform-protect`");
        changes.diagnostics.push(finding.with_severity(severity));
        pending.push(address);
    }
    while let Some(address) = pending.pop() {
        if kept.insert(address)
            && let Some(resource) = going.get(address)
        {
            pending.extend(
                references(resource, live)
                    .iter()
                    .filter_map(|id| by_id.get(id).copied()),
            );
        }
    }
    going
        .iter()
        .filter(|(address, _)| !kept.contains(*address))
        .map(|(address, resource)| (*address, *resource))
        .collect()
}

/// A group goes only when nothing of anybody else is in it and nothing of ours stays.
fn keep_group_with_others<'a>(
    going: &mut BTreeMap<&'a Address, &'a LiveResource>,
    all: &BTreeMap<&'a Address, &'a LiveResource>,
    live: &Live,
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

fn add(
    going: &BTreeMap<&Address, &LiveResource>,
    live: &Live,
    code: ReasonCode,
    changes: &mut Changes,
) {
    let by_id: BTreeMap<&ArmId, &Address> = ours(live)
        .map(|(address, resource)| (&resource.id, address))
        .collect();
    for (address, resource) in going {
        let Some(kind) = kind(resource) else { continue };
        let needs: BTreeSet<Address> = references(resource, live)
            .iter()
            .filter_map(|id| by_id.get(id).map(|need| (*need).clone()))
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
            fingerprint: Fingerprint::new(Some(identity(resource))),
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

/// A deletion relies on what the resource is, not on every value it has.
fn identity(resource: &LiveResource) -> model::live::FingerprintValues {
    let relied_on = |path: &String| {
        path == "location"
            || path.eq_ignore_ascii_case(&format!("tags.{}", model::resource::tags::PROTECT))
    };
    resource
        .values()
        .into_iter()
        .filter(|(path, _)| relied_on(path))
        .collect()
}

/// Ids of resources that this one cannot be without.
///
/// A live VM does not tell its subnet, so it holds every subnet of the stack; and its key, which
/// tells who can get in.
pub(crate) fn references(resource: &LiveResource, live: &Live) -> Vec<ArmId> {
    let mut ids: Vec<ArmId> = resource
        .id
        .group_id()
        .into_iter()
        .filter(|group| *group != resource.id)
        .collect();
    ids.extend(resource.id.parent());
    match resource
        .resource
        .as_ref()
        .map(|resource| &resource.properties)
    {
        Some(Properties::VirtualMachine(vm)) => {
            ids.extend(vm.data_disks.values().map(|disk| disk.disk.clone()));
            let held = [Some(ResourceKind::Subnet), Some(ResourceKind::SshPublicKey)];
            let shared = ours(live).filter(|(_, other)| held.contains(&kind(other)));
            ids.extend(shared.map(|(_, resource)| resource.id.clone()));
        }
        Some(Properties::Subnet(subnet)) => {
            ids.extend(subnet.nat_gateway.clone());
            ids.extend(subnet.network_security_group.clone());
        }
        Some(Properties::NatGateway(gateway)) => ids.extend(gateway.public_ips.iter().cloned()),
        _ => {}
    }
    ids
}
