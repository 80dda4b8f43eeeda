//! From lists to live resources: whose each is, in canonical form. Pure.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    ids::ArmId,
    live::{Instance, Live, LiveResource, Owner, State, Unread},
    resource::{CHECKPOINTS, ResourceKind, Tags, tags},
};
use serde_json::Value;

use super::{ReadScope, leftover, lists::Lists, strangers};
use crate::wire::{self, VmDisks, member::Member, state};

/// ARM's type of an extension of a VM.
const EXTENSION: &str = "Microsoft.Compute/virtualMachines/extensions";

/// Makes live resources of what was listed.
pub(super) fn assemble(subscription: &str, scope: &ReadScope, lists: &Lists) -> Live {
    let mut assembly = Assembly::new(scope, lists);
    if let Some(group) = &lists.group {
        let id = ArmId::resource_group(subscription, &scope.resource_group);
        assembly.add(ResourceKind::ResourceGroup, group, Some(id));
    }
    for (kind, bodies) in &lists.by_kind {
        for body in bodies {
            assembly.add(*kind, body, None);
        }
    }
    for member in &lists.members {
        assembly.add_member(member);
    }
    for item in &lists.whole_group {
        assembly.add_foreign(item);
    }
    assembly.add_instances();
    for body in leftover::interfaces(lists) {
        if assembly.is_ours(&wire::tags_of(body)) {
            assembly.add(ResourceKind::NetworkInterface, body, None);
        }
    }
    leftover::tell_apart(&mut assembly.found);
    let strangers = strangers::of(lists, &assembly.found);
    let mut resources: Vec<LiveResource> = assembly.found.into_values().collect();
    resources.sort_by(|one, other| one.id.cmp(&other.id));
    let mut unread = lists.unread.clone();
    unread.extend(assembly.unread);
    Live {
        subscription: Some(subscription.to_owned()),
        read_at: scope.read_at,
        resources,
        unread,
        instances: assembly.instances,
        strangers,
        facts: model::live::Facts::default(),
    }
}

struct Assembly<'a> {
    scope: &'a ReadScope,
    lists: &'a Lists,
    disks: VmDisks,
    /// Which VM of ours an OS disk belongs to.
    os_disks: BTreeMap<ArmId, ArmId>,
    /// Scale sets of ours.
    sets: BTreeSet<ArmId>,
    /// Which VM of ours an interface belongs to.
    interfaces: BTreeMap<ArmId, ArmId>,
    /// VMs of ours with a public address of their own.
    addressed: BTreeSet<ArmId>,
    instances: BTreeMap<ArmId, Vec<Instance>>,
    found: BTreeMap<ArmId, LiveResource>,
    unread: Vec<Unread>,
}

impl<'a> Assembly<'a> {
    fn new(scope: &'a ReadScope, lists: &'a Lists) -> Self {
        let mut assembly = Self {
            scope,
            lists,
            disks: VmDisks::default(),
            os_disks: BTreeMap::new(),
            sets: BTreeSet::new(),
            interfaces: BTreeMap::new(),
            addressed: BTreeSet::new(),
            instances: BTreeMap::new(),
            found: BTreeMap::new(),
            unread: Vec::new(),
        };
        for disk in lists.by_kind.get(&ResourceKind::Disk).into_iter().flatten() {
            assembly.disks.add(disk);
        }
        let sets = lists.by_kind.get(&ResourceKind::VirtualMachineScaleSet);
        let ours = sets.into_iter().flatten();
        let ours = ours.filter(|body| assembly.is_ours(&wire::tags_of(body)));
        assembly.sets = ours.filter_map(id_of).collect();
        let machines = lists.by_kind.get(&ResourceKind::VirtualMachine);
        for body in machines.into_iter().flatten() {
            let is_ours = assembly.is_ours(&wire::tags_of(body)) || assembly.is_member(body);
            let Some(id) = id_of(body).filter(|_| is_ours) else {
                continue;
            };
            let interfaces = interfaces_of(body).map(|interface| (interface, id.clone()));
            assembly.interfaces.extend(interfaces);
            if let Some(disk) = wire::os_disk_of(&id, body) {
                assembly.os_disks.insert(disk, id);
            }
        }
        for member in &lists.members {
            let interfaces = member.interfaces.iter();
            let interfaces = interfaces.map(|interface| (interface.clone(), member.id.clone()));
            assembly.interfaces.extend(interfaces);
            let disk = member.os_disk.clone();
            assembly
                .os_disks
                .extend(disk.map(|disk| (disk, member.id.clone())));
        }
        let addresses = lists.by_kind.get(&ResourceKind::PublicIpAddress);
        let addressed = addresses.into_iter().flatten();
        let addressed = addressed.filter_map(|body| assembly.machine_of_address(body));
        assembly.addressed = addressed.cloned().collect();
        assembly
    }

