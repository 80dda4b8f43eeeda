//! Rough handling: standard input and output, files that are none, a full disk.

use std::{
    fs,
    io::Write,
    process::{Command, Output, Stdio},
};

use crate::harness::Place;

const SPEC: &str = "version: 1
name: rough
location: eastus
pools:
  web: {stage: inference, workload: small}
";

fn place() -> Place {
    let place = Place::empty();
    place.write("tensorform.yaml", SPEC);
    place
}

/// Runs the binary with something on its standard input.
fn fed(place: &Place, arguments: &[&str], input: &[u8], stdout: Stdio) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tensorform"))
        .args(arguments)
        .current_dir(place.folder())
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("standard input");
    // A command that does not read it may be gone already.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_spec_comes_from_standard_input() {
    let place = Place::empty();
    let valid = fed(
        &place,
        &["-f", "-", "validate"],
        SPEC.as_bytes(),
        Stdio::piped(),
    );
    assert_eq!(told(&valid), "`<stdin>` is valid: stack rough, 1 pool\n");
    assert_eq!(valid.status.code(), Some(0));
    let wrong = SPEC.replace("small", "smal");
    let wrong = fed(
        &place,
        &["-f", "-", "validate"],
        wrong.as_bytes(),
        Stdio::piped(),
    );
    assert!(
        told(&wrong).contains("--> <stdin>:5:37"),
        "{}",
        told(&wrong)
    );
    assert_eq!(wrong.status.code(), Some(1));
}

#[test]
fn a_plan_comes_from_standard_input() {
    let place = place();
    let planned = place.run(&["-o", "json", "plan", "--offline"]);
    let shown = fed(
        &place,
        &["show", "-"],
        planned.stdout.as_bytes(),
        Stdio::piped(),
    );
    assert_eq!(shown.status.code(), Some(0), "{}", told(&shown));
    assert!(String::from_utf8_lossy(&shown.stdout).starts_with("Plan for rough"));
}

#[test]
fn a_starter_goes_to_standard_output() {
    let place = Place::empty();
    let ran = place.run(&["-f", "-", "init"]);
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{ran:#?}");
    assert!(ran.stdout.contains("\nversion: 1\n"), "{ran:#?}");
    assert!(!place.path("-").exists());
    let document = place.run(&["-f", "-", "-o", "json", "init"]).json();
    assert_eq!(
        document["text"].as_str(),
        Some(ran.stdout.as_str()),
        "{document}"
    );
}

#[test]
fn a_spec_in_another_encoding_is_told_from_garbage() {
    let place = Place::empty();
    let utf16: Vec<u8> = SPEC.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut marked = vec![0xff, 0xfe];
    marked.extend(&utf16);
    for bytes in [utf16, marked] {
        let ran = fed(&place, &["-f", "-", "validate"], &bytes, Stdio::piped());
        assert!(
            told(&ran).starts_with("error[SPEC011]: `<stdin>` is UTF-16, expected UTF-8\n"),
            "{}",
            told(&ran)
        );
    }
}

#[test]
fn a_folder_is_no_spec_and_the_help_names_the_file_inside() {
    let place = place();
    fs::create_dir(place.path("stacks")).expect("a folder");
    let ran = place.run(&["-f", "stacks", "validate"]);
    assert!(
        ran.stderr.contains("`stacks` is a folder, expected a file"),
        "{ran:#?}"
    );
    assert!(
        ran.stderr.contains("`-f stacks/tensorform.yaml`"),
        "{ran:#?}"
    );
}

#[test]
fn what_cannot_be_saved_leaves_nothing_behind() {
    let place = place();
    fs::create_dir(place.path("taken")).expect("a folder");
    let ran = place.run(&["plan", "--offline", "--out", "taken"]);
    assert_eq!(ran.exit, 1, "{ran:#?}");
    assert!(!place.path("taken.new").exists(), "no unfinished file");
    let ran = place.run(&["plan", "--offline", "--out", "no/folder.plan"]);
    assert!(
        ran.stderr.contains("help: make the folder first"),
        "{ran:#?}"
    );
    let ran = place.run(&["plan", "--offline", "--out", "-"]);
    assert_eq!(ran.exit, 64, "{ran:#?}");
    assert!(!place.path("-").exists());
}

/// A link stays a link, and a pipe a pipe: the plan goes to where they lead.
#[cfg(unix)]
#[test]
fn a_plan_is_saved_where_a_link_leads() {
    let place = place();
    place.write("real.plan", "old");
    std::os::unix::fs::symlink("real.plan", place.path("link.plan")).expect("a link");
    let ran = place.run(&["plan", "--offline", "--out", "link.plan"]);
    assert_eq!(ran.exit, 0, "{ran:#?}");
    assert!(place.path("link.plan").is_symlink());
    assert!(place.read("real.plan").starts_with('{'));
    // What is written to a descriptor's name goes there, and does not take its place.
    let ran = place.run(&["plan", "--offline", "--out", "/proc/self/fd/1"]);
    if std::path::Path::new("/proc/self/fd").exists() {
        assert_eq!(ran.exit, 0, "{ran:#?}");
        assert!(ran.stdout.contains("\"format_version\""), "{ran:#?}");
    }
}

/// Data that was lost is no success, whatever else went well.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    let place = place();
    for arguments in [
        &["plan", "--offline"][..],
        &["-o", "json", "plan", "--offline"],
        &["sizes"],
        &["--help"],
    ] {
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("a device that is always full");
        let ran = fed(&place, arguments, b"", Stdio::from(full));
        assert_eq!(ran.status.code(), Some(1), "{arguments:?}: {}", told(&ran));
        assert!(
            told(&ran).contains("error[FILE001]: standard output cannot be written: No space left"),
            "{arguments:?}: {}",
            told(&ran)
        );
    }
}

