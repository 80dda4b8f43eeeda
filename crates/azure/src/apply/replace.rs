//! Instances of scale sets that are replaced: new ones first, so that Azure, which still has the
//! old ones on their hosts, gives others.

use std::collections::BTreeSet;

use azure_core::Method;
use model::{live::Instance, resource::Resource};

use super::{
    failure::{self, Stopped},
    step::{Own, Performer},
    write::WriteError,
};
use crate::{
    read::instances,
    wire::{self, patch::Change},
};

impl Performer<'_> {
    /// Makes as many new instances as are to go, and then deletes those. Where a new one is not to
    /// be had, the old ones stay, and what failed is removed.
    pub(super) async fn replace_instances(
        &self,
        instances: &[String],
        own: &mut Own,
    ) -> Result<(), Stopped> {
        self.check_set()?;
        let before = self.members().await?;
        let there: BTreeSet<&str> = before.iter().map(|one| one.id.as_str()).collect();
        let mut old: Vec<String> = instances.to_vec();
        old.retain(|id| there.contains(id.as_str()));
        if old.is_empty() {
            return Ok(());
        }
        let more = u32::try_from(old.len()).unwrap_or(u32::MAX);
        self.waiting(&format!("making {more} new beside {}", old.join(", ")));
        match self.grow_by(more, own).await {
            Ok(()) => self.delete_instances(&old, own).await,
            Err(failure) => Err(self.keep_old(&old, &there, failure, own).await),
        }
    }

    async fn members(&self) -> Result<Vec<Instance>, Stopped> {
        let found = instances::of_set(self.run.client, &self.step.id).await;
        let mut found = found.map_err(|error| self.failed(&error))?;
        found.retain(|one| !one.is_going());
        Ok(found)
    }

    /// Writes a capacity that is so much more than what is wanted.
    async fn grow_by(&self, more: u32, own: &mut Own) -> Result<(), Stopped> {
        let mut larger = self.after()?;
        let set = larger.scale_set_mut();
        let set = set.ok_or_else(|| failure::ours("PlanUnsound", "the step has no scale set"))?;
        let capacity = set.capacity.saturating_add(more);
        set.capacity = capacity;
        for attempt in 1.. {
            let now = self.inspect(own).await?;
            own.add(["capacity".to_owned()]);
            let has = now.live.resource.as_ref().and_then(Resource::scale_set);
            // An earlier try whose answer was lost may have been carried out.
            if attempt > 1 && has.is_some_and(|set| set.capacity == capacity) {
                return self.settle_new().await;
            }
            let attributes = ["capacity".to_owned()];
            let changes = wire::patch::changes(&larger, &attributes, &now.body)
                .map_err(|error| failure::of_encoding(&error))?;
            let mut result: Result<(), WriteError> = Ok(());
            for change in changes {
                if let Change::Patch(body) = change {
                    result = self.write_over(Method::Patch, body, &now).await;
                }
            }
            match result {
                Ok(()) => break,
                Err(error) => self.outdated(&error, attempt)?,
            }
        }
        Ok(())
    }

    /// Removes new instances that failed; the failure says which old ones stay. New ones that are
    /// there stay too: the same command takes them for what is too many, and goes on.
    async fn keep_old(
        &self,
        old: &[String],
        there: &BTreeSet<&str>,
        mut failure: Stopped,
        own: &mut Own,
    ) -> Stopped {
        let removed = match self.members().await {
            Ok(now) => self.remove_failed(now, there, own).await,
            Err(error) => Err(format!("nobody knows what is left: {}", error.message)),
        };
        failure.left_behind = removed.is_err();
        if let Err(left) = removed {
            failure.message = format!("{}; of the try {left}", failure.message);
        }
        let said = match old {
            [one] => format!("no new instance in place of {one}, which stays"),
            several => format!(
                "not enough new instances in place of {}, which stay",
                several.join(", ")
            ),
        };
        failure.message = format!("{said}: {}", failure.message);
        failure
    }

    /// Removes the instances that are new and failed; where that fails, says what is left.
    async fn remove_failed(
        &self,
        now: Vec<Instance>,
        there: &BTreeSet<&str>,
        own: &mut Own,
    ) -> Result<(), String> {
        let failed: Vec<String> = now
            .into_iter()
            .filter(|one| one.has_failed() && !there.contains(one.id.as_str()))
            .map(|one| one.id)
            .collect();
        if failed.is_empty() {
            return Ok(());
        }
        let removed = self.delete_instances(&failed, own).await;
        removed.map_err(|error| {
            let failed = failed.join(", ");
            format!("{failed} could not be removed: {}", error.message)
        })
    }
}
