//! What happens during an apply: plain lines, a board on a terminal, JSON lines, and the
//! summary at the end.

pub mod board;

pub mod heartbeats;

pub mod summary;

pub mod outcome;

mod verbs;

use model::{
    address::Address,
    plan::{Action, Ending, Event},
    units::Timestamp,
};
use serde_json::Value;

pub use self::{
    board::Board,
    heartbeats::Heartbeats,
    outcome::outcome_json,
    summary::{RunFacts, summary},
};
use crate::{
    line::Line,
    plan::ink,
    style::{Ink, Style},
    words,
};

/// The version of the JSON lines; the line of the run's beginning carries it.
pub const FORMAT_VERSION: &str = "1.0";

/// The line for an event, without a line feed, behind the seconds since the run began; none
/// for what only the journal keeps.
pub fn line(event: &Event, elapsed: f64, style: Style) -> Option<String> {
    let time = Line::inked(Ink::Faint, format!("{:>7}  ", words::seconds(elapsed)));
    let mut line = time;
    line.append(&event_line(event)?);
    Some(line.draw(style))
}

fn event_line(event: &Event) -> Option<Line> {
    let line = match event {
        Event::RunStarted {
            stack,
            nonce,
            changes,
        } => Line::inked(Ink::Strong, format!("applying {stack}"))
            .then(
                Ink::Plain,
                format!(": {}", words::counted(*changes, "change", "changes")),
            )
            .then(Ink::Faint, format!(", run {nonce}")),
        Event::StepStarted { address, action } => {
            about(address).then(Ink::Plain, verbs::doing(*action))
        }
        // The summary tells how a run ended.
        Event::Write { .. } | Event::Accepted { .. } | Event::RunFinished { .. } => return None,
        Event::Waiting {
            address,
            state,
            seconds,
        } => {
            let since = words::seconds(*seconds);
            about(address).then(
                Ink::Plain,
                format!("waiting for {} since {since}", waited_for(state)),
            )
        }
        Event::StepFinished {
            address,
            action,
            ending,
            seconds,
        } => {
            let mut line = about(address);
            line.append(&ending_line(*action, ending, *seconds));
            line
        }
        Event::Moved { pool, to, because } => Line::inked(
            Ink::Caution,
            format!("no capacity for pool {pool} ({because}): all of it is made with {to}"),
        ),
        Event::Paused {
            pool,
            seconds,
            because,
        } => {
            let pause = words::seconds(std::time::Duration::from_secs(*seconds).as_secs_f64());
            Line::inked(
                Ink::Caution,
                format!("no capacity for pool {pool} ({because}): tried again in {pause}"),
            )
        }
        Event::Interrupted => Line::inked(
            Ink::Caution,
            "interrupted: nothing new is started, what is under way is finished; interrupt again to leave at once",
        ),
    };
    Some(line)
}

fn about(address: &Address) -> Line {
    Line::inked(Ink::Accent, address.to_string()).then(Ink::Plain, ": ")
}

fn ending_line(action: Action, ending: &Ending, seconds: f64) -> Line {
    let seconds = words::seconds(seconds);
    match ending {
        Ending::Done => {
            Line::inked(ink(action), verbs::done(action)).then(Ink::Plain, format!(" in {seconds}"))
        }
        Ending::Failed(failure) if failure.unknown => {
            let words = format!("how it ended is unknown after {seconds}");
            let why = format!(": {}: {}", failure.code, failure.message);
            Line::inked(Ink::Caution, words).then(Ink::Plain, why)
        }
        Ending::Failed(failure) => Line::inked(Ink::Bad, format!("failed after {seconds}")).then(
            Ink::Plain,
            format!(": {}: {}", failure.code, failure.message),
        ),
        Ending::Skipped { because } => Line::inked(
            Ink::Caution,
            format!("not started, because {because} was not done"),
        ),
        Ending::NotStarted => {
            Line::inked(Ink::Caution, "not started, because the run was interrupted")
        }
    }
}

/// What Azure is busy with, in its own word.
fn waited_for(state: &str) -> String {
    if state.trim().is_empty() {
        "Azure".to_owned()
    } else {
        format!("Azure ({state})")
    }
}

/// An event as one line of JSON with its time, the line feed at its end included: a record
/// is whole or not there.
pub fn json_line(event: &Event, time: Timestamp) -> String {
    let mut document = serde_json::to_value(event).unwrap_or_default();
    if let Some(members) = document.as_object_mut() {
        members.insert("time".to_owned(), Value::from(time.to_string()));
        if matches!(event, Event::RunStarted { .. }) {
            members.insert("format_version".to_owned(), Value::from(FORMAT_VERSION));
        }
    }
    format!("{document}\n")
}
