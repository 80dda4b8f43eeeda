//! Tags of resources: names compare without case, values with case.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::CaseInsensitive;

/// The stack a resource belongs to.
pub const STACK: &str = "tensorform-stack";
/// The resource's address inside its stack.
pub const ADDRESS: &str = "tensorform-address";
/// When the tool made it, RFC 3339.
pub const CREATED: &str = "tensorform-created";
/// The nonce of the run that made it.
pub const RUN: &str = "tensorform-run";
/// Digest of the bootstrap that a node has run, or that new nodes of a set run.
pub const BOOTSTRAP: &str = "tensorform-bootstrap";
/// `true` on what must never be deleted or replaced.
pub const PROTECT: &str = "tensorform-protect";
/// `stopped` on what the user stopped on purpose.
pub const POWER: &str = "tensorform-power";
/// The value of [`POWER`] on what the user stopped on purpose.
pub const STOPPED: &str = "stopped";
/// When the stack's lifetime ends, RFC 3339.
pub const EXPIRES: &str = "tensorform-expires";
/// When the stack's lifetime began, RFC 3339. Only one resource of a stack has it.
pub const LIFETIME_START: &str = "tensorform-lifetime-start";
/// Tags of the tool's own that a spec asks for: without a wish for one, it goes.
pub const WISHED: [&str; 3] = [PROTECT, EXPIRES, LIFETIME_START];
/// Tags that a run writes on what it makes. They tell whose a resource is and are no
/// property of it: neither desired nor live resources have them among their `tags`.
pub const RUN_TAGS: [&str; 4] = [STACK, ADDRESS, CREATED, RUN];
/// The beginning of all names that the tool keeps for itself.
pub const PREFIX: &str = "tensorform-";

/// A set of tags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tags(BTreeMap<CaseInsensitive, String>);

impl Tags {
    /// The value of a tag.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(&CaseInsensitive::from(name)).map(String::as_str)
    }

    /// Sets a tag.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let name = CaseInsensitive::new(name);
        self.0.remove(&name);
        self.0.insert(name, value.into());
    }

    /// Removes a tag.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        self.0.remove(&CaseInsensitive::from(name))
    }

    /// The tags in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&CaseInsensitive, &String)> {
        self.0.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps the tags for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&CaseInsensitive, &str) -> bool) {
        self.0.retain(|name, value| keep(name, value));
    }
}

impl FromIterator<(CaseInsensitive, String)> for Tags {
    fn from_iter<T: IntoIterator<Item = (CaseInsensitive, String)>>(iterator: T) -> Self {
        Self(iterator.into_iter().collect())
    }
}
