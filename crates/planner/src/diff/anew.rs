//! Why a node is made anew where Azure would change another in place.

use model::{
    catalog::{Size, TemporaryDisk},
    diag::{At, Code, Diagnostic},
    plan::Action,
    resource::Resource,
};

use super::{Changes, classify::Class, compare::Difference, existing::Existing};

impl Existing<'_> {
    /// The catalogue's rows of the live and the desired size.
    pub(super) fn sizes(&self) -> (Option<&Size>, Option<&Size>) {
        let size = |resource: &Resource| self.catalog.size(&resource.virtual_machine()?.size);
        let before = self.live.resource.as_ref().and_then(size);
        (before, size(&self.desired.resource))
    }

    /// The temporary disks of the live and the desired size, where Azure does not resize from one
    /// to the other.
    pub(super) fn other_disk(&self) -> Option<(TemporaryDisk, TemporaryDisk)> {
        let (before, after) = self.sizes();
        let disks = (before?.temporary_disk()?, after?.temporary_disk()?);
        (disks.0 != disks.1).then_some(disks)
    }

    /// Whether the OS disk stands on the hardware: it does not outlive a deallocation, and a
    /// resize begins with an empty one.
    pub(super) fn is_ephemeral(&self) -> bool {
        self.live.resource.as_ref().is_some_and(stands_on_hardware)
    }

    /// Says why a node is made anew for what would be a change of another.
    pub(super) fn say_anew(&self, differences: &[(Difference, Action)], changes: &mut Changes) {
        let is_anew = |class: Class| {
            let anew = |(difference, effect): &(Difference, Action)| {
                difference.class == class && *effect == Action::Replace
            };
            differences.iter().any(anew)
        };
        let resizes = is_anew(Class::Resize);
        if let Some((before, after)) = self.other_disk().filter(|_| resizes) {
            let message = format!(
                "Azure does not resize from {} to {}: the node is made anew",
                before.words(),
                after.words()
            );
            let finding = self.anew(message)
                .with_help("choose a size with the same kind of temporary disk to keep the node")
                .with_help("a subscription with the feature `VMTempDiskResizePreview` may resize by itself; the plan does not rely on that");
            changes.diagnostics.push(finding);
        } else if self.is_ephemeral() && (resizes || is_anew(Class::Stop)) {
            let message =
                "the OS disk stands on the node, and nothing of it outlives the change: the node is made anew"
                    .to_owned();
            let finding = self.anew(message).with_help(
                "put the value back to keep the node; `ephemeral: none` makes nodes whose OS disk stays",
            );
            changes.diagnostics.push(finding);
        }
    }

    fn anew(&self, message: String) -> Diagnostic {
        let at = At::Resource(self.desired.address.clone());
        Diagnostic::new(Code::ResizeReplaces, at, message)
    }
}

/// Whether the OS disks of a resource's machines stand on their hardware.
pub(crate) fn stands_on_hardware(resource: &Resource) -> bool {
    let vm = resource.virtual_machine().map(|vm| vm.os_disk.ephemeral);
    let set = resource.scale_set().map(|set| set.os_disk.ephemeral);
    vm.or(set).flatten().is_some()
}
