//! The tree is the one of the library: for documents that both take, the typed values are
//! those of `serde_yaml`.

use proptest::{prelude::*, strategy::ValueTree};
use serde_yaml::Value;

use crate::spec::yaml::{
    node::{Content, Node, Reference, Scalar},
    read::read,
    scalar::{Typed, resolve},
};

/// Whether a node is what the library read.
fn same(node: &Node, value: &Value) -> bool {
    match (&node.content, value) {
        (Content::Sequence(items), Value::Sequence(values)) => {
            items.len() == values.len()
                && items
                    .iter()
                    .zip(values)
                    .all(|(item, value)| same(item, value))
        }
        (Content::Mapping(entries), Value::Mapping(values)) => {
            entries.len() == values.len()
                && entries.iter().zip(values).all(|(entry, (key, value))| {
                    same_key(&entry.key, key) && same(&entry.value, value)
                })
        }
        (Content::Scalar(scalar), value) => same_scalar(scalar, value),
        _ => false,
    }
}

fn same_scalar(scalar: &Scalar, value: &Value) -> bool {
    match (resolve(scalar), value) {
        (Typed::Null, Value::Null) => true,
        (Typed::Boolean(ours), Value::Bool(theirs)) => ours == *theirs,
        (Typed::Text, Value::String(theirs)) => scalar.text == *theirs,
        (Typed::Integer(ours), Value::Number(theirs)) => {
            let theirs = theirs
                .as_i64()
                .map(i128::from)
                .or_else(|| theirs.as_u64().map(i128::from));
            theirs == Some(ours)
        }
        (Typed::Float(ours), Value::Number(theirs)) => theirs
            .as_f64()
            .is_some_and(|theirs| theirs.to_bits() == ours.to_bits()),
        _ => false,
    }
}

/// Keys are texts for us, and values of any type for the library.
fn same_key(ours: &str, theirs: &Value) -> bool {
    let plain = Scalar {
        text: ours.to_owned(),
        plain: true,
        reference: Reference::Absent,
    };
    theirs.as_str() == Some(ours) || same_scalar(&plain, theirs)
}

/// Holds a text against the library; whether both take it.
fn agree(text: &str) -> Result<bool, TestCaseError> {
    let (root, findings) = read(text);
    // Anything else is no spec.
    let is_block = |root: &Node| matches!(root.content, Content::Mapping(_));
    let Some(root) = root.filter(|root| is_block(root) && !findings.has_errors()) else {
        return Ok(false);
    };
    let text = text.trim_start_matches('\u{feff}');
    let end = if text.ends_with(['\n', '\r']) {
        ""
    } else {
        "\n"
    };
    let value = serde_yaml::from_str::<Value>(&format!("{text}{end}"));
    let Ok(value) = value else {
        return Ok(false);
    };
    prop_assert!(same(&root, &value), "{text:?}\n{root:?}\n{value:?}");
    Ok(true)
}

/// Tokens of YAML and of specs, from which random texts are put together.
pub(super) const TOKENS: [&str; 62] = [
    "a",
    "b",
    "name",
    ": ",
    ":",
    " ",
    "  ",
    "    ",
    "\n",
    "\n  ",
    "\n    ",
    "\n- ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    ",",
    "\"",
    "'",
    "\"x\"",
    "'y'",
    "|\n",
    ">-\n",
    "|+\n",
    ">+\n",
    "|2\n",
    "#",
    " # c\n",
    "&x ",
    "*x",
    "!t ",
    "!!str ",
    "<<",
    "? ",
    "---\n",
    "...\n",
    "\t",
    "1",
    "0755",
    "0x1f",
    "1.10",
    "1e3",
    "-5",
    "+7",
    ".5",
    "~",
    "null",
    "true",
    "no",
    "NO",
    "한국",
    "é",
    "\\n",
    "\\",
    "%",
    "@",
    "${var.x}",
    "\r\n",
    "2026-11-30",
    ".inf",
];

