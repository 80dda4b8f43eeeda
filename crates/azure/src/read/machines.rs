//! The VMs of the spec's group with their power states.
//!
//! A group's list of VMs has no states; a list of the whole subscription has nothing else. Only
//! the list of one Flexible set has both, and each of its pages says what two others say. So once
//! VMs fill more than a page, those of the stack's sets are listed set by set, side by side, and
//! the rest of the group only where it may matter.

use std::collections::{BTreeMap, BTreeSet};

use azure_core::Method;
use futures::future::{join, join_all};
use model::{address::Address, ids::ArmId, live::Unread, resource::ResourceKind, resource::tags};
use serde_json::Value;

use super::lists::{Reader, none_if_absent};
use crate::{
    error::ReadError,
    paging::Pages,
    versions,
    wire::{self, member::Member},
};

/// What listing VMs gave.
pub(super) struct Machines {
    /// VMs that are in no set of the stack.
    pub(super) bodies: Vec<Value>,
    /// Those that are.
    pub(super) members: Vec<Member>,
    /// Instance views by the VM's id, where the body has none.
    pub(super) views: BTreeMap<ArmId, Value>,
    pub(super) unread: Option<Unread>,
    /// Scale sets of the stack.
    own_sets: BTreeSet<ArmId>,
    /// Pages that were left out: the VMs on them are in sets of the stack, or not of the stack.
    rest: Option<Pages>,
}

/// The first page of the group's VMs, and how to go on.
pub(super) struct FirstPage {
    bodies: Vec<Value>,
    pages: Pages,
}

/// Reads the first page.
pub(super) async fn first_page(reader: &Reader<'_>) -> Result<FirstPage, ReadError> {
    let query = [("api-version", versions::COMPUTE)];
    let first = reader
        .client
        .call_at(Method::Get, &path_in_group(reader), &query);
    let mut pages = reader
        .client
        .pages(reader.said(&what(reader), first).await?);
    let mut bodies = Vec::new();
    let read = none_if_absent(pages.page(reader.client, &mut bodies).await);
    reader.said(&what(reader), read).await?;
    Ok(FirstPage { bodies, pages })
}

impl FirstPage {
    /// Reads what else is needed, with the scale sets of the group known.
    pub(super) async fn go_on(
        self,
        reader: &Reader<'_>,
        sets: &[Value],
    ) -> Result<Machines, ReadError> {
        let ours = sets.iter().filter(|body| reader.is_ours(body));
        let own_sets: BTreeSet<ArmId> = ours.filter_map(id_of).collect();
        let Self { bodies, pages } = self;
        let mut machines = Machines {
            bodies: Vec::new(),
            members: Vec::new(),
            views: BTreeMap::new(),
            unread: None,
            own_sets,
            rest: Some(pages),
        };
        machines.sort(bodies);
        if machines.is_at_end() || !holds_all_nodes(reader, sets) {
            machines.read_rest(reader).await?;
        } else {
            machines.read_members(reader, sets).await?;
        }
        Ok(machines)
    }
}

impl Machines {
    fn is_at_end(&self) -> bool {
        self.rest.as_ref().is_none_or(Pages::is_at_end)
    }

    /// Reads what was left out, where something of the stack is not among what was read.
    pub(super) async fn complete(
        mut self,
        reader: &Reader<'_>,
        tagged: &[ArmId],
    ) -> Result<Self, ReadError> {
        if self.is_at_end() {
            return Ok(self);
        }
        let members = self.members.iter().map(|member| member.id.clone());
        let known: BTreeSet<ArmId> = self
            .bodies
            .iter()
            .filter_map(id_of)
            .chain(members)
            .collect();
        let arm_type = ResourceKind::VirtualMachine.arm_type();
        let group = &reader.scope.resource_group;
        let is_here = |id: &ArmId| {
            id.group()
                .is_some_and(|own| own.eq_ignore_ascii_case(group))
        };
        let mut tagged = tagged.iter();
        let is_missing = tagged.any(|id| {
            id.resource_type().eq_ignore_ascii_case(arm_type) && is_here(id) && !known.contains(id)
        });
        if is_missing {
            // The pages that were left out have all instances once more.
            let members = std::mem::take(&mut self.members);
            self.read_rest(reader).await?;
            self.members = members;
        }
        Ok(self)
    }

    /// Takes apart what is in a set of the stack and what is not.
    fn sort(&mut self, page: Vec<Value>) {
        for body in page {
            let set = wire::set_of_vm(&body).filter(|set| self.own_sets.contains(set));
            match set.and_then(|_| Member::of(&body)) {
                Some(member) => self.members.push(member),
                None => self.bodies.push(body),
            }
        }
    }

