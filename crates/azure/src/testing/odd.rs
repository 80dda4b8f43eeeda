//! Answers that keep no promise: any JSON, and good answers with something wrong in them.

use proptest::{prelude::*, sample::Index};
use serde_json::{Map, Number, Value, json};

/// So deep that whoever reads it by recursion without a limit ends.
const DEEP: usize = 120;

/// Values that stand where others are expected.
pub(crate) fn scalar() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        Just(json!(0)),
        Just(json!(-1)),
        Just(json!(u64::MAX)),
        Just(json!(i64::MIN)),
        Just(json!(4_294_967_296_u64)),
        Just(json!(1e308)),
        Just(json!(-1e-308)),
        any::<f64>().prop_map(|float| Number::from_f64(float).map_or(Value::Null, Value::Number)),
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number,
        text().prop_map(Value::String),
    ]
}

/// Texts that a reader may trip over.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just(" ".to_owned()),
        Just("/".to_owned()),
        Just("/subscriptions//resourceGroups//".to_owned()),
        Just("/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute".to_owned()),
        Just("QuiteNewWord".to_owned()),
        Just("99999999999999999999999999".to_owned()),
        Just("-1".to_owned()),
        Just("1e999".to_owned()),
        Just("NaN".to_owned()),
        Just("\u{1b}[2J\u{0}\u{202e}".to_owned()),
        Just("ü".repeat(3_000)),
        "[ -~]{0,20}",
        any::<String>(),
    ]
}

/// Any JSON.
pub(crate) fn json() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        "(id|error|code|message|details|value|nextLink|status|properties|tags|access_token)",
        "[a-zA-Z]{0,6}",
    ];
    scalar().prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec((name.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Bytes of a body: JSON, a beginning of JSON, a page of a proxy, or anything.
pub(crate) fn body() -> impl Strategy<Value = Vec<u8>> {
    let whole = json().prop_map(|value| value.to_string().into_bytes());
    let cut = (json(), any::<Index>()).prop_map(|(value, at)| {
        let mut bytes = value.to_string().into_bytes();
        bytes.truncate(at.index(bytes.len()));
        bytes
    });
    prop_oneof![
        4 => whole,
        1 => cut,
        1 => Just(b"<html>Bad Gateway</html>".to_vec()),
        1 => Just(b"\xef\xbb\xbf{}".to_vec()),
        1 => Just(vec![b'['; 100_000]),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
    ]
}

/// What goes wrong with one member.
#[derive(Clone, Debug)]
enum Harm {
    Removed,
    Replaced(Value),
    OtherCase,
    Listed,
    Buried,
    Twice,
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        2 => Just(Harm::Removed),
        4 => json().prop_map(Harm::Replaced),
        1 => Just(Harm::OtherCase),
        1 => Just(Harm::Listed),
        1 => Just(Harm::Buried),
        1 => Just(Harm::Twice),
    ]
}

/// Any of these with up to three things wrong in it.
pub(crate) fn harmed(good: Vec<Value>) -> impl Strategy<Value = Value> {
    let harms = proptest::collection::vec((any::<Index>(), harm()), 0..4);
    (proptest::sample::select(good), harms).prop_map(|(mut value, harms)| {
        for (at, harm) in harms {
            let places = count(&value);
            do_harm(&mut value, &mut at.index(places), &harm);
        }
        value
    })
}

/// How many values there are in a value, itself included.
fn count(value: &Value) -> usize {
    1 + children(value).map(count).sum::<usize>()
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            Box::new(std::iter::empty())
        }
    }
}

/// Harms the value at a place, counted from the outermost; tells whether the place was in here.
fn do_harm(value: &mut Value, place: &mut usize, harm: &Harm) -> bool {
    if *place == 0 {
        change(value, harm);
        return true;
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| do_harm(item, place, harm)),
        Value::Object(members) => {
            let names: Vec<String> = members.keys().cloned().collect();
            for name in names {
                if *place == 0 && matches!(harm, Harm::Removed | Harm::OtherCase) {
                    change_name(members, &name, harm);
                    return true;
                }
                let member = members.get_mut(&name).expect("its name was just read");
                if do_harm(member, place, harm) {
                    return true;
                }
            }
            false
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn change_name(members: &mut Map<String, Value>, name: &str, harm: &Harm) {
    let value = members.remove(name).unwrap_or_default();
    if matches!(harm, Harm::OtherCase) {
        members.insert(name.to_uppercase(), value);
    }
}

fn change(value: &mut Value, harm: &Harm) {
    let old = value.take();
    *value = match harm {
        Harm::Removed => Value::Null,
        Harm::Replaced(new) => new.clone(),
        Harm::OtherCase => match old {
            Value::String(text) => Value::String(text.to_uppercase()),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => other,
        },
        Harm::Listed => json!([old]),
        Harm::Buried => (0..DEEP).fold(old, |inner, _| json!({ "properties": inner })),
        Harm::Twice => match old {
            Value::Array(mut items) => {
                items.extend(items.clone());
                Value::Array(items)
            }
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_)) => json!([other, other]),
        },
    };
}
