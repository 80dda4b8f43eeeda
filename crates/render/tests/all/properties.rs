//! What holds for any input: nothing panics, tables keep to the width, no line ends with
//! blanks, and colour adds nothing but colour.

use std::ops::Range;

use model::{
    address::Address,
    diag::{At, Code, Diagnostic},
    live::Mode,
    plan::{Action, Ending, Event, Failure, Outcome, Plan},
    units::Timestamp,
};
use proptest::prelude::*;
use tensorform_render::{
    Style,
    diagnostics::{self, SourceText},
    events::{self, Board, RunFacts},
    line::{self, Line},
    page, plan,
    style::Ink,
    table::{Align, Column, Fit, Table},
};

use crate::{
    build::{self, StepExt as _},
    golden, plans,
};

/// Text of every script, with what terminals would obey.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,12}",
        "[a-z ]{0,30}",
        "[가-힣一-龥]{0,8}",
        any::<String>(),
        Just("\u{1b}[31m".to_owned()),
        Just("e\u{301}\u{200d}❤\u{fe0f}👩\u{200d}🚀".to_owned()),
        Just("\r\n\t\u{0}\u{9b}\u{202e}".to_owned()),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat())
}

fn style() -> impl Strategy<Value = Style> {
    (any::<bool>(), 0..300_usize).prop_map(|(color, width)| Style { color, width })
}

fn column() -> impl Strategy<Value = Column> {
    let align = prop_oneof![Just(Align::Left), Just(Align::Right), Just(Align::Decimal)];
    let fit = prop_oneof![
        Just(Fit::Keep),
        Just(Fit::Cut),
        Just(Fit::Wrap),
        Just(Fit::Spare)
    ];
    let title = prop_oneof![Just(""), Just("Title"), Just("제목")];
    (title, align, fit).prop_map(|(title, align, fit)| Column { title, align, fit })
}