/// Texts of random tokens.
pub(super) fn tokens(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(TOKENS.to_vec()), 0..most)
        .prop_map(|tokens| tokens.concat())
}

/// Scalars as they may be written.
fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(TOKENS.to_vec())
            .prop_map(|token| token.trim().replace(['\n', '\r'], "")),
        "[-+]?[0-9]{1,22}",
        "[-+]?0[xob][0-9a-fA-F]{1,4}",
        "[-+]?[0-9]{0,3}\\.[0-9]{0,3}([eE][-+]?[0-9]{1,3})?",
        "[a-zA-Z~.+-]{1,6}",
        "(true|True|TRUE|false|False|null|Null|NULL|yes|No|on|OFF|~|\\.nan|\\.NaN|-\\.inf|\\.Inf)",
        "[a-z][a-z0-9 _/.@-]{0,12}",
        "\"[a-z0-9 :#,{}\\[\\]]{0,10}\"",
        "'[a-z0-9 :#,\"{}]{0,10}'",
        "\"(\\\\n|\\\\t|\\\\\"|\\\\u00e9|\\\\x41|[a-z ]){0,6}\"",
        "[가-힣一-龠é]{1,4}",
    ]
}

/// Documents in block and flow style.
fn document() -> impl Strategy<Value = String> {
    let leaf = scalar().prop_map(Written::Scalar);
    let tree = leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Written::List),
            prop::collection::vec(("[a-z0-9]{1,4}", inner), 0..5).prop_map(Written::Block),
        ]
    });
    let block = prop::collection::vec(("[a-z0-9]{1,4}", tree), 1..5).prop_map(Written::Block);
    (block, any::<u64>()).prop_map(|(tree, style)| {
        let mut text = String::new();
        tree.write(&mut text, 0, style, false);
        text.push('\n');
        text
    })
}

#[derive(Clone, Debug)]
enum Written {
    Scalar(String),
    List(Vec<Written>),
    Block(Vec<(String, Written)>),
}

impl Written {
    /// Writes the tree; the bits of `style` choose between flow and block, and add comments.
    fn write(&self, text: &mut String, indent: usize, style: u64, flow: bool) {
        let flow = flow || style & 1 == 1;
        let style = style.rotate_right(1);
        let pad = "  ".repeat(indent);
        match self {
            Self::Scalar(scalar) => text.push_str(scalar),
            Self::List(items) if flow || items.is_empty() => {
                text.push('[');
                for (at, item) in items.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    item.write(text, indent, style, true);
                }
                text.push(']');
            }
            Self::Block(entries) if flow || entries.is_empty() => {
                text.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    text.push_str(if at > 0 { ", " } else { "" });
                    text.extend([format!("{key}: ")]);
                    value.write(text, indent, style, true);
                }
                text.push('}');
            }
            Self::List(items) => {
                for item in items {
                    text.extend([format!("\n{pad}- ")]);
                    item.write(text, indent + 1, style, false);
                    text.push_str(if style & 2 == 2 { " # c" } else { "" });
                }
            }
            Self::Block(entries) => {
                for (key, value) in entries {
                    text.extend([format!("\n{pad}{key}: ")]);
                    value.write(text, indent + 1, style, false);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn documents_are_read_as_the_library_reads_them(text in document()) {
        agree(&text)?;
    }

    #[test]
    fn random_tokens_are_read_as_the_library_reads_them(text in tokens(20)) {
        agree(&format!("a: {text}"))?;
        agree(&format!("a:\n  {text}"))?;
        agree(&text)?;
    }
}

#[test]
fn most_random_documents_are_taken_by_both() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let taken = (0..500).filter(|_| {
        let text = document()
            .new_tree(&mut runner)
            .expect("a document")
            .current();
        agree(&text).is_ok_and(|both| both)
    });
    let taken = taken.count();
    assert!(taken > 150, "{taken}");
}
