//! Azure Kubernetes Service: the cluster of a stack, and an agent pool in it for each pool.

use std::collections::BTreeSet;

use model::{
    address::Address,
    resource::{AgentPool, ClusterNetwork, KubernetesCluster, Properties, Resource, SystemPool},
    spec::{Cidr, Identity, Network, Outbound, Pool, kubernetes::ClusterTier},
    units::CaseInsensitive,
};

use super::{
    Allowed, Desired, allowed,
    node::{Scope, priority},
    tags,
};
use crate::select::{AksChoice, Selection, SystemNodes};

/// The OS disk of the nodes of the system pool, in GiB: AKS's own size.
const SYSTEM_DISK_GB: u32 = 128;

/// The taint of nodes with GPUs, unless the spec says otherwise: only what asks for GPUs runs there.
const GPU_TAINT: &str = "sku=gpu:NoSchedule";

/// Blocks of pods and of services, of which the first is taken that the network is not in.
const PODS: [&str; 2] = ["10.244.0.0/16", "192.168.0.0/17"];
const SERVICES: [&str; 2] = ["10.0.0.0/16", "192.168.128.0/17"];

/// The cluster with its system pool.
pub(super) fn cluster(scope: Scope<'_>, system: &SystemNodes) -> Desired {
    let settings = scope.spec.aks.clone().unwrap_or_default();
    let tier = match settings.tier {
        ClusterTier::Free => "Free",
        ClusterTier::Standard => "Standard",
    };
    let properties = KubernetesCluster {
        location: scope.context.location.clone(),
        tier: CaseInsensitive::from(tier),
        dns_prefix: scope.spec.name.clone(),
        node_group: CaseInsensitive::new(scope.names.node_group(scope.context.location)),
        identities: match &scope.spec.identity {
            Identity::User(id) => BTreeSet::from([id.clone()]),
            Identity::None | Identity::System => BTreeSet::new(),
        },
        network: network(&scope.spec.network),
        api_from: settings.api_from.iter().map(Cidr::to_string).collect(),
        system: SystemPool {
            size: system.size.clone(),
            count: system.count,
            zones: system.zones.clone(),
            subnet: Some(scope.subnet.id.clone()),
            os_disk_gb: SYSTEM_DISK_GB,
            os_disk_ephemeral: false,
        },
    };
    Desired {
        address: Address::kubernetes_cluster(),
        id: scope.names.kubernetes_cluster(),
        resource: Resource {
            tags: scope.tags.clone(),
            properties: Properties::KubernetesCluster(Box::new(properties)),
        },
        needs: vec![Address::resource_group(), scope.subnet.needs.clone()],
        allowed: Allowed::default(),
    }
}

/// Pods have addresses of their own, so that they take none of the subnet.
fn network(network: &Network) -> ClusterNetwork {
    let (outbound, taken) = match network {
        Network::Own {
            outbound: Outbound::Nat,
            address_space,
        } => ("userAssignedNATGateway", Some(*address_space)),
        Network::Own { address_space, .. } => ("loadBalancer", Some(*address_space)),
        // What leads out of somebody else's subnet is not known.
        Network::Existing { .. } => ("loadBalancer", None),
    };
    let free = |blocks: [&str; 2]| {
        let [usual, other] = blocks;
        let meets = |block: &str| {
            let block: Option<Cidr> = block.parse().ok();
            taken
                .zip(block)
                .is_some_and(|(taken, block)| taken.overlaps(block))
        };
        if meets(usual) { other } else { usual }.to_owned()
    };
    ClusterNetwork {
        plugin: CaseInsensitive::from("azure"),
        mode: Some(CaseInsensitive::from("overlay")),
        outbound: CaseInsensitive::from(outbound),
        pods: Some(free(PODS)),
        services: free(SERVICES),
    }
}

/// The agent pool of a pool.
pub(super) fn pool(
    scope: Scope<'_>,
    name: &str,
    (pool, selection): (&Pool, &Selection),
    AksChoice {
        system: _,
        gpu_driver,
        has_gpus,
    }: &AksChoice,
) -> Desired {
    let choice = selection.node(0);
    let settings = pool.aks.clone().unwrap_or_default();
    let taints = if settings.taints.is_none() && *has_gpus {
        BTreeSet::from([GPU_TAINT.to_owned()])
    } else {
        settings.taints.iter().flatten().cloned().collect()
    };
    let properties = AgentPool {
        location: scope.context.location.clone(),
        size: selection.size.clone(),
        nodes: selection.count,
        autoscale_min: settings.autoscale_min,
        priority: priority(&selection.priority),
        zones: selection.zones.clone(),
        subnet: Some(scope.subnet.id.clone()),
        os_disk_gb: choice.os_disk_gb,
        os_disk_ephemeral: choice.ephemeral.is_some(),
        gpu_driver: CaseInsensitive::from(*gpu_driver),
        mig: settings
            .mig
            .map(|mig| CaseInsensitive::new(format!("MIG{}", mig.word()))),
        labels: settings.labels.clone(),
        taints,
    };
    Desired {
        address: Address::agent_pool(name),
        id: scope.names.agent_pool(name),
        resource: Resource {
            tags: tags::of_pool(scope.tags, pool),
            properties: Properties::AgentPool(Box::new(properties)),
        },
        needs: vec![Address::kubernetes_cluster(), scope.subnet.needs.clone()],
        allowed: allowed(pool),
    }
}
