//! What this version understands and refuses: every key and word of the tables that is marked
//! so, and that their defaults are fine.

use super::{
    check, check_help, findings,
    keys::{ways, with},
    pool, read, top,
};
use crate::spec::schema::kind::{Presence, Support};

/// Words that the product's description has and this version does not act on.
const LATER_WORDS: [(&str, &str); 3] = [
    ("identity", "system"),
    ("pools.aks.gpu_driver", "managed"),
    ("pools.containers.runtime", "enroot"),
];

fn refused(text: &str, beginning: &str) -> bool {
    findings(&read(text))
        .iter()
        .any(|finding| finding.starts_with("SPEC008") && finding.contains(beginning))
}

fn name(way: &[&crate::spec::schema::kind::Key]) -> String {
    let names: Vec<&str> = way.iter().map(|key| key.name).collect();
    names.join(".")
}

#[test]
fn keys_without_effect_are_refused() {
    let mut later = Vec::new();
    for way in ways() {
        let key = way.last().expect("not empty");
        if let Support::NotYet(reason) = key.support {
            later.push(name(&way));
            let value = match key.example {
                "false" => "true",
                "0h" => "1h",
                example => example,
            };
            let text = with(&way, value);
            let sentence = format!(
                "`{}` is not supported yet: this version {}",
                key.name, reason.lacks
            );
            assert!(refused(&text, &sentence), "{text}");
        }
    }
    // Every key has an effect by now.
    assert_eq!(later, Vec::<String>::new());
}

#[test]
fn words_without_effect_are_refused() {
    let mut later = Vec::new();
    for way in ways() {
        let key = way.last().expect("not empty");
        for word in key.kind.words {
            let sentence = format!("`{}: {}` is not supported yet: ", key.name, word.text);
            let text = with(&way, word.text);
            let wanted = matches!(word.support, Support::NotYet(_));
            assert_eq!(refused(&text, &sentence), wanted, "{text}");
            if wanted && key.name != "currency" {
                later.push((name(&way), word.text));
            }
        }
    }
    later.sort();
    let mut expected: Vec<(String, &str)> = LATER_WORDS
        .iter()
        .map(|(key, word)| ((*key).to_owned(), *word))
        .collect();
    expected.sort();
    assert_eq!(later, expected);
}

#[test]
fn defaults_are_fine_when_they_are_written() {
    for way in ways() {
        let key = way.last().expect("not empty");
        let Presence::Default(default) = key.presence else {
            continue;
        };
        let above_is_later = way
            .iter()
            .rev()
            .skip(1)
            .any(|key| matches!(key.support, Support::NotYet(_)));
        let text = with(&way, default);
        let own = format!("`{}", key.name);
        let found = findings(&read(&text));
        assert!(
            above_is_later || !found.iter().any(|finding| finding.contains(&own)),
            "{found:?}\n{text}"
        );
    }
    check(
        &pool(
            "capacity: {wait: 0s, on_partial: keep}\nfallback: []\ncapacity_reservation: null\ncontainers: {runtime: none, images: [], registry: ~}\nmounts: []",
        ),
        &[],
    );
    check(
        &top("access: {via: none, ssh_from: [], ssh_keys: generate}\nidentity: none"),
        &[],
    );
}

#[test]
fn values_are_held_against_their_form_even_where_they_are_refused() {
    check(
        &pool("deadline: soon\ncontainers: {registry: \"https://x\"}"),
        &[
            "SPEC006 8:15 `deadline` takes a span of time such as `90s`, `15m`, `72h` or `30d`, found `soon`",
            "SPEC006 9:28 `registry` takes the host of a registry such as `example.azurecr.io` or `null`, found `https://x`",
        ],
    );
}

#[test]
fn spot_for_training_needs_checkpoints() {
    for priority in [
        "spot",
        "{spot: {}}",
        "{spot: {max_price: 3, eviction: deallocate}}",
    ] {
        check(&pool(&format!("priority: {priority}")), &[]);
    }
    check_help(
        &pool("priority: spot").replace("inference", "training"),
        "SPEC009 8:15 `priority: spot` with `stage: training` needs `checkpoint`: Azure may take the nodes back at any time",
        &["add `checkpoint: {to: blob, hook: /…}`, or use `priority: regular`"],
    );
}

#[test]
fn a_part_may_be_enough_and_more_than_all_may_not() {
    check(&pool("count: 8\ncapacity: {min_count: 8}"), &[]);
    check(&pool("count: 8\ncapacity: {min_count: 6}"), &[]);
    check(
        &pool("count: 8\ncapacity: {min_count: 9}"),
        &["SPEC009 9:27 `min_count: 9` is more than `count: 8`"],
    );
}

#[test]
fn budgets_are_in_dollars() {
    check(&top("budget: {hourly: 5, currency: USD}"), &[]);
    check_help(
        &top("budget: {hourly: 5, currency: EUR}"),
        "SPEC008 8:31 `currency: EUR` is not supported yet: this version knows prices in US dollars only",
        &["give the budget in `USD`"],
    );
    check_help(
        &top("budget: {hourly: 5, currency: $}"),
        "SPEC006 8:31",
        &["write `USD`"],
    );
}
