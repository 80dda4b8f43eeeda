//! What the planner decides, shown in the documents: the article's table in six regions, and real
//! jobs beside what their publishers used.

use std::{collections::BTreeMap, fmt::Write as _, fs};

use model::units::Micros;
use serde_json::Value;

use crate::harness::{Place, compare, root};

const BEGIN: &str = "<!-- written by the acceptance tests -->\n";
const END: &str = "<!-- end of what they write -->\n";

/// Compares what stands between the marks of a document, or writes it anew.
fn compare_document(name: &str, written: &str) {
    let path = root().join("docs").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (before, rest) = text.split_once(BEGIN).expect("the beginning mark");
    let (_, after) = rest.split_once(END).expect("the end mark");
    compare(&path, &format!("{before}{BEGIN}\n{written}\n{END}{after}"));
}

/// Plans a pool offline: its decision, and the findings.
fn planned(location: &str, pool: &str) -> Value {
    let spec = format!("version: 1\nname: job\nlocation: {location}\npools:\n  job:\n{pool}");
    let place = Place::new(&spec);
    place.run(&["-o", "json", "explain", "--offline"]).json()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A price as people write it, from micro-units.
fn price(micros: &Value) -> String {
    micros
        .as_i64()
        .map_or_else(|| "unknown".to_owned(), |micros| Micros(micros).to_string())
}

/// `publisher:offer:sku` without the version, which is live.
fn image(pool: &Value) -> String {
    let urn = text(&pool["image"]["urn"]);
    let mut parts = urn.split(':');
    let [_, offer, sku] = [(); 3].map(|()| parts.next().unwrap_or_default());
    format!("{offer}:{sku}")
}

fn candidate(pool: &Value, is: impl Fn(&Value) -> bool) -> Option<&Value> {
    pool["candidates"].as_array()?.iter().find(|each| is(each))
}

/// The size that comes after the chosen one.
fn runner_up(pool: &Value) -> String {
    let mut kept: Vec<&Value> = pool["candidates"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|each| each["verdict"] == "kept" && each["size"] != pool["size"])
        .collect();
    kept.sort_by_key(|each| each["rank"].as_u64());
    kept.first().map_or_else(
        || "none".to_owned(),
        |each| {
            format!(
                "{} ({})",
                short(&each["size"]),
                price(&each["hourly_micros"])
            )
        },
    )
}

fn short(size: &Value) -> &str {
    text(size).trim_start_matches("Standard_")
}

/// The sentence that names the size.
fn why(pool: &Value) -> String {
    let sentences = pool["why"].as_array().into_iter().flatten().map(text);
    let size = text(&pool["size"]);
    let of_size = sentences.clone().find(|sentence| sentence.contains(size));
    of_size.unwrap_or_default().replace('`', "")
}

#[test]
fn the_document_shows_the_table_of_the_article() {
    let locations = [
        "eastus",
        "swedencentral",
        "westus2",
        "southcentralus",
        "francecentral",
        "japaneast",
    ];
    let mut written = String::new();
    for location in locations {
        let _ = write!(
            written,
            "### {location}\n\n| stage | workload | size | USD/h | image | next best (USD/h) | why |\n|---|---|---|--:|---|---|---|\n"
        );
        for stage in ["training", "inference"] {
            for workload in ["generative", "complex", "small"] {
                let pool = format!("    stage: {stage}\n    workload: {workload}\n");
                let document = planned(location, &pool);
                let _ = writeln!(written, "| {stage} | {workload} | {}", cell(&document));
            }
        }
        written.push('\n');
    }
    compare_document("article.md", written.trim_end());
}

fn cell(document: &Value) -> String {
    let pool = &document["pools"]["job"];
    if pool.is_null() {
        let message = text(&document["diagnostics"][0]["message"]).replace('`', "");
        return format!("none | | | | {message} |");
    }
    let size = &pool["size"];
    let own = candidate(pool, |each| each["size"] == *size);
    format!(
        "{} | {} | {} | {} | {} |",
        short(size),
        own.map_or_else(|| "unknown".to_owned(), |own| price(&own["hourly_micros"])),
        image(pool),
        runner_up(pool),
        why(pool),
    )
}

/// A job that somebody published, and what they used for it.
struct Job {
    cells: BTreeMap<String, String>,
}

impl Job {
    fn of(&self, column: &str) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }

    fn pool(&self) -> String {
        let mut pool = String::new();
        for key in ["stage", "workload", "priority"] {
            let _ = writeln!(pool, "    {key}: {}", self.of(key));
        }
        let mut parts = self.of("model").split("; ");
        let _ = writeln!(pool, "    model: {{{}}}", parts.next().unwrap_or_default());
        for part in parts {
            let _ = writeln!(pool, "    {part}");
        }
        pool
    }
}

fn jobs() -> Vec<Job> {
    let path = root().join("tests/jobs/jobs.csv");
    let mut reader = csv::Reader::from_path(path).expect("the jobs read");
    let header = reader.headers().expect("a header").clone();
    let rows = reader.records().map(|row| {
        let row = row.expect("a job");
        let cells = header.iter().zip(row.iter());
        Job {
            cells: cells
                .map(|(name, cell)| (name.to_owned(), cell.to_owned()))
                .collect(),
        }
    });
    rows.collect()
}

#[test]
fn the_document_shows_real_jobs_beside_what_was_used() {
    let jobs = jobs();
    assert!(jobs.len() >= 20, "{} jobs", jobs.len());
    let mut written = String::from(
        "| job | asked for | planned | GPU hours, time, cost | used by the publisher | judged |\n|---|---|---|---|---|---|\n",
    );
    for job in &jobs {
        let document = planned(job.of("location"), &job.pool());
        let judged = job.of("judged");
        assert!(!judged.is_empty(), "{} is not judged", job.of("job"));
        let used = [job.of("used"), job.of("source")];
        let used: Vec<&str> = used.into_iter().filter(|text| !text.is_empty()).collect();
        let _ = writeln!(
            written,
            "| {} | {} in {} | {} | {} | {judged} |",
            job.of("job"),
            job.of("model").replace("; ", ", "),
            job.of("location"),
            decided(&document),
            used.join("; "),
        );
    }
    compare_document("jobs.md", written.trim_end());
}

/// What is planned, how, for how long and at what price; or why nothing is.
fn decided(document: &Value) -> String {
    let pool = &document["pools"]["job"];
    if pool.is_null() {
        let finding = &document["diagnostics"][0];
        let message = text(&finding["message"]).replace('`', "");
        return format!("refused: {message} | ");
    }
    let split = &pool["parallelism"];
    let split = if split.is_null() {
        String::new()
    } else {
        format!(
            ", tensor {} × pipeline {} × data {}, {}",
            split["tensor"],
            split["pipeline"],
            split["data"],
            text(&split["strategy"])
        )
    };
    let memo = &document["memos"]["job"];
    let run = &memo["run"];
    let hours = &pool["throughput"]["gpu_hours"];
    let spent = match hours.as_f64() {
        Some(hours) => format!(
            "{hours:.0} GPU hours, {:.1} d, {} USD",
            run["seconds"].as_f64().unwrap_or_default() / 86_400.0,
            price(&run["micros"])
        ),
        None => format!("{} USD/h", price(&memo["total"]["hourly_micros"])),
    };
    format!(
        "{} × {} ({}{split}) | {spent}",
        pool["count"],
        short(&pool["size"]),
        image(pool),
    )
}
