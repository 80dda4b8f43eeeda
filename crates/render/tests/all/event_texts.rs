//! Events as lines, as a board, as JSON, and the summary.

use std::collections::BTreeMap;

use model::{
    address::Address,
    diag::{DiagnosticDocument, Severity},
    live::Mode,
    plan::{Action, Ending, Event, Failure, Outcome},
    units::Timestamp,
};
use tensorform_render::{
    Style,
    events::{self, Board, RunFacts, summary::Left},
};

use crate::{build::address, golden, plans};

const PLAIN: Style = Style::plain(100);

fn failure() -> Failure {
    Failure {
        code: "AllocationFailed".to_owned(),
        message: "Allocation failed. We do not have sufficient capacity for the requested VM size in this region.\r\nRead more about improving likelihood of allocation success.".to_owned(),
        kind: "capacity".to_owned(),
        help: Some("list another size under `fallback`, or another region under `location`\nset `capacity.wait` to keep trying".to_owned()),
        status: Some(409),
        request_id: Some("0a1b2c3d-0000-4444-8888-aaaaaaaaaaaa".to_owned()),
        correlation_id: Some("9f8e7d6c-0000-4444-8888-bbbbbbbbbbbb".to_owned()),
        left_behind: true,
        made: None,
        unknown: false,
    }
}

fn started(address: Address, action: Action) -> Event {
    Event::StepStarted { address, action }
}

fn write(address: Address, method: &str) -> Event {
    Event::Write {
        address,
        method: method.to_owned(),
        target: "/subscriptions/s".to_owned(),
        client_request_id: "c".to_owned(),
    }
}

fn waiting(address: Address, state: &str, seconds: f64) -> Event {
    Event::Waiting {
        address,
        state: state.to_owned(),
        seconds,
    }
}

fn ended(address: Address, action: Action, ending: Ending, seconds: f64) -> Event {
    Event::StepFinished {
        address,
        action,
        ending,
        seconds,
    }
}

/// A run with every event: one node fails, one is skipped, one is replaced, one never starts.
fn run() -> Vec<(f64, Event)> {
    let vnet = || address("network.vnet");
    let vm = |node| Address::vm("train", node);
    let begin = Event::RunStarted {
        stack: "llama".to_owned(),
        nonce: "4f2a9c1e".to_owned(),
        changes: 5,
    };
    let accepted = Event::Accepted {
        address: vnet(),
        status: 201,
        request_id: Some("r".to_owned()),
    };
    let end = Event::RunFinished {
        done: 2,
        failed: 1,
        unknown: 0,
        not_started: 2,
    };
    let failed = Ending::Failed(failure());
    let skipped = Ending::Skipped { because: vm(0) };
    vec![
        (0.0, begin),
        (0.2, started(vnet(), Action::Create)),
        (0.3, write(vnet(), "PUT")),
        (1.0, accepted),
        (4.5, ended(vnet(), Action::Create, Ending::Done, 4.3)),
        (4.6, started(vm(0), Action::Create)),
        (4.7, started(vm(1), Action::Replace)),
        (5.0, write(vm(1), "DELETE")),
        (65.0, waiting(vm(0), "Creating", 60.4)),
        (66.0, waiting(vm(1), "", 61.3)),
        (192.0, ended(vm(0), Action::Create, failed, 187.4)),
        (192.0, ended(vm(2), Action::Create, skipped, 0.0)),
        (200.0, Event::Interrupted),
        (200.0, ended(vm(3), Action::Delete, Ending::NotStarted, 0.0)),
        (
            3_800.0,
            ended(vm(1), Action::Replace, Ending::Done, 3_795.0),
        ),
        (3_800.0, end),
    ]
}

#[test]
fn plain_lines_tell_the_run() {
    let lines: Vec<String> = run()
        .iter()
        .filter_map(|(elapsed, event)| events::line(event, *elapsed, PLAIN))
        .collect();
    golden::check("events_lines", &format!("{}\n", lines.join("\n")));
}

#[test]
fn json_lines_are_one_document_each_and_begin_with_their_version() {
    let mut text = String::new();
    for (position, (elapsed, event)) in run().iter().enumerate() {
        let second = if *elapsed < 1.0 { 0 } else { 60 };
        let line = events::json_line(event, Timestamp::from_unix(1_796_040_000 + second));
        let (line, rest) = line.split_once('\n').expect("a line feed");
        assert_eq!(rest, "", "one line");
        let document: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(document["format_version"].is_string(), position == 0);
        let mut members = document.clone();
        let members = members.as_object_mut().expect("an object");
        members.remove("time");
        members.remove("format_version");
        let read: Event = serde_json::from_value(members.clone().into()).expect("an event");
        assert_eq!(&read, event, "the event reads back");
        text.push_str(line);
        text.push('\n');
    }
    golden::check("events_json", &text);
}

