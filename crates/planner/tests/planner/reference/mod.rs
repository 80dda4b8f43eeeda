//! Published figures beside what the maths says of them: `tests/reference/points.csv`.
//!
//! The constants of the maths were not fitted to these points. The bounds below say how far it
//! is off; they are tight enough that a wrong formula breaks them.

mod points;

mod setting;

mod estimated;

mod table;

use std::collections::BTreeMap;

use self::points::{Point, points};

const DOCUMENT: &str = include_str!("../../../../../docs/sizing.md");

/// Errors of the points of each group that have an estimate, smallest first.
fn errors() -> BTreeMap<String, Vec<f64>> {
    let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for point in points() {
        if let Ok(estimate) = estimated::of(&point) {
            let error = (estimate / point.published - 1.0).abs() * 100.0;
            groups.entry(point.group).or_default().push(error);
        }
    }
    for errors in groups.values_mut() {
        errors.sort_by(f64::total_cmp);
    }
    groups
}

/// The error that a share of the points, in percent, does not exceed.
fn percentile(errors: &[f64], percent: usize) -> f64 {
    let rank = (errors.len() * percent).div_ceil(100).max(1);
    errors.get(rank - 1).copied().unwrap_or_default()
}

#[test]
fn every_group_stays_within_its_bounds() {
    // Group, points with an estimate, median and 90th percentile of the error in percent.
    let bounds: &[(&str, usize, f64, f64)] = &[
        ("FLOPs of Megatron-Bridge, dense", 5, 1.0, 1.0),
        ("FLOPs of llm-foundry", 72, 1.0, 2.0),
        ("MLPerf Training", 23, 30.0, 65.0),
        ("Megatron-Bridge, dense", 5, 30.0, 45.0),
        ("Megatron-Bridge, mixtures", 9, 15.0, 50.0),
        ("Memory tables", 14, 11.0, 51.0),
        ("Model cards and reports", 3, 15.0, 35.0),
        ("Serving, TensorRT-LLM", 7, 15.0, 70.0),
        ("Whole projects", 6, 45.0, 85.0),
        ("llm-foundry", 72, 10.0, 26.0),
        ("torchtitan", 9, 15.0, 85.0),
        ("torchtitan, memory", 7, 40.0, 75.0),
    ];
    let errors = errors();
    for (group, count, median, high) in bounds {
        let errors = &errors[*group];
        assert_eq!(errors.len(), *count, "{group}");
        assert!(
            percentile(errors, 50) <= *median,
            "{group}: median {}",
            percentile(errors, 50)
        );
        assert!(
            percentile(errors, 90) <= *high,
            "{group}: p90 {}",
            percentile(errors, 90)
        );
    }
    assert_eq!(errors.len(), bounds.len());
}

#[test]
fn the_document_shows_every_point() {
    let table = table::markdown(&points());
    let (before, rest) = DOCUMENT
        .split_once(table::BEGIN)
        .expect("the mark stands in the document");
    let (old, after) = rest
        .split_once(table::END)
        .expect("the mark stands in the document");
    if old.trim() == table.trim() {
        return;
    }
    let text = format!(
        "{before}{}\n\n{}\n\n{}{after}",
        table::BEGIN,
        table.trim(),
        table::END
    );
    assert!(
        table::write(&text),
        "docs/sizing.md is stale: run with UPDATE_GOLDENS=1"
    );
}

#[test]
fn points_read_completely() {
    let points = points();
    assert_eq!(points.len(), 296);
    let unknown: Vec<&Point> = points
        .iter()
        .filter(|point| point.published <= 0.0)
        .collect();
    assert_eq!(unknown, Vec::<&Point>::new());
}
