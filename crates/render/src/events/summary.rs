//! What came of an apply, and what to do next.

use std::collections::BTreeMap;

use model::{
    address::Address,
    diag::{Code, Severity},
    live::Mode,
    plan::{Action, Ending, Failure, Outcome},
};

use super::verbs;
use crate::{
    diagnostics,
    line::Line,
    paper::Paper,
    plan::ink,
    ranges,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// Different failures that are told; like ones count as one.
const TOLD: usize = 10;

/// Addresses named in one line.
const NAMED: usize = 8;

/// The run that an outcome is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunFacts<'a> {
    /// The stack.
    pub stack: &'a str,
    /// The world it ran in.
    pub mode: Mode,
    /// How long it took.
    pub seconds: f64,
    /// Whether it was to delete everything.
    pub destroys: bool,
    /// Whether it was to delete what no spec wants, and nothing else.
    pub orphans: bool,
    /// Whether the result was read and is as planned.
    pub as_planned: bool,
    /// What of the stack was not to be deleted.
    pub left: Left,
}

/// What a destroy leaves of a stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Left {
    /// Nothing.
    #[default]
    Nothing,
    /// The resource group, because others have something in it.
    Group,
    /// What others use, and what that needs.
    Used,
    /// What is protected, and what that needs; how many are protected.
    Protected(usize),
}

impl Left {
    /// What the findings of a plan say.
    pub fn of(codes: impl Iterator<Item = String>) -> Self {
        codes.fold(Self::Nothing, |left, code| {
            let is = |known: Code| code == known.as_str();
            match left {
                Self::Protected(count) if is(Code::Protected) => Self::Protected(count + 1),
                _ if is(Code::Protected) => Self::Protected(1),
                Self::Nothing | Self::Group if is(Code::UsedByOthers) => Self::Used,
                Self::Nothing if is(Code::GroupKept) => Self::Group,
                Self::Nothing | Self::Group | Self::Used | Self::Protected(_) => left,
            }
        })
    }
}

/// What to do after an apply that wrote something and did not reach its goal.
pub const NEXT: &str = "run `tensorform plan` to see what is left, then `tensorform apply`: it goes on from what exists, and nothing has to be cleaned up by hand";

/// What to do after an apply that wrote nothing.
const AGAIN: &str = "put right what is said above, then run `tensorform apply` again";

/// The message about steps that failed, and those of which nobody knows how they ended.
pub fn failed_words(outcome: &Outcome) -> String {
    let steps = words::counted(outcome.steps.len(), "step", "steps");
    let unknown = outcome.unknown();
    let failed = words::count(outcome.failed() - unknown);
    let unknown = words::count(unknown);
    match (failed.as_str(), unknown.as_str()) {
        (_, "0") => format!("{failed} of {steps} failed"),
        ("0", _) => format!("how {unknown} of {steps} ended is unknown"),
        _ => format!("{failed} of {steps} failed, and how {unknown} ended is unknown"),
    }
}

/// What was done, what failed and why, what was not started, and what to do next.
pub fn summary(outcome: &Outcome, run: RunFacts<'_>, style: Style) -> String {
    let mut paper = Paper::new(style);
    done(&mut paper, outcome, style);
    let (certain, unknown) = (Ending::is_failure, Ending::is_unknown);
    not_done(&mut paper, "Failed", outcome, certain);
    not_done(&mut paper, "How it ended is unknown", outcome, unknown);
    not_started(&mut paper, outcome, style);
    paper.blank();
    let failed = outcome.failed();
    if failed > 0 {
        let place = place(run.mode);
        let words = failed_words(outcome);
        let sentence = if outcome.writes > 0 {
            format!(
                "{words}: something was written{place}, and {} is not as planned (exit code 3)",
                run.stack
            )
        } else {
            format!("{words}: nothing was written{place} (exit code 1)")
        };
        let code = Code::StepsFailed.as_str();
        diagnostics::title(&mut paper, Severity::Error, code, &sentence);
        diagnostics::help(&mut paper, if outcome.writes > 0 { NEXT } else { AGAIN });
        return paper.finish();
    }
    let (ink, sentence) = verdict(outcome, run);
    paper.hanging(&Line::default(), &Line::inked(ink, sentence));
    if !outcome.reached() {
        diagnostics::help(&mut paper, if outcome.writes > 0 { NEXT } else { AGAIN });
    }
    paper.finish()
}

