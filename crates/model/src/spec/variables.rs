//! `${var.NAME}` and `${env.NAME}`: the variables of a spec, and what stands in their place.
//!
//! References are replaced in values, in the tree. What results is typed as if it stood there
//! without quotes. `$${` is `${` itself.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    findings::Findings,
    read::Inputs,
    schema::kind::joined,
    show,
    trail::Trail,
    yaml::node::{Content, Node, Reference, Scalar},
};
use crate::{
    diag::{At, Code, Diagnostic},
    suggest,
};

/// Most bytes that references may add to a spec, so that it cannot grow without bound.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// A reference, or the text between references.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    /// Text that stays.
    Text(&'a str),
    /// `$${`, which is `${` itself.
    Escaped,
    /// `${var.NAME}`.
    Variable(&'a str),
    /// `${env.NAME}`.
    Environment(&'a str),
    /// `${…}` that is neither, with what is in it; `None` where it has no end.
    Wrong(Option<&'a str>),
}

/// The values of the variables; `None` for those that have none, which is reported.
type Values = BTreeMap<String, Option<Given>>;

struct Given {
    text: String,
    from_environment: bool,
}

/// Replaces all references of a document.
pub(crate) fn substitute(root: &mut Node, inputs: &Inputs, findings: &mut Findings) {
    let values = variables(root, inputs, findings);
    let scope = Scope {
        values: Some(&values),
        inputs,
        added: Cell::new(0),
    };
    let Content::Mapping(entries) = &mut root.content else {
        return;
    };
    for entry in entries {
        let trail = Trail::Key(&Trail::Top, &entry.key);
        if entry.key != "variables" {
            node(&mut entry.value, &scope, &trail, findings);
        }
    }
}

/// The environment variables that a tree refers to.
pub(crate) fn environment(root: &Node) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut nodes = vec![root];
    while let Some(node) = nodes.pop() {
        match &node.content {
            Content::Sequence(items) => nodes.extend(items),
            Content::Mapping(entries) => nodes.extend(entries.iter().map(|entry| &entry.value)),
            Content::Scalar(scalar) => {
                names.extend(
                    parts(&scalar.text)
                        .into_iter()
                        .filter_map(|part| match part {
                            Part::Environment(name) => Some(name.to_owned()),
                            Part::Text(_) | Part::Escaped | Part::Variable(_) | Part::Wrong(_) => {
                                None
                            }
                        }),
                );
            }
        }
    }
    names
}

/// Reads the block `variables`: which there are, and what they are worth.
fn variables(root: &mut Node, inputs: &Inputs, findings: &mut Findings) -> Values {
    let scope = Scope {
        values: None,
        inputs,
        added: Cell::new(0),
    };
    let above = Trail::Key(&Trail::Top, "variables");
    let block = match &mut root.content {
        Content::Mapping(entries) => entries.iter_mut().find(|entry| entry.key == "variables"),
        Content::Scalar(_) | Content::Sequence(_) => None,
    };
    let mut values = Values::new();
    if let Some(block) = block {
        node(&mut block.value, &scope, &above, findings);
        for entry in block.value.entries() {
            let trail = Trail::Key(&above, &entry.key);
            let value = variable(&entry.key, &entry.value, &trail, inputs, findings);
            values.insert(entry.key.clone(), value);
        }
    }
    for name in inputs.variables.keys() {
        if !values.contains_key(name) {
            let message = format!("the spec has no variable {}", show::text(name));
            let finding = Diagnostic::new(Code::SpecVariable, At::Nowhere, message);
            findings.push(
                match suggest::nearest(name, values.keys().map(String::as_str)) {
                    Some(near) => finding.with_help(format!("did you mean `{near}`?")),
                    None => finding.with_help(format!("declare it: `variables: {{{name}: {{}}}}`")),
                },
            );
        }
    }
    values
}

/// The value of one variable: the given one, or its default.
fn variable(
    name: &str,
    declared: &Node,
    trail: &Trail<'_>,
    inputs: &Inputs,
    findings: &mut Findings,
) -> Option<Given> {
    let allowed = Allowed::of(declared);
    let shown = show::name(name);
    if let Some(given) = inputs.variables.get(name) {
        if allowed.takes(given) {
            return Some(Given {
                text: given.clone(),
                from_environment: false,
            });
        }
        let message = format!(
            "variable `{shown}` takes {}, was given {}",
            allowed.names(),
            show::text(given)
        );
        findings.push(
            Diagnostic::new(Code::SpecVariable, trail.key(), message)
                .with_help(format!("give one of them: `--var {shown}=VALUE`")),
        );
        return None;
    }
    let Some(default) = declared.get("default").and_then(Node::scalar) else {
        let message = format!("variable `{shown}` has no value");
        findings.push(
            Diagnostic::new(Code::SpecVariable, trail.key(), message).with_help(format!(
                "give one with `--var {shown}=VALUE`, or a `default`"
            )),
        );
        return None;
    };
    if default.reference == Reference::Broken {
        return None;
    }
    if !allowed.takes(&default.text) {
        let message = format!(
            "variable `{shown}` takes {}, its default is {}",
            allowed.names(),
            show::scalar(default)
        );
        let at = Trail::Key(trail, "default").value();
        findings.push(
            Diagnostic::new(Code::SpecVariable, at, message)
                .with_help("add it to `allowed`, or change the default"),
        );
        return None;
    }
    Some(Given {
        text: default.text.clone(),
        from_environment: matches!(
            default.reference,
            Reference::Replaced {
                from_environment: true,
                ..
            }
        ),
    })
}

/// The values that a variable takes; any where none are listed.
struct Allowed<'a>(Vec<&'a Scalar>);

impl<'a> Allowed<'a> {
    fn of(declared: &'a Node) -> Self {
        let list = declared.get("allowed").map(Node::items).unwrap_or_default();
        Self(list.iter().filter_map(Node::scalar).collect())
    }

    fn takes(&self, text: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|value| value.text == text)
    }

    fn names(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|value| show::scalar(value)).collect();
        joined(&names, "or")
    }
}

