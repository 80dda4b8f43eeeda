//! What happens to a world by itself: evictions, quota that changes, policies that act later.

use std::collections::BTreeMap;

use model::ids::ArmId;

use super::{allocation::Hardware, demand::Placement, pattern::Pattern, tags::TagPolicy};
use crate::{
    clock::Instant,
    routes::compute::scale_set,
    store::{
        entry::{Entry, Operation, Quota, Resource, State, Style, Work},
        scale_set::Provisioning,
        world::World,
    },
    work,
};

/// Something that happens.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    Evict(Eviction),
    SetQuota(QuotaChange),
    /// A policy changes the tags of what was written a while ago.
    MergeTags {
        id: ArmId,
        policy: TagPolicy,
    },
}

/// Spot machines that are taken back.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Eviction {
    pub(super) hardware: Hardware,
    /// The name of a VM, or of an instance with its set: `set_0`.
    pub(super) name: Option<Pattern>,
    /// The resource group.
    pub(super) group: Option<Pattern>,
    /// So many at most.
    pub(super) count: Option<u64>,
    pub(super) order: Order,
}

/// Which machines go first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    #[default]
    Name,
    Oldest,
    Newest,
}

/// Limits that become others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuotaChange {
    /// All subscriptions where there is none.
    pub(super) subscription: Option<String>,
    pub(super) location: String,
    pub(super) limits: BTreeMap<String, u64>,
}

/// Lets something happen.
pub(crate) fn apply(world: &mut World, effect: &Effect) {
    match effect {
        Effect::Evict(eviction) => eviction.apply(world),
        Effect::SetQuota(change) => change.apply(world),
        Effect::MergeTags { id, policy } => {
            super::tags::merge(world, id, &[policy]);
        }
    }
}

impl QuotaChange {
    fn apply(&self, world: &mut World) {
        let subscriptions: Vec<String> = match &self.subscription {
            Some(one) => vec![one.clone()],
            None => world.subscriptions().map(|one| one.id.clone()).collect(),
        };
        for subscription in subscriptions {
            for (name, limit) in &self.limits {
                world.put(Entry::Quota(Quota {
                    subscription: subscription.clone(),
                    location: self.location.clone(),
                    name: name.clone(),
                    limit: *limit,
                }));
            }
        }
    }
}

/// A machine that may be evicted: what orders it, and where it is.
struct Candidate {
    name: String,
    created: Instant,
    resource: ArmId,
    instance: Option<u64>,
}

impl Eviction {
    fn apply(&self, world: &mut World) {
        let mut candidates = self.candidates(world);
        candidates.sort_by(|a, b| {
            let by_age = match self.order {
                Order::Name => std::cmp::Ordering::Equal,
                Order::Oldest => a.created.cmp(&b.created),
                Order::Newest => b.created.cmp(&a.created),
            };
            let place = |one: &Candidate| (one.name.clone(), one.resource.key().to_owned());
            by_age
                .then_with(|| place(a).cmp(&place(b)))
                .then(a.instance.cmp(&b.instance))
        });
        let most = self.count.and_then(|count| usize::try_from(count).ok());
        candidates.truncate(most.unwrap_or(usize::MAX));
        let mut instances: BTreeMap<String, (ArmId, Vec<u64>)> = BTreeMap::new();
        for Candidate {
            resource, instance, ..
        } in candidates
        {
            match instance {
                None => work::evict(world, &resource),
                Some(instance) => {
                    let key = resource.key().to_owned();
                    let (_, ids) = instances.entry(key).or_insert((resource, Vec::new()));
                    ids.push(instance);
                }
            }
        }
        for (set, ids) in instances.into_values() {
            let operation = eviction(world, set, ids);
            scale_set::finish::finish(world, &operation);
        }
    }

    fn candidates(&self, world: &World) -> Vec<Candidate> {
        let mut found = Vec::new();
        let subscriptions: Vec<String> = world.subscriptions().map(|one| one.id.clone()).collect();
        for subscription in &subscriptions {
            let vms = world.of_kind(subscription, "Microsoft.Compute/virtualMachines", None);
            for vm in vms.filter(|vm| self.is_in_group(vm) && is_allocated(vm)) {
                if self.fits(&Placement::of_machine(world, vm), vm.name()) {
                    found.push(Candidate {
                        name: vm.name().to_owned(),
                        created: vm.created,
                        resource: vm.id.clone(),
                        instance: None,
                    });
                }
            }
            let sets = world.of_kind(subscription, scale_set::KIND, None);
            for set in sets.filter(|set| self.is_in_group(set)) {
                self.add_instances(set, &mut found);
            }
        }
        found
    }

    fn add_instances(&self, set: &Resource, found: &mut Vec<Candidate>) {
        for seen in scale_set::instance::Seen::all(set) {
            let name = seen.name();
            let there =
                seen.instance.is_allocated() && seen.instance.state != Provisioning::Deleting;
            if there && self.fits(&Placement::of_instance(seen), &name) {
                found.push(Candidate {
                    name,
                    created: seen.instance.created,
                    resource: set.id.clone(),
                    instance: Some(seen.id),
                });
            }
        }
    }

    fn is_in_group(&self, resource: &Resource) -> bool {
        let group = resource.id.group().unwrap_or_default();
        self.group
            .as_ref()
            .is_none_or(|pattern| pattern.fits(group))
    }

    fn fits(&self, placement: &Placement, name: &str) -> bool {
        placement.spot
            && self.hardware.fits(placement)
            && self.name.as_ref().is_none_or(|pattern| pattern.fits(name))
    }
}

fn is_allocated(vm: &Resource) -> bool {
    let machine = vm.hidden.machine.as_ref();
    vm.state() != "Deleting" && machine.is_some_and(crate::store::entry::Machine::is_allocated)
}

/// The operation that an eviction of instances would be, if anybody could see it.
fn eviction(world: &World, target: ArmId, instances: Vec<u64>) -> Operation {
    let now = world.now();
    Operation {
        id: String::new(),
        number: 0,
        subscription: String::new(),
        location: String::new(),
        style: Style::Hidden,
        target,
        title: "evict".to_owned(),
        started: now,
        ends: now,
        state: State::Running,
        work: Work::Evict,
        failure: None,
        old_size: None,
        output: None,
        instances,
        unplaced: Vec::new(),
    }
}
