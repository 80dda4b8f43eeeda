//! Like steps of one pool as one line.
//!
//! Steps are alike when they differ in nothing but their node: its number, its names, its
//! zone. Whatever differs in more stays a line of its own.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    plan::{Action, Plan, Step},
    resource::{Resource, ResourceKind},
};

use super::essence;
use crate::ranges;

/// From this many on, like steps are one line: three lines are still read at a glance.
const COLLAPSED_FROM: usize = 4;

/// Stands for a node's own name where steps are compared.
const OWN_NAME: &str = "\u{0}";

/// Steps that are shown as one.
pub(super) struct Group<'a> {
    /// The first of them, which stands for all.
    pub(super) first: &'a Step,
    /// All of them, in the order of the plan.
    pub(super) steps: Vec<&'a Step>,
}

/// The steps that write, in the order of the plan; a group stands where its first step does.
pub(super) fn of(plan: &Plan) -> Vec<Group<'_>> {
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for step in plan.changes() {
        let next = groups.len();
        let place = key(step).map(|key| *places.entry(key).or_insert(next));
        match place.and_then(|place| groups.get_mut(place)) {
            Some(group) => group.steps.push(step),
            None => groups.push(Group {
                first: step,
                steps: vec![step],
            }),
        }
    }
    in_order(groups, plan)
}

/// Takes groups apart that are too small to be worth it.
fn in_order<'a>(groups: Vec<Group<'a>>, plan: &Plan) -> Vec<Group<'a>> {
    let position: BTreeMap<_, usize> = plan
        .steps
        .iter()
        .enumerate()
        .map(|(position, step)| (&step.address, position))
        .collect();
    let mut shown: Vec<Group<'a>> = groups
        .into_iter()
        .flat_map(|group| {
            if group.steps.len() >= COLLAPSED_FROM {
                return vec![group];
            }
            let alone = |step| Group {
                first: step,
                steps: vec![step],
            };
            group.steps.into_iter().map(alone).collect()
        })
        .collect();
    shown.sort_by_key(|group| position.get(&group.first.address).copied());
    shown
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    front: String,
    back: String,
    action: Action,
    kind: ResourceKind,
    content: String,
}

/// What like steps have in common; `None` for what is no part of a node.
fn key(step: &Step) -> Option<Key> {
    let ((front, back), node) = ranges::split(&step.address);
    node?;
    let own = own_name(step);
    let resource = match step.action {
        Action::Create | Action::Replace => step.after.as_ref().map(|after| content(after, &own)),
        Action::NoOp
        | Action::Update
        | Action::RestartUpdate
        | Action::StopUpdate
        | Action::Repair
        | Action::Start
        | Action::Delete => step
            .after
            .as_ref()
            .or(step.before.as_ref())
            .map(essence::of),
    };
    let changes: Vec<String> = step
        .reason
        .attributes
        .iter()
        .map(|change| {
            format!(
                "{} {} {} {}",
                change.path, change.before, change.after, change.effect
            )
        })
        .collect();
    let alternates: Vec<&str> = step
        .alternates
        .iter()
        .map(|alternate| alternate.label.as_str())
        .collect();
    let content = [
        essence::phrase(step),
        format!("{:?}", step.reason.code),
        resource.unwrap_or_default(),
        changes.join("\n").replace(&own, OWN_NAME),
        alternates.join("\n"),
    ];
    Some(Key {
        front,
        back,
        action: step.action,
        kind: step.kind,
        content: content.join("\n\n"),
    })
}

/// The name that the step's resource and its parts begin with.
fn own_name(step: &Step) -> String {
    step.id.name().to_owned()
}

fn content(resource: &Resource, own: &str) -> String {
    let per_node = ["zones", "computer_name"];
    let lines: Vec<String> = resource
        .attributes()
        .iter()
        .filter(|(path, _)| !per_node.contains(&path.as_str()))
        .map(|(path, value)| format!("{path}={}", value.to_string().replace(own, OWN_NAME)))
        .collect();
    lines.join("\n")
}

impl Group<'_> {
    /// The addresses as one text.
    pub(super) fn address(&self) -> String {
        ranges::of(self.steps.iter().map(|step| &step.address)).join(", ")
    }

    /// The names as one text: `llama-train-[0-7]` where they differ only in the node's number.
    pub(super) fn name(&self) -> String {
        let first = self.first.id.name();
        if self.steps.len() == 1 {
            return first.to_owned();
        }
        let parts: BTreeSet<Option<(&str, &str)>> =
            self.steps.iter().map(|step| around_number(step)).collect();
        let mut parts = parts.into_iter();
        match (parts.next().flatten(), parts.next()) {
            (Some((front, back)), None) => {
                let nodes = self
                    .steps
                    .iter()
                    .filter_map(|step| step.address.node_index());
                format!("{front}[{}]{back}", ranges::numbers(&nodes.collect()))
            }
            (_, _) => format!("{first}, …"),
        }
    }

    /// The zones of all resources.
    pub(super) fn zones(&self) -> BTreeSet<&str> {
        self.steps
            .iter()
            .filter_map(|step| step.after.as_ref().or(step.before.as_ref()))
            .flat_map(essence::zones)
            .map(String::as_str)
            .collect()
    }
}

/// What stands before and behind the node's number in a step's resource name.
fn around_number(step: &Step) -> Option<(&str, &str)> {
    let name = step.id.name();
    let number = step.address.node_index()?.to_string();
    let in_the_middle = name.split_once(&format!("-{number}-"));
    let around = match in_the_middle {
        Some((front, back)) => (front.len() + 1, name.len() - back.len() - 1),
        None => (
            name.strip_suffix(&format!("-{number}"))?.len() + 1,
            name.len(),
        ),
    };
    Some((name.get(..around.0)?, name.get(around.1..)?))
}