fn done(paper: &mut Paper, outcome: &Outcome, style: Style) {
    let mut actions: BTreeMap<Action, Vec<&Address>> = BTreeMap::new();
    for (address, action, ending) in &outcome.steps {
        if *ending == Ending::Done {
            actions.entry(*action).or_default().push(address);
        }
    }
    let columns = [
        Column::left("", Fit::Keep),
        Column::right(""),
        Column::left("", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 2);
    for (action, addresses) in actions {
        let names = ranges::of(addresses.iter().copied());
        table.row([
            Line::inked(ink(action), verbs::done(action)),
            Line::of(words::count(addresses.len())),
            Line::of(words::listed(&names, NAMED)),
        ]);
    }
    if !table.is_empty() {
        paper.heading("Done");
        paper.lines(&table.lines(style));
    }
}

/// Failures with the same cause, in the order in which each first appears.
struct Cause<'a> {
    action: Action,
    failure: &'a Failure,
    addresses: Vec<&'a Address>,
}

impl Cause<'_> {
    fn is(&self, action: Action, failure: &Failure) -> bool {
        let cause = |failure: &Failure| {
            let Failure {
                code,
                message,
                kind,
                help,
                status,
                request_id: _,
                correlation_id: _,
                left_behind,
                made: _,
                unknown,
            } = failure.clone();
            (code, message, kind, help, status, left_behind, unknown)
        };
        self.action == action && cause(self.failure) == cause(failure)
    }
}

fn causes(outcome: &Outcome, is: fn(&Ending) -> bool) -> Vec<Cause<'_>> {
    let mut causes: Vec<Cause<'_>> = Vec::new();
    for (address, action, ending) in &outcome.steps {
        let Ending::Failed(failure) = ending else {
            continue;
        };
        if !is(ending) {
            continue;
        }
        match causes.iter_mut().find(|cause| cause.is(*action, failure)) {
            Some(cause) => cause.addresses.push(address),
            None => causes.push(Cause {
                action: *action,
                failure,
                addresses: vec![address],
            }),
        }
    }
    causes
}

fn not_done(paper: &mut Paper, heading: &str, outcome: &Outcome, is: fn(&Ending) -> bool) {
    let causes = causes(outcome, is);
    if causes.is_empty() {
        return;
    }
    paper.heading(heading);
    for (position, cause) in causes.iter().take(TOLD).enumerate() {
        if position > 0 {
            paper.blank();
        }
        tell(paper, cause);
    }
    if causes.len() > TOLD {
        paper.blank();
        let more = words::counted(causes.len() - TOLD, "other failure", "other failures");
        paper.paragraph(2, Ink::Faint, &format!("{more}: the journal has them all"));
    }
}

fn tell(paper: &mut Paper, cause: &Cause<'_>) {
    let Failure {
        code,
        message,
        kind,
        help,
        status,
        request_id,
        correlation_id,
        left_behind,
        made: _,
        unknown,
    } = cause.failure;
    let names = ranges::of(cause.addresses.iter().copied());
    let mut head = Line::inked(Ink::Accent, words::listed(&names, NAMED));
    if cause.addresses.len() > 1 {
        head.push(
            Ink::Plain,
            format!(" ({} resources)", words::count(cause.addresses.len())),
        );
    }
    head.push(Ink::Plain, format!(", to {}", verbs::to_do(cause.action)));
    paper.hanging(&Line::of("  "), &head);
    let mut facts: Vec<String> = Vec::new();
    if !kind.is_empty() {
        facts.push(kind.clone());
    }
    // An operation that was accepted and failed later has no status of its own.
    let refusals = status.filter(|status| *status >= 400);
    facts.extend(refusals.map(|status| format!("HTTP {status}")));
    let ink = if *unknown { Ink::Caution } else { Ink::Bad };
    let mut title = Line::inked(ink, code);
    if !facts.is_empty() {
        title.push(Ink::Plain, format!(" ({})", facts.join(", ")));
    }
    paper.hanging(&Line::of("    "), &title);
    paper.paragraph(4, Ink::Plain, message);
    for (name, id) in [("request", request_id), ("correlation", correlation_id)] {
        if let Some(id) = id {
            let label = Line::inked(Ink::Faint, format!("    {name} id "));
            paper.hanging(&label, &Line::of(id));
        }
    }
    if cause.addresses.len() > 1 {
        let others = words::count(cause.addresses.len() - 1);
        paper.paragraph(
            4,
            Ink::Faint,
            &format!("ids of the {others} others: in the journal"),
        );
    }
    if *left_behind && !unknown {
        let sentence = "it exists although this failed; the next plan sees it and puts it right";
        paper.paragraph(4, Ink::Caution, sentence);
    }
    for line in help.iter().flat_map(|help| help.lines()) {
        paper.hanging(&Line::inked(Ink::Accent, "    help: "), &Line::of(line));
    }
}

