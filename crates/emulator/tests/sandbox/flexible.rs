//! Flexible scale sets: their instances are ordinary VMs.

use serde_json::{Value, json};

use crate::{
    rig::{Reply, Rig, compute, everywhere, id, machine, set, vm},
    scale_sets::{scale_set, uniform, usage},
};

/// The body of a Flexible set.
pub(crate) fn flexible(size: &str, subnet: &str, capacity: u64) -> Value {
    let mut body = uniform(size, subnet, capacity);
    let profile = body.pointer("/properties/virtualMachineProfile").cloned();
    set(
        &mut body,
        "/properties",
        json!({
            "orchestrationMode": "Flexible",
            "platformFaultDomainCount": 1,
            "virtualMachineProfile": profile,
        }),
    );
    set(
        &mut body,
        "/properties/virtualMachineProfile/networkProfile/networkApiVersion",
        json!("2020-11-01"),
    );
    body
}

async fn machines(rig: &Rig) -> Reply {
    let id = id(&scale_set("pool")).replace('/', "%2f");
    let path = everywhere(
        "Microsoft.Compute",
        &format!("virtualMachines?$filter=%27virtualMachineScaleSet%2fid%27%20eq%20%27{id}%27"),
        "2024-07-01",
    );
    rig.get(&path).await.expect(200)
}

fn names(reply: &Reply) -> Vec<String> {
    reply
        .items()
        .iter()
        .filter_map(|one| one.get("name")?.as_str().map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn instances_are_vms_that_name_their_set() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let body = flexible("Standard_D4s_v5", &subnet, 2);
    let reply = rig.put(&scale_set("pool"), body).await.expect(201);
    assert_eq!(
        reply.body.pointer("/properties/singlePlacementGroup"),
        Some(&json!(false))
    );
    assert_eq!(reply.body.pointer("/properties/overprovision"), None);
    let all = machines(&rig).await;
    assert_eq!(all.items().len(), 2);
    rig.pass(48);
    for name in names(&all) {
        assert!(name.starts_with("pool_") && name.len() == 13, "{name}");
        let shown = rig.get(&vm(&name)).await.expect(200);
        assert_eq!(shown.text("/properties/provisioningState"), "Succeeded");
        assert_eq!(
            shown.text("/properties/virtualMachineScaleSet/id"),
            id(&scale_set("pool"))
        );
        let computer = shown.text("/properties/osProfile/computerName");
        assert!(
            computer.starts_with("node") && computer.len() == 10,
            "{computer}"
        );
    }
    assert_eq!(usage(&rig, "cores").await, 8);
    assert_eq!(usage(&rig, "virtualMachines").await, 2);
    let listed = rig
        .get(&scale_set("pool/virtualMachines"))
        .await
        .expect(200);
    assert_eq!(names(&listed), names(&all));
}

#[tokio::test]
async fn capacity_follows_and_is_followed() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let body = flexible("Standard_D4s_v5", &subnet, 1);
    rig.put(&scale_set("pool"), body).await.expect(201);
    rig.pass(48);
    let first = names(&machines(&rig).await);
    let body = json!({"sku": {"name": "Standard_D4s_v5", "capacity": 3}});
    rig.patch(&scale_set("pool"), body).await.expect(200);
    rig.pass(24);
    let three = names(&machines(&rig).await);
    assert_eq!(three.len(), 3);
    let name = first.first().expect("a VM");
    rig.delete(&vm(name)).await.expect(202);
    rig.pass(27);
    let shown = rig.get(&scale_set("pool")).await.expect(200);
    assert_eq!(shown.body.pointer("/sku/capacity"), Some(&json!(2)));
    rig.patch(&scale_set("pool"), json!({"tags": {"a": "b"}}))
        .await
        .expect(200);
    assert_eq!(machines(&rig).await.items().len(), 2);
    // A VM can be made in a set, too.
    let mut body = machine("Standard_D4s_v5", &subnet);
    set(
        &mut body,
        "/properties/virtualMachineScaleSet",
        json!({"id": id(&scale_set("pool"))}),
    );
    rig.put(&vm("guest"), body).await.expect(201);
    rig.pass(8);
    let shown = rig.get(&scale_set("pool")).await.expect(200);
    assert_eq!(shown.body.pointer("/sku/capacity"), Some(&json!(3)));
    rig.delete(&scale_set("pool")).await.expect(202);
    rig.pass(3);
    rig.get(&scale_set("pool")).await.expect(404);
    rig.get(&vm("guest")).await.expect(404);
    assert_eq!(usage(&rig, "cores").await, 0);
    let nics = everywhere("Microsoft.Network", "networkInterfaces", "2024-03-01");
    assert!(rig.get(&nics).await.expect(200).items().is_empty());
}

