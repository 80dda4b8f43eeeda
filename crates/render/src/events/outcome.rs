//! What came of an apply as a JSON document.

use std::collections::BTreeMap;

use model::{
    address::Address,
    diag::DiagnosticDocument,
    plan::{Ending, Outcome, Plan, Step},
};
use serde_json::{Value, json};

use super::FORMAT_VERSION;
use crate::failure;

/// One JSON document: every step that writes with how it ended, in the order of the plan.
/// `findings` are those of the apply; those of the plan come before them.
pub fn outcome_json(
    outcome: &Outcome,
    plan: &Plan,
    findings: &[DiagnosticDocument],
    exit_code: u8,
    tool_version: &str,
) -> String {
    let Outcome {
        steps,
        writes,
        interrupted,
        taken,
    } = outcome;
    let taken: BTreeMap<&String, &str> = taken
        .iter()
        .filter_map(|(pool, number)| Some((pool, plan.alternate_label(pool, *number)?)))
        .collect();
    let count = |is: fn(&Ending) -> bool| steps.iter().filter(|(_, _, ending)| is(ending)).count();
    let planned: BTreeMap<&Address, &Step> = plan
        .steps
        .iter()
        .map(|step| (&step.address, step))
        .collect();
    let documents: Vec<Value> = steps
        .iter()
        .map(|(address, action, ending)| {
            let step = planned.get(address);
            json!({
                "address": address,
                "action": action,
                "type": step.map(|step| step.kind),
                "id": step.map(|step| &step.id),
                "ending": ending,
            })
        })
        .collect();
    let diagnostics: Vec<&DiagnosticDocument> = plan.diagnostics.iter().chain(findings).collect();
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "tensorform_version": tool_version,
        "stack": plan.stack,
        "scope": plan.scope,
        "plan_digest": plan.digest,
        "exit_code": exit_code,
        "reached": outcome.reached(),
        "interrupted": interrupted,
        "writes": writes,
        "taken": taken,
        "cost": (outcome.reached() && taken.is_empty()).then(|| json!({
            "currency": plan.cost.currency,
            "complete": plan.cost.complete,
            "before": plan.cost.before,
            "after": plan.cost.after,
            "delta": plan.cost.delta,
            "price_book": plan.cost.price_book,
        })),
        "counts": {
            "done": count(|ending| matches!(ending, Ending::Done)),
            "failed": count(Ending::is_failure),
            "unknown": count(Ending::is_unknown),
            "not_started": count(|ending| matches!(ending, Ending::Skipped { .. } | Ending::NotStarted)),
        },
        "steps": documents,
        "diagnostics": diagnostics,
    }))
}
