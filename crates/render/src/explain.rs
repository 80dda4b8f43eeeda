//! The decision record of a pool: what was chosen, why, and what became of every other size.

use std::collections::BTreeMap;

use model::plan::PoolPlan;
use serde_json::json;

use crate::{failure, paper::Paper, plan::pools, style::Style};

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// The records of pools as text: no candidate is left out.
pub fn text(pools: &[(&str, &PoolPlan)], style: Style) -> String {
    let mut paper = Paper::new(style);
    for (position, (name, pool)) in pools.iter().enumerate() {
        if position > 0 {
            paper.blank();
        }
        pools::write_all(&mut paper, name, pool, style);
    }
    paper.finish()
}

/// The records of pools as one JSON document, each in the form it has in a plan.
pub fn json(pools: &[(&str, &PoolPlan)]) -> String {
    let pools: BTreeMap<&str, &PoolPlan> = pools.iter().copied().collect();
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "pools": pools,
    }))
}