#[test]
fn the_board_shows_what_is_under_way() {
    let mut board = Board::new();
    let mut text = String::new();
    for (now, event) in run() {
        board.feed(&event, now);
        text.push_str(&board.lines(now, Style::plain(80), 10).join("\n"));
        text.push_str("\n\n");
    }
    golden::check("events_board", &format!("{}\n", text.trim_end()));
}

#[test]
fn the_board_keeps_to_its_height_and_counts_the_rest() {
    let mut board = Board::new();
    for node in 0..1_000 {
        let event = Event::StepStarted {
            address: Address::vm("train", node),
            action: Action::Create,
        };
        board.feed(&event, f64::from(node));
    }
    let lines = board.lines(2_000.0, PLAIN, 5);
    assert_eq!(lines.len(), 5);
    assert!(
        lines[1].contains("pool.train[0].vm"),
        "the longest first: {lines:?}"
    );
    assert_eq!(lines[4], "  … and 997 more under way");
    for height in 0..12 {
        assert!(board.lines(2_000.0, PLAIN, height).len() <= height);
    }
    let mut few = Board::new();
    few.feed(
        &Event::StepStarted {
            address: Address::vm("train", 0),
            action: Action::Create,
        },
        0.0,
    );
    assert_eq!(
        few.lines(1.0, PLAIN, 2).len(),
        2,
        "what fits needs no line for the rest"
    );
}

fn outcome(steps: Vec<(Address, Action, Ending)>, writes: u64, interrupted: bool) -> Outcome {
    Outcome {
        steps,
        writes,
        interrupted,
        taken: BTreeMap::new(),
    }
}

fn partly() -> Vec<(Address, Action, Ending)> {
    let mut steps = vec![
        (address("network.vnet"), Action::Create, Ending::Done),
        (address("network.nsg"), Action::Update, Ending::Done),
    ];
    for node in 0..12 {
        let ending = match node {
            0..4 => Ending::Done,
            4..7 => Ending::Failed(failure()),
            _ => Ending::Skipped {
                because: Address::vm("train", 4),
            },
        };
        steps.push((Address::vm("train", node), Action::Create, ending));
    }
    let refused = Failure {
        code: "AuthorizationFailed".to_owned(),
        message: "the client has no permission to delete".to_owned(),
        ..Failure::default()
    };
    steps.push((
        address("pool.old[0].vm"),
        Action::Delete,
        Ending::Failed(refused),
    ));
    steps
}

/// A node whose creation was accepted and never heard of again, and one that waits for it; and
/// perhaps one that failed.
fn unknown(and_failed: bool) -> Vec<(Address, Action, Ending)> {
    let lost = Failure {
        code: "Unanswered".to_owned(),
        message: "PUT of the VM was accepted, and asking about it was not answered".to_owned(),
        kind: "network".to_owned(),
        help: Some("run `tensorform plan`".to_owned()),
        unknown: true,
        ..Failure::default()
    };
    let because = Address::vm("train", 0);
    let mut steps = vec![
        (because.clone(), Action::Create, Ending::Failed(lost)),
        (
            Address::vm("train", 1),
            Action::Create,
            Ending::Skipped { because },
        ),
    ];
    if and_failed {
        let failed = Ending::Failed(failure());
        steps.push((Address::vm("train", 2), Action::Create, failed));
    }
    steps
}

