//! Fetches the lists, side by side where they do not depend on one another.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::{join, join_all, join3};
use model::{
    ids::ArmId,
    live::Unread,
    resource::{ResourceKind, tags},
};
use serde_json::Value;

use super::{
    ReadScope, explain, instances, leftover, machines,
    strangers::{self, INTERFACE},
};
use crate::{
    client::Client,
    error::{ReadError, RequestError},
    versions,
    wire::{self, member::Member},
};

/// Kinds that stand in a group and are always listed there. VMs have lists of their own, subnets
/// come with their network, disks are listed when there is a reason to.
const ALWAYS: [ResourceKind; 6] = [
    ResourceKind::VirtualNetwork,
    ResourceKind::NetworkSecurityGroup,
    ResourceKind::PublicIpAddress,
    ResourceKind::NatGateway,
    ResourceKind::SshPublicKey,
    ResourceKind::VirtualMachineScaleSet,
];

/// Everything that was listed.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The group of the spec; `None` where it does not exist.
    pub(super) group: Option<Value>,
    /// Bodies by kind, from the spec's group and from others.
    pub(super) by_kind: BTreeMap<ResourceKind, Vec<Value>>,
    /// VMs that are instances of the stack's Flexible sets.
    pub(super) members: Vec<Member>,
    /// Instance views of VMs by their id, where the body has none.
    pub(super) views: BTreeMap<ArmId, Value>,
    /// Instances of Uniform sets of the stack by the id of their set.
    pub(super) instances: BTreeMap<ArmId, Vec<Value>>,
    /// Everything in the spec's group, where that was asked for.
    pub(super) whole_group: Vec<Value>,
    /// Interfaces by the group in lower case: of groups where something listed has users that
    /// belong to no VM that was listed.
    pub(super) interfaces: BTreeMap<String, Vec<Value>>,
    /// What could not be read although the run may go on.
    pub(super) unread: Vec<Unread>,
}

/// The parts of the world that are listed.
pub(super) struct Reader<'a> {
    pub(super) client: &'a Client,
    pub(super) scope: &'a ReadScope,
}

/// Fetches all lists.
pub(super) async fn fetch(client: &Client, scope: &ReadScope) -> Result<Lists, ReadError> {
    let reader = Reader { client, scope };
    // Of several failures the first in this order is told, not the first in time: the same world
    // gives the same words.
    let (tagged, group, listed) = join3(reader.tagged(), reader.group(), reader.listed()).await;
    let (mut tagged, group, (always, machines)) = (tagged?, group?, listed?);
    tagged.retain(|id| !reader.is_of_cluster(id));
    let machines = machines.complete(&reader, &tagged).await?;
    let mut lists = Lists {
        group,
        by_kind: always,
        members: machines.members,
        views: machines.views,
        unread: machines.unread.into_iter().collect(),
        ..Lists::default()
    };
    lists
        .by_kind
        .insert(ResourceKind::VirtualMachine, machines.bodies);
    reader.elsewhere(&tagged, &mut lists).await?;
    reader.batch(&tagged, &mut lists).await?;
    reader.clusters(&tagged, &mut lists).await?;
    reader.node_arrays(&mut lists).await?;
    reader.checkpoints(&tagged, &mut lists).await?;
    reader.rare(&tagged, &mut lists).await?;
    reader.instances(&mut lists).await?;
    reader.disks(&tagged, &mut lists).await?;
    reader.interfaces(&tagged, &mut lists).await;
    if scope.whole_group {
        lists.whole_group = reader.whole_group().await?;
    }
    Ok(lists)
}

