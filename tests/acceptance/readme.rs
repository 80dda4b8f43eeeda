//! The README says what the tool prints.

use std::{fs, path::Path, process::Command};

const BEGIN: &str = "<!-- plan: begin -->\n";
const END: &str = "<!-- plan: end -->";

/// What `plan --offline` prints for the README's example, with the time taken out.
fn printed() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tensorform"))
        .args([
            "-f",
            "examples/training-generative.yaml",
            "plan",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_clear()
        .output()
        .expect("the binary runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let without_time = |line: &str| match line.split_once(", planned ") {
        Some((before, _)) => before.to_owned(),
        None => line.to_owned(),
    };
    text.lines()
        .map(without_time)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_readme_shows_real_output() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).expect("README.md");
    let (before, rest) = readme.split_once(BEGIN).expect("the beginning mark");
    let (shown, after) = rest.split_once(END).expect("the end mark");
    let expected = format!("```text\n{}\n```\n", printed());
    if std::env::var_os("UPDATE_GOLDENS").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{expected}{END}{after}"))
            .expect("README.md is written");
        return;
    }
    assert_eq!(
        shown, expected,
        "run the tests with UPDATE_GOLDENS=1 and look at the difference"
    );
}
