//! Documents that are made from the code, and what a reader finds by them.

use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use model::diag::{Code, Severity};
use regex::Regex;

use crate::harness::{Place, compare, root};

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What the binary prints.
fn printed(arguments: &[&str]) -> String {
    let ran = Place::empty().run(arguments);
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{ran:?}");
    ran.stdout
}

#[test]
fn the_reference_of_the_spec_is_fresh() {
    let found = printed(&["schema", "--markdown"]);
    compare(&root().join("docs/spec.md"), &found);
}

#[test]
fn the_schema_of_the_spec_is_fresh() {
    compare(&root().join("docs/spec.schema.json"), &printed(&["schema"]));
}

/// The index of the codes.
fn index() -> String {
    let mut text = "\
# Diagnostics

Every finding has a code. `tensorform explain CODE` prints the page of a code; this list is made
from the codes and their pages. A note informs, a warning does not stop a plan, an error does. Some
findings of a code are milder or harder than the list says, as their pages tell.

| code | is a | means |
|---|---|---|
"
    .to_owned();
    for code in Code::ALL {
        let title = code.page().lines().next().expect("a page has a title");
        let (_, title) = title.split_once(": ").expect("a code and what it means");
        let severity = match code.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        writeln!(text, "| [{code}]({code}.md) | {severity} | {title} |").expect("text takes text");
    }
    text
}

#[test]
fn the_index_of_the_codes_is_fresh() {
    let folder = root().join("docs/diagnostics");
    compare(&folder.join("README.md"), &index());
    let pages: BTreeSet<String> = fs::read_dir(&folder)
        .expect("the pages")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "README.md")
        .collect();
    let codes: BTreeSet<String> = Code::ALL.iter().map(|code| format!("{code}.md")).collect();
    assert_eq!(pages, codes, "a page for each code, and no other");
}

/// Every file below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Codes of findings that the binary reported in a golden or a transcript. Pages that `explain`
/// prints and questions about a code do not count.
fn reported(text: &str) -> BTreeSet<String> {
    let heading = r"(?m)^(?:error|warning|note)\[([A-Z]+\d{3})\]: ";
    let document = r#""at": (?:null|\{[^}]*\}),\s*"code": "([A-Z]+\d{3})""#;
    let mut found = BTreeSet::new();
    for pattern in [heading, document] {
        let pattern = Regex::new(pattern).expect("a pattern");
        let codes = pattern.captures_iter(text);
        found.extend(codes.map(|captures| captures[1].to_owned()));
    }
    found
}

#[test]
fn every_code_is_triggered_with_the_real_binary() {
    let goldens = below(&root().join("tests/goldens"));
    let transcripts = below(&root().join("tests/transcripts"));
    let mut found = BTreeSet::new();
    for path in goldens.iter().chain(&transcripts) {
        found.extend(reported(&read(path)));
    }
    let codes: BTreeSet<String> = Code::ALL.iter().map(ToString::to_string).collect();
    let never: Vec<&String> = codes.difference(&found).collect();
    assert!(
        never.is_empty(),
        "no golden and no transcript triggers {never:?}"
    );
    let unknown: Vec<&String> = found.difference(&codes).collect();
    assert!(unknown.is_empty(), "no code is called {unknown:?}");
}

#[test]
fn only_findings_count_as_triggered() {
    let check = |text: &str, expected: &[&str]| {
        let expected: BTreeSet<String> = expected.iter().map(|code| (*code).to_owned()).collect();
        assert_eq!(reported(text), expected, "{text}");
    };
    check(
        "error[SPEC001]: no\nnote[LOC002]: yes\n",
        &["LOC002", "SPEC001"],
    );
    check("    error[SPEC001]: an example\n", &[]);
    check("$ tensorform explain SPEC002\nSPEC002: unknown key\n", &[]);
    check("{\n  \"code\": \"SPEC002\",\n  \"page\": \"\"\n}", &[]);
    check("{\n \"at\": null,\n \"code\": \"ARM001\",\n", &["ARM001"]);
    let placed = "\"at\": {\n \"line\": 5,\n \"path\": \"pools\"\n },\n \"code\": \"SIZE002\"";
    check(placed, &["SIZE002"]);
}

/// Variables of the environment that the sources name.
fn variables() -> BTreeSet<String> {
    let name = r#""((?:AZURE|AZURESUBSCRIPTION|ACTIONS|SYSTEM|IDENTITY|TENSORFORM)_[A-Z_]+|NO_COLOR|COLUMNS|HOME)""#;
    let pattern = Regex::new(name).expect("a pattern");
    let folders = ["crates/cli", "crates/azure/src"];
    let sources = folders
        .iter()
        .flat_map(|folder| below(&root().join(folder)));
    let mut found = BTreeSet::new();
    for path in sources.filter(|path| !path.ends_with("tests.rs")) {
        let text = read(&path);
        found.extend(pattern.captures_iter(&text).map(|name| name[1].to_owned()));
    }
    found
}

#[test]
fn every_variable_that_is_read_is_documented() {
    let pages = ["docs/cli.md", "docs/credentials.md"].map(|page| read(&root().join(page)));
    let found = variables();
    assert!(found.len() > 15, "{found:?}");
    for name in found {
        let is_there = pages.iter().any(|page| page.contains(&format!("`{name}`")));
        assert!(is_there, "neither commands nor credentials name {name}");
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    let link = Regex::new(r"\]\(([^)#\s]+)(?:#[^)]*)?\)").expect("a pattern");
    let mut pages = below(&root().join("docs"));
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.extend(
        ["README.md", "CONTRIBUTING.md", "manifests/README.md"].map(|name| root().join(name)),
    );
    let mut followed = 0;
    for page in pages {
        let folder = page.parent().expect("a page is in a folder");
        for captures in link.captures_iter(&read(&page)) {
            let target = &captures[1];
            if target.contains("://") {
                continue;
            }
            assert!(folder.join(target).exists(), "{}: {target}", page.display());
            followed += 1;
        }
    }
    assert!(followed > 80, "{followed} links");
}
