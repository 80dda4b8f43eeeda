//! What `--replace` names: VMs that the spec has and that are live. Everything else is said,
//! because who names a resource expects something to happen to it.

use std::collections::BTreeSet;

use model::{
    address::Address,
    diag::{At, Code, Diagnostic, Severity},
    resource::ResourceKind,
    suggest,
};

use super::{Changes, Index, Permissions};
use crate::shape::Desired;

/// Addresses that a help line lists.
const LISTED: usize = 4;

/// Whether resources of a kind are made anew by wish: what has machines.
pub(super) fn is_replaceable(kind: ResourceKind) -> bool {
    matches!(
        kind,
        ResourceKind::VirtualMachine
            | ResourceKind::VirtualMachineScaleSet
            | ResourceKind::BatchPool
    )
}

/// Checks every address that `--replace` names.
pub(super) fn check(
    desired: &[Desired],
    index: &Index<'_>,
    permissions: &Permissions,
    changes: &mut Changes,
) {
    let vms = desired
        .iter()
        .filter(|desired| is_replaceable(desired.resource.kind()));
    let vms: BTreeSet<&Address> = vms.map(|desired| &desired.address).collect();
    let named: BTreeSet<&Address> = permissions.replace.iter().collect();
    for address in named {
        let wanted = desired.iter().find(|desired| desired.address == *address);
        let finding = match wanted {
            Some(_) if !vms.contains(address) => not_replaced(address, &vms),
            // Something of another at its place is a refusal that says more.
            Some(wanted) if index.at_id(&wanted.id).is_some() => continue,
            Some(_) if index.at_address(address).is_some() => continue,
            Some(_) => absent(address),
            None if index.at_address(address).is_some() => leaving(address),
            None => unknown(address, &vms),
        };
        changes.diagnostics.push(finding);
    }
}

fn not_replaced(address: &Address, vms: &BTreeSet<&Address>) -> Diagnostic {
    let message = format!("`--replace` names `{address}`, and only VMs are replaced");
    Diagnostic::new(Code::ReplaceRefused, At::Nowhere, message).with_help(list(vms))
}

/// A run that ended between deletion and creation is gone on with by the same command.
fn absent(address: &Address) -> Diagnostic {
    let message = format!("`{address}` does not exist: it is made, and nothing is replaced");
    Diagnostic::new(Code::ReplaceRefused, At::Nowhere, message).with_severity(Severity::Note)
}

fn leaving(address: &Address) -> Diagnostic {
    let message = format!("`--replace` names `{address}`, which the spec does not have any more");
    Diagnostic::new(Code::ReplaceRefused, At::Nowhere, message)
        .with_help("leave `--replace` out, or put the resource back into the spec")
}

fn unknown(address: &Address, vms: &BTreeSet<&Address>) -> Diagnostic {
    let message = format!("`--replace` names `{address}`, and the plan has no such resource");
    let finding = Diagnostic::new(Code::ReplaceUnknown, At::Nowhere, message);
    match near(address, vms) {
        Some(near) => finding.with_help(format!("did you mean `{near}`?")),
        None => finding.with_help(list(vms)),
    }
}

/// What was meant. Of a pool that exists that is the VM with the number or none: another node
/// would be a dangerous guess.
fn near(address: &Address, vms: &BTreeSet<&Address>) -> Option<String> {
    let pool = address.pool_name();
    if vms.iter().any(|vm| vm.pool_name() == pool) {
        let meant = Address::vm(pool?, address.node_index()?);
        return vms.contains(&meant).then(|| meant.to_string());
    }
    let names: Vec<String> = vms.iter().map(ToString::to_string).collect();
    suggest::nearest(&address.to_string(), names.iter().map(String::as_str)).map(str::to_owned)
}

fn list(vms: &BTreeSet<&Address>) -> String {
    let shown: Vec<String> = vms
        .iter()
        .take(LISTED)
        .map(|address| format!("`{address}`"))
        .collect();
    let more = match vms.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("`--replace` takes VMs: {}{more}", shown.join(", "))
}
