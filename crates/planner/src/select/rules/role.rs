//! A4 to A9: each stage and workload has families of sizes.

use super::{Rule, Strength};
use crate::select::Trial;

pub(super) const RULE: Rule = Rule {
    id: "role",
    strength: Strength::Advice,
    lasting: true,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    let series = trial.role.series();
    if trial.role.has_gpu() && trial.size.gpu.is_none() {
        return Some("has no GPU".to_owned());
    }
    if !series.contains(&trial.size.series.as_str()) && !names_family(trial) {
        let wanted = series.join(" or ");
        return Some(format!(
            "is of the {} series, the article names {wanted}",
            trial.size.series
        ));
    }
    None
}

/// Whether the spec asks for the family by name, which widens what the article names.
fn names_family(trial: &Trial<'_>) -> bool {
    match &trial.context.pool.size {
        model::spec::SizeChoice::Constrained(constraints) => constraints
            .family
            .iter()
            .any(|family| family.eq_ignore_ascii_case(&trial.size.series)),
        model::spec::SizeChoice::Auto | model::spec::SizeChoice::Named(_) => false,
    }
}
