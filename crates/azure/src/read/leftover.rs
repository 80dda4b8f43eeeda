//! Parts that carry a copy of the tags of what they were made with, and are left once that is gone:
//! ours, each at an address of its own.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    ids::ArmId,
    live::{LiveResource, Owner},
    resource::ResourceKind,
};
use serde_json::Value;

use super::{lists::Lists, strangers::INTERFACE};
use crate::wire;

/// What a VM brings along, by the name of what is left of it.
const PARTS: [(ResourceKind, &str); 3] = [
    (ResourceKind::Disk, "os_disk"),
    (ResourceKind::NetworkInterface, "interface"),
    (ResourceKind::PublicIpAddress, "public_ip"),
];

/// The address of a part with the address tag of something else: nothing where the tag is its own.
pub(super) fn address(kind: ResourceKind, id: &ArmId, tagged: &Address) -> Option<Address> {
    let mut parts = PARTS.iter();
    let part = parts.find(|(part, _)| *part == kind).map(|(_, name)| *name);
    match (tagged.leaf(), part) {
        ("vm", Some(part)) => Some(tagged.clone().join(part)),
        // Instances of a set copy its tags, and there are many of them.
        ("scale_set", Some(_)) => Some(by_name(tagged, id)),
        ("scale_set", None) if kind == ResourceKind::VirtualMachine => Some(by_name(tagged, id)),
        _ => None,
    }
}

fn by_name(tagged: &Address, id: &ArmId) -> Address {
    let name = id.name().replace('.', "_");
    tagged.clone().join("leftover").join(&name)
}

/// Gives each of several parts of one VM an address of its own.
pub(super) fn tell_apart(found: &mut BTreeMap<ArmId, LiveResource>) {
    let is_part = |address: &Address| PARTS.iter().any(|(_, name)| *name == address.leaf());
    let mut taken = BTreeSet::new();
    for (id, resource) in found {
        let Owner::Stack(address) = &mut resource.owner else {
            continue;
        };
        if is_part(address) && !taken.insert(address.clone()) {
            *address = by_name(address, id);
        }
    }
}

/// Bodies of interfaces that belong to no VM any more.
pub(super) fn interfaces(lists: &Lists) -> impl Iterator<Item = &Value> {
    let bodies = lists.interfaces.values().flatten();
    bodies.filter(|body| body.pointer("/properties/virtualMachine/id").is_none())
}

/// Groups with tagged interfaces that no listed VM has.
pub(super) fn groups_to_look_in(tagged: &[ArmId], lists: &Lists) -> BTreeSet<String> {
    let machines = lists.by_kind.get(&ResourceKind::VirtualMachine);
    let members = lists.members.iter();
    let of_members = members.flat_map(|member| member.interfaces.iter().cloned());
    let held: BTreeSet<ArmId> = machines
        .into_iter()
        .flatten()
        .flat_map(wire::interfaces_of)
        .chain(of_members)
        .collect();
    let interfaces = tagged
        .iter()
        .filter(|id| id.resource_type().eq_ignore_ascii_case(INTERFACE) && !held.contains(*id));
    interfaces
        .filter_map(|id| Some(id.group()?.to_lowercase()))
        .collect()
}
