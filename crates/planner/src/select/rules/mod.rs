//! Filters: each keeps or rejects a size, with a reason.
//!
//! A file holds one rule: its id, the sentence it implements, the predicate, its tests.
//! A named size passes the same rules: one that says [`Strength::Law`] refuses it, one that
//! says [`Strength::Advice`] only warns, because who names a size wants that size.

mod role;

mod lifecycle;

mod rack;

mod constraints;

mod precision;

mod memory;

mod deadline;

mod interconnect;

mod placement;

mod floor;

mod constrained;

mod image_fit;

mod storage;

mod availability;

mod aks;

mod cyclecloud;

mod batch;

mod spot;

mod reservation;

pub(super) mod quota;

pub(super) mod budget;

pub(super) use self::availability::{closed_zones, open_zones};

use model::plan::CandidateReason;

use super::Trial;

/// How a rule treats a size that the user named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// It cannot work.
    Law,
    /// It works, against advice.
    Advice,
    /// It matters only when the planner chooses; for a named size another check says more.
    Choice,
}

/// A filter.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// What stands as the code of a reason: a row of the article, or a word.
    pub id: &'static str,
    /// How it treats a named size.
    pub strength: Strength,
    /// Whether it looks only at the spec and at what the size is, so that a live choice that
    /// passes it once always does (sticky choices).
    pub lasting: bool,
    /// Rejects with a reason.
    pub rejects: fn(&Trial<'_>) -> Option<String>,
}

/// All filters, cheapest first.
pub const ALL: &[Rule] = &[
    role::RULE,
    lifecycle::RULE,
    rack::RULE,
    constraints::RULE,
    constraints::PRICE,
    precision::RULE,
    interconnect::RULE,
    placement::RULE,
    placement::FABRIC,
    floor::RULE,
    constrained::RULE,
    memory::RULE,
    deadline::RULE,
    image_fit::RULE,
    batch::RULE,
    aks::RULE,
    cyclecloud::RULE,
    storage::CONTROLLER,
    storage::EPHEMERAL,
    storage::ROOM,
    spot::RULE,
    spot::PRICE,
    availability::OFFERED,
    availability::RESTRICTED,
    availability::ZONES,
    availability::UNLISTED,
    availability::DISKS,
    reservation::RULE,
    quota::RULE,
    budget::RULE,
];

/// The filters that say whether a subscription can have a size in a region at all.
pub(super) const OFFER: &[Rule] = &[availability::OFFERED, availability::RESTRICTED];

/// The most InfiniBand nodes that share a fabric.
pub(super) use self::placement::MOST_ON_A_FABRIC;

/// The code of the reason that quota lacks.
pub(super) const QUOTA: &str = quota::RULE.id;

/// The id of the rule that the pool must hold the model.
pub(super) const MEMORY: &str = memory::RULE.id;

/// The id of the rule that some image must run on a size.
pub(super) const IMAGE: &str = image_fit::RULE.id;

/// The code of the reason that a deadline is missed.
pub(super) const MISSES_DEADLINE: &str = deadline::RULE.id;

/// The code of the reason that a spot price is above its limit.
pub(super) const ABOVE_MAX_PRICE: &str = spot::PRICE.id;

/// Whether a size is of the families of its role; only those are candidates.
pub(super) fn plays_role(trial: &Trial<'_>) -> bool {
    (role::RULE.rejects)(trial).is_none()
}

/// Why a size is rejected: every rule that says so, in the order of the rules.
pub fn rejections(trial: &Trial<'_>) -> Vec<(Rule, CandidateReason)> {
    ALL.iter()
        .filter_map(|rule| {
            let message = (rule.rejects)(trial)?;
            Some((
                *rule,
                CandidateReason {
                    code: rule.id.to_owned(),
                    message,
                },
            ))
        })
        .collect()
}
