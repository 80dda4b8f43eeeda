//! Quota, sizes, restrictions and images.

use serde_json::{Value, json};

use crate::rig::{Reply, Rig, SUBSCRIPTION, compute, everywhere, machine, set, vm};

fn usages() -> String {
    everywhere("Microsoft.Compute", "locations/eastus/usages", "2024-07-01")
}

fn usage(reply: &Reply, name: &str) -> Option<(u64, u64)> {
    let item = reply
        .items()
        .iter()
        .find(|item| item.pointer("/name/value").and_then(Value::as_str) == Some(name))?;
    Some((
        item.get("currentValue")?.as_u64()?,
        item.get("limit")?.as_u64()?,
    ))
}

async fn grant(rig: &Rig, limits: Value) {
    rig.put(&format!("/sandbox/quota/{SUBSCRIPTION}/eastus"), limits)
        .await
        .expect(204);
}

fn quota_message(title: &str, limit: u64, used: u64, more: u64) -> String {
    format!(
        "Operation could not be completed as it results in exceeding approved {title} quota. \
         Additional details - Deployment Model: Resource Manager, Location: eastus, Current \
         Limit: {limit}, Current Usage: {used}, Additional Required: {more}, (Minimum) New Limit \
         Required: {}.",
        used + more
    )
}

#[tokio::test]
async fn quota_is_used_refused_and_given_back() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let family = "standardDSv5Family";
    rig.vm("vm1", &subnet).await;
    let before = rig.get(&usages()).await.expect(200);
    assert_eq!(usage(&before, family).map(|(used, _)| used), Some(4));
    assert_eq!(usage(&before, "cores").map(|(used, _)| used), Some(4));
    assert_eq!(usage(&before, "virtualMachines"), Some((1, 25_000)));
    grant(&rig, json!({family: 10, "cores": 100})).await;
    rig.vm("vm2", &subnet).await;
    let refused = rig
        .put(&vm("vm3"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(409);
    assert_eq!(refused.code(), "OperationNotAllowed");
    let expected = quota_message(&format!("{family} Cores"), 10, 8, 4);
    let message = refused.text("/error/message");
    assert!(message.starts_with(&expected), "{message}");
    assert!(
        message.contains("https://aka.ms/ProdportalCRP/"),
        "{message}"
    );
    grant(&rig, json!({family: 100, "cores": 9})).await;
    let refused = rig
        .put(&vm("vm3"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(409);
    let expected = quota_message("Total Regional Cores", 9, 8, 4);
    assert!(
        refused.text("/error/message").starts_with(&expected),
        "{}",
        refused.body
    );
    // A deallocated VM goes on to use its quota, and a deleted one does not.
    rig.post(&compute("virtualMachines/vm1/deallocate"))
        .await
        .expect(202);
    rig.pass(24);
    assert_eq!(usage(&rig.get(&usages()).await, "cores"), Some((8, 9)));
    let larger = json!({"properties": {"hardwareProfile": {"vmSize": "Standard_D8s_v5"}}});
    let refused = rig.patch(&vm("vm1"), larger).await.expect(409);
    let expected = quota_message("Total Regional Cores", 9, 8, 4);
    assert!(
        refused.text("/error/message").starts_with(&expected),
        "{}",
        refused.body
    );
    rig.delete(&vm("vm1")).await.expect(202);
    rig.pass(27);
    assert_eq!(usage(&rig.get(&usages()).await, "cores"), Some((4, 9)));
}

#[tokio::test]
async fn spot_has_a_quota_of_its_own() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    grant(&rig, json!({"lowPriorityCores": 3, "cores": 0})).await;
    let mut body = machine("Standard_D4s_v5", &subnet);
    set(&mut body, "/properties/priority", json!("Spot"));
    let refused = rig.put(&vm("vm1"), body).await.expect(409);
    let expected = quota_message("LowPriorityCores", 3, 0, 4);
    assert!(
        refused.text("/error/message").starts_with(&expected),
        "{}",
        refused.body
    );
}

/// Tries to make a VM of this size in these zones.
async fn try_size(rig: &Rig, subnet: &str, name: &str, zones: &[&str]) -> Reply {
    let mut body = machine(name, subnet);
    if !zones.is_empty() {
        set(&mut body, "/zones", json!(zones));
    }
    rig.put(&vm("vm1"), body).await
}

#[tokio::test]
async fn sizes_and_zones_must_be_known() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let unknown = try_size(&rig, &subnet, "Standard_D4s_v55", &[]).await;
    let unknown = unknown.expect(400);
    assert_eq!(unknown.code(), "InvalidParameter");
    let message = unknown.text("/error/message");
    let start = "The value Standard_D4s_v55 provided for the VM size is not valid.";
    assert!(message.starts_with(start), "{message}");
    for (zones, code) in [
        (&["9"][..], "InvalidAvailabilityZone"),
        (&["1", "2"], "InvalidParameter"),
    ] {
        let refused = try_size(&rig, &subnet, "Standard_D4s_v5", zones).await;
        assert_eq!(refused.expect(400).code(), code);
    }
}

#[tokio::test]
async fn sizes_can_be_restricted_for_a_subscription() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let restrictions = format!("/sandbox/restrictions/{SUBSCRIPTION}/eastus");
    let list = json!([{"size": "Standard_D4s_v5", "zones": ["1"]}, {"size": "Standard_D8s_v5"}]);
    rig.put(&restrictions, list).await.expect(204);
    let zonal = try_size(&rig, &subnet, "Standard_D4s_v5", &["1"]).await;
    let zonal = zonal.expect(409);
    assert_eq!(zonal.code(), "SkuNotAvailable");
    let message = zonal.text("/error/message");
    assert!(message.contains("zones '1'"), "{message}");
    let whole = try_size(&rig, &subnet, "Standard_D8s_v5", &[]).await;
    let whole = whole.expect(409);
    let message = whole.text("/error/message");
    let part = "Capacity Restrictions: Standard_D8s_v5";
    assert!(message.contains(part), "{message}");
    let filter = "skus?$filter=location%20eq%20'eastus'";
    let skus = everywhere("Microsoft.Compute", filter, "2021-07-01");
    let skus = rig.get(&skus).await.expect(200);
    let sku = |name: &str| {
        let named = |sku: &&Value| sku.get("name") == Some(&json!(name));
        skus.items().iter().find(named).cloned().unwrap_or_default()
    };
    for (name, place, value) in [
        ("Standard_D8s_v5", "/restrictions/0/type", json!("Location")),
        (
            "Standard_D4s_v5",
            "/restrictions/0/restrictionInfo/zones",
            json!(["1"]),
        ),
        (
            "Standard_D4s_v5",
            "/restrictions/0/reasonCode",
            json!("NotAvailableForSubscription"),
        ),
        ("Standard_D4s_v5", "/family", json!("standardDSv5Family")),
        ("Standard_D16s_v5", "/restrictions", json!([])),
    ] {
        assert_eq!(sku(name).pointer(place), Some(&value), "{name} {place}");
    }
    rig.put(&restrictions, json!([])).await.expect(204);
    let made = try_size(&rig, &subnet, "Standard_D4s_v5", &["1"]).await;
    made.expect(201);
}

