//! Live resources by id and by address, and what each of them cannot be without.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    ids::ArmId,
    live::{Instance, Live, LiveResource, Owner},
    resource::{Properties, ResourceKind},
};

use super::kind;

/// Live resources by id and by address. Children that copy their parent's tags (OS disks,
/// interfaces) have no address of their own.
pub struct Index<'a> {
    by_id: BTreeMap<&'a ArmId, &'a LiveResource>,
    by_address: BTreeMap<&'a Address, &'a LiveResource>,
    shared_by_machines: Vec<&'a ArmId>,
    instances: &'a BTreeMap<ArmId, Vec<Instance>>,
    strangers: &'a BTreeMap<ArmId, BTreeSet<ArmId>>,
    cluster_nodes: BTreeSet<&'a ArmId>,
}

/// The tag by which CycleCloud tells of which cluster a resource is.
const CLUSTER_NAME: &str = "ClusterName";

/// What a cluster of the stack's node arrays has made: its server ends it before they go.
fn cluster_nodes(live: &Live) -> BTreeSet<&ArmId> {
    let array = |resource: &'_ LiveResource| {
        let is_ours = resource.owner != Owner::Foreign;
        let array = resource
            .resource
            .as_ref()
            .filter(|_| is_ours)?
            .node_array()?;
        Some(array.cluster.clone())
    };
    let clusters: BTreeSet<String> = live.resources.iter().filter_map(array).collect();
    let is_made = |resource: &&LiveResource| {
        let cluster = resource.tags.get(CLUSTER_NAME);
        resource.owner == Owner::Foreign && cluster.is_some_and(|name| clusters.contains(name))
    };
    let made = live.resources.iter().filter(is_made);
    made.map(|resource| &resource.id).collect()
}

impl<'a> Index<'a> {
    /// Of everything that was read.
    pub fn new(live: &'a Live) -> Self {
        let by_id = live
            .resources
            .iter()
            .map(|resource| (&resource.id, resource))
            .collect();
        let by_address: BTreeMap<&Address, &LiveResource> = live
            .resources
            .iter()
            .filter_map(|resource| Some((resource.address()?, resource)))
            .collect();
        let shared = [ResourceKind::Subnet, ResourceKind::SshPublicKey];
        let shared_by_machines = by_address
            .values()
            .filter(|resource| kind(resource).is_some_and(|kind| shared.contains(&kind)))
            .map(|resource| &resource.id)
            .collect();
        Self {
            by_id,
            by_address,
            shared_by_machines,
            instances: &live.instances,
            strangers: &live.strangers,
            cluster_nodes: cluster_nodes(live),
        }
    }

