//! Azure Batch offers sizes of its own choice, and none with Arm processors.

use super::{Rule, Strength};
use crate::select::batch;

pub(super) const RULE: Rule = Rule {
    id: "batch",
    strength: Strength::Law,
    lasting: false,
    rejects: batch::size_misfit,
};
