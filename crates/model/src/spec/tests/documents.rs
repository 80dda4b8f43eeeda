//! The documents that are made from the tables.

use serde_json::Value;

use super::{
    findings,
    keys::{ways, with},
    properties::edited,
    read,
};
use crate::spec::{
    Orchestrator, Stage, Workload, json_schema, reference,
    schema::{kind::Block, stack::SPEC},
    starter,
};

#[test]
fn starters_are_valid_as_they_are() {
    use Orchestrator::{Aks, Auto, Batch, CycleCloud, Manual};
    for stage in [Stage::Training, Stage::Inference] {
        for workload in [Workload::Generative, Workload::Complex, Workload::Small] {
            for orchestrator in [Manual, Auto, Batch, Aks, CycleCloud] {
                for model in [None, Some("70B"), Some("llama-3.1-8b"), Some("a\nb: c #")] {
                    let text = starter(stage, workload, model, orchestrator);
                    let parsed = read(&text);
                    assert_eq!(findings(&parsed), Vec::<String>::new(), "{text}");
                    let spec = parsed.spec.expect("a spec");
                    let pool = spec.pools.values().next().expect("a pool");
                    assert_eq!((pool.stage, pool.workload), (stage, workload));
                }
            }
        }
    }
}

#[test]
fn starters_know_what_was_asked_for() {
    let model = |model: &str| {
        let text = starter(
            Stage::Training,
            Workload::Generative,
            Some(model),
            Orchestrator::Aks,
        );
        let spec = read(&text).spec.expect("a spec");
        let pool = spec.pools.into_values().next().expect("a pool");
        let model = pool.model;
        let name = model.as_ref().and_then(|model| model.name.clone());
        (model.and_then(|model| model.parameters), name, text)
    };
    assert_eq!(model("70B").0, Some(70_000_000_000));
    assert_eq!(model("7e9").0, Some(7_000_000_000));
    assert_eq!(model("some-lab/Thing-8b").0, Some(8_000_000_000));
    for known in ["meta-llama/Llama-3.1-8b", "Llama-3.1-8B"] {
        let (parameters, name, _) = model(known);
        assert_eq!((parameters, name.as_deref()), (None, Some("llama-3.1-8b")));
    }
    assert_eq!(model("thing-8x7b").0, None);
    let (parameters, name, text) = model("thing-mini");
    assert_eq!((parameters, name), (None, None));
    assert!(text.contains("No known model has the name `thing-mini`"));
    assert!(text.contains("orchestrator: aks"));
}

/// Every commented key of a starter, put to use, is valid too.
#[test]
fn starters_show_values_that_are_valid() {
    let text = starter(
        Stage::Inference,
        Workload::Generative,
        None,
        Orchestrator::Manual,
    );
    let mut used = 0;
    for (number, line) in text.lines().enumerate() {
        let Some((indent, key)) = line.split_once("# ") else {
            continue;
        };
        let is_key = !key.starts_with(' ')
            && key.split_once(": ").is_some_and(|(name, _)| {
                name.bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            });
        if !is_key {
            continue;
        }
        let edited: Vec<String> = text
            .lines()
            .enumerate()
            .map(|(at, line)| {
                if at == number {
                    format!("{indent}{key}")
                } else {
                    line.to_owned()
                }
            })
            .collect();
        assert_eq!(
            findings(&read(&edited.join("\n"))),
            Vec::<String>::new(),
            "{key}"
        );
        used += 1;
    }
    assert!(used > 20, "{used}");
}

#[test]
fn the_reference_names_every_key() {
    let text = reference();
    for way in ways() {
        let key = way.last().expect("not empty");
        assert!(
            text.contains(&format!("| `{}` | ", key.name)),
            "{}",
            key.name
        );
        assert!(text.contains(key.doc), "{}", key.name);
        for word in key.kind.words {
            assert!(text.contains(&format!("`{}`", word.text)), "{}", word.text);
        }
    }
    let table = |line: &&str| line.starts_with('|');
    for row in text.lines().filter(table) {
        let bars = row.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 5, "{row}");
    }
    assert_eq!(text, reference());
}

/// Whether a value is valid by a schema. Knows the words that our schema uses, but patterns.
fn takes(schema: &Value, root: &Value, value: &Value) -> bool {
    let words = schema.as_object().into_iter().flatten();
    let mut words = words.map(|(word, rule)| (word.as_str(), rule));
    words.all(|(word, rule)| match word {
        "$ref" => {
            let name = rule.as_str().and_then(|path| path.strip_prefix("#/$defs/"));
            let target = &root["$defs"][name.expect("a local name")];
            assert!(target.is_object(), "{rule}");
            takes(target, root, value)
        }
        "anyOf" => list(rule).iter().any(|schema| takes(schema, root, value)),
        "type" => match rule.as_array() {
            Some(types) => types.iter().any(|one| is_type(one, value)),
            None => is_type(rule, value),
        },
        "enum" => list(rule).contains(value),
        "const" => rule == value,
        "minimum" => value.as_f64() >= rule.as_f64(),
        "maximum" => value.as_f64() <= rule.as_f64(),
        "exclusiveMinimum" => value.as_f64() > rule.as_f64(),
        "description" | "default" | "title" | "$schema" | "$defs" | "pattern" | "propertyNames" => {
            true
        }
        "items" | "minItems" | "uniqueItems" => value
            .as_array()
            .is_none_or(|items| takes_items(word, rule, root, items)),
        _ => value
            .as_object()
            .is_none_or(|properties| takes_object(word, rule, schema, root, properties)),
    })
}

