//! What a plan deletes, replaces, interrupts and costs: what `apply` names before it asks.

use model::{
    address::Address,
    live::Mode,
    plan::{Action, Operation, Plan, Step},
    resource::ResourceKind,
    units::Micros,
};

use crate::{
    line::Line,
    paper::Paper,
    ranges,
    style::{Ink, Style},
    table::{Column, Fit, Table},
    words,
};

/// Addresses named in one line; the changes above list them all.
const NAMED: usize = 6;

pub(super) fn write(paper: &mut Paper, plan: &Plan, style: Style) {
    let columns = [
        Column::left("", Fit::Keep),
        Column::right(""),
        Column::left("", Fit::Wrap),
    ];
    let mut table = Table::new(columns, 2);
    for (verb, ink, what, chosen) in KINDS {
        let steps: Vec<&Step> = plan.changes().filter(|step| chosen(step)).collect();
        if steps.is_empty() {
            continue;
        }
        let addresses: Vec<&Address> = steps.iter().map(|step| &step.address).collect();
        let mut line = Line::of(words::listed(&ranges::of(addresses), NAMED));
        if !what.is_empty() {
            line.push(Ink::Faint, format!("  # {what}"));
        }
        table.row([
            Line::inked(*ink, *verb),
            Line::of(words::count(steps.len())),
            line,
        ]);
    }
    if let Some(line) = price(plan) {
        table.row([Line::inked(Ink::Caution, "costs"), Line::default(), line]);
    }
    if !table.is_empty() {
        paper.blank();
        paper.lines(&table.lines(style));
    }
}

type Kind = (&'static str, Ink, &'static str, fn(&Step) -> bool);

const KINDS: &[Kind] = &[
    (
        "deletes data",
        Ink::Bad,
        "disks with what is on them",
        |step| is_lost(step) && is_disk(step),
    ),
    ("deletes", Ink::Bad, "", |step| {
        step.action == Action::Delete && !is_disk(step)
    }),
    (
        "replaces",
        Ink::Bad,
        "with their OS disks and local disks; the capacity may not be there again",
        |step| step.action == Action::Replace && is_machine(step),
    ),
    ("replaces", Ink::Bad, "", |step| {
        step.action == Action::Replace && !is_machine(step) && !is_disk(step)
    }),
    (
        "makes anew",
        Ink::Bad,
        "deleted first, because their creation failed",
        |step| step.action == Action::Repair && step.operations.contains(&Operation::Delete),
    ),
    (
        "deallocates",
        Ink::Bad,
        "gives back capacity that may not be there again, and loses local disks",
        |step| step.action == Action::StopUpdate,
    ),
    ("restarts", Ink::Caution, "", |step| {
        step.action == Action::RestartUpdate
    }),
];

fn is_lost(step: &Step) -> bool {
    matches!(step.action, Action::Delete | Action::Replace)
}

fn is_machine(step: &Step) -> bool {
    matches!(
        step.kind,
        ResourceKind::VirtualMachine
            | ResourceKind::VirtualMachineScaleSet
            | ResourceKind::BatchPool
            | ResourceKind::AgentPool
            | ResourceKind::NodeArray
    )
}

fn is_disk(step: &Step) -> bool {
    step.kind == ResourceKind::Disk
}

/// What the plan adds to the bill, where it adds something.
fn price(plan: &Plan) -> Option<Line> {
    let cost = &plan.cost;
    if plan.scope.mode == Mode::Sandbox {
        return None;
    }
    let unknown = cost.lines.iter().filter(|line| !line.known).count();
    let more = cost.delta.hourly_micros > Micros::default()
        || cost.delta.monthly_micros > Micros::default();
    let makes = |step: &Step| matches!(step.action, Action::Create | Action::Start);
    if !more && (unknown == 0 || !plan.changes().any(makes)) {
        return None;
    }
    let mut text = format!(
        "{} {currency}/hour, {} {currency}/month",
        words::difference(cost.delta.hourly_micros),
        words::difference(cost.delta.monthly_micros),
        currency = cost.currency,
    );
    if unknown > 0 {
        let lines = words::counted(unknown, "thing", "things");
        text = format!("{text}, and {lines} without a known price");
    }
    Some(Line::of(text))
}

pub(super) fn question(plan: &Plan) -> String {
    let group = &plan.scope.resource_group;
    let world = match (plan.scope.mode, &plan.scope.subscription) {
        (Mode::Sandbox, _) => "the sandbox".to_owned(),
        (Mode::Azure, Some(subscription)) => format!("subscription {subscription}"),
        (Mode::Azure, None) => "Azure".to_owned(),
        (Mode::Offline, _) => "nothing: the plan was made offline".to_owned(),
    };
    let stack = &plan.stack;
    if plan.destroys() {
        format!(
            "Destroy {stack} in resource group {group} of {world}? There is no way back. Only `yes` goes on."
        )
    } else if plan.orphans {
        format!(
            "Delete the orphans of {stack} in {world}? There is no way back. Only `yes` goes on."
        )
    } else {
        format!(
            "Apply this plan for {stack} in resource group {group} to {world}? Only `yes` goes on."
        )
    }
}
