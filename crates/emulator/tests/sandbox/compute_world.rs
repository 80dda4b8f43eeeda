//! A world with everything that stands around VMs.

use serde_json::{Value, json};
use tensorform_emulator::Options;

use crate::{
    replay::image_of_first_generation,
    rig::{Rig, compute, machine, set, vm},
    scale_sets::{scale_set, uniform},
};

/// A set like those that the Azure CLI made for the recordings: of the first generation.
pub(crate) fn recorded_set(subnet: &str, capacity: u64) -> Value {
    let mut body = uniform("Standard_DS1_v2", subnet, capacity);
    set(&mut body, "/tags", json!({}));
    set(&mut body, "/properties/overprovision", json!(true));
    set(
        &mut body,
        "/properties/virtualMachineProfile/storageProfile/imageReference",
        image_of_first_generation(),
    );
    body
}

pub(crate) fn flexible_set(subnet: &str) -> Value {
    let mut body = uniform("Standard_DS1_v2", subnet, 2);
    let profile = body.pointer("/properties/virtualMachineProfile").cloned();
    set(
        &mut body,
        "/properties",
        json!({
            "orchestrationMode": "Flexible", "platformFaultDomainCount": 1,
            "virtualMachineProfile": profile,
            "priorityMixPolicy": {
                "baseRegularPriorityCount": 2, "regularPriorityPercentageAboveBase": 25,
            },
        }),
    );
    let profile = "/properties/virtualMachineProfile";
    set(
        &mut body,
        &format!("{profile}/networkProfile/networkApiVersion"),
        json!("2020-11-01"),
    );
    set(&mut body, &format!("{profile}/priority"), json!("Spot"));
    body
}

/// The scale sets that samples ask about.
fn sets(subnet: &str) -> [(String, Value); 6] {
    let mut with_data = recorded_set(subnet, 1);
    let profile = "/properties/virtualMachineProfile";
    set(
        &mut with_data,
        &format!("{profile}/storageProfile/dataDisks"),
        json!([{"lun": 0, "createOption": "Empty", "diskSizeGB": 1}]),
    );
    let mut with_user_data = recorded_set(subnet, 2);
    set(
        &mut with_user_data,
        &format!("{profile}/userData"),
        json!("dXNlcg=="),
    );
    let mut spot = recorded_set(subnet, 1);
    set(&mut spot, &format!("{profile}/priority"), json!("Spot"));
    let mut plain = flexible_set(subnet);
    let properties = plain.get_mut("properties").and_then(Value::as_object_mut);
    properties.expect("properties").remove("priorityMixPolicy");
    let shown = plain.pointer_mut(profile).and_then(Value::as_object_mut);
    shown.expect("a profile").remove("priority");
    [
        (scale_set("pool"), recorded_set(subnet, 5)),
        (scale_set("data"), with_data),
        (scale_set("user"), with_user_data),
        (scale_set("spot"), spot),
        (scale_set("plain"), plain),
        (scale_set("flex"), flexible_set(subnet)),
    ]
}

/// Makes everything that samples ask about.
pub(crate) async fn world() -> (Rig, String) {
    // Without updates whose operation header is left out now and then.
    let rig = Rig::with(|options| Options {
        quirks: false,
        ..options
    })
    .await;
    let subnet = rig.ground().await;
    let mut kept = machine("Standard_D4s_v5", &subnet);
    set(
        &mut kept,
        "/properties/diagnosticsProfile",
        json!({"bootDiagnostics": {"enabled": true}}),
    );
    for (path, body) in [
        (vm("kept"), kept),
        (vm("golden"), machine("Standard_D4s_v5", &subnet)),
        (
            compute("proximityPlacementGroups/near"),
            json!({
                "location": "eastus", "zones": ["2"], "tags": {"tag": "test"},
                "properties": {"intent": {"vmSizes": ["Standard_E64s_v4"]}},
            }),
        ),
        (
            compute("proximityPlacementGroups/plain"),
            json!({"location": "eastus", "tags": {}}),
        ),
    ]
    .into_iter()
    .chain(sets(&subnet))
    {
        let reply = rig.put(&path, body).await;
        assert!([200, 201].contains(&reply.status), "{path} {}", reply.body);
        rig.pass(48);
    }
    rig.post(&compute("virtualMachines/golden/deallocate"))
        .await
        .expect(202);
    rig.post(&scale_set("spot/virtualMachines/0/simulateEviction"))
        .await
        .expect(204);
    rig.pass(100);
    (rig, subnet)
}
