//! Scripts of bootstraps: read for a plan, and once more for an apply.

use std::path::Path;

use model::{
    diag::{At, Code, Diagnostic, Diagnostics, SpecPath},
    digest,
    plan::{Operation, Plan, ScriptReference},
    resource::tags,
    spec::{ScriptText, Spec},
};
use planner::bootstrap;

use crate::{app::App, files, keys, stop::Stop};

/// Reads the scripts that pools of the spec name.
pub(crate) fn read_scripts(app: &App, spec: &mut Spec, findings: &mut Diagnostics) {
    for (name, pool) in &mut spec.pools {
        let Some(bootstrap) = &mut pool.bootstrap else {
            continue;
        };
        match read(&keys::expand(app, &bootstrap.script)) {
            Ok(text) => bootstrap.text = Some(ScriptText(text)),
            Err(why) => {
                let at = At::Value(SpecPath::pool(name, &["bootstrap", "script"]));
                let message = format!("`{}` {why}", bootstrap.script);
                let finding = Diagnostic::new(Code::ScriptUnusable, at, message);
                findings.push(finding.with_help(
                    "expected a script in UTF-8 whose first line is `#!` and its interpreter, as in `#!/bin/bash`",
                ));
            }
        }
    }
    findings.sort();
}

/// The text of a script that a node can run, or why it cannot.
fn read(path: &Path) -> Result<String, String> {
    let bytes = files::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text".to_owned())?;
    match bootstrap::flaw(&text) {
        Some(flaw) => Err(flaw.to_owned()),
        None => Ok(text),
    }
}

/// What new nodes of a plan run when they start first. Scripts are read again: the plan has their
/// digests only.
///
/// # Errors
/// A script is not what it was when the plan was made.
pub(crate) fn custom_data(app: &App, plan: &Plan) -> Result<azure::CustomData, Stop> {
    let mut all = azure::CustomData::default();
    if !plan.changes().any(|step| starts_nodes(&step.operations)) {
        return Ok(all);
    }
    let used: Vec<&str> = plan
        .changes()
        .filter(|step| starts_nodes(&step.operations))
        .filter_map(|step| step.after.as_ref()?.tags.get(tags::BOOTSTRAP))
        .collect();
    for (tag, bootstrap) in &plan.bootstraps {
        if !used.contains(&tag.as_str()) {
            continue;
        }
        let script = bootstrap.script.as_ref();
        let spec = Path::new(&plan.spec.path);
        let script = script
            .map(|script| unchanged(app, spec, script))
            .transpose()?;
        for size in bootstrap.sizes.keys() {
            let text = bootstrap::custom_data(bootstrap, size, script.as_deref());
            let text = text.ok_or_else(other_version)?;
            all.keep(tag, size, text);
        }
    }
    Ok(all)
}

fn starts_nodes(operations: &[Operation]) -> bool {
    operations.iter().any(|operation| {
        matches!(
            operation,
            Operation::Create | Operation::Put | Operation::Patch { .. }
        )
    })
}

fn unchanged(app: &App, spec: &Path, script: &ScriptReference) -> Result<String, Stop> {
    let stale = |message: String| {
        Stop::because(Code::PlanStale, message)
            .help("put the script back as it was, or make a new plan")
    };
    let path = &script.path;
    let text = read(&keys::expand_beside(app, spec, path))
        .map_err(|why| stale(format!("the script `{path}` {why}")))?;
    let found = digest::of_text(&text);
    if found == script.digest {
        return Ok(text);
    }
    Err(stale(format!(
        "the script `{path}` had the digest {} when the plan was made and has {found} now",
        script.digest
    )))
}

fn other_version() -> Stop {
    let message =
        "this version of the tool makes another bootstrap of the plan than the one that made it";
    Stop::because(Code::PlanStale, message).help("make a new plan")
}
