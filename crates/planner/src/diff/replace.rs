//! What `--replace` names: VMs that the spec has and that are live, and instances of scale sets.
//! Everything else is said, because who names a resource expects something to happen to it.

use std::collections::BTreeSet;

use model::{
    address::Address,
    diag::{At, Code, Diagnostic, Severity},
    live::Instance,
    resource::ResourceKind,
    suggest,
};

use super::{Changes, Index, Permissions, instances::age};
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
            | ResourceKind::AgentPool
    )
}

/// Whether an address of `--replace` names a resource: by its own address, or a VM by its node.
pub(super) fn names(named: &Address, of: &Address) -> bool {
    let is_node = || {
        let node = of.pool_name().zip(of.node_index());
        node.is_some_and(|(pool, index)| *named == Address::node(pool, index))
    };
    named == of || (of.leaf() == "vm" && is_node())
}

/// Whether `--replace` names an instance of a set: `pool.NAME[NUMBER]` by its number, or
/// `pool.NAME.INSTANCE` by its name. Those of Flexible sets have no numbers.
pub(super) fn names_instance(permissions: &Permissions, set: &Address, one: &Instance) -> bool {
    let mut named = permissions.replace.iter();
    named.any(|address| is_instance(address, set, one))
}

fn is_instance(named: &Address, set: &Address, one: &Instance) -> bool {
    let Some(pool) = set.pool_name() else {
        return false;
    };
    let by_number = one.id.parse().is_ok_and(|number| {
        *named == Address::node(pool, number) || *named == Address::vm(pool, number)
    });
    by_number || *named == Address::pool(pool).join(&one.name)
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
        let wanted = desired
            .iter()
            .find(|desired| names(address, &desired.address));
        let finding = match wanted {
            Some(wanted) if !vms.contains(&wanted.address) => not_replaced(address, &vms),
            // Something of another at its place is a refusal that says more.
            Some(wanted) if index.at_id(&wanted.id).is_some() => continue,
            Some(wanted) if index.at_address(&wanted.address).is_some() => continue,
            Some(_) => absent(address),
            None if index.at_address(address).is_some() => leaving(address),
            None => match set_of(address, desired, index) {
                Some((set, instances)) => match of_set(address, set, instances) {
                    Some(finding) => finding,
                    None => continue,
                },
                None => unknown(address, &vms),
            },
        };
        changes.diagnostics.push(finding);
    }
}

/// The live scale set whose instance an address may name, with its instances.
fn set_of<'a>(
    address: &Address,
    desired: &'a [Desired],
    index: &Index<'a>,
) -> Option<(&'a Desired, &'a [Instance])> {
    let set = desired.iter().find(|desired| {
        desired.resource.scale_set().is_some() && desired.address.pool_name() == address.pool_name()
    })?;
    let live = index.at_id(&set.id)?;
    Some((set, index.instances(&live.id)))
}

/// What there is to say of an address about a scale set; nothing where it names an instance.
fn of_set(address: &Address, set: &Desired, instances: &[Instance]) -> Option<Diagnostic> {
    let found = instances
        .iter()
        .find(|one| is_instance(address, &set.address, one));
    let number = |one: &Instance| one.id.parse::<u32>().ok();
    let newest = instances.iter().filter_map(number).max();
    // Numbers are not given again.
    let was = |number: u32| newest.is_some_and(|newest| number <= newest);
    if found.is_some_and(|one| !one.is_going()) {
        return None;
    }
    if found.is_some() || address.node_index().is_some_and(was) {
        let message = format!("`{address}` is gone or going already: nothing is replaced");
        let finding = Diagnostic::new(Code::ReplaceRefused, At::Nowhere, message);
        return Some(finding.with_severity(Severity::Note));
    }
    let name = set.id.name();
    let message = format!("`--replace` names `{address}`, and `{name}` has no such instance");
    let pool = set.address.pool_name().unwrap_or_default();
    let mut living: Vec<&Instance> = instances.iter().filter(|one| !one.is_going()).collect();
    living.sort_by_key(|one| age(one));
    let addresses: BTreeSet<Address> = living
        .into_iter()
        .map(|one| match number(one) {
            Some(number) => Address::node(pool, number),
            None => Address::pool(pool).join(&one.name),
        })
        .collect();
    let finding = Diagnostic::new(Code::ReplaceUnknown, At::Nowhere, message);
    Some(finding.with_help(listed("instances", &addresses.iter().collect())))
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
    listed("VMs", vms)
}

fn listed(what: &str, addresses: &BTreeSet<&Address>) -> String {
    let shown: Vec<String> = addresses
        .iter()
        .take(LISTED)
        .map(|address| format!("`{address}`"))
        .collect();
    let more = match addresses.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("`--replace` takes {what}: {}{more}", shown.join(", "))
}
