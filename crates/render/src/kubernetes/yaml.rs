//! Documents as YAML in its plainest form: blocks, sorted keys, and quotes where a word could be
//! read as something else.

use std::fmt::Write as _;

use serde_json::Value;

/// Words that YAML readers take for something else than text.
const RESERVED: [&str; 8] = ["true", "false", "yes", "no", "on", "off", "null", "y"];

/// As one document without its beginning.
pub(super) fn document(value: &Value) -> String {
    let mut text = String::new();
    block(value, 0, &mut text);
    text
}

fn block(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort();
            for name in names {
                if let Some(member) = members.get(name) {
                    let name = scalar(name);
                    let _ = write!(text, "{:indent$}{name}:", "");
                    below(member, indent, text);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                let _ = write!(text, "{:indent$}-", "");
                match item {
                    Value::Object(members) if !members.is_empty() => {
                        // The first member stands beside the dash.
                        let mut lines = String::new();
                        block(item, indent + 2, &mut lines);
                        text.push(' ');
                        text.push_str(lines.trim_start());
                    }
                    Value::Array(items) if !items.is_empty() => {
                        text.push('\n');
                        block(item, indent + 2, text);
                    }
                    Value::Object(_)
                    | Value::Array(_)
                    | Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::String(_) => below(item, indent, text),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            below(value, indent, text);
        }
    }
}

/// What stands behind a key or a dash.
fn below(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(members) if members.is_empty() => text.push_str(" {}\n"),
        Value::Array(items) if items.is_empty() => text.push_str(" []\n"),
        Value::Object(_) => {
            text.push('\n');
            block(value, indent + 2, text);
        }
        Value::Array(_) => {
            text.push('\n');
            block(value, indent, text);
        }
        Value::String(line) if line.ends_with('\n') && !line.starts_with([' ', '\n']) => {
            text.push_str(" |\n");
            for line in line.lines() {
                let line = format!("{:1$}{line}", "", indent + 2);
                text.push_str(line.trim_end());
                text.push('\n');
            }
        }
        Value::String(line) => {
            let _ = writeln!(text, " {}", scalar(line));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            let _ = writeln!(text, " {value}");
        }
    }
}

/// A word as it stands, or in quotes: those of JSON are those of YAML.
fn scalar(word: &str) -> String {
    if is_plain(word) {
        word.to_owned()
    } else {
        Value::from(word).to_string()
    }
}

fn is_plain(word: &str) -> bool {
    let begins_well =
        word.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/');
    let ends_well = word.ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '/');
    let is_known = |letter: char| letter.is_ascii_alphanumeric() || "/._:-".contains(letter);
    let is_reserved = RESERVED.iter().any(|one| word.eq_ignore_ascii_case(one)) || word == "n";
    begins_well && ends_well && word.chars().all(is_known) && !is_reserved
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::document;

    #[test]
    fn maps_and_lists_are_blocks() {
        let value = json!({
            "kind": "Pod",
            "empty": {}, "none": [], "number": 3, "flag": false,
            "list": [{"name": "a", "value": "1"}, "b", ["c"]],
            "deep": {"er": {"est": "x"}},
            "script": "first\n  second\n",
        });
        let expected = "\
deep:
  er:
    est: x
empty: {}
flag: false
kind: Pod
list:
- name: a
  value: \"1\"
- b
-
  - c
none: []
number: 3
script: |
  first
    second
";
        assert_eq!(document(&value), expected);
    }

    #[test]
    fn words_that_could_be_something_else_stand_in_quotes() {
        for (word, expected) in [
            ("yes", "\"yes\""),
            ("No", "\"No\""),
            ("1.10", "\"1.10\""),
            ("", "\"\""),
            ("a: b", "\"a: b\""),
            ("a #b", "\"a #b\""),
            ("nvcr.io/nvidia/cuda:12.1", "nvcr.io/nvidia/cuda:12.1"),
            ("key:", "\"key:\""),
            ("/var/lib/kubelet", "/var/lib/kubelet"),
            ("say \"x\"", "\"say \\\"x\\\"\""),
            ("two\nlines", "\"two\\nlines\""),
            ("-x", "\"-x\""),
            ("*", "\"*\""),
        ] {
            assert_eq!(document(&json!({"a": word})), format!("a: {expected}\n"));
        }
    }
}
