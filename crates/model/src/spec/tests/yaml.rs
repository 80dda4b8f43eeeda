//! What YAML itself allows and specs do not, and where it stands.

use super::{BASE, check, check_help, findings, pool, read, top};
use crate::{
    diag::{At, SpecPath},
    spec::{Position, SpanIndex},
};

#[test]
fn syntax_errors_have_their_place() {
    for (text, expected) in [
        (
            "a: x: y\n",
            "SPEC001 1:5 expected the end of a value, found `:`",
        ),
        ("a: \"b\n", "SPEC001 1:4 a quoted text has no end"),
        ("a: @b\n", "SPEC001 1:4 a value cannot begin with `@`"),
        ("a: `b`\n", "SPEC001 1:4 a value cannot begin with ```"),
        (
            "a: *b\n",
            "SPEC001 1:4 an alias has no anchor that it could repeat",
        ),
        (
            "- a\nb: c\n",
            "SPEC001 2:1 the keys or items of a block do not line up",
        ),
        (
            "a: [1, 2\nb: 3\n",
            "SPEC001 2:2 a list in `[…]` has no end or lacks a comma",
        ),
        (
            "a: {b: 1\n",
            "SPEC001 2:1 a block in `{…}` has no end or lacks a comma",
        ),
        (
            "a: {b: ${var.x}}\n",
            "SPEC001 1:9 `${…}` stands without quotes inside `[…]` or `{…}`",
        ),
        (
            "a: \u{7}b\n",
            "SPEC001 1:4 expected text, found the control character U+0007",
        ),
    ] {
        check(text, &[expected]);
    }
    let parsed = read("a: {b: 1\n");
    let related = &parsed.diagnostics.iter().next().expect("a finding").related;
    assert_eq!(
        related,
        &[(At::Text { start: 3, end: 4 }, "opened here".to_owned())]
    );
}

#[test]
fn tabs_are_refused_outside_of_texts_and_comments() {
    let tab = |place: &str| format!("SPEC001 {place} expected spaces, found a tab");
    for (text, place) in [
        ("\tversion: 1\n", "1:1"),
        ("a:\n\tb: 1\n", "2:1"),
        ("a: 1\n\tb: 2\n", "2:1"),
        ("a:\n  \tb: 1\n", "2:3"),
        ("version:\t1\n", "1:9"),
        ("a: |\n\tb\n", "2:1"),
    ] {
        let found = findings(&read(text));
        assert!(found.contains(&tab(place)), "{text:?} {found:?}");
    }
    check(&top("tags: {a: \"b\tc\"} # d\te"), &[]);
    check(&top("tags: {a:\tb}"), &[&tab("8:10")]);
}

#[test]
fn keys_that_stand_twice_name_both_lines() {
    check(
        &pool("size: auto\ncount: 1\nsize: auto"),
        &["SPEC003 10:5 key `size` stands twice, on lines 8 and 10"],
    );
    check(
        "version: 1\nname: demo\nlocation: eastus\npools:\n  p: {stage: inference, workload: small}\n  \"p\": {}\n",
        &["SPEC003 6:3 key `p` stands twice, on lines 5 and 6"],
    );
    check(
        &top("tags: {a: 1, b: 2, a: 3}"),
        &["SPEC003 8:20 key `a` stands twice, on lines 8 and 8"],
    );
    check(
        &top("tags: {env: a, ENV: b, Env: c}"),
        &[
            "SPEC003 8:16 tags `env` (line 8) and `ENV` (line 8) differ only by case, and Azure keeps one of them",
            "SPEC003 8:24 tags `env` (line 8) and `Env` (line 8) differ only by case, and Azure keeps one of them",
        ],
    );
}

#[test]
fn features_that_specs_do_not_use_are_refused() {
    check(
        &top("<<: {tags: {a: b}}"),
        &["SPEC007 8:1 specs have no merge keys, found `<<`"],
    );
    check(
        &top("tags: !mine {a: !!str 5}"),
        &[
            "SPEC007 8:7 specs have no tags, found `!mine`",
            "SPEC007 8:17 specs have no tags, found `!!str`",
        ],
    );
    check(
        &format!("{BASE}---\nversion: 1\n"),
        &["SPEC007 8:1 a spec is one document, found the start of a second one"],
    );
    check(
        "a: &x [*x]\n",
        &["SPEC007 1:8 an alias stands inside the value that it repeats"],
    );
    check(
        "? [a]\n: b\n",
        &[
            "SPEC005 1:1 missing key `version` at the top level",
            "SPEC005 1:1 missing key `name` at the top level",
            "SPEC005 1:1 missing key `location` at the top level",
            "SPEC005 1:1 missing key `pools` at the top level",
            "SPEC004 1:3 a key is a text, found a list or a block",
        ],
    );
}

