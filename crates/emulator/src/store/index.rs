//! What is looked up often, kept beside the entries and derived from nothing else.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    addresses::{self, Used},
    entry::{Entry, Operation, Resource, State},
};
use crate::clock::Instant;

/// Derived look-ups of a world.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// Subscription and type in lower case → lower-case ids.
    kinds: BTreeMap<(String, String), BTreeSet<String>>,
    /// Lower-case id → lower-case ids of the resources that name it.
    users: BTreeMap<String, BTreeSet<String>>,
    /// Subscription, location and quota name in lower case → what is used.
    usage: BTreeMap<(String, String, String), u64>,
    /// Running operations by end.
    due: BTreeSet<(Instant, u64, String)>,
    /// Lower-case id of a subnet → its addresses in use.
    addresses: BTreeMap<String, Used>,
}

impl Index {
    /// Takes note that an entry came in the place of another, or of none.
    pub(crate) fn change(&mut self, old: Option<&Entry>, new: Option<&Entry>) {
        let given = |entry: Option<&Entry>| {
            entry
                .and_then(Entry::as_resource)
                .map(addresses::of)
                .unwrap_or_default()
        };
        let (had, has) = (given(old), given(new));
        // Most changes leave the addresses alone, which are many in a scale set.
        if had != has {
            for (subnet, address) in had {
                self.give_back(&subnet, address);
            }
            for (subnet, address) in has {
                self.addresses
                    .entry(subnet.to_string())
                    .or_default()
                    .add(address);
            }
        }
        if let Some(old) = old {
            self.remove(old);
        }
        if let Some(new) = new {
            self.add(new);
        }
    }

    fn give_back(&mut self, subnet: &str, address: u32) {
        if let Some(used) = self.addresses.get_mut(subnet) {
            used.remove(address);
            if used.is_empty() {
                self.addresses.remove(subnet);
            }
        }
    }

    fn add(&mut self, entry: &Entry) {
        match entry {
            Entry::Resource(resource) => self.add_resource(resource),
            Entry::Operation(operation) => {
                if operation.state == State::Running {
                    self.due.insert(due(operation));
                }
            }
            Entry::Facts(_)
            | Entry::Subscription(_)
            | Entry::Provider(_)
            | Entry::Quota(_)
            | Entry::Restriction(_)
            | Entry::Group(_)
            | Entry::Tombstone(_) => {}
        }
    }

    fn remove(&mut self, entry: &Entry) {
        match entry {
            Entry::Resource(resource) => self.remove_resource(resource),
            Entry::Operation(operation) => {
                self.due.remove(&due(operation));
            }
            Entry::Facts(_)
            | Entry::Subscription(_)
            | Entry::Provider(_)
            | Entry::Quota(_)
            | Entry::Restriction(_)
            | Entry::Group(_)
            | Entry::Tombstone(_) => {}
        }
    }

    fn add_resource(&mut self, resource: &Resource) {
        let id = resource.id.key().to_owned();
        for target in references(resource) {
            self.users.entry(target).or_default().insert(id.clone());
        }
        for (name, amount) in resource
            .hidden
            .quota
            .iter()
            .filter(|(_, amount)| **amount > 0)
        {
            *self.usage.entry(usage_key(resource, name)).or_default() += amount;
        }
        self.kinds.entry(kind_key(resource)).or_default().insert(id);
    }

    fn remove_resource(&mut self, resource: &Resource) {
        let id = resource.id.key();
        for target in references(resource) {
            if let Some(users) = self.users.get_mut(&target) {
                users.remove(id);
                if users.is_empty() {
                    self.users.remove(&target);
                }
            }
        }
        for (name, amount) in &resource.hidden.quota {
            if let Some(used) = self.usage.get_mut(&usage_key(resource, name)) {
                *used = used.saturating_sub(*amount);
                if *used == 0 {
                    self.usage.remove(&usage_key(resource, name));
                }
            }
        }
        if let Some(ids) = self.kinds.get_mut(&kind_key(resource)) {
            ids.remove(id);
            if ids.is_empty() {
                self.kinds.remove(&kind_key(resource));
            }
        }
    }

    /// Lower-case ids of all resources of a type in a subscription, in order.
    pub(crate) fn of_kind(&self, subscription: &str, kind: &str) -> Option<&BTreeSet<String>> {
        self.kinds
            .get(&(subscription.to_lowercase(), kind.to_lowercase()))
    }

    /// Lower-case ids of the resources that name this one, in order.
    pub(crate) fn users(&self, id: &str) -> Option<&BTreeSet<String>> {
        self.users.get(id)
    }

    /// The addresses of a subnet that are in use, by its lower-case id.
    pub(crate) fn addresses(&self, subnet: &str) -> &Used {
        self.addresses.get(subnet).unwrap_or(Used::NONE)
    }

    /// What is used of a quota.
    pub(crate) fn usage(&self, subscription: &str, location: &str, name: &str) -> u64 {
        self.usage
            .get(&(
                subscription.to_lowercase(),
                location.to_lowercase(),
                name.to_lowercase(),
            ))
            .copied()
            .unwrap_or(0)
    }

    /// The running operation that ends first.
    pub(crate) fn next_due(&self) -> Option<(Instant, &str)> {
        self.due.first().map(|(ends, _, id)| (*ends, id.as_str()))
    }

    /// Identifiers of all running operations.
    pub(crate) fn running(&self) -> impl Iterator<Item = &str> {
        self.due.iter().map(|(_, _, id)| id.as_str())
    }
}

fn due(operation: &Operation) -> (Instant, u64, String) {
    (operation.ends, operation.number, operation.id.clone())
}

fn kind_key(resource: &Resource) -> (String, String) {
    (
        resource
            .id
            .subscription()
            .unwrap_or_default()
            .to_lowercase(),
        resource.kind.to_lowercase(),
    )
}

fn usage_key(resource: &Resource, name: &str) -> (String, String, String) {
    (
        resource
            .id
            .subscription()
            .unwrap_or_default()
            .to_lowercase(),
        resource.location.to_lowercase(),
        name.to_lowercase(),
    )
}

/// Lower-case ids of the other resources that a resource names in its `id` members.
fn references(resource: &Resource) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(&resource.body, &mut found);
    let own = format!("{}/", resource.id.key());
    found.retain(|target| target != resource.id.key() && !target.starts_with(&own));
    found
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match member.as_str() {
                    Some(text) if key == "id" && text.starts_with('/') => {
                        found.insert(text.trim_end_matches('/').to_lowercase());
                    }
                    Some(_) => {}
                    None => collect(member, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
