//! What differs between runs: times, run names, ids, ports, digests, keys, and the order in
//! which concurrent steps report.

use std::sync::LazyLock;

use regex::Regex;

/// A pattern, and what stands for it. Stand-ins inside tables have the same width.
struct Filter(Regex, &'static str);

static FILTERS: LazyLock<Vec<Filter>> = LazyLock::new(|| {
    let filters = [
        (
            r"\d{8}T\d{6}Z-([a-z0-9-]+?)-[0-9a-f]{12}\.jsonl",
            "[TIME]-$1-[RUN].jsonl",
        ),
        (
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z",
            "YYYY-MM-DDThh:mm:ssZ",
        ),
        (r"\brun [0-9a-f]{12}\b", "run [RUN]"),
        (r#""run": "[0-9a-f]{12}""#, r#""run": "[RUN]""#),
        (r"sha256:[0-9a-f]{64}", "sha256:[DIGEST]"),
        (r"ssh-ed25519 AAAA[A-Za-z0-9+/=]+", "ssh-ed25519 [KEY]"),
        (r"127\.0\.0\.1:\d{4,5}", "127.0.0.1:[PORT]"),
        (r"127-0-0-1-\d{4,5}", "127-0-0-1-[PORT]"),
        (
            r"\b\d s (before|behind) Azure's",
            "about the time of Azure's",
        ),
        (
            r#""(seconds|elapsed_seconds)": \d+(\.\d+)?(e-?\d+)?"#,
            r#""$1": 0"#,
        ),
    ];
    filters
        .into_iter()
        .map(|(pattern, stands)| Filter(Regex::new(pattern).expect("a pattern"), stands))
        .collect()
});

/// A duration in a column of a table.
static IN_TABLES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(  +\d+s)\b").expect("a pattern"));

static DURATIONS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b\d+s\b").expect("a pattern"));

/// The time at the beginning of a line of progress.
static PROGRESS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^ {4,6}0s  ").expect("a pattern"));

static IDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
        .expect("a pattern")
});

/// Ids that are not made up by a run, but given.
fn is_given(id: &str) -> bool {
    id.starts_with("00000000-") || id.starts_with("11111111-") || id.starts_with("22222222-")
}

/// Takes out of a text what differs between runs.
pub(crate) fn filtered(text: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut text = text
        .replace(&format!("\"{version}\""), "\"[VERSION]\"")
        .replace(&format!("tensorform {version}"), "tensorform [VERSION]");
    for Filter(pattern, stands) in FILTERS.iter() {
        text = pattern.replace_all(&text, *stands).into_owned();
    }
    let today = time::OffsetDateTime::now_utc().date().to_string();
    let text = text.replace(&today, "YYYY-MM-DD");
    // Before the other durations: in a table they keep their width.
    let text = IN_TABLES.replace_all(&text, |found: &regex::Captures<'_>| {
        format!("  {:>width$}", "0s", width = found[1].len() - 2)
    });
    let text = DURATIONS.replace_all(&text, "0s");
    let text = PROGRESS.replace_all(&text, "     0s  ");
    let text = IDS.replace_all(&text, |found: &regex::Captures<'_>| {
        let id = &found[0];
        if is_given(id) {
            id.to_owned()
        } else {
            "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx".to_owned()
        }
    });
    in_order(&text)
}

/// Sorts neighbouring lines of progress by the step they are about: steps that run at once
/// report in any order.
fn in_order(text: &str) -> String {
    let mut sorted = Vec::new();
    let mut pending: Vec<&str> = Vec::new();
    for line in text.split_inclusive('\n') {
        if step(line).is_some() {
            pending.push(line);
            continue;
        }
        pending.sort_by_key(|line| step(line));
        sorted.append(&mut pending);
        sorted.push(line);
    }
    pending.sort_by_key(|line| step(line));
    sorted.append(&mut pending);
    sorted.concat()
}

/// The step that a line of progress is about.
fn step(line: &str) -> Option<&str> {
    let (step, _) = line.strip_prefix("     0s  ")?.split_once(": ")?;
    (!step.contains(' ')).then_some(step)
}

#[test]
fn what_differs_between_runs_is_taken_out_and_nothing_else() {
    let check = |text: &str, expected: &str| assert_eq!(filtered(text), expected);
    check(
        "planned 2026-11-30T08:26:36Z",
        "planned YYYY-MM-DDThh:mm:ssZ",
    );
    check("prices as of 2026-08-01", "prices as of 2026-08-01");
    check(
        "    12s  b: creating\n    12s  b: created in 12s\n     3s  a: creating\n",
        "     0s  a: creating\n     0s  b: creating\n     0s  b: created in 0s\n",
    );
    check(
        "     1s  b: creating\n     2s  applying a: 3 changes\n",
        "     0s  b: creating\n     0s  applying a: 3 changes\n",
    );
    check("2222222-bbbb", "2222222-bbbb");
    check(
        "id 0b2fb2ea-1c8a-4b52-9c1b-5d2b5b6f7a80, 00000000-0000-0000-0000-000000000000",
        "id xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, 00000000-0000-0000-0000-000000000000",
    );
    check("http://127.0.0.1:40123/x", "http://127.0.0.1:[PORT]/x");
    check("ready    0s   0.29", "ready    0s   0.29");
    check("ready   10s   0.29", "ready    0s   0.29");
    check("8 changes, run 81217135796c", "8 changes, run [RUN]");
}