#[test]
fn bombs_end_fast() {
    let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (letter, before) in ('b'..='j').zip('a'..) {
        let aliases = vec![format!("*{before}"); 10].join(", ");
        bomb.extend([format!("{letter}: &{letter} [{aliases}]\n")]);
    }
    let found = findings(&read(&bomb));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].ends_with("aliases repeat more than 200000 values"),
        "{}",
        found[0]
    );

    for deep in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(100_000),
    ] {
        let found = findings(&read(&format!("a:\n  {deep}")));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("deeper than 64 levels"), "{}", found[0]);
    }
    // Each alias is deep enough alone; in one another they would go down without end.
    let mut chain = String::from("a0: &a0 x\n");
    chain.extend((1..200).map(|n| {
        let (open, close) = ("[".repeat(40), "]".repeat(40));
        format!("a{n}: &a{n} {open}*a{}{close}\n", n - 1)
    }));
    let found = findings(&read(&chain));
    assert_eq!(
        found,
        ["SPEC007 3:49 the spec is nested deeper than 64 levels"]
    );
    let mut anchors = String::new();
    anchors.extend((0..70).map(|n| format!("&a{n} [")));
    assert_eq!(findings(&read(&format!("a: {anchors}"))).len(), 1);
}

#[test]
fn anchors_and_aliases_repeat_values() {
    let text = "version: 1\nname: demo\nlocation: eastus\npools:\n  a: &p {stage: inference, workload: small}\n  b: *p\n";
    check(text, &[]);
    let spec = read(text).spec.expect("a spec");
    assert_eq!(spec.pools.get("a"), spec.pools.get("b"));
}

#[test]
fn places_are_characters_and_spans_are_bytes() {
    let text = "# 한국어\nversion: 1\nname: demo\nlocation: eastus\ntags: {팀: 머신러닝, \"中文\": x, 語: [1]}\npools: {p: {stage: inference, workload: small}}\n";
    let parsed = read(text);
    assert_eq!(
        findings(&parsed),
        ["SPEC004 5:29 `語` takes a tag value of up to 256 characters, found a list"]
    );
    let value = parsed
        .spans
        .value(&SpecPath::of(&["tags", "팀"]))
        .expect("a value");
    assert_eq!(&text[value], "머신러닝");
    let key = parsed
        .spans
        .key(&SpecPath::of(&["tags", "中文"]))
        .expect("a key");
    assert_eq!(&text[key], "\"中文\"");
    let stage = SpecPath::pool("p", &["stage"]);
    let value = parsed.spans.value(&stage).expect("a value");
    assert_eq!(&text[value], "inference");
}

#[test]
fn long_texts_of_many_bytes_keep_their_places() {
    let comment = format!("# {}\n", "데이터".repeat(500));
    let parsed = read(&format!("{comment}{BASE}nam: x\n"));
    assert_eq!(
        findings(&parsed),
        ["SPEC002 9:1 unknown key `nam` at the top level"]
    );
}

#[test]
fn lines_end_in_any_way_and_a_mark_may_begin_the_text() {
    check(&BASE.replace('\n', "\r\n"), &[]);
    check(&format!("\u{feff}{BASE}"), &[]);
    check(
        &format!("\u{feff}x: 1\n{BASE}"),
        &["SPEC002 1:1 unknown key `x` at the top level"],
    );
    check(
        &format!("{BASE}x: 1\n").replace('\n', "\r\n"),
        &["SPEC002 8:1 unknown key `x` at the top level"],
    );
    check(&format!("%YAML 1.2\n---\n{BASE}...\n"), &[]);
}

#[test]
fn what_is_not_written_leads_to_what_is_above() {
    let parsed = read(&pool("size: auto"));
    let position = |at: At| parsed.spans.position_of(&at);
    let place = |line, column| Some(Position { line, column });
    assert_eq!(
        position(At::Value(SpecPath::pool("p", &["size"]))),
        place(8, 11)
    );
    assert_eq!(
        position(At::Key(SpecPath::pool("p", &["size"]))),
        place(8, 5)
    );
    assert_eq!(
        position(At::Value(SpecPath::pool("p", &["image"]))),
        place(5, 3)
    );
    assert_eq!(
        position(At::Value(SpecPath::pool("p", &["disks", "data"]).index(3))),
        place(5, 3)
    );
    assert_eq!(position(At::Value(SpecPath::of(&["budget"]))), place(1, 1));
    assert_eq!(position(At::Nowhere), None);
    assert_eq!(parsed.spans.value(&SpecPath::pool("p", &["image"])), None);
    let plain = SpanIndex::of_text("a\r\nb");
    assert_eq!(plain.position(99), Position { line: 2, column: 2 });
}

#[test]
fn syntax_errors_say_what_to_do() {
    check_help(
        "a: {b: ${var.x}}\n",
        "SPEC001 1:9",
        &[
            "put it in quotes: `\"${var.name}\"`; it is still read as a number where one is expected",
        ],
    );
    check_help(
        "a:\n\tb: 1\n",
        "SPEC001 2:1",
        &["indent and separate with spaces; tabs may stand in quoted texts and comments"],
    );
    check_help(
        &pool("size: auto\nsize: auto"),
        "SPEC003 9:5",
        &["keep one of them"],
    );
}
