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
