//! Differences that lead to nothing, each with the reason and a way out.

use model::{
    diag::{At, Code, Diagnostic},
    resource::ResourceKind,
};

use super::{Changes, classify::Class, compare::Difference, existing::Existing};

impl Existing<'_> {
    /// Says of a difference that leads to nothing why it does not.
    pub(super) fn say(&self, difference: &Difference, changes: &mut Changes) {
        let at = At::Resource(self.desired.address.clone());
        let values = format!(
            "`{}` is {}, the spec wants {}",
            difference.path, difference.before, difference.after
        );
        let finding = match difference.class {
            Class::Report => Diagnostic::new(
                Code::CannotChange,
                at,
                format!("{values}; Azure cannot change it"),
            )
            .with_help("nothing is done; `--replace` with the address makes the resource anew"),
            Class::Grow => refused_size(&at, &values, difference),
            Class::Refuse => self.refusal(at, &values, difference),
            Class::Bootstrap => self.set_up_otherwise(difference),
            Class::Update
            | Class::Resize
            | Class::Stop
            | Class::Replace
            | Class::Readiness
            | Class::Ignore => return,
        };
        changes.diagnostics.push(finding);
    }

    fn refusal(&self, at: At, values: &str, difference: &Difference) -> Diagnostic {
        let message = format!("{values}; it is not changed on what exists");
        let finding = Diagnostic::new(Code::ChangeRefused, at, message);
        let finding = if self.comes_anew(difference) {
            let address = &self.desired.address;
            finding.with_help(format!(
                "put the value back, or pass `--replace {address}`: what is made anew has it"
            ))
        } else {
            finding.with_help(
                "put the value back, or make a new pool beside the old one and remove the old one",
            )
        };
        if difference.path == "os_disk.size_gb" {
            finding.with_help(
                "Azure grows an OS disk while its VM is deallocated; the tool does not do that",
            )
        } else {
            finding
        }
    }

    /// Whether a node or a set has an attribute as the spec wants it once it is made anew, although
    /// nothing is made anew for its sake.
    pub(super) fn comes_anew(&self, difference: &Difference) -> bool {
        let has_machines = matches!(
            self.desired.resource.kind(),
            ResourceKind::VirtualMachine | ResourceKind::VirtualMachineScaleSet
        );
        has_machines && matches!(difference.class, Class::Refuse | Class::Report)
    }
}

/// Azure does not make an attached disk larger than this many GiB, and caches none that is.
const BOUND: u64 = 4_095;

/// Whether Azure makes a data disk so large where it is.
pub(super) fn grows(difference: &Difference) -> bool {
    matches!(sizes(difference), Some((before, after)) if before < after && !is_too_far(before, after))
}

/// Azure moves a disk beyond the bound only while it is attached to nothing.
fn is_too_far(before: u64, after: u64) -> bool {
    before <= BOUND && after > BOUND
}

fn sizes(difference: &Difference) -> Option<(u64, u64)> {
    Some((difference.before.as_u64()?, difference.after.as_u64()?))
}

/// Why a data disk does not get another size.
fn refused_size(at: &At, values: &str, difference: &Difference) -> Diagnostic {
    let refused =
        |why: &str| Diagnostic::new(Code::ChangeRefused, at.clone(), format!("{values}; {why}"));
    match sizes(difference) {
        Some((before, after)) if is_too_far(before, after) => refused(
            "Azure makes a disk larger than 4,095 GiB only while it is attached to nothing",
        )
        .with_help(
            "stop the VM, detach the disk, make it larger and attach it again; then plan again",
        )
        .with_help("or add another disk to the list"),
        Some((before, _)) => refused("a disk never becomes smaller: what is on it would be lost")
            .with_help(format!("write `{before}` in the spec, which it has")),
        None => refused("it is not changed on what exists").with_help("put the value back"),
    }
}
