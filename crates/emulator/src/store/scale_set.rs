//! A scale set's instances, kept compactly in their set.
//!
//! An instance of Uniform orchestration is a few numbers: everything else it shows comes from
//! the model it was made from. Instances of Flexible orchestration are VMs of their own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::{Failure, Image, Power};
use crate::clock::Instant;

/// What a scale set knows beside its body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ScaleSet {
    /// The number of the newest model.
    pub(crate) model: u64,
    /// Models that are the newest or that instances still have, by number.
    pub(crate) models: BTreeMap<u64, Model>,
    /// The id of the next instance.
    pub(crate) next: u64,
    /// Instances of Uniform orchestration by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) instances: BTreeMap<u64, Instance>,
}

/// What instances are made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Model {
    pub(crate) size: String,
    /// The profile as answers show it.
    pub(crate) profile: Value,
    pub(crate) image: Image,
    /// Whether a password was given, which itself is not kept.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) password: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user_data: Option<String>,
    /// A digest of the custom data, which itself is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) custom_data: Option<String>,
}

/// An instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Instance {
    /// The model it was made from or upgraded to.
    pub(crate) model: u64,
    pub(crate) state: Provisioning,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) power: Option<Power>,
    pub(crate) created: Instant,
    pub(crate) since: Instant,
    /// Counts up from 1.
    pub(crate) etag: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) zone: Option<String>,
    /// One address for each IP configuration of the model, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) addresses: Vec<u32>,
    /// How often it got a new OS disk.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) reimaged: u64,
    /// The number of the operation that changes it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<Failure>,
    /// What was set on it alone: tags, user data, protection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) own: Option<Value>,
}

/// The provisioning state of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Provisioning {
    Creating,
    Updating,
    Succeeded,
    Failed,
    Deleting,
}

impl Provisioning {
    /// As answers show it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Creating => "Creating",
            Self::Updating => "Updating",
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Deleting => "Deleting",
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ScaleSet {
    /// The newest model.
    pub(crate) fn latest(&self) -> Option<&Model> {
        self.models.get(&self.model)
    }

    /// Makes a model the newest, unless it is what the newest is already.
    pub(crate) fn renew(&mut self, model: Model) {
        if self.latest() != Some(&model) {
            self.model += 1;
            self.models.insert(self.model, model);
        }
    }

    /// Forgets models that nobody needs.
    pub(crate) fn forget_models(&mut self) {
        let Self {
            model,
            models,
            instances,
            ..
        } = self;
        models.retain(|number, _| {
            number == model || instances.values().any(|instance| instance.model == *number)
        });
    }

    /// Instances that are not being deleted.
    pub(crate) fn living(&self) -> impl Iterator<Item = (u64, &Instance)> {
        self.instances
            .iter()
            .filter(|(_, instance)| instance.state != Provisioning::Deleting)
            .map(|(id, instance)| (*id, instance))
    }
}

impl Instance {
    /// Whether it holds hardware.
    pub(crate) fn is_allocated(&self) -> bool {
        !matches!(self.power, None | Some(Power::Deallocated))
    }
}
