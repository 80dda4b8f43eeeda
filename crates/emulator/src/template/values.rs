//! Lists and objects in templates.

use serde_json::{Map, Value, json};

use super::{
    evaluate::{EvaluateError, find},
    functions::misfit,
    texts,
};

type Evaluated = Result<Value, EvaluateError>;

/// Calls a function of this file; `None` for names that are not here.
pub(super) fn call(name: &str, given: &[Value]) -> Option<Evaluated> {
    Some(match (name, given) {
        ("createarray", items) => Ok(json!(items)),
        ("createobject", pairs) => object(pairs),
        ("array", [Value::Array(items)]) => Ok(json!(items)),
        ("array", [item]) => Ok(json!([item])),
        ("null", []) => Ok(Value::Null),
        ("coalesce", items) => Ok(items
            .iter()
            .find(|item| !item.is_null())
            .cloned()
            .unwrap_or_default()),
        ("empty", [value]) => Ok(json!(match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            Value::Bool(_) | Value::Number(_) => return Some(misfit()),
        })),
        ("length", [Value::String(text)]) => Ok(json!(text.chars().count())),
        ("length", [Value::Array(items)]) => Ok(json!(items.len())),
        ("length", [Value::Object(members)]) => Ok(json!(members.len())),
        ("contains", [Value::String(text), part]) => Ok(json!(text.contains(&texts::shown(part)))),
        ("contains", [Value::Array(items), item]) => Ok(json!(items.contains(item))),
        ("contains", [Value::Object(members), Value::String(name)]) => {
            Ok(json!(find(members, name).is_some()))
        }
        ("concat", [Value::Array(_), ..]) => lists(given),
        ("union", [Value::Object(_), ..]) => union(given),
        ("union", [Value::Array(_), ..]) => lists(given).map(unique),
        ("intersection", [Value::Array(first), rest @ ..]) => Ok(unique(json!(
            first
                .iter()
                .filter(|item| rest
                    .iter()
                    .all(|list| list.as_array().is_some_and(|list| list.contains(item))))
                .collect::<Vec<_>>()
        ))),
        ("array" | "null" | "empty" | "contains" | "union" | "intersection" | "length", _) => {
            misfit()
        }
        _ => return part(name, given),
    })
}

/// Functions that take parts of lists and objects, or count.
fn part(name: &str, given: &[Value]) -> Option<Evaluated> {
    Some(match (name, given) {
        ("range", [start, count]) => range(start, count),
        ("items", [Value::Object(members)]) => Ok(json!(
            members
                .iter()
                .map(|(key, value)| json!({"key": key, "value": value}))
                .collect::<Vec<_>>()
        )),
        ("objectkeys", [Value::Object(members)]) => Ok(json!(members.keys().collect::<Vec<_>>())),
        ("first", [Value::Array(items)]) => Ok(items.first().cloned().unwrap_or_default()),
        ("last", [Value::Array(items)]) => Ok(items.last().cloned().unwrap_or_default()),
        ("take" | "skip", [Value::Array(items), count]) => {
            let count = usize::try_from(count.as_i64().unwrap_or(0).max(0)).unwrap_or(usize::MAX);
            let count = count.min(items.len());
            let (taken, left) = items.split_at(count);
            Ok(json!(if name == "take" { taken } else { left }))
        }
        ("join", [Value::Array(items), Value::String(between)]) => {
            let items: Vec<String> = items.iter().map(texts::shown).collect();
            Ok(json!(items.join(between)))
        }
        ("indexof", [Value::Array(items), item]) => Ok(json!(
            items
                .iter()
                .position(|found| found == item)
                .and_then(|at| i64::try_from(at).ok())
                .unwrap_or(-1)
        )),
        ("tryget", [value, steps @ ..]) => Ok(try_get(value, steps)),
        (
            "range" | "items" | "objectkeys" | "first" | "last" | "take" | "skip" | "join"
            | "indexof",
            _,
        ) => misfit(),
        _ => return None,
    })
}

fn object(pairs: &[Value]) -> Evaluated {
    let mut members = Map::new();
    for pair in pairs.chunks(2) {
        let [Value::String(name), value] = pair else {
            return misfit();
        };
        members.insert(name.clone(), value.clone());
    }
    Ok(Value::Object(members))
}

fn lists(given: &[Value]) -> Evaluated {
    let mut all = Vec::new();
    for list in given {
        let Some(items) = list.as_array() else {
            return misfit();
        };
        all.extend(items.iter().cloned());
    }
    Ok(Value::Array(all))
}

fn unique(list: Value) -> Value {
    let mut kept: Vec<Value> = Vec::new();
    if let Value::Array(items) = list {
        for item in items {
            if !kept.contains(&item) {
                kept.push(item);
            }
        }
    }
    Value::Array(kept)
}

/// Members of later objects win; objects in them are united as well.
fn union(given: &[Value]) -> Evaluated {
    fn merge(into: &mut Map<String, Value>, from: &Map<String, Value>) {
        for (name, value) in from {
            match (into.get_mut(name), value) {
                (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
                _ => {
                    into.insert(name.clone(), value.clone());
                }
            }
        }
    }
    let mut united = Map::new();
    for object in given {
        let Some(members) = object.as_object() else {
            return misfit();
        };
        merge(&mut united, members);
    }
    Ok(Value::Object(united))
}

fn range(start: &Value, count: &Value) -> Evaluated {
    let (Some(start), Some(count)) = (start.as_i64(), count.as_i64()) else {
        return misfit();
    };
    if !(0..=10_000).contains(&count) {
        return misfit();
    }
    Ok(json!(
        (0..count)
            .map(|step| start.saturating_add(step))
            .collect::<Vec<_>>()
    ))
}

fn try_get(value: &Value, steps: &[Value]) -> Value {
    let mut at = value;
    for step in steps {
        let next = match (at, step) {
            (Value::Object(members), Value::String(name)) => find(members, name),
            (Value::Array(items), Value::Number(place)) => place
                .as_u64()
                .and_then(|place| items.get(usize::try_from(place).ok()?)),
            _ => None,
        };
        let Some(next) = next else {
            return Value::Null;
        };
        at = next;
    }
    at.clone()
}
