//! What the figures were measured on.

use std::{fs, process::Command};

use serde_json::{Value, json};

/// The machine, the compiler and the commit.
pub(crate) fn facts() -> Value {
    let processors = read("/proc/cpuinfo");
    let changed = told("git", &["status", "--porcelain", "--untracked-files=no"]);
    json!({
        "processor": after(&processors, "model name"),
        "cores": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        "memory": after(&read("/proc/meminfo"), "MemTotal"),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "rustc": told("rustc", &["--version"]),
        "commit": told("git", &["rev-parse", "--short=12", "HEAD"]),
        "uncommitted_changes": !changed.is_empty(),
    })
}

/// How busy the machine is: the mean number of processes that run or want to, over 1, 5 and 15
/// minutes.
pub(crate) fn load() -> String {
    let load = read("/proc/loadavg");
    load.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn after(text: &str, name: &str) -> String {
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.trim().strip_prefix(':'));
    value.map_or_else(|| "unknown".to_owned(), |value| value.trim().to_owned())
}

fn told(program: &str, arguments: &[&str]) -> String {
    let told = Command::new(program).args(arguments).output();
    told.map_or_else(
        |_| "unknown".to_owned(),
        |told| String::from_utf8_lossy(&told.stdout).trim().to_owned(),
    )
}