#[test]
fn the_folder_of_somebody_else_is_no_sandbox() {
    let place = place();
    place.write("papers/thesis.tex", "years of work");
    let ran = place.run(&["--sandbox=papers", "plan"]);
    assert_eq!(ran.exit, 1, "{ran:#?}");
    assert!(
        ran.stderr.contains(
            "error[SANDBOX001]: `papers` holds no sandbox but other files, such as `thesis.tex`"
        ),
        "{ran:#?}"
    );
    assert!(
        !ran.stderr.contains("delete"),
        "nobody's work is at risk: {ran:#?}"
    );
    let entries = fs::read_dir(place.path("papers")).expect("the folder");
    assert_eq!(entries.count(), 1, "nothing was put beside it");
}

#[test]
fn a_subscription_that_is_no_id_is_refused_before_the_sandbox_learns_it() {
    let place = place();
    let ran = place.run(&["--sandbox", "--subscription", "production", "plan"]);
    assert_eq!(ran.exit, 64, "{ran:#?}");
    assert!(
        ran.stderr.contains("expected a subscription id"),
        "{ran:#?}"
    );
    assert!(!place.path(".tensorform").exists(), "{ran:#?}");
}

#[test]
fn an_unknown_gpu_is_no_empty_list() {
    let place = Place::empty();
    let ran = place.run(&["sizes", "--gpu", "H1000"]);
    assert_eq!(ran.exit, 64, "{ran:#?}");
    assert!(
        ran.stderr
            .contains("--gpu: the catalogue has no GPU `H1000`"),
        "{ran:#?}"
    );
    assert!(ran.stderr.contains("did you mean `H100`?"), "{ran:#?}");
    let ran = place.run(&["sizes", "--gpu", "abacus"]);
    assert!(ran.stderr.contains("A100-80, "), "{ran:#?}");
}

#[cfg(target_os = "linux")]
#[test]
fn events_that_cannot_be_recorded_stop_the_run_and_are_said_once() {
    let place = place();
    let ran = place.run(&["--sandbox", "apply", "--yes", "-q", "--events", "/dev/full"]);
    assert_eq!(ran.exit, 1, "{ran:#?}");
    let message = "error[APPLY004]: an event could not be recorded: No space left";
    assert_eq!(ran.stderr.matches(message).count(), 1, "{ran:#?}");
    assert!(!ran.stderr.contains("ERROR the run stops"), "{ran:#?}");
}
