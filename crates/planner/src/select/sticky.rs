//! What live nodes keep: choices that `auto` made stay while they satisfy the spec.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    catalog::Size,
    live::{Live, LiveResource, Owner, Provisioning},
    resource::{ScaleSet, VirtualMachine},
    spec::{EphemeralOs, ImageChoice, SecurityChoice},
    units::SizeName,
};

use super::{Context, NodeChoice, Trial, image::Choice, rules, storage, zones::Places};

/// The live nodes of a pool by index. A node that is being deleted does not count.
pub fn nodes<'a>(
    live: &'a Live,
    pool: &str,
) -> BTreeMap<u32, (&'a LiveResource, &'a VirtualMachine)> {
    let ours = live
        .resources
        .iter()
        .filter(|resource| resource.state.provisioning != Provisioning::Deleting);
    ours.filter_map(|resource| {
        let Owner::Stack(address) = &resource.owner else {
            return None;
        };
        if address.pool_name() != Some(pool) || address.leaf() != "vm" {
            return None;
        }
        let vm = resource.resource.as_ref()?.virtual_machine()?;
        Some((address.node_index()?, (resource, vm)))
    })
    .collect()
}

/// The instances of a live set, as if they were VMs of their own.
pub(super) fn instances<'a>(
    live: &'a LiveResource,
    set: &ScaleSet,
    machines: &'a [VirtualMachine],
) -> BTreeMap<u32, (&'a LiveResource, &'a VirtualMachine)> {
    let machines = machines.iter().cycle();
    // A set that lost all its instances keeps what it is all the same.
    (0..set.capacity.max(1))
        .zip(machines)
        .map(|(index, machine)| (index, (live, machine)))
        .collect()
}

/// The nodes that have an image of their own: new instances of a set get that of the set.
pub(super) fn with_own_image(
    indices: &BTreeSet<u32>,
    nodes: &BTreeMap<u32, (&LiveResource, &VirtualMachine)>,
    set: Option<&ScaleSet>,
) -> BTreeSet<u32> {
    let is_own = |index: &&u32| set.is_none() || nodes.contains_key(index);
    indices.iter().filter(is_own).copied().collect()
}

/// Whether a live size still satisfies the spec. Only rules that look at the spec and at what
/// the size is count: no price, restriction, quota or new row ever moves a running pool.
pub fn still_fits(
    context: Context<'_>,
    role: super::role::Role,
    size: &Size,
    count: Option<u32>,
) -> bool {
    let trial = Trial {
        context,
        role,
        size,
        count,
        new_nodes: 0,
    };
    rules::ALL
        .iter()
        .filter(|rule| rule.lasting)
        .all(|rule| (rule.rejects)(&trial).is_none())
}

/// Whether a live node keeps its image: where it is the one that is asked for, and where the
/// planner decides, whatever the catalogue prefers by now. Another size may need another image.
pub fn keeps_image(
    context: Context<'_>,
    image: &Choice,
    size: &SizeName,
    vm: &VirtualMachine,
) -> bool {
    let is_left_open = context.pool.image == ImageChoice::Auto && !context.reselect;
    image.covers(&vm.image) || (is_left_open && vm.size == *size)
}

/// Where nodes are whose choices are kept. A live set that is to have no instance keeps what it is.
pub(super) fn held(
    places: &Places,
    set: Option<&ScaleSet>,
    nodes: &BTreeMap<u32, (&LiveResource, &VirtualMachine)>,
) -> Places {
    if set.is_none() || !places.is_empty() {
        return places.clone();
    }
    let first = nodes.first_key_value();
    let place = first.map(|(index, (_, vm))| (*index, vm.zones.first().cloned()));
    place.into_iter().collect()
}

/// What each live node keeps of what the spec leaves open.
pub fn kept(
    context: Context<'_>,
    (image, size): (&Choice, &SizeName),
    new_node: &NodeChoice,
    places: &Places,
    nodes: &BTreeMap<u32, (&LiveResource, &VirtualMachine)>,
) -> BTreeMap<u32, NodeChoice> {
    let keep = |index: u32, vm: &VirtualMachine| {
        let disks = &context.pool.disks;
        NodeChoice {
            image: if keeps_image(context, image, size, vm) {
                vm.image.clone()
            } else {
                new_node.image.clone()
            },
            plan: if image.covers(&vm.image) {
                vm.plan.clone()
            } else {
                new_node.plan.clone()
            },
            zone: places.get(&index).cloned().flatten(),
            os_disk_gb: disks.os_size_gb.unwrap_or(vm.os_disk.size_gb),
            os_disk_type: disks.os_type.unwrap_or(vm.os_disk.disk_type),
            os_disk_name: Some(vm.os_disk.name.clone()),
            ephemeral: match disks.os_ephemeral {
                EphemeralOs::Auto => vm.os_disk.ephemeral.or(new_node.ephemeral),
                EphemeralOs::No | EphemeralOs::At(_) => new_node.ephemeral,
            },
            disk_controller: storage::kept(context, size, vm, new_node.disk_controller),
            security: if context.pool.security == SecurityChoice::Auto {
                vm.security.clone()
            } else {
                new_node.security.clone()
            },
        }
    };
    nodes
        .iter()
        .filter(|(index, _)| places.contains_key(index))
        .map(|(index, (_, vm))| (*index, keep(*index, vm)))
        .collect()
}
