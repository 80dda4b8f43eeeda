//! The sentence that sums up a plan.

use std::collections::BTreeSet;

use model::{
    diag::Code,
    plan::{Action, Plan},
};

use crate::{events::summary::Left, words};

/// `Plan: 7 to create, …` or `No changes. …`.
pub(super) fn sentence(plan: &Plan) -> String {
    let number = |action: Action| plan.counts.get(&action).copied().unwrap_or(0);
    let unchanged = number(Action::NoOp);
    if !plan.has_changes {
        return if plan.destroys() {
            nothing_to_destroy(plan)
        } else if plan.lifetime.is_some_and(|lifetime| lifetime.over) {
            nothing_more_ends(plan)
        } else if plan.orphans {
            format!("No changes. {} has no orphans that can go.", plan.stack)
        } else {
            no_changes(unchanged, left_different(plan).len(), plan.complete)
        };
    }
    let (restarts, stops) = (number(Action::RestartUpdate), number(Action::StopUpdate));
    let updates = number(Action::Update)
        .saturating_add(restarts)
        .saturating_add(stops);
    let interruptions: Vec<String> = [
        (restarts, "restart", "restarts"),
        (stops, "deallocation", "deallocations"),
    ]
    .into_iter()
    .filter(|(number, _, _)| *number > 0)
    .map(|(number, one, many)| words::counted(number, one, many))
    .collect();
    let interruptions = if interruptions.is_empty() {
        String::new()
    } else {
        format!(" ({})", interruptions.join(", "))
    };
    let to = |action: Action, word: &str| format!("{} to {word}", words::count(number(action)));
    let mut parts = vec![
        to(Action::Create, "create"),
        format!("{} to update{interruptions}", words::count(updates)),
        to(Action::Replace, "replace"),
    ];
    // Named only where they happen, which is seldom.
    let seldom = [(Action::Repair, "repair"), (Action::Start, "start")];
    parts.extend(
        seldom
            .into_iter()
            .filter(|(action, _)| number(*action) > 0)
            .map(|(action, word)| to(action, word)),
    );
    parts.push(to(Action::Delete, "delete"));
    parts.push(format!("{} unchanged", words::count(unchanged)));
    format!("Plan: {}.", parts.join(", "))
}

fn nothing_to_destroy(plan: &Plan) -> String {
    let stack = &plan.stack;
    match Left::of(plan.diagnostics.iter().map(|finding| finding.code.clone())) {
        Left::Nothing => format!("No changes. Nothing of {stack} exists."),
        Left::Group => format!("No changes. Only the resource group of {stack} is left."),
        Left::Used => {
            format!(
                "No changes. All that is left of {stack} is used by others, or needed by what is."
            )
        }
        Left::Protected(_) => {
            format!("No changes. All that is left of {stack} is protected, or needed by what is.")
        }
    }
}

/// The lifetime is over, and there is nothing more to delete.
fn nothing_more_ends(plan: &Plan) -> String {
    let stack = &plan.stack;
    let pools = if plan.targets.is_empty() {
        String::new()
    } else {
        format!(" of {}", words::listed(&plan.targets, 8))
    };
    match Left::of(plan.diagnostics.iter().map(|finding| finding.code.clone())) {
        Left::Nothing | Left::Group => {
            format!(
                "No changes. The lifetime of {stack} is over, and nothing{pools} is left to go."
            )
        }
        Left::Used | Left::Protected(_) => format!(
            "No changes. The lifetime of {stack} is over; what is left{pools} is protected or used by others, or needed by what is."
        ),
    }
}

/// The resources that differ from the spec in what a plan does not change: its findings say in what.
pub(crate) fn left_different(plan: &Plan) -> BTreeSet<&str> {
    let codes = [Code::ChangeRefused.as_str(), Code::CannotChange.as_str()];
    let findings = plan.diagnostics.iter();
    findings
        .filter(|finding| codes.contains(&finding.code.as_str()))
        .filter_map(|finding| finding.at.as_ref()?.resource.as_deref())
        .collect()
}

fn no_changes(unchanged: usize, different: usize, complete: bool) -> String {
    let limits = if complete {
        ""
    } else {
        ", as far as it could be read"
    };
    if different > 0 {
        let differ = if different == 1 { "differs" } else { "differ" };
        return format!(
            "No changes, but {} of {} {differ} in what is not changed{limits}: the findings say in what.",
            words::count(different),
            words::counted(unchanged, "resource", "resources"),
        );
    }
    match unchanged {
        0 => format!("No changes. Nothing exists and nothing is wanted{limits}."),
        1 => format!("No changes. The one resource is as the spec says{limits}."),
        many => format!(
            "No changes. All {} resources are as the spec says{limits}.",
            words::count(many)
        ),
    }
}
