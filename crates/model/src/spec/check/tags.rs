//! Tags: names that Azure cannot tell apart, their number, and those that are ignored.

use std::collections::{BTreeMap, btree_map::Entry};

use super::Check;
use crate::{
    diag::{At, Code, Diagnostic, SpecPath},
    spec::{schema::stack::MOST_TAGS, show, spans::Lines},
    units::CaseInsensitive,
};

pub(super) fn check(check: &mut Check<'_>, lines: &Lines) {
    let path = SpecPath::of(&["tags"]);
    let Some(node) = check.given(&path) else {
        return;
    };
    let entries = node.entries();
    let mut findings = Vec::new();
    if entries.len() > MOST_TAGS {
        return;
    }
    let mut seen = BTreeMap::new();
    for tag in entries {
        match seen.entry(CaseInsensitive::from(tag.key.as_str())) {
            Entry::Vacant(vacant) => {
                vacant.insert(tag);
            }
            Entry::Occupied(first) => {
                let message = format!(
                    "tags `{}` (line {}) and `{}` (line {}) differ only by case, and Azure keeps one of them",
                    show::name(&first.get().key),
                    lines.line(first.get().key_span.start),
                    show::name(&tag.key),
                    lines.line(tag.key_span.start)
                );
                findings.push(
                    Diagnostic::new(Code::SpecDuplicateKey, At::Key(path.key(&tag.key)), message)
                        .with_related(At::Key(path.key(&first.get().key)), "it stands here first")
                        .with_help("keep one of them"),
                );
            }
        }
        if let Some(pattern) = ignoring(check, &tag.key) {
            let message = format!(
                "tag `{}` is set here and ignored by `ignore_tags`",
                show::name(&tag.key)
            );
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
