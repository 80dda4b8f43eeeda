//! Tags that the spec asks for.

use model::{
    address::Address,
    resource::{Tags, tags},
    spec::{Pool, Spec},
};

use crate::{bootstrap, lifetime::Term};

/// Tags of every resource of the stack.
pub(super) fn of_spec(spec: &Spec, term: Option<&Term>) -> Tags {
    let mut all: Tags = spec
        .tags
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    all.retain(|name, _| !is_ignored(&spec.ignore_tags, name.as_str()));
    if let Some(Term { lifetime, .. }) = term {
        all.set(tags::EXPIRES, lifetime.expires.to_string());
    }
    all
}

/// Tags of a resource that may be the one which remembers when the lifetime began.
pub(super) fn kept(stack: &Tags, address: &Address, term: Option<&Term>) -> Tags {
    let mut all = stack.clone();
    if let Some(Term { lifetime, .. }) = term.filter(|term| term.keeper == *address) {
        all.set(tags::LIFETIME_START, lifetime.starts.to_string());
    }
    all
}

/// Tags of the nodes of a pool: those of the stack, the mark of protection, and what they run
/// when they start first.
pub(super) fn of_pool(stack: &Tags, pool: &Pool) -> Tags {
    let mut all = stack.clone();
    if pool.protect {
        all.set(tags::PROTECT, "true");
    }
    if let Some(digest) = bootstrap::tag_of_pool(pool) {
        all.set(tags::BOOTSTRAP, digest);
    }
    all
}

/// Tags of the data disks of a pool, which start nothing.
pub(super) fn of_disks(nodes: &Tags) -> Tags {
    let mut all = nodes.clone();
    all.remove(tags::BOOTSTRAP);
    all
}

/// Whether a tag matches a pattern of `ignore_tags`: a whole name, or a beginning and `*`.
pub(crate) fn is_ignored(patterns: &[String], name: &str) -> bool {
    let name = name.to_lowercase();
    patterns
        .iter()
        .map(|pattern| pattern.to_lowercase())
        .any(|pattern| match pattern.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == pattern,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_names_or_beginnings_without_case() {
        let patterns = ["hidden-*".to_owned(), "Owner".to_owned()];
        let check = |name: &str, expected: bool| {
            assert_eq!(is_ignored(&patterns, name), expected, "{name}");
        };
        check("hidden-link:/x", true);
        check("HIDDEN-title", true);
        check("owner", true);
        check("owners", false);
        check("hidden", false);
    }
}