    fn is_ours(&self, tags: &Tags) -> bool {
        tags.get(tags::STACK) == Some(self.scope.stack.as_str())
    }

    /// Whether a VM is an instance of a set of ours, whatever its tags say.
    fn is_member(&self, body: &Value) -> bool {
        wire::set_of_vm(body).is_some_and(|set| self.sets.contains(&set))
    }

    fn add(&mut self, kind: ResourceKind, body: &Value, id: Option<ArmId>) {
        let Some(id) = id.or_else(|| id_of(body)) else {
            self.unread.push(Unread {
                what: format!("one of the {}", kind.collection()),
                reason: "it has no id".to_owned(),
            });
            return;
        };
        let tags = wire::tags_of(body);
        let owner = self.owner(kind, &id, body, &tags);
        let resource = match wire::decode_with(kind, body, &self.disks) {
            Ok(mut resource) => {
                if let Some(vm) = resource.virtual_machine_mut() {
                    vm.network.public_address = self.addressed.contains(&id);
                }
                Some(resource)
            }
            Err(error) => {
                // Of what is somebody else's the name is enough.
                if owner != Owner::Foreign {
                    self.unread.push(Unread {
                        what: id.to_string(),
                        reason: error.to_string(),
                    });
                }
                None
            }
        };
        let live = LiveResource {
            arm_type: kind.arm_type().to_owned(),
            state: self.state(&id, body),
            owner,
            tags,
            resource,
            id: id.clone(),
        };
        if live.owner != Owner::Foreign {
            if kind == ResourceKind::VirtualNetwork {
                self.add_subnets(&live, body);
            } else if kind == ResourceKind::VirtualMachine {
                self.add_machine(&live, body);
            }
        }
        self.found.insert(id, live);
    }

    /// The parts of a VM, and the VM itself where it is an instance of a set.
    fn add_machine(&mut self, live: &LiveResource, body: &Value) {
        self.add_parts(&live.id, body);
        if let Some(set) = wire::set_of_vm(body) {
            let instance = wire::instance_of_vm(&live.id, body, live.state.clone());
            self.instances.entry(set).or_default().push(instance);
            self.add_children(&live.id, wire::parts_of_instance(body));
        }
    }

    /// The VM of ours whose interface has this public address.
    fn machine_of_address(&self, body: &Value) -> Option<&ArmId> {
        let configuration = body.pointer("/properties/ipConfiguration/id")?;
        let configuration: ArmId = configuration.as_str()?.parse().ok()?;
        self.interfaces.get(&configuration.parent()?)
    }

