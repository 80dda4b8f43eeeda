//! R4: GB200 and GB300 come by the rack, with interconnect resources on which the evidence
//! does not agree; they are priced and explained, and not created.

use super::{Rule, Strength};
use crate::select::Trial;

pub(super) const RULE: Rule = Rule {
    id: "rack",
    strength: Strength::Law,
    lasting: true,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let model = &trial.size.gpu.as_ref()?.model;
    matches!(model.as_str(), "GB200" | "GB300").then(|| {
        format!("is sold by the rack of 18 VMs; how its interconnect is made through the API is not settled, so {model} is not created")
    })
}
