//! Fetches the lists, side by side where they do not depend on one another.

use std::collections::{BTreeMap, BTreeSet};

use azure_core::Method;
use futures::future::{join, join_all, join4};
use model::{
    ids::ArmId,
    live::Unread,
    resource::{ResourceKind, tags},
};
use serde_json::Value;

use super::{
    ReadScope, explain, instances, leftover,
    strangers::{self, INTERFACE},
};
use crate::{
    client::Client,
    error::{ReadError, RequestError},
    versions, wire,
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
    /// Instance views of VMs by their id.
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
    let (tagged, group, always, machines) = join4(
        reader.tagged(),
        reader.group(),
        reader.always(),
        reader.machines(),
    )
    .await;
    let (mut tagged, group, always, machines) = (tagged?, group?, always?, machines?);
    tagged.retain(|id| !reader.is_of_cluster(id));
    let mut lists = Lists {
        group,
        by_kind: always,
        ..Lists::default()
    };
    lists.views = machines.views;
    lists.unread.extend(machines.unread);
    lists
        .by_kind
        .insert(ResourceKind::VirtualMachine, machines.bodies);
    reader.elsewhere(&tagged, &mut lists).await?;
    reader.batch(&tagged, &mut lists).await?;
    reader.clusters(&tagged, &mut lists).await?;
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

/// What listing VMs gives.
#[derive(Default)]
struct Machines {
    bodies: Vec<Value>,
    views: BTreeMap<ArmId, Value>,
    unread: Option<Unread>,
}

impl Reader<'_> {
    fn subscription_path(&self) -> String {
        format!("/subscriptions/{}", self.client.subscription())
    }

    fn group_path(&self, group: &str) -> String {
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
        let items = self.client.list(&path, &query).await;
        let items = self.said("the resources of the stack", items).await?;
        Ok(items
            .iter()
            .filter_map(|item| item.get("id")?.as_str()?.parse().ok())
            .collect())
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

    /// The VMs of the spec's group, and the instance views of all VMs once one of them is ours:
    /// the list of views covers the subscription, so it is read only when there is a need.
    async fn machines(&self) -> Result<Machines, ReadError> {
        let group = &self.scope.resource_group;
        let arm_type = ResourceKind::VirtualMachine.arm_type();
        let path = format!("{}/providers/{arm_type}", self.group_path(group));
        let what = format!("the virtualMachines of `{group}`");
        let query = [("api-version", versions::COMPUTE)];
        let mut bodies = Vec::new();
        let first = self.client.call_at(Method::Get, &path, &query);
        let mut pages = self.client.pages(self.said(&what, first).await?);
        let first = none_if_absent(pages.page(self.client, &mut bodies).await);
        self.said(&what, first).await?;
        let rest = async {
            let mut rest = Vec::new();
            let read = pages.rest(self.client, &mut rest).await;
            self.said(&what, read).await?;
            Ok::<_, ReadError>(rest)
        };
        let mut machines = Machines::default();
        if bodies.iter().any(|body| self.has_power(body)) {
            let (rest, views) = join(rest, self.views()).await;
            bodies.extend(rest?);
            (machines.views, machines.unread) = views?;
        } else {
            bodies.extend(rest.await?);
            if bodies.iter().any(|body| self.has_power(body)) {
                (machines.views, machines.unread) = self.views().await?;
            }
        }
        machines.bodies = bodies;
        Ok(machines)
    }

    pub(super) fn is_ours(&self, body: &Value) -> bool {
        wire::tags_of(body).get(tags::STACK) == Some(self.scope.stack.as_str())
    }

    /// Whether the power state of a VM may matter: it is ours, or may belong to a set of ours.
    fn has_power(&self, body: &Value) -> bool {
        self.is_ours(body) || wire::set_of_vm(body).is_some()
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

    /// The instance views of the subscription's VMs. Without permission the power states are
    /// unknown, which the plan says; any other trouble is an error.
    async fn views(&self) -> Result<(BTreeMap<ArmId, Value>, Option<Unread>), ReadError> {
        const WHAT: &str = "the power states of virtual machines";
        let arm_type = ResourceKind::VirtualMachine.arm_type();
        let path = format!("{}/providers/{arm_type}", self.subscription_path());
        let query = [("statusOnly", "true"), ("api-version", versions::COMPUTE)];
        let items = match self.client.list(&path, &query).await {
            Err(error) if error.arm().is_some_and(|arm| arm.status == 403) => {
                let unread = Unread {
                    what: WHAT.to_owned(),
                    reason: error.reason(),
                };
                return Ok((BTreeMap::new(), Some(unread)));
            }
            other => self.said(WHAT, other).await?,
        };
        let view = |mut item: Value| {
            let id = item.get("id")?.as_str()?.parse().ok()?;
            let view = item.pointer_mut("/properties/instanceView")?;
            Some((id, view.take()))
        };
        Ok((items.into_iter().filter_map(view).collect(), None))
    }

    /// Lists the kinds that the stack has in groups other than the spec's.
    async fn elsewhere(&self, tagged: &[ArmId], lists: &mut Lists) -> Result<(), ReadError> {
        let mut places = BTreeSet::new();
        for id in tagged {
            let kind = ResourceKind::from_arm_type(&id.resource_type());
            if let (Some(group), Some(kind)) = (id.group(), kind)
                && !group.eq_ignore_ascii_case(&self.scope.resource_group)
                && kind != ResourceKind::Disk
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
        let unseen = machines
            .into_iter()
            .flatten()
            .any(|body| self.is_ours(body));
        if unseen && lists.views.is_empty() && lists.unread.is_empty() {
            let (views, unread) = self.views().await?;
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
        let mut os_disks = BTreeSet::new();
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
