//! A machine that was stopped for a change which then fails.

use std::sync::atomic::Ordering;

use model::{plan::Operation, resource::Resource};

use super::{
    failure::Stopped,
    step::{Own, Performer},
};
use crate::call::MachineAction;

impl Performer<'_> {
    /// What ran before the apply should run after it: a machine whose change was refused is
    /// started again as it is, and one for whose new size there is no capacity gets its old one
    /// back first. The failure says what came of it.
    pub(super) async fn run_again(
        &self,
        operation: &Operation,
        failure: Stopped,
        own: &mut Own,
    ) -> Stopped {
        // Whoever does not know how the change ended cannot say what would start.
        if self.is_open.load(Ordering::Relaxed) {
            return failure;
        }
        let told = match (operation, failure.kind.as_str()) {
            (Operation::Patch { .. }, _) if self.is_stopped_for_the_change() => {
                let started = self.act(MachineAction::Start, own).await;
                started.map(|()| "it was started again as it was".to_owned())
            }
            (Operation::Start, "capacity") => match self.with_old_size() {
                Some((old, attributes)) => self.back_to(old, &attributes, own).await,
                None => return failure,
            },
            _ => return failure,
        };
        let told = told.unwrap_or_else(|error| {
            let (code, message) = (&error.code, &error.message);
            format!("it is deallocated, and could not be started as it was ({code}: {message})")
        });
        let mut failure = failure;
        failure.message = format!("{told}, after: {}", failure.message);
        failure
    }

    async fn back_to(
        &self,
        old: Resource,
        attributes: &[String],
        own: &mut Own,
    ) -> Result<String, Stopped> {
        let size = old.virtual_machine().map(|vm| vm.size.to_string());
        let size = size.unwrap_or_default();
        self.patch_to(old, attributes, own).await?;
        self.act(MachineAction::Start, own).await?;
        Ok(format!(
            "it has its old size `{size}` again and was started"
        ))
    }

    /// Whether the step takes the machine's hardware and gives it back when the change is made.
    fn is_stopped_for_the_change(&self) -> bool {
        let operations = &self.step.operations;
        operations.contains(&Operation::Deallocate) && operations.contains(&Operation::Start)
    }

    /// The machine as it is to be but for its old size, and what of it that writes: where the step
    /// stops it and changes its size.
    fn with_old_size(&self) -> Option<(Resource, Vec<String>)> {
        let before = self.step.before.as_ref()?.virtual_machine()?;
        let mut wanted = self.step.after.clone()?;
        let vm = wanted.virtual_machine_mut()?;
        if vm.size == before.size || !self.is_stopped_for_the_change() {
            return None;
        }
        let mut attributes = vec!["size".to_owned()];
        if vm.disk_controller != before.disk_controller {
            attributes.insert(0, "disk_controller".to_owned());
        }
        vm.size = before.size.clone();
        vm.disk_controller = before.disk_controller;
        Some((wanted, attributes))
    }
}
