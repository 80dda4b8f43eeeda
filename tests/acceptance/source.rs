//! Rules over the source text that no lint has.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Every Rust file of the workspace.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut pending = ["crates", "tests", "benches"]
        .map(|folder| root.join(folder))
        .to_vec();
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("source text");
                found.push((
                    path.strip_prefix(root).expect("below the root").to_owned(),
                    text,
                ));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn files_stay_short() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(
            lines <= 500,
            "{} has {lines} lines: split it by what it does",
            path.display()
        );
    }
}

#[test]
fn every_module_says_what_it_is_for() {
    for (path, text) in sources() {
        assert!(
            text.starts_with("//!"),
            "{} begins with its purpose",
            path.display()
        );
    }
}

#[test]
fn lints_are_expected_with_a_reason_and_never_allowed() {
    let allow = concat!("#[al", "low(");
    let expect = concat!("#[exp", "ect(");
    for (path, text) in sources() {
        assert!(
            !text.contains(allow),
            "{} allows a lint: expect it with a reason",
            path.display()
        );
        for attribute in text.split(expect).skip(1) {
            let end = attribute.find(")]").unwrap_or(attribute.len());
            assert!(
                attribute[..end].contains("reason"),
                "{} expects a lint without a reason",
                path.display()
            );
        }
    }
}

#[test]
fn tests_neither_sleep_nor_are_ignored() {
    let words = [
        concat!("#[ig", "nore"),
        concat!("#[should_", "panic"),
        concat!("thread::sl", "eep"),
    ];
    for (path, text) in sources() {
        let in_tests = path.components().any(|part| part.as_os_str() == "tests");
        let tests = if in_tests {
            0
        } else {
            text.find("#[cfg(test)]").unwrap_or(text.len())
        };
        for word in words {
            assert!(
                !text[tests..].contains(word),
                "{} has {word}",
                path.display()
            );
        }
    }
}

/// Where money is computed, compared and printed.
const MONEY: &[&str] = &[
    "crates/model/src/cost.rs",
    "crates/model/src/price_book",
    "crates/model/src/catalog/rows.rs",
    "crates/model/src/units.rs",
    "crates/planner/src/cost/",
    "crates/planner/src/select/spot_price.rs",
    "crates/render/src/cost.rs",
    "crates/render/src/preview/",
    "crates/cli/commands/cost.rs",
    "crates/cli/args/pricing.rs",
];

#[test]
fn no_float_touches_money() {
    let float = regex::Regex::new(r"\bf(32|64)\b|[0-9]\.[0-9]+f|to_f(32|64)|from_f(32|64)")
        .expect("a pattern");
    let mut looked = std::collections::BTreeSet::new();
    for (path, text) in sources() {
        let name = path.to_string_lossy();
        let Some(place) = MONEY.iter().find(|place| name.starts_with(**place)) else {
            continue;
        };
        looked.insert(*place);
        let production = text.split("#[cfg(test)]").next().unwrap_or_default();
        assert!(!float.is_match(production), "{name} has a float");
    }
    assert_eq!(looked.len(), MONEY.len(), "every place exists: {looked:?}");
    assert!(float.is_match("let price: f64 = 1.5;"));
}
