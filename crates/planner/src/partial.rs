//! Plans that make nothing: a destroy, the end of a lifetime, the deletion of orphans.

use std::collections::BTreeMap;

use model::{
    plan::{Lifetime, Plan},
    units::Region,
};

use crate::{
    diff::{self, index::Index},
    lifetime::{self, Term},
    location,
    plan::{Assembly, Input, context, ssh_keys},
    power::{self, Power},
    select::Findings,
    shape::{self, Desired},
    target,
};

/// A plan that chooses nothing, so that it has no pools.
fn assembly<'a>(
    input: Input<'a>,
    index: &'a Index<'a>,
    location: Region,
    lifetime: Option<Lifetime>,
    desired: Vec<Desired>,
) -> Assembly<'a> {
    Assembly {
        input,
        index,
        location,
        lifetime,
        pools: BTreeMap::new(),
        bootstraps: BTreeMap::new(),
        desired,
    }
}

/// The plan in which everything of the stack goes.
pub(crate) fn destroy(
    input: Input<'_>,
    index: &Index<'_>,
    findings: &mut Findings,
) -> Option<Plan> {
    let changes = diff::destroy(input.live, index);
    let location =
        location::of_live(input.live).or_else(|| input.spec.locations.first().cloned())?;
    let assembly = assembly(input, index, location, None, Vec::new());
    Some(assembly.assemble(changes, findings))
}

/// The plan in which nodes start or stop, whatever else the spec wants.
pub(crate) fn power(
    wish: Power,
    input: Input<'_>,
    index: &Index<'_>,
    findings: &mut Findings,
) -> Option<Plan> {
    let checked = target::check(input, index);
    let is_refused = checked.has_errors();
    findings.diagnostics.extend(checked);
    if is_refused {
        return None;
    }
    let location =
        location::of_live(input.live).or_else(|| input.spec.locations.first().cloned())?;
    let (changes, desired) = power::run(wish, input, index);
    let assembly = assembly(input, index, location, None, desired);
    Some(assembly.assemble(changes, findings))
}

/// The plan that deletes what is the stack's and in no spec. It needs to know what the spec wants;
/// whether that could be made now is no matter.
pub(crate) fn orphans(
    input: Input<'_>,
    index: &Index<'_>,
    findings: &mut Findings,
) -> Option<Plan> {
    let located = location::choose(input)?;
    findings.questions.extend(located.findings.questions);
    if !located.fits {
        findings.diagnostics.extend(located.findings.diagnostics);
        return None;
    }
    let location = located.location;
    let desired = {
        let keys = ssh_keys(input);
        let context = context(input, &location, keys.as_deref(), None);
        shape::run(input.spec, &located.selections, context)
    };
    let changes = diff::orphans(&desired, index);
    let assembly = assembly(input, index, location, None, desired);
    Some(assembly.assemble(changes, findings))
}

/// The plan for a stack whose lifetime is over: all goes but what remembers that.
pub(crate) fn expire(
    input: Input<'_>,
    index: &Index<'_>,
    term: &Term,
    findings: &mut Findings,
) -> Option<Plan> {
    let location =
        location::of_live(input.live).or_else(|| input.spec.locations.first().cloned())?;
    let keys = ssh_keys(input);
    let context = context(input, &location, keys.as_deref(), Some(term));
    let mut desired = shape::run(input.spec, &BTreeMap::new(), context);
    desired.retain(|desired| desired.address == term.keeper);
    for desired in &mut desired {
        desired.needs.clear();
    }
    let changes = diff::expire(&desired, index, input.catalog);
    findings.diagnostics.push(lifetime::finding(&term.lifetime));
    let permissions = &input.options.permissions;
    diff::refuse_at_the_end(permissions, &mut findings.diagnostics);
    let assembly = assembly(input, index, location, Some(term.lifetime), desired);
    Some(assembly.assemble(changes, findings))
}
