//! `status`: what is live of a stack, how it is, and what it costs now.

mod acceptance;

use std::collections::{BTreeMap, BTreeSet};

use model::{
    address::Address,
    catalog::Catalog,
    diag::{Code, Diagnostic, Diagnostics},
    live::{Live, LiveResource, Owner, Power},
    plan::{Action, Plan},
    resource::{Resource, tags},
    units::{Micros, Span, Timestamp},
};
use planner::cost;
use render::status::{Checks, LooseRow, NodeRow, SetRow, Status};

use crate::{
    app::App,
    args::{self as arguments, Planning},
    planning::{self, Made},
    stop::{Outcome, exit_of},
};

/// What a plan would do to a resource: the action, and the attributes that differ.
type Intent = (Action, Vec<String>);

/// Why orphans are not known.
const UNPLANNED: &str =
    "what is missing and what is orphaned: the spec cannot be planned, `tensorform plan` says why";

/// Shows the status.
pub(crate) fn run(app: &App, arguments: &arguments::Status) -> Outcome {
    let planning = Planning {
        neighbours: true,
        ..Planning::default()
    };
    let made = planning::make(app, &planning, false)?;
    let spec = app.source()?.spec()?;
    let mut status = status(
        &made,
        &spec.name,
        &spec.resource_group,
        crate::world::mode(app, false),
        app.catalog(false),
    );
    let mut findings = Diagnostics::default();
    if arguments.verify {
        let (nodes, found) = acceptance::check(app, &made, app.catalog(false))?;
        status.checks = Some(Checks {
            nodes,
            diagnostics: app.documents(&found),
        });
        findings = found;
    }
    let text = if app.output.is_json() {
        render::status::json(&status)
    } else {
        render::status::text(&status, app.output.stdout)
    };
    app.output.data(&text);
    let exit = exit_of(&findings);
    findings.extend(app.cache_findings());
    app.say_below(&findings);
    Ok(exit)
}

fn status(
    made: &Made,
    stack: &str,
    group: &str,
    mode: model::live::Mode,
    catalog: &Catalog,
) -> Status {
    let live = &made.live;
    let now = planning::now();
    let steps = steps(made.plan.as_ref());
    let ours = live
        .resources
        .iter()
        .filter_map(|resource| Some((resource, resource.address()?)));
    let mut nodes: Vec<(&Address, NodeRow)> = ours
        .clone()
        .filter(|(_, address)| address.leaf() == "vm")
        .map(|(resource, address)| (address, node(resource, address, &steps, now, made, catalog)))
        .collect();
    nodes.sort_by_key(|(address, _)| *address);
    let wanted = wanted(made);
    let is_orphan = |address: &Address| {
        let wanted = wanted.as_ref();
        wanted.is_some_and(|wanted| !wanted.contains(address))
    };
    let (hourly, hourly_complete) =
        hourly(ours.clone().map(|(resource, _)| resource), live, catalog);
    Status {
        stack: stack.to_owned(),
        mode,
        resource_group: group.to_owned(),
        read_at: live.read_at,
        // A stack of which nothing exists has not begun to live.
        lifetime: made
            .plan
            .as_ref()
            .and_then(|plan| plan.lifetime)
            .filter(|_| ours.clone().next().is_some()),
        nodes: nodes.into_iter().map(|(_, row)| row).collect(),
        sets: sets(made, &steps, now, catalog),
        missing: missing(&steps),
        orphans: ours
            .filter(|(_, address)| is_orphan(address))
            .map(|(resource, _)| loose(resource, live, catalog))
            .collect(),
        foreign: live
            .resources
            .iter()
            .filter(|resource| is_foreign(resource, live))
            .map(|resource| loose(resource, live, catalog))
            .collect(),
        unread: live
            .unread
            .iter()
            .map(|unread| format!("{}: {}", unread.what, unread.reason))
            .chain(wanted.is_none().then(|| UNPLANNED.to_owned()))
            .collect(),
        currency: cost::CURRENCY.to_owned(),
        hourly: Some(hourly),
        hourly_complete,
        checks: None,
    }
}

/// What the spec wants, by address; nothing where that is not known. A stack whose time is over
/// has no orphans: all of it goes.
fn wanted(made: &Made) -> Option<BTreeSet<&Address>> {
    let plan = made.plan.as_ref()?;
    let is_moved = |finding: &Diagnostic| finding.code == Code::StackMoved;
    if made.findings.iter().any(is_moved) {
        return None;
    }
    if plan.lifetime.is_some_and(|lifetime| lifetime.over) {
        let ours = made.live.resources.iter();
        return Some(ours.filter_map(LiveResource::address).collect());
    }
    let wanted = plan.steps.iter().filter(|step| step.after.is_some());
    Some(wanted.map(|step| &step.address).collect())
}

/// What has nodes and is to be made.
fn missing(steps: &BTreeMap<Address, Intent>) -> Vec<String> {
    let has_nodes = |address: &Address| {
        ["vm", "scale_set", "batch_pool", "agent_pool", "node_array"].contains(&address.leaf())
    };
    steps
        .iter()
        .filter(|(address, (action, ..))| *action == Action::Create && has_nodes(address))
        .map(|(address, _)| address.to_string())
        .collect()
}

