//! Changing a VM: preconditions, sizes, and what cannot change.

use serde_json::{Value, json};

use crate::rig::{Reply, Rig, compute, disk, id, machine, set, vm};

fn size(name: &str) -> Value {
    json!({"properties": {"hardwareProfile": {"vmSize": name}}})
}

async fn conditional(rig: &Rig, method: &str, header: (&str, &str), body: Option<Value>) -> Reply {
    rig.send_with(method, &vm("vm1"), &[header], body).await
}

#[tokio::test]
async fn etags_guard_writes() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let body = machine("Standard_D4s_v5", &subnet);
    let absent = conditional(&rig, "PUT", ("if-match", "*"), Some(body.clone())).await;
    assert_eq!(absent.expect(412).code(), "PreconditionFailed");
    let new = conditional(&rig, "PUT", ("if-none-match", "*"), Some(body.clone())).await;
    new.expect(201);
    rig.pass(8);
    let there = conditional(&rig, "PUT", ("if-none-match", "*"), Some(body)).await;
    assert_eq!(there.expect(412).code(), "PreconditionFailed");
    let tags = json!({"tags": {"a": "b"}});
    let stale = conditional(&rig, "PATCH", ("if-match", "\"1\""), Some(tags.clone())).await;
    assert_eq!(stale.expect(412).code(), "PreconditionFailed");
    let fresh = conditional(&rig, "PATCH", ("if-match", "\"2\""), Some(tags))
        .await
        .expect(200);
    assert_eq!(fresh.header("etag"), "\"3\"");
    assert_eq!(fresh.text("/properties/provisioningState"), "Updating");
    assert_eq!(fresh.body.get("tags"), Some(&json!({"a": "b"})));
    rig.pass(8);
    let stale = conditional(&rig, "DELETE", ("if-match", "\"2\""), None).await;
    assert_eq!(stale.expect(412).code(), "PreconditionFailed");
    conditional(&rig, "DELETE", ("if-match", "\"3\""), None)
        .await
        .expect(202);
    // Older API versions know no etag.
    let old = vm("vm1").replace("2024-07-01", "2022-03-01");
    assert!(rig.get(&old).await.expect(200).body.get("etag").is_none());
}

#[tokio::test]
async fn a_running_vm_changes_its_size_within_the_family_alone() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("vm1", &subnet).await;
    let larger = rig
        .patch(&vm("vm1"), size("Standard_D8s_v5"))
        .await
        .expect(200);
    assert_eq!(
        larger.text("/properties/hardwareProfile/vmSize"),
        "Standard_D8s_v5"
    );
    rig.pass(8);
    let other = rig
        .patch(&vm("vm1"), size("Standard_E8s_v5"))
        .await
        .expect(409);
    assert_eq!(other.code(), "OperationNotAllowed");
    assert_eq!(other.text("/error/target"), "vmSize");
    let message = other.text("/error/message");
    assert!(
        message.contains("not available in the current hardware cluster"),
        "{message}"
    );
    assert!(message.contains("Standard_D16s_v5"), "{message}");
    rig.post(&compute("virtualMachines/vm1/deallocate"))
        .await
        .expect(202);
    rig.pass(24);
    rig.patch(&vm("vm1"), size("Standard_E8s_v5"))
        .await
        .expect(200);
    rig.pass(8);
    let temporary = rig
        .patch(&vm("vm1"), size("Standard_E8ds_v5"))
        .await
        .expect(409);
    let message = temporary.text("/error/message");
    assert!(
        message.contains("resource disk to non-resource disk"),
        "{message}"
    );
    let sizes = rig
        .get(&compute("virtualMachines/vm1/vmSizes"))
        .await
        .expect(200);
    assert!(
        sizes.items().len() > 100,
        "all sizes of the region while deallocated"
    );
}

#[tokio::test]
async fn what_is_fixed_at_creation_is_refused() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("vm1", &subnet).await;
    let cases = [
        (
            "/properties/osProfile/adminUsername",
            json!("other"),
            "adminUsername",
        ),
        (
            "/properties/osProfile/computerName",
            json!("other"),
            "computerName",
        ),
        (
            "/properties/osProfile/customData",
            json!("AAAA"),
            "customData",
        ),
        (
            "/properties/storageProfile/imageReference/sku",
            json!("2404"),
            "imageReference",
        ),
        (
            "/properties/storageProfile/osDisk/createOption",
            json!("Attach"),
            "osDisk.createOption",
        ),
        ("/properties/priority", json!("Spot"), "priority"),
        (
            "/properties/evictionPolicy",
            json!("Delete"),
            "evictionPolicy",
        ),
        ("/zones", json!(["1"]), "zones"),
    ];
    for (place, value, target) in cases {
        let mut body = machine("Standard_D4s_v5", &subnet);
        set(&mut body, place, value);
        let refused = rig.put(&vm("vm1"), body).await.expect(409);
        assert_eq!(refused.code(), "PropertyChangeNotAllowed", "{place}");
        assert_eq!(refused.text("/error/target"), target);
        let expected = format!("Changing property '{target}' is not allowed.");
        assert_eq!(refused.text("/error/message"), expected);
    }
    let grown = json!({"properties": {"storageProfile": {"osDisk": {"diskSizeGB": 512}}}});
    let refused = rig.patch(&vm("vm1"), grown).await.expect(409);
    assert_eq!(refused.code(), "ResizeDiskError");
    // A running VM keeps its interfaces.
    let refused = rig
        .put(&vm("vm1"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(409);
    assert_eq!(
        refused.code(),
        "AddingOrDeletingNetworkInterfacesOnARunningVirtualMachineNotSupported"
    );
    let unchanged = rig.get(&vm("vm1")).await.expect(200);
    assert_eq!(unchanged.text("/etag"), "\"2\"", "refusals change nothing");
}

#[tokio::test]
async fn a_put_of_what_was_read_is_accepted() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("vm1", &subnet).await;
    let read = rig.get(&vm("vm1")).await.expect(200).body;
    let written = rig.put(&vm("vm1"), read.clone()).await.expect(200);
    assert_eq!(written.text("/properties/provisioningState"), "Updating");
    rig.pass(8);
    let after = rig.get(&vm("vm1")).await.expect(200).body;
    assert_eq!(after.pointer("/properties"), read.pointer("/properties"));
    assert_eq!(after.get("tags"), read.get("tags"));
}

