//! Azure CycleCloud: a node array for each pool, which the stack's server imports.

use model::{
    address::Address,
    cyclecloud::SERVER_POOL,
    resource::{InstanceOsDisk, NodeArray, Orchestration, Properties, Resource},
    spec::{Orchestrator, Pool, Spec, Via},
};

use super::{
    Desired, allowed,
    node::{Scope, data_disks, identities, priority},
    tags,
};
use crate::select::{Selection, cyclecloud};

/// The node array of a pool.
pub(super) fn array(
    scope: Scope<'_>,
    name: &str,
    (pool, selection): (&Pool, &Selection),
    orchestration: Orchestration,
) -> Desired {
    let choice = selection.node(0);
    let server = scope.spec.cyclecloud.as_ref();
    let properties = NodeArray {
        location: scope.context.location.clone(),
        name: name.to_owned(),
        cluster: scope.spec.name.clone(),
        scheduler: cyclecloud::scheduler(pool),
        subnet: scope.subnet.id.clone(),
        size: selection.size.clone(),
        nodes: selection.count,
        image: choice.image,
        priority: priority(&selection.priority),
        zones: selection.zones.clone(),
        coupled: orchestration == Orchestration::Uniform,
        os_disk: InstanceOsDisk {
            size_gb: choice.os_disk_gb,
            disk_type: choice.os_disk_type,
            ephemeral: choice.ephemeral,
        },
        data_disks: data_disks(pool),
        security: choice.security,
        identities: identities(scope, pool),
        public_address: scope.spec.access.via == Via::PublicIp,
        is_default: is_first(scope.spec, name),
        start: server.is_some_and(|server| server.start),
    };
    let mut needs = vec![Address::vm(SERVER_POOL, 0), scope.subnet.needs.clone()];
    needs.extend(selection.terms.as_ref().map(Address::terms));
    Desired {
        address: Address::node_array(name),
        id: scope.names.node_array(name),
        resource: Resource {
            tags: tags::of_pool(scope.tags, pool),
            properties: Properties::NodeArray(Box::new(properties)),
        },
        needs,
        allowed: allowed(pool),
    }
}

/// Jobs that name no array go to the first one, whichever pools a plan is about.
fn is_first(spec: &Spec, name: &str) -> bool {
    let is_array = |pool: &Pool| pool.orchestrator == Orchestrator::CycleCloud;
    let mut arrays = spec.pools.iter().filter(|(_, pool)| is_array(pool));
    arrays.next().is_some_and(|(first, _)| first == name)
}