    /// Reads all VMs of the group that are left, and the states of all VMs once one of them is
    /// ours: the list of states covers the subscription, so it is read only when there is a need.
    async fn read_rest(&mut self, reader: &Reader<'_>) -> Result<(), ReadError> {
        let Some(mut pages) = self.rest.take() else {
            return Ok(());
        };
        // With one of ours known the two lists are read side by side.
        let early = self.needs_views(reader);
        let early_views = async {
            if early {
                Some(views(reader).await)
            } else {
                None
            }
        };
        let rest = async {
            while !pages.is_at_end() {
                let mut page = Vec::new();
                let read = pages.page(reader.client, &mut page).await;
                reader.said(&what(reader), read).await?;
                self.sort(page);
            }
            Ok::<_, ReadError>(())
        };
        let (rest, found) = join(rest, early_views).await;
        rest?;
        let found = match found {
            None if self.needs_views(reader) => Some(views(reader).await),
            found => found,
        };
        if let Some(found) = found {
            (self.views, self.unread) = found?;
        }
        for member in self.members.iter_mut().filter(|member| !member.has_view) {
            if let Some(view) = self.views.get(&member.id) {
                member.see(view);
            }
        }
        Ok(())
    }

    /// Whether the power state of a VM may matter and is not known: it is ours, or in a set.
    fn needs_views(&self, reader: &Reader<'_>) -> bool {
        let mut bodies = self.bodies.iter();
        self.members.iter().any(|member| !member.has_view)
            || bodies.any(|body| reader.is_ours(body) || wire::set_of_vm(body).is_some())
    }

    /// Reads the VMs of the stack's Flexible sets, each with its instance view.
    async fn read_members(&mut self, reader: &Reader<'_>, sets: &[Value]) -> Result<(), ReadError> {
        let path = path_in_group(reader);
        let flexible = sets.iter().filter(|body| is_flexible(body));
        let ids = flexible
            .filter_map(id_of)
            .filter(|id| self.own_sets.contains(id));
        let found = join_all(ids.map(|id| {
            let path = &path;
            async move {
                let filter = format!("'virtualMachineScaleSet/id' eq '{id}'");
                let query = [
                    ("$filter", filter.as_str()),
                    ("$expand", "instanceView"),
                    ("api-version", versions::COMPUTE),
                ];
                let member = |body: Value| Some(Member::of(&body));
                let members = reader.client.list_of(path, &query, member).await;
                let members = none_if_absent(members);
                reader
                    .said(&format!("the instances of `{}`", id.name()), members)
                    .await
            }
        }))
        .await;
        // What the first page has of the sets has no states.
        self.members.clear();
        for members in found {
            for member in members? {
                match member {
                    Some(member) => self.members.push(member),
                    None => {
                        self.unread = Some(Unread {
                            what: what(reader),
                            reason: "one of them has no id, or says no set".to_owned(),
                        });
                    }
                }
            }
        }
        Ok(())
    }
}

/// The instance views of the subscription's VMs. Without permission the power states are
/// unknown, which the plan says; any other trouble is an error.
pub(super) async fn views(
    reader: &Reader<'_>,
) -> Result<(BTreeMap<ArmId, Value>, Option<Unread>), ReadError> {
    const WHAT: &str = "the power states of virtual machines";
    let arm_type = ResourceKind::VirtualMachine.arm_type();
    let path = format!("{}/providers/{arm_type}", reader.subscription_path());
    let query = [("statusOnly", "true"), ("api-version", versions::COMPUTE)];
    let view = |mut item: Value| {
        let id = id_of(&item)?;
        let view = item.pointer_mut("/properties/instanceView")?;
        Some((id, wire::member::slim_view(view.take())))
    };
    match reader.client.list_of(&path, &query, view).await {
        Err(error) if error.arm().is_some_and(|arm| arm.status == 403) => {
            let unread = Unread {
                what: WHAT.to_owned(),
                reason: error.reason(),
            };
            Ok((BTreeMap::new(), Some(unread)))
        }
        other => Ok((reader.said(WHAT, other).await?.into_iter().collect(), None)),
    }
}

/// Whether sets of the stack hold all nodes that the run is about, so that no other VM of the
/// group matters.
fn holds_all_nodes(reader: &Reader<'_>, sets: &[Value]) -> bool {
    let Some(pools) = &reader.scope.pools else {
        return false;
    };
    let ours = sets.iter().filter(|body| reader.is_ours(body));
    let held: BTreeSet<String> = ours
        .filter_map(|body| {
            let address: Address = wire::tags_of(body).get(tags::ADDRESS)?.parse().ok()?;
            Some(address.pool_name()?.to_owned())
        })
        .collect();
    pools.is_subset(&held)
        && sets
            .iter()
            .any(|body| reader.is_ours(body) && is_flexible(body))
}

fn is_flexible(set: &Value) -> bool {
    let mode = set.pointer("/properties/orchestrationMode");
    let mode = mode.and_then(Value::as_str).unwrap_or_default();
    mode.eq_ignore_ascii_case("Flexible")
}

fn path_in_group(reader: &Reader<'_>) -> String {
    let arm_type = ResourceKind::VirtualMachine.arm_type();
    let group = reader.group_path(&reader.scope.resource_group);
    format!("{group}/providers/{arm_type}")
}

fn what(reader: &Reader<'_>) -> String {
    format!("the virtualMachines of `{}`", reader.scope.resource_group)
}

fn id_of(body: &Value) -> Option<ArmId> {
    body.get("id")?.as_str()?.parse().ok()
}
