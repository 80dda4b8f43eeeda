//! What is done to a live pool of Batch, and what is said of nodes that it lacks.

use model::{
    diag::{At, Code, Diagnostic},
    plan::{Action, BOOTSTRAP, Operation},
    resource::Resource,
};

use super::{
    bootstrap::sets_up_otherwise,
    compare::Difference,
    existing::{Existing, State},
};

impl Existing<'_> {
    /// What is done to a pool: its number of nodes is written, also where it is the same and nodes
    /// did not come, which makes Batch try again. Its start task is written before the tag that has
    /// its digest, so that a run which ends between the two has not done both.
    pub(super) fn of_pool(
        &self,
        state: State,
        differences: &[(Difference, Action)],
    ) -> Vec<Operation> {
        let mut attributes: Vec<String> = differences
            .iter()
            .map(|(difference, _)| difference.path.clone())
            .filter(|path| !path.starts_with("tags."))
            .collect();
        if state == State::FailedRunning && !attributes.iter().any(|path| path == "nodes") {
            attributes.push("nodes".to_owned());
        }
        let sets_up = sets_up_otherwise(differences);
        if sets_up {
            attributes.push(BOOTSTRAP.to_owned());
        }
        let tags = self.merge_tags(differences);
        let patch = (!attributes.is_empty()).then_some(Operation::Patch { attributes });
        let operations = if sets_up {
            [patch, tags]
        } else {
            [tags, patch]
        };
        operations.into_iter().flatten().collect()
    }

    /// Says that a pool has fewer nodes than it was to have, and why.
    pub(super) fn missing_nodes(&self, said: &str) -> Diagnostic {
        let there = self.live.state.nodes.unwrap_or_default();
        let wanted = self.live.resource.as_ref().and_then(Resource::machines);
        let wanted = wanted.map_or(0, |(_, count)| count);
        let message = format!(
            "`{}` has {there} of {wanted} nodes, and Batch has given up on the rest: {said}",
            self.live.id.name()
        );
        Diagnostic::new(
            Code::BatchNodesMissing,
            At::Resource(self.desired.address.clone()),
            message,
        )
        .with_help("apply asks Batch for them again")
    }
}
