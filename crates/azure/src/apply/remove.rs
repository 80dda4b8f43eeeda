//! Deleting a resource. What is absent is done; a group goes only when it is empty.

use std::{collections::BTreeSet, time::Duration};

use azure_core::Method;
use model::{
    ids::ArmId,
    plan::Action,
    resource::{Resource, ResourceKind, Tags, tags},
};
use serde_json::Value;

use super::{
    failure::{self, Stopped},
    holders::parts_of,
    step::{Own, Performer},
};
use crate::{
    call::MachineAction,
    read::{
        LIST_LAG,
        one::{Now, read_one},
    },
    versions, wire,
};

impl Performer<'_> {
    /// Deletes the resource.
    pub(super) async fn delete(&self, own: &mut Own) -> Result<(), Stopped> {
        let Some(now) = self.look().await? else {
            own.all();
            return Ok(());
        };
        if self.run.only_own && !self.made_by_us(&now) {
            return Ok(());
        }
        self.compare(Some(&now), own)?;
        if is_protected(now.tags()) {
            return Err(failure::protected());
        }
        if self.step.kind == ResourceKind::BlobContainer {
            self.refuse_if_account_is_protected().await?;
        }
        own.all();
        if self.step.kind == ResourceKind::ResourceGroup {
            self.refuse_unless_empty().await?;
        }
        self.drop_array(&now).await?;
        let call = if self.step.kind == ResourceKind::VirtualMachine {
            let call = self
                .run
                .client
                .machine_call(MachineAction::Delete, &self.step.id);
            call.map_err(|error| self.failed(&error))?
        } else {
            self.call(Method::Delete)?
        };
        match self.write(&call).await {
            Ok(_) => Ok(()),
            Err(error)
                if error
                    .arm()
                    .is_some_and(super::super::error::ArmError::is_absence) =>
            {
                Ok(())
            }
            Err(error) => {
                let mut failure = error.failure(self.is_spot());
                failure.left_behind = true;
                Err(failure)
            }
        }
    }

    /// Has the server of a node array end its nodes before the array goes: nobody would end them
    /// after.
    async fn drop_array(&self, now: &Now) -> Result<(), Stopped> {
        let array = now.live.resource.as_ref().and_then(Resource::node_array);
        let Some(array) = array else {
            return Ok(());
        };
        let body = wire::node_array::encode_drop(array);
        let mut body = body.map_err(|error| failure::of_encoding(&error))?;
        wire::set_tags(&mut body, now.tags());
        self.waiting("nodes that end");
        let written = self.write_over(Method::Put, body, now).await;
        written.map_err(|error| {
            let mut failure = error.failure(false);
            failure.left_behind = true;
            failure
        })
    }

    /// Refuses to delete a container in an account that somebody has protected since.
    async fn refuse_if_account_is_protected(&self) -> Result<(), Stopped> {
        let service = self.step.id.parent();
        let Some(account) = service.and_then(|service| service.parent()) else {
            return Ok(());
        };
        let found = read_one(self.run.client, ResourceKind::StorageAccount, &account).await;
        let found = found.map_err(|error| self.failed(&error))?;
        match found {
            Some(now) if is_protected(now.tags()) => Err(failure::protected()),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses to delete a group with something in it. What this plan has deleted may show for a
    /// while.
    async fn refuse_unless_empty(&self) -> Result<(), Stopped> {
        let path = format!("{}/resources", self.step.id);
        let query = [("api-version", versions::RESOURCES)];
        let deleted = self.deleted();
        let begun = self.clock().now();
        let mut wait = Duration::from_millis(500);
        loop {
            let items = self.run.client.list(&path, &query).await;
            let items = items.map_err(|error| self.failed(&error))?;
            let remaining: BTreeSet<ArmId> = items
                .iter()
                .filter_map(|item| item.get("id").and_then(Value::as_str)?.parse().ok())
                .collect();
            if remaining.is_empty() {
                return Ok(());
            }
            let waited = self.clock().now().saturating_sub(begun);
            let only_ours = remaining.iter().all(|id| deleted.contains(id));
            if !only_ours || waited + wait > LIST_LAG {
                let names: Vec<String> = remaining.iter().map(ToString::to_string).collect();
                return Err(failure::not_empty(&names));
            }
            self.waiting("NotEmptyYet");
            self.clock().sleep(wait).await;
            wait = wait.saturating_mul(2).min(Duration::from_secs(10));
        }
    }

    /// Everything that this plan deletes, with the parts that go along.
    fn deleted(&self) -> BTreeSet<ArmId> {
        let mut deleted = BTreeSet::new();
        for step in &self.run.plan.steps {
            if step.action != Action::Delete {
                continue;
            }
            deleted.insert(step.id.clone());
            deleted.extend(parts_of(step));
        }
        deleted
    }
}

/// Whether these are the tags of something protected.
fn is_protected(all: &Tags) -> bool {
    all.get(tags::PROTECT)
        .is_some_and(|value| value.eq_ignore_ascii_case("true"))
}
