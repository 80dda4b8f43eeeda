//! The resources of a plan as a graph: what must be there before what. Like resources are one
//! node of the graph, so that a stack of a thousand VMs stays legible.

mod drawing;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use model::{
    address::Address,
    diag::DiagnosticDocument,
    plan::{Action, Plan, Step},
};
use serde_json::json;

use crate::{failure, plan::essence};

pub use self::drawing::svg;

/// A node of the graph: one resource, or several that differ in their number alone.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    title: String,
    essence: String,
    action: Action,
}

/// A graph whose nodes stand in the order in which they are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Graph {
    nodes: Vec<Node>,
    /// From what is needed to what needs it, by their places.
    edges: BTreeSet<(usize, usize)>,
}

impl Graph {
    fn of(plan: &Plan) -> Self {
        let mut places: BTreeMap<(String, Action), usize> = BTreeMap::new();
        let mut members: Vec<Vec<&Step>> = Vec::new();
        let mut place_of: BTreeMap<&Address, usize> = BTreeMap::new();
        for step in &plan.steps {
            let key = (without_numbers(&step.address), step.action);
            let place = *places.entry(key).or_insert(members.len());
            if place == members.len() {
                members.push(Vec::new());
            }
            if let Some(members) = members.get_mut(place) {
                members.push(step);
            }
            place_of.insert(&step.address, place);
        }
        let mut graph = Self::default();
        for steps in &members {
            graph.nodes.extend(node(steps));
        }
        for step in &plan.steps {
            let Some(to) = place_of.get(&step.address) else {
                continue;
            };
            let needs = step.needs.iter().filter_map(|need| place_of.get(need));
            let edges = needs.filter(|from| *from != to).map(|from| {
                // A deletion runs the other way round: first what needs, then what is needed.
                if step.action == Action::Delete {
                    (*to, *from)
                } else {
                    (*from, *to)
                }
            });
            graph.edges.extend(edges);
        }
        graph
    }
}

fn node(steps: &[&Step]) -> Option<Node> {
    let first = steps.first()?;
    let resource = first.after.as_ref().or(first.before.as_ref());
    let title = match steps.len() {
        1 => first.address.to_string(),
        count => format!("{} × {count}", without_numbers(&first.address)),
    };
    Some(Node {
        title,
        essence: resource.map_or_else(String::new, essence::of),
        action: first.action,
    })
}

/// The address with `[*]` for the number of a node.
fn without_numbers(address: &Address) -> String {
    match (address.pool_name(), address.node_index()) {
        (Some(pool), Some(index)) => address.to_string().replacen(
            &format!("pool.{pool}[{index}]"),
            &format!("pool.{pool}[*]"),
            1,
        ),
        (_, _) => address.to_string(),
    }
}

/// The classes of nodes with the colours of their frames.
const CLASSES: [(&str, &str); 4] = [
    ("same", "#888888"),
    ("made", "#2e7d32"),
    ("changed", "#b26a00"),
    ("gone", "#c62828"),
];

fn class(action: Action) -> (&'static str, &'static str) {
    let [same, made, changed, gone] = CLASSES;
    match action {
        Action::NoOp => same,
        Action::Create => made,
        Action::Update | Action::RestartUpdate | Action::Repair | Action::Start => changed,
        Action::StopUpdate | Action::Replace | Action::Delete => gone,
    }
}

/// As a flowchart of Mermaid.
pub fn mermaid(plan: &Plan) -> String {
    let graph = Graph::of(plan);
    let mut text = "flowchart LR\n".to_owned();
    let plain = |text: &str| text.replace('"', "#quot;");
    for (place, node) in graph.nodes.iter().enumerate() {
        let title = plain(&titled(node));
        let essence = plain(&node.essence);
        let (class, _) = class(node.action);
        let _ = writeln!(text, "  n{place}[\"{title}<br/>{essence}\"]:::{class}");
    }
    for (from, to) in &graph.edges {
        let _ = writeln!(text, "  n{from} --> n{to}");
    }
    for (class, colour) in CLASSES {
        let _ = writeln!(text, "  classDef {class} stroke:{colour}");
    }
    text
}

/// As a graph of Graphviz.
pub fn dot(plan: &Plan) -> String {
    let graph = Graph::of(plan);
    let mut text = "digraph {\n  rankdir=LR\n  node [shape=box]\n".to_owned();
    let plain = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    for (place, node) in graph.nodes.iter().enumerate() {
        let title = plain(&titled(node));
        let essence = plain(&node.essence);
        let (_, colour) = class(node.action);
        let _ = writeln!(
            text,
            "  n{place} [label=\"{title}\\n{essence}\", color=\"{colour}\"]"
        );
    }
    for (from, to) in &graph.edges {
        let _ = writeln!(text, "  n{from} -> n{to}");
    }
    text.push_str("}\n");
    text
}

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// As one JSON document: nodes in the order in which they are made, and edges between their places.
pub fn json(plan: &Plan, diagnostics: &[DiagnosticDocument]) -> String {
    let graph = Graph::of(plan);
    let node = |node: &Node| {
        let Node {
            title,
            essence,
            action,
        } = node;
        json!({ "title": title, "essence": essence, "action": action.word() })
    };
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "nodes": graph.nodes.iter().map(node).collect::<Vec<_>>(),
        "edges": graph.edges,
        "diagnostics": diagnostics,
    }))
}

/// The title with the symbol of what is done.
fn titled(node: &Node) -> String {
    match node.action.symbol() {
        "" => node.title.clone(),
        symbol => format!("{symbol} {}", node.title),
    }
}
