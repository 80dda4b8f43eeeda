//! Disks and SSH public keys.

use serde_json::{Value, json};

use crate::rig::{KEY, Rig, compute, disk, id, machine, vm};

fn empty(size: u64) -> Value {
    json!({"location": "eastus", "properties": {
        "creationData": {"createOption": "Empty"}, "diskSizeGB": size,
    }})
}

#[tokio::test]
async fn a_disk_is_made_grown_and_deleted() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let begun = rig.put(&disk("d"), empty(500)).await.expect(202);
    assert_eq!(begun.text("/properties/provisioningState"), "Updating");
    assert_eq!(begun.header("retry-after"), "2");
    let status = begun.header("azure-asyncoperation").to_owned();
    let result = begun.header("location").to_owned();
    assert!(status.contains("/DiskOperations/"), "{status}");
    assert!(result.contains("&monitor=true"), "{result}");
    rig.pass(1);
    let done = rig.follow(&status).await.expect(200);
    assert_eq!(done.text("/status"), "Succeeded");
    assert_eq!(done.text("/properties/output/name"), "d");
    assert_eq!(rig.follow(&result).await.expect(200).body, Value::Null);
    let shown = rig.get(&disk("d")).await.expect(200);
    assert_eq!(shown.text("/properties/diskState"), "Unattached");
    assert_eq!(shown.header("etag"), "", "disks have no etag");
    for size in [0, 70_000] {
        let wrong = rig.put(&disk("e"), empty(size)).await.expect(400);
        assert_eq!(wrong.code(), "InvalidParameter");
    }
    let shrunk = rig.put(&disk("d"), empty(100)).await.expect(400);
    assert_eq!(shrunk.code(), "InvalidParameter");
    let grown = rig
        .patch(&disk("d"), json!({"properties": {"diskSizeGB": 1_000}}))
        .await;
    grown.expect(202);
    rig.pass(1);
    let shown = rig.get(&disk("d")).await;
    assert_eq!(
        shown.body.pointer("/properties/diskSizeGB"),
        Some(&json!(1_000))
    );
    let moved =
        json!({"location": "westus", "properties": {"creationData": {"createOption": "Empty"}}});
    assert_eq!(
        rig.put(&disk("d"), moved).await.expect(409).code(),
        "InvalidResourceLocation"
    );
    rig.delete(&disk("d")).await.expect(202);
    rig.pass(1);
    let gone = rig.get(&disk("d")).await.expect(404);
    assert_eq!(
        (gone.code(), gone.header("x-ms-failure-cause")),
        ("NotFound", "")
    );
    rig.pass(30);
    let gone = rig.get(&disk("d")).await.expect(404);
    assert_eq!(
        (gone.code(), gone.header("x-ms-failure-cause")),
        ("ResourceNotFound", "gateway")
    );
    rig.delete(&disk("d")).await.expect(204);
}

#[tokio::test]
async fn a_data_disk_belongs_to_the_vm_that_attaches_it() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.put(&disk("data"), empty(64)).await.expect(202);
    rig.pass(1);
    let attached = json!([{
        "lun": 0, "createOption": "Attach", "managedDisk": {"id": id(&disk("data"))},
    }]);
    let mut body = machine("Standard_D4s_v5", &subnet);
    *body
        .pointer_mut("/properties/storageProfile")
        .expect("a profile") = json!({
        "imageReference": body.pointer("/properties/storageProfile/imageReference"),
        "osDisk": {"createOption": "FromImage"},
        "dataDisks": attached,
    });
    rig.put(&vm("vm1"), body.clone()).await.expect(201);
    rig.pass(8);
    let shown = rig.get(&disk("data")).await.expect(200);
    assert_eq!(shown.text("/managedBy"), id(&vm("vm1")));
    assert_eq!(shown.text("/properties/diskState"), "Attached");
    let refused = rig.delete(&disk("data")).await.expect(409);
    assert_eq!(refused.code(), "OperationNotAllowed");
    assert!(
        refused.text("/error/message").contains("is attached to VM"),
        "{}",
        refused.body
    );
    let taken = rig.put(&vm("vm2"), body.clone()).await.expect(409);
    assert_eq!(taken.code(), "ConflictingUserInput");
    // A data disk grows while its VM runs.
    rig.patch(&disk("data"), json!({"properties": {"diskSizeGB": 128}}))
        .await
        .expect(202);
    rig.pass(8);
    let grown = rig.get(&disk("data")).await.expect(200);
    assert_eq!(grown.body["properties"]["diskSizeGB"], 128);
    // The same number twice is refused; without the disk the VM lets go of it.
    let twice = json!({"properties": {"storageProfile": {"dataDisks": [
        {"lun": 0, "createOption": "Attach", "managedDisk": {"id": id(&disk("data"))}},
        {"lun": 0, "createOption": "Empty", "diskSizeGB": 8},
    ]}}});
    assert_eq!(
        rig.patch(&vm("vm1"), twice).await.expect(400).code(),
        "InvalidParameter"
    );
    rig.patch(
        &vm("vm1"),
        json!({"properties": {"storageProfile": {"dataDisks": []}}}),
    )
    .await
    .expect(200);
    rig.pass(8);
    assert!(rig.get(&disk("data")).await.body.get("managedBy").is_none());
    rig.delete(&disk("data")).await.expect(202);
}

