//! The nodes that are live, and how they are reached.

use std::collections::BTreeMap;

use model::{
    address::Address,
    catalog::{Catalog, Size},
    ids::ArmId,
    inventory::{Inventory, InventoryNode, LeftOut, NodeAddresses, Way},
    live::{Instance, Live, LiveResource, Owner, Power, State},
    resource::{Properties, ScaleSet, System},
    spec::{Spec, Via},
    units::SizeName,
};

/// Addresses by the machine that has them.
pub type Addresses = BTreeMap<ArmId, NodeAddresses>;

/// A machine that is live, whether a VM or an instance.
struct Machine<'a> {
    pool: &'a str,
    order: (u32, Option<u64>, String),
    name: String,
    host_name: String,
    id: ArmId,
    size: &'a SizeName,
    os: System,
    state: &'a State,
    never_made: bool,
}

/// The inventory of a stack.
pub fn inventory(
    spec: &Spec,
    live: &Live,
    addresses: &Addresses,
    catalog: &Catalog,
    key_file: Option<String>,
) -> Inventory {
    let way = way(spec, live);
    let mut machines: Vec<Machine<'_>> = live
        .resources
        .iter()
        .flat_map(|one| of(one, live))
        .collect();
    machines.sort_by(|one, other| (one.pool, &one.order).cmp(&(other.pool, &other.order)));
    let mut nodes = Vec::new();
    let mut left_out = Vec::new();
    for machine in machines {
        let known = addresses.get(&machine.id).copied().unwrap_or_default();
        match obstacle(&machine, known, &way) {
            Some(reason) => left_out.push(LeftOut {
                name: machine.name,
                pool: machine.pool.to_owned(),
                reason: reason.to_owned(),
            }),
            None => nodes.push(node(machine, known, catalog)),
        }
    }
    Inventory {
        stack: spec.name.clone(),
        user: spec.access.user.clone(),
        key_file,
        way,
        nodes,
        left_out,
    }
}

fn node(machine: Machine<'_>, known: NodeAddresses, catalog: &Catalog) -> InventoryNode {
    let size = catalog.size(machine.size);
    InventoryNode {
        name: machine.name,
        host_name: machine.host_name,
        pool: machine.pool.to_owned(),
        id: machine.id,
        private_ip: known.private,
        public_ip: known.public,
        size: machine.size.clone(),
        vcpus: size.map(|size| size.vcpus),
        memory_mib: size.and_then(|size| size.memory_mib),
        gpus: size.and_then(Size::visible_gpus),
    }
}

/// The way in that the stack has, which is not always the one that the spec wants by now. A Basic
/// Bastion host lets in only what comes through the browser.
fn way(spec: &Spec, live: &Live) -> Way {
    let hosts = live.resources.iter().filter_map(|one| {
        let Properties::BastionHost(host) = &one.resource.as_ref()?.properties else {
            return None;
        };
        let is_ours = matches!(one.owner, Owner::Stack(_));
        (is_ours && host.tunneling).then_some(&one.id)
    });
    match spec.access.via {
        Via::PublicIp => Way::PublicIp,
        Via::Bastion => hosts
            .map(|host| Way::Bastion { host: host.clone() })
            .next()
            .unwrap_or(Way::Private),
        Via::None | Via::Existing => Way::Private,
    }
}

/// Why a machine cannot be reached.
fn obstacle(machine: &Machine<'_>, known: NodeAddresses, way: &Way) -> Option<&'static str> {
    if machine.never_made {
        return Some("it never got hardware");
    }
    let power = match machine.state.power {
        Some(Power::Deallocated | Power::Deallocating) if machine.state.evicted => Some("evicted"),
        Some(Power::Deallocated | Power::Deallocating) => Some("deallocated"),
        Some(Power::Stopped | Power::Stopping) => Some("stopped"),
        Some(Power::Running | Power::Starting | Power::Unknown) | None => None,
    };
    if power.is_some() {
        return power;
    }
    if machine.os == System::Windows {
        return Some("Windows, which has no SSH");
    }
    match way {
        Way::PublicIp if known.public.is_none() => Some("it has no public address"),
        Way::Private | Way::Bastion { .. } if known.private.is_none() => {
            Some("it has no address yet")
        }
        Way::Private | Way::PublicIp | Way::Bastion { .. } => None,
    }
}

/// The machines that a resource of the stack is or has.
fn of<'a>(resource: &'a LiveResource, live: &'a Live) -> Vec<Machine<'a>> {
    let Owner::Stack(address) = &resource.owner else {
        return Vec::new();
    };
    let Some(pool) = address.pool_name() else {
        return Vec::new();
    };
    let properties = resource.resource.as_ref().map(|one| &one.properties);
    match properties {
        Some(Properties::VirtualMachine(vm)) => vec![Machine {
            pool,
            order: (
                address.node_index().unwrap_or_default(),
                None,
                String::new(),
            ),
            name: resource.id.name().to_owned(),
            host_name: vm.computer_name.clone(),
            id: resource.id.clone(),
            size: &vm.size,
            os: vm.os,
            state: &resource.state,
            never_made: false,
        }],
        Some(Properties::VirtualMachineScaleSet(set)) => members(resource, address, set, live),
        Some(_) | None => Vec::new(),
    }
}

fn members<'a>(
    resource: &'a LiveResource,
    address: &'a Address,
    set: &'a ScaleSet,
    live: &'a Live,
) -> Vec<Machine<'a>> {
    let instances = live.instances.get(&resource.id);
    let living = instances
        .into_iter()
        .flatten()
        .filter(|one| !one.is_going());
    let machine = |one: &'a Instance| Machine {
        pool: address.pool_name().unwrap_or_default(),
        order: (0, one.id.parse().ok(), one.id.clone()),
        name: one.name.clone(),
        host_name: one.host_name.clone().unwrap_or_else(|| one.name.clone()),
        id: one.machine(&resource.id, set.orchestration),
        size: &set.size,
        os: set.os,
        state: &one.state,
        never_made: one.never_made(),
    };
    living.map(machine).collect()
}
