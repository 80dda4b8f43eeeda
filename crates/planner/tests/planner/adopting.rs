//! `--adopt`: what becomes the stack's, and what is refused.

use model::{
    address::Address,
    catalog::Catalog,
    live::{Live, Owner},
    plan::{Action, Operation, ReasonCode},
    resource::tags,
    spec::{Spec, Stage, Workload},
};
use tensorform_planner::Planned;

use crate::support::{actions, codes, live_stack, options, planned_with, pool, spec};

fn small() -> Spec {
    spec(pool(Stage::Training, Workload::Small))
}

/// A live stack of which one resource is nobody's.
fn without_owner(address: &str) -> Live {
    let mut live = live_stack(&small());
    for resource in &mut live.resources {
        if resource
            .address()
            .is_some_and(|found| found.to_string() == address)
        {
            resource.owner = Owner::Foreign;
        }
    }
    live
}

fn id_of(live: &Live, name: &str) -> String {
    let mut resources = live.resources.iter();
    let found = resources.find(|resource| resource.id.name() == name);
    found.expect("a resource").id.to_string()
}

fn adopting(live: &Live, address: &str, id: &str) -> Planned {
    let mut options = options();
    let address: Address = address.parse().expect("an address");
    options
        .permissions
        .adopt
        .insert(address, id.parse().expect("an id"));
    planned_with(&small(), Catalog::embedded(), live, &options)
}

#[test]
fn what_stands_in_the_way_and_is_nobodys_becomes_the_stacks() {
    for (address, name) in [
        ("network.vnet", "demo-vnet"),
        ("pool.train[0].vm", "demo-train-0"),
        ("resource_group", "rg-demo"),
    ] {
        let live = without_owner(address);
        let planned = adopting(&live, address, &id_of(&live, name));
        assert!(
            !planned.diagnostics.has_errors(),
            "{:?}",
            planned.diagnostics
        );
        let plan = planned.plan.expect("a plan");
        assert_eq!(plan.breaches(), Vec::<String>::new());
        assert_eq!(actions(&plan), [(address.to_owned(), Action::Update)]);
        let step = plan.changes().next().expect("a change");
        assert_eq!(step.operations, [Operation::Adopt]);
        assert_eq!(step.reason.code, ReasonCode::Adopted);
    }
}

#[test]
fn without_the_wish_it_stays_a_refusal_that_says_how() {
    let live = without_owner("network.vnet");
    let planned = planned_with(&small(), Catalog::embedded(), &live, &options());
    let finding = planned
        .diagnostics
        .iter()
        .find(|finding| finding.code.as_str() == "OWN001")
        .expect("refused");
    let id = id_of(&live, "demo-vnet");
    let help = finding.help.join("\n");
    assert!(
        help.contains(&format!("--adopt network.vnet={id}")),
        "{help}"
    );
}

#[test]
fn what_differs_is_changed_after_it_was_taken_over() {
    let mut live = without_owner("network.nat");
    for resource in &mut live.resources {
        if let Some(model::resource::Properties::NatGateway(nat)) = resource
            .resource
            .as_mut()
            .map(|resource| &mut resource.properties)
        {
            nat.idle_timeout_minutes = 30;
        }
    }
    let planned = adopting(&live, "network.nat", &id_of(&live, "demo-nat"));
    let plan = planned.plan.expect("a plan");
    let step = plan.changes().next().expect("a change");
    let patch = Operation::Patch {
        attributes: vec!["idle_timeout_minutes".to_owned()],
    };
    assert_eq!(step.operations, [Operation::Adopt, patch]);
}

#[test]
fn everything_else_is_refused_and_says_why() {
    let check = |live: &Live, address: &str, id: &str, why: &str| {
        let planned = adopting(live, address, id);
        let finding = planned
            .diagnostics
            .iter()
            .find(|finding| finding.code.as_str() == "OWN005");
        let finding =
            finding.unwrap_or_else(|| panic!("{address}: {:?}", codes(&planned.diagnostics)));
        assert!(finding.message.ends_with(why), "{}", finding.message);
    };
    let live = without_owner("network.vnet");
    let vnet = id_of(&live, "demo-vnet");
    check(
        &live,
        "network.vent",
        &vnet,
        "the spec has no such resource",
    );
    let other = vnet.replace("demo-vnet", "other");
    check(&live, "network.vnet", &other, "a resource keeps its id");
    let mut gone = live.clone();
    gone.resources
        .retain(|resource| resource.id.name() != "demo-vnet");
    check(&gone, "network.vnet", &vnet, "nothing is there");
    let mut theirs = live;
    for resource in &mut theirs.resources {
        if resource.id.name() == "demo-vnet" {
            resource.tags.set(tags::STACK, "other");
        }
    }
    check(
        &theirs,
        "network.vnet",
        &vnet,
        "it belongs to the stack `other`",
    );
    let subnet = without_owner("network.subnet");
    let id = id_of(&subnet, "nodes");
    check(
        &subnet,
        "network.subnet",
        &id,
        "it goes with the resource around it",
    );
}