fn not_started(paper: &mut Paper, outcome: &Outcome, style: Style) {
    let mut reasons: Vec<(Option<&Address>, Vec<&Address>)> = Vec::new();
    for (address, _, ending) in &outcome.steps {
        let because = match ending {
            Ending::Skipped { because } => Some(because),
            Ending::NotStarted => None,
            Ending::Done | Ending::Failed(_) => continue,
        };
        match reasons.iter_mut().find(|(known, _)| *known == because) {
            Some((_, addresses)) => addresses.push(address),
            None => reasons.push((because, vec![address])),
        }
    }
    if reasons.is_empty() {
        return;
    }
    let mut table = Table::new([Column::right(""), Column::left("", Fit::Wrap)], 2);
    for (because, addresses) in reasons.iter().take(TOLD) {
        let names = ranges::of(addresses.iter().copied());
        let why = match because {
            Some(because) if is_unknown(outcome, because) => {
                format!("  # because how {because} ended is unknown")
            }
            Some(because) => format!("  # because {because} failed"),
            None => "  # because the run was interrupted".to_owned(),
        };
        table.row([
            Line::of(words::count(addresses.len())),
            Line::of(words::listed(&names, NAMED)).then(Ink::Faint, why),
        ]);
    }
    paper.heading("Not started");
    paper.lines(&table.lines(style));
    if reasons.len() > TOLD {
        let rest: usize = reasons
            .iter()
            .skip(TOLD)
            .map(|(_, addresses)| addresses.len())
            .sum();
        paper.paragraph(2, Ink::Faint, &format!("and {} more", words::count(rest)));
    }
}

fn is_unknown(outcome: &Outcome, step: &Address) -> bool {
    let mut steps = outcome.steps.iter();
    steps.any(|(address, _, ending)| address == step && ending.is_unknown())
}

/// Where a run wrote.
fn place(mode: Mode) -> &'static str {
    match mode {
        Mode::Sandbox => " in the sandbox (nothing reached Azure)",
        Mode::Azure => "",
        Mode::Offline => " offline",
    }
}

/// How a run ended in which no step failed.
fn verdict(outcome: &Outcome, run: RunFacts<'_>) -> (Ink, String) {
    let place = place(run.mode);
    let time = words::seconds(run.seconds);
    let stack = run.stack;
    if outcome.reached() {
        let changes = words::counted(outcome.steps.len(), "change", "changes");
        if !run.as_planned {
            let sentence = format!(
                "Every step is done{place}, {changes} in {time}, but {stack} is not known to be as planned (exit code 3)."
            );
            return (Ink::Bad, sentence);
        }
        if run.orphans {
            let sentence = match run.left {
                Left::Protected(_) | Left::Used => {
                    "only orphans that are protected or used by others are left"
                }
                Left::Nothing | Left::Group => "no orphan is left",
            };
            let sentence = format!("Deleted: {sentence} of {stack}{place}; {changes} in {time}.");
            return (Ink::Good, sentence);
        }
        let sentence = match (outcome.steps.len(), run.destroys, run.left) {
            (0, _, _) => format!("Nothing to do: {stack} is as planned{place}."),
            (_, true, Left::Nothing) => {
                format!("Destroyed: nothing of {stack} is left{place}; {changes} in {time}.")
            }
            (_, true, Left::Group) => format!(
                "Destroyed: only the resource group of {stack} is left{place}; {changes} in {time} (exit code 4)."
            ),
            (_, true, Left::Used) => format!(
                "Destroyed in part: what others use, and what that needs, is left of {stack}{place}; {changes} in {time} (exit code 4)."
            ),
            (_, true, Left::Protected(count)) => format!(
                "Destroyed in part, kept {}: only what is protected, and what that needs, is left of {stack}{place}; {changes} in {time} (exit code 4).",
                words::count(count)
            ),
            (_, false, _) => {
                format!("Applied: {stack} is as planned{place}; {changes} in {time}.")
            }
        };
        return (Ink::Good, sentence);
    }
    let sentence = if outcome.writes > 0 {
        format!("Interrupted after {time}: {stack} is as far as listed above{place}.")
    } else {
        format!("Interrupted after {time}: nothing was written{place}.")
    };
    (Ink::Caution, sentence)
}
