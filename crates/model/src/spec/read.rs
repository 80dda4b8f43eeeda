//! From text to spec: the steps in their order.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    check, decode, findings::Findings, spans::Lines, spans::SpanIndex, types::Spec, validate,
    variables, yaml,
};
use crate::diag::{At, Code, Diagnostics, Segment, SpecPath};

/// What a spec may refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Values of variables, from `--var` and `--var-file`.
    pub variables: BTreeMap<String, String>,
    /// The environment variables that the spec refers to and that are set.
    pub environment: BTreeMap<String, String>,
}

/// What came of reading a spec.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The spec; `None` where any finding is an error.
    pub spec: Option<Spec>,
    /// Everything that was found, errors first, each in the order of the text.
    pub diagnostics: Diagnostics,
    /// Where everything stands.
    pub spans: SpanIndex,
}

/// Reads a spec, and finds everything that is wrong with it.
pub fn parse(text: &str, inputs: &Inputs) -> Parsed {
    let (root, mut findings) = yaml::read::read(text);
    let Some(mut root) = root else {
        return finish(None, findings, SpanIndex::new(text, None));
    };
    variables::substitute(&mut root, inputs, &mut findings);
    validate::document(&root, &mut findings);
    let spec = decode::spec(&root);
    check::run(&root, &spec, &Lines::new(text), &mut findings);
    finish(Some(spec), findings, SpanIndex::new(text, Some(root)))
}

fn finish(spec: Option<Spec>, findings: Findings, mut spans: SpanIndex) -> Parsed {
    let spec = spec.filter(|_| !findings.has_errors());
    let diagnostics = findings.sorted(&spans);
    let ranges: Vec<_> = diagnostics
        .iter()
        .filter_map(|finding| match (finding.code, &finding.at) {
            (Code::SpecSecret, at) => spans.range(at),
            (Code::SpecUnknownKey, At::Key(path)) if names_a_secret(path) => spans.value(path),
            _ => None,
        })
        .collect();
    for range in ranges {
        spans.mask(range);
    }
    Parsed {
        spec,
        diagnostics,
        spans,
    }
}

/// Whether the last key of a path says that its value is a secret, in whatever spelling.
fn names_a_secret(path: &SpecPath) -> bool {
    let Some(Segment::Key(key)) = path.segments().last() else {
        return false;
    };
    let key = key.to_lowercase();
    ["pass", "pwd", "secret", "token", "credential", "key", "sas"]
        .iter()
        .any(|word| key.contains(word))
}

/// The names of the environment variables that a spec refers to; none where it is no YAML.
pub fn referenced_environment(text: &str) -> BTreeSet<String> {
    match yaml::read::read(text) {
        (Some(root), _) => variables::environment(&root),
        (None, _) => BTreeSet::new(),
    }
}
