//! The decision record of a pool: what was chosen, why, and what became of every other size.

use model::plan::PoolPlan;
use serde_json::json;

use crate::{failure, paper::Paper, plan::pools, style::Style};

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// The record as text: no candidate is left out.
pub fn text(name: &str, pool: &PoolPlan, style: Style) -> String {
    let mut paper = Paper::new(style);
    pools::write_all(&mut paper, name, pool, style);
    paper.finish()
}

/// The record as one JSON document, in the form it has in a plan.
pub fn json(name: &str, pool: &PoolPlan) -> String {
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "pool": name,
        "decision": pool,
    }))
}
