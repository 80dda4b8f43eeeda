//! Azure Kubernetes Service takes no nodes of one vCPU, and of AMD's GPUs one alone.

use super::{Rule, Strength};
use crate::select::aks;

pub(super) const RULE: Rule = Rule {
    id: "aks",
    strength: Strength::Law,
    lasting: false,
    rejects: aks::size_misfit,
};
