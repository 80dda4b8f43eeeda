//! The decision record of a pool: what was chosen, why, and what became of every other size.

use std::collections::BTreeMap;

use model::{
    diag::DiagnosticDocument,
    plan::{Explanation, PoolMemo},
};
use serde_json::json;

use crate::{failure, paper::Paper, plan::pools, style::Style};

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// The records of pools as text: no candidate is left out. Pools for which nothing fits come
/// last, next to the findings about them.
pub fn text(explanation: &Explanation, memos: &BTreeMap<String, PoolMemo>, style: Style) -> String {
    let Explanation {
        location,
        pools,
        refused,
    } = explanation;
    let mut paper = Paper::new(style);
    for (position, (name, pool)) in pools.iter().enumerate() {
        if position > 0 {
            paper.blank();
        }
        pools::write_all(&mut paper, name, pool, memos.get(name), style);
    }
    for (position, (name, refusal)) in refused.iter().enumerate() {
        if position > 0 || !pools.is_empty() {
            paper.blank();
        }
        pools::write_refusal(&mut paper, name, refusal, location.as_ref(), style);
    }
    paper.finish()
}

/// The records of pools as one JSON document, each in the form it has in a plan, with the memos
/// and the findings about them.
pub fn json(
    explanation: &Explanation,
    memos: &BTreeMap<String, PoolMemo>,
    diagnostics: &[DiagnosticDocument],
) -> String {
    let Explanation {
        location,
        pools,
        refused,
    } = explanation;
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "location": location,
        "pools": pools,
        "memos": memos,
        "refused": refused,
        "diagnostics": diagnostics,
    }))
}
