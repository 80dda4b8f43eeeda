//! From decisions to desired resources, fully named.

pub mod names;

mod access;

mod network;

mod node;

mod batch;

mod aks;

mod cyclecloud;

mod checkpoint;

mod scale_set;

mod tags;

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    ids::ArmId,
    resource::{
        MarketplaceTerms, Properties, PurchasePlan, Resource, ResourceGroup, ResourceKind, Tags,
    },
    spec::{OnBootstrapChange, OperatingSystem, Pool, Spec},
    units::Region,
};

use crate::{
    lifetime::Term,
    select::{Placement, Selection},
    shape::names::Names,
};

/// A resource that is to exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Desired {
    /// Its address.
    pub address: Address,
    /// Its id.
    pub id: ArmId,
    /// What it is to be.
    pub resource: Resource,
    /// Addresses of what must exist first.
    pub needs: Vec<Address>,
    /// What the spec allows to happen to it.
    pub allowed: Allowed,
}

/// What the spec allows to happen to a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Deallocation and replacement.
    pub stop: bool,
    /// Neither deletion nor replacement.
    pub protected: bool,
    /// Replacement because it was set up otherwise.
    pub set_up_anew: bool,
    /// So many instances of a scale set may be brought up to date at once.
    pub at_once: Option<u32>,
}

/// What shaping needs besides the spec.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The subscription; a placeholder offline where the spec names none.
    pub subscription: &'a str,
    /// The region.
    pub location: &'a Region,
    /// The stack's lifetime, where it has one.
    pub(crate) term: Option<&'a Term>,
    /// Public keys of the administrator, where the spec gives them or a live key resource has them.
    pub ssh_keys: Option<&'a [String]>,
    /// Who the identity that writes checkpoints is in the directory, where there is one already.
    pub principal: Option<&'a str>,
}

/// Every resource of the stack.
pub fn run(
    spec: &Spec,
    selections: &BTreeMap<String, Selection>,
    context: Context<'_>,
) -> Vec<Desired> {
    let names = Names::new(spec, context.subscription);
    let tags = tags::of_spec(spec, context.term);
    let group = Desired {
        address: Address::resource_group(),
        id: names.group.clone(),
        resource: Resource {
            tags: tags::kept(&tags, &Address::resource_group(), context.term),
            properties: Properties::ResourceGroup(ResourceGroup {
                location: context.location.clone(),
            }),
        },
        needs: Vec::new(),
        allowed: Allowed::default(),
    };
    let mut desired = vec![group];
    let network = network::shape(spec, &names, &tags, context.location);
    let subnet = network.subnet;
    desired.extend(network.resources);
    let placed = |name: &String| selections.get(name).map(|selection| selection.placement);
    let takes_key = |(name, pool): (&String, &Pool)| {
        let is_service = |placement| {
            matches!(
                placement,
                Placement::BatchPool | Placement::AgentPool | Placement::NodeArray(_)
            )
        };
        matches!(pool.os, OperatingSystem::Linux) && !placed(name).is_some_and(is_service)
    };
    if spec.pools.iter().any(takes_key) {
        let key_tags = tags::kept(&tags, &Address::ssh_key(), context.term);
        desired.push(node::ssh_key(&names, &key_tags, context));
    }
    for (name, selection) in selections {
        let Some(pool) = spec.pools.get(name) else {
            continue;
        };
        let scope = node::Scope {
            spec,
            names: &names,
            tags: &tags,
            subnet: &subnet,
            context,
        };
        if crate::checkpoint::is_made(pool) {
            for shared in checkpoint::resources(scope) {
                share(&mut desired, shared);
            }
        }
        add_pool(&mut desired, scope, name, (pool, selection));
    }
    desired.extend(terms(selections, context.subscription));
    desired.sort_by(|one, other| (rank(one), &one.address).cmp(&(rank(other), &other.address)));
    desired
}

/// Adds what a pool is, and what it needs beside it.
fn add_pool(
    desired: &mut Vec<Desired>,
    scope: node::Scope<'_>,
    name: &str,
    (pool, selection): (&Pool, &Selection),
) {
    match selection.placement {
        Placement::SingleVms => {
            desired.extend(node::own_group(scope, name, pool));
            desired.extend(node::pool(scope, name, pool, selection));
        }
        Placement::ScaleSet(orchestration) => {
            desired.extend(node::own_group(scope, name, pool));
            desired.push(scale_set::pool(scope, name, pool, selection, orchestration));
        }
        Placement::BatchPool => {
            share(desired, batch::account(scope));
            desired.push(batch::pool(scope, name, pool, selection));
        }
        Placement::NodeArray(orchestration) => {
            let array = cyclecloud::array(scope, name, (pool, selection), orchestration);
            desired.push(array);
        }
        Placement::AgentPool => {
            if let Some(choice) = &selection.aks {
                share(desired, aks::cluster(scope, &choice.system));
                desired.push(aks::pool(scope, name, (pool, selection), choice));
            }
        }
    }
}

/// Adds what several pools share, once.
fn share(desired: &mut Vec<Desired>, shared: Desired) {
    if !desired.iter().any(|other| other.address == shared.address) {
        desired.push(shared);
    }
}

/// Terms that are to be accepted, once for all pools.
fn terms(selections: &BTreeMap<String, Selection>, subscription: &str) -> Vec<Desired> {
    let plans: BTreeSet<&PurchasePlan> = selections
        .values()
        .filter_map(|selection| selection.terms.as_ref())
        .collect();
    let desired = |plan: &PurchasePlan| Desired {
        address: Address::terms(plan),
        id: names::terms(subscription, plan),
        resource: Resource {
            tags: Tags::default(),
            properties: Properties::MarketplaceTerms(MarketplaceTerms {
                plan: plan.clone(),
                accepted: true,
            }),
        },
        needs: Vec::new(),
        allowed: Allowed::default(),
    };
    plans.into_iter().map(desired).collect()
}

/// Plans list the group first, then the network, then what nodes share, then the pools.
fn rank(desired: &Desired) -> u8 {
    match desired.resource.kind() {
        ResourceKind::ResourceGroup => 0,
        ResourceKind::MarketplaceTerms => 2,
        ResourceKind::VirtualNetwork
        | ResourceKind::Subnet
        | ResourceKind::NetworkSecurityGroup
        | ResourceKind::PublicIpAddress
        | ResourceKind::NatGateway
        | ResourceKind::BastionHost => 1,
        ResourceKind::SshPublicKey
        | ResourceKind::ProximityPlacementGroup
        | ResourceKind::BatchAccount
        | ResourceKind::StorageAccount
        | ResourceKind::BlobContainer
        | ResourceKind::ManagedIdentity
        | ResourceKind::RoleAssignment
        | ResourceKind::KubernetesCluster => 3,
        ResourceKind::Disk
        | ResourceKind::NetworkInterface
        | ResourceKind::VirtualMachine
        | ResourceKind::BatchPool
        | ResourceKind::AgentPool
        | ResourceKind::VirtualMachineScaleSet => 4,
        ResourceKind::NodeArray => 5,
    }
}

fn allowed(pool: &Pool) -> Allowed {
    Allowed {
        stop: pool.allow_stop,
        protected: pool.protect,
        set_up_anew: pool
            .bootstrap
            .as_ref()
            .is_some_and(|bootstrap| bootstrap.on_change == OnBootstrapChange::Replace),
        at_once: None,
    }
}
