//! What is live: nodes with their state, what nobody needs any more, and what is not ours.

use model::{
    live::{Mode, Power, Provisioning, Readiness, State},
    plan::Lifetime,
    units::{Micros, Span, Timestamp},
};
use serde_json::{Value, json};

mod set;

mod acceptance;

use crate::{
    failure,
    line::Line,
    paper::Paper,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// The version of the JSON document.
pub const FORMAT_VERSION: &str = "1.0";

/// What is live of a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The stack.
    pub stack: String,
    /// The world that was read.
    pub mode: Mode,
    /// The resource group.
    pub resource_group: String,
    /// When it was read.
    pub read_at: Option<Timestamp>,
    /// How long the stack lives, where the spec limits it.
    pub lifetime: Option<Lifetime>,
    /// The stack's VMs.
    pub nodes: Vec<NodeRow>,
    /// The stack's scale sets and pools of Batch.
    pub sets: Vec<SetRow>,
    /// Addresses of VMs that the spec wants and that do not exist.
    pub missing: Vec<String>,
    /// Resources of the stack that no spec wants.
    pub orphans: Vec<LooseRow>,
    /// Resources of others in the stack's group.
    pub foreign: Vec<LooseRow>,
    /// What could not be read, each with why.
    pub unread: Vec<String>,
    /// The currency of all amounts.
    pub currency: String,
    /// What everything costs per hour now; `None` where it is not known.
    pub hourly: Option<Micros>,
    /// Whether `hourly` has the price of everything; if not, it is "at least".
    pub hourly_complete: bool,
    /// Checks of its nodes, where they were asked for.
    pub checks: Option<Checks>,
}

/// A VM of a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRow {
    /// Its address.
    pub address: String,
    /// Its name.
    pub name: String,
    /// Its size; `None` where it is not known.
    pub size: Option<String>,
    /// The state it is in.
    pub state: State,
    /// How long ago the tool made it; `None` where no tag says so.
    pub age: Option<Span>,
    /// What it costs per hour now; `None` where it is not known.
    pub hourly: Option<Micros>,
    /// Attributes that differ from the spec; `None` where nothing was compared.
    pub drift: Option<Vec<String>>,
}

pub use self::{acceptance::Checks, set::SetRow};

/// A resource that is only named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LooseRow {
    /// Its id.
    pub id: String,
    /// ARM's type.
    pub arm_type: String,
    /// What it costs per hour now; `None` where it is not known.
    pub hourly: Option<Micros>,
}

/// The status as text.
pub fn text(status: &Status, style: Style) -> String {
    let Status {
        stack: _,
        mode: _,
        resource_group: _,
        read_at: _,
        lifetime: _,
        nodes,
        sets,
        missing,
        orphans,
        foreign,
        unread,
        currency,
        hourly: _,
        hourly_complete: _,
        checks,
    } = status;
    let mut paper = Paper::new(style);
    paper.hanging(&Line::default(), &head(status));
    if !nodes.is_empty() {
        paper.blank();
        paper.lines(&node_table(nodes, currency).lines(style));
        for node in nodes {
            remarks(&mut paper, node);
        }
    }
    set::show(&mut paper, sets, currency, style);
    if let Some(checks) = checks {
        acceptance::show(&mut paper, checks, style);
    }
    if !missing.is_empty() {
        paper.heading("Missing: in the spec, and not there");
        paper.paragraph(2, Ink::Caution, &words::listed(missing, 20));
    }
    let groups = [
        ("Orphans: ours, and in no spec", orphans),
        ("Foreign: in the group, and not ours", foreign),
    ];
    for (title, rows) in groups {
        if !rows.is_empty() {
            paper.heading(title);
            for row in rows {
                loose(&mut paper, row, currency);
            }
        }
    }
    if !orphans.is_empty() {
        paper.blank();
        let help = "`tensorform destroy --orphans` deletes the orphans and nothing else; `apply` deletes them too";
        crate::diagnostics::help(&mut paper, help);
    }
    if !unread.is_empty() {
        paper.heading("Could not be read");
        for what in unread {
            paper.paragraph(2, Ink::Caution, what);
        }
    }
    paper.blank();
    paper.hanging(&Line::default(), &sum(status));
    paper.finish()
}

fn head(status: &Status) -> Line {
    let mut line = Line::inked(Ink::Strong, &status.stack);
    line.push(Ink::Plain, format!(" in {}", status.resource_group));
    match status.mode {
        Mode::Azure => {}
        Mode::Sandbox => line.push(Ink::Caution, ", sandbox"),
        Mode::Offline => line.push(Ink::Caution, ", offline"),
    }
    if let Some(read_at) = status.read_at {
        line.push(Ink::Faint, format!(", read {read_at}"));
    }
    if let Some(lifetime) = &status.lifetime {
        line.push(Ink::Plain, ", lifetime ");
        line.append(&crate::plan::lifetime(lifetime));
    }
    line
}

