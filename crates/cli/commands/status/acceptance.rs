//! `status --verify`: asks the guests of running nodes, and has their answers judged.

use std::collections::BTreeMap;

use azure::GuestScript;
use model::{
    acceptance::{NodeAcceptance, NodeOutcome},
    address::Address,
    catalog::Catalog,
    diag::{At, Code, Diagnostic, Diagnostics},
    ids::ArmId,
    live::{Live, LiveResource, Owner, Power, State},
    resource::{Orchestration, Resource, ResourceKind, System},
    units::SizeName,
};
use planner::acceptance::{Answer, Asked, Expectation, judge, script};
use render::words;

use crate::{app::App, planning::Made, stop::Stop};

/// A node that may be asked.
struct Node {
    machine: ArmId,
    asked: Asked,
}

/// Checks the nodes of a stack.
///
/// # Errors
/// Somebody interrupted.
pub(super) fn check(
    app: &App,
    made: &Made,
    catalog: &Catalog,
) -> Result<(Vec<NodeAcceptance>, Diagnostics), Stop> {
    let mut nodes = nodes(&made.live);
    let scripts = scripts(&nodes, catalog);
    if let Some(client) = made.world.client()
        && !scripts.is_empty()
    {
        let count = words::counted(scripts.len(), "guest", "guests");
        app.output.note(&format!(
            "asking {count}, which takes minutes where GPUs are idle\n"
        ));
        let answers = made.world.read(azure::run_in_guests(client, &scripts))?;
        let open = nodes.iter_mut().filter(|node| is_open(node));
        for (node, answer) in open.zip(answers) {
            node.asked.answer = match answer {
                Ok(text) => Answer::Said(text),
                Err(reason) => Answer::Unanswered(reason),
            };
        }
    }
    let asked: Vec<Asked> = nodes.into_iter().map(|node| node.asked).collect();
    let judged = judge(catalog, &asked);
    let findings = findings(&judged);
    Ok((judged, findings))
}

/// Whether a node is to be asked: until then its answer is empty.
fn is_open(node: &Node) -> bool {
    node.asked.answer == Answer::Said(String::new())
}

fn scripts(nodes: &[Node], catalog: &Catalog) -> Vec<GuestScript> {
    let mut of_size: BTreeMap<&SizeName, String> = BTreeMap::new();
    let open = nodes.iter().filter(|node| is_open(node));
    open.map(|node| {
        let size = &node.asked.size;
        let script = of_size
            .entry(size)
            .or_insert_with(|| script(&Expectation::of(catalog, size)));
        GuestScript {
            machine: node.machine.clone(),
            script: script.clone(),
        }
    })
    .collect()
}

/// The nodes of the stack, by address and name.
fn nodes(live: &Live) -> Vec<Node> {
    let ours = live
        .resources
        .iter()
        .filter(|resource| matches!(resource.owner, Owner::Stack(_)));
    let mut nodes: Vec<Node> = ours
        .flat_map(|resource| of_resource(resource, live))
        .collect();
    nodes.sort_by(|one, other| {
        let key = |node: &Node| (node.asked.pool.clone(), node.asked.name.len());
        let order = key(one).cmp(&key(other));
        order.then_with(|| one.asked.name.cmp(&other.asked.name))
    });
    nodes
}