fn list(rule: &Value) -> &[Value] {
    rule.as_array().expect("a list")
}

fn takes_items(word: &str, rule: &Value, root: &Value, items: &[Value]) -> bool {
    match word {
        "items" => items.iter().all(|item| takes(rule, root, item)),
        "minItems" => !items.is_empty(),
        _ => (1..items.len()).all(|at| !items[..at].contains(&items[at])),
    }
}

fn takes_object(
    word: &str,
    rule: &Value,
    schema: &Value,
    root: &Value,
    properties: &serde_json::Map<String, Value>,
) -> bool {
    let known = schema["properties"].as_object();
    match word {
        "required" => list(rule)
            .iter()
            .all(|name| properties.contains_key(name.as_str().expect("a name"))),
        "minProperties" => !properties.is_empty(),
        "maxProperties" => u64::try_from(properties.len()).ok() <= rule.as_u64(),
        "properties" => properties
            .iter()
            .filter_map(|(name, value)| Some((rule.get(name)?, value)))
            .all(|(schema, value)| takes(schema, root, value)),
        "additionalProperties" => properties
            .iter()
            .filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)))
            .all(|(_, value)| *rule != Value::Bool(false) && takes(rule, root, value)),
        other => panic!("the schema has the word {other}, which this test does not know"),
    }
}

fn is_type(name: &Value, value: &Value) -> bool {
    match name.as_str().expect("a name") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("no type is called {other}"),
    }
}

fn breaks_schema(text: &str) -> bool {
    let schema = json_schema();
    let value: Value = serde_yaml::from_str(text).expect(text);
    !takes(&schema, &schema, &value)
}

#[test]
fn the_schema_takes_every_example() {
    let schema = json_schema();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    for way in ways() {
        let key = way.last().expect("not empty");
        let text = with(&way, key.example);
        assert!(!breaks_schema(&text), "{text}");
        for word in key.kind.words {
            assert!(!breaks_schema(&with(&way, word.text)), "{}", word.text);
        }
        if !key.kind.words.is_empty() || key.kind.scalar.is_some() {
            assert!(!breaks_schema(&with(&way, "\"${var.x}\"")), "{}", key.name);
        }
    }
}

#[test]
fn the_schema_refuses_unknown_and_missing_keys_and_wrong_types() {
    for way in ways() {
        let key = way.last().expect("not empty");
        assert!(breaks_schema(&with(&way, "[[x]]")), "{}", key.name);
        assert!(breaks_schema(&with(&way, "{§: [[]]}")), "{}", key.name);
    }
    for text in [
        "{}",
        "{version: 1, name: demo, location: eastus, pools: {}}",
        "{version: 1, name: demo, location: eastus, pools: {p: {stage: training}}}",
        "{version: 2, name: demo, location: eastus, pools: {p: {stage: training, workload: small}}}",
        "{version: 1, name: demo, location: eastus, pools: {p: {stage: training, workload: small, count: -1}}}",
        "{version: 1, name: demo, location: [a, a], pools: {p: {stage: training, workload: small}}}",
    ] {
        assert!(breaks_schema(text), "{text}");
    }
}

/// What is read without a finding is valid by the schema, patterns aside.
#[test]
fn the_schema_takes_what_is_read() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut valid = 0;
    for _ in 0..3_000 {
        let text = edited(&mut runner);
        let parsed = read(&text);
        if parsed.spec.is_some() {
            assert!(!breaks_schema(&text), "{text}");
            valid += 1;
        }
    }
    assert!(valid > 100, "{valid}");
}

#[test]
fn blocks_have_names_of_their_own() {
    let mut blocks: Vec<&'static Block> = vec![&SPEC];
    let mut next = 0;
    while next < blocks.len() {
        for key in blocks[next].keys {
            let inner = [
                key.kind.block,
                key.kind.list.and_then(|list| list.item.block),
                key.kind.map.and_then(|map| map.value.block),
            ];
            blocks.extend(inner.into_iter().flatten());
        }
        next += 1;
    }
    for (at, block) in blocks.iter().enumerate() {
        for other in &blocks[..at] {
            let same = block
                .keys
                .iter()
                .map(|key| key.name)
                .eq(other.keys.iter().map(|key| key.name));
            assert!(block.name != other.name || same, "{}", block.name);
        }
    }
}