    /// Whose a resource is. An OS disk carries a copy of its VM's tags: the VM decides. A copy
    /// that no VM holds any more is a leftover of ours, at an address of its own.
    fn owner(&mut self, kind: ResourceKind, id: &ArmId, body: &Value, tags: &Tags) -> Owner {
        if let Some(owner) = self.owner_of_checkpoints(kind, id) {
            return owner;
        }
        let child_of = |of: ArmId| Owner::Child { of, address: None };
        if kind == ResourceKind::Disk
            && let Some(machine) = self.os_disks.get(id)
        {
            return child_of(machine.clone());
        }
        // The address that an interface brought along; one of the stack's own has its tag.
        if kind == ResourceKind::PublicIpAddress
            && !self.is_ours(tags)
            && let Some(machine) = self.machine_of_address(body)
        {
            return child_of(machine.clone());
        }
        let set = wire::set_of_vm(body).filter(|set| self.sets.contains(set));
        if let Some(set) = set {
            return child_of(set);
        }
        // A disk names its VM, an address its interface.
        let holder = ["/managedBy", "/properties/ipConfiguration/id"];
        let holder = holder
            .iter()
            .find_map(|place| body.pointer(place)?.as_str());
        let holder: Option<ArmId> = holder.and_then(|holder| holder.parse().ok());
        let held_by_set = holder.as_ref().and_then(ArmId::parent);
        if let Some(set) = held_by_set.filter(|set| self.sets.contains(set)) {
            return child_of(set);
        }
        if !self.is_ours(tags) {
            return Owner::Foreign;
        }
        let Some(address) = address_in(tags) else {
            self.unread.push(Unread {
                what: id.to_string(),
                reason: format!(
                    "it carries the stack's tag, but `{}` is no address",
                    tags.get(tags::ADDRESS).unwrap_or_default()
                ),
            });
            return Owner::Foreign;
        };
        match (leftover::address(kind, id, &address), holder) {
            // What holds a part decides whose it is; a leftover is held by nothing.
            (Some(_), Some(holder)) => child_of(holder),
            (Some(leftover), None) => Owner::Stack(leftover),
            (None, _) => Owner::Stack(address),
        }
    }

    /// Whose a container is, or a role on one. Neither carries tags: the stack's own are so by their
    /// name and by what they are in; the account comes before them.
    fn owner_of_checkpoints(&self, kind: ResourceKind, id: &ArmId) -> Option<Owner> {
        let (of, address) = if kind == ResourceKind::BlobContainer {
            if !id.name().eq_ignore_ascii_case(CHECKPOINTS) {
                return Some(Owner::Foreign);
            }
            let account = id.parent().and_then(|service| service.parent());
            (account, "container")
        } else if kind == ResourceKind::RoleAssignment {
            (id.scope(), "role")
        } else {
            return None;
        };
        let holder = of.and_then(|of| self.found.get(&of));
        let ours = holder.filter(|holder| holder.owner != Owner::Foreign);
        Some(ours.map_or(Owner::Foreign, |ours| Owner::Child {
            of: ours.id.clone(),
            address: Some(Address::checkpoint(address)),
        }))
    }

    fn state(&self, id: &ArmId, body: &Value) -> State {
        let mut found = state::of_body(body);
        if let Some(view) = self.lists.views.get(id) {
            state::apply_instance_view(&mut found, view);
            found.evicted = state::is_evicted(body, &found);
        }
        found
    }

    /// Subnets come with their network. They carry no tags: ours are known by their names.
    fn add_subnets(&mut self, network: &LiveResource, body: &Value) {
        let subnets = body
            .pointer("/properties/subnets")
            .and_then(Value::as_array);
        for subnet in subnets.into_iter().flatten() {
            let Some(id) = id_of(subnet) else {
                continue;
            };
            let resource = wire::decode(ResourceKind::Subnet, subnet);
            if let Err(error) = &resource {
                self.unread.push(Unread {
                    what: id.to_string(),
                    reason: error.to_string(),
                });
            }
            let live = LiveResource {
                arm_type: ResourceKind::Subnet.arm_type().to_owned(),
                owner: Owner::Child {
                    of: network.id.clone(),
                    address: Address::of_subnet(id.name()),
                },
                tags: Tags::default(),
                resource: resource.ok(),
                state: state::of_body(subnet),
                id: id.clone(),
            };
            self.found.insert(id, live);
        }
    }