fn all() -> Vec<(&'static str, Outcome, Mode)> {
    let reached = vec![
        (Address::vm("train", 0), Action::Create, Ending::Done),
        (Address::vm("train", 1), Action::Create, Ending::Done),
        (address("pool.old[0].vm"), Action::Delete, Ending::Done),
    ];
    let nothing_made = Failure {
        left_behind: false,
        made: None,
        ..failure()
    };
    let refused = vec![(
        Address::vm("train", 0),
        Action::Create,
        Ending::Failed(nothing_made),
    )];
    let interrupted = vec![
        (Address::vm("train", 0), Action::Create, Ending::Done),
        (Address::vm("train", 1), Action::Create, Ending::NotStarted),
    ];
    vec![
        ("reached", outcome(reached.clone(), 3, false), Mode::Azure),
        ("reached_sandbox", outcome(reached, 3, true), Mode::Sandbox),
        ("nothing", outcome(vec![], 0, false), Mode::Azure),
        ("partly", outcome(partly(), 9, false), Mode::Azure),
        ("partly_sandbox", outcome(partly(), 9, false), Mode::Sandbox),
        ("refused", outcome(refused, 0, false), Mode::Azure),
        ("interrupted", outcome(interrupted, 1, true), Mode::Azure),
        ("unknown", outcome(unknown(true), 9, false), Mode::Azure),
        (
            "unknown_alone",
            outcome(unknown(false), 9, false),
            Mode::Azure,
        ),
    ]
}

fn summary(outcome: &Outcome, mode: Mode, style: Style) -> String {
    let run = RunFacts {
        stack: "llama",
        mode,
        seconds: 192.3,
        destroys: false,
        orphans: false,
        as_planned: true,
        left: Left::Nothing,
    };
    events::summary(outcome, run, style)
}

#[test]
fn summaries_read_as_in_the_goldens() {
    for (name, outcome, mode) in all() {
        golden::check(&format!("summary_{name}"), &summary(&outcome, mode, PLAIN));
    }
}

#[test]
fn what_was_destroyed_and_what_was_kept_is_said() {
    let (_, outcome, mode) = all().swap_remove(0);
    let cases = [
        ("destroyed", Left::Nothing),
        ("destroyed_group", Left::Group),
        ("destroyed_used", Left::Used),
        ("destroyed_kept", Left::Protected(2)),
    ];
    for (name, left) in cases {
        let run = RunFacts {
            stack: "llama",
            mode,
            seconds: 192.3,
            destroys: true,
            orphans: false,
            as_planned: true,
            left,
        };
        golden::check(
            &format!("summary_{name}"),
            &events::summary(&outcome, run, PLAIN),
        );
    }
}

#[test]
fn a_result_that_is_not_as_planned_is_not_called_so() {
    let (_, outcome, mode) = all().swap_remove(0);
    let run = RunFacts {
        stack: "llama",
        mode,
        seconds: 192.3,
        destroys: false,
        orphans: false,
        as_planned: false,
        left: Left::Nothing,
    };
    let text = events::summary(&outcome, run, PLAIN);
    golden::check("summary_not_as_planned", &text);
}

#[test]
fn exit_three_is_named_exactly_when_something_was_written_and_the_goal_was_missed() {
    for (name, outcome, mode) in all() {
        let text = summary(&outcome, mode, PLAIN);
        let missed = !outcome.reached() && !outcome.interrupted && outcome.writes > 0;
        assert_eq!(text.contains("exit code 3"), missed, "{name}");
        assert_eq!(text.contains("sandbox"), mode == Mode::Sandbox, "{name}");
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    let colored = Style {
        color: true,
        width: 100,
    };
    for (name, outcome, mode) in all() {
        let text = summary(&outcome, mode, colored);
        golden::check_blanks(name, &text);
        assert_eq!(
            golden::without_colours(&text),
            summary(&outcome, mode, PLAIN),
            "{name}"
        );
    }
    for (elapsed, event) in run() {
        let plain = events::line(&event, elapsed, PLAIN);
        let text = events::line(&event, elapsed, colored);
        assert_eq!(text.as_deref().map(golden::without_colours), plain);
    }
}

#[test]
fn the_outcome_is_one_document() {
    let mut plan = plans::every_action();
    plan.digest = "sha256:02".to_owned();
    let outcome = outcome(partly(), 9, false);
    let found = DiagnosticDocument {
        code: "APPLY002".to_owned(),
        severity: Severity::Error,
        message: "4 of 15 steps failed".to_owned(),
        at: None,
        help: None,
    };
    let text = events::outcome_json(&outcome, &plan, &[found], 3, "0.1.0");
    golden::check("outcome_json", &text);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let counts = &document["counts"];
    let sum: u64 = ["done", "failed", "not_started"]
        .iter()
        .filter_map(|name| counts[*name].as_u64())
        .sum();
    assert_eq!(sum, 15, "every step is counted once");
    let findings = document["diagnostics"].as_array().expect("findings");
    assert_eq!(findings.len(), plan.diagnostics.len() + 1);
    assert_eq!(document["steps"].as_array().map(Vec::len), Some(15));
}
