//! A17: the pool must get its tokens through in time.

use super::{Rule, Strength};
use crate::{
    select::{Trial, deadline},
    sizing::deadline::span,
};

/// A named size is checked once the number of its nodes stands.
pub(super) const RULE: Rule = Rule {
    id: "deadline",
    strength: Strength::Choice,
    lasting: false,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let shortfall = deadline::shortfall(trial)?;
    Some(if shortfall.seconds.is_finite() {
        format!(
            "is too slow: {} would take {}",
            shortfall.limit,
            span(shortfall.seconds)
        )
    } else {
        "does not hold the model".to_owned()
    })
}
