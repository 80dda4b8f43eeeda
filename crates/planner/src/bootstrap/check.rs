//! What is wrong with a bootstrap.

use model::{
    catalog::{Catalog, TemporaryDisk},
    diag::{At, Code, Diagnostic, SpecPath},
    plan::Setup,
    spec::Pool,
    units::SizeName,
};

use super::LIMIT;
use crate::select::Findings;

/// Texts that begin a secret, or that only stand beside one.
const SECRETS: [&str; 8] = [
    "PRIVATE KEY-----",
    "AccountKey=",
    "SharedAccessKey=",
    "SharedAccessSignature=",
    "sig=",
    "AZURE_CLIENT_SECRET=",
    "AWS_SECRET_ACCESS_KEY=",
    "HF_TOKEN=hf_",
];

/// Why a text is no script that a node can run, or none that it may be given.
pub fn flaw(text: &str) -> Option<&'static str> {
    let first = text.lines().next().unwrap_or_default();
    if !first.starts_with("#!") {
        return Some("does not begin with `#!`");
    }
    if text.contains("\r\n") {
        return Some("has lines that end as on Windows, and no interpreter on Linux is called so");
    }
    if text.contains('\0') {
        return Some("has zero bytes in it");
    }
    // What nodes run when they start first can be read by everybody on them.
    if SECRETS.iter().any(|secret| text.contains(secret)) {
        return Some(
            "has a secret in it, which everybody on the node could read: let it fetch what it needs by an identity",
        );
    }
    None
}

/// Says where a bootstrap is longer than Azure takes.
pub(super) fn length(name: &str, pool: &Pool, text: &str, findings: &mut Findings) {
    let Some(over) = text.len().checked_sub(LIMIT).filter(|over| *over > 0) else {
        return;
    };
    let message = format!(
        "what nodes of `{name}` run when they start first is {} bytes, {over} more than the {LIMIT} that Azure takes",
        text.len()
    );
    let script = pool.bootstrap.as_ref().and_then(|all| all.text.as_ref());
    let own = script.map_or(0, |text| text.0.len());
    let at = At::Value(SpecPath::pool(name, &["bootstrap", "script"]));
    let finding = Diagnostic::new(Code::BootstrapTooLong, at, message).with_help(format!(
        "the script has {own} bytes; let it fetch from storage what is long"
    ));
    if !findings.diagnostics.iter().any(|known| *known == finding) {
        findings.diagnostics.push(finding);
    }
}

/// Says where local disks are asked for that a size does not have, or is not known to have.
pub(super) fn scratch(
    name: &str,
    setup: &Setup,
    sizes: &[&SizeName],
    catalog: &Catalog,
    findings: &mut Findings,
) {
    if !setup.scratch {
        return;
    }
    for size in sizes {
        let row = catalog.size(size);
        if row.is_some_and(|row| row.local_nvme.is_some()) {
            continue;
        }
        let at = At::Value(SpecPath::pool(name, &["disks", "scratch"]));
        let finding = match row.and_then(model::catalog::Size::temporary_disk) {
            Some(TemporaryDisk::Nvme) => continue,
            Some(other) => Diagnostic::new(
                Code::ScratchImpossible,
                at,
                format!("`scratch: nvme` needs local NVMe disks, `{size}` has {}", other.words()),
            )
            .with_help("use `scratch: none`, or a size that has them: `tensorform sizes -o json` shows `local_nvme`"),
            None => Diagnostic::new(
                Code::ScratchUnknown,
                at,
                format!("whether `{size}` has local NVMe disks is not in the catalogue"),
            )
            .with_help("if it has none, the bootstrap of its nodes fails at the step `scratch`, and apply says so"),
        };
        findings.diagnostics.push(finding);
    }
}
