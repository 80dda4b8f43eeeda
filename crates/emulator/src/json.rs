//! Small helpers over JSON values that neither panic nor need indexing.

use serde_json::{Map, Value};

/// The text at a JSON pointer.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

/// The items of the array at a JSON pointer; none where there is no array.
pub(crate) fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The items of the array at a JSON pointer, to be changed.
pub(crate) fn items_mut<'a>(value: &'a mut Value, pointer: &str) -> &'a mut [Value] {
    value
        .pointer_mut(pointer)
        .and_then(Value::as_array_mut)
        .map_or(&mut [], Vec::as_mut_slice)
}

/// The whole number at a JSON pointer, whether it stands as a number or as text.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<u64> {
    let found = value.pointer(pointer)?;
    found
        .as_u64()
        .or_else(|| found.as_str().and_then(|text| text.parse().ok()))
}

/// The boolean at a JSON pointer, whether it stands as one or as text.
pub(crate) fn flag(value: &Value, pointer: &str) -> Option<bool> {
    let found = value.pointer(pointer)?;
    found.as_bool().or_else(|| {
        found
            .as_str()
            .and_then(|text| text.to_lowercase().parse().ok())
    })
}

/// Sets the member at a path such as `/properties/provisioningState`, making the objects on the way.
pub(crate) fn set(value: &mut Value, path: &str, new: Value) {
    let mut at = value;
    for key in path.trim_start_matches('/').split('/') {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Some(object) = at.as_object_mut() else {
            return;
        };
        at = object.entry(key.to_owned()).or_insert(Value::Null);
    }
    *at = new;
}

/// Sets the member at a path unless something is there.
pub(crate) fn default(value: &mut Value, path: &str, new: impl Into<Value>) {
    if value.pointer(path).is_none_or(Value::is_null) {
        set(value, path, new.into());
    }
}

/// Removes the member at a path and answers what was there.
pub(crate) fn remove(value: &mut Value, path: &str) -> Option<Value> {
    let (parent, key) = path.rsplit_once('/')?;
    value.pointer_mut(parent)?.as_object_mut()?.remove(key)
}

/// Merges a patch into a value: objects member by member, everything else replaced, null removes.
pub(crate) fn merge(value: &mut Value, patch: &Value) {
    match (value, patch) {
        (Value::Object(target), Value::Object(members)) => {
            for (key, member) in members {
                if member.is_null() {
                    target.remove(key);
                } else {
                    merge(target.entry(key.clone()).or_insert(Value::Null), member);
                }
            }
        }
        (target, new) => *target = new.clone(),
    }
}

/// Removes every null member of every object, as a PUT means by it.
pub(crate) fn strip_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(strip_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether two texts are equal without regard to case.
pub(crate) fn same(a: &str, b: &str) -> bool {
    let is_ascii = || a.is_ascii() && b.is_ascii();
    a.eq_ignore_ascii_case(b) || (!is_ascii() && a.to_lowercase() == b.to_lowercase())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_made_and_removed() {
        let mut value = json!({"a": 1});
        set(&mut value, "/b/c", json!(2));
        default(&mut value, "/b/c", 3);
        default(&mut value, "/b/d", 4);
        assert_eq!(value, json!({"a": 1, "b": {"c": 2, "d": 4}}));
        assert_eq!(remove(&mut value, "/b/c"), Some(json!(2)));
        assert_eq!(remove(&mut value, "/x/y"), None);
        assert_eq!(value, json!({"a": 1, "b": {"d": 4}}));
    }

    #[test]
    fn patches_merge_objects_and_replace_arrays() {
        let mut value = json!({"a": {"x": 1, "y": [1, 2]}, "b": 1});
        merge(&mut value, &json!({"a": {"x": null, "y": [3], "z": 4}}));
        assert_eq!(value, json!({"a": {"y": [3], "z": 4}, "b": 1}));
    }

    #[test]
    fn numbers_and_flags_are_read_from_text_too() {
        let value = json!({"n": "12", "f": "False"});
        assert_eq!(
            (number(&value, "/n"), flag(&value, "/f")),
            (Some(12), Some(false))
        );
    }
}
