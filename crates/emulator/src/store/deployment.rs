//! What a world keeps of a template deployment.

use model::ids::ArmId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clock::Instant;

/// A deployment and how far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Deployment {
    /// The id of its operation: `08584768537084641445`.
    pub(crate) number: String,
    pub(crate) correlation: String,
    /// A digest of the template.
    pub(crate) hash: String,
    /// Parameters as answers show them; secret ones without their value.
    pub(crate) parameters: Value,
    pub(crate) steps: Vec<Step>,
    /// Outputs of the template, and once it is done what came of them.
    pub(crate) outputs: Value,
    pub(crate) state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Value>,
    pub(crate) begun: Instant,
    pub(crate) changed: Instant,
}

/// A resource that a deployment writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) id: ArmId,
    /// Its type in the usual case.
    pub(crate) kind: String,
    /// `net/default` for a child.
    pub(crate) name: String,
    /// Short form; empty for what has none.
    pub(crate) location: String,
    pub(crate) version: String,
    /// The body of its PUT; absent where it holds a secret, which is kept in memory alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) body: Option<Value>,
    /// Steps that come before it.
    pub(crate) needs: Vec<usize>,
    pub(crate) state: StepState,
    /// The status of the answer to its PUT.
    pub(crate) status: u16,
    /// How often its PUT was tried.
    pub(crate) attempts: u32,
    /// When its PUT is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) again: Option<Instant>,
    /// The operation that makes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun: Option<Instant>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<Instant>,
}

/// How far a step has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StepState {
    Waiting,
    Running,
    Succeeded,
    /// With the error as the details of the deployment show it.
    Failed(Value),
}

impl Deployment {
    /// Whether it goes on by itself.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state.as_str(), "Accepted" | "Running")
    }
}
