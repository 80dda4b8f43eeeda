//! What a world holds, by key, kind and reference.

use std::collections::BTreeMap;

use model::ids::ArmId;

use super::{
    addresses::Used,
    entry::{
        self, Entry, Group, Operation, Provider, Quota, Resource, Restriction, Subscription,
        Tombstone,
    },
    world::World,
};
use crate::clock::Instant;

impl World {
    pub(crate) fn subscription(&self, id: &str) -> Option<&Subscription> {
        self.entries
            .get(&entry::subscription_key(id))?
            .as_subscription()
    }

    pub(crate) fn subscriptions(&self) -> impl Iterator<Item = &Subscription> {
        self.starting_with("subscription ")
            .filter_map(Entry::as_subscription)
    }

    pub(crate) fn provider(&self, subscription: &str, namespace: &str) -> Option<&Provider> {
        self.entries
            .get(&entry::provider_key(subscription, namespace))?
            .as_provider()
    }

    pub(crate) fn quota(&self, subscription: &str, location: &str, name: &str) -> Option<&Quota> {
        self.entries
            .get(&entry::quota_key(subscription, location, name))?
            .as_quota()
    }

    pub(crate) fn restriction(
        &self,
        subscription: &str,
        location: &str,
        size: &str,
    ) -> Option<&Restriction> {
        self.entries
            .get(&entry::restriction_key(subscription, location, size))?
            .as_restriction()
    }

    pub(crate) fn restrictions(&self) -> impl Iterator<Item = &Restriction> {
        self.starting_with("restriction ")
            .filter_map(Entry::as_restriction)
    }

    pub(crate) fn group(&self, subscription: &str, name: &str) -> Option<&Group> {
        self.entries
            .get(&entry::group_key(subscription, name))?
            .as_group()
    }

    pub(crate) fn groups<'a>(
        &'a self,
        subscription: &str,
    ) -> impl Iterator<Item = &'a Group> + use<'a> {
        self.starting_with(&entry::group_key(subscription, ""))
            .filter_map(Entry::as_group)
    }

    pub(crate) fn resource(&self, id: &ArmId) -> Option<&Resource> {
        self.resource_by_key(id.key())
    }

    /// A resource by the lower-case form of its id.
    pub(crate) fn resource_by_key(&self, id: &str) -> Option<&Resource> {
        self.entries.get(&entry::resource_key(id))?.as_resource()
    }

    /// All resources whose id starts with this text, in the order of ids.
    pub(crate) fn below<'a>(
        &'a self,
        prefix: &str,
    ) -> impl Iterator<Item = &'a Resource> + use<'a> {
        self.starting_with(&entry::resource_key(&prefix.to_lowercase()))
            .filter_map(Entry::as_resource)
    }

    /// Resources of a type in a subscription, in the order of ids, after the one with this id.
    pub(crate) fn of_kind<'a>(
        &'a self,
        subscription: &str,
        kind: &str,
        after: Option<&str>,
    ) -> impl Iterator<Item = &'a Resource> + use<'a> {
        use std::ops::Bound::{Excluded, Unbounded};
        let start = after.map_or(Unbounded, |id| Excluded(id.to_owned()));
        self.index
            .of_kind(subscription, kind)
            .into_iter()
            .flat_map(move |ids| ids.range((start.clone(), Unbounded)))
            .filter_map(|id| self.resource_by_key(id))
    }

    /// Resources that name this id.
    pub(crate) fn users<'a>(&'a self, id: &str) -> impl Iterator<Item = &'a Resource> + use<'a> {
        self.users_after(id, None)
    }

    /// Resources that name this id, by their own ids, from behind `after`.
    pub(crate) fn users_after<'a>(
        &'a self,
        id: &str,
        after: Option<&str>,
    ) -> impl Iterator<Item = &'a Resource> + use<'a> {
        use std::ops::Bound::{Excluded, Unbounded};
        let start = after.map_or(Unbounded, |id| Excluded(id.to_owned()));
        let users = self.index.users(id);
        users
            .into_iter()
            .flat_map(move |ids| ids.range((start.clone(), Unbounded)))
            .filter_map(|user| self.resource_by_key(user))
    }

    /// The addresses of a subnet that are in use.
    pub(crate) fn addresses(&self, subnet: &ArmId) -> &Used {
        self.index.addresses(subnet.key())
    }

    /// What is used of a quota of a region.
    pub(crate) fn usage(&self, subscription: &str, location: &str, name: &str) -> u64 {
        self.index.usage(subscription, location, name)
    }

    pub(crate) fn operation(&self, id: &str) -> Option<&Operation> {
        self.entries.get(&entry::operation_key(id))?.as_operation()
    }

    /// The next operation that has ended by now.
    pub(crate) fn next_due(&self, now: Instant) -> Option<Operation> {
        let (ends, id) = self.index.next_due()?;
        if ends > now {
            return None;
        }
        self.operation(id).cloned()
    }

    /// The trace of what was deleted so recently that its provider still answers for it.
    pub(crate) fn tombstone(&self, id: &ArmId, now: Instant) -> Option<&Tombstone> {
        self.entries
            .get(&entry::tombstone_key(id.key()))?
            .as_tombstone()
            .filter(|found| found.until > now)
    }

    fn starting_with<'a>(&'a self, prefix: &str) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let prefix = prefix.to_owned();
        self.entries
            .range(prefix.clone()..)
            .take_while(move |(key, _)| key.starts_with(&prefix))
            .map(|(_, entry)| entry)
    }

    /// How many entries there are, by kind of key.
    pub(crate) fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for key in self.entries.keys() {
            let kind = key.split(' ').next().unwrap_or_default();
            *counts.entry(kind.to_owned()).or_insert(0) += 1;
        }
        counts
    }
}
