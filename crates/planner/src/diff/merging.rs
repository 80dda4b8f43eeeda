//! Tags that differ as one write.

use model::{
    plan::{Action, Operation},
    resource::Tags,
};
use serde_json::Value;

use super::{compare::Difference, existing::Existing};

impl Existing<'_> {
    /// The write that makes the tags equal; none where they are.
    pub(super) fn merge_tags(&self, differences: &[(Difference, Action)]) -> Option<Operation> {
        let mut set = Tags::default();
        let mut remove = Vec::new();
        for (difference, _) in differences {
            let Some(name) = difference.path.strip_prefix("tags.") else {
                continue;
            };
            match (
                &difference.after,
                self.desired
                    .resource
                    .tags
                    .iter()
                    .find(|(tag, _)| tag.key() == name),
            ) {
                (Value::Null, _) => remove.push(name.to_owned()),
                (_, Some((tag, value))) => set.set(tag.as_str(), value),
                (_, None) => {}
            }
        }
        let nothing = set.is_empty() && remove.is_empty();
        (!nothing).then_some(Operation::MergeTags { set, remove })
    }
}