impl Reader<'_> {
    pub(super) fn subscription_path(&self) -> String {
        format!("/subscriptions/{}", self.client.subscription())
    }

    pub(super) fn group_path(&self, group: &str) -> String {
        format!("{}/resourceGroups/{group}", self.subscription_path())
    }

    pub(super) async fn said<T>(
        &self,
        what: &str,
        result: Result<T, RequestError>,
    ) -> Result<T, ReadError> {
        match result {
            Ok(value) => Ok(value),
            Err(error) => Err(explain(self.client, what, error).await),
        }
    }

    /// Ids of everything in the subscription that carries the stack's tag. Their tags are not in
    /// the answer.
    async fn tagged(&self) -> Result<Vec<ArmId>, ReadError> {
        let stack = self.scope.stack.replace('\'', "''");
        let filter = format!("tagName eq '{}' and tagValue eq '{stack}'", tags::STACK);
        let query = [
            ("$filter", filter.as_str()),
            ("api-version", versions::RESOURCES),
        ];
        let path = format!("{}/resources", self.subscription_path());
        let id_of = |item: Value| item.get("id")?.as_str()?.parse().ok();
        let ids = self.client.list_of(&path, &query, id_of).await;
        self.said("the resources of the stack", ids).await
    }

    async fn group(&self) -> Result<Option<Value>, ReadError> {
        let id = ArmId::resource_group(self.client.subscription(), &self.scope.resource_group);
        let found = self.client.get(&id).await;
        let what = format!("the resource group `{}`", self.scope.resource_group);
        Ok(self.said(&what, found).await?.map(|reply| reply.body))
    }

    async fn always(&self) -> Result<BTreeMap<ResourceKind, Vec<Value>>, ReadError> {
        let group = &self.scope.resource_group;
        let lists = ALWAYS.map(|kind| async move {
            let bodies = self.kind_in(group, kind).await?;
            Ok((kind, bodies))
        });
        join_all(lists).await.into_iter().collect()
    }

    /// What is always listed, and the VMs, which are read as the scale sets tell.
    async fn listed(
        &self,
    ) -> Result<(BTreeMap<ResourceKind, Vec<Value>>, machines::Machines), ReadError> {
        let (always, first) = join(self.always(), machines::first_page(self)).await;
        let (always, first) = (always?, first?);
        let sets = always.get(&ResourceKind::VirtualMachineScaleSet);
        let machines = first.go_on(self, sets.map_or(&[], Vec::as_slice)).await?;
        Ok((always, machines))
    }

    /// All resources of a kind in a group; none where the group does not exist.
    pub(super) async fn kind_in(
        &self,
        group: &str,
        kind: ResourceKind,
    ) -> Result<Vec<Value>, ReadError> {
        let path = format!("{}/providers/{}", self.group_path(group), kind.arm_type());
        let query = [("api-version", versions::of_type(kind.arm_type()))];
        let items = none_if_absent(self.client.list(&path, &query).await);
        let what = format!("the {} of `{group}`", kind.collection());
        self.said(&what, items).await
    }

    pub(super) fn is_ours(&self, body: &Value) -> bool {
        wire::tags_of(body).get(tags::STACK) == Some(self.scope.stack.as_str())
    }

    /// The instances of the stack's Uniform sets, a list a set. Those of Flexible ones are VMs.
    async fn instances(&self, lists: &mut Lists) -> Result<(), ReadError> {
        let sets = lists.by_kind.get(&ResourceKind::VirtualMachineScaleSet);
        let uniform = sets.into_iter().flatten().filter(|body| {
            let mode = body.pointer("/properties/orchestrationMode");
            let mode = mode.and_then(Value::as_str).unwrap_or_default();
            self.is_ours(body) && !mode.eq_ignore_ascii_case("Flexible")
        });
        let ids: Vec<ArmId> = uniform
            .filter_map(|body| body.get("id")?.as_str()?.parse().ok())
            .collect();
        let found = join_all(ids.iter().map(|id| async move {
            let bodies = instances::bodies(self.client, id).await;
            self.said(&format!("the instances of `{}`", id.name()), bodies)
                .await
        }))
        .await;
        for (id, bodies) in ids.into_iter().zip(found) {
            lists.instances.insert(id, bodies?);
        }
        Ok(())
    }

    /// Lists the kinds that the stack has in groups other than the spec's.
    async fn elsewhere(&self, tagged: &[ArmId], lists: &mut Lists) -> Result<(), ReadError> {
        let mut places = BTreeSet::new();
        for id in tagged {
            let kind = ResourceKind::from_arm_type(&id.resource_type());
            if let (Some(group), Some(kind)) = (id.group(), kind)
                && !group.eq_ignore_ascii_case(&self.scope.resource_group)
                // Arrays come with their server.
                && !matches!(kind, ResourceKind::Disk | ResourceKind::NodeArray)
            {
                places.insert((group.to_lowercase(), kind));
            }
        }
        let found = join_all(places.iter().map(|(group, kind)| async move {
            let bodies = self.kind_in(group, *kind).await?;
            Ok::<_, ReadError>((*kind, bodies))
        }))
        .await;
        for found in found {
            let (kind, mut bodies) = found?;
            // What is not ours in another group is none of our business.
            bodies.retain(|body| self.is_ours(body));
            lists.by_kind.entry(kind).or_default().extend(bodies);
        }
        let machines = lists.by_kind.get(&ResourceKind::VirtualMachine);
        let mut machines = machines.into_iter().flatten();
        let unseen = machines.any(|body| self.is_ours(body));
        if unseen && lists.views.is_empty() && lists.unread.is_empty() {
            let (views, unread) = machines::views(self).await?;
            lists.views = views;
            lists.unread.extend(unread);
        }
        Ok(())
    }

    /// Lists what few stacks have where there is a reason to: the spec has one, or the stack has
    /// one.
    async fn rare(&self, tagged: &[ArmId], lists: &mut Lists) -> Result<(), ReadError> {
        let there: BTreeSet<ResourceKind> = tagged
            .iter()
            .filter_map(|id| ResourceKind::from_arm_type(&id.resource_type()))
            .collect();
        for (kind, is_wanted) in [
            (ResourceKind::BastionHost, self.scope.has_bastion),
            (ResourceKind::ProximityPlacementGroup, false),
        ] {
            if is_wanted || there.contains(&kind) {
                let bodies = self.kind_in(&self.scope.resource_group, kind).await?;
                lists.by_kind.entry(kind).or_default().extend(bodies);
            }
        }
        Ok(())
    }

    /// Lists disks where there is a reason to: the spec has data disks, a disk of ours is no OS
    /// disk of a listed VM, or a VM leaves out what its OS disk knows.
    async fn disks(&self, tagged: &[ArmId], lists: &mut Lists) -> Result<(), ReadError> {
        let machines = lists.by_kind.get(&ResourceKind::VirtualMachine);
        let of_members = lists.members.iter().filter_map(|one| one.os_disk.clone());
        let mut os_disks: BTreeSet<ArmId> = of_members.collect();
        let mut groups = BTreeSet::new();
        for body in machines.into_iter().flatten() {
            let (disk, complete) = wire::os_disk_id(body);
            if let Some(group) = disk.as_ref().and_then(ArmId::group)
                && !complete
                && self.is_ours(body)
            {
                groups.insert(group.to_lowercase());
            }
            let id = body.get("id").and_then(Value::as_str);
            let id = id.and_then(|id| id.parse().ok());
            os_disks.extend(id.and_then(|id| wire::os_disk_of(&id, body)).or(disk));
        }
        for id in tagged.iter().filter(|id| !os_disks.contains(id)) {
            let kind = ResourceKind::from_arm_type(&id.resource_type());
            if let (Some(ResourceKind::Disk), Some(group)) = (kind, id.group()) {
                groups.insert(group.to_lowercase());
            }
        }
        if self.scope.has_data_disks && lists.group.is_some() {
            groups.insert(self.scope.resource_group.to_lowercase());
        }
        let found = join_all(
            groups
                .iter()
                .map(|group| self.kind_in(group, ResourceKind::Disk)),
        )
        .await;
        for (group, found) in groups.iter().zip(found) {
            let mut bodies = found?;
            if !group.eq_ignore_ascii_case(&self.scope.resource_group) {
                bodies.retain(|body| self.is_ours(body));
            }
            lists
                .by_kind
                .entry(ResourceKind::Disk)
                .or_default()
                .extend(bodies);
        }
        Ok(())
    }

    /// Lists interfaces where they may tell whose a user is, or are left of a VM; without
    /// permission nobody knows.
    async fn interfaces(&self, tagged: &[ArmId], lists: &mut Lists) {
        let mut groups = strangers::groups_to_look_in(lists);
        groups.extend(leftover::groups_to_look_in(tagged, lists));
        let found = join_all(groups.into_iter().map(|group| async move {
            let path = format!("{}/providers/{INTERFACE}", self.group_path(&group));
            let query = [("api-version", versions::of_type(INTERFACE))];
            let items = none_if_absent(self.client.list(&path, &query).await);
            Some((group, items.ok()?))
        }))
        .await;
        lists.interfaces = found.into_iter().flatten().collect();
    }

    async fn whole_group(&self) -> Result<Vec<Value>, ReadError> {
        let group = &self.scope.resource_group;
        let path = format!("{}/resources", self.group_path(group));
        let query = [("api-version", versions::RESOURCES)];
        let items = none_if_absent(self.client.list(&path, &query).await);
        self.said(&format!("everything in `{group}`"), items).await
    }
}

/// Nothing, where the group does not exist.
pub(super) fn none_if_absent<T: Default>(
    result: Result<T, RequestError>,
) -> Result<T, RequestError> {
    match result {
        Err(error) if error.is_absence() => Ok(T::default()),
        other => other,
    }
}
