//! Unknown and missing keys, and values of another type than a key takes.

use super::{check, check_help, findings, pool, read, top};
use crate::spec::{
    schema::{
        kind::{Block, Form, Key, Kind, Presence},
        stack::SPEC,
    },
    tests::BASE,
};

#[test]
fn unknown_keys_say_where_and_what_was_meant() {
    check(
        &pool("gpu: H100\nfrobnicate: 1"),
        &[
            "SPEC002 8:5 unknown key `gpu` in pool `p`",
            "SPEC002 9:5 unknown key `frobnicate` in pool `p`",
        ],
    );
    for (text, help) in [
        (pool("gpu: H100"), "did you mean `size.gpu`?"),
        (pool("cuont: 2"), "did you mean `count`?"),
        (pool("node_count: 2"), "did you mean `count`?"),
        (pool("Count: 2"), "did you mean `count`?"),
        (
            pool("eviction: delete"),
            "did you mean `priority.spot.eviction`?",
        ),
        (
            pool("region: eastus"),
            "did you mean `location` at the top level?",
        ),
        (pool("frobnicate: 1"), "`tensorform schema` prints all keys"),
        (top("count: 8"), "did you mean `count` in a pool?"),
        (top("taggs: {}"), "did you mean `tags`?"),
        (
            top("network: {cidr: 1}"),
            "there are `address_space`, `subnet_id`, `outbound`",
        ),
        (
            top("network: {adress_space: 10.0.0.0/16}"),
            "did you mean `address_space`?",
        ),
    ] {
        let parsed = read(&text);
        let found = findings(&parsed);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("SPEC002 8:"), "{}", found[0]);
        let finding = parsed.diagnostics.iter().next().expect("a finding");
        assert_eq!(finding.help, [help], "{text}");
    }
    check_help(
        &pool("spot: yes"),
        "SPEC002 8:5 unknown key `spot` in pool `p`",
        &[
            "did you mean `priority: spot`?",
            "use true or false: `yes` is a text",
        ],
    );
    check(
        &top("network: {\"a\\nb\": 1}"),
        &["SPEC002 8:11 unknown key `a\\nb` in `network`"],
    );
}

#[test]
fn missing_keys_say_what_to_add() {
    check(
        "version: 1\n",
        &[
            "SPEC005 1:1 missing key `name` at the top level",
            "SPEC005 1:1 missing key `location` at the top level",
            "SPEC005 1:1 missing key `pools` at the top level",
        ],
    );
    check_help(
        "version: 1\nname: demo\nlocation: eastus\npools:\n  p:\n    stage: training\n",
        "SPEC005 5:3 missing key `workload` in pool `p`",
        &["add `workload: generative`: one of `generative`, `complex` or `small`"],
    );
    check_help(
        &pool("disks: {data: [{type: premium}]}"),
        "SPEC005 8:20 missing key `size_gb` in `data[0]`",
        &["add `size_gb: 1024`"],
    );
    check("", &["SPEC005 1:1 the spec is empty"]);
    check("# nothing\n", &["SPEC005 1:1 the spec is empty"]);
    check("~\n", &["SPEC005 1:1 the spec is empty"]);
    check(
        "- a\n",
        &["SPEC004 1:1 a spec is a block of keys such as `version: 1`, found a list"],
    );
    check(
        "hello\n",
        &["SPEC004 1:1 a spec is a block of keys such as `version: 1`, found the text `hello`"],
    );
}

#[test]
fn a_misspelt_key_is_not_missing_as_well() {
    check(
        "version: 1\nname: demo\nlocaton: eastus\npools: {p: {stage: training, wrokload: small}}\n",
        &[
            "SPEC002 3:1 unknown key `locaton` at the top level",
            "SPEC002 4:30 unknown key `wrokload` in pool `p`",
        ],
    );
}

#[test]
fn types_are_those_of_yaml_1_2() {
    let types = [
        (
            "count: \"8\"",
            "SPEC004 8:12 `count` takes a whole number from 0 to 1000, found the text `8`",
            "write `8` without quotes",
        ),
        (
            "count: 0644",
            "SPEC004 8:12 `count` takes a whole number from 0 to 1000, found the text `0644`",
            "write `644`: a number has no leading zeros, and they do not make it octal",
        ),
        (
            "protect: yes",
            "SPEC004 8:14 `protect` takes `true` or `false`, found the text `yes`",
            "use true or false: `yes` is a text in YAML 1.2",
        ),
        (
            "protect: \"true\"",
            "SPEC004 8:14 `protect` takes `true` or `false`, found the text `true`",
            "remove the quotes",
        ),
        (
            "protect: 1",
            "SPEC004 8:14 `protect` takes `true` or `false`, found the number `1`",
            "use true or false",
        ),
        (
            "size: {max_hourly: \"$1,200\"}",
            "SPEC004 8:24 `max_hourly` takes an amount above 0 with at most 6 decimals, found the text `$1,200`",
            "write `1200`",
        ),
        (
            "disks: {data: {size_gb: 5}}",
            "SPEC004 8:19 `data` takes a list of data disks, found a block",
            "begin each of them with `- `",
        ),
        (
            "security:",
            "SPEC004 8:5 `security` has no value, expected one of `auto`, `standard` or `trusted_launch`",
            "give it a value, or remove `security`",
        ),
    ];
    for (keys, finding, help) in types {
        check_help(&pool(keys), finding, &[help]);
        check(&pool(keys), &[finding]);
    }
}

