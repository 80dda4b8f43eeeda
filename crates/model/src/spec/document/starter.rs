//! A commented spec to start from.

use crate::{
    catalog::Catalog,
    spec::{
        pool::{Orchestrator, Stage, Workload},
        schema::{
            forms::quantities::parse_count,
            kind::{Block, Key, Presence, Support},
            pool::POOL,
            stack::SPEC,
            words,
        },
    },
};

/// A commented spec with one pool for this use, which is valid as it is.
///
/// `model` is a number of parameters such as `70B`, or a name that has one in it. What this
/// version does not support is said in a comment instead of being written.
pub fn starter(
    stage: Stage,
    workload: Workload,
    model: Option<&str>,
    orchestrator: Orchestrator,
) -> String {
    let stage_word = words::word_of(words::STAGES, stage).unwrap_or_default();
    let workload_word = words::word_of(words::WORKLOADS, workload).unwrap_or_default();
    let pool = match stage {
        Stage::Training => "train",
        Stage::Inference => "serve",
    };
    let mut text = String::new();
    text.push_str("# A stack: what stands here is built by `tensorform apply`.\n");
    text.push_str("# `tensorform plan` shows what that would be, and what it would cost.\n");
    for (name, value) in [
        ("version", "1"),
        ("name", "my-stack"),
        ("location", "eastus"),
    ] {
        text.push_str(&line(&SPEC, name, value, ""));
    }
    if orchestrator == Orchestrator::CycleCloud {
        let example = find(&SPEC, "cyclecloud").map_or("", |key| key.example);
        text.push_str(&line(&SPEC, "cyclecloud", example, ""));
    }
    text.push_str(&optional(&SPEC, "", &["aks", "cyclecloud"]));
    text.push_str("\npools:\n");
    text.extend(["  ", pool, ":\n"]);
    text.push_str(&line(&POOL, "stage", stage_word, "    "));
    text.push_str(&line(&POOL, "workload", workload_word, "    "));
    text.push_str(&model_lines(model));
    text.push_str(&orchestrator_lines(orchestrator));
    // A deadline is for training, and needs tokens; a password is for Windows; checkpoints need an
    // identity.
    text.push_str(&optional(
        &POOL,
        "    ",
        &[
            "model",
            "orchestrator",
            "batch",
            "aks",
            "scheduler",
            "deadline",
            "password",
            "checkpoint",
        ],
    ));
    text
}

/// A key with its value, below what it does.
fn line(block: &Block, name: &str, value: &str, indent: &str) -> String {
    let doc = find(block, name).map_or("", |key| key.doc);
    format!("{indent}# {doc}\n{indent}{name}: {value}\n")
}

fn find<'a>(block: &'a Block, name: &str) -> Option<&'a Key> {
    block.keys.iter().find(|key| key.name == name)
}

/// The other supported keys of a block, commented out.
fn optional(block: &Block, indent: &str, but: &[&str]) -> String {
    let mut text =
        format!("\n{indent}# What else may stand here, with its default or an example:\n");
    let others = block.keys.iter().filter(|key| {
        let supported = matches!(key.support, Support::Now);
        let required = matches!(key.presence, Presence::Required);
        supported && !required && !but.contains(&key.name)
    });
    text.extend(others.map(|key| {
        let value = match key.presence {
            Presence::Default(default) if default != "[]" => default,
            Presence::Default(_) | Presence::Optional | Presence::Required => key.example,
        };
        format!("{indent}# {}: {value}\n{indent}#   {}\n", key.name, key.doc)
    }));
    text
}

fn model_lines(model: Option<&str>) -> String {
    let doc = find(&POOL, "model").map_or("", |key| key.doc);
    let known = model.and_then(|name| Catalog::embedded().model(name));
    if let Some(known) = known {
        return format!("    # {doc}\n    model: {{name: {}}}\n", known.name);
    }
    let parameters = model.and_then(parameters).map(with_upper_unit);
    match (model, parameters) {
        (Some(given), Some(parameters)) if given.eq_ignore_ascii_case(&parameters) => {
            format!("    # {doc}\n    model: {{parameters: {parameters}}}\n")
        }
        (Some(given), Some(parameters)) => format!(
            "    # {doc}\n    # The number is the one in the name `{}`.\n    model: {{parameters: {parameters}}}\n",
            comment(given)
        ),
        (Some(given), None) => format!(
            "    # {doc}\n    # No known model has the name `{}`, and it has no number of parameters in it.\n    # model: {{parameters: 70B}}\n",
            comment(given)
        ),
        (None, _) => format!("    # {doc}\n    # model: {{parameters: 70B}}\n"),
    }
}

/// The number of parameters that a text is, or that a name has as one of its parts.
fn parameters(model: &str) -> Option<&str> {
    let is_count = |text: &&str| parse_count(text).is_some_and(|count| count > 0);
    if is_count(&model) {
        return Some(model);
    }
    let mut parts = model.split(['-', '_', '/', ':', ' ']).filter(|part| {
        let has_unit = part.ends_with(['b', 'B', 'm', 'M', 't', 'T']);
        has_unit && is_count(part)
    });
    match (parts.next(), parts.next()) {
        (Some(part), None) => Some(part),
        _ => None,
    }
}

/// `70B` for `70b`.
fn with_upper_unit(count: &str) -> String {
    match count.chars().next_back() {
        Some('k' | 'm' | 'b' | 't') => count.to_ascii_uppercase(),
        _ => count.to_owned(),
    }
}

fn orchestrator_lines(orchestrator: Orchestrator) -> String {
    let word = words::ORCHESTRATORS
        .iter()
        .position(|(_, value)| *value == orchestrator)
        .and_then(|index| words::ORCHESTRATOR.get(index));
    let Some(word) = word else {
        return String::new();
    };
    match word.support {
        Support::Now => line(&POOL, "orchestrator", word.text, "    "),
        Support::NotYet(later) => format!(
            "    # `{}` is not supported yet: this version {}.\n{}",
            word.text,
            later.lacks,
            line(&POOL, "orchestrator", "manual", "    ")
        ),
    }
}

/// A text that cannot end the comment it stands in.
fn comment(text: &str) -> String {
    text.chars()
        .filter(|character| !character.is_control() && !is_line_break(*character))
        .take(80)
        .collect()
}

fn is_line_break(character: char) -> bool {
    matches!(character, '\u{2028}' | '\u{2029}')
}
