//! Steps made by hand against a small world, at the wire.

mod world;

mod capacity;
mod change;
mod create;
mod holders;
mod run;
mod terms;

use model::plan::{Ending, Failure, Outcome};

fn failure(outcome: &Outcome) -> Failure {
    let failed = outcome
        .steps
        .iter()
        .find_map(|(_, _, ending)| match ending {
            Ending::Failed(failure) => Some(failure.clone()),
            Ending::Done | Ending::Skipped { .. } | Ending::NotStarted => None,
        });
    failed.unwrap_or_else(|| panic!("no failure in {outcome:?}"))
}

fn endings(outcome: &Outcome) -> Vec<&'static str> {
    let word = |ending: &Ending| match ending {
        Ending::Done => "done",
        Ending::Failed(_) => "failed",
        Ending::Skipped { .. } => "skipped",
        Ending::NotStarted => "not started",
    };
    outcome
        .steps
        .iter()
        .map(|(_, _, ending)| word(ending))
        .collect()
}