/// What holds for a text, and for the same text without colour.
fn check(what: &str, draw: impl Fn(Style) -> String, style: Style) {
    let plain = draw(Style {
        color: false,
        ..style
    });
    let colored = draw(Style {
        color: true,
        ..style
    });
    golden::check_blanks(what, &plain);
    golden::check_blanks(what, &colored);
    assert!(
        !plain.contains('\u{1b}'),
        "{what}: nothing but our own colours"
    );
    assert_eq!(golden::without_colours(&colored), plain, "{what}");
    assert_eq!(draw(style), draw(style), "{what}: the same bytes again");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 128,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn lines_are_cut_and_broken_to_the_width(texts in prop::collection::vec(text(), 0..4), most in 0..80_usize) {
        let inks = [Ink::Plain, Ink::Strong, Ink::Bad];
        let line = texts.iter().zip(inks).fold(Line::default(), |line, (text, ink)| line.then(ink, text));
        prop_assert!(line.cut(most).width() <= most);
        if most > 1 {
            for part in line.wrap_hard(most) {
                prop_assert!(part.width() <= most, "{:?}", part.text());
            }
        }
        let without_blanks = |text: &str| text.replace(' ', "");
        let broken: String = line.wrap(most).iter().map(Line::text).collect();
        prop_assert_eq!(without_blanks(&broken), without_blanks(&line.text()), "breaking loses nothing");
    }

    #[test]
    fn tables_keep_to_the_width(
        columns in prop::collection::vec(column(), 0..7),
        rows in prop::collection::vec(prop::collection::vec(text(), 0..8), 0..6),
        indent in 0..10_usize,
        style in style(),
    ) {
        let mut table = Table::new(columns, indent);
        for row in &rows {
            table.row(row.iter().map(Line::of).collect::<Vec<_>>());
        }
        let draw = |style: Style| {
            let lines: Vec<String> = table.lines(style).iter().map(|line| line.draw(style)).collect();
            lines.join("\n")
        };
        check("table", draw, style);
        for drawn in draw(Style { color: false, ..style }).lines() {
            prop_assert!(line::width(drawn) <= style.width.max(20), "{drawn:?}");
        }
    }

    #[test]
    fn findings_never_panic(
        spec in text(),
        message in text(),
        help in text(),
        places in prop::collection::vec((0..90_usize, 0..90_usize), 1..4),
        style in style(),
    ) {
        let mut finding = Diagnostic::new(Code::SpecSyntax, At::Text { start: places[0].0, end: places[0].1 }, &message)
            .with_help(&help);
        for (start, end) in &places[1..] {
            finding = finding.with_related(At::Text { start: *start, end: *end }, &message);
        }
        let nowhere = Diagnostic::new(Code::QuotaShort, At::Named(help.clone()), &message).with_help(&help);
        let all = [finding, nowhere];
        let source = SourceText { file: &message, text: &spec };
        let resolve = |_: &At| -> Option<Range<usize>> { None };
        check("findings", |style| diagnostics::text(&all, &source, &resolve, style), style);
        for document in diagnostics::documents(&all, &source, &resolve) {
            let place = document.at.expect("a place");
            prop_assert!(place.line.is_none_or(|line| line <= spec.matches('\n').count() + 1));
        }
    }

    #[test]
    fn pages_never_panic(markdown in text(), more in "([-#*`\\[\\]()1. a\\n]{0,60})", style in style()) {
        check("page", |style| page::text(&format!("{markdown}{more}"), style), style);
    }

    #[test]
    fn events_never_panic(texts in prop::collection::vec(text(), 6), now in any::<f64>(), style in style()) {
        let address = Address::vm("train", 0);
        let [code, message, kind, help, id, stack] = <[String; 6]>::try_from(texts).expect("six");
        let failure = Failure { code, message, kind, help: Some(help), status: Some(409), request_id: Some(id.clone()), correlation_id: None, left_behind: true, made: None, unknown: false };
        let all = [
            Event::RunStarted { stack: stack.clone(), nonce: id.clone(), changes: 1 },
            Event::StepStarted { address: address.clone(), action: Action::Create },
            Event::Write { address: address.clone(), method: stack.clone(), target: id, client_request_id: String::new() },
            Event::Waiting { address: address.clone(), state: stack.clone(), seconds: now },
            Event::StepFinished { address: address.clone(), action: Action::Create, ending: Ending::Failed(failure.clone()), seconds: now },
        ];
        let mut board = Board::new();
        for event in &all {
            board.feed(event, now);
            check("line", |style| events::line(event, now, style).unwrap_or_default(), style);
            check("board", |style| board.lines(now, style, 5).join("\n"), style);
            prop_assert_eq!(events::json_line(event, Timestamp::from_unix(0)).matches('\n').count(), 1);
        }
        let outcome = Outcome { steps: vec![(address, Action::Create, Ending::Failed(failure))], writes: 1, ..Outcome::default() };
        let run = RunFacts { stack: &stack, mode: Mode::Sandbox, seconds: now, destroys: false, orphans: false, as_planned: false, left: events::summary::Left::Nothing };
        check("summary", |style| events::summary(&outcome, run, style), style);
    }

    #[test]
    fn plans_never_panic(texts in prop::collection::vec(text(), 6), number in any::<f64>(), style in style()) {
        let plan = odd_plan(&texts, number);
        check("plan", |style| plan::text(&plan, style), style);
        check("question", |style| plan::question(&plan, style), style);
        check("findings", |style| plan::findings(&plan, style), style);
    }
}

/// A plan with odd texts wherever there is text of others.
fn odd_plan(texts: &[String], number: f64) -> Plan {
    let mut plan = plans::every_action();
    let text = |place: usize| texts[place % texts.len()].clone();
    plan.stack = text(0);
    plan.spec.path = text(1);
    plan.scope.resource_group = text(2);
    plan.scope.cloud = text(3);
    plan.quota[0].name = text(4);
    for (place, line) in plan.cost.lines.iter_mut().enumerate() {
        line.address = text(place);
        line.item = text(place + 1);
        line.unit_hourly = Some(text(place + 2));
        line.flags = vec![text(place + 3)];
    }
    for pool in plan.pools.values_mut() {
        pool.why = texts.to_vec();
        pool.image.urn = text(5);
        pool.size = text(0).as_str().into();
        if let Some(throughput) = &mut pool.throughput {
            (throughput.mfu, throughput.seconds) = (number, Some(number));
        }
    }
    for finding in &mut plan.diagnostics {
        (finding.code, finding.message, finding.help) = (text(1), text(2), Some(text(3)));
    }
    let odd = build::step("access.ssh_key3", "key", Action::Update, build::ssh_key())
        .changes(
            &text(0),
            text(1).into(),
            texts.to_vec().into(),
            Action::Update,
        )
        .changes(
            &text(2),
            texts.to_vec().into(),
            vec![text(1)].into(),
            Action::Replace,
        )
        .or_else(&text(3));
    plan.steps.push(odd);
    plan
}
