//! Azure CycleCloud installs Slurm alone on Arm.

use super::{Rule, Strength};
use crate::select::cyclecloud;

pub(super) const RULE: Rule = Rule {
    id: "cyclecloud",
    strength: Strength::Law,
    lasting: false,
    rejects: cyclecloud::size_misfit,
};
