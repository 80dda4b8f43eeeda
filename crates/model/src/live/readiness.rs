//! What nodes tell of what they run when they start first.

/// How the bootstrap of a node stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It is under way.
    Waiting,
    /// It is done.
    Ready,
    /// It failed, with what the node says of it.
    Failed(String),
}
