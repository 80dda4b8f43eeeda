//! Parameters of a template: what was given against what is asked for.

use std::cell::RefCell;

use serde_json::{Map, Value, json};

use super::request::{Request, invalid};
use crate::{
    error::ArmError,
    json::{items, text},
    template::{
        evaluate::{Scope, Surroundings, find},
        functions,
    },
};

/// Parameters with their values.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    pub(crate) values: Map<String, Value>,
    /// Names of the secret ones.
    pub(crate) secure: Vec<String>,
    /// As answers show them.
    pub(crate) shown: Value,
}

/// Checks what was given and fills in defaults.
pub(crate) fn resolve(
    request: &Request,
    surroundings: &Surroundings,
) -> Result<Parameters, ArmError> {
    let none = Map::new();
    let definitions = find(&request.template, "parameters")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    let unknown: Vec<&str> = request
        .parameters
        .keys()
        .filter(|name| find(definitions, name).is_none())
        .map(String::as_str)
        .collect();
    if !unknown.is_empty() {
        let known: Vec<&str> = definitions.keys().map(String::as_str).collect();
        return Err(invalid(&format!(
            "The template parameters '{}' in the parameters file are not valid; they are not \
             present in the original template and can therefore not be provided at deployment \
             time. The only supported parameters for this template are '{}'. Please see \
             https://aka.ms/arm-pass-parameter-values for usage details.",
            unknown.join(", "),
            known.join(", ")
        )));
    }
    let mut found = Parameters::default();
    let mut defaults: Vec<(&String, &Value)> = Vec::new();
    for (name, definition) in definitions {
        if functions::is_secure(definition) {
            found.secure.push(name.clone());
        }
        let given = find(&request.parameters, name).and_then(|given| given.get("value"));
        match (given, definition.get("defaultValue")) {
            (Some(given), _) => {
                found.values.insert(name.clone(), given.clone());
            }
            (None, Some(default)) => defaults.push((name, default)),
            (None, None) => {
                return Err(invalid(&format!(
                    "The value for the template parameter '{name}' is not provided. Please see \
                     https://aka.ms/arm-create-parameter-file for usage details."
                )));
            }
        }
    }
    fill_in(&mut found, defaults, surroundings)?;
    let mut shown = Map::new();
    for (name, definition) in definitions {
        let value = found.values.get(name).cloned().unwrap_or_default();
        let kind = text(definition, "/type").unwrap_or_default();
        check(name, kind, definition, &value)?;
        let mut parameter = json!({"type": functions::type_name(kind)});
        if !functions::is_secure(definition) {
            crate::json::set(&mut parameter, "/value", value);
        }
        shown.insert(name.clone(), parameter);
    }
    found.shown = Value::Object(shown);
    Ok(found)
}

/// Works defaults out, those first that others are made of.
fn fill_in(
    found: &mut Parameters,
    defaults: Vec<(&String, &Value)>,
    surroundings: &Surroundings,
) -> Result<(), ArmError> {
    let no_variables = Map::new();
    let mut left = defaults;
    while !left.is_empty() {
        let before = left.len();
        let mut problem = None;
        let mut next = Vec::new();
        for (name, default) in left {
            let known = RefCell::default();
            let scope = Scope::new(
                surroundings,
                &found.values,
                &found.secure,
                &no_variables,
                &known,
            );
            match scope.value(default) {
                Ok(value) => {
                    found.values.insert(name.clone(), value);
                }
                Err(error) => {
                    problem.get_or_insert((name, error));
                    next.push((name, default));
                }
            }
        }
        left = next;
        if left.len() == before
            && let Some((name, error)) = problem
        {
            return Err(invalid(&format!(
                "Unable to process template language expressions for the default value of the \
                 parameter '{name}': {error}"
            )));
        }
    }
    Ok(())
}

fn check(name: &str, kind: &str, definition: &Value, value: &Value) -> Result<(), ArmError> {
    if !functions::fits_type(value, kind) {
        return Err(invalid(&format!(
            "Template parameter JToken type is not valid. Expected '{}' for the parameter \
             '{name}', found '{value}'. Please see \
             https://aka.ms/arm-create-parameter-file for usage details.",
            functions::type_name(kind)
        )));
    }
    let allowed = items(definition, "/allowedValues");
    if !allowed.is_empty() && !allowed.contains(value) {
        let shown = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };
        let all: Vec<String> = allowed.iter().map(shown).collect();
        return Err(invalid(&format!(
            "The provided value '{}' for the template parameter '{name}' is not valid. The value \
             is not part of the allowed value(s): '{}'.",
            shown(value),
            all.join(",")
        )));
    }
    let length = match value {
        Value::String(text) => i64::try_from(text.chars().count()).ok(),
        Value::Array(items) => i64::try_from(items.len()).ok(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    };
    for (limit, what, measured, least) in [
        ("minLength", "Length of the value", length, true),
        ("maxLength", "Length of the value", length, false),
        ("minValue", "The value", value.as_i64(), true),
        ("maxValue", "The value", value.as_i64(), false),
    ] {
        let bound = definition.get(limit).and_then(Value::as_i64);
        if let (Some(bound), Some(measured)) = (bound, measured)
            && (if least {
                measured < bound
            } else {
                measured > bound
            })
        {
            let relation = if least { "greater" } else { "less" };
            return Err(invalid(&format!(
                "The provided value for the template parameter '{name}' is not valid. {what} \
                 should be {relation} than or equal to '{bound}'."
            )));
        }
    }
    Ok(())
}
