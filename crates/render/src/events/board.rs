//! Progress on a terminal: a line for each resource under way.
//!
//! The board is fed with events and asked for lines; when to draw, and how to take the last
//! drawing back, is for the caller.

use std::collections::BTreeMap;

use model::{
    address::Address,
    plan::{Action, Ending, Event},
};

use super::{verbs, waited_for};
use crate::{
    line::Line,
    plan::ink,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// What is under way, and how far the run is.
#[derive(Clone, Debug, Default)]
pub struct Board {
    stack: String,
    started: Option<f64>,
    changes: usize,
    done: usize,
    failed: usize,
    unknown: usize,
    not_started: usize,
    interrupted: bool,
    under_way: BTreeMap<Address, UnderWay>,
}

#[derive(Clone, Debug)]
struct UnderWay {
    action: Action,
    since: f64,
    waits_for: String,
}

impl Board {
    /// Before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes an event that happened at `now` seconds.
    pub fn feed(&mut self, event: &Event, now: f64) {
        match event {
            Event::RunStarted {
                stack,
                nonce: _,
                changes,
            } => {
                *self = Self {
                    stack: stack.clone(),
                    started: Some(now),
                    changes: *changes,
                    ..Self::default()
                };
            }
            Event::StepStarted { address, action } => {
                let step = UnderWay {
                    action: *action,
                    since: now,
                    waits_for: "its first request".to_owned(),
                };
                self.under_way.insert(address.clone(), step);
            }
            Event::Write {
                address, method, ..
            } => self.wait(address, format!("the answer to {method}")),
            Event::Accepted {
                address, status, ..
            } => {
                self.wait(address, format!("Azure (accepted, {status})"));
            }
            Event::Waiting { address, state, .. } => self.wait(address, waited_for(state)),
            Event::StepFinished {
                address, ending, ..
            } => {
                self.under_way.remove(address);
                match ending {
                    Ending::Done => self.done += 1,
                    Ending::Failed(failure) if failure.unknown => self.unknown += 1,
                    Ending::Failed(_) => self.failed += 1,
                    Ending::Skipped { .. } | Ending::NotStarted => self.not_started += 1,
                }
            }
            Event::Moved { .. } | Event::Paused { .. } => {}
            Event::Interrupted => self.interrupted = true,
            Event::RunFinished { .. } => self.under_way.clear(),
        }
    }

    fn wait(&mut self, address: &Address, waits_for: String) {
        if let Some(step) = self.under_way.get_mut(address) {
            step.waits_for = waits_for;
        }
    }

    /// The lines at `now` seconds, at most `height` of them: how far the run is, then what is
    /// under way, the longest first, then how much more is.
    pub fn lines(&self, now: f64, style: Style, height: usize) -> Vec<String> {
        let mut lines = vec![self.head(now).cut(style.columns())];
        let room = height.saturating_sub(1);
        let all = self.under_way.len();
        let shown = if all <= room {
            all
        } else {
            room.saturating_sub(1)
        };
        lines.extend(self.table(now, shown).lines(style));
        if all > shown {
            let more = format!("  … and {} more under way", words::count(all - shown));
            lines.push(Line::inked(Ink::Faint, more));
        }
        lines.truncate(height);
        lines.iter().map(|line| line.draw(style)).collect()
    }

    fn head(&self, now: f64) -> Line {
        let mut line = Line::inked(Ink::Strong, &self.stack);
        if self.interrupted {
            line.push(Ink::Caution, ", interrupted");
        }
        let (done, changes) = (words::count(self.done), words::count(self.changes));
        line.push(Ink::Plain, format!(": {done} of {changes} done"));
        if self.failed > 0 {
            line.push(Ink::Plain, ", ");
            line.push(Ink::Bad, format!("{} failed", words::count(self.failed)));
        }
        if self.unknown > 0 {
            line.push(Ink::Plain, ", ");
            let unknown = words::count(self.unknown);
            line.push(Ink::Caution, format!("{unknown} with an unknown end"));
        }
        if self.not_started > 0 {
            line.push(Ink::Plain, ", ");
            line.push(
                Ink::Caution,
                format!("{} not started", words::count(self.not_started)),
            );
        }
        line.push(
            Ink::Plain,
            format!(", {} under way", words::count(self.under_way.len())),
        );
        if let Some(started) = self.started {
            line.push(Ink::Faint, format!(", {}", words::seconds(now - started)));
        }
        line
    }

    fn table(&self, now: f64, shown: usize) -> Table {
        let columns = [
            Column::left("", Fit::Keep),
            Column::left("", Fit::Keep),
            Column::right(""),
            Column::left("", Fit::Cut),
            Column::left("", Fit::Cut),
        ];
        let mut table = Table::new(columns, 2);
        let mut steps: Vec<(&Address, &UnderWay)> = self.under_way.iter().collect();
        steps.sort_by(|(_, one), (_, other)| one.since.total_cmp(&other.since));
        for (address, step) in steps.into_iter().take(shown) {
            table.row([
                Line::inked(ink(step.action), step.action.symbol()),
                Line::inked(Ink::Accent, address.to_string()),
                Line::of(words::seconds(now - step.since)),
                Line::of(verbs::doing(step.action)),
                Line::inked(Ink::Faint, format!("waits for {}", step.waits_for)),
            ]);
        }
        table
    }
}
