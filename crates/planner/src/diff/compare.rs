//! Which attributes differ.

use std::collections::BTreeSet;

use model::resource::{AFTER_APPLY, Resource, attributes, tags};
use serde_json::Value;

use super::classify::{self, Class};

/// The attribute that a plan may leave to Azure.
const DISK_CONTROLLER: &str = "disk_controller";
/// The attribute of which the live one may have more.
const IDENTITIES: &str = "identities";

/// An attribute that differs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) path: String,
    pub(super) before: Value,
    pub(super) after: Value,
    pub(super) class: Class,
}

/// The differences of two resources of one kind.
///
/// Tags that only the live one has are somebody else's and no difference, except the tool's
/// own marks. A value known only after apply cannot differ yet.
pub(super) fn differences(live: &Resource, desired: &Resource) -> Vec<Difference> {
    let before = live.attributes();
    let after = desired.attributes();
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut differences = Vec::new();
    for path in paths {
        let (old, new) = (before.get(path), after.get(path));
        if is_foreign_tag(path, new.is_some()) || new.and_then(Value::as_str) == Some(AFTER_APPLY) {
            continue;
        }
        // What is left to Azure differs from nothing.
        if path == DISK_CONTROLLER && new.is_none() {
            continue;
        }
        let class = classify::class(desired.kind(), path).unwrap_or(Class::Refuse);
        let (old, new) = (
            old.cloned().unwrap_or_default(),
            new.cloned().unwrap_or_default(),
        );
        if is_given_already(path, class, &old, &new) {
            continue;
        }
        if class != Class::Ignore && !attributes::same(path, &old, &new) {
            differences.push(Difference {
                path: path.clone(),
                before: old,
                after: new,
                class,
            });
        }
    }
    differences
}

/// Whether nodes have every identity that they are to have. Others, which policies give to nodes,
/// are somebody else's.
fn is_given_already(path: &str, class: Class, live: &Value, desired: &Value) -> bool {
    let items = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let live = items(live);
    let has = |wanted: &Value| live.iter().any(|one| attributes::same(path, one, wanted));
    path == IDENTITIES && class == Class::Update && items(desired).iter().all(has)
}

fn is_foreign_tag(path: &str, desired: bool) -> bool {
    let Some(name) = path.strip_prefix("tags.") else {
        return false;
    };
    !desired
        && !classify::is_bootstrap(path)
        && !tags::WISHED
            .iter()
            .any(|own| name.eq_ignore_ascii_case(own))
}
