//! Holds a tree against the tables: unknown and missing keys, wrong types, and what this
//! version does not act on yet. Single values are in [`values`].

mod values;

use super::{
    findings::Findings,
    schema::{
        kind::{Block, Key, Kind, List, Map, Presence, Support},
        lookup::{self, Meant},
        stack::SPEC,
    },
    show,
    trail::Trail,
    yaml::{
        node::{Content, Entry, Node, Reference},
        scalar::{Typed, resolve},
    },
};
use crate::diag::{Code, Diagnostic};

/// Words that are booleans in YAML 1.1 and texts here.
const BOOLEANS_OF_YAML_1_1: [&str; 10] =
    ["yes", "no", "on", "off", "y", "n", "Yes", "No", "YES", "NO"];

/// Holds a whole document against the tables.
pub(crate) fn document(root: &Node, findings: &mut Findings) {
    let top = Trail::Top;
    match &root.content {
        Content::Mapping(entries) => block(entries, &SPEC, &top, findings),
        Content::Scalar(scalar) if resolve(scalar) == Typed::Null => findings.push(
            Diagnostic::new(Code::SpecMissingKey, top.key(), "the spec is empty")
                .with_help("`tensorform init` writes one to start from"),
        ),
        Content::Scalar(_) | Content::Sequence(_) => {
            let message = format!(
                "a spec is a block of keys such as `version: 1`, found {}",
                show::found(root)
            );
            findings.push(
                Diagnostic::new(Code::SpecWrongType, top.value(), message)
                    .with_help("`tensorform init` writes a spec to start from"),
            );
        }
    }
}

fn block(entries: &[Entry], block: &'static Block, trail: &Trail<'_>, findings: &mut Findings) {
    let mut meant_here = Vec::new();
    for entry in entries {
        let at = Trail::Key(trail, &entry.key);
        let Some(key) = block.keys.iter().find(|key| key.name == entry.key) else {
            findings.push_with(|| unknown_key(entry, block, trail, &mut meant_here));
            continue;
        };
        if let Support::NotYet(later) = key.support
            && !says_default(&entry.value, key)
        {
            let message = format!(
                "`{}` is not supported yet: this version {}",
                key.name, later.lacks
            );
            findings.push(
                Diagnostic::new(Code::SpecNotSupportedYet, at.key(), message)
                    .with_help(later.instead),
            );
        }
        value(&entry.value, key.name, &key.kind, &at, findings);
    }
    for key in block.keys {
        let missing = matches!(key.presence, Presence::Required)
            && !entries.iter().any(|entry| entry.key == key.name)
            && !meant_here.contains(&key.name);
        if missing {
            let message = format!("missing key `{}` {}", key.name, trail.inside());
            findings.push(
                Diagnostic::new(Code::SpecMissingKey, trail.key(), message).with_help(add(key)),
            );
        }
    }
}

/// Help for a missing key.
fn add(key: &Key) -> String {
    let example = format!("add `{}: {}`", key.name, key.example);
    if key.kind.words.is_empty() {
        example
    } else {
        format!("{example}: {}", key.kind.expected())
    }
}

fn unknown_key(
    entry: &Entry,
    block: &'static Block,
    trail: &Trail<'_>,
    meant_here: &mut Vec<&'static str>,
) -> Diagnostic {
    let at = Trail::Key(trail, &entry.key);
    let message = format!("unknown key {} {}", show::text(&entry.key), trail.inside());
    let mut finding = Diagnostic::new(Code::SpecUnknownKey, at.key(), message);
    match lookup::meant(block, &entry.key) {
        Some(Meant::Here(name)) => {
            meant_here.push(name);
            finding = finding.with_help(format!("did you mean `{name}`?"));
        }
        Some(Meant::Elsewhere(words)) => {
            finding = finding.with_help(format!("did you mean {words}?"));
        }
        None if block.keys.len() <= 12 => {
            let names: Vec<String> = block
                .keys
                .iter()
                .map(|key| format!("`{}`", key.name))
                .collect();
            finding = finding.with_help(format!("there are {}", names.join(", ")));
        }
        None => {
            finding = finding.with_help("`tensorform schema` prints all keys");
        }
    }
    let yes_or_no = entry
        .value
        .scalar()
        .filter(|scalar| scalar.plain && BOOLEANS_OF_YAML_1_1.contains(&scalar.text.as_str()));
    if let Some(scalar) = yes_or_no {
        finding = finding.with_help(format!("use true or false: `{}` is a text", scalar.text));
    }
    finding
}

