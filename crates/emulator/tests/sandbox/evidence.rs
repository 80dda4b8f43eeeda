//! What became of each recorded conversation and sample: replayed, or left out for a reason.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::json;

use crate::{replay::replayed, samples::read};

/// A folder for a table of what was replayed.
const TABLE: &str = "TENSORFORM_TEST_REPLAYS";

/// Tells what became of a conversation or a sample, where somebody wants a table. Its exchanges
/// agree, but for those that differ for reasons.
pub(crate) fn told(
    kind: &str,
    name: &str,
    exchanges: usize,
    differing: &BTreeMap<String, BTreeSet<String>>,
) {
    let Some(folder) = std::env::var_os(TABLE) else {
        return;
    };
    let whys: BTreeSet<&String> = differing.values().flatten().collect();
    let row = json!({
        "kind": kind, "name": name, "same": exchanges - differing.len(),
        "different": differing.len(), "whys": whys,
    });
    let file = Path::new(&folder).join(format!("{kind}-{name}.json"));
    fs::write(file, row.to_string()).expect("the folder of the table");
}

/// A row of the index: kind, name, number of exchanges, how many are left out, why, and the names
/// they are replayed under.
struct Row<'a>(&'a str, &'a str, usize, usize, &'a str, Vec<&'a str>);

fn index() -> Vec<Row<'static>> {
    include_str!("../samples/index.csv")
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let [kind, name, all, left, why, under] = cells.as_slice() else {
                panic!("expected six cells: {line}");
            };
            let number = |cell: &str| cell.parse().expect("a number");
            let under = under.split_whitespace().collect();
            Row(kind, name, number(all), number(left), why, under)
        })
        .collect()
}

#[test]
fn every_recording_and_sample_is_replayed_or_left_out_for_a_reason() {
    let mut recordings = replayed();
    let mut samples: BTreeSet<String> = [
        include_str!("../samples/samples.json"),
        include_str!("../samples/compute.json"),
        include_str!("../samples/services.json"),
    ]
    .into_iter()
    .flat_map(read)
    .map(|sample| sample.name)
    .collect();
    let index = index();
    let of = |kind: &str| index.iter().filter(|row| row.0 == kind).count();
    assert_eq!((of("recording"), of("sample")), (62, 100));
    for Row(kind, name, all, left, why, under) in &index {
        let taken = if *kind == "sample" {
            usize::from(samples.remove(*name))
        } else {
            let parts = under.iter().filter_map(|part| recordings.remove(*part));
            parts.sum()
        };
        assert_eq!(taken + left, *all, "{name}");
        assert_eq!(*left > 0, !why.is_empty(), "{name}: {why}");
        assert_eq!(taken > 0, !under.is_empty(), "{name}");
    }
    assert!(recordings.is_empty(), "not in the index: {recordings:?}");
    assert!(samples.is_empty(), "not in the index: {samples:?}");
}
