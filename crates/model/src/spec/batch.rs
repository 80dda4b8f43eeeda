//! What a pool says of Azure Batch.

use crate::units::Span;

/// The settings of a pool of Batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// What decides the number of nodes; `None` keeps `count`.
    pub autoscale: Option<Autoscale>,
    /// Whether nodes reach each other; `None` decides by the size and the stage.
    pub inter_node: Option<bool>,
    /// Tasks that run on one node at once.
    pub task_slots: Option<u32>,
    /// The node agent, for images of which it is not known.
    pub node_agent: Option<String>,
}

/// What decides the number of nodes of a pool of Batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Autoscale {
    /// The fewest nodes.
    pub min: u32,
    /// The user's own formula; `None` follows the tasks that wait.
    pub formula: Option<String>,
    /// The time between two evaluations.
    pub every: Span,
}
