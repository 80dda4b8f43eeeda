//! The reference of the spec, in Markdown.

use super::{blocks, json_schema::not_yet};
use crate::spec::schema::{
    kind::{Block, Key, Kind, Later, Presence, Support, Word},
    stack::SPEC,
};

const INTRODUCTION: &str = "\
# The spec

A stack is described by one YAML file, `tensorform.yaml` unless `--file` names another. This
page is made from the tables that the file is held against; `tensorform schema` prints the same
as a JSON schema.

- The smallest spec has `version`, `name`, `location` and one pool with `stage` and `workload`.
- Unknown keys, keys that stand twice, merge keys (`<<`), tags (`!…`), a second document and tabs
  outside of quoted texts are errors. Anchors and aliases may be used.
- `${var.NAME}` and `${env.NAME}` may stand in values, not in keys. What they stand for is read as
  if it were written there. Inside `[…]` and `{…}` a reference is put in quotes. `$${` is `${`.
- Spans of time are whole numbers with `s`, `m`, `h` or `d`. Only `true` and `false` are booleans:
  `yes`, `no`, `on` and `off` are texts. A number has no leading zeros.
- What is marked \"not supported yet\" is read and checked, and refused with SPEC008.
";

/// The reference of the spec, in Markdown.
pub fn reference() -> String {
    let mut text = INTRODUCTION.to_owned();
    for block in blocks(&SPEC) {
        text.push_str(&section(block));
    }
    text
}

fn section(block: &Block) -> String {
    let mut text = format!(
        "\n## {}\n\n{}\n\n| key | takes | without it | what it does |\n|---|---|---|---|\n",
        title(block),
        block.doc
    );
    for key in block.keys {
        text.push_str(&row(key));
    }
    for key in block.keys.iter().filter(|key| key.kind.words.len() > 1) {
        text.push_str(&words(key));
    }
    text.push_str("\n```yaml\n");
    let examples = block.keys.iter();
    text.extend(examples.map(|key| format!("{}: {}\n", key.name, key.example)));
    text.push_str("```\n");
    text
}

fn title(block: &Block) -> String {
    match block.name {
        "spec" => "Top level".to_owned(),
        "pool" => "`pools.<name>`".to_owned(),
        "variable" => "`variables.<name>`".to_owned(),
        "os_disk" => "`disks.os`".to_owned(),
        "data_disk" => "`disks.data[]`".to_owned(),
        "mount" => "`mounts[]`".to_owned(),
        "spot" => "`priority.spot`".to_owned(),
        name => format!("`{name}`"),
    }
}

fn row(key: &Key) -> String {
    let without = match key.presence {
        Presence::Required => "required".to_owned(),
        Presence::Optional => "—".to_owned(),
        Presence::Default(default) => format!("`{default}`"),
    };
    let support = match key.support {
        Support::Now => String::new(),
        Support::NotYet(later) => format!(" {}", not_yet(later)),
    };
    let takes = takes(&key.kind).replace('|', "\\|");
    format!(
        "| `{}` | {takes} | {without} | {}{support} |\n",
        key.name, key.doc
    )
}

/// What a key takes; many words are listed below the table.
fn takes(kind: &Kind) -> String {
    if kind.words.len() > 4 && kind.scalar.is_none() {
        let or_list = kind.list.map_or("", |_| ", or a list of them");
        return format!("a word, see below{or_list}");
    }
    kind.expected()
}

/// The words of a key, those that are not supported for one reason in one line.
fn words(key: &Key) -> String {
    let mut supported = Vec::new();
    let mut later: Vec<(&Later, Vec<&Word>)> = Vec::new();
    for word in key.kind.words {
        match word.support {
            Support::Now => supported.push(format!("- `{}`: {}\n", word.text, word.doc)),
            Support::NotYet(reason) => {
                match later
                    .iter_mut()
                    .find(|(known, _)| known.lacks == reason.lacks)
                {
                    Some((_, words)) => words.push(word),
                    None => later.push((reason, vec![word])),
                }
            }
        }
    }
    let later = later.iter().map(|(reason, words)| {
        let words: Vec<String> = words
            .iter()
            .map(|word| format!("`{}` ({})", word.text, word.doc))
            .collect();
        format!("- {}. {}\n", words.join(", "), not_yet(reason))
    });
    let mut text = format!("\n`{}`:\n", key.name);
    text.extend(supported);
    text.extend(later);
    text
}
