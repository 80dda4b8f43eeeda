//! Refusals of deletions because something uses the resource: what is ours goes, what is others'
//! stays.

use model::{
    ids::ArmId,
    plan::{Action, Operation, Outcome, Step},
    resource::{Properties, ResourceKind, Subnet},
};
use serde_json::{Value, json};

use super::{endings, failure, world::*};
use crate::testing::Act;

fn network_id() -> ArmId {
    group().in_group(ResourceKind::VirtualNetwork.arm_type(), "demo-vnet")
}

fn subnet_id() -> ArmId {
    network_id().child("subnets", "nodes")
}

fn interface(name: &str) -> ArmId {
    group().in_group("Microsoft.Network/networkInterfaces", name)
}

/// A world whose subnet is refused to be deleted for as long as this interface is there, for so
/// many times at most.
async fn world_with(interface: ArmId, times: usize) -> World {
    let refusals = std::sync::atomic::AtomicUsize::new(0);
    World::with(move |seen, _| {
        let is_subnet = seen.target.to_lowercase().contains("/subnets/nodes?");
        let refused = || refusals.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        (seen.method == "DELETE" && is_subnet && refused() < times).then(|| {
            let message = format!(
                "Subnet nodes is in use by {interface}/ipConfigurations/primary and cannot be deleted. In order to delete the subnet, delete all the resources within the subnet. See aka.ms/deletesubnet."
            );
            Act::json(
                400,
                &json!({"error": {"code": "InUseSubnetCannotBeDeleted", "message": message}}),
            )
        })
    })
    .await
}

/// Deletes the subnet, with other steps; tells the seconds that passed.
async fn delete_subnet(world: &World, others: Vec<Step>) -> (Outcome, u64) {
    world.put(&network_id(), json!({"location": "eastus"}));
    world.put(
        &subnet_id(),
        json!({"properties": {"addressPrefix": "10.0.0.0/24"}}),
    );
    let subnet = resource(Properties::Subnet(Subnet {
        address_prefix: "10.0.0.0/24".to_owned(),
        default_outbound_access: false,
        network_security_group: None,
        nat_gateway: None,
    }));
    let mut delete = step(
        "network.subnet",
        &subnet_id(),
        Action::Delete,
        vec![Operation::Delete],
        None,
    );
    delete.before = Some(subnet);
    delete.fingerprint = world.fingerprint(ResourceKind::Subnet, &subnet_id()).await;
    let mut steps = vec![delete];
    steps.extend(others);
    let sink = Remember::default();
    let (_, interrupt) = tokio::sync::watch::channel(crate::Interrupt::No);
    let (outcome, clock) = world.apply_with(steps, &sink, interrupt).await;
    (outcome, crate::clock::Clock::now(clock.as_ref()).as_secs())
}

fn of_machine(machine: &ArmId) -> Value {
    json!({"properties": {"virtualMachine": {"id": machine.as_str()}}})
}

#[tokio::test]
async fn what_others_use_is_not_waited_for_and_they_are_named() {
    let world = world_with(interface("theirs-nic"), usize::MAX).await;
    let machine = vm_id("jumpbox");
    world.put(&interface("theirs-nic"), of_machine(&machine));
    world.put(&machine, json!({"tags": {"owner": "somebody"}}));
    let (outcome, seconds) = delete_subnet(&world, Vec::new()).await;
    assert_eq!(endings(&outcome), ["failed"], "{outcome:?}");
    let failed = failure(&outcome);
    assert_eq!(failed.code, "InUseSubnetCannotBeDeleted");
    let help = failed.help.unwrap_or_default();
    assert!(help.contains("`jumpbox`"), "{help}");
    assert_eq!(seconds, 0, "nobody waits for what stays");
    assert_eq!(world.writes(), ["DELETE subnets/nodes"]);
}

#[tokio::test]
async fn an_interface_of_nobodys_machine_is_named_itself() {
    let world = world_with(interface("loose"), usize::MAX).await;
    world.put(&interface("loose"), json!({}));
    let (outcome, _) = delete_subnet(&world, Vec::new()).await;
    let help = failure(&outcome).help.unwrap_or_default();
    assert!(help.contains("`loose`"), "{help}");
}

#[tokio::test]
async fn what_is_ours_and_goes_is_waited_for() {
    // The interface of a node of the plan, which goes with it.
    let world = world_with(interface("demo-p-0-nic"), 2).await;
    world.put(&interface("demo-p-0-nic"), json!({}));
    world.put(&vm_id("demo-p-0"), json!({}));
    let mut node = step(
        "pool.p[0].vm",
        &vm_id("demo-p-0"),
        Action::NoOp,
        Vec::new(),
        None,
    );
    node.before = Some(vm(machine("demo-p-0")));
    let (outcome, seconds) = delete_subnet(&world, vec![node]).await;
    assert_eq!(endings(&outcome), ["done"], "{outcome:?}");
    assert!(seconds > 0);
}

#[tokio::test]
async fn what_is_gone_or_ours_by_its_tags_is_waited_for() {
    for body in [
        None,
        Some(json!({"tags": {"tensorform-stack": "demo"}})),
        Some(of_machine(&vm_id("demo-p-9"))),
    ] {
        let world = world_with(interface("part"), 1).await;
        if let Some(body) = body {
            world.put(&interface("part"), body);
        }
        world.put(
            &vm_id("demo-p-9"),
            json!({"tags": {"tensorform-stack": "demo"}}),
        );
        let (outcome, _) = delete_subnet(&world, Vec::new()).await;
        assert_eq!(endings(&outcome), ["done"], "{outcome:?}");
    }
}
