//! What of others uses a resource of ours: as far as Azure tells it on what is used.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    ids::ArmId,
    live::{LiveResource, Owner, Provisioning},
    resource::ResourceKind,
};
use serde_json::Value;

use super::lists::Lists;
use crate::wire::{self, state};

/// Kinds whose bodies name their users.
const USED: [ResourceKind; 5] = [
    ResourceKind::VirtualNetwork,
    ResourceKind::NetworkSecurityGroup,
    ResourceKind::PublicIpAddress,
    ResourceKind::NatGateway,
    ResourceKind::Disk,
];

/// Kinds that stand in something else, and go with it.
const INSIDE: [ResourceKind; 3] = [
    ResourceKind::BatchPool,
    ResourceKind::AgentPool,
    ResourceKind::BlobContainer,
];

/// ARM's type of an interface.
pub(crate) const INTERFACE: &str = "Microsoft.Network/networkInterfaces";

/// The strangers of each resource of ours that has some.
pub(super) fn of(
    lists: &Lists,
    found: &BTreeMap<ArmId, LiveResource>,
) -> BTreeMap<ArmId, BTreeSet<ArmId>> {
    let machines = machines_by_interface(lists);
    let is_ours = |id: &ArmId| {
        let known = found.get(id);
        known.is_some_and(|known| known.owner != Owner::Foreign)
    };
    let mut strangers: BTreeMap<ArmId, BTreeSet<ArmId>> = BTreeMap::new();
    for (used, users) in users(lists) {
        if !is_ours(&used) {
            continue;
        }
        for user in users {
            let holder = machines.get(&user);
            if !(is_ours(&user) || holder.is_some_and(is_ours) || is_gone(&user, lists)) {
                let stranger = holder.cloned().unwrap_or_else(|| as_listed(user, lists));
                strangers.entry(used.clone()).or_default().insert(stranger);
            }
        }
    }
    // Pools and containers that others have made in an account or a cluster of ours would go with
    // it.
    let parts = found.values().filter(|resource| {
        let is = |kind: &ResourceKind| resource.arm_type.eq_ignore_ascii_case(kind.arm_type());
        resource.owner == Owner::Foreign && INSIDE.iter().any(is)
    });
    for part in parts {
        let mut above = std::iter::successors(part.id.parent(), ArmId::parent);
        if let Some(holder) = above.find(|holder| is_ours(holder)) {
            let users = strangers.entry(holder).or_default();
            users.insert(part.id.clone());
        }
    }
    strangers
}

/// Groups with interfaces that use something listed, and that no listed VM has.
pub(super) fn groups_to_look_in(lists: &Lists) -> BTreeSet<String> {
    let machines = machines_by_interface(lists);
    let users = users(lists).into_values().flatten();
    let interfaces = users.filter(|user| is_interface(user) && !machines.contains_key(user));
    interfaces
        .filter_map(|id| Some(id.group()?.to_lowercase()))
        .collect()
}

/// An id as its own resource spells it: what it uses may spell it in upper case.
fn as_listed(id: ArmId, lists: &Lists) -> ArmId {
    let mut ids = lists.interfaces.values().flatten();
    ids.find_map(|body| id_at(body, "/id").filter(|listed| *listed == id))
        .unwrap_or(id)
}

/// Whether an interface is gone or going: what it used shows it for a while.
fn is_gone(user: &ArmId, lists: &Lists) -> bool {
    let group = user.group().unwrap_or_default().to_lowercase();
    let Some(listed) = lists.interfaces.get(&group).filter(|_| is_interface(user)) else {
        return false;
    };
    let body = listed
        .iter()
        .find(|body| id_at(body, "/id").as_ref() == Some(user));
    let is_staying = |body: &Value| state::of_body(body).provisioning != Provisioning::Deleting;
    !body.is_some_and(is_staying)
}

/// The VM of each interface that has one; from VMs and from interfaces that were listed.
fn machines_by_interface(lists: &Lists) -> BTreeMap<ArmId, ArmId> {
    let mut machines = BTreeMap::new();
    let listed = lists.by_kind.get(&ResourceKind::VirtualMachine);
    for body in listed.into_iter().flatten() {
        for interface in wire::interfaces_of(body) {
            machines.extend(id_at(body, "/id").map(|machine| (interface, machine)));
        }
    }
    for member in &lists.members {
        let held = member.interfaces.iter().cloned();
        machines.extend(held.map(|interface| (interface, member.id.clone())));
    }
    for body in lists.interfaces.values().flatten() {
        let machine = id_at(body, "/properties/virtualMachine/id");
        if let (Some(id), Some(machine)) = (id_at(body, "/id"), machine) {
            machines.entry(id).or_insert(machine);
        }
    }
    machines
}

/// Who uses what, of everything that was listed.
fn users(lists: &Lists) -> BTreeMap<ArmId, BTreeSet<ArmId>> {
    let mut users: BTreeMap<ArmId, BTreeSet<ArmId>> = BTreeMap::new();
    for kind in USED {
        for body in lists.by_kind.get(&kind).into_iter().flatten() {
            let Some(id) = id_at(body, "/id") else {
                continue;
            };
            let mut all = users_of(body);
            for subnet in items(body, "/properties/subnets") {
                let inside = users_of(subnet);
                if let Some(subnet) = id_at(subnet, "/id").filter(|_| !inside.is_empty()) {
                    all.remove(&subnet);
                    users.insert(subnet, inside.clone());
                }
                all.extend(inside);
            }
            // A network lists its own subnets as others list theirs that use them.
            all.retain(|user| user.parent().as_ref() != Some(&id));
            users.insert(id, all);
        }
    }
    users
}

/// Whole resources that a body names as its users.
fn users_of(body: &Value) -> BTreeSet<ArmId> {
    let many = [
        ("/properties/ipConfigurations", "/id"),
        ("/properties/networkInterfaces", "/id"),
        ("/properties/subnets", "/id"),
        ("/properties/privateEndpoints", "/id"),
        ("/properties/serviceAssociationLinks", "/properties/link"),
        ("/properties/resourceNavigationLinks", "/properties/link"),
    ];
    let many = many
        .into_iter()
        .flat_map(|(list, place)| items(body, list).filter_map(move |item| id_at(item, place)));
    let one = [
        "/properties/ipConfiguration/id",
        "/properties/natGateway/id",
        "/managedBy",
    ];
    // A subnet names its own gateway: that is no user of it.
    let is_subnet = id_at(body, "/id").is_some_and(|id| is_subnet(&id));
    let one = one
        .into_iter()
        .filter(|_| !is_subnet)
        .filter_map(|place| id_at(body, place));
    many.chain(one).map(whole).collect()
}

/// The resource that an id is a part of; subnets stand for themselves.
pub(crate) fn whole(mut id: ArmId) -> ArmId {
    while !is_subnet(&id)
        && let Some(parent) = id.parent()
    {
        id = parent;
    }
    id
}

fn is_interface(id: &ArmId) -> bool {
    id.resource_type().eq_ignore_ascii_case(INTERFACE)
}

fn is_subnet(id: &ArmId) -> bool {
    let subnet = ResourceKind::Subnet.arm_type();
    id.resource_type().eq_ignore_ascii_case(subnet)
}

fn items<'a>(body: &'a Value, place: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    let items = body.pointer(place).and_then(Value::as_array);
    items.into_iter().flatten()
}

fn id_at(body: &Value, place: &str) -> Option<ArmId> {
    body.pointer(place)?.as_str()?.parse().ok()
}
