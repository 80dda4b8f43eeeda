//! Scale sets and pools of Batch in the status: one line each, with how many nodes are in which
//! state.

use std::collections::BTreeMap;

use model::{
    live::{Instance, Power, State},
    units::{Micros, Span},
};
use serde_json::{Value, json};

use super::{health, unknown};
use crate::{
    line::Line,
    paper::Paper,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// Instances that a line names.
const NAMED: usize = 20;

/// A scale set or a pool of Batch of a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct SetRow {
    /// Its address.
    pub address: String,
    /// Its name.
    pub name: String,
    /// The size of its instances; `None` where it is not known.
    pub size: Option<String>,
    /// How many instances it is to have, or at most has; `None` where it is not known.
    pub capacity: Option<u32>,
    /// The state that the set itself is in.
    pub state: State,
    /// Its instances, from the oldest to the newest.
    pub instances: Vec<Instance>,
    /// How long ago the tool made it; `None` where no tag says so.
    pub age: Option<Span>,
    /// What it costs per hour now; `None` where it is not known.
    pub hourly: Option<Micros>,
    /// Attributes that differ from the spec; `None` where nothing was compared.
    pub drift: Option<Vec<String>>,
}

/// Shows sets as a table, and below it what is not well with each.
pub(super) fn show(paper: &mut Paper, sets: &[SetRow], currency: &str, style: Style) {
    if sets.is_empty() {
        return;
    }
    paper.blank();
    paper.lines(&table(sets, currency).lines(style));
    for set in sets {
        remarks(paper, set);
    }
}

fn table(sets: &[SetRow], currency: &str) -> Table {
    let columns = [
        Column::left("Address", Fit::Keep),
        Column::left("Name", Fit::Spare),
        Column::left("Size", Fit::Cut),
        Column::right("Nodes"),
        Column::right("Running"),
        Column::left("Health", Fit::Keep),
        Column::right("Age"),
        Column::decimal(if currency == "USD" { "USD/h" } else { "Hourly" }),
    ];
    let mut table = Table::new(columns, 0);
    for set in sets {
        let SetRow {
            address,
            name,
            size,
            capacity: _,
            state,
            instances,
            age,
            hourly,
            drift: _,
        } = set;
        let running = instances
            .iter()
            .filter(|one| one.state.power == Some(Power::Running));
        // A pool of Batch says how many nodes it has, and nothing of each.
        let (there, running) = match state.nodes {
            Some(nodes) => (words::count(nodes), words::count(nodes)),
            None => (words::count(instances.len()), words::count(running.count())),
        };
        let (ink, word) = health_of(set);
        table.row([
            Line::inked(Ink::Accent, address),
            Line::of(name),
            size.as_ref().map_or_else(unknown, Line::of),
            Line::of(there),
            Line::of(running),
            Line::inked(ink, word),
            age.map_or_else(unknown, |age| Line::of(words::span(age))),
            hourly.map_or_else(unknown, |hourly| Line::of(hourly.to_string())),
        ]);
    }
    table
}

/// The health of a set in a word: that of its instances where they agree and the set is well.
fn health_of(set: &SetRow) -> (Ink, &'static str) {
    let running = State {
        power: Some(Power::Running),
        agent_ready: Some(true),
        ..set.state.clone()
    };
    let own = health(&running);
    if own.1 != "ready" {
        return own;
    }
    match set.state.nodes {
        Some(0) => return (Ink::Faint, "no nodes"),
        Some(_) => return own,
        None => {}
    }
    let counts = counts(set);
    let mut words = counts.values();
    match (words.next(), words.next()) {
        (None, _) => (Ink::Faint, "no nodes"),
        (Some((ink, ids)), None) => (*ink, ids.first().map_or("", |(word, _)| *word)),
        (Some(_), Some(_)) => (Ink::Caution, "mixed"),
    }
}

type Counts<'a> = BTreeMap<&'static str, (Ink, Vec<(&'static str, &'a str)>)>;

/// Instances by their health.
fn counts(set: &SetRow) -> Counts<'_> {
    let mut counts = Counts::new();
    for one in &set.instances {
        let (ink, word) = health(&one.state);
        let entry = counts.entry(word).or_insert((ink, Vec::new()));
        entry.1.push((word, one.id.as_str()));
    }
    counts
}

fn remarks(paper: &mut Paper, set: &SetRow) {
    let mut say = |ink: Ink, text: String| {
        let first = Line::inked(Ink::Accent, format!("  {} ", set.address));
        paper.hanging(&first, &Line::inked(ink, text));
    };
    if let Some(message) = &set.state.message {
        say(Ink::Bad, message.clone());
    }
    let counts = counts(set);
    for (word, (ink, ids)) in counts.iter().filter(|(word, _)| **word != "ready") {
        let ids: Vec<String> = ids.iter().map(|(_, id)| (*id).to_owned()).collect();
        say(
            *ink,
            format!(
                "{} {word}: {}",
                words::count(ids.len()),
                words::listed(&ids, NAMED)
            ),
        );
    }
    let mut told: Vec<&str> = Vec::new();
    for message in set
        .instances
        .iter()
        .filter_map(|one| one.state.message.as_deref())
    {
        if !told.contains(&message) {
            told.push(message);
            say(Ink::Bad, message.to_owned());
        }
    }
    let behind: Vec<String> = set
        .instances
        .iter()
        .filter(|one| one.latest_model == Some(false))
        .map(|one| one.id.clone())
        .collect();
    if !behind.is_empty() {
        let text = format!(
            "{} behind the newest profile: {}",
            words::count(behind.len()),
            words::listed(&behind, NAMED)
        );
        say(Ink::Caution, text);
    }
    if let Some(drift) = set.drift.as_ref().filter(|drift| !drift.is_empty()) {
        let text = format!("differs from the spec: {}", words::listed(drift, 8));
        say(Ink::Caution, text);
    }
}

/// A set in the JSON document.
pub(super) fn document(set: &SetRow) -> Value {
    let SetRow {
        address,
        name,
        size,
        capacity,
        state,
        instances,
        age,
        hourly,
        drift,
    } = set;
    json!({
        "address": address,
        "name": name,
        "size": size,
        "capacity": capacity,
        "nodes": state.nodes,
        "provisioning": state.provisioning,
        "message": state.message,
        "health": health_of(set).1,
        "instances": instances.iter().map(instance).collect::<Vec<_>>(),
        "age_seconds": age.map(Span::seconds),
        "hourly_micros": hourly,
        "drift": drift,
    })
}

fn instance(instance: &Instance) -> Value {
    let Instance {
        id,
        name,
        host_name,
        zone,
        created,
        latest_model,
        state,
    } = instance;
    let State {
        provisioning,
        power,
        agent_ready,
        message,
        evicted,
        readiness,
        nodes: _,
    } = state;
    json!({
        "id": id,
        "name": name,
        "host_name": host_name,
        "zone": zone,
        "created": created,
        "latest_model": latest_model,
        "provisioning": provisioning,
        "power": power,
        "agent_ready": agent_ready,
        "evicted": evicted,
        "health": health(state).1,
        "bootstrap": readiness.as_ref().map(super::readiness_word),
        "message": message.as_deref().or_else(|| super::failed_bootstrap(state)),
    })
}
