//! `--release`: resources that left the spec stay, and are the stack's no more.

use std::collections::BTreeSet;

use model::{
    address::Address,
    diag::{At, Code, Diagnostic},
    live::LiveResource,
    plan::{Action, Fingerprint, Operation, ReasonCode, Step},
    resource::{Orchestration, Resource, ResourceKind, tags},
};

use super::{Changes, Index, Permissions, decide::reason};
use crate::shape::Desired;

/// Adds a step for each resource that is released; tells which they are.
pub(super) fn steps<'a>(
    desired: &[Desired],
    index: &Index<'a>,
    permissions: &Permissions,
    changes: &mut Changes,
) -> BTreeSet<&'a Address> {
    let mut released = BTreeSet::new();
    for wish in &permissions.release {
        let ours = index.ours();
        let covered: Vec<_> = ours.filter(|(address, _)| covers(wish, address)).collect();
        if covered.is_empty() {
            refuse(wish, "the stack has no such resource", changes);
        }
        for (address, live) in covered {
            match refusal(address, live, desired) {
                Some(why) => refuse(wish, &format!("`{address}` {why}"), changes),
                None => {
                    if released.insert(address) {
                        changes.steps.push(step(address, live));
                    }
                }
            }
        }
    }
    released
}

/// Whether a wish names an address, or something that it is a part of.
fn covers(wish: &Address, address: &Address) -> bool {
    let (wish, address) = (wish.to_string(), address.to_string());
    let rest = address.strip_prefix(&wish);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn refusal(address: &Address, live: &LiveResource, desired: &[Desired]) -> Option<&'static str> {
    if desired.iter().any(|desired| desired.address == *address) {
        return Some("is in the spec: take it out first, or it would stand in its own way");
    }
    let resource = live.resource.as_ref()?;
    if resource.kind() == ResourceKind::BatchPool {
        return Some("is a pool of Batch, which the tags service does not know");
    }
    if resource.kind() == ResourceKind::AgentPool {
        return Some("is an agent pool, which the tags service does not know");
    }
    if !resource.kind().takes_tags() {
        return Some("has no tags: it goes with the resource around it");
    }
    let set = resource.scale_set();
    set.is_some_and(|set| set.orchestration == Orchestration::Flexible)
        .then_some("is a Flexible scale set, whose instances have copies of its tags")
}

fn refuse(wish: &Address, why: &str, changes: &mut Changes) {
    let message = format!("`--release {wish}` is refused: {why}");
    let finding = Diagnostic::new(Code::ReleaseRefused, At::Nowhere, message);
    let help = "`tensorform status` shows what is live; an address such as `pool.train` stands for all that the pool has";
    changes.diagnostics.push(finding.with_help(help));
}

fn step(address: &Address, live: &LiveResource) -> Step {
    let mut after = live.resource.clone();
    let tags = after
        .as_mut()
        .map(|resource: &mut Resource| &mut resource.tags);
    if let Some(tags) = tags {
        tags.retain(|name, _| !name.key().starts_with(tags::PREFIX));
    }
    Step {
        address: address.clone(),
        kind: live
            .resource
            .as_ref()
            .map_or(ResourceKind::ResourceGroup, Resource::kind),
        id: live.id.clone(),
        action: Action::Update,
        operations: vec![Operation::Release],
        reason: reason(ReasonCode::Released, Vec::new()),
        before: live.resource.clone(),
        after,
        needs: Vec::new(),
        fingerprint: Fingerprint::new(Some(live.values())),
        alternates: Vec::new(),
    }
}
