//! Which addresses of a subnet are given out, kept so that a free one is found at once.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
    sync::Arc,
};

use serde_json::Value;

use super::entry::Resource;
use crate::json::{items, text};

/// The addresses that a resource has, each with the lower-case id of its subnet.
pub(crate) fn of(resource: &Resource) -> Vec<(Arc<str>, u32)> {
    let own = items(&resource.body, "/properties/ipConfigurations");
    let fronts = items(&resource.body, "/properties/frontendIPConfigurations");
    let mut found: Vec<(Arc<str>, u32)> = own
        .iter()
        .chain(fronts)
        .filter_map(|configuration| {
            let address = text(configuration, "/properties/privateIPAddress")?;
            let address: Ipv4Addr = address.parse().ok()?;
            Some((subnet(configuration)?, u32::from(address)))
        })
        .collect();
    let Some(set) = &resource.hidden.scale_set else {
        return found;
    };
    // Instances have one address for each IP configuration of their model, in their order.
    let subnets: BTreeMap<u64, Vec<Arc<str>>> = set
        .models
        .iter()
        .map(|(number, model)| (*number, subnets(&model.profile)))
        .collect();
    for instance in set.instances.values() {
        let subnets = subnets.get(&instance.model).into_iter().flatten().cloned();
        found.extend(subnets.zip(instance.addresses.iter().copied()));
    }
    found
}

fn subnet(configuration: &Value) -> Option<Arc<str>> {
    text(configuration, "/properties/subnet/id").map(|id| id.to_lowercase().into())
}

/// The subnets of a profile's IP configurations, in their order.
fn subnets(profile: &Value) -> Vec<Arc<str>> {
    items(profile, "/networkProfile/networkInterfaceConfigurations")
        .iter()
        .flat_map(|interface| items(interface, "/properties/ipConfigurations"))
        .map(|configuration| subnet(configuration).unwrap_or_else(|| "".into()))
        .collect()
}

/// The addresses of one subnet that are in use.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    /// How many resources say that they have an address.
    counts: BTreeMap<u32, u32>,
    /// The same addresses as spans without a gap: first → last.
    spans: BTreeMap<u32, u32>,
}

impl Used {
    /// No address at all.
    pub(crate) const NONE: &Self = &Self {
        counts: BTreeMap::new(),
        spans: BTreeMap::new(),
    };

    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub(crate) fn contains(&self, address: u32) -> bool {
        self.counts.contains_key(&address)
    }

    /// Notes an address once more.
    pub(crate) fn add(&mut self, address: u32) {
        let count = self.counts.entry(address).or_default();
        *count += 1;
        if *count > 1 {
            return;
        }
        let (mut first, mut last) = (address, address);
        if let Some((start, end)) = self.span_before(address)
            && end.checked_add(1) == Some(address)
        {
            first = start;
        }
        if let Some(next) = address.checked_add(1)
            && let Some(end) = self.spans.remove(&next)
        {
            last = end;
        }
        self.spans.insert(first, last);
    }

    /// Takes a note of an address back.
    pub(crate) fn remove(&mut self, address: u32) {
        match self.counts.get_mut(&address) {
            None => return,
            Some(count) if *count > 1 => {
                *count -= 1;
                return;
            }
            Some(_) => {
                self.counts.remove(&address);
            }
        }
        let Some((start, end)) = self.span_before(address) else {
            return;
        };
        self.spans.remove(&start);
        if start < address {
            self.spans.insert(start, address - 1);
        }
        if address < end {
            self.spans.insert(address + 1, end);
        }
    }

    /// The span that starts at or before an address.
    fn span_before(&self, address: u32) -> Option<(u32, u32)> {
        let (start, end) = self.spans.range(..=address).next_back()?;
        Some((*start, *end))
    }

    /// The addresses from one to before another that are neither used nor in the set, in order.
    pub(crate) fn free(
        &self,
        first: u32,
        end: u32,
        besides: &BTreeSet<u32>,
    ) -> impl Iterator<Item = u32> {
        let mut next = Some(first);
        std::iter::from_fn(move || {
            loop {
                let at = next.filter(|at| *at < end)?;
                match self.span_before(at) {
                    Some((_, last)) if last >= at => next = last.checked_add(1),
                    Some(_) | None => {
                        next = at.checked_add(1);
                        if !besides.contains(&at) {
                            return Some(at);
                        }
                    }
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds and removes at random, and compares with a plain count of each address.
    #[test]
    fn spans_agree_with_plain_counts() {
        let mut used = Used::default();
        let mut plain: BTreeMap<u32, u32> = BTreeMap::new();
        let mut state = 17u64;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            u32::try_from((state >> 33) % below).expect("small")
        };
        for step in 0..3_000u32 {
            let address = u32::MAX - 40 + random(41);
            if random(5) < 3 {
                used.add(address);
                *plain.entry(address).or_default() += 1;
            } else {
                used.remove(address);
                if let Some(count) = plain.get_mut(&address) {
                    *count -= 1;
                }
                plain.retain(|_, count| *count > 0);
            }
            if step.is_multiple_of(97) {
                // A subnet that empties now and then.
                for address in plain.keys().copied().collect::<Vec<_>>() {
                    for _ in 0..plain.remove(&address).unwrap_or(0) {
                        used.remove(address);
                    }
                }
                assert!(used.is_empty());
            }
            let besides = BTreeSet::from([u32::MAX - 20, u32::MAX - 3]);
            let found: Vec<u32> = used.free(u32::MAX - 40, u32::MAX, &besides).collect();
            let expected: Vec<u32> = (u32::MAX - 40..u32::MAX)
                .filter(|at| !plain.contains_key(at) && !besides.contains(at))
                .collect();
            assert_eq!(found, expected);
            assert_eq!(used.counts, plain);
        }
    }
}