/// What the plan would do, by address: the action, why, and the attributes that differ.
fn steps(plan: Option<&Plan>) -> BTreeMap<Address, Intent> {
    let steps = plan.into_iter().flat_map(|plan| &plan.steps);
    steps
        .map(|step| {
            let paths = step
                .reason
                .attributes
                .iter()
                .map(|change| change.path.clone())
                .collect();
            let intent = (step.action, paths);
            (step.address.clone(), intent)
        })
        .collect()
}

/// What is known of a row, whether it is a VM or a scale set.
struct Seen {
    size: Option<String>,
    age: Option<Span>,
    hourly: Option<Micros>,
    drift: Option<Vec<String>>,
}

fn seen(
    resource: &LiveResource,
    address: &Address,
    steps: &BTreeMap<Address, Intent>,
    now: Timestamp,
    made: &Made,
    catalog: &Catalog,
) -> Seen {
    let created: Option<Timestamp> = resource
        .tags
        .get(tags::CREATED)
        .and_then(|text| text.parse().ok());
    let age =
        created.and_then(|created| u64::try_from(now.unix().saturating_sub(created.unix())).ok());
    let (cost, complete) = hourly(std::iter::once(resource), &made.live, catalog);
    let machines = resource.resource.as_ref().and_then(Resource::machines);
    Seen {
        size: machines.map(|(size, _)| size.to_string()),
        age: age.map(Span::from_seconds),
        hourly: complete.then_some(cost),
        drift: steps.get(address).map(|(_, paths)| paths.clone()),
    }
}

fn node(
    resource: &LiveResource,
    address: &Address,
    steps: &BTreeMap<Address, Intent>,
    now: Timestamp,
    made: &Made,
    catalog: &Catalog,
) -> NodeRow {
    let Seen {
        size,
        age,
        hourly,
        drift,
    } = seen(resource, address, steps, now, made, catalog);
    NodeRow {
        address: address.to_string(),
        name: resource.id.name().to_owned(),
        size,
        state: resource.state.clone(),
        age,
        hourly,
        drift,
    }
}

/// The stack's scale sets with their instances, and its pools of Batch.
fn sets(
    made: &Made,
    steps: &BTreeMap<Address, Intent>,
    now: Timestamp,
    catalog: &Catalog,
) -> Vec<SetRow> {
    let live = &made.live;
    let ours = live
        .resources
        .iter()
        .filter_map(|resource| Some((resource, resource.address()?)))
        .filter(|(_, address)| ["scale_set", "batch_pool", "agent_pool"].contains(&address.leaf()));
    let mut sets: Vec<SetRow> = ours
        .map(|(resource, address)| {
            let Seen {
                size,
                age,
                hourly,
                drift,
            } = seen(resource, address, steps, now, made, catalog);
            let machines = resource.resource.as_ref().and_then(Resource::machines);
            let mut instances = live
                .instances
                .get(&resource.id)
                .cloned()
                .unwrap_or_default();
            instances.sort_by_key(|one| {
                (
                    one.id.parse::<u64>().ok(),
                    one.created.clone(),
                    one.id.clone(),
                )
            });
            SetRow {
                address: address.to_string(),
                name: resource.id.name().to_owned(),
                size,
                capacity: machines.map(|(_, count)| count),
                state: resource.state.clone(),
                instances,
                age,
                hourly,
                drift,
            }
        })
        .collect();
    sets.sort_by(|one, other| one.address.cmp(&other.address));
    sets
}

fn loose(resource: &LiveResource, live: &Live, catalog: &Catalog) -> LooseRow {
    let (cost, complete) = hourly(std::iter::once(resource), live, catalog);
    LooseRow {
        id: resource.id.to_string(),
        arm_type: resource.arm_type.clone(),
        hourly: (complete && resource.resource.is_some()).then_some(cost),
    }
}

/// Resources of others in our group; the group itself is not in itself.
fn is_foreign(resource: &LiveResource, live: &Live) -> bool {
    let groups = live
        .resources
        .iter()
        .filter(|group| group.id.name() == group.id.group().unwrap_or_default());
    let inside = groups
        .map(|group| &group.id)
        .any(|group| resource.id.group_id().as_ref() == Some(group) && resource.id != *group);
    resource.owner == Owner::Foreign && inside
}

fn hourly<'a>(
    resources: impl Iterator<Item = &'a LiveResource>,
    live: &Live,
    catalog: &Catalog,
) -> (Micros, bool) {
    // What is priced is the resource; the address only names the line, which nobody shows here.
    let address = |resource: &LiveResource| {
        let known = resource.address().cloned();
        known.unwrap_or_else(Address::resource_group)
    };
    // What of a node array runs is not its bound: its machines stand in the list by themselves.
    let is_array = |resource: &LiveResource| {
        let known = resource.resource.as_ref();
        known.is_some_and(|known| known.node_array().is_some())
    };
    let (arrays, resources): (Vec<_>, Vec<_>) = resources.partition(|one| is_array(one));
    let items: Vec<(Address, &LiveResource)> = resources
        .into_iter()
        .map(|resource| (address(resource), resource))
        .collect();
    let priced = items.iter().filter_map(|(address, resource)| {
        Some(cost::Item {
            address,
            resource: resource.resource.as_ref()?,
            has_hardware: resource.state.power != Some(Power::Deallocated),
            without_hardware: cost::without_hardware(live, resource),
        })
    });
    let cost = cost::compare(std::iter::empty(), priced, cost::Prices::list(catalog));
    (cost.after.hourly_micros, cost.complete && arrays.is_empty())
}
