//! Whether a saved plan still holds.

use model::{
    diag::{At, Code, Diagnostic, Diagnostics},
    live::{Live, LiveResource, Provisioning},
    plan::{Changed, Operation, Plan, Step},
};
use serde_json::Value;

use crate::diff::index::Index;

/// What changed since a plan was made, of that which it relies on; empty when it holds.
///
/// The same change of many resources is one finding that names them all.
pub fn staleness(plan: &Plan, live: &Live) -> Diagnostics {
    let index = Index::new(live);
    let mut changes: Vec<(Changed, Vec<&Step>)> = Vec::new();
    for step in &plan.steps {
        for changed in changed(step, &index) {
            match changes.iter_mut().find(|(known, _)| *known == changed) {
                Some((_, steps)) => steps.push(step),
                None => changes.push((changed, vec![step])),
            }
        }
    }
    changes
        .iter()
        .map(|(changed, steps)| finding(changed, steps))
        .collect()
}

fn changed(step: &Step, index: &Index<'_>) -> Vec<Changed> {
    let waits = step.operations.first() == Some(&Operation::AwaitGone);
    let found = index
        .at_id(&step.id)
        .filter(|resource| !(waits && resource.state.provisioning == Provisioning::Deleting));
    let values = found.map(LiveResource::values);
    step.fingerprint.changes(values.as_ref())
}

fn finding(changed: &Changed, steps: &[&Step]) -> Diagnostic {
    let Changed {
        path,
        planned,
        found,
    } = changed;
    let at = match steps {
        [step] => At::Resource(step.address.clone()),
        _ => At::Nowhere,
    };
    let names = || {
        let names: Vec<String> = steps.iter().map(|step| step.address.to_string()).collect();
        names.join(", ")
    };
    let message = match (path.as_str(), steps) {
        ("", [step]) => format!(
            "`{}` was {} when the plan was made and is {} now",
            step.id,
            presence(planned),
            presence(found)
        ),
        ("", several) => format!(
            "{} resources were {} when the plan was made and are {} now: {}",
            several.len(),
            presence(planned),
            presence(found),
            names()
        ),
        (path, [_]) => format!("`{path}` was {planned} when the plan was made and is {found} now"),
        (path, several) => format!(
            "`{path}` of {} resources was {planned} when the plan was made and is {found} now: {}",
            several.len(),
            names()
        ),
    };
    let help = if path.is_empty() && planned.is_null() {
        "make a new plan; perhaps this one was applied already"
    } else {
        "make a new plan"
    };
    Diagnostic::new(Code::PlanStale, at, message).with_help(help)
}

fn presence(value: &Value) -> &'static str {
    if value.is_null() { "absent" } else { "present" }
}
