//! A17: sizes such as `E8-2as_v7` cost as much as the whole size and switch vCPUs off, for
//! software that is licensed by the core.

use super::{Rule, Strength};
use crate::select::Trial;

pub(super) const RULE: Rule = Rule {
    id: "constrained_vcpus",
    strength: Strength::Advice,
    lasting: true,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    trial
        .size
        .name
        .as_str()
        .contains('-')
        .then(|| "has some of its vCPUs switched off, at the price of all".to_owned())
}
