//! The JSON schema of the spec, for editors and other tools.

use serde_json::{Value, json};

use super::blocks;
use crate::spec::schema::{
    kind::{Block, Decimals, Form, Key, Kind, Later, List, Map, Presence, Support, TextForm},
    stack::SPEC,
};

/// Matches a text with a reference, which may stand for any single value.
const REFERENCE: &str = "\\$\\{(var|env)\\.[A-Za-z_][A-Za-z0-9_-]*\\}";

/// The JSON schema of the spec (draft 2020-12).
pub fn json_schema() -> Value {
    let mut definitions = serde_json::Map::new();
    let reference = json!({
        "type": "string",
        "pattern": REFERENCE,
        "description": "`${var.NAME}` or `${env.NAME}`, which is read as what it stands for.",
    });
    definitions.insert("reference".to_owned(), reference);
    for block in blocks(&SPEC) {
        if block.name != SPEC.name {
            definitions.insert(block.name.to_owned(), object(block));
        }
    }
    let mut schema = object(&SPEC);
    let dialect = "https://json-schema.org/draft/2020-12/schema";
    insert(&mut schema, "$schema", json!(dialect));
    insert(&mut schema, "title", json!("Tensorform spec"));
    insert(&mut schema, "$defs", Value::Object(definitions));
    schema
}

fn object(block: &Block) -> Value {
    let properties: serde_json::Map<String, Value> = block
        .keys
        .iter()
        .map(|key| (key.name.to_owned(), property(key)))
        .collect();
    let required: Vec<&str> = block
        .keys
        .iter()
        .filter(|key| matches!(key.presence, Presence::Required))
        .map(|key| key.name)
        .collect();
    let mut object = json!({
        "type": "object",
        "description": block.doc,
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        insert(&mut object, "required", json!(required));
    }
    object
}

fn property(key: &Key) -> Value {
    let mut schema = kind(&key.kind);
    let description = match key.support {
        Support::Now => key.doc.to_owned(),
        Support::NotYet(later) => format!("{} {}", key.doc, not_yet(later)),
    };
    insert(&mut schema, "description", json!(description));
    if let Presence::Default(default) = key.presence {
        insert(&mut schema, "default", default_value(default, &key.kind));
    }
    schema
}

/// The sentence on what is not supported yet.
pub(super) fn not_yet(later: &Later) -> String {
    format!("Not supported yet: this version {}.", later.lacks)
}

fn default_value(default: &str, kind: &Kind) -> Value {
    match (default, kind.scalar) {
        ("[]", _) => json!([]),
        ("null", _) if kind.null => Value::Null,
        ("true", Some(Form::Boolean)) => json!(true),
        ("false", Some(Form::Boolean)) => json!(false),
        (number, Some(Form::Decimal(_) | Form::Integer { .. })) => {
            number.parse::<i64>().map_or(json!(number), Value::from)
        }
        (text, _) => json!(text),
    }
}

fn kind(kind: &Kind) -> Value {
    let mut forms = words(kind);
    forms.extend(kind.scalar.map(form));
    if !forms.is_empty() {
        forms.push(json!({"$ref": "#/$defs/reference"}));
    }
    forms.extend(kind.list.map(list));
    forms.extend(
        kind.block
            .map(|block| json!({"$ref": format!("#/$defs/{}", block.name)})),
    );
    forms.extend(kind.map.map(map));
    if kind.null {
        forms.push(json!({"type": "null"}));
    }
    match <[Value; 1]>::try_from(forms) {
        Ok([only]) => only,
        Err(forms) => json!({"anyOf": forms}),
    }
}

/// The words of a kind: those that are supported together, each other one with its reason.
fn words(kind: &Kind) -> Vec<Value> {
    let mut supported = Vec::new();
    let mut meanings = Vec::new();
    let mut later = Vec::new();
    for word in kind.words {
        match word.support {
            Support::Now => {
                supported.push(word.text);
                meanings.push(format!("`{}`: {}", word.text, word.doc));
            }
            Support::NotYet(reason) => {
                let description = format!("{}. {}", word.doc, not_yet(reason));
                later.push(json!({"const": word.text, "description": description}));
            }
        }
    }
    let supported = (!supported.is_empty())
        .then(|| json!({"enum": supported, "description": meanings.join("; ")}));
    supported.into_iter().chain(later).collect()
}

fn list(list: &List) -> Value {
    let mut schema = json!({"type": "array", "items": kind(&list.item)});
    if list.not_empty {
        insert(&mut schema, "minItems", json!(1));
    }
    if list.distinct {
        insert(&mut schema, "uniqueItems", json!(true));
    }
    schema
}

fn map(map: &Map) -> Value {
    let mut schema = json!({
        "type": "object",
        "propertyNames": {"pattern": map.key.pattern},
        "additionalProperties": kind(&map.value),
    });
    if map.not_empty {
        insert(&mut schema, "minProperties", json!(1));
    }
    insert(&mut schema, "maxProperties", json!(map.most));
    schema
}

fn insert(schema: &mut Value, name: &str, value: Value) {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert(name.to_owned(), value);
    }
}

fn form(form: Form) -> Value {
    match form {
        Form::Boolean => json!({"type": "boolean"}),
        Form::Integer { least, most } => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        Form::Decimal(decimals) => decimal(decimals),
        Form::Text(form) => text(form),
    }
}

fn decimal(form: &Decimals) -> Value {
    let positive = json!({"type": "number", "exclusiveMinimum": 0});
    if form.minus_one {
        json!({"anyOf": [positive, {"const": -1}]})
    } else {
        positive
    }
}

fn text(form: &TextForm) -> Value {
    let mut schema = if form.as_written {
        json!({"type": ["string", "number", "boolean"]})
    } else {
        json!({"type": "string"})
    };
    if !form.pattern.is_empty() {
        insert(&mut schema, "pattern", json!(form.pattern));
    }
    schema
}