fn node_table(nodes: &[NodeRow], currency: &str) -> Table {
    let columns = [
        Column::left("Address", Fit::Keep),
        Column::left("Name", Fit::Spare),
        Column::left("Size", Fit::Cut),
        Column::left("Power", Fit::Keep),
        Column::left("Health", Fit::Keep),
        Column::right("Age"),
        Column::decimal(if currency == "USD" { "USD/h" } else { "Hourly" }),
    ];
    let mut table = Table::new(columns, 0);
    for node in nodes {
        let NodeRow {
            address,
            name,
            size,
            state,
            age,
            hourly,
            drift: _,
        } = node;
        let (health_ink, health) = health(state);
        table.row([
            Line::inked(Ink::Accent, address),
            Line::of(name),
            size.as_ref().map_or_else(unknown, Line::of),
            power_line(state),
            Line::inked(health_ink, health),
            age.map_or_else(unknown, |age| Line::of(words::span(age))),
            hourly.map_or_else(unknown, |hourly| Line::of(hourly.to_string())),
        ]);
    }
    table
}

fn unknown() -> Line {
    Line::inked(Ink::Caution, words::UNKNOWN)
}

fn remarks(paper: &mut Paper, node: &NodeRow) {
    let message = node.state.message.as_deref();
    if let Some(message) = message.or_else(|| failed_bootstrap(&node.state)) {
        let first = Line::inked(Ink::Accent, format!("  {} ", node.address));
        paper.hanging(&first, &Line::inked(Ink::Bad, message));
    }
    if let Some(drift) = &node.drift
        && !drift.is_empty()
    {
        let first = Line::inked(Ink::Accent, format!("  {} ", node.address));
        let text = format!("differs from the spec: {}", words::listed(drift, 8));
        paper.hanging(&first, &Line::inked(Ink::Caution, text));
    }
}

/// What it is and what it costs, and below it the id, whole, so that it can be copied.
fn loose(paper: &mut Paper, row: &LooseRow, currency: &str) {
    let LooseRow {
        id,
        arm_type,
        hourly,
    } = row;
    let mut line = Line::of(format!("  {arm_type}"));
    if let Some(hourly) = hourly {
        line.push(Ink::Plain, format!(", {hourly} {currency}/hour"));
    }
    paper.line(&line);
    paper.line(&Line::inked(Ink::Faint, format!("    {id}")));
}

fn sum(status: &Status) -> Line {
    let running = status
        .nodes
        .iter()
        .filter(|node| node.state.power == Some(Power::Running))
        .count();
    let instances = || status.sets.iter().flat_map(|set| &set.instances);
    let in_pools: u32 = status.sets.iter().filter_map(|set| set.state.nodes).sum();
    let in_pools = usize::try_from(in_pools).unwrap_or(usize::MAX);
    let all = (status.nodes.len() + instances().count()).saturating_add(in_pools);
    let running = running
        + instances()
            .filter(|one| one.state.power == Some(Power::Running))
            .count();
    // Batch takes nodes that do not run for none of the pool's.
    let running = running.saturating_add(in_pools);
    let mut text = format!(
        "{}, {} running",
        words::counted(all, "node", "nodes"),
        words::count(running)
    );
    if !status.missing.is_empty() {
        text = format!("{text}, {} missing", words::count(status.missing.len()));
    }
    for (rows, what) in [(&status.orphans, "orphaned"), (&status.foreign, "foreign")] {
        if !rows.is_empty() {
            text = format!("{text}, {} {what}", words::count(rows.len()));
        }
    }
    let line = Line::inked(Ink::Strong, text);
    match status.hourly {
        Some(amount) if status.hourly_complete => line.then(
            Ink::Strong,
            format!("; {amount} {}/hour now", status.currency),
        ),
        Some(amount) => line.then(
            Ink::Caution,
            format!("; at least {amount} {}/hour now", status.currency),
        ),
        None => line.then(Ink::Caution, "; cost per hour unknown"),
    }
}

/// A VM's power state in a word.
pub fn power(state: &State) -> &'static str {
    state
        .power
        .map_or(words::UNKNOWN, |power| power_word(power).1)
}

fn power_line(state: &State) -> Line {
    match state.power {
        Some(power) => {
            let (ink, word) = power_word(power);
            Line::inked(ink, word)
        }
        None => unknown(),
    }
}

