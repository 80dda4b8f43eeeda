//! Offered in the region, open to the subscription, in the zones asked for.
//!
//! Live facts win over the catalogue. What belongs to one subscription (restrictions) is known
//! only from live facts; without them it is unknown, not open.

use std::collections::BTreeSet;

use model::{
    catalog::Offer,
    live::{Answer, SizeFact},
    spec::Zones,
};

use super::{Rule, Strength};
use crate::select::{
    Trial, batch,
    zones::{is_close, needs_zone},
};

pub(super) const OFFERED: Rule = Rule {
    id: "offered",
    strength: Strength::Law,
    lasting: false,
    rejects: not_offered,
};

pub(super) const RESTRICTED: Rule = Rule {
    id: "restricted",
    strength: Strength::Law,
    lasting: false,
    rejects: restricted,
};

pub(super) const ZONES: Rule = Rule {
    id: "zones",
    strength: Strength::Law,
    lasting: false,
    rejects: not_in_zones,
};

/// Disks that exist in zones only; for a named size another check says more.
pub(super) const DISKS: Rule = Rule {
    id: "zonal_disks",
    strength: Strength::Choice,
    lasting: false,
    rejects: no_zone_for_disks,
};

/// Sizes that Azure lists and no page describes are offered only where the live list has them.
pub(super) const UNLISTED: Rule = Rule {
    id: "unlisted",
    strength: Strength::Advice,
    lasting: false,
    rejects: unlisted,
};

/// What live Azure says of a size.
enum Listed<'a> {
    /// Nobody could tell.
    Unknown,
    /// The region does not have it.
    Not,
    /// The region has it.
    As(&'a SizeFact),
}

fn live<'a>(trial: &Trial<'a>) -> Listed<'a> {
    let answer = trial.context.live.facts.sizes.get(trial.context.location);
    let Some(facts) = answer.and_then(Answer::known) else {
        return Listed::Unknown;
    };
    facts.get(&trial.size.name).map_or(Listed::Not, Listed::As)
}

/// What live Azure says of a size that the region has.
pub(super) fn live_fact<'a>(trial: &Trial<'a>) -> Option<&'a SizeFact> {
    match live(trial) {
        Listed::As(fact) => Some(fact),
        Listed::Not | Listed::Unknown => None,
    }
}

/// What the catalogue says of a size in the region.
fn listed<'a>(trial: &Trial<'a>) -> Option<&'a Offer> {
    trial
        .context
        .catalog
        .offers(trial.context.location)?
        .get(&trial.size.name)
}

fn not_offered(trial: &Trial<'_>) -> Option<String> {
    let location = trial.context.location;
    let offered = match live(trial) {
        Listed::As(_) => true,
        Listed::Not => false,
        Listed::Unknown => {
            trial.context.catalog.offers(location).is_none() || listed(trial).is_some()
        }
    };
    (trial.grows() && !offered).then(|| format!("is not offered in {location}"))
}

fn restricted(trial: &Trial<'_>) -> Option<String> {
    let Listed::As(fact) = live(trial) else {
        return None;
    };
    // Nodes of Batch are in a subscription of Batch's own.
    if batch::is_wanted(trial.context) {
        return None;
    }
    let reason = fact.restricted.as_ref().filter(|_| trial.grows())?;
    Some(format!(
        "is closed to the subscription in {} ({reason})",
        trial.context.location
    ))
}

/// Zones in which nodes of the size can be made: offered and open, as far as is known.
pub(in crate::select) fn open_zones(trial: &Trial<'_>) -> Option<BTreeSet<String>> {
    match live(trial) {
        Listed::As(fact) => Some(
            fact.zones
                .difference(&fact.restricted_zones)
                .cloned()
                .collect(),
        ),
        Listed::Not => None,
        Listed::Unknown => Some(listed(trial)?.zones.as_ref().clone()),
    }
}

/// Zones that have the size and in which the subscription may not use it.
pub(in crate::select) fn closed_zones(trial: &Trial<'_>) -> BTreeSet<String> {
    match live(trial) {
        Listed::As(fact) => fact
            .zones
            .intersection(&fact.restricted_zones)
            .cloned()
            .collect(),
        Listed::Not | Listed::Unknown => BTreeSet::new(),
    }
}

/// Nodes that share a fabric take one zone of those listed; others take all of them.
fn not_in_zones(trial: &Trial<'_>) -> Option<String> {
    let Zones::Listed(wanted) = &trial.context.pool.zones else {
        return None;
    };
    if !trial.grows() {
        return None;
    }
    let open = open_zones(trial)?;
    let missing: Vec<String> = wanted
        .iter()
        .map(u8::to_string)
        .filter(|zone| !open.contains(zone))
        .collect();
    let one_is_enough = trial.size.rdma && is_close(trial);
    if missing.is_empty() || one_is_enough && missing.len() < wanted.len() {
        return None;
    }
    let missing = missing.join(" or ");
    let region = trial.context.location;
    Some(if !open.is_empty() {
        let open: Vec<String> = open.into_iter().collect();
        format!(
            "cannot be in zone {missing}; open zones: {}",
            open.join(", ")
        )
    } else if closed_zones(trial).is_empty() {
        format!("cannot be in zone {missing}: it has no zones in {region}; `zones: none` would do")
    } else {
        format!(
            "cannot be in zone {missing}: every zone of {region} is closed to the subscription; \
             `zones: none` would do, which is regional"
        )
    })
}

fn no_zone_for_disks(trial: &Trial<'_>) -> Option<String> {
    let pool = trial.context.pool;
    if !trial.grows() || pool.zones != Zones::Auto || !needs_zone(pool) {
        return None;
    }
    open_zones(trial)?.is_empty().then(|| {
        format!(
            "has no open zone in {}, and Premium SSD v2 and Ultra disks need one",
            trial.context.location
        )
    })
}

fn unlisted(trial: &Trial<'_>) -> Option<String> {
    let large = trial.size.series == "ND"
        && !trial.size.rdma
        && trial.size.version.is_some_and(|version| version >= 4);
    let seen = matches!(live(trial), Listed::As(_));
    (large && !seen).then(|| "has no public page, and no live list confirms it".to_owned())
}