#[tokio::test]
async fn images_must_exist_and_boot_on_the_size() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let place = "/properties/storageProfile/imageReference";
    let image = |offer: &str, sku: &str, version: &str| json!({"publisher": "microsoft-dsvm", "offer": offer, "sku": sku, "version": version});
    let arm = json!({
        "publisher": "Canonical", "offer": "ubuntu-24_04-lts", "sku": "server-arm64", "version": "latest",
    });
    let cases = [
        (
            "Standard_D4s_v5",
            image("ubuntu-hpc", "9999", "latest"),
            404,
            "PlatformImageNotFound",
            "'microsoft-dsvm:ubuntu-hpc:9999:latest' is not available",
        ),
        (
            "Standard_D4s_v5",
            image("ubuntu-hpc", "2204", "1.2.3"),
            404,
            "PlatformImageNotFound",
            ":2204:1.2.3'",
        ),
        (
            "Standard_NC24ads_A100_v4",
            image("ubuntu-2204", "2204", "latest"),
            400,
            "BadRequest",
            "cannot boot Hypervisor Generation '1'",
        ),
        (
            "Standard_D4s_v5",
            arm,
            400,
            "BadRequest",
            "only supports a CPU Architecture of 'x64'",
        ),
    ];
    for (size, reference, status, code, part) in cases {
        let mut body = machine(size, &subnet);
        set(&mut body, place, reference);
        let refused = rig.put(&vm("vm1"), body).await.expect(status);
        assert_eq!(refused.code(), code);
        assert!(
            refused.text("/error/message").contains(part),
            "{}",
            refused.body
        );
    }
}

#[tokio::test]
async fn disks_and_plans_must_fit_the_image() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let mut small = machine("Standard_D4s_v5", &subnet);
    set(
        &mut small,
        "/properties/storageProfile/osDisk/diskSizeGB",
        json!(16),
    );
    let refused = rig.put(&vm("vm1"), small).await.expect(409);
    assert_eq!(refused.text("/error/target"), "osDisk.diskSizeGB");
    let mut planned = machine("Standard_D4s_v5", &subnet);
    planned.as_object_mut().expect("an object").insert(
        "plan".to_owned(),
        json!({"name": "a", "publisher": "b", "product": "c"}),
    );
    let refused = rig.put(&vm("vm1"), planned).await.expect(400);
    assert_eq!(refused.code(), "VMMarketplaceInvalidInput");
}

#[tokio::test]
async fn operating_systems_need_a_way_in() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let keys = "/properties/osProfile/linuxConfiguration/ssh/publicKeys";
    for (place, value, target) in [
        (
            "/properties/osProfile/adminUsername",
            json!("admin"),
            "adminUsername",
        ),
        (
            "/properties/osProfile/computerName",
            json!("x".repeat(65)),
            "computerName",
        ),
        (
            "/properties/osProfile/customData",
            json!("not base64!"),
            "customData",
        ),
        (
            keys,
            json!([{"path": "/home/azureuser/.ssh/authorized_keys", "keyData": "none"}]),
            "linuxConfiguration.ssh.publicKeys.keyData",
        ),
        (keys, json!([]), "linuxConfiguration.ssh.publicKeys"),
    ] {
        let mut body = machine("Standard_D4s_v5", &subnet);
        set(&mut body, place, value);
        let refused = rig.put(&vm("vm1"), body).await.expect(400);
        assert_eq!(
            (refused.code(), refused.text("/error/target")),
            ("InvalidParameter", target)
        );
    }
    let left = format!("/subscriptions/{SUBSCRIPTION}/resources?api-version=2021-04-01");
    let left = rig.get(&left).await.expect(200);
    assert_eq!(
        left.items().len(),
        1,
        "a refused VM leaves no interface and no disk behind"
    );
}
