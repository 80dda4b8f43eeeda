//! Puts steps in order and completes the edges between them.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    ids::ArmId,
    plan::{Action, Step},
    resource::ResourceKind,
};

use crate::diff::index::Index;

/// Orders the steps as a reader expects them (what others need first, deletions last and
/// reversed), and adds the edges that come from live resources: what a live resource holds is
/// deleted only after the step that lets it go.
pub(crate) fn run(mut steps: Vec<Step>, index: &Index<'_>) -> Vec<Step> {
    let present: BTreeSet<Address> = steps.iter().map(|step| step.address.clone()).collect();
    let deleted: BTreeMap<ArmId, Address> = steps
        .iter()
        .filter(|step| step.action == Action::Delete)
        .map(|step| (step.id.clone(), step.address.clone()))
        .collect();
    for step in &mut steps {
        let mut needs: BTreeSet<Address> = step
            .needs
            .iter()
            .filter(|need| present.contains(need))
            .cloned()
            .collect();
        if !deleted.is_empty()
            && step.action != Action::Delete
            && let Some(resource) = index.at_id(&step.id)
        {
            let held = index.references(resource);
            needs.extend(
                held.iter()
                    .filter_map(|id| deleted.get(id))
                    .filter(|need| **need != step.address)
                    .cloned(),
            );
        }
        step.needs = needs.into_iter().collect();
    }
    steps.sort_by(|one, other| {
        place(one)
            .cmp(&place(other))
            .then_with(|| by_address(one, other))
    });
    steps
}

/// Deletions come last, from the nodes to the group.
fn place(step: &Step) -> (bool, i8) {
    let rank = match step.kind {
        ResourceKind::ResourceGroup | ResourceKind::MarketplaceTerms => 0,
        ResourceKind::NetworkSecurityGroup
        | ResourceKind::PublicIpAddress
        | ResourceKind::StorageAccount
        | ResourceKind::ManagedIdentity
        | ResourceKind::VirtualNetwork => 1,
        ResourceKind::NatGateway | ResourceKind::BlobContainer => 2,
        ResourceKind::Subnet => 3,
        ResourceKind::BastionHost
        | ResourceKind::RoleAssignment
        | ResourceKind::SshPublicKey
        | ResourceKind::ProximityPlacementGroup
        | ResourceKind::BatchAccount
        | ResourceKind::KubernetesCluster => 4,
        ResourceKind::Disk
        | ResourceKind::NetworkInterface
        | ResourceKind::VirtualMachine
        | ResourceKind::BatchPool
        | ResourceKind::AgentPool
        | ResourceKind::VirtualMachineScaleSet => 5,
        ResourceKind::NodeArray => 6,
    };
    let deletes = step.action == Action::Delete;
    (deletes, if deletes { -rank } else { rank })
}

fn by_address(one: &Step, other: &Step) -> std::cmp::Ordering {
    if one.action == Action::Delete {
        other.address.cmp(&one.address)
    } else {
        one.address.cmp(&other.address)
    }
}