struct Scope<'a> {
    /// The variables; `None` inside the block that declares them.
    values: Option<&'a Values>,
    inputs: &'a Inputs,
    /// Bytes that references have added.
    added: Cell<usize>,
}

fn node(value: &mut Node, scope: &Scope<'_>, trail: &Trail<'_>, findings: &mut Findings) {
    match &mut value.content {
        Content::Scalar(found) => scalar(found, scope, trail, findings),
        Content::Sequence(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                node(item, scope, &Trail::Index(trail, index), findings);
            }
        }
        Content::Mapping(entries) => {
            for entry in entries {
                let trail = Trail::Key(trail, &entry.key);
                if ["${var.", "${env."]
                    .iter()
                    .any(|start| entry.key.contains(start))
                {
                    let message =
                        format!("a reference stands in a key: {}", show::text(&entry.key));
                    findings.push(
                        Diagnostic::new(Code::SpecVariable, trail.key(), message)
                            .with_help("references stand in values only"),
                    );
                }
                node(&mut entry.value, scope, &trail, findings);
            }
        }
    }
}

fn scalar(scalar: &mut Scalar, scope: &Scope<'_>, trail: &Trail<'_>, findings: &mut Findings) {
    if !scalar.text.contains("${") {
        return;
    }
    let mut text = String::new();
    let mut replaced = false;
    let mut from_environment = false;
    for part in parts(&scalar.text) {
        match scope.resolve(&part, trail) {
            Ok(Resolved::Text(part)) => text.push_str(part),
            Ok(Resolved::Value(value, secret)) => {
                scope.added.set(scope.added.get() + value.len());
                if scope.added.get() > MOST_BYTES {
                    let message = format!("references add more than {MOST_BYTES} bytes");
                    findings.push(
                        Diagnostic::new(Code::SpecVariable, trail.value(), message)
                            .with_help("give variables short values"),
                    );
                    scalar.reference = Reference::Broken;
                    return;
                }
                text.push_str(value);
                replaced = true;
                from_environment |= secret;
            }
            Ok(Resolved::Reported) => {
                scalar.reference = Reference::Broken;
                return;
            }
            Err(finding) => {
                findings.push(*finding);
                scalar.reference = Reference::Broken;
                return;
            }
        }
    }
    let written = std::mem::replace(&mut scalar.text, text);
    if replaced {
        scalar.plain = true;
        scalar.reference = Reference::Replaced {
            written,
            from_environment,
        };
    }
}

