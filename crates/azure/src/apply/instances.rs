//! Instances of scale sets: deleting some, and how many there are after a failure.

use azure_core::Method;
use model::{plan::Failure, resource::ResourceKind};
use serde_json::json;

use super::{
    failure::{self, Stopped},
    step::{Own, Performer, TRIES},
};
use crate::{
    call::{Call, MachineAction},
    read::instances,
    versions,
};

impl Performer<'_> {
    /// Deletes instances of a set, and with them its capacity.
    pub(super) async fn delete_instances(
        &self,
        instances: &[String],
        own: &mut Own,
    ) -> Result<(), Stopped> {
        self.check_set()?;
        self.inspect(own).await?;
        own.add(["capacity".to_owned()]);
        for attempt in 1.. {
            let call = self.about(Method::Post, "/delete", instances)?;
            let Err(error) = self.write(&call).await else {
                return Ok(());
            };
            // A POST is not sent again blindly; whether it had an effect can be seen.
            if !error.is_open() || attempt >= TRIES {
                return Err(error.failure(self.is_spot()));
            }
            if self.are_going(instances).await? {
                return self.settle_new().await;
            }
        }
        Ok(())
    }

    /// Starts instances of a set, or gives back their hardware.
    pub(super) async fn act_on_instances(
        &self,
        action: MachineAction,
        instances: &[String],
        own: &mut Own,
    ) -> Result<(), Stopped> {
        self.check_set()?;
        self.inspect(own).await?;
        own.add([]);
        let (method, below) = action.request();
        for attempt in 1.. {
            let call = self.about(method, below, instances)?;
            let Err(error) = self.write(&call).await else {
                return Ok(());
            };
            // Doing it twice does no harm: a machine that runs is started without effect, one
            // without hardware has none to give back.
            if !error.is_open() || attempt >= TRIES {
                return Err(error.failure(self.is_spot()));
            }
            self.settle_new().await?;
        }
        Ok(())
    }

    /// Brings instances of a set to its newest profile, one batch after another. A batch that fails
    /// ends it, and how far it came is told.
    pub(super) async fn upgrade_instances(
        &self,
        all: &[String],
        at_once: u32,
        own: &mut Own,
    ) -> Result<(), Stopped> {
        self.inspect(own).await?;
        own.add([]);
        let size = usize::try_from(at_once).unwrap_or(usize::MAX).max(1);
        for batch in all.chunks(size) {
            self.waiting(&format!("bringing {} up to date", batch.join(", ")));
            if let Err(mut failure) = self.upgrade_batch(batch).await {
                self.count_updated(&mut failure).await;
                return Err(failure);
            }
        }
        Ok(())
    }

    async fn upgrade_batch(&self, batch: &[String]) -> Result<(), Stopped> {
        for attempt in 1.. {
            let call = self.about(Method::Post, "/manualupgrade", batch)?;
            // What is up to date already is left alone, so that asking again does no harm.
            match self.write(&call).await {
                Ok(_) => return Ok(()),
                Err(error) if error.is_open() && attempt < TRIES => {}
                Err(error) => return Err(error.failure(self.is_spot())),
            }
        }
        Ok(())
    }

    pub(super) fn check_set(&self) -> Result<(), Stopped> {
        if self.step.kind == ResourceKind::VirtualMachineScaleSet {
            return Ok(());
        }
        let message = format!("`{}` is no scale set", self.step.id);
        Err(failure::ours("PlanUnsound", message))
    }

    /// A call about instances of the set.
    fn about(&self, method: Method, below: &str, instances: &[String]) -> Result<Call, Stopped> {
        let path = format!("{}{below}", self.step.id);
        let query = [("api-version", versions::COMPUTE)];
        let call = self.run.client.call_at(method, &path, &query);
        let call = call.map_err(|error| self.failed(&error))?;
        Ok(call.body(json!({ "instanceIds": instances })))
    }

    /// Adds to a failure how many instances are as the newest profile says.
    async fn count_updated(&self, failure: &mut Failure) {
        let Ok(there) = instances::of_set(self.run.client, &self.step.id).await else {
            return;
        };
        let count = |is: Option<bool>| there.iter().filter(|one| one.latest_model == is).count();
        let (updated, old, unknown) = (count(Some(true)), count(Some(false)), count(None));
        let unknown = if unknown > 0 {
            format!(", {unknown} not known")
        } else {
            String::new()
        };
        failure.message = format!("{updated} updated, {old} old{unknown}: {}", failure.message);
    }

    /// Whether none of these instances is there any more, but those that are on their way out.
    async fn are_going(&self, instances: &[String]) -> Result<bool, Stopped> {
        let there = instances::of_set(self.run.client, &self.step.id).await;
        let there = there.map_err(|error| self.failed(&error))?;
        Ok(there
            .iter()
            .all(|one| one.is_going() || !instances.contains(&one.id)))
    }

    /// Adds to the failure of a set's write how many of its instances there are: that one write
    /// failed does not say how much of it is there.
    pub(super) async fn count_instances(&self, failure: &mut Failure) {
        let is_set = self.step.kind == ResourceKind::VirtualMachineScaleSet;
        if !is_set || !failure.left_behind {
            return;
        }
        let Ok(there) = instances::of_set(self.run.client, &self.step.id).await else {
            return;
        };
        let after = self.step.after.as_ref();
        let wanted = after.and_then(model::resource::Resource::machines);
        let wanted = wanted.map_or(0, |(_, count)| count);
        let made = there.iter().filter(|one| !one.has_failed()).count();
        failure.made = u32::try_from(made).ok();
        failure.message = format!(
            "{made} of {wanted} instances were made, {} failed: {}",
            there.len().saturating_sub(made),
            failure.message
        );
    }
}
