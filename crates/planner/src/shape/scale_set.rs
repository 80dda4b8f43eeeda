//! A pool as one scale set: one write makes all its nodes with their disks and interfaces.

use model::{
    address::Address,
    resource::{
        InstanceInterface, InstanceOsDisk, Orchestration, Properties, Resource, ScaleSet, System,
    },
    spec::{Pool, Via},
    units::CaseInsensitive,
};

use super::{
    Allowed, Desired, allowed,
    node::{Scope, data_disks, identities, need_of_group, priority, writes_checkpoints},
    tags,
};
use crate::{bootstrap, select::Selection};

/// The scale set of a pool.
pub(super) fn pool(
    scope: Scope<'_>,
    name: &str,
    pool: &Pool,
    selection: &Selection,
    orchestration: Orchestration,
) -> Desired {
    let is_uniform = orchestration == Orchestration::Uniform;
    let own_name = scope.names.pool(name);
    // What a live set has stands at each of its instances.
    let choice = selection.node(0);
    let set = ScaleSet {
        location: scope.context.location.clone(),
        zones: selection.zones.clone(),
        size: selection.size.clone(),
        capacity: selection.count,
        orchestration,
        single_placement_group: is_uniform,
        overprovision: false,
        upgrade_policy: is_uniform.then(|| CaseInsensitive::from("Manual")),
        fault_domains: 1,
        os: System::Linux,
        image: choice.image,
        plan: choice.plan,
        priority: priority(&selection.priority),
        capacity_reservation: pool.capacity_reservation.clone(),
        proximity_placement_group: scope.proximity_group(name, pool),
        computer_name_prefix: own_name.clone(),
        admin_user: scope.spec.access.user.clone(),
        ssh_keys: scope.ssh_keys(),
        os_disk: InstanceOsDisk {
            size_gb: choice.os_disk_gb,
            disk_type: choice.os_disk_type,
            ephemeral: choice.ephemeral,
        },
        disk_controller: choice.disk_controller,
        data_disks: data_disks(pool),
        network: InstanceInterface {
            name: format!("{own_name}-nic"),
            subnet: scope.subnet.id.clone(),
            accelerated: selection.accelerated_networking,
            public_address: scope.spec.access.via == Via::PublicIp,
        },
        security: choice.security,
        identities: identities(scope, pool),
        reports_readiness: bootstrap::of_pool(pool).is_some(),
    };
    let mut needs = vec![scope.subnet.needs.clone()];
    needs.push(Address::ssh_key());
    needs.extend(need_of_group(name, pool));
    needs.extend(selection.terms.as_ref().map(Address::terms));
    needs.extend(writes_checkpoints(pool));
    Desired {
        address: Address::scale_set(name),
        id: scope.names.scale_set(name),
        resource: Resource {
            tags: tags::of_pool(scope.tags, pool),
            properties: Properties::VirtualMachineScaleSet(Box::new(set)),
        },
        needs,
        allowed: Allowed {
            at_once: pool
                .rollout
                .map(|rollout| rollout.max_unavailable.of(selection.count)),
            ..allowed(pool)
        },
    }
}