#[tokio::test]
async fn actions_reach_vms_by_their_names() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let body = flexible("Standard_D4s_v5", &subnet, 2);
    rig.put(&scale_set("pool"), body).await.expect(201);
    rig.pass(48);
    let all = names(&machines(&rig).await);
    let [first, second] = all.as_slice() else {
        panic!("two VMs: {all:?}");
    };
    let body = json!({"instanceIds": [first]});
    rig.send("POST", &scale_set("pool/deallocate"), Some(body))
        .await
        .expect(202);
    rig.pass(35);
    let power = |name: &str| compute(&format!("virtualMachines/{name}/instanceView"));
    let view = rig.get(&power(first)).await.expect(200);
    assert_eq!(view.text("/statuses/1/code"), "PowerState/deallocated");
    let view = rig.get(&power(second)).await.expect(200);
    assert_eq!(view.text("/statuses/1/code"), "PowerState/running");
    let body = json!({"instanceIds": [second]});
    rig.send("POST", &scale_set("pool/delete"), Some(body))
        .await
        .expect(202);
    rig.pass(24);
    assert_eq!(names(&machines(&rig).await), [first.as_str()]);
    let body = json!({"instanceIds": ["nobody"]});
    let reply = rig.send("POST", &scale_set("pool/start"), Some(body)).await;
    assert_eq!(reply.expect(400).text("/error/target"), "instanceIds");
}

#[tokio::test]
async fn priorities_are_mixed_as_asked() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let mut body = flexible("Standard_D4s_v5", &subnet, 6);
    set(
        &mut body,
        "/properties/virtualMachineProfile/priority",
        json!("Spot"),
    );
    set(
        &mut body,
        "/properties/priorityMixPolicy",
        json!({"baseRegularPriorityCount": 2, "regularPriorityPercentageAboveBase": 25}),
    );
    rig.put(&scale_set("pool"), body).await.expect(201);
    // Two at first, and one of the four above.
    assert_eq!(usage(&rig, "cores").await, 12);
    assert_eq!(usage(&rig, "lowPriorityCores").await, 12);
}

#[tokio::test]
async fn a_set_without_a_profile_is_a_place_for_vms() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let mut body = json!({"location": "eastus", "properties": {"orchestrationMode": "Flexible"}});
    let reply = rig.put(&scale_set("pool"), body.clone()).await.expect(400);
    assert_eq!(reply.text("/error/target"), "platformFaultDomainCount");
    set(&mut body, "/properties/platformFaultDomainCount", json!(1));
    rig.put(&scale_set("pool"), body).await.expect(201);
    rig.pass(48);
    let mut guest = machine("Standard_D4s_v5", &subnet);
    let place = "/properties/virtualMachineScaleSet";
    set(&mut guest, place, json!({"id": id(&scale_set("pool"))}));
    rig.put(&vm("guest"), guest.clone()).await.expect(201);
    assert_eq!(names(&machines(&rig).await), ["guest"]);
    rig.put(
        &scale_set("uniform"),
        uniform("Standard_D4s_v5", &subnet, 1),
    )
    .await
    .expect(201);
    set(&mut guest, place, json!({"id": id(&scale_set("uniform"))}));
    let reply = rig.put(&vm("other"), guest).await.expect(400);
    assert_eq!(reply.text("/error/target"), "virtualMachineScaleSet");
}
