//! Accounts of Batch and their pools: listed where there is a reason to, the pools account by
//! account, because they are in no other list.

use futures::future::join_all;
use model::{ids::ArmId, resource::ResourceKind};
use serde_json::Value;

use super::lists::{Lists, Reader};
use crate::{error::ReadError, versions};

impl Reader<'_> {
    /// Lists accounts where the spec has pools of Batch or one of the stack's is known of, and the
    /// pools of those that are ours.
    pub(super) async fn batch(&self, tagged: &[ArmId], lists: &mut Lists) -> Result<(), ReadError> {
        let group = &self.scope.resource_group;
        let is_account = |id: &ArmId| {
            ResourceKind::from_arm_type(&id.resource_type()) == Some(ResourceKind::BatchAccount)
        };
        let is_here = |id: &ArmId| {
            id.group()
                .is_some_and(|other| other.eq_ignore_ascii_case(group))
        };
        let is_known = tagged.iter().any(|id| is_account(id) && is_here(id));
        if self.scope.has_batch || is_known {
            let bodies = self.kind_in(group, ResourceKind::BatchAccount).await?;
            let accounts = lists.by_kind.entry(ResourceKind::BatchAccount);
            accounts.or_default().extend(bodies);
        }
        let accounts = lists.by_kind.get(&ResourceKind::BatchAccount);
        let ours: Vec<&Value> = accounts
            .into_iter()
            .flatten()
            .filter(|body| self.is_ours(body))
            .collect();
        let found = join_all(ours.into_iter().map(|account| self.pools(account))).await;
        for bodies in found {
            let pools = lists.by_kind.entry(ResourceKind::BatchPool);
            pools.or_default().extend(bodies?);
        }
        Ok(())
    }

    /// The pools of an account, each with its place.
    async fn pools(&self, account: &Value) -> Result<Vec<Value>, ReadError> {
        let id = account
            .get("id")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let name = id.rsplit('/').next().unwrap_or_default();
        let path = format!("{id}/pools");
        let query = [("api-version", versions::BATCH)];
        let pools = self.client.list(&path, &query).await;
        let mut pools = self
            .said(&format!("the pools of the Batch account `{name}`"), pools)
            .await?;
        for pool in &mut pools {
            with_place(pool, account);
        }
        Ok(pools)
    }
}

/// Puts the place of its account into a pool, which tells none.
pub(super) fn with_place(pool: &mut Value, account: &Value) {
    if let (Some(pool), Some(place)) = (pool.as_object_mut(), account.get("location")) {
        pool.insert("location".to_owned(), place.clone());
    }
}
