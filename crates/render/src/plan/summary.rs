//! The sentence that sums up a plan.

use model::plan::{Action, Plan};

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
            no_changes(unchanged, plan.complete)
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

fn no_changes(unchanged: usize, complete: bool) -> String {
    let limits = if complete {
        ""
    } else {
        ", as far as it could be read"
    };
    match unchanged {
        0 => format!("No changes. Nothing exists and nothing is wanted{limits}."),
        1 => format!("No changes. The one resource is as the spec says{limits}."),
        many => format!(
            "No changes. All {} resources are as the spec says{limits}.",
            words::count(many)
        ),
    }
}
