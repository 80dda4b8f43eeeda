//! Tags that a policy adds, replaces or removes: the effect `modify` of Azure Policy.

use std::{collections::BTreeMap, time::Duration};

use model::ids::ArmId;
use serde_json::{Value, json};

use super::{Faults, effects::Effect};
use crate::{
    call::Setup,
    clock::Instant,
    http::{Answer, Body, Incoming, Method},
    json::{same, set},
    record::Description,
    routes::{compute::scale_set, tags},
    store::world::World,
    types,
};

/// What a policy does with tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TagPolicy {
    /// Tags that are added where there is none of the name.
    pub(super) add: BTreeMap<String, String>,
    /// Tags that are set whatever they were.
    pub(super) set: BTreeMap<String, String>,
    /// Names of tags that go.
    pub(super) remove: Vec<String>,
    /// Whether the write itself is changed.
    pub(super) on_write: bool,
    /// So many seconds after a write they are changed, by merge.
    pub(super) later: Vec<u64>,
}

impl TagPolicy {
    /// Changes tags; answers whether they are others now.
    pub(crate) fn apply(&self, tags: &mut BTreeMap<String, String>) -> bool {
        let before = tags.clone();
        tags.retain(|name, _| !self.remove.iter().any(|gone| same(gone, name)));
        for (name, value) in &self.set {
            let known = tags.keys().find(|known| same(known, name)).cloned();
            tags.insert(known.unwrap_or_else(|| name.clone()), value.clone());
        }
        for (name, value) in &self.add {
            if !tags.keys().any(|known| same(known, name)) {
                tags.insert(name.clone(), value.clone());
            }
        }
        *tags != before
    }
}

/// The scope whose tags a request to the tags API writes.
pub(crate) fn scope(incoming: &Incoming, description: &Description) -> Option<String> {
    let writes = !matches!(incoming.method, Method::Get | Method::Head);
    if !writes || !same(&description.resource_type, "Microsoft.Resources/tags") {
        return None;
    }
    Some(crate::http::Path::parse(&incoming.path).scope)
}

/// A write of a group or a resource that has tags, with others in its body; `None` where policies
/// leave it as it is.
pub(crate) fn rewritten(
    world: &World,
    incoming: &Incoming,
    kind: &str,
    policies: &[TagPolicy],
) -> Option<Incoming> {
    let group = same(kind, "Microsoft.Resources/resourceGroups");
    let writes = matches!(incoming.method, Method::Put | Method::Patch);
    let has_tags = group || types::named(kind).is_some_and(|row| row.tracked);
    if !writes || !has_tags || policies.is_empty() {
        return None;
    }
    let mut body: Value = serde_json::from_slice(&incoming.body).ok()?;
    // A PATCH without tags leaves those that are there, and so does a PUT of a scale set.
    let keeps = incoming.method == Method::Patch || same(kind, scale_set::KIND);
    let mut tags = match body.get("tags") {
        Some(Value::Object(_)) => crate::routes::common::tags_of(&body),
        Some(Value::Null) | None if keeps => incoming
            .path
            .parse::<ArmId>()
            .ok()
            .and_then(|id| tags::current(world, &id).ok())
            .unwrap_or_default(),
        Some(Value::Null) | None => BTreeMap::new(),
        Some(_) => return None,
    };
    let mut changed = false;
    for policy in policies.iter().filter(|policy| policy.on_write) {
        changed |= policy.apply(&mut tags);
    }
    let members = body.as_object_mut().filter(|_| changed)?;
    members.insert("tags".to_owned(), json!(tags));
    Some(Incoming {
        body: body.to_string().into_bytes(),
        ..incoming.clone()
    })
}

/// Changes the tags of a group or a resource that is there; answers its tags if they changed.
pub(crate) fn merge(
    world: &mut World,
    id: &ArmId,
    policies: &[&TagPolicy],
) -> Option<BTreeMap<String, String>> {
    let mut tags = tags::current(world, id).ok()?;
    let mut changed = false;
    for policy in policies {
        changed |= policy.apply(&mut tags);
    }
    if !changed || tags::set(world, id, tags.clone()).is_err() {
        return None;
    }
    Some(tags)
}

/// What policies make of tags that were just written at a scope, which the answer shows.
pub(crate) fn written(
    world: &mut World,
    incoming: &Incoming,
    description: &Description,
    policies: &[TagPolicy],
    answer: &mut Answer,
) {
    let id = scope(incoming, description).and_then(|scope| scope.parse().ok());
    let policies: Vec<&TagPolicy> = policies.iter().filter(|policy| policy.on_write).collect();
    if let Some(id) = id
        && let Some(tags) = merge(world, &id, &policies)
        && let Body::Json(shown) = &mut answer.body
    {
        set(shown, "/properties/tags", json!(tags));
    }
}

/// Lets policies act again on what was written, when they say so.
pub(crate) fn schedule(
    faults: &mut Faults,
    setup: &Setup,
    incoming: &Incoming,
    description: &Description,
    policies: &[TagPolicy],
    now: Instant,
) {
    let path = scope(incoming, description).unwrap_or_else(|| incoming.path.clone());
    let writes = !matches!(incoming.method, Method::Get | Method::Head | Method::Post);
    let Some(id) = path.parse::<ArmId>().ok().filter(|_| writes) else {
        return;
    };
    for policy in policies {
        for seconds in &policy.later {
            let at = now.plus(setup.speed.shrink(Duration::from_secs(*seconds)));
            let (id, policy) = (id.clone(), policy.clone());
            faults.schedule(at, Effect::MergeTags { id, policy });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn names_compare_without_case_and_values_with_it() {
        let policy = TagPolicy {
            add: tags(&[("Owner", "finance"), ("new", "1")]),
            set: tags(&[("env", "prod")]),
            remove: vec!["SECRET".to_owned()],
            ..TagPolicy::default()
        };
        let mut found = tags(&[("owner", "me"), ("Env", "PROD"), ("secret", "x")]);
        assert!(policy.apply(&mut found));
        assert_eq!(
            found,
            tags(&[("owner", "me"), ("Env", "prod"), ("new", "1")])
        );
        assert!(!policy.apply(&mut found));
    }
}
