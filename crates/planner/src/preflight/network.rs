//! The subnet that the nodes are put into, where it is not the stack's: whether it is there, in
//! the right region, and has room. Nothing in its network is ever changed.

use std::collections::BTreeSet;

use model::{
    address::Address,
    diag::{At, Code, Diagnostic, SpecPath},
    ids::ArmId,
    live::{Answer, Live, Mode, Owner, Question, SubnetFact},
    plan::{Action, Step},
    resource::{Resource, ResourceKind},
    spec::{Cidr, Network, Spec},
    units::Region,
};

use crate::select::Findings;

/// Addresses that Azure keeps in each block of a subnet.
const KEPT_ADDRESSES: u64 = 5;

/// What is to be said of the network that the nodes are in.
pub(crate) fn network(
    spec: &Spec,
    steps: &[Step],
    live: &Live,
    mode: Mode,
    location: &Region,
) -> Findings {
    let mut findings = Findings::default();
    let subnet = match &spec.network {
        Network::Existing { subnet } => Some(subnet),
        Network::Own { .. } => None,
    };
    if let Some(finding) = moved(subnet, steps, live) {
        findings.diagnostics.push(finding);
        return findings;
    }
    let more = more_nodes(steps);
    let Some(subnet) = subnet.filter(|_| more > 0 && mode != Mode::Offline) else {
        return findings;
    };
    match live.facts.subnets.get(subnet) {
        None => {
            findings.questions.insert(Question::Subnet(subnet.clone()));
        }
        Some(Answer::Unknown { reason }) => {
            let message = format!("the {} could not be read: {reason}", words(subnet));
            findings.diagnostics.push(
                Diagnostic::new(Code::SubnetUnknown, at(), message)
                    .with_help("ask for the role Reader on its virtual network"),
            );
        }
        Some(Answer::Known(found)) => {
            if let Some(message) = problem(subnet, found.as_ref(), location, more) {
                findings.diagnostics.push(
                    Diagnostic::new(Code::SubnetUnusable, at(), message).with_help(
                        "name another subnet, or remove `subnet_id` to get a network of one's own",
                    ),
                );
            }
        }
    }
    findings
}

fn at() -> At {
    At::Value(SpecPath::of(&["network", "subnet_id"]))
}

/// A subnet with its network, in words.
fn words(subnet: &ArmId) -> String {
    let network = subnet.parent();
    let network = network.as_ref().map_or("", ArmId::name);
    format!("subnet `{}` of `{network}`", subnet.name())
}

/// Why so many nodes cannot be in a subnet.
fn problem(
    subnet: &ArmId,
    found: Option<&SubnetFact>,
    location: &Region,
    nodes: u64,
) -> Option<String> {
    let words = words(subnet);
    let Some(fact) = found else {
        return Some(format!("the {words} does not exist"));
    };
    if fact.location != *location {
        return Some(format!(
            "the {words} is in {}, the stack is in {location}",
            fact.location
        ));
    }
    if let Some(service) = &fact.delegated_to {
        return Some(format!("the {words} is given to `{service}`"));
    }
    let blocks = fact
        .prefixes
        .iter()
        .filter_map(|text| text.parse::<Cidr>().ok());
    let room: u64 = blocks
        .map(|block| block.addresses().saturating_sub(KEPT_ADDRESSES))
        .sum();
    let free = room.saturating_sub(fact.used);
    (free < nodes).then(|| {
        format!("the {words} has {free} free addresses of {room}, the plan makes {nodes} nodes")
    })
}

/// How many nodes more there are after the plan, where there are more.
fn more_nodes(steps: &[Step]) -> u64 {
    let count = |of: Option<&Resource>| {
        let machines = of.and_then(Resource::machines);
        machines.map_or(0, |(_, count)| u64::from(count))
    };
    let of_step = |step: &Step| {
        let is_new = step.action == Action::Create;
        let before = if is_new {
            0
        } else {
            count(step.before.as_ref())
        };
        count(step.after.as_ref()).saturating_sub(before)
    };
    steps.iter().map(of_step).sum()
}

/// Nodes that stay are in one kind of network, and the spec puts them into the other.
fn moved(subnet: Option<&ArmId>, steps: &[Step], live: &Live) -> Option<Diagnostic> {
    let stays: BTreeSet<&ArmId> = steps
        .iter()
        .filter(|step| {
            !matches!(
                step.action,
                Action::Delete | Action::Replace | Action::Create
            )
        })
        .map(|step| &step.id)
        .collect();
    let has_nodes = live.resources.iter().any(|resource| {
        let kind = resource.resource.as_ref().map(Resource::kind);
        matches!(resource.owner, Owner::Stack(_))
            && kind == Some(ResourceKind::VirtualMachine)
            && stays.contains(&resource.id)
    });
    let own = Address::network("subnet");
    let has_own = live
        .resources
        .iter()
        .any(|resource| resource.address() == Some(&own));
    let message = match subnet {
        Some(subnet) if has_nodes && has_own => format!(
            "the nodes are in the stack's own network, the spec puts them into the {}",
            words(subnet)
        ),
        None if has_nodes && !has_own => {
            "the nodes are in a network that is not the stack's, the spec gives it one of its own"
                .to_owned()
        }
        Some(_) | None => return None,
    };
    let at = At::Key(SpecPath::of(&["network"]));
    Some(
        Diagnostic::new(Code::NetworkFixed, at, message)
            .with_help("put `network` back, or destroy the stack first"),
    )
}
