//! Data disks of others on VMs of the stack: they stay where somebody attached them.

use std::collections::BTreeMap;

use model::{
    diag::{At, Code, Diagnostic},
    ids::ArmId,
    live::{LiveResource, Owner},
};

use super::{Changes, compare::Difference, existing::Existing, index::Index};
use crate::shape::Desired;

/// Disks by logical unit number.
pub(super) type ForeignDisks = BTreeMap<u32, ArmId>;

/// Disks on a live VM that are not the stack's, at units that the spec does not use.
pub(super) fn on(desired: &Desired, live: &LiveResource, index: &Index<'_>) -> ForeignDisks {
    let found = live.resource.as_ref();
    let Some(found) = found.and_then(|found| found.virtual_machine()) else {
        return ForeignDisks::new();
    };
    let wanted = desired.resource.virtual_machine();
    let is_wanted = |lun: &u32| wanted.is_some_and(|vm| vm.data_disks.contains_key(lun));
    let is_foreign = |disk: &ArmId| {
        let known = index.at_id(disk);
        known.is_none_or(|known| known.owner == Owner::Foreign)
    };
    let disks = found.data_disks.iter();
    disks
        .filter(|(lun, disk)| !is_wanted(lun) && is_foreign(&disk.disk))
        .map(|(lun, disk)| (*lun, disk.disk.clone()))
        .collect()
}

impl Existing<'_> {
    /// Whether a difference is about a disk of somebody else.
    pub(super) fn is_of_others(&self, difference: &Difference) -> bool {
        let place = difference.path.strip_prefix("data_disks.");
        let lun = place.and_then(|place| place.split('.').next()?.parse().ok());
        lun.is_some_and(|lun: u32| self.foreign_disks.contains_key(&lun))
    }

    /// Names each disk of somebody else.
    pub(super) fn report_foreign_disks(&self, changes: &mut Changes) {
        for (lun, disk) in &self.foreign_disks {
            let message = format!(
                "the data disk `{}` of `{}` in `{}` is not the stack's and stays attached at lun {lun}",
                disk.name(),
                self.live.id.name(),
                disk.group().unwrap_or_default()
            );
            let at = At::Resource(self.desired.address.clone());
            let finding = Diagnostic::new(Code::ForeignDisk, at, message);
            changes.diagnostics.push(finding.with_help(
                "a VM that is deleted or replaced leaves it behind, or takes it along where its `deleteOption` says so: detach it first to keep it",
            ));
        }
    }
}
