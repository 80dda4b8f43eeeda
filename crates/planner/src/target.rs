//! `--target`: a plan about some pools alone, with what they cannot be without.

use std::collections::BTreeSet;

use model::{
    address::Address,
    diag::{At, Code, Diagnostic, Diagnostics},
    plan::{Action, Step},
    suggest,
};

use crate::{diff::index::Index, plan::Input, power::Power};

/// Whether a finding or a pool is a matter of the plan.
pub(crate) fn concerns(input: Input<'_>, pool: Option<&str>) -> bool {
    let targets = &input.options.targets;
    targets.is_empty() || pool.is_none_or(|pool| targets.contains(pool))
}

/// Targets that neither the spec nor what is live has, and that the plan is not whole.
pub(crate) fn check(input: Input<'_>, index: &Index<'_>) -> Diagnostics {
    let targets = &input.options.targets;
    let mut findings = Diagnostics::default();
    if targets.is_empty() {
        return findings;
    }
    let live = index.ours().filter_map(|(address, _)| address.pool_name());
    let known: BTreeSet<&str> = input
        .spec
        .pools
        .keys()
        .map(String::as_str)
        .chain(live)
        .collect();
    for target in targets
        .iter()
        .filter(|target| !known.contains(target.as_str()))
    {
        findings.push(unknown(target, &known, input.options.power));
    }
    for address in &input.options.permissions.replace {
        if address
            .pool_name()
            .is_none_or(|pool| !targets.contains(pool))
        {
            let message =
                format!("`--replace` names `{address}`, of no pool that `--target` names");
            let finding = Diagnostic::new(Code::ReplaceUnknown, At::Nowhere, message);
            findings.push(
                finding.with_help("name its pool with `--target` too, or plan without `--target`"),
            );
        }
    }
    // Of a plan that there will not be, nothing more is to be said.
    if findings.has_errors() {
        return findings;
    }
    let names: Vec<String> = targets.iter().map(|target| format!("`{target}`")).collect();
    let message = format!(
        "the plan is about {} alone: nothing is decided for other pools, and nothing is done to them",
        names.join(", ")
    );
    let finding = Diagnostic::new(Code::PlanPartial, At::Nowhere, message);
    findings.push(finding.with_help("plan without `--target` to see the whole stack"));
    findings
}

fn unknown(target: &str, known: &BTreeSet<&str>, power: Option<Power>) -> Diagnostic {
    let who = match power {
        Some(Power::Start) => "`start`",
        Some(Power::Stop) => "`stop`",
        None => "`--target`",
    };
    let message = format!("{who} names `{target}`, and there is no such pool");
    let finding = Diagnostic::new(Code::TargetUnknown, At::Nowhere, message);
    if let Some(near) = suggest::nearest(target, known.iter().copied()) {
        return finding.with_help(format!("did you mean `{near}`?"));
    }
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    finding.with_help(format!("there are {}", names.join(", ")))
}

/// The steps of the targets, and those that they need; all where there are no targets.
pub(crate) fn only(steps: Vec<Step>, targets: &BTreeSet<String>) -> Vec<Step> {
    if targets.is_empty() {
        return steps;
    }
    let is_target = |step: &&Step| {
        let pool = step.address.pool_name();
        pool.is_some_and(|pool| targets.contains(pool))
    };
    let mut kept: BTreeSet<Address> = BTreeSet::new();
    let mut pending: Vec<&Step> = steps.iter().filter(is_target).collect();
    while let Some(step) = pending.pop() {
        // A deletion needs what goes after it, and that is not asked for.
        if kept.insert(step.address.clone()) && step.action != Action::Delete {
            let needed = |other: &&Step| step.needs.contains(&other.address);
            pending.extend(steps.iter().filter(needed));
        }
    }
    steps
        .into_iter()
        .filter(|step| kept.contains(&step.address))
        .collect()
}
