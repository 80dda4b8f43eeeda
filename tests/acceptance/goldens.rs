//! Goldens: what `plan --offline` says about specs, and what `validate` says about wrong ones.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::harness::{Place, compare, root, updates};

/// Folders or files in a folder of goldens.
fn entries(folder: &Path) -> BTreeSet<PathBuf> {
    let found = fs::read_dir(folder).expect("a folder of goldens");
    found.flatten().map(|entry| entry.path()).collect()
}

/// Compares what was found, or expects that nothing was: then there is no file either.
fn compare_or_absent(path: &Path, found: &str) {
    if !found.is_empty() {
        compare(path, found);
        return;
    }
    if updates() {
        // It may not be there.
        let _ = fs::remove_file(path);
    }
    assert!(!path.exists(), "{} has nothing to hold", path.display());
}

/// Plans a spec offline, as text and as a document.
fn plan(case: &Path) {
    let place = Place::empty();
    let spec = fs::read_to_string(case.join("spec.yaml")).expect("spec.yaml");
    place.write("spec.yaml", &spec);
    let text = place.run(&["-f", "spec.yaml", "plan", "--offline"]);
    let document = place.run(&["-f", "spec.yaml", "-o", "json", "plan", "--offline"]);
    assert_eq!(text.exit, document.exit, "{}", case.display());
    compare_or_absent(&case.join("plan.txt"), &place.filtered(&text.stdout));
    let exit = format!("exit code {}\n", text.exit);
    let findings = format!("{}{exit}", place.filtered(&text.stderr));
    compare(&case.join("diagnostics.txt"), &findings);
    compare(&case.join("plan.json"), &place.filtered(&document.stdout));
    assert!(
        document.stderr.is_empty(),
        "findings are part of the document: {document:#?}"
    );
}

#[test]
fn plans_are_as_in_the_goldens() {
    let folder = root().join("tests/goldens");
    let mut cases = entries(&folder);
    cases.retain(|case| case.is_dir());
    assert!(cases.len() > 15, "the cases are there: {cases:?}");
    for case in cases.iter().filter(|case| !case.ends_with("spec")) {
        plan(case);
    }
}

#[test]
fn every_example_is_a_golden() {
    let examples = entries(&root().join("examples"));
    let specs = examples
        .iter()
        .filter(|file| file.extension().is_some_and(|kind| kind == "yaml"));
    for example in specs {
        let name = example.file_stem().expect("a name").to_string_lossy();
        let case = root().join("tests/goldens").join(format!("example-{name}"));
        let spec = fs::read_to_string(example).expect("an example");
        compare(&case.join("spec.yaml"), &spec);
    }
}

#[test]
fn findings_about_specs_are_as_in_the_goldens() {
    let files = entries(&root().join("tests/goldens/spec"));
    let specs: Vec<&PathBuf> = files
        .iter()
        .filter(|file| {
            file.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    assert!(specs.len() > 10, "the specs are there: {files:?}");
    for spec in specs {
        let place = Place::empty();
        place.write("spec.yaml", &fs::read_to_string(spec).expect("a spec"));
        let ran = place.run(&["-f", "spec.yaml", "validate"]);
        assert_eq!(ran.stdout, "", "findings are no data: {ran:#?}");
        let document = place.run(&["-f", "spec.yaml", "-o", "json", "validate"]);
        let found = document.json()["diagnostics"]
            .as_array()
            .map_or(0, Vec::len);
        let told = ran.stderr.matches("[SPEC").count();
        assert_eq!(found, told, "text and document have the same findings");
        let text = format!("{}exit code {}\n", place.filtered(&ran.stderr), ran.exit);
        compare(&spec.with_extension("txt"), &text);
    }
}
