//! R1 and R2: some image must run on the size.

use super::{Rule, Strength};
use crate::select::{Trial, image};

pub(super) const RULE: Rule = Rule {
    id: "image",
    strength: Strength::Law,
    lasting: false,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let reason = image::choose(trial.context, trial.size).err()?;
    Some(format!("has no image that runs on it: {reason}"))
}
