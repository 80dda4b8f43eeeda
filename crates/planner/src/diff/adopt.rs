//! `--adopt`: resources of nobody's stack that stand where the spec wants one become the stack's.

use model::{
    address::Address,
    diag::{At, Code, Diagnostic},
    ids::ArmId,
    live::{LiveResource, Owner},
    plan::{Action, Operation, ReasonCode, Step},
    resource::tags,
    suggest,
};

use super::{Changes, Index, Permissions};
use crate::shape::Desired;

/// Whether a live resource is one that is to be taken over.
pub(super) fn wants(desired: &Desired, live: &LiveResource, permissions: &Permissions) -> bool {
    permissions.adopt.get(&desired.address) == Some(&live.id) && refusal(desired, live).is_none()
}

/// The step of a resource that becomes the stack's before anything else is done to it.
pub(super) fn taken_over(mut step: Step) -> Step {
    step.operations.insert(0, Operation::Adopt);
    if step.action == Action::NoOp {
        step.action = Action::Update;
    }
    if matches!(step.reason.code, ReasonCode::Equal | ReasonCode::Differs) {
        step.reason.code = ReasonCode::Adopted;
    }
    step
}

/// Says what of `--adopt` is not done.
pub(super) fn check(
    desired: &[Desired],
    index: &Index<'_>,
    permissions: &Permissions,
    changes: &mut Changes,
) {
    for (address, id) in &permissions.adopt {
        let wanted = desired.iter().find(|desired| desired.address == *address);
        let why = match wanted {
            None => Some("the spec has no such resource".to_owned()),
            Some(wanted) if wanted.id != *id => Some(format!(
                "the spec wants it at `{}`, and a resource keeps its id",
                wanted.id
            )),
            Some(wanted) => match index.at_id(id) {
                None => Some("nothing is there".to_owned()),
                Some(live) => refusal(wanted, live),
            },
        };
        if let Some(why) = why {
            changes
                .diagnostics
                .push(finding(address, id, &why, desired));
        }
    }
}

/// Why a live resource is not taken over.
fn refusal(desired: &Desired, live: &LiveResource) -> Option<String> {
    if let Some(stack) = live.tags.get(tags::STACK) {
        return (live.owner == Owner::Foreign)
            .then(|| format!("it belongs to the stack `{stack}`"));
    }
    if !desired.resource.kind().takes_tags() {
        return Some("it has no tags: it goes with the resource around it".to_owned());
    }
    if live.resource.as_ref().map(model::resource::Resource::kind) != Some(desired.resource.kind())
    {
        return Some(format!("it is a `{}`", live.arm_type));
    }
    None
}

fn finding(address: &Address, id: &ArmId, why: &str, desired: &[Desired]) -> Diagnostic {
    let message = format!("`--adopt {address}={id}` is refused: {why}");
    let finding = Diagnostic::new(Code::AdoptRefused, At::Nowhere, message);
    let names: Vec<String> = desired
        .iter()
        .map(|desired| desired.address.to_string())
        .collect();
    let near = suggest::nearest(&address.to_string(), names.iter().map(String::as_str));
    match near.filter(|near| *near != address.to_string()) {
        Some(near) => finding.with_help(format!("did you mean `{near}`?")),
        None => {
            finding.with_help("`tensorform plan` shows addresses, and names what is in the way")
        }
    }
}
