//! Whether a saved plan still holds.

use model::{
    diag::{At, Code, Diagnostic, Diagnostics},
    live::{Live, LiveResource, Provisioning},
    plan::{Operation, Plan},
};
use serde_json::Value;

/// What changed since a plan was made, of that which it relies on; empty when it holds.
pub fn staleness(plan: &Plan, live: &Live) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    for step in &plan.steps {
        let found = live
            .resources
            .iter()
            .find(|resource| resource.id == step.id);
        let waits = step.operations.first() == Some(&Operation::AwaitGone);
        let found = found
            .filter(|resource| !(waits && resource.state.provisioning == Provisioning::Deleting));
        let values = found.map(LiveResource::values);
        for change in step.fingerprint.changes(values.as_ref()) {
            let at = At::Resource(step.address.clone());
            let message = if change.path.is_empty() {
                let (planned, found) = (presence(&change.planned), presence(&change.found));
                format!(
                    "`{}` was {planned} when the plan was made and is {found} now",
                    step.id
                )
            } else {
                format!(
                    "`{}` was {} when the plan was made and is {} now",
                    change.path, change.planned, change.found
                )
            };
            diagnostics
                .push(Diagnostic::new(Code::PlanStale, at, message).with_help("make a new plan"));
        }
    }
    diagnostics
}

fn presence(value: &Value) -> &'static str {
    if value.is_null() { "absent" } else { "present" }
}