fn value(node: &Node, name: &str, kind: &Kind, trail: &Trail<'_>, findings: &mut Findings) {
    match &node.content {
        Content::Scalar(scalar) => {
            if scalar.reference != Reference::Broken {
                values::scalar(scalar, node, name, kind, trail, findings);
            }
        }
        Content::Sequence(items) => match kind.list {
            Some(form) => list(items, name, form, trail, findings),
            None => findings.push(wrong_type(node, name, kind, trail)),
        },
        Content::Mapping(entries) => match (kind.block, kind.map) {
            (Some(form), _) => block(entries, form, trail, findings),
            (None, Some(form)) => map(entries, name, form, trail, findings),
            (None, None) => findings.push(wrong_type(node, name, kind, trail)),
        },
    }
}

fn wrong_type(node: &Node, name: &str, kind: &Kind, trail: &Trail<'_>) -> Diagnostic {
    let message = format!(
        "`{name}` takes {}, found {}",
        kind.expected(),
        show::found(node)
    );
    let finding = Diagnostic::new(Code::SpecWrongType, trail.value(), message);
    let one_of_a_list = matches!(node.content, Content::Mapping(_))
        && kind.list.is_some_and(|list| list.item.block.is_some());
    if one_of_a_list {
        finding.with_help("begin each of them with `- `")
    } else {
        finding
    }
}

fn list(items: &[Node], name: &str, form: &List, trail: &Trail<'_>, findings: &mut Findings) {
    if form.not_empty && items.is_empty() {
        let message = format!(
            "`{name}` takes one or more {}, found an empty list",
            form.nouns
        );
        findings.push(
            Diagnostic::new(Code::SpecInvalidValue, trail.value(), message)
                .with_help(format!("add one, or remove `{name}`")),
        );
    }
    let mut seen = std::collections::BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let at = Trail::Index(trail, index);
        let subject = format!("{name}[{index}]");
        value(item, &subject, &form.item, &at, findings);
        let Some(scalar) = item.scalar().filter(|_| form.distinct) else {
            continue;
        };
        let folded: String = scalar
            .text
            .chars()
            .filter(|character| !character.is_whitespace())
            .flat_map(char::to_lowercase)
            .collect();
        if let Some(first) = seen.get(&folded) {
            let message = format!("`{name}` has {} twice", values::shown(scalar, &form.item));
            findings.push(
                Diagnostic::new(Code::SpecInvalidValue, at.value(), message)
                    .with_related(Trail::Index(trail, *first).value(), "it stands here first")
                    .with_help("keep one of them"),
            );
        } else {
            seen.insert(folded, index);
        }
    }
}

fn map(entries: &[Entry], name: &str, form: &Map, trail: &Trail<'_>, findings: &mut Findings) {
    if form.not_empty && entries.is_empty() {
        let message = format!("`{name}` takes one or more {}s, found none", form.noun);
        findings.push(
            Diagnostic::new(Code::SpecInvalidValue, trail.key(), message)
                .with_help("`tensorform init` writes a spec to start from"),
        );
    }
    if entries.len() > form.most {
        let message = format!(
            "`{name}` takes {} {}s at most, found {}",
            form.most,
            form.noun,
            entries.len()
        );
        findings.push(
            Diagnostic::new(Code::SpecInvalidValue, trail.key(), message).with_help(form.too_many),
        );
    }
    for entry in entries {
        let at = Trail::Key(trail, &entry.key);
        if let Err(refusal) = (form.key.check)(&entry.key) {
            let message = format!(
                "a key of `{name}` takes {}, found {}",
                form.key.expected,
                show::text(&entry.key)
            );
            findings.push(values::refused(refusal, at.key(), message));
        }
        let name = show::name(&entry.key);
        value(&entry.value, &name, &form.value, &at, findings);
    }
}

/// Whether a value says no more than the absence of its key.
fn says_default(node: &Node, key: &Key) -> bool {
    let Presence::Default(default) = key.presence else {
        return false;
    };
    match &node.content {
        Content::Sequence(items) => items.is_empty() && default == "[]",
        Content::Mapping(_) => false,
        Content::Scalar(scalar) => {
            let equal_spans = matches!(
                (scalar.text.parse(), default.parse()),
                (Ok::<crate::units::Span, _>(given), Ok::<crate::units::Span, _>(default)) if given == default
            );
            let null = key.kind.null && default == "null" && resolve(scalar) == Typed::Null;
            scalar.text == default || equal_spans || null
        }
    }
}
