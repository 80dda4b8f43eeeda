//! Whatever the text: reading ends, does not panic, and reports places inside the text.

use std::collections::BTreeMap;

use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

use super::{Inputs, differential::tokens, findings, parse, read};
use crate::{
    diag::At,
    spec::{referenced_environment, yaml},
};

/// A valid spec that uses every supported key, to be damaged.
const FULL: &str = "\
version: 1
name: llama-finetune
location: [eastus, southcentralus]
resource_group: rg-llama
subscription: 00000000-0000-0000-0000-000000000000
tags: {team: ml, version: 1.10, 팀: 머신러닝}
ignore_tags: [\"hidden-*\", \"created*\"]
budget: {hourly: 900, monthly: 600000, currency: USD, on_exceed: error}
variables:
  env: {default: dev, allowed: [dev, prod]}
network:
  address_space: 10.40.0.0/16
  outbound: nat
access:
  user: azureuser
  ssh_keys: [~/.ssh/id_ed25519.pub]
  via: none
  ssh_from: []
identity: none
pools:
  train: &train
    stage: training
    workload: generative
    model: {parameters: 70B, precision: bf16, method: full}
    count: 8
    grouping: auto
    os: linux
    size: {family: [ND], gpu: [H100, H200], min_gpu_memory: 80GB, rdma: true, max_hourly: 110}
    image: {urn: \"microsoft-dsvm:ubuntu-hpc:2204:latest\"}
    zones: [1]
    orchestrator: manual
    disks:
      os: {size_gb: 256, type: premium}
      data:
        - {size_gb: 1024, type: premium_v2, lun: 0}
        - {size_gb: 64}
    accelerated_networking: auto
    security: auto
    capacity_reservation: null
    allow_stop: false
    protect: true
  again: *train
  serve:
    stage: inference
    workload: small
    priority: {spot: {max_price: 1.25, eviction: delete}}
    image: auto
    fallback: []
";

/// What may be done to a text.
#[derive(Clone, Debug)]
enum Edit {
    Remove(usize, usize),
    Insert(usize, String),
    RemoveLine(usize),
    SwapLines(usize, usize),
    Indent(usize),
    Value(usize, String),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<usize>(), 1_usize..8).prop_map(|(at, length)| Edit::Remove(at, length)),
        (any::<usize>(), tokens(3)).prop_map(|(at, text)| Edit::Insert(at, text)),
        any::<usize>().prop_map(Edit::RemoveLine),
        (any::<usize>(), any::<usize>()).prop_map(|(a, b)| Edit::SwapLines(a, b)),
        any::<usize>().prop_map(Edit::Indent),
        (any::<usize>(), tokens(2)).prop_map(|(at, text)| Edit::Value(at, text)),
    ]
}

fn apply(text: &str, edit: &Edit) -> String {
    let boundary = |at: usize| {
        text.char_indices()
            .nth(at % (text.chars().count() + 1))
            .map_or(text.len(), |(at, _)| at)
    };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let count = lines.len().max(1);
    match edit {
        Edit::Remove(at, length) => {
            let rest: String = text[boundary(*at)..].chars().skip(*length).collect();
            return format!("{}{rest}", &text[..boundary(*at)]);
        }
        Edit::Insert(at, new) => {
            let at = boundary(*at);
            return format!("{}{new}{}", &text[..at], &text[at..]);
        }
        Edit::RemoveLine(at) => {
            if !lines.is_empty() {
                lines.remove(at % count);
            }
        }
        Edit::SwapLines(a, b) => {
            if !lines.is_empty() {
                lines.swap(a % count, b % count);
            }
        }
        Edit::Indent(at) => {
            if let Some(line) = lines.get_mut(at % count) {
                line.insert_str(0, "  ");
            }
        }
        Edit::Value(at, new) => {
            if let Some(line) = lines.get_mut(at % count)
                && let Some(colon) = line.find(": ")
            {
                line.replace_range(colon + 2.., new);
            }
        }
    }
    lines.join("\n") + "\n"
}

fn damaged() -> impl Strategy<Value = String> {
    prop::collection::vec(edit(), 1..6).prop_map(|edits| {
        edits
            .iter()
            .fold(FULL.to_owned(), |text, edit| apply(&text, edit))
    })
}

/// The full spec with one random edit.
pub(super) fn edited(runner: &mut TestRunner) -> String {
    let edit = edit().new_tree(runner).expect("an edit").current();
    apply(FULL, &edit)
}

/// Reads a text and holds what must always be so.
fn hold(text: &str) -> Result<(), TestCaseError> {
    let inputs = Inputs {
        variables: BTreeMap::from([("env".to_owned(), "prod".to_owned())]),
        environment: BTreeMap::from([("x".to_owned(), "- [".to_owned())]),
    };
    let parsed = parse(text, &inputs);
    prop_assert_eq!(parsed.spec.is_none(), parsed.diagnostics.has_errors());
    prop_assert_eq!(parsed.spans.text().len(), text.len());
    for finding in parsed.diagnostics.iter() {
        prop_assert!(!finding.message.contains('\n'), "{}", finding.message);
        prop_assert!(!finding.message.ends_with('.'), "{}", finding.message);
        let related = finding.related.iter().map(|(at, _)| at);
        for at in related.chain([&finding.at]) {
            if let Some(range) = parsed.spans.range(at) {
                prop_assert!(text.get(range.clone()).is_some(), "{range:?}");
                let position = parsed.spans.position(range.start);
                prop_assert!(
                    position.line <= text.lines().count() + text.matches('\r').count() + 1
                );
            } else {
                prop_assert_eq!(at, &At::Nowhere);
            }
        }
    }
    let _ = referenced_environment(text);
    Ok(())
}

#[test]
fn the_full_spec_is_valid() {
    assert_eq!(findings(&read(FULL)), Vec::<String>::new());
}

#[test]
fn the_same_text_gives_the_same_findings() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..200 {
        let text = edited(&mut runner);
        assert_eq!(findings(&read(&text)), findings(&read(&text)));
    }
}

#[test]
fn findings_are_bounded() {
    let mut text = String::new();
    text.extend((0..5_000).map(|n| format!("k{n}: 1\n")));
    let parsed = read(&text);
    assert_eq!(parsed.diagnostics.iter().count(), 1_000);
    let more = "4004 more findings are not shown";
    assert!(
        parsed
            .diagnostics
            .iter()
            .any(|finding| finding.help.iter().any(|help| help == more))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn random_characters_do_not_panic(text in "\\PC{0,80}") {
        hold(&text)?;
    }

    #[test]
    fn random_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        hold(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn random_tokens_do_not_panic(text in tokens(60)) {
        hold(&text)?;
    }

    #[test]
    fn damaged_specs_do_not_panic(text in damaged()) {
        hold(&text)?;
    }

    /// Every value of the tree stands where its span says.
    #[test]
    fn spans_are_those_of_the_values(text in damaged()) {
        let (root, _) = yaml::read::read(&text);
        let mut nodes: Vec<_> = root.iter().collect();
        while let Some(node) = nodes.pop() {
            let written = text.get(node.span.clone());
            prop_assert!(written.is_some(), "{:?}", node.span);
            if let Some(scalar) = node.scalar().filter(|scalar| scalar.plain) {
                let written = written.unwrap_or_default();
                let one_line = !written.contains(['\n', '&', '!']);
                prop_assert!(!one_line || written.trim_end() == scalar.text, "{written:?} {scalar:?}");
            }
            nodes.extend(node.items());
            for entry in node.entries() {
                prop_assert!(text.get(entry.key_span.clone()).is_some());
                nodes.push(&entry.value);
            }
        }
    }
}
