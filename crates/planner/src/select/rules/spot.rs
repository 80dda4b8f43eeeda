//! R8: spot needs a size that can be spot in the region.

use model::spec::Priority;

use super::{Rule, Strength};
use crate::select::Trial;

pub(super) const RULE: Rule = Rule {
    id: "spot",
    strength: Strength::Law,
    lasting: false,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    if !matches!(trial.context.pool.priority, Priority::Spot(_)) || !trial.grows() {
        return None;
    }
    let offer = trial
        .context
        .catalog
        .offers(trial.context.location)?
        .get(&trial.size.name)?;
    (!offer.spot).then(|| format!("cannot be spot in {}", trial.context.location))
}