#[tokio::test]
async fn delete_options_decide_what_goes_with_a_vm() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    for (name, option) in [("keeps", "Detach"), ("takes", "Delete")] {
        let mut body = machine("Standard_D4s_v5", &subnet);
        for place in [
            "/properties/storageProfile/osDisk/deleteOption",
            "/properties/networkProfile/networkInterfaceConfigurations/0/properties/deleteOption",
        ] {
            *body.pointer_mut(place).expect("an option") = json!(option);
        }
        rig.put(&vm(name), body).await.expect(201);
        rig.pass(8);
        let shown = rig.get(&vm(name)).await;
        let nic = shown
            .text("/properties/networkProfile/networkInterfaces/0/id")
            .to_owned();
        let os_disk = shown
            .text("/properties/storageProfile/osDisk/managedDisk/id")
            .to_owned();
        rig.delete(&vm(name)).await.expect(202);
        let deleting = rig.get(&vm(name)).await.expect(200);
        assert_eq!(deleting.text("/properties/provisioningState"), "Deleting");
        rig.pass(27);
        rig.get(&vm(name)).await.expect(404);
        let left = if option == "Detach" { 200 } else { 404 };
        rig.get(&format!("{nic}?api-version=2024-03-01"))
            .await
            .expect(left);
        let found = rig
            .get(&format!("{os_disk}?api-version=2024-03-02"))
            .await
            .expect(left);
        assert!(found.body.get("managedBy").is_none());
    }
}

#[tokio::test]
async fn keys_are_kept_or_made() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let key = compute("sshPublicKeys/k");
    let made = rig
        .put(&key, json!({"location": "eastus", "tags": {"a": "b"}}))
        .await
        .expect(201);
    assert!(
        made.text("/id").contains("/resourceGroups/RG/"),
        "{}",
        made.body
    );
    let wrong = json!({"properties": {"publicKey": "no key"}});
    assert_eq!(
        rig.patch(&key, wrong).await.expect(400).code(),
        "InvalidParameter"
    );
    let generate = compute("sshPublicKeys/k/generateKeyPair");
    let unserved = rig.post(&generate).await.expect(501);
    assert_eq!(unserved.code(), "NotServedBySandbox");
    let pair = rig
        .send(
            "POST",
            &generate,
            Some(json!({"encryptionType": "Ed25519"})),
        )
        .await;
    let pair = pair.expect(200);
    assert!(
        pair.text("/privateKey")
            .starts_with("-----BEGIN OPENSSH PRIVATE KEY-----")
    );
    let kept = rig.get(&key).await.expect(200);
    assert_eq!(kept.text("/properties/publicKey"), pair.text("/publicKey"));
    assert!(kept.body.pointer("/properties/privateKey").is_none());
    rig.patch(&key, json!({"properties": {"publicKey": KEY}}))
        .await
        .expect(200);
    rig.delete(&key).await.expect(200);
    rig.delete(&key).await.expect(204);
}

#[tokio::test]
async fn odd_answers_can_be_switched_off() {
    let rig = Rig::with(|options| tensorform_emulator::Options {
        quirks: false,
        ..options
    })
    .await;
    rig.group("rg").await;
    let key = compute("sshPublicKeys/k");
    let made = rig.put(&key, json!({"location": "eastus"})).await;
    assert_eq!(made.expect(201).text("/id"), id(&key));
}
