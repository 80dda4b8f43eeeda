//! What the documentation of the sandbox says is done: its examples are taken out and run.

use serde_json::Value;
use tensorform_emulator::Faults;

use crate::{
    rig::{Rig, SUBSCRIPTION},
    transcript,
};

const PAGE: &str = include_str!("../../../../docs/sandbox.md");

/// A fenced block: the heading it stands under, its language, its text.
struct Block {
    heading: &'static str,
    language: &'static str,
    text: &'static str,
}

fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut heading = "";
    let mut rest = PAGE;
    while let Some((line, after)) = rest.split_once('\n') {
        rest = after;
        if let Some(title) = line.strip_prefix('#') {
            heading = title.trim_start_matches('#').trim();
        } else if let Some(language) = line.strip_prefix("```") {
            let (text, after) = rest.split_once("\n```\n").expect("the end of a block");
            blocks.push(Block {
                heading,
                language,
                text,
            });
            rest = after;
        }
    }
    blocks
}

/// The faults files of the page, each with the text that follows it.
fn examples() -> Vec<(Block, Block)> {
    let mut examples = Vec::new();
    let mut blocks = blocks().into_iter().peekable();
    while let Some(block) = blocks.next() {
        if block.language == "yaml" {
            let told = blocks.next_if(|next| next.language == "text");
            let heading = block.heading;
            examples.push((block, told.expect(heading)));
        }
    }
    examples
}

#[tokio::test]
async fn every_example_of_a_fault_does_what_it_says() {
    let mut kinds = 0;
    for (faults, told) in examples() {
        if told.text.starts_with("faults.yaml:") {
            let error = Faults::parse(faults.text, "faults.yaml").expect_err("a mistake");
            assert_eq!(error.to_string(), told.text);
            continue;
        }
        eprintln!("## {}", faults.heading);
        transcript::hold(faults.text, told.text).await;
        kinds += 1;
    }
    assert_eq!(kinds, 11);
}

/// Every action that a refusal offers stands in an example.
#[test]
fn every_kind_of_fault_has_an_example() {
    let error = Faults::parse("rules: [{then: {}}]", "f").expect_err("no action");
    let error = error.to_string();
    let (_, list) = error.split_once("expected one of ").expect("a list");
    let examples: String = examples().iter().map(|(faults, _)| faults.text).collect();
    let names = list.split('`').skip(1).step_by(2);
    let mut count = 0;
    for name in names {
        assert!(examples.contains(name), "{name} has no example");
        count += 1;
    }
    assert_eq!(count, 14);
}

#[tokio::test]
async fn the_sandboxs_own_paths_do_what_the_table_says() {
    let rig = Rig::new().await;
    let (_, table) = PAGE
        .split_once("\n## Its own paths\n")
        .expect("the section");
    let (table, _) = table.split_once("\n## ").expect("its end");
    let mut bodies = 0;
    let mut paths = 0;
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [asked, told] = cells.as_slice() else {
            panic!("expected two cells: {row}");
        };
        let body = told.split('`').find(|text| text.starts_with(['{', '[']));
        if let Some(body) = body {
            serde_json::from_str::<Value>(body).expect("a body that reads");
            bodies += 1;
        }
        let spans: Vec<&str> = asked.split('`').skip(1).step_by(2).collect();
        let path = spans
            .iter()
            .find_map(|span| span.get(span.find('/')?..))
            .expect("a path");
        let path = path
            .replace("since=N", "since=0")
            .replace("SUBSCRIPTION", SUBSCRIPTION)
            .replace("REGION", "eastus")
            .replace("GUID", "11111111-1111-1111-1111-111111111111")
            .replace("NAMESPACE", "Microsoft.Compute");
        for span in spans {
            let method = span.split(' ').next().expect("a method");
            let path = if method == "DELETE" {
                path.split('?').next().unwrap_or_default()
            } else {
                path.as_str()
            };
            let reply = rig.try_send(method, path, &[], body).await;
            let status = reply.expect("an answer").status;
            assert!(status < 300, "{method} {path}: {status}");
            paths += 1;
        }
    }
    assert_eq!(
        (paths, bodies),
        (13, 5),
        "rows of the table were added or lost"
    );
}

/// The command that gives other rules to a sandbox, with each example of a faults file.
#[tokio::test]
async fn rules_are_given_while_the_sandbox_runs() {
    let rig = Rig::new().await;
    let blocks = blocks();
    let curl = blocks
        .iter()
        .find(|block| block.text.contains("@faults.yaml"));
    let words: Vec<&str> = curl.expect("the example").text.split(' ').collect();
    let ["curl", "-X", method, "--data-binary", "@faults.yaml", url] = words.as_slice() else {
        panic!("expected a request with a file: {words:?}");
    };
    let path = url.strip_prefix("http://127.0.0.1:PORT").expect("a URL");
    for (faults, told) in examples() {
        let reply = rig.try_send(method, path, &[], Some(faults.text)).await;
        let reply = reply.expect("an answer");
        let Some(place) = told.text.strip_prefix("faults.yaml:") else {
            reply.expect(204);
            continue;
        };
        let message = reply.expect(400);
        let message = message.text("/error/message");
        assert_eq!(message, format!("faults:{place}"));
    }
}

/// The example of a client that has nothing but HTTP.
#[tokio::test]
async fn the_first_request_of_the_page_is_answered() {
    let rig = Rig::new().await;
    let blocks = blocks();
    let curl = blocks
        .iter()
        .find(|block| block.text.starts_with("curl "))
        .expect("the example");
    let quoted: Vec<&str> = curl.text.split('\'').skip(1).step_by(2).collect();
    let [header, url] = quoted.as_slice() else {
        panic!("expected a header and a URL: {}", curl.text);
    };
    let (name, value) = header.split_once(": ").expect("a header");
    let path = url.strip_prefix("http://127.0.0.1:PORT").expect("a URL");
    let reply = rig.try_send("GET", path, &[(name, value)], None).await;
    let reply = reply.expect("an answer").expect(200);
    assert_eq!(reply.text("/value/0/subscriptionId"), SUBSCRIPTION);
    assert!(PAGE.contains(&format!("has the subscription `{SUBSCRIPTION}`")));
}

/// The commands of the page have the flags that the reference of commands has, which a test keeps
/// fresh.
#[test]
fn flags_on_the_page_are_flags_of_the_command() {
    const COMMANDS: &str = include_str!("../../../../docs/cli.md");
    let mut flags = 0;
    for block in blocks() {
        let own = block
            .text
            .lines()
            .filter(|line| line.starts_with("tensorform "));
        for word in own.flat_map(str::split_whitespace) {
            let Some(name) = word.strip_prefix("--") else {
                continue;
            };
            let flag = format!("--{}", name.split('=').next().unwrap_or_default());
            let known = [
                format!("`{flag} "),
                format!("`{flag}`"),
                format!("`{flag}["),
            ];
            assert!(known.iter().any(|known| COMMANDS.contains(known)), "{flag}");
            flags += 1;
        }
    }
    assert_eq!(flags, 7, "commands were added or lost");
}
