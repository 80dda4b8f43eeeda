//! Texts in templates.

use serde_json::{Value, json};

use super::{evaluate::EvaluateError, functions::misfit};
use crate::{
    json::same,
    text::{Seeded, base64_decode, base64_plain, decode, encode_path},
};

type Evaluated = Result<Value, EvaluateError>;

/// Calls a function of this file; `None` for names, or kinds of values, that are not here.
pub(super) fn call(name: &str, given: &[Value]) -> Option<Evaluated> {
    Some(match (name, given) {
        ("concat", given) if !given.iter().any(Value::is_array) => {
            Ok(json!(given.iter().map(shown).collect::<String>()))
        }
        ("string", [value]) => Ok(json!(shown(value))),
        ("format", [Value::String(form), rest @ ..]) => format(form, rest),
        ("tolower", [Value::String(text)]) => Ok(json!(text.to_lowercase())),
        ("toupper", [Value::String(text)]) => Ok(json!(text.to_uppercase())),
        ("trim", [Value::String(text)]) => Ok(json!(text.trim())),
        ("startswith", [Value::String(text), Value::String(start)]) => {
            let text: String = text.chars().take(start.chars().count()).collect();
            Ok(json!(same(&text, start)))
        }
        ("endswith", [Value::String(text), Value::String(end)]) => {
            let skipped = text.chars().count().saturating_sub(end.chars().count());
            let text: String = text.chars().skip(skipped).collect();
            Ok(json!(same(&text, end)))
        }
        ("indexof", [Value::String(text), Value::String(part)]) => {
            Ok(place(text, text.to_lowercase().find(&part.to_lowercase())))
        }
        ("lastindexof", [Value::String(text), Value::String(part)]) => {
            Ok(place(text, text.to_lowercase().rfind(&part.to_lowercase())))
        }
        ("replace", [Value::String(text), Value::String(old), Value::String(new)])
            if !old.is_empty() =>
        {
            Ok(json!(text.replace(old, new)))
        }
        (
            "format" | "tolower" | "toupper" | "trim" | "startswith" | "endswith" | "lastindexof"
            | "replace" | "string",
            _,
        ) => misfit(),
        _ => return part(name, given).or_else(|| coded(name, given)),
    })
}

/// Functions that take parts of texts.
fn part(name: &str, given: &[Value]) -> Option<Evaluated> {
    Some(match (name, given) {
        ("split", [Value::String(text), by]) => split(text, by),
        ("first", [Value::String(text)]) => Ok(json!(text.chars().take(1).collect::<String>())),
        ("last", [Value::String(text)]) => Ok(json!(
            text.chars().last().map(String::from).unwrap_or_default()
        )),
        ("take", [Value::String(text), count]) => {
            Ok(json!(text.chars().take(size(count)).collect::<String>()))
        }
        ("skip", [Value::String(text), count]) => {
            Ok(json!(text.chars().skip(size(count)).collect::<String>()))
        }
        ("substring", [Value::String(text), rest @ ..]) => substring(text, rest),
        ("padleft", [text, width, rest @ ..]) => pad(text, width, rest),
        ("split" | "substring" | "padleft", _) => misfit(),
        _ => return None,
    })
}

/// Functions that write texts in another way, or read them.
fn coded(name: &str, given: &[Value]) -> Option<Evaluated> {
    Some(match (name, given) {
        ("base64", [Value::String(text)]) => Ok(json!(base64_plain(text.as_bytes()))),
        ("base64tostring", [Value::String(text)]) => decoded(text).map(|text| json!(text)),
        ("base64tojson", [Value::String(text)]) => decoded(text).and_then(|text| read(&text)),
        ("json", [Value::String(text)]) => read(text),
        ("uri", [Value::String(base), Value::String(rest)]) => Ok(json!(uri(base, rest))),
        ("uricomponent", [Value::String(text)]) => Ok(json!(encode_path(text))),
        ("uricomponenttostring", [Value::String(text)]) => Ok(json!(decode(text, false))),
        ("uniquestring", given @ [Value::String(_), ..]) => {
            Ok(json!(Seeded::of_text(0, &joined(given)).base32(13)))
        }
        ("guid", given @ [Value::String(_), ..]) => {
            Ok(json!(Seeded::of_text(0, &joined(given)).guid()))
        }
        (
            "base64"
            | "base64tostring"
            | "base64tojson"
            | "json"
            | "uri"
            | "uricomponent"
            | "uricomponenttostring"
            | "uniquestring"
            | "guid",
            _,
        ) => misfit(),
        _ => return None,
    })
}

