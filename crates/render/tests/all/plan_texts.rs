//! Plans as texts and documents.

use std::collections::BTreeMap;

use model::{
    cost::{Amount, PoolRun, RunBasis},
    plan::{
        Alternative, AlternativeKind, AutoChoice, Explanation, Plan, PoolMemo, PoolPlan,
        PoolRefusal, QuotaLine, Verdict, read_plan,
    },
    units::{Micros, Region},
};
use tensorform_render::{Style, explain, line::width as display_width, plan};

use crate::{golden, plans};

const WIDTH: usize = 100;

fn all() -> [(&'static str, Plan); 6] {
    [
        ("first", plans::first()),
        ("every_action", plans::every_action()),
        ("thousand", plans::thousand()),
        ("unchanged", plans::unchanged()),
        ("destroyed", plans::destroyed()),
        ("offline", plans::offline()),
    ]
}

#[test]
fn the_plans_under_test_are_sound() {
    for (name, plan) in all() {
        assert_eq!(plan.breaches(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn plans_read_as_in_the_goldens() {
    for (name, plan) in all() {
        golden::check(
            &format!("plan_{name}"),
            &plan::text(&plan, Style::plain(WIDTH)),
        );
    }
}

#[test]
fn plans_stay_readable_on_a_narrow_terminal() {
    golden::check(
        "plan_every_action_60",
        &plan::text(&plans::every_action(), Style::plain(60)),
    );
}

#[test]
fn changes_quota_and_cost_keep_to_the_width_and_lose_nothing() {
    let plan = plans::every_action();
    for width in 40..140 {
        let text = plan::text(&plan, Style::plain(width));
        let (_, tables) = text.split_once("Changes").expect("changes");
        let (tables, _) = tables.split_once("\nPlan: ").expect("a summary");
        for line in tables.lines() {
            assert!(display_width(line) <= width, "at {width}: {line:?}");
        }
        let (changes, _) = tables.split_once("Quota").expect("quota");
        assert!(!changes.contains('…'), "cut at {width}: {changes}");
    }
}

#[test]
fn questions_name_what_is_lost_and_paid_for() {
    for (name, plan) in all() {
        let style = Style::plain(WIDTH);
        let (whole, rest) = (
            plan::text(&plan, style),
            plan::without_consequences(&plan, style),
        );
        let consequences = whole.strip_prefix(&rest).expect("the end of the text");
        if plan.has_changes {
            assert!(
                plan::question(&plan, style).starts_with(consequences.trim_start_matches('\n')),
                "{name}: what the text leaves out stands in the question"
            );
        }
        golden::check(
            &format!("question_{name}"),
            &plan::question(&plan, Style::plain(WIDTH)),
        );
    }
}

#[test]
fn explanations_hide_no_candidate() {
    let plan = plans::first();
    let pool = &plan.pools["train"];
    let explanation = Explanation {
        location: Some(Region::new("eastus")),
        pools: BTreeMap::from([("train".to_owned(), pool.clone())]),
        refused: BTreeMap::new(),
    };
    let memos = BTreeMap::from([("train".to_owned(), memo(&plan))]);
    let text = explain::text(&explanation, &memos, Style::plain(WIDTH));
    let without_blanks = |text: &str| text.replace([' ', '\n'], "");
    let found = without_blanks(&text);
    for candidate in &pool.candidates {
        assert!(text.contains(candidate.size.as_str()), "{}", candidate.size);
        for reason in &candidate.reasons {
            assert!(
                found.contains(&without_blanks(&reason.message)),
                "{}",
                reason.message
            );
        }
    }
    golden::check("explain", &text);
    let document: serde_json::Value =
        serde_json::from_str(&explain::json(&explanation, &memos, &[])).expect("JSON");
    let read: PoolPlan =
        serde_json::from_value(document["pools"]["train"].clone()).expect("a pool");
    assert_eq!(&read, pool);
    let memo = &document["memos"]["train"];
    assert_eq!(memo["alternatives"][0]["kind"], "spot");
    assert_eq!(memo["quota"][0]["needed"], 96);
}

fn choice() -> AutoChoice {
    AutoChoice {
        key: "security".to_owned(),
        value: "standard".to_owned(),
        code: "security_size_lacks".to_owned(),
        why: "the size does not support Trusted Launch".to_owned(),
    }
}

/// A memo with something of everything: known and unknown, with a run and without.
fn memo(plan: &Plan) -> PoolMemo {
    let amount = |hourly: i64, complete: bool| Amount {
        hourly_micros: Micros(hourly),
        monthly_micros: Micros(hourly * 730),
        complete,
    };
    let run = PoolRun {
        basis: RunBasis::Throughput,
        seconds: 90_000,
        micros: Micros(2_458_000_000),
        complete: true,
        million_tokens_micros: Some(Micros(1_230_000)),
    };
    let quota = |name: &str, known: Option<i64>| QuotaLine {
        name: name.to_owned(),
        location: plan.scope.location.clone(),
        limit: known,
        used: known.map(|limit| limit / 2),
        needed: 96,
        after: known.map(|limit| limit / 2 + 96),
        ok: known.map(|limit| limit / 2 + 96 <= limit),
    };
    let alternative = |kind, what: &str, count, total, run| Alternative {
        kind,
        what: what.to_owned(),
        count,
        total,
        run,
    };
    let spot = "spot capacity, which Azure may take back at any time";
    PoolMemo {
        requirement: "training of a generative model, 7B parameters, bf16".to_owned(),
        total: amount(98_320_000, true),
        run: Some(run),
        price: Some("98.32 USD/h (Linux, on demand, 2026-08-01, a source)".to_owned()),
        choices: vec![choice()],
        quota: vec![
            quota("one", Some(100)),
            quota("two", Some(1_000)),
            quota("three", None),
        ],
        alternatives: vec![
            alternative(
                AlternativeKind::Spot,
                spot,
                1,
                amount(18_000_000, true),
                Some(run),
            ),
            alternative(
                AlternativeKind::Size,
                "Standard_X",
                3,
                amount(99_000_000, false),
                None,
            ),
        ],
    }
}

#[test]
fn a_pool_for_which_nothing_fits_shows_its_candidates() {
    let plan = plans::first();
    let pool = &plan.pools["train"];
    let rejected = pool
        .candidates
        .iter()
        .filter(|candidate| candidate.verdict == Verdict::Rejected);
    let refusal = PoolRefusal {
        needs: "GPU sizes, ND preferred, else NC connected by Ethernet".to_owned(),
        rules: vec!["A4".to_owned()],
        candidates: rejected.cloned().collect(),
    };
    let explanation = Explanation {
        location: Some(Region::new("eastus")),
        pools: BTreeMap::new(),
        refused: BTreeMap::from([("tune".to_owned(), refusal)]),
    };
    golden::check(
        "explain_refused",
        &explain::text(&explanation, &BTreeMap::new(), Style::plain(WIDTH)),
    );
    let document: serde_json::Value =
        serde_json::from_str(&explain::json(&explanation, &BTreeMap::new(), &[])).expect("JSON");
    let candidates = document["refused"]["tune"]["candidates"].as_array();
    assert_eq!(
        candidates.map(Vec::len),
        Some(explanation.refused["tune"].candidates.len())
    );
    assert!(
        document["pools"]
            .as_object()
            .is_some_and(serde_json::Map::is_empty)
    );
}

#[test]
fn findings_of_a_plan_need_no_spec() {
    golden::check(
        "plan_findings",
        &plan::findings(&plans::every_action(), Style::plain(WIDTH)),
    );
}

#[test]
fn the_document_reads_back_as_the_same_plan() {
    for (name, mut plan) in all() {
        plan.digest = plan.computed_digest();
        let text = plan::json(&plan);
        assert!(text.ends_with("}\n"), "{name}");
        assert_eq!(read_plan(&text).expect(name), plan, "{name}");
        assert_eq!(
            plan::json(&plan),
            text,
            "{name}: the same plan gives the same bytes"
        );
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    for (name, plan) in all() {
        let coloured = plan::text(
            &plan,
            Style {
                color: true,
                width: WIDTH,
            },
        );
        assert!(coloured.contains("\u{1b}["), "{name}");
        golden::check_blanks(name, &coloured);
        assert_eq!(
            golden::without_colours(&coloured),
            plan::text(&plan, Style::plain(WIDTH)),
            "{name}"
        );
    }
}

#[test]
fn the_legend_has_only_symbols_that_are_used() {
    let text = plan::text(&plans::thousand(), Style::plain(WIDTH));
    assert!(text.contains("+ create"));
    assert!(!text.contains("~ update"));
}
