//! What the tables cannot say: keys that contradict each other, sums, and names that must
//! differ. Nothing here needs the cloud or the catalogue.

mod tags;

mod stack;

mod pool;

mod batch;

mod kubernetes;

mod cyclecloud;

mod identities;

mod excluded;

mod mounts;

mod together;

use super::{
    findings::Findings,
    schema::stack::MOST_POOLS,
    spans::Lines,
    types::Spec,
    yaml::node::{Content, Node},
};
use crate::diag::{At, Code, Diagnostic, Segment, SpecPath};

/// Runs all checks.
pub(crate) fn run(root: &Node, spec: &Spec, lines: &Lines, findings: &mut Findings) {
    if !matches!(root.content, Content::Mapping(_)) || spec.pools.len() > MOST_POOLS {
        return;
    }
    let mut check = Check { root, findings };
    tags::check(&mut check, lines);
    stack::check(&mut check, spec);
    kubernetes::stack(&mut check, spec);
    cyclecloud::stack(&mut check, spec);
    for (name, pool) in &spec.pools {
        pool::check(&mut check, name, pool);
        batch::check(&mut check, spec, name, pool);
        kubernetes::pool(&mut check, name, pool);
        cyclecloud::pool(&mut check, name, pool);
    }
}

/// What the checks of a run share.
struct Check<'a> {
    root: &'a Node,
    findings: &'a mut Findings,
}

impl Check<'_> {
    /// The value of a path, where the spec writes it.
    fn given(&self, path: &SpecPath) -> Option<&Node> {
        let mut node = self.root;
        for segment in path.segments() {
            node = match segment {
                Segment::Key(key) => node.get(key)?,
                Segment::Index(index) => node.items().get(*index)?,
            };
        }
        Some(node)
    }

    /// Whether the spec writes a block at a path.
    fn is_block(&self, path: &SpecPath) -> bool {
        let node = self.given(path);
        node.is_some_and(|node| matches!(node.content, Content::Mapping(_)))
    }

    /// Whether the spec writes a path and nothing in it is wrong.
    fn is_sound(&self, path: &SpecPath) -> bool {
        self.given(path)
            .is_some_and(|node| !node.has_broken_reference())
            && !self.findings.touch(path)
    }

    /// Whether a path is absent or nothing in it is wrong.
    fn may_be_used(&self, path: &SpecPath) -> bool {
        self.given(path).is_none() || self.is_sound(path)
    }

    /// Reports two keys or values that contradict each other; the second is named as related.
    fn conflict(&mut self, first: SpecPath, second: SpecPath, message: String, help: &str) {
        self.findings.push(
            Diagnostic::new(Code::SpecConflict, At::Value(first), message)
                .with_related(At::Value(second), "it contradicts this")
                .with_help(help),
        );
    }

    /// Reports a finding with help.
    fn report(&mut self, code: Code, at: At, message: String, help: &str) {
        self.findings
            .push(Diagnostic::new(code, at, message).with_help(help));
    }
}
