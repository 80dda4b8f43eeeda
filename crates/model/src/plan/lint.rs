//! What must hold in every plan, checked after planning and before applying.

use std::collections::BTreeSet;

use super::{Action, Cost, CostLine, Plan, Step, Total, Walk, WalkLimits};
use crate::units::Micros;

impl Plan {
    /// Breaches of what must hold in every plan; none in a sound one.
    pub fn breaches(&self) -> Vec<String> {
        let mut breaches = Vec::new();
        let mut addresses = BTreeSet::new();
        for step in &self.steps {
            if !addresses.insert(&step.address) {
                breaches.push(format!("two steps have the address `{}`", step.address));
            }
        }
        for step in &self.steps {
            for need in step.needs.iter().filter(|need| !addresses.contains(need)) {
                breaches.push(format!(
                    "`{}` needs `{need}`, which no step has",
                    step.address
                ));
            }
            breaches.extend(step.breaches());
        }
        if let Err(cycle) = Walk::new(&self.steps, WalkLimits::default()) {
            breaches.push(cycle.to_string());
        }
        breaches.extend(self.cost.breaches());
        if Self::count(&self.steps) != self.counts {
            breaches.push("`counts` does not count the steps".to_owned());
        }
        if self.has_changes != self.changes().next().is_some() {
            breaches.push("`has_changes` contradicts the steps".to_owned());
        }
        breaches
    }
}

impl Step {
    fn breaches(&self) -> Vec<String> {
        let mut breaches = Vec::new();
        let mut require = |holds: bool, what: &str| {
            if !holds {
                breaches.push(format!("`{}` ({}) {what}", self.address, self.action));
            }
        };
        require(
            self.operations.is_empty() != self.action.writes(),
            "has operations exactly when it writes",
        );
        require(
            self.before.is_some() || self.action == Action::Create,
            "has no live resource to act on",
        );
        require(
            self.after.is_some() != (self.action == Action::Delete),
            "has a desired resource exactly unless it deletes",
        );
        require(
            self.fingerprint.values.is_some() == self.before.is_some(),
            "has a fingerprint of the live resource",
        );
        breaches
    }
}

impl Cost {
    fn breaches(&self) -> Vec<String> {
        let mut breaches = Vec::new();
        let sum = |of: fn(&CostLine) -> Option<Micros>| {
            self.lines
                .iter()
                .filter_map(of)
                .fold(Micros::default(), Micros::saturating_add)
        };
        let lines = Total {
            hourly_micros: sum(|line| line.hourly_micros),
            monthly_micros: sum(|line| line.monthly_micros),
        };
        if lines != self.after {
            breaches.push("the cost after is not the sum of its lines".to_owned());
        }
        if self.after.minus(self.before) != self.delta {
            breaches.push("the cost difference is not after minus before".to_owned());
        }
        if self.complete != self.lines.iter().all(|line| line.known) {
            breaches.push("`cost.complete` contradicts the lines".to_owned());
        }
        breaches
    }
}
