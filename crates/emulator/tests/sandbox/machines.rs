//! Virtual machines.

use serde_json::json;

use crate::rig::{Rig, id, machine, network, vm};

#[tokio::test]
async fn a_vm_is_made_by_time_and_brings_its_parts_along() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let reply = rig
        .put(&vm("vm1"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(201);
    println!("{:#}", reply.body);
    assert_eq!(reply.text("/properties/provisioningState"), "Creating");
    assert_eq!(reply.header("retry-after"), "10");
    let operation = reply.header("azure-asyncoperation").to_owned();
    assert_eq!(rig.follow(&operation).await.text("/status"), "InProgress");
    rig.pass(8);
    assert_eq!(rig.follow(&operation).await.text("/status"), "Succeeded");
    let made = rig.get(&vm("vm1")).await.expect(200);
    println!("{:#}", made.body);
    let nic = made.text("/properties/networkProfile/networkInterfaces/0/id");
    let nic = rig
        .get(&format!("{nic}?api-version=2024-03-01"))
        .await
        .expect(200);
    println!("{:#}", nic.body);
    let disk = made.text("/properties/storageProfile/osDisk/managedDisk/id");
    let disk = rig
        .get(&format!("{disk}?api-version=2024-03-02"))
        .await
        .expect(200);
    println!("{:#}", disk.body);
    assert_eq!(disk.body.get("tags"), Some(&json!({"team": "ml"})));
    let _ = (id, network);
}