fn of_resource(resource: &LiveResource, live: &Live) -> Vec<Node> {
    let Some(known) = &resource.resource else {
        return Vec::new();
    };
    let (Some((size, count)), Some(address)) = (known.machines(), resource.address()) else {
        return Vec::new();
    };
    let node = |machine: ArmId, address: &Address, name: &str, state: &State| Node {
        machine,
        asked: Asked {
            address: address.to_string(),
            pool: address.pool_name().unwrap_or_default().to_owned(),
            name: name.to_owned(),
            size: size.clone(),
            answer: before(known, state),
        },
    };
    if known.kind() != ResourceKind::VirtualMachine && known.scale_set().is_none() {
        let name = resource.id.name();
        // The nodes of the system pool have nothing to check.
        let is_cluster = known.kind() == ResourceKind::KubernetesCluster;
        let there = resource.state.nodes.unwrap_or(count);
        let count = if is_cluster { 0 } else { there };
        let names = (1..=count).map(|number| format!("node {number} of {name}"));
        return names
            .map(|name| node(resource.id.clone(), address, &name, &resource.state))
            .collect();
    }
    let Some(set) = known.scale_set() else {
        return vec![node(
            resource.id.clone(),
            address,
            resource.id.name(),
            &resource.state,
        )];
    };
    let instances = live.instances.get(&resource.id).into_iter().flatten();
    instances
        .map(|one| {
            let machine = match set.orchestration {
                Orchestration::Uniform => resource.id.child("virtualMachines", &one.id),
                Orchestration::Flexible => {
                    let group = resource.id.group_id();
                    let group = group.unwrap_or_else(|| resource.id.clone());
                    group.in_group("Microsoft.Compute/virtualMachines", &one.name)
                }
            };
            let pool = address.pool_name().unwrap_or_default();
            // What `--replace` takes: an instance, never the whole set.
            let address = match one.id.parse() {
                Ok(number) => Address::node(pool, number),
                Err(_) => Address::pool(pool).join(&one.name),
            };
            node(machine, &address, &one.name, &one.state)
        })
        .collect()
}

/// What is known of an answer before anybody was asked.
fn before(known: &Resource, state: &State) -> Answer {
    if known.system() == Some(System::Windows) {
        return Answer::Skipped("the checks are for Linux".to_owned());
    }
    if known.batch_pool().is_some() {
        return Answer::Skipped(
            "Azure Batch lets nobody else run commands in its nodes".to_owned(),
        );
    }
    if known.kind() == ResourceKind::AgentPool {
        let way = "nodes of AKS are looked at with `kubectl debug node/NAME`";
        return Answer::Skipped(way.to_owned());
    }
    if known.kind() == ResourceKind::NodeArray {
        let way = "nodes of CycleCloud come and go: a job on them runs the checks";
        return Answer::Skipped(way.to_owned());
    }
    match state.power {
        Some(Power::Running) => Answer::Said(String::new()),
        _ => Answer::Skipped(format!("it is {}", render::status::power(state))),
    }
}

/// What there is to say: nodes that failed, nodes that did not answer, and nothing checked at all.
fn findings(nodes: &[NodeAcceptance]) -> Diagnostics {
    let mut pools: BTreeMap<&str, Vec<&NodeAcceptance>> = BTreeMap::new();
    for node in nodes {
        pools.entry(&node.pool).or_default().push(node);
    }
    let of_pools = pools.iter().flat_map(|(pool, nodes)| {
        let failed: Vec<&NodeAcceptance> = nodes
            .iter()
            .copied()
            .filter(|node| node.failures().next().is_some())
            .collect();
        let silent: Vec<&NodeAcceptance> = nodes
            .iter()
            .copied()
            .filter(|node| matches!(node.outcome, NodeOutcome::Unanswered(_)))
            .collect();
        let names = |nodes: &[&NodeAcceptance]| {
            let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
            words::listed(&names, 8)
        };
        let of = |nodes: &[&NodeAcceptance], all: usize| {
            format!(
                "{} of {}",
                nodes.len(),
                words::counted(all, "node", "nodes")
            )
        };
        let fails = (!failed.is_empty()).then(|| {
            let message = format!(
                "{} of pool `{pool}` failed a check: {}",
                of(&failed, nodes.len()),
                names(&failed)
            );
            Diagnostic::new(Code::NodeFailsChecks, At::Nowhere, message)
                .with_help("`tensorform plan --replace ADDRESS` makes a node anew")
        });
        let is_silent = (!silent.is_empty()).then(|| {
            let message = format!(
                "{} of pool `{pool}` did not answer: {}",
                of(&silent, nodes.len()),
                names(&silent)
            );
            Diagnostic::new(Code::NodeUnchecked, At::Nowhere, message)
                .with_help("`tensorform status` shows whether their agents report")
        });
        fails.into_iter().chain(is_silent)
    });
    let asked = nodes
        .iter()
        .any(|node| !matches!(node.outcome, NodeOutcome::Skipped(_)));
    let nothing = (!asked).then(|| {
        let message = "no node was checked: none runs that the checks are for";
        Diagnostic::new(Code::NothingToCheck, At::Nowhere, message)
            .with_help("`tensorform apply` makes nodes, and `tensorform status` shows their state")
    });
    of_pools.chain(nothing).collect()
}
