//! Offered in the region, open to the subscription, in the zones asked for.
//!
//! Live facts win over the catalogue. What belongs to one subscription (restrictions) is known
//! only from live facts; without them it is unknown, not open.

use std::collections::BTreeSet;

use model::{live::SizeFact, spec::Zones};

use super::{Rule, Strength};
use crate::select::Trial;

pub(super) const OFFERED: Rule = Rule { id: "offered", strength: Strength::Law, lasting: false, rejects: not_offered };

pub(super) const RESTRICTED: Rule =
    Rule { id: "restricted", strength: Strength::Law, lasting: false, rejects: restricted };

pub(super) const ZONES: Rule = Rule { id: "zones", strength: Strength::Law, lasting: false, rejects: not_in_zones };

/// Sizes that Azure lists and no page describes are offered only where the live list has them.
pub(super) const UNLISTED: Rule = Rule { id: "unlisted", strength: Strength::Advice, lasting: false, rejects: unlisted };

fn live<'a>(trial: &Trial<'a>) -> Option<Option<&'a SizeFact>> {
    let facts = trial.context.live.facts.sizes.get(trial.context.location)?.known()?;
    Some(facts.iter().find(|fact| fact.name == trial.size.name))
}

fn not_offered(trial: &Trial<'_>) -> Option<String> {
    if !trial.grows() {
        return None;
    }
    let location = trial.context.location;
    let offered = match live(trial) {
        Some(fact) => fact.is_some(),
        None => trial.context.catalog.offers(location).is_none_or(|offers| offers.get(&trial.size.name).is_some()),
    };
    (!offered).then(|| format!("is not offered in {location}"))
}

fn restricted(trial: &Trial<'_>) -> Option<String> {
    if !trial.grows() {
        return None;
    }
    let reason = live(trial)??.restricted.as_ref()?;
    Some(format!("the subscription may not use it in {} ({reason})", trial.context.location))
}

/// Zones in which nodes of the size can be made: offered and open, as far as is known.
pub(in crate::select) fn open_zones(trial: &Trial<'_>) -> Option<BTreeSet<String>> {
    match live(trial) {
        Some(fact) => fact.map(|fact| fact.zones.difference(&fact.restricted_zones).cloned().collect()),
        None => Some(trial.context.catalog.offers(trial.context.location)?.get(&trial.size.name)?.zones.clone()),
    }
}

fn not_in_zones(trial: &Trial<'_>) -> Option<String> {
    let Zones::Listed(wanted) = &trial.context.pool.zones else { return None };
    if !trial.grows() {
        return None;
    }
    let open = open_zones(trial)?;
    let missing: Vec<String> = wanted.iter().map(u8::to_string).filter(|zone| !open.contains(zone)).collect();
    let left = if open.is_empty() { "none".to_owned() } else { open.into_iter().collect::<Vec<_>>().join(", ") };
    (!missing.is_empty()).then(|| format!("cannot be in zone {}; open zones: {left}", missing.join(", ")))
}

fn unlisted(trial: &Trial<'_>) -> Option<String> {
    let large = trial.size.series == "ND" && !trial.size.rdma && trial.size.version.is_some_and(|version| version >= 4);
    let seen = matches!(live(trial), Some(Some(_)));
    (large && !seen).then(|| "has no public page, and no live list confirms it".to_owned())
}
