//! A18 and R10: never a size that is not sold any more.

use model::catalog::Lifecycle;

use super::{Rule, Strength};
use crate::select::Trial;

pub(super) const RULE: Rule = Rule {
    id: "lifecycle",
    strength: Strength::Law,
    lasting: false,
    rejects,
};

fn rejects(trial: &Trial<'_>) -> Option<String> {
    match &trial.size.lifecycle {
        Lifecycle::Retired { since: Some(day) } => Some(format!("is retired since {day}")),
        Lifecycle::Retired { since: None } => Some("is not sold any more".to_owned()),
        // The catalogue may be older than the day of retirement.
        Lifecycle::EndOfLife { retires } if retires.as_str() <= trial.context.today => {
            Some(format!("is retired since {retires}"))
        }
        Lifecycle::Current | Lifecycle::Extended | Lifecycle::EndOfLife { .. } => None,
    }
}
