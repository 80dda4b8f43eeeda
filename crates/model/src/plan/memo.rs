//! What a colleague would say beside a decision: what it costs, what it draws of the quota, and
//! what would change it.

use serde::Serialize;

use super::QuotaLine;
use crate::cost::{Amount, PoolRun};

/// The memo of a pool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PoolMemo {
    /// What was asked for, in words.
    pub requirement: String,
    /// What the pool costs with its disks.
    pub total: Amount,
    /// What one run costs; `null` where nothing says how long it is.
    pub run: Option<PoolRun>,
    /// The price of a node, as `98.32 USD/h (linux.on_demand, 2026-08-01, source)`; `null` where
    /// there is none.
    pub price: Option<String>,
    /// What was decided where the spec leaves it open.
    pub choices: Vec<AutoChoice>,
    /// The counters that its nodes draw from, with what the whole plan adds to them.
    pub quota: Vec<QuotaLine>,
    /// What would change the answer, the kinds in a fixed order, of one kind the best first.
    pub alternatives: Vec<Alternative>,
}

/// What was decided for a key at `auto`, or for one that a spec does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AutoChoice {
    /// The key, dotted from the pool.
    pub key: String,
    /// What was decided.
    pub value: String,
    /// The reason as a word that stays, such as `security_size_lacks`.
    pub code: String,
    /// The reason for people: what size and image allow.
    pub why: String,
}

/// Something else that would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alternative {
    /// In what it differs.
    pub kind: AlternativeKind,
    /// The region, the size, or the number of nodes, in words.
    pub what: String,
    /// Nodes.
    pub count: u32,
    /// What the pool would cost.
    pub total: Amount,
    /// What one run would cost; `null` where nothing says how long it is.
    pub run: Option<PoolRun>,
}

/// In what an alternative differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AlternativeKind {
    /// Another region, where the same nodes are offered at a lower price.
    Region,
    /// Spare capacity instead of regular one.
    Spot,
    /// Fewer nodes, on which the model still fits.
    FewerNodes,
    /// Another size, of those that came next.
    Size,
}
