//! Clusters of Azure Kubernetes Service and their agent pools: listed where there is a reason to,
//! the pools cluster by cluster, because they are in no other list.

use futures::future::join_all;
use model::{
    ids::ArmId,
    resource::{ResourceKind, SYSTEM_POOL},
};
use serde_json::Value;

use super::{
    batch::with_place,
    lists::{Lists, Reader},
};
use crate::{error::ReadError, versions};

/// What names of groups begin with in which Azure keeps the machines of clusters. They carry the
/// tags of the cluster, and belong to it.
const NODE_GROUP: &str = "mc_";

impl Reader<'_> {
    /// Whether an id is that of a part of some cluster, which goes with it.
    pub(super) fn is_of_cluster(&self, id: &ArmId) -> bool {
        id.group().is_some_and(|group| {
            group.to_lowercase().starts_with(NODE_GROUP)
                && !group.eq_ignore_ascii_case(&self.scope.resource_group)
        })
    }

    /// Lists clusters where the spec has agent pools or one of the stack's is known of, and the
    /// pools of those that are ours.
    pub(super) async fn clusters(
        &self,
        tagged: &[ArmId],
        lists: &mut Lists,
    ) -> Result<(), ReadError> {
        let group = &self.scope.resource_group;
        let kind = ResourceKind::KubernetesCluster;
        let is_known = tagged.iter().any(|id| {
            ResourceKind::from_arm_type(&id.resource_type()) == Some(kind)
                && id
                    .group()
                    .is_some_and(|other| other.eq_ignore_ascii_case(group))
        });
        if self.scope.has_aks || is_known {
            let bodies = self.kind_in(group, kind).await?;
            lists.by_kind.entry(kind).or_default().extend(bodies);
        }
        let clusters = lists.by_kind.get(&kind);
        let ours: Vec<&Value> = clusters
            .into_iter()
            .flatten()
            .filter(|body| self.is_ours(body))
            .collect();
        let found = join_all(ours.into_iter().map(|cluster| self.agent_pools(cluster))).await;
        for bodies in found {
            let pools = lists.by_kind.entry(ResourceKind::AgentPool);
            pools.or_default().extend(bodies?);
        }
        Ok(())
    }

    /// The pools of a cluster, each with its place, but for the one that is a part of the cluster.
    async fn agent_pools(&self, cluster: &Value) -> Result<Vec<Value>, ReadError> {
        let text = |body: &Value, name: &str| -> String {
            let value = body.get(name).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        let id = text(cluster, "id");
        let name = id.rsplit('/').next().unwrap_or_default();
        let path = format!("{id}/agentPools");
        let query = [("api-version", versions::CONTAINERS)];
        let pools = self.client.list(&path, &query).await;
        let mut pools = self
            .said(&format!("the agent pools of the cluster `{name}`"), pools)
            .await?;
        pools.retain(|pool| text(pool, "name") != SYSTEM_POOL);
        for pool in &mut pools {
            with_place(pool, cluster);
        }
        Ok(pools)
    }
}
