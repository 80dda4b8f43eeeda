//! Tags: names that Azure cannot tell apart, their number, and those that are ignored.

use std::collections::{BTreeMap, btree_map::Entry};

use super::Check;
use crate::{
    diag::{At, Code, Diagnostic, SpecPath},
    units::CaseInsensitive,
};

/// Tags that Azure lets a resource have.
const MOST: usize = 50;

/// Tags of the tool's own that a resource can have at once.
const OURS: usize = 8;

pub(super) fn check(check: &mut Check<'_>) {
    let path = SpecPath::of(&["tags"]);
    let Some(node) = check.given(&path) else {
        return;
    };
    let entries = node.entries();
    let mut findings = Vec::new();
    if entries.len() > MOST - OURS {
        let message = format!(
            "`tags` has {} tags, a resource can have {} beside the tool's own",
            entries.len(),
            MOST - OURS
        );
        findings.push(
            Diagnostic::new(Code::SpecInvalidValue, At::Key(path.clone()), message)
                .with_help("remove some: Azure lets a resource have 50 tags"),
        );
    }
    let mut seen = BTreeMap::new();
    for tag in entries {
        match seen.entry(CaseInsensitive::from(tag.key.as_str())) {
            Entry::Vacant(vacant) => {
                vacant.insert(tag.key.as_str());
            }
            Entry::Occupied(first) => {
                let message = format!(
                    "tags `{}` and `{}` differ only by case, and Azure keeps one of them",
                    first.get(),
                    tag.key
                );
                findings.push(
                    Diagnostic::new(Code::SpecDuplicateKey, At::Key(path.key(&tag.key)), message)
                        .with_related(At::Key(path.key(first.get())), "it stands here first")
                        .with_help("keep one of them"),
                );
            }
        }
        if let Some(pattern) = ignoring(check, &tag.key) {
            let message = format!("tag `{}` is set here and ignored by `ignore_tags`", tag.key);
            let ignored = SpecPath::of(&["ignore_tags"]).index(pattern);
            findings.push(
                Diagnostic::new(Code::SpecConflict, At::Key(path.key(&tag.key)), message)
                    .with_related(At::Value(ignored), "it is ignored by this")
                    .with_help("remove the tag, or the pattern"),
            );
        }
    }
    check.findings.extend(findings);
}

/// The position of the pattern that ignores a tag.
fn ignoring(check: &Check<'_>, tag: &str) -> Option<usize> {
    let patterns = check.given(&SpecPath::of(&["ignore_tags"]))?.items();
    let tag = tag.to_lowercase();
    patterns.iter().position(|pattern| {
        let Some(pattern) = pattern.scalar().map(|scalar| scalar.text.to_lowercase()) else {
            return false;
        };
        match pattern.strip_suffix('*') {
            Some(start) => tag.starts_with(start),
            None => tag == pattern,
        }
    })
}
