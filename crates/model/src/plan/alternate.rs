//! Other ways to make a pool: recorded in the plan, taken where there is no capacity.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Plan, Step};
use crate::resource::Resource;

/// What a pool does without capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scarcity {
    /// How long to keep trying, in seconds.
    pub wait_seconds: u64,
    /// The number of nodes that is enough; `null` means all.
    pub min_count: Option<u32>,
    /// Whether a part of the nodes is removed in the end; else it stays.
    pub rollback: bool,
}

impl Step {
    /// What the step makes in another of its ways; `None` where it has none of that number.
    pub fn alternate(&self, number: usize) -> Option<Resource> {
        let alternate = self.alternates.get(number)?;
        let mut document = self.after.as_ref()?.document();
        for (path, value) in &alternate.attributes {
            let (parent, member) = path.rsplit_once('.').unwrap_or(("", path));
            let place = match parent {
                "" => String::new(),
                parent => format!("/{}", parent.replace('.', "/")),
            };
            // A member that documents leave out may stand in one way and not in another.
            let members = document.pointer_mut(&place)?.as_object_mut()?;
            members.insert(member.to_owned(), value.clone());
        }
        Resource::from_document(self.kind, document).ok()
    }

    /// The step made in another of its ways, where it has one of that number.
    #[must_use]
    pub fn taking(mut self, number: Option<usize>) -> Self {
        if let Some(resource) = number.and_then(|number| self.alternate(number)) {
            self.after = Some(resource);
        }
        self
    }
}

impl Plan {
    /// The plan as it is when pools are made in other of their ways.
    #[must_use]
    pub fn taking(&self, taken: &BTreeMap<String, usize>) -> Self {
        let mut plan = self.clone();
        for step in &mut plan.steps {
            let pool = step.address.pool_name();
            let number = pool.and_then(|pool| taken.get(pool).copied());
            *step = step.clone().taking(number);
        }
        plan
    }

    /// What another way of a pool is called.
    pub fn alternate_label(&self, pool: &str, number: usize) -> Option<&str> {
        let of_pool = |step: &&Step| step.address.pool_name() == Some(pool);
        let mut steps = self.steps.iter().filter(of_pool);
        steps.find_map(|step| Some(step.alternates.get(number)?.label.as_str()))
    }
}

/// Attributes by which one resource differs from another of its kind: whole members, `null` for
/// one that the other leaves out.
pub fn different_members(one: &Resource, other: &Resource) -> BTreeMap<String, Value> {
    let (Value::Object(one), Value::Object(other)) = (one.document(), other.document()) else {
        return BTreeMap::new();
    };
    let left_out = one.keys().filter(|name| !other.contains_key(*name));
    let left_out: Vec<(String, Value)> = left_out.map(|name| (name.clone(), Value::Null)).collect();
    other
        .into_iter()
        .filter(|(name, value)| one.get(name) != Some(value))
        .chain(left_out)
        .collect()
}