fn power_word(power: Power) -> (Ink, &'static str) {
    match power {
        Power::Starting => (Ink::Caution, "starting"),
        Power::Running => (Ink::Good, "running"),
        Power::Stopping => (Ink::Caution, "stopping"),
        Power::Stopped => (Ink::Caution, "stopped"),
        Power::Deallocating => (Ink::Caution, "deallocating"),
        Power::Deallocated => (Ink::Faint, "deallocated"),
        Power::Unknown => (Ink::Caution, words::UNKNOWN),
    }
}

/// A VM's health in a word: what is worst about it, and `unknown` where nothing is known.
pub fn health(state: &State) -> (Ink, &'static str) {
    if state.evicted {
        return (Ink::Bad, "evicted");
    }
    match state.provisioning {
        Provisioning::Succeeded => {}
        Provisioning::Failed => return (Ink::Bad, "failed"),
        Provisioning::Canceled => return (Ink::Bad, "cancelled"),
        Provisioning::Creating => return (Ink::Caution, "creating"),
        Provisioning::Updating => return (Ink::Caution, "updating"),
        Provisioning::Deleting => return (Ink::Caution, "deleting"),
        Provisioning::Other => return (Ink::Caution, "in progress"),
    }
    if state.power == Some(Power::Running) {
        match state.readiness {
            Some(Readiness::Failed(_)) => return (Ink::Bad, "setup failed"),
            Some(Readiness::Waiting) => return (Ink::Caution, "setting up"),
            Some(Readiness::Ready) | None => {}
        }
    }
    match (state.power, state.agent_ready) {
        (Some(Power::Running), Some(true)) => (Ink::Good, "ready"),
        (Some(Power::Running), Some(false)) => (Ink::Bad, "agent silent"),
        (Some(Power::Running), None) | (Some(Power::Unknown) | None, _) => {
            (Ink::Caution, words::UNKNOWN)
        }
        (Some(Power::Starting), _) => (Ink::Caution, "not yet"),
        (Some(Power::Stopped), _) => (Ink::Caution, "off, billed"),
        (Some(Power::Stopping | Power::Deallocating | Power::Deallocated), _) => {
            (Ink::Faint, "off")
        }
    }
}

/// How a bootstrap stands, in a word.
fn readiness_word(readiness: &Readiness) -> &'static str {
    match readiness {
        Readiness::Waiting => "waiting",
        Readiness::Ready => "ready",
        Readiness::Failed(_) => "failed",
    }
}

/// What a node says of its failed bootstrap.
fn failed_bootstrap(state: &State) -> Option<&str> {
    match &state.readiness {
        Some(Readiness::Failed(said)) if !said.is_empty() => Some(said),
        _ => None,
    }
}

/// The status as one JSON document; what is not known is `null`.
pub fn json(status: &Status) -> String {
    let Status {
        stack,
        mode,
        resource_group,
        read_at,
        lifetime,
        nodes,
        sets,
        missing,
        orphans,
        foreign,
        unread,
        currency,
        hourly,
        hourly_complete,
        checks,
    } = status;
    let all = |rows: &[LooseRow]| rows.iter().map(loose_document).collect::<Vec<_>>();
    failure::document(&json!({
        "format_version": FORMAT_VERSION,
        "stack": stack,
        "mode": mode,
        "resource_group": resource_group,
        "read_at": read_at,
        "lifetime": lifetime,
        "nodes": nodes.iter().map(node_document).collect::<Vec<_>>(),
        "sets": sets.iter().map(set::document).collect::<Vec<_>>(),
        "missing": missing,
        "orphans": all(orphans),
        "foreign": all(foreign),
        "unread": unread,
        "currency": currency,
        "hourly_micros": hourly,
        "hourly_complete": hourly_complete,
        "checks": checks.as_ref().map(acceptance::document),
    }))
}

fn node_document(node: &NodeRow) -> Value {
    let NodeRow {
        address,
        name,
        size,
        state,
        age,
        hourly,
        drift,
    } = node;
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
        "address": address,
        "name": name,
        "size": size,
        "provisioning": provisioning,
        "power": power,
        "agent_ready": agent_ready,
        "evicted": evicted,
        "health": health(state).1,
        "bootstrap": readiness.as_ref().map(readiness_word),
        "message": message.as_deref().or_else(|| failed_bootstrap(state)),
        "age_seconds": age.map(Span::seconds),
        "hourly_micros": hourly,
        "drift": drift,
    })
}

fn loose_document(row: &LooseRow) -> Value {
    let LooseRow {
        id,
        arm_type,
        hourly,
    } = row;
    json!({"id": id, "type": arm_type, "hourly_micros": hourly})
}
