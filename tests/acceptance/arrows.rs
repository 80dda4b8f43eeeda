//! The arrows between crates: what may depend on what.

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

/// Every allowed arrow, development dependencies marked.
const ARROWS: &[(&str, &[&str])] = &[
    ("tensorform-model", &[]),
    ("tensorform-planner", &["tensorform-model"]),
    ("tensorform-render", &["tensorform-model"]),
    (
        "tensorform-azure",
        &["tensorform-model", "dev tensorform-emulator"],
    ),
    ("tensorform-emulator", &["tensorform-model"]),
    (
        "tensorform",
        &[
            "tensorform-azure",
            "tensorform-emulator",
            "tensorform-model",
            "tensorform-planner",
            "tensorform-render",
        ],
    ),
];

/// Crates that only the Azure side may pull in: they are slow to build and do I/O.
const BEHIND_AZURE: &[&str] = &[
    "azure_mgmt_compute",
    "azure_core",
    "azure_identity",
    "reqwest",
];

/// Crates with which a pure crate could do I/O or run concurrently.
const IMPURE: &[&str] = &[
    "tokio", "futures", "reqwest", "axum", "hyper", "rand", "uuid", "tempfile", "tracing",
];

/// Pure crates, and what they may depend on: a new line here is a change of architecture.
const PURE: &[(&str, &[&str])] = &[
    (
        "tensorform-model",
        &[
            "csv",
            "rust_decimal",
            "saphyr-parser",
            "serde",
            "serde_json",
            "sha2",
            "strsim",
            "thiserror",
            "time",
            "yaml_serde",
        ],
    ),
    (
        "tensorform-planner",
        &["rust_decimal", "serde_json", "tensorform-model"],
    ),
    (
        "tensorform-render",
        &[
            "annotate-snippets",
            "serde_json",
            "tensorform-model",
            "unicode-width",
        ],
    ),
];

fn dependencies() -> BTreeMap<String, Vec<String>> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let dependency = |value: &Value| match value["kind"].as_str() {
        Some(kind) => format!("{kind} {}", name(value)),
        None => name(value),
    };
    packages
        .iter()
        .map(|package| {
            let all = package["dependencies"].as_array().expect("dependencies");
            (name(package), all.iter().map(dependency).collect())
        })
        .collect()
}

#[test]
fn crates_depend_only_along_the_arrows() {
    let found = dependencies();
    assert_eq!(
        found.len(),
        ARROWS.len(),
        "every crate has its arrows listed: {:?}",
        found.keys()
    );
    for (package, allowed) in ARROWS {
        let ours = found[*package]
            .iter()
            .filter(|dependency| dependency.contains("tensorform"));
        for dependency in ours {
            assert!(
                allowed.contains(&dependency.as_str()),
                "{package} -> {dependency} is no allowed arrow"
            );
        }
    }
}

#[test]
fn only_azure_pulls_in_the_sdk() {
    for (package, dependencies) in dependencies() {
        if package == "tensorform-azure" {
            continue;
        }
        for heavy in BEHIND_AZURE {
            let direct = dependencies.iter().any(|dependency| dependency == heavy);
            assert!(!direct, "{package} depends on {heavy}");
        }
    }
}

#[test]
fn pure_crates_have_no_way_to_do_io() {
    let found = dependencies();
    for (package, allowed) in PURE {
        for dependency in &found[*package] {
            if let Some(development) = dependency.strip_prefix("dev ") {
                assert!(
                    !IMPURE.contains(&development),
                    "{package} tests with {development}"
                );
                continue;
            }
            assert!(
                allowed.contains(&dependency.as_str()),
                "{package} -> {dependency}: argue for it here first"
            );
        }
    }
}