/// A value as text: texts as they are, everything else as JSON.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(flag) => if *flag { "True" } else { "False" }.to_owned(),
        Value::Null => String::new(),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn joined(given: &[Value]) -> String {
    given.iter().map(shown).collect::<Vec<_>>().join("-")
}

fn size(count: &Value) -> usize {
    usize::try_from(count.as_i64().unwrap_or(0).max(0)).unwrap_or(usize::MAX)
}

/// The place of a byte in characters; -1 for none.
fn place(text: &str, at: Option<usize>) -> Value {
    let characters = at
        .and_then(|at| {
            text.to_lowercase()
                .get(..at)
                .map(|before| before.chars().count())
        })
        .and_then(|count| i64::try_from(count).ok());
    json!(characters.unwrap_or(-1))
}

/// `{0}` and the like; doubled braces stand for themselves.
fn format(form: &str, given: &[Value]) -> Evaluated {
    let mut text = String::new();
    let mut rest = form;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        if let Some(after) = from.strip_prefix("{{").or(from.strip_prefix("}}")) {
            text.push_str(from.get(..1).unwrap_or_default());
            rest = after;
            continue;
        }
        let Some((inside, after)) = from.strip_prefix('{').and_then(|from| from.split_once('}'))
        else {
            return misfit();
        };
        let (number, how) = inside.split_once(':').unwrap_or((inside, ""));
        let value = number
            .trim()
            .parse::<usize>()
            .ok()
            .and_then(|number| given.get(number));
        let Some(value) = value else {
            return misfit();
        };
        text.push_str(&formatted(value, how)?);
        rest = after;
    }
    text.push_str(rest);
    Ok(json!(text))
}

/// Of the forms of numbers, those with leading zeros: `D3` and `000`.
fn formatted(value: &Value, how: &str) -> Result<String, EvaluateError> {
    let zeros = how.chars().all(|c| c == '0');
    let width = match how.get(..1) {
        None => 0,
        Some("D" | "d") => how
            .get(1..)
            .and_then(|width| width.parse().ok())
            .unwrap_or(0),
        Some(_) if zeros => how.len(),
        Some(_) => return Err(EvaluateError::NotServed(format!("format {{0:{how}}}"))),
    };
    Ok(match value {
        Value::Number(number) => format!("{:0>width$}", number.to_string()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            shown(value)
        }
    })
}

fn split(text: &str, by: &Value) -> Evaluated {
    let separators: Vec<&str> = match by {
        Value::String(one) => vec![one.as_str()],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return misfit(),
    };
    let mut parts = vec![text.to_owned()];
    for separator in separators.into_iter().filter(|text| !text.is_empty()) {
        parts = parts
            .iter()
            .flat_map(|part| part.split(separator))
            .map(str::to_owned)
            .collect();
    }
    Ok(json!(parts))
}

fn substring(text: &str, rest: &[Value]) -> Evaluated {
    let length = text.chars().count();
    let (start, count) = match rest {
        [start] => (size(start), None),
        [start, count] => (size(start), Some(size(count))),
        _ => return misfit(),
    };
    let count = count.unwrap_or_else(|| length.saturating_sub(start));
    if start.saturating_add(count) > length {
        return Err(EvaluateError::invalid(format!(
            "The template function 'substring' parameters are not valid: index '{start}' and \
             length '{count}' must refer to a location within the string of length '{length}'."
        )));
    }
    Ok(json!(
        text.chars().skip(start).take(count).collect::<String>()
    ))
}

fn pad(text: &Value, width: &Value, rest: &[Value]) -> Evaluated {
    let fill = match rest {
        [] => ' ',
        [Value::String(fill)] => match fill.chars().next() {
            Some(fill) => fill,
            None => return misfit(),
        },
        _ => return misfit(),
    };
    let text = shown(text);
    let missing = size(width).min(16_384).saturating_sub(text.chars().count());
    let filled: String = std::iter::repeat_n(fill, missing)
        .chain(text.chars())
        .collect();
    Ok(json!(filled))
}

fn decoded(text: &str) -> Result<String, EvaluateError> {
    base64_decode(text)
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .map_or_else(misfit, Ok)
}

fn read(text: &str) -> Evaluated {
    super::lenient::read(text).map_err(|error| EvaluateError::invalid(error.to_string()))
}

/// The rest in the place of what stands behind the last slash of the base.
fn uri(base: &str, rest: &str) -> String {
    let host = base.find("://").map_or(0, |at| at + 3);
    let folder = base
        .rfind('/')
        .filter(|at| *at > host)
        .and_then(|at| base.get(..at))
        .unwrap_or(base);
    format!("{folder}/{}", rest.trim_start_matches('/'))
}
