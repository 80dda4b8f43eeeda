//! A graph as a drawing: a column for each length of the way to a node, straight edges between.

use std::{collections::BTreeMap, fmt::Write as _};

use model::plan::Plan;

use super::{Graph, class, titled};

const LETTER: usize = 7;
const LINE: usize = 16;
const PADDING: usize = 12;
const COLUMN_GAP: usize = 60;
const ROW_GAP: usize = 18;
const BOX_HEIGHT: usize = 2 * LINE + PADDING;

/// Where a box is, and how wide.
#[derive(Clone, Copy, Debug)]
struct Place {
    left: usize,
    top: usize,
    width: usize,
}

/// As a picture in SVG, which needs no other tool.
pub fn svg(plan: &Plan) -> String {
    let graph = Graph::of(plan);
    let places = places(&graph);
    let right = places.iter().map(|place| place.left + place.width).max();
    let bottom = places.iter().map(|place| place.top + BOX_HEIGHT).max();
    let (width, height) = (
        right.unwrap_or_default() + PADDING,
        bottom.unwrap_or_default() + PADDING,
    );
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"monospace\" font-size=\"12\">\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#888888\"/></marker></defs>\n"
    );
    for (from, to) in &graph.edges {
        if let (Some(from), Some(to)) = (places.get(*from), places.get(*to)) {
            let _ = writeln!(
                text,
                "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#888888\" marker-end=\"url(#arrow)\"/>",
                from.left + from.width,
                from.top + BOX_HEIGHT / 2,
                to.left,
                to.top + BOX_HEIGHT / 2,
            );
        }
    }
    for (node, place) in graph.nodes.iter().zip(&places) {
        let Place { left, top, width } = *place;
        let (_, colour) = class(node.action);
        let _ = writeln!(
            text,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{BOX_HEIGHT}\" rx=\"4\" fill=\"white\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
        let lines = [(titled(node), "bold"), (node.essence.clone(), "normal")];
        for (line, (words, weight)) in lines.iter().enumerate() {
            let _ = writeln!(
                text,
                "<text x=\"{}\" y=\"{}\" font-weight=\"{weight}\">{}</text>",
                left + PADDING,
                top + LINE * (line + 1) + PADDING / 4,
                plain(words)
            );
        }
    }
    text.push_str("</svg>\n");
    text
}

/// Columns by the longest way to a node; nodes of a column stand below each other in their order.
fn places(graph: &Graph) -> Vec<Place> {
    let count = graph.nodes.len();
    let mut column = vec![0_usize; count];
    // A way is never longer than there are nodes, so that this ends even where edges go round.
    for _ in 0..count {
        let mut moved = false;
        for (from, to) in &graph.edges {
            let least = column.get(*from).map_or(0, |column| column + 1).min(count);
            if let Some(own) = column.get_mut(*to)
                && *own < least
            {
                *own = least;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let width = |node: &super::Node| {
        let letters = titled(node)
            .chars()
            .count()
            .max(node.essence.chars().count());
        letters * LETTER + 2 * PADDING
    };
    let mut widths: BTreeMap<usize, usize> = BTreeMap::new();
    for (node, column) in graph.nodes.iter().zip(&column) {
        let widest = widths.entry(*column).or_default();
        *widest = (*widest).max(width(node));
    }
    let mut lefts: BTreeMap<usize, usize> = BTreeMap::new();
    let mut left = PADDING;
    for (column, width) in widths {
        lefts.insert(column, left);
        left += width + COLUMN_GAP;
    }
    let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
    let nodes = graph.nodes.iter().zip(&column);
    nodes
        .map(|(node, column)| {
            let row = rows.entry(*column).or_default();
            let place = Place {
                left: lefts.get(column).copied().unwrap_or_default(),
                top: PADDING + *row * (BOX_HEIGHT + ROW_GAP),
                width: width(node),
            };
            *row += 1;
            place
        })
        .collect()
}

fn plain(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