    /// A VM of a set of ours. Of it its state is looked at; what it is, its set says.
    fn add_member(&mut self, member: &Member) {
        let instances = self.instances.entry(member.set.clone()).or_default();
        instances.push(member.instance.clone());
        self.add_child(
            &member.set,
            member.id.clone(),
            ResourceKind::VirtualMachine.arm_type(),
        );
        if let Some(found) = self.found.get_mut(&member.id) {
            found.state = member.instance.state.clone();
        }
        for id in &member.interfaces {
            self.add_child(&member.id, id.clone(), strangers::INTERFACE);
        }
        for id in member.os_disk.iter().chain(&member.disks) {
            self.add_child(&member.id, id.clone(), ResourceKind::Disk.arm_type());
        }
        for id in &member.extensions {
            self.add_child(&member.id, id.clone(), EXTENSION);
        }
    }

    /// The NIC and the OS disk that a VM brings along, and its extensions.
    fn add_parts(&mut self, machine: &ArmId, body: &Value) {
        for id in interfaces_of(body) {
            self.add_child(machine, id, strangers::INTERFACE);
        }
        if let Some(disk) = wire::os_disk_of(machine, body) {
            self.add_child(machine, disk, ResourceKind::Disk.arm_type());
        }
        let extensions = body.get("resources").and_then(Value::as_array);
        for id in extensions.into_iter().flatten().filter_map(id_of) {
            self.add_child(machine, id, EXTENSION);
        }
    }

    /// What goes with something of ours and has no address.
    fn add_child(&mut self, of: &ArmId, id: ArmId, arm_type: &str) {
        self.found
            .entry(id.clone())
            .or_insert_with(|| LiveResource {
                arm_type: arm_type.to_owned(),
                owner: Owner::Child {
                    of: of.clone(),
                    address: None,
                },
                tags: Tags::default(),
                resource: None,
                state: State::default(),
                id,
            });
    }

    /// Instances of Uniform sets, with the disks that they brought along.
    fn add_instances(&mut self) {
        let lists = self.lists;
        for (set, bodies) in &lists.instances {
            let instances = bodies.iter().filter_map(wire::instance_of_set);
            self.instances.insert(set.clone(), instances.collect());
            let parts = bodies.iter().flat_map(wire::parts_of_instance);
            self.add_children(set, parts);
        }
    }

    /// Disks that go with what they belong to.
    fn add_children(&mut self, of: &ArmId, disks: impl IntoIterator<Item = ArmId>) {
        for id in disks {
            self.add_child(of, id, ResourceKind::Disk.arm_type());
        }
    }

    /// Something in the group that no list of ours has.
    fn add_foreign(&mut self, item: &Value) {
        let Some(id) = id_of(item) else {
            return;
        };
        let arm_type = item.get("type").and_then(Value::as_str);
        self.found
            .entry(id.clone())
            .or_insert_with(|| LiveResource {
                arm_type: arm_type.map_or_else(|| id.resource_type(), ToOwned::to_owned),
                owner: Owner::Foreign,
                tags: wire::tags_of(item),
                resource: None,
                state: State::default(),
                id,
            });
    }
}

/// The interfaces of a VM.
fn interfaces_of(body: &Value) -> impl Iterator<Item = ArmId> + use<'_> {
    let interfaces = body.pointer("/properties/networkProfile/networkInterfaces");
    let interfaces = interfaces.and_then(Value::as_array);
    interfaces.into_iter().flatten().filter_map(id_of)
}

fn id_of(body: &Value) -> Option<ArmId> {
    body.get("id")?.as_str()?.parse().ok()
}

fn address_in(tags: &Tags) -> Option<Address> {
    tags.get(tags::ADDRESS)?.parse().ok()
}
