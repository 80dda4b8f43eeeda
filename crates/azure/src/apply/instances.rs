//! Instances of scale sets: deleting some, and how many there are after a failure.

use azure_core::Method;
use model::{plan::Failure, resource::ResourceKind};
use serde_json::json;

use super::{
    failure::{self, Stopped},
    step::{Own, Performer, TRIES},
};
use crate::{call::MachineAction, read::instances, versions};

impl Performer<'_> {
    /// Deletes instances of a set, and with them its capacity.
    pub(super) async fn delete_instances(
        &self,
        instances: &[String],
        own: &mut Own,
    ) -> Result<(), Stopped> {
        if self.step.kind != ResourceKind::VirtualMachineScaleSet {
            let message = format!("`{}` is no scale set", self.step.id);
            return Err(failure::ours("PlanUnsound", message));
        }
        self.inspect(own).await?;
        own.add(["capacity".to_owned()]);
        let path = format!("{}/delete", self.step.id);
        let query = [("api-version", versions::COMPUTE)];
        for attempt in 1.. {
            let call = self.run.client.call_at(Method::Post, &path, &query);
            let call = call.map_err(|error| self.failed(&error))?;
            let body = json!({ "instanceIds": instances });
            let Err(error) = self.write(&call.body(body)).await else {
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
        if self.step.kind != ResourceKind::VirtualMachineScaleSet {
            let message = format!("`{}` is no scale set", self.step.id);
            return Err(failure::ours("PlanUnsound", message));
        }
        self.inspect(own).await?;
        own.add([]);
        let (method, below) = action.request();
        let path = format!("{}{below}", self.step.id);
        let query = [("api-version", versions::COMPUTE)];
        for attempt in 1.. {
            let call = self.run.client.call_at(method, &path, &query);
            let call = call.map_err(|error| self.failed(&error))?;
            let body = json!({ "instanceIds": instances });
            let Err(error) = self.write(&call.body(body)).await else {
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
        let path = format!("{}/manualupgrade", self.step.id);
        let query = [("api-version", versions::COMPUTE)];
        for attempt in 1.. {
            let call = self.run.client.call_at(Method::Post, &path, &query);
            let call = call.map_err(|error| self.failed(&error))?;
            let body = json!({ "instanceIds": batch });
            // What is up to date already is left alone, so that asking again does no harm.
            match self.write(&call.body(body)).await {
                Ok(_) => return Ok(()),
                Err(error) if error.is_open() && attempt < TRIES => {}
                Err(error) => return Err(error.failure(self.is_spot())),
            }
        }
        Ok(())
    }

    /// Adds to a failure how many instances are as the newest profile says.
    async fn count_updated(&self, failure: &mut Failure) {
        let Ok(there) = instances::of_set(self.run.client, &self.step.id).await else {
            return;
        };
        let old = there
            .iter()
            .filter(|one| one.latest_model == Some(false))
            .count();
        failure.message = format!(
            "{} updated, {old} old: {}",
            there.len().saturating_sub(old),
            failure.message
        );
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
        failure.message = format!(
            "{made} of {wanted} instances were made, {} failed: {}",
            there.len().saturating_sub(made),
            failure.message
        );
    }
}
