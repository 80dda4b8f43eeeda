//! Where checkpoints go: accounts and identities are listed where there is a reason to, and what is
//! in an account of ours or stands on its container after that, because no other list has it.

use futures::future::{join, join_all};
use model::{
    ids::ArmId,
    resource::{CHECKPOINTS, ResourceKind, RoleAssignment},
};
use serde_json::Value;

use super::lists::{Lists, Reader, none_if_absent};
use crate::{error::ReadError, versions};

/// What has a list of its own in a group.
const IN_GROUP: [ResourceKind; 2] = [ResourceKind::StorageAccount, ResourceKind::ManagedIdentity];

impl Reader<'_> {
    /// Lists all of it, where the spec has the tool make it or some of it is known of.
    pub(super) async fn checkpoints(
        &self,
        tagged: &[ArmId],
        lists: &mut Lists,
    ) -> Result<(), ReadError> {
        let group = &self.scope.resource_group;
        let is_here = |id: &ArmId| {
            id.group()
                .is_some_and(|other| other.eq_ignore_ascii_case(group))
        };
        let is_known = tagged.iter().any(|id| {
            let kind = ResourceKind::from_arm_type(&id.resource_type());
            kind.is_some_and(|kind| IN_GROUP.contains(&kind)) && is_here(id)
        });
        if self.scope.has_checkpoints || is_known {
            let [accounts, identities] = IN_GROUP.map(|kind| self.kind_in(group, kind));
            let (accounts, identities) = join(accounts, identities).await;
            let [account_kind, identity_kind] = IN_GROUP;
            let known = lists.by_kind.entry(account_kind);
            known.or_default().extend(accounts?);
            let known = lists.by_kind.entry(identity_kind);
            known.or_default().extend(identities?);
        }
        let accounts = lists.by_kind.get(&ResourceKind::StorageAccount);
        let ours: Vec<ArmId> = accounts
            .into_iter()
            .flatten()
            .filter(|body| self.is_ours(body))
            .filter_map(|body| body.get("id")?.as_str()?.parse().ok())
            .collect();
        let found = join_all(ours.iter().map(|account| self.inside(account))).await;
        for found in found {
            for (kind, bodies) in found? {
                lists.by_kind.entry(kind).or_default().extend(bodies);
            }
        }
        Ok(())
    }

    /// The containers of an account, and the stack's own role on the one for checkpoints.
    async fn inside(&self, account: &ArmId) -> Result<[(ResourceKind, Vec<Value>); 2], ReadError> {
        let service = account.child("blobServices", "default");
        let path = format!("{service}/containers");
        let query = [("api-version", versions::STORAGE)];
        let containers = none_if_absent(self.client.list(&path, &query).await);
        let what = format!("the containers of the storage account `{}`", account.name());
        let containers = self.said(&what, containers).await?;
        let container = service.child("containers", CHECKPOINTS);
        let is_there = containers.iter().any(|body| is_at(body, &container));
        let mut roles = Vec::new();
        if is_there {
            let role = RoleAssignment::on(&container);
            let path = format!("{container}/providers/{}", ResourceKind::RoleAssignment);
            let query = [
                ("$filter", "atScope()"),
                ("api-version", versions::AUTHORIZATION),
            ];
            let found = none_if_absent(self.client.list(&path, &query).await);
            roles = self.said("who may write checkpoints", found).await?;
            // Others may have given roles there too, and all that are given above are in the list.
            roles.retain(|body| is_at(body, &role));
        }
        Ok([
            (ResourceKind::BlobContainer, containers),
            (ResourceKind::RoleAssignment, roles),
        ])
    }
}

fn is_at(body: &Value, id: &ArmId) -> bool {
    let found = body.get("id").and_then(Value::as_str);
    found.and_then(|text| text.parse().ok()).as_ref() == Some(id)
}