#[tokio::test]
async fn spot_prices_have_rules() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let spot = |price: Value| {
        let mut body = machine("Standard_D4s_v5", &subnet);
        set(&mut body, "/properties/priority", json!("Spot"));
        set(
            &mut body,
            "/properties/billingProfile",
            json!({"maxPrice": price}),
        );
        body
    };
    for price in [json!(0), json!(-2), json!(0.000_01)] {
        let refused = rig.put(&vm("vm1"), spot(price)).await.expect(409);
        assert_eq!(refused.code(), "OperationNotAllowed");
        assert_eq!(refused.text("/error/target"), "billingProfile.maxPrice");
    }
    let mut regular = machine("Standard_D4s_v5", &subnet);
    set(&mut regular, "/properties/evictionPolicy", json!("Delete"));
    let refused = rig.put(&vm("vm1"), regular).await.expect(409);
    assert_eq!(refused.text("/error/target"), "evictionPolicy");
    rig.put(&vm("vm1"), spot(json!(5))).await.expect(201);
    rig.pass(8);
    let price = json!({"properties": {"billingProfile": {"maxPrice": 6}}});
    let refused = rig.patch(&vm("vm1"), price.clone()).await.expect(409);
    assert!(
        refused
            .text("/error/message")
            .contains("currently allocated"),
        "{}",
        refused.body
    );
    rig.post(&compute("virtualMachines/vm1/deallocate"))
        .await
        .expect(202);
    rig.pass(24);
    let changed = rig.patch(&vm("vm1"), price).await.expect(200);
    assert_eq!(
        changed.body.pointer("/properties/billingProfile/maxPrice"),
        Some(&json!(6))
    );
}

#[tokio::test]
async fn a_vm_shows_the_size_that_its_disk_has() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let mut body = machine("Standard_D4s_v5", &subnet);
    let name = "/properties/storageProfile/osDisk/name";
    set(&mut body, name, json!("system"));
    rig.put(&vm("vm1"), body).await.expect(201);
    rig.pass(8);
    let grown = json!({"properties": {"diskSizeGB": 512}});
    let refused = rig.patch(&disk("system"), grown.clone()).await;
    assert_eq!(refused.expect(409).code(), "Conflict");
    rig.post(&compute("virtualMachines/vm1/deallocate"))
        .await
        .expect(202);
    rig.pass(24);
    rig.patch(&disk("system"), grown).await.expect(202);
    rig.pass(1);
    rig.post(&compute("virtualMachines/vm1/start"))
        .await
        .expect(202);
    rig.pass(11);
    let size = "/properties/storageProfile/osDisk/diskSizeGB";
    let shown = rig.get(&vm("vm1")).await.expect(200);
    assert_eq!(shown.body.pointer(size), Some(&json!(512)));
}

#[tokio::test]
async fn a_vm_starts_from_an_existing_disk() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let mut body = machine("Standard_D4s_v5", &subnet);
    set(
        &mut body,
        "/properties/storageProfile/osDisk/deleteOption",
        json!("Detach"),
    );
    set(
        &mut body,
        "/properties/storageProfile/osDisk/name",
        json!("system"),
    );
    rig.put(&vm("first"), body).await.expect(201);
    rig.pass(8);
    rig.delete(&vm("first")).await.expect(202);
    rig.pass(27);
    let mut body = machine("Standard_D4s_v5", &subnet);
    set(
        &mut body,
        "/properties/storageProfile",
        json!({"osDisk": {
            "createOption": "Attach", "osType": "Linux", "managedDisk": {"id": id(&disk("system"))},
        }}),
    );
    let properties = body.get_mut("properties").and_then(Value::as_object_mut);
    properties.expect("properties").remove("osProfile");
    rig.put(&vm("second"), body).await.expect(201);
    rig.pass(8);
    let shown = rig.get(&disk("system")).await.expect(200);
    assert_eq!(shown.text("/managedBy"), id(&vm("second")));
    let refused = rig.delete(&disk("system")).await.expect(409);
    assert_eq!(refused.code(), "OperationNotAllowed");
}
