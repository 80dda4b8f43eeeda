//! The settings of Azure Batch.

use super::reader::Reader;
use crate::{
    spec::{
        batch::{Autoscale, Batch},
        schema::forms::quantities,
    },
    units::Span,
};

/// Seconds between two evaluations where the spec says nothing: Batch's own default.
const EVERY: u64 = 15 * 60;

pub(super) fn batch(block: Reader<'_>) -> Option<Batch> {
    block.is_there().then(|| Batch {
        autoscale: autoscale(block.inner("autoscale")),
        inter_node: block.boolean("inter_node"),
        task_slots: block.integer("task_slots"),
        node_agent: block.text("node_agent"),
    })
}

fn autoscale(block: Reader<'_>) -> Option<Autoscale> {
    block.is_there().then(|| Autoscale {
        min: block.integer("min").unwrap_or(0),
        formula: block.text("formula").map(|text| text.trim().to_owned()),
        every: block
            .read("every", |text| quantities::span(text).ok())
            .unwrap_or(Span::from_seconds(EVERY)),
    })
}