    /// The instances of a scale set, as far as they were read.
    pub(crate) fn instances(&self, id: &ArmId) -> &'a [Instance] {
        self.instances.get(id).map_or(&[], Vec::as_slice)
    }

    /// What of others uses a resource.
    pub(super) fn strangers(&self, id: &ArmId) -> impl Iterator<Item = &'a ArmId> + use<'a> {
        let users = self.strangers.get(id).into_iter().flatten();
        let of_cluster: BTreeSet<&ArmId> = self.cluster_nodes.clone();
        users.filter(move |user| !of_cluster.contains(user))
    }

    /// Machines and what else clusters of the stack's node arrays have made.
    pub(super) fn cluster_nodes(&self) -> &BTreeSet<&'a ArmId> {
        &self.cluster_nodes
    }

    /// The live resource with this id.
    pub fn at_id(&self, id: &ArmId) -> Option<&'a LiveResource> {
        self.by_id.get(id).copied()
    }

    /// The live resource of the stack with this address.
    pub fn at_address(&self, address: &Address) -> Option<&'a LiveResource> {
        self.by_address.get(address).copied()
    }

    /// What is ours and has an address.
    pub(crate) fn ours(&self) -> impl Iterator<Item = (&'a Address, &'a LiveResource)> {
        self.by_address
            .iter()
            .map(|(address, resource)| (*address, *resource))
    }

    /// The address of what is ours at this id.
    pub(super) fn address_at(&self, id: &ArmId) -> Option<&'a Address> {
        self.at_id(id)?.address()
    }

    /// Ids of resources that this one cannot be without.
    ///
    /// A live VM does not tell its subnet, so it holds every subnet of the stack; and its key,
    /// which tells who can get in.
    pub(crate) fn references(&self, resource: &LiveResource) -> Vec<ArmId> {
        let mut ids: Vec<ArmId> = resource
            .id
            .group_id()
            .into_iter()
            .filter(|group| *group != resource.id)
            .collect();
        ids.extend(resource.id.parent());
        ids.extend(self.of_checkpoints(resource));
        match resource
            .resource
            .as_ref()
            .map(|resource| &resource.properties)
        {
            Some(Properties::VirtualMachine(vm)) => {
                ids.extend(vm.data_disks.values().map(|disk| disk.disk.clone()));
                ids.extend(vm.proximity_placement_group.clone());
                ids.extend(self.shared_by_machines.iter().copied().cloned());
            }
            Some(Properties::VirtualMachineScaleSet(set)) => {
                ids.push(set.network.subnet.clone());
                ids.extend(set.proximity_placement_group.clone());
                ids.extend(self.shared_by_machines.iter().copied().cloned());
            }
            Some(Properties::BatchPool(pool)) => ids.extend(pool.network.subnet.clone()),
            Some(Properties::AgentPool(pool)) => ids.extend(pool.subnet.clone()),
            Some(Properties::NodeArray(array)) => ids.push(array.subnet.clone()),
            Some(Properties::KubernetesCluster(cluster)) => {
                ids.extend(cluster.system.subnet.clone());
            }
            Some(Properties::Subnet(subnet)) => {
                ids.extend(subnet.nat_gateway.clone());
                ids.extend(subnet.network_security_group.clone());
            }
            Some(Properties::BastionHost(host)) => {
                ids.extend([host.subnet.clone(), host.public_ip.clone()]);
            }
            // It may be in any of them, and does not say.
            Some(Properties::NetworkInterface(_)) => {
                ids.extend(self.shared_by_machines.iter().copied().cloned());
            }
            Some(Properties::NatGateway(gateway)) => ids.extend(gateway.public_ips.iter().cloned()),
            _ => {}
        }
        ids
    }

    /// What of the place for checkpoints a resource cannot be without.
    fn of_checkpoints(&self, resource: &LiveResource) -> Vec<ArmId> {
        let mut ids = Vec::new();
        if let Some(identity) = self.at_address(&Address::checkpoint("identity"))
            && identities(resource).any(|id| *id == identity.id)
        {
            let role = self.at_address(&Address::checkpoint("role"));
            ids.push(identity.id.clone());
            ids.extend(role.map(|role| role.id.clone()));
        }
        match kind(resource) {
            // A container is in the account's service, which is no resource of its own.
            Some(ResourceKind::BlobContainer) => ids.extend(account_of(&resource.id)),
            Some(ResourceKind::RoleAssignment) => {
                let identity = self.at_address(&Address::checkpoint("identity"));
                ids.extend(resource.id.scope());
                ids.extend(identity.map(|identity| identity.id.clone()));
            }
            _ => {}
        }
        ids
    }
}

/// The account that a container is in.
pub(super) fn account_of(container: &ArmId) -> Option<ArmId> {
    container.parent()?.parent()
}

/// The identities of a machine, or of the machines of a set.
pub(super) fn identities(resource: &LiveResource) -> impl Iterator<Item = &ArmId> {
    let resource = resource.resource.as_ref();
    let of_machine = resource.and_then(|resource| Some(&resource.virtual_machine()?.identities));
    let of_set = || resource.and_then(|resource| Some(&resource.scale_set()?.identities));
    of_machine.or_else(of_set).into_iter().flatten()
}
