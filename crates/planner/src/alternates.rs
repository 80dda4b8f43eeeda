//! Records in a plan how its pools are made otherwise, where there is no capacity.

use std::collections::BTreeMap;

use model::{
    address::Address,
    diag::{At, Code, Diagnostic, SpecPath},
    plan::{Action, Alternate, Cost, Step, different_members},
    resource::Resource,
    spec::{Budget, Spec},
};

use crate::{
    cost::{self, Limits},
    location::Selections,
    select::Findings,
    shape,
};

/// Adds the other ways of each pool to its creations: the same number of ways to every step of
/// a pool, so that a number means one way of the whole pool.
pub(crate) fn record(
    spec: &Spec,
    selections: &Selections,
    context: shape::Context<'_>,
    steps: &mut [Step],
) {
    for (name, selection) in selections {
        for other in &selection.others {
            let alone = Selections::from([(name.clone(), other.selection.clone())]);
            let made: BTreeMap<Address, Resource> = shape::run(spec, &alone, context)
                .into_iter()
                .map(|desired| (desired.address, desired.resource))
                .collect();
            let of_pool = |step: &&mut Step| {
                step.action == Action::Create && step.address.pool_name() == Some(name)
            };
            for step in steps.iter_mut().filter(of_pool) {
                let (Some(after), Some(resource)) = (&step.after, made.get(&step.address)) else {
                    continue;
                };
                step.alternates.push(Alternate {
                    label: other.label.clone(),
                    attributes: different_members(after, resource),
                });
            }
        }
    }
}

/// Leaves out the ways in which the stack would cost more than it may, and says so.
pub(crate) fn keep_affordable(
    steps: &mut [Step],
    (budget, limits): (Option<&Budget>, &Limits),
    findings: &mut Findings,
    cost_of: impl Fn(&[Step]) -> Cost,
) {
    if cost::has_gates(budget, limits) {
        let refused = |steps: &[Step]| cost::refused(&cost_of(steps), budget, limits);
        let help = "raise the limit, or name something cheaper";
        keep(steps, help, findings, refused);
    }
}

/// Leaves out the ways for which quota lacks, and says so.
pub(crate) fn keep_within_quota(
    steps: &mut [Step],
    findings: &mut Findings,
    lacking: impl Fn(&[Step]) -> Option<String>,
) {
    let help = "ask for more quota, or name something of another family";
    keep(steps, help, findings, lacking);
}

/// Leaves out the ways that something speaks against.
fn keep(
    steps: &mut [Step],
    help: &str,
    findings: &mut Findings,
    refused: impl Fn(&[Step]) -> Option<String>,
) {
    // Zones alone change neither what is paid nor what is drawn.
    let differs = |other: &Alternate| {
        let mut attributes = other.attributes.keys();
        attributes.any(|name| name != "zones")
    };
    let others = steps.iter().flat_map(|step| &step.alternates);
    // A plan that is refused itself is not carried out in any way.
    if !others.clone().any(differs) || refused(steps).is_some() {
        return;
    }
    let mut ways: BTreeMap<String, usize> = BTreeMap::new();
    for step in steps.iter() {
        if let Some(pool) = step.address.pool_name() {
            let most = ways.entry(pool.to_owned()).or_default();
            *most = step.alternates.len().max(*most);
        }
    }
    for (pool, most) in ways {
        // From the last one, so that the numbers before it stay.
        for number in (0..most).rev() {
            let is_of_pool = |step: &Step| step.address.pool_name() == Some(pool.as_str());
            let is_other = |step: &Step| step.alternates.get(number).is_some_and(differs);
            if !steps.iter().filter(|step| is_of_pool(step)).any(is_other) {
                continue;
            }
            let taken: Vec<Step> = steps
                .iter()
                .cloned()
                .map(|step| {
                    let number = is_of_pool(&step).then_some(number);
                    step.taking(number)
                })
                .collect();
            let Some(excess) = refused(&taken) else {
                continue;
            };
            let mut label = None;
            for step in steps.iter_mut().filter(|step| is_of_pool(step)) {
                if number < step.alternates.len() {
                    label = Some(step.alternates.remove(number).label);
                }
            }
            if let Some(label) = label {
                let message = format!("without capacity, {label} is not tried: {excess}");
                let at = At::Value(SpecPath::pool(&pool, &[]));
                let finding = Diagnostic::new(Code::FallbackLeftOut, at, message);
                findings.diagnostics.push(finding.with_help(help));
            }
        }
    }
}
