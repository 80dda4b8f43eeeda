//! Changing a resource that exists.

use azure_core::Method;
use model::{
    ids::ArmId,
    plan::BOOTSTRAP,
    resource::{Resource, ResourceKind, Tags, tags},
};
use serde_json::{Value, json};

use super::{
    create::is_written_once,
    failure::{self, Stopped},
    holders::parts_of,
    step::{Own, Performer, TRIES},
    write::WriteError,
};
use crate::{
    read::one::Now,
    versions,
    wire::{self, patch::Change},
};

impl Performer<'_> {
    /// Writes all of the desired resource over the live one.
    pub(super) async fn put(&self, own: &mut Own) -> Result<(), Stopped> {
        let after = self.with_known_key(self.after()?)?;
        for attempt in 1.. {
            let now = self.inspect(own).await?;
            let body = wire::patch::put_body(&after, &now.body);
            let mut body = body.map_err(|error| failure::of_encoding(&error))?;
            if after.scale_set().is_some() {
                self.add_custom_data(&after, &mut body)?;
            }
            match self.write_over(Method::Put, body, &now).await {
                Ok(()) => break,
                Err(error) => self.outdated(&error, attempt)?,
            }
        }
        own.all();
        Ok(())
    }

    /// Writes the listed attributes over the live resource.
    pub(super) async fn patch(&self, attributes: &[String], own: &mut Own) -> Result<(), Stopped> {
        self.patch_to(self.after()?, attributes, own).await
    }

    /// Writes the listed attributes of a resource over the live one.
    pub(super) async fn patch_to(
        &self,
        wanted: Resource,
        attributes: &[String],
        own: &mut Own,
    ) -> Result<(), Stopped> {
        let after = self.with_known_key(wanted)?;
        for attempt in 1.. {
            let now = match self.inspect(own).await {
                // An earlier try whose answer was lost may have been carried out.
                Err(failure) if attempt > 1 && self.is_patched(&after, attributes).await? => {
                    tracing::info!(code = failure.code, "the change was made by an earlier try");
                    break;
                }
                other => other?,
            };
            let mut changes = wire::patch::changes(&after, attributes, &now.body)
                .map_err(|error| failure::of_encoding(&error))?;
            if attributes.iter().any(|path| path == BOOTSTRAP) {
                self.change_custom_data(&after, &mut changes)?;
            }
            match self.write_changes(changes, &now).await {
                Ok(()) => break,
                Err(error) => self.outdated(&error, attempt)?,
            }
        }
        own.add(attributes.iter().cloned());
        Ok(())
    }

    async fn write_changes(&self, changes: Vec<Change>, now: &Now) -> Result<(), WriteError> {
        for change in changes {
            match change {
                Change::Patch(body) => self.write_over(Method::Patch, body, now).await?,
                Change::Put(body) => self.write_over(Method::Put, body, now).await?,
                Change::PutReadiness => self.put_readiness().await?,
                Change::PatchDisk(disk, body) => {
                    let call = self
                        .call_on(Method::Patch, &disk)
                        .map_err(WriteError::Step)?;
                    self.write(&call.body(body)).await?;
                }
            }
        }
        Ok(())
    }

    /// A write over what was just read. Only VMs and scale sets can be told to refuse if it changed since.
    pub(super) async fn write_over(
        &self,
        method: Method,
        body: Value,
        now: &Now,
    ) -> Result<(), WriteError> {
        let mut call = self.call(method).map_err(WriteError::Step)?.body(body);
        if let Some(etag) = now
            .etag
            .as_ref()
            .filter(|_| is_written_once(self.step.kind))
        {
            call = call.header("if-match", etag);
        }
        self.write(&call).await.map(|_| ())
    }

    /// An old entity tag is no failure yet: something else about the resource may have changed,
    /// which the next look tells.
    pub(super) fn outdated(&self, error: &WriteError, attempt: u32) -> Result<(), Stopped> {
        match error.arm() {
            Some(arm) if arm.status == 412 && attempt < TRIES => Ok(()),
            _ => Err(error.failure(self.is_spot())),
        }
    }

    /// Whether the resource already has the desired values of these attributes.
    async fn is_patched(&self, after: &Resource, attributes: &[String]) -> Result<bool, Stopped> {
        let desired = after.attributes();
        let Some(now) = self.look().await? else {
            return Ok(false);
        };
        let found = now.values();
        Ok(attributes.iter().all(|path| {
            let desired = desired.get(path).unwrap_or(&Value::Null);
            let found = found.get(path).unwrap_or(&Value::Null);
            model::resource::attributes::same(path, desired, found)
        }))
    }

    /// Makes the resource the stack's.
    pub(super) async fn adopt(&self, own: &mut Own) -> Result<(), Stopped> {
        let now = self.inspect(own).await?;
        if let Some(stack) = now.tags().get(tags::STACK) {
            let stack = format!("something of the stack `{stack}`");
            return Err(failure::occupied(&stack));
        }
        self.merge_tags(&self.run_tags(), &[], own).await
    }

    /// Takes the resource out of the stack: the tool's tags go. What a VM brought along has copies
    /// of them, which go first: a part that still says it is ours would be deleted one day.
    pub(super) async fn release(&self, own: &mut Own) -> Result<(), Stopped> {
        let now = self.inspect(own).await?;
        for part in parts_of(self.step) {
            let found = self.run.client.get(&part).await;
            let Some(found) = found.map_err(|error| self.failed(&error))? else {
                continue;
            };
            let tags = wire::tags_of(&found.body);
            if tags.get(tags::STACK) == Some(self.run.plan.stack.as_str()) {
                self.write_tags(&part, "Delete", of_the_tool(&tags)).await?;
            }
        }
        own.all();
        self.write_tags(&self.step.id, "Delete", of_the_tool(now.tags()))
            .await
    }

    /// Adds, changes and removes tags, and leaves the others alone.
    pub(super) async fn merge_tags(
        &self,
        set: &Tags,
        remove: &[String],
        own: &mut Own,
    ) -> Result<(), Stopped> {
        if matches!(
            self.step.kind,
            ResourceKind::BatchPool | ResourceKind::AgentPool
        ) {
            return self.merge_pool_tags(set, remove, own).await;
        }
        let now = self.inspect(own).await?;
        if !set.is_empty() {
            let tags = set
                .iter()
                .map(|(name, value)| (name.as_str().to_owned(), json!(value)));
            self.write_tags(&self.step.id, "Merge", tags.collect())
                .await?;
        }
        // The service removes a tag by its name and value.
        let there = remove.iter().filter_map(|name| {
            let value = now.tags().get(name)?;
            Some((name.clone(), json!(value)))
        });
        let there: serde_json::Map<String, Value> = there.collect();
        if !there.is_empty() {
            self.write_tags(&self.step.id, "Delete", there).await?;
        }
        let names = set.iter().map(|(name, _)| name.as_str());
        own.add(
            names
                .chain(remove.iter().map(String::as_str))
                // Attributes name tags in lower case, whatever the spec writes.
                .map(|name| format!("tags.{}", name.to_lowercase())),
        );
        Ok(())
    }

    /// The same for a pool of Batch or of Kubernetes, whose tags are members of its own that the tags service does
    /// not know: all are written, if nobody else has changed the pool.
    async fn merge_pool_tags(
        &self,
        set: &Tags,
        remove: &[String],
        own: &mut Own,
    ) -> Result<(), Stopped> {
        for attempt in 1.. {
            let now = self.inspect(own).await?;
            let mut all = now.tags().clone();
            for (name, value) in set.iter() {
                all.set(name.as_str(), value);
            }
            let is_kept = |name: &str| !remove.iter().any(|gone| gone.eq_ignore_ascii_case(name));
            all.retain(|name, _| is_kept(name.as_str()));
            let mut call = if self.step.kind == ResourceKind::AgentPool {
                let mut body = wire::kubernetes::pool_as_request(&now.body);
                body["properties"]["tags"] = json!(all);
                self.call(Method::Put)?.body(body)
            } else {
                self.call(Method::Patch)?.body(json!({ "tags": all }))
            };
            if let Some(etag) = &now.etag {
                call = call.header("if-match", etag);
            }
            // Nodes are not touched, so that nobody waits for them.
            let sent = if self.step.kind == ResourceKind::AgentPool {
                self.write(&call).await.map(|_| ())
            } else {
                self.send_write(&call).await.map(|_| ())
            };
            match sent {
                Ok(()) => break,
                Err(error) => self.outdated(&error, attempt)?,
            }
        }
        let names = set.iter().map(|(name, _)| name.as_str());
        own.add(
            names
                .chain(remove.iter().map(String::as_str))
                .map(|name| format!("tags.{name}")),
        );
        Ok(())
    }

    async fn write_tags(
        &self,
        id: &ArmId,
        operation: &str,
        tags: serde_json::Map<String, Value>,
    ) -> Result<(), Stopped> {
        let path = format!("{id}/providers/Microsoft.Resources/tags/default");
        let query = [("api-version", versions::RESOURCES)];
        let call = self.run.client.call_at(Method::Patch, &path, &query);
        let call = call.map_err(|error| self.failed(&error))?;
        let body = json!({ "operation": operation, "properties": { "tags": tags } });
        let result = self.write(&call.body(body)).await;
        result
            .map(|_| ())
            .map_err(|error| error.failure(self.is_spot()))
    }
}

/// The tags that the tool keeps for itself, as the service takes them to remove them.
fn of_the_tool(all: &Tags) -> serde_json::Map<String, Value> {
    let ours = all
        .iter()
        .filter(|(name, _)| name.key().starts_with(tags::PREFIX));
    ours.map(|(name, value)| (name.as_str().to_owned(), json!(value)))
        .collect()
}