#[test]
fn numbers_and_texts_are_told_apart() {
    check(
        &pool("count: 1.5\nzones: [one]"),
        &[
            "SPEC004 8:12 `count` takes a whole number from 0 to 1000, found the number `1.5`",
            "SPEC004 9:13 `zones[0]` takes a whole number from 1 to 3, found the text `one`",
        ],
    );
    check_help(
        &BASE.replace("version: 1", "version: 1.0"),
        "SPEC004 1:10 `version` takes the number `1`, found the number `1.0`",
        &[],
    );
    check_help(
        &BASE.replace("name: demo", "name: true"),
        "SPEC004 2:7",
        &["put it in quotes to make it a text: `\"true\"`"],
    );
    check_help(
        &top("ignore_tags: created"),
        "SPEC004 8:14 `ignore_tags` takes a list of tag names, found the text `created`",
        &["write `[created]` for a list of one"],
    );
}

/// A document with one key of one block, by the way from the top to it.
fn document(way: &[&'static Key], value: &str) -> String {
    let mut inner = value.to_owned();
    for (depth, key) in way.iter().enumerate().rev() {
        let block = if depth == 0 {
            &SPEC
        } else {
            inner_block(&way[depth - 1].kind).expect("a block")
        };
        let others = block
            .keys
            .iter()
            .filter(|other| matches!(other.presence, Presence::Required) && other.name != key.name)
            .map(|other| format!(", {}: {}", other.name, other.example));
        let others: String = others.collect();
        inner = format!("{{{}: {inner}{others}}}", key.name);
        if depth > 0 {
            let above = &way[depth - 1].kind;
            inner = match (above.list, above.map) {
                (Some(list), _) if list.item.block.is_some() => format!("[{inner}]"),
                (_, Some(_)) => format!("{{x: {inner}}}"),
                _ => inner,
            };
        }
    }
    inner
}

fn inner_block(kind: &Kind) -> Option<&'static Block> {
    kind.block
        .or_else(|| kind.map.and_then(|map| map.value.block))
        .or_else(|| kind.list.and_then(|list| list.item.block))
}

/// The ways to all keys of all blocks.
pub(super) fn ways() -> Vec<Vec<&'static Key>> {
    let mut ways: Vec<Vec<&'static Key>> = SPEC.keys.iter().map(|key| vec![key]).collect();
    let mut next = 0;
    while next < ways.len() {
        let way = ways[next].clone();
        let last = way.last().expect("not empty");
        if let Some(block) = inner_block(&last.kind) {
            ways.extend(block.keys.iter().map(|key| {
                let mut longer = way.clone();
                longer.push(key);
                longer
            }));
        }
        next += 1;
    }
    ways
}

/// The document of a key with a value, and the path of that key.
pub(super) fn with(way: &[&'static Key], value: &str) -> String {
    format!("{}\n", document(way, value))
}

#[test]
fn every_example_is_of_its_kind() {
    for way in ways() {
        let key = way.last().expect("not empty");
        let text = with(&way, key.example);
        for finding in findings(&read(&text)) {
            let fine = ["SPEC008", "SPEC009"]
                .iter()
                .any(|code| finding.starts_with(code));
            // What a block needs beside the key is not in the document.
            let needs = finding.starts_with("SPEC005") && finding.contains("needs")
                || finding.ends_with("variable `x` has no value");
            assert!(fine || needs, "{finding}\n{text}");
        }
    }
}

#[test]
fn every_key_refuses_what_it_does_not_take() {
    let shapes = [
        "\"§\"", "[[§]]", "{§: 1}", "[]", "true", "-7.5", "null", "\"\"",
    ];
    let mut refused = 0;
    for way in ways() {
        let key = way.last().expect("not empty");
        let kind = &key.kind;
        for shape in shapes {
            let takes = match shape {
                "[]" => kind.list.is_some_and(|list| !list.not_empty),
                "{§: 1}" => kind.map.is_some_and(|map| (map.key.check)("§").is_ok()),
                "true" => match kind.scalar {
                    Some(Form::Boolean) => true,
                    Some(Form::Text(form)) => form.as_written,
                    Some(Form::Integer { .. } | Form::Decimal(_)) | None => false,
                },
                "null" => kind.null,
                _ => false,
            };
            let may_take = match kind.scalar {
                Some(Form::Text(form)) => {
                    form.as_written || (form.check)("§").is_ok() || (form.check)("").is_ok()
                }
                Some(Form::Boolean | Form::Integer { .. } | Form::Decimal(_)) | None => false,
            };
            if takes || (may_take && !shape.starts_with(['[', '{']) && shape != "null") {
                continue;
            }
            let text = with(&way, shape);
            let found = findings(&read(&text));
            let wrong = ["SPEC002", "SPEC004", "SPEC006", "SPEC012"];
            assert!(
                found
                    .iter()
                    .any(|finding| wrong.iter().any(|code| finding.starts_with(code))),
                "{} takes {shape}: {found:?}\n{text}",
                key.name
            );
            refused += 1;
        }
    }
    assert!(refused > 300, "{refused}");
}