enum Resolved<'a> {
    /// Text that was there.
    Text(&'a str),
    /// What stands for a reference, and whether it is from the environment.
    Value(&'a str, bool),
    /// A variable without value, which is reported.
    Reported,
}

impl<'a> Scope<'a> {
    fn resolve(&self, part: &Part<'a>, trail: &Trail<'_>) -> Result<Resolved<'a>, Box<Diagnostic>> {
        let wrong = |message: String, help: String| {
            let finding = Diagnostic::new(Code::SpecVariable, trail.value(), message);
            Err(Box::new(finding.with_help(help)))
        };
        match part {
            Part::Text(text) => Ok(Resolved::Text(text)),
            Part::Escaped => Ok(Resolved::Text("${")),
            Part::Environment(name) => match self.inputs.environment.get(*name) {
                Some(value) => Ok(Resolved::Value(value, true)),
                None => wrong(
                    format!("the environment variable `{name}` is not set"),
                    format!("set `{name}`, or use `${{var.NAME}}` with a default"),
                ),
            },
            Part::Variable(name) => {
                let Some(values) = self.values else {
                    return wrong(
                        format!("variable `{name}` is used where variables are declared"),
                        "use `${env.NAME}`, or write the value".to_owned(),
                    );
                };
                match values.get(*name) {
                    Some(Some(value)) => Ok(Resolved::Value(&value.text, value.from_environment)),
                    Some(None) => Ok(Resolved::Reported),
                    None => wrong(
                        format!("the spec has no variable `{name}`"),
                        match suggest::nearest(name, values.keys().map(String::as_str)) {
                            Some(near) => format!("did you mean `${{var.{near}}}`?"),
                            None => format!("declare it: `variables: {{{name}: {{default: …}}}}`"),
                        },
                    ),
                }
            }
            Part::Wrong(None) => wrong(
                "a reference has no end".to_owned(),
                "close it with `}`, or write `$${` for the text itself".to_owned(),
            ),
            Part::Wrong(Some(inside)) => wrong(
                format!(
                    "expected `${{var.NAME}}` or `${{env.NAME}}`, found {}",
                    show::text(&format!("${{{inside}}}"))
                ),
                format!("write `$${{{inside}}}` for the text itself"),
            ),
        }
    }
}

/// Splits a text at its references.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, reference) = rest.split_at(at);
        let inside = reference.get(2..).unwrap_or_default();
        if let Some(before) = before.strip_suffix('$') {
            parts.extend([Part::Text(before), Part::Escaped]);
            rest = inside;
            continue;
        }
        parts.push(Part::Text(before));
        let Some((name, behind)) = inside.split_once('}') else {
            parts.push(Part::Wrong(None));
            return parts;
        };
        parts.push(reference_to(name));
        rest = behind;
    }
    parts.push(Part::Text(rest));
    parts
}

fn reference_to(inside: &str) -> Part<'_> {
    use super::schema::forms::names::{ENVIRONMENT, VARIABLE};
    match inside.split_once('.') {
        Some(("var", name)) if (VARIABLE.check)(name).is_ok() => Part::Variable(name),
        Some(("env", name)) if (ENVIRONMENT.check)(name).is_ok() => Part::Environment(name),
        _ => Part::Wrong(Some(inside)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_split_at_references() {
        assert_eq!(
            parts("a-${var.env}-$${x}$"),
            [
                Part::Text("a-"),
                Part::Variable("env"),
                Part::Text("-"),
                Part::Escaped,
                Part::Text("x}$"),
            ]
        );
        assert_eq!(
            parts("${env.HOME}${HOME}${var.a"),
            [
                Part::Text(""),
                Part::Environment("HOME"),
                Part::Text(""),
                Part::Wrong(Some("HOME")),
                Part::Text(""),
                Part::Wrong(None),
            ]
        );
        assert_eq!(parts("$5 {x}"), [Part::Text("$5 {x}")]);
        assert_eq!(parts("${ var.x }")[1], Part::Wrong(Some(" var.x ")));
    }
}
