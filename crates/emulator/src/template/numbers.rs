//! Numbers and truth in templates.

use serde_json::{Value, json};

use super::{evaluate::EvaluateError, functions::misfit};
use crate::json::same;

type Evaluated = Result<Value, EvaluateError>;

/// Calls a function of this file; `None` for names that are not here.
pub(super) fn call(name: &str, given: &[Value]) -> Option<Evaluated> {
    Some(match name {
        "add" | "sub" | "mul" | "div" | "mod" => arithmetic(name, given),
        "min" | "max" => extreme(name, given),
        "int" => whole(given),
        "equals" => match given {
            [left, right] => Ok(json!(left == right)),
            _ => misfit(),
        },
        "less" | "lessorequals" | "greater" | "greaterorequals" => compare(name, given),
        "not" => match given {
            [Value::Bool(flag)] => Ok(json!(!flag)),
            _ => misfit(),
        },
        "and" | "or" => connect(name, given),
        "bool" => truth(given),
        "true" if given.is_empty() => Ok(json!(true)),
        "false" if given.is_empty() => Ok(json!(false)),
        _ => return None,
    })
}

fn arithmetic(name: &str, given: &[Value]) -> Evaluated {
    let [left, right] = given else {
        return misfit();
    };
    let (Some(left), Some(right)) = (left.as_i64(), right.as_i64()) else {
        return misfit();
    };
    let result = match name {
        "add" => left.checked_add(right),
        "sub" => left.checked_sub(right),
        "mul" => left.checked_mul(right),
        "div" => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    result.map_or_else(
        || {
            Err(EvaluateError::invalid(format!(
                "The template function '{name}' of '{left}' and '{right}' has no result."
            )))
        },
        |result| Ok(json!(result)),
    )
}

/// The numbers given one by one or as a list.
fn extreme(name: &str, given: &[Value]) -> Evaluated {
    let items = match given {
        [Value::Array(items)] => items.as_slice(),
        items => items,
    };
    let numbers: Option<Vec<i64>> = items.iter().map(Value::as_i64).collect();
    let numbers = numbers.unwrap_or_default();
    let found = if name == "min" {
        numbers.iter().min()
    } else {
        numbers.iter().max()
    };
    found.map_or_else(misfit, |found| Ok(json!(found)))
}

fn whole(given: &[Value]) -> Evaluated {
    let number = match given {
        [Value::String(text)] => text.trim().parse::<i64>().ok(),
        [Value::Number(number)] => number.as_i64(),
        _ => None,
    };
    number.map_or_else(misfit, |number| Ok(json!(number)))
}

fn compare(name: &str, given: &[Value]) -> Evaluated {
    let order = match given {
        [Value::String(left), Value::String(right)] => left.cmp(right),
        [Value::Number(left), Value::Number(right)] => left.as_i64().cmp(&right.as_i64()),
        _ => return misfit(),
    };
    Ok(json!(match name {
        "less" => order.is_lt(),
        "lessorequals" => order.is_le(),
        "greater" => order.is_gt(),
        _ => order.is_ge(),
    }))
}

fn connect(name: &str, given: &[Value]) -> Evaluated {
    let flags: Option<Vec<bool>> = given.iter().map(Value::as_bool).collect();
    match flags {
        Some(flags) if flags.len() > 1 => Ok(json!(if name == "and" {
            flags.iter().all(|flag| *flag)
        } else {
            flags.iter().any(|flag| *flag)
        })),
        _ => misfit(),
    }
}

fn truth(given: &[Value]) -> Evaluated {
    match given {
        [Value::Bool(flag)] => Ok(json!(flag)),
        [Value::Number(number)] => Ok(json!(number.as_i64() != Some(0))),
        [Value::String(text)] if same(text, "true") || text == "1" => Ok(json!(true)),
        [Value::String(text)] if same(text, "false") || text == "0" => Ok(json!(false)),
        _ => misfit(),
    }
}
