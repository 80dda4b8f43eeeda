//! Tags that the spec asks for.

use model::{
    resource::{Tags, tags},
    spec::{Pool, Spec},
};

/// Tags of every resource of the stack.
pub(super) fn of_spec(spec: &Spec) -> Tags {
    let mut all: Tags = spec
        .tags
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    all.retain(|name, _| !is_ignored(&spec.ignore_tags, name.as_str()));
    all
}

/// Tags of the nodes of a pool: those of the stack, and the mark of protection.
pub(super) fn of_pool(stack: &Tags, pool: &Pool) -> Tags {
    let mut all = stack.clone();
    if pool.protect {
        all.set(tags::PROTECT, "true");
    }
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
