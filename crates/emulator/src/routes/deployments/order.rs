//! What comes before what.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{plan::Drafted, request::invalid};
use crate::{error::ArmError, json::same, store::deployment::Step};

/// Resolves what each resource comes after, and refuses circles and doubles.
pub(super) fn arrange(drafted: Vec<Drafted>) -> Result<(Vec<Step>, Vec<Value>), ArmError> {
    let (wanted, left_out): (Vec<Drafted>, Vec<Drafted>) =
        drafted.into_iter().partition(|draft| draft.wanted);
    let mut keys = BTreeSet::new();
    for draft in &wanted {
        if !keys.insert(draft.step.id.key()) {
            return Err(invalid(&format!(
                "The resource '{}' is defined multiple times in a template. Please see \
                 https://aka.ms/arm-syntax-resources for usage details.",
                draft.step.id
            )));
        }
    }
    let mut needs = Vec::new();
    for draft in &wanted {
        let mut found: Vec<usize> = Vec::new();
        for entry in &draft.after {
            let matching = places(&wanted, entry);
            if matching.is_empty() && places(&left_out, entry).is_empty() {
                return Err(invalid(&format!(
                    "The resource '{entry}' is not defined in the template. Please see \
                     https://aka.ms/arm-syntax for usage details."
                )));
            }
            found.extend(matching);
        }
        for asked in &draft.asks {
            found.extend(places(&wanted, asked));
        }
        // In the order of the template, each once.
        let mut known = BTreeSet::new();
        found.retain(|place| known.insert(*place));
        needs.push(found);
    }
    let (mut steps, bodies): (Vec<Step>, Vec<Value>) = wanted
        .into_iter()
        .map(|draft| (draft.step, draft.body))
        .unzip();
    for (step, needs) in steps.iter_mut().zip(needs) {
        step.needs = needs;
    }
    sequence(&steps)?;
    Ok((steps, bodies))
}

/// Resources that an entry means: by id, by type and name, by name, or by loop.
fn places(drafted: &[Drafted], entry: &str) -> Vec<usize> {
    let wanted = entry.trim_matches('/').to_lowercase();
    let fits = |draft: &Drafted| {
        let id = draft.step.id.key().trim_matches('/');
        id == wanted
            || id.ends_with(&format!("/providers/{wanted}"))
            || same(&draft.step.name, entry)
            || format!("{}/{}", draft.step.kind, draft.step.name).to_lowercase() == wanted
            || (!draft.in_loop.is_empty() && draft.in_loop == wanted)
    };
    drafted
        .iter()
        .enumerate()
        .filter(|(_, draft)| fits(draft))
        .map(|(at, _)| at)
        .collect()
}

/// The steps in an order in which each comes after all that it needs.
pub(super) fn sequence(steps: &[Step]) -> Result<Vec<usize>, ArmError> {
    let mut sequence: Vec<usize> = Vec::new();
    let mut done = BTreeSet::new();
    while sequence.len() < steps.len() {
        let before = sequence.len();
        for (at, step) in steps.iter().enumerate() {
            if !done.contains(&at) && step.needs.iter().all(|need| done.contains(need)) {
                done.insert(at);
                sequence.push(at);
            }
        }
        if sequence.len() == before {
            let stuck = steps
                .iter()
                .enumerate()
                .find(|(at, _)| !done.contains(at))
                .map(|(_, step)| step.id.to_string())
                .unwrap_or_default();
            return Err(invalid(&format!(
                "Circular dependency detected on resource: '{stuck}'. Please see \
                 https://aka.ms/arm-syntax-resources for usage details."
            )));
        }
    }
    Ok(sequence)
}

/// Whether a body has a member that Azure treats as secret.
pub(super) fn holds_secret(body: &Value) -> bool {
    const SECRET: [&str; 3] = ["adminPassword", "customData", "protectedSettings"];
    match body {
        Value::Object(members) => members.iter().any(|(name, member)| {
            (!member.is_null() && SECRET.iter().any(|secret| same(secret, name)))
                || holds_secret(member)
        }),
        Value::Array(items) => items.iter().any(holds_secret),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
