//! Others who use what is ours: it stays when the rest goes.

use model::{
    catalog::Catalog,
    diag::Severity,
    ids::ArmId,
    live::Live,
    plan::{Action, Plan},
    spec::{Spec, Stage, Workload},
};
use tensorform_planner::Planned;

use crate::support::{codes, live_stack, options, planned_with, pool, spec};

fn small() -> Spec {
    spec(pool(Stage::Training, Workload::Small))
}

fn jumpbox() -> ArmId {
    let id = "/subscriptions/11111111-1111-1111-1111-111111111111/resourceGroups/rg-theirs/providers/Microsoft.Compute/virtualMachines/jumpbox";
    id.parse().expect("an id")
}

/// The stack, of which somebody uses these.
fn used(addresses: &[&str]) -> Live {
    let mut live = live_stack(&small());
    let ids: Vec<ArmId> = live
        .resources
        .iter()
        .filter(|resource| {
            let address = resource.address().map(ToString::to_string);
            address.is_some_and(|address| addresses.contains(&address.as_str()))
        })
        .map(|resource| resource.id.clone())
        .collect();
    assert_eq!(ids.len(), addresses.len());
    live.strangers = ids.into_iter().map(|id| (id, [jumpbox()].into())).collect();
    live
}

fn destroyed(live: &Live) -> (Plan, Planned) {
    let mut options = options();
    options.destroy = true;
    let planned = planned_with(&small(), Catalog::embedded(), live, &options);
    (planned.plan.clone().expect("a plan"), planned)
}

fn deletes(plan: &Plan) -> Vec<String> {
    plan.steps
        .iter()
        .filter(|step| step.action == Action::Delete)
        .map(|step| step.address.to_string())
        .collect()
}

#[test]
fn a_network_that_others_use_stays_with_what_it_needs() {
    let live = used(&["network.subnet", "network.vnet"]);
    let (plan, planned) = destroyed(&live);
    assert_eq!(deletes(&plan), ["pool.train[0].vm", "access.ssh_key"]);
    assert_eq!(plan.breaches(), Vec::<String>::new());
    let mut findings = planned.diagnostics.iter();
    let finding = findings
        .find(|finding| finding.code.as_str() == "OWN006")
        .expect("a finding");
    assert_eq!(finding.severity, Severity::Warning);
    for word in ["`nodes`", "`demo-vnet`", "jumpbox", "rg-theirs"] {
        assert!(finding.message.contains(word), "{finding:?}");
    }
    assert!(
        plan.cost.after.hourly_micros > model::units::Micros::default(),
        "the gateway that stays goes on costing"
    );
}

#[test]
fn a_security_group_that_others_use_stays_alone() {
    let live = used(&["network.nsg"]);
    let (plan, _) = destroyed(&live);
    let kept: Vec<String> = live
        .resources
        .iter()
        .filter_map(|resource| Some(resource.address()?.to_string()))
        .filter(|address| !deletes(&plan).contains(address))
        .collect();
    assert_eq!(kept, ["resource_group", "network.nsg"]);
}

#[test]
fn what_nobody_else_uses_goes_whole() {
    let (plan, planned) = destroyed(&live_stack(&small()));
    assert_eq!(deletes(&plan).len(), 8);
    assert!(!codes(&planned.diagnostics).contains(&"OWN006"));
}
