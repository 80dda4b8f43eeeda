//! Disk controllers, and OS disks on the node.

use serde_json::{Value, json};

use crate::rig::{Rig, compute, disk, everywhere, machine, set, vm};

const CONTROLLER: &str = "/properties/storageProfile/diskControllerType";

fn ephemeral(size: &str, subnet: &str, placement: Option<&str>, gib: u64) -> Value {
    let mut body = machine(size, subnet);
    let settings = match placement {
        Some(placement) => json!({"option": "Local", "placement": placement}),
        None => json!({"option": "Local"}),
    };
    let place = "/properties/storageProfile/osDisk";
    set(&mut body, &format!("{place}/diffDiskSettings"), settings);
    set(&mut body, &format!("{place}/caching"), json!("ReadOnly"));
    set(&mut body, &format!("{place}/diskSizeGB"), json!(gib));
    body
}

#[tokio::test]
async fn an_os_disk_on_the_node_needs_a_place_with_room() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let check = async |body: Value, refusal: Option<&str>| {
        let reply = rig.put(&vm("e"), body).await;
        match refusal {
            Some(words) => {
                let reply = reply.expect(409);
                assert_eq!(reply.code(), "NotSupported");
                let message = reply.text("/error/message");
                assert!(message.contains(words), "{message}");
            }
            None => {
                reply.expect(201);
            }
        }
    };
    check(
        ephemeral("Standard_D8ds_v6", &subnet, Some("CacheDisk"), 128),
        Some("not allowed for VM size Standard_D8ds_v6 when the DiffDiskPlacement is CacheDisk"),
    )
    .await;
    check(
        ephemeral("Standard_D4ds_v5", &subnet, Some("CacheDisk"), 101),
        Some(
            "size greater than 100 GB is not allowed for VM size Standard_D4ds_v5 when the DiffDiskPlacement is CacheDisk",
        ),
    )
    .await;
    let mut trusted = ephemeral("Standard_D4ds_v5", &subnet, Some("ResourceDisk"), 150);
    set(
        &mut trusted,
        "/properties/securityProfile",
        json!({"securityType": "TrustedLaunch",
            "uefiSettings": {"secureBootEnabled": false, "vTpmEnabled": true}}),
    );
    check(trusted, Some("size greater than 149 GB")).await;
    let mut spot = ephemeral("Standard_D8ds_v6", &subnet, None, 128);
    set(&mut spot, "/properties/priority", json!("Spot"));
    set(&mut spot, "/properties/evictionPolicy", json!("Deallocate"));
    check(spot, Some("Eviction policy Deallocate")).await;
    check(ephemeral("Standard_D8ds_v6", &subnet, None, 128), None).await;
    rig.pass(60);
    let made = rig.get(&vm("e")).await.expect(200);
    let place = "/properties/storageProfile/osDisk/diffDiskSettings/placement";
    assert_eq!(made.text(place), "NvmeDisk");
    let name = made.text("/properties/storageProfile/osDisk/name");
    rig.get(&disk(name)).await.expect(404);
    let stopped = rig.post(&compute("virtualMachines/e/deallocate")).await;
    assert_eq!(stopped.expect(409).code(), "OperationNotAllowed");
}

#[tokio::test]
async fn a_disk_controller_is_one_that_the_size_has() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let with = |size: &str, controller: &str| {
        let mut body = machine(size, &subnet);
        set(&mut body, CONTROLLER, json!(controller));
        body
    };
    for (size, controller) in [("Standard_D4s_v5", "NVMe"), ("Standard_D4s_v6", "SCSI")] {
        let reply = rig.put(&vm("c"), with(size, controller)).await.expect(400);
        let message = reply.text("/error/message");
        assert!(
            message.contains("disk controller types supported by the OS image"),
            "{message}"
        );
    }
    rig.put(&vm("c"), machine("Standard_D4s_v6", &subnet))
        .await
        .expect(201);
    rig.pass(60);
    let made = rig.get(&vm("c")).await.expect(200);
    assert_eq!(made.text(CONTROLLER), "NVMe");
}

#[tokio::test]
async fn a_resize_to_another_controller_takes_it_along() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.put(&vm("r"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(201);
    rig.pass(60);
    let size = json!({"properties": {"hardwareProfile": {"vmSize": "Standard_D4s_v6"}}});
    let both = json!({"properties": {
        "hardwareProfile": {"vmSize": "Standard_D4s_v6"},
        "storageProfile": {"diskControllerType": "NVMe"}}});
    let running = json!({"properties": {"storageProfile": {"diskControllerType": "NVMe"}}});
    let reply = rig.patch(&vm("r"), running).await.expect(409);
    assert!(reply.text("/error/message").contains("deallocate"));
    rig.post(&compute("virtualMachines/r/deallocate"))
        .await
        .expect(202);
    rig.pass(60);
    let reply = rig.patch(&vm("r"), size).await.expect(400);
    assert_eq!(reply.text("/error/target"), "vmSize");
    rig.patch(&vm("r"), both).await.expect(200);
    rig.pass(60);
    let shown = rig.get(&vm("r")).await.expect(200);
    assert_eq!(
        (
            shown.text("/properties/hardwareProfile/vmSize"),
            shown.text(CONTROLLER)
        ),
        ("Standard_D4s_v6", "NVMe")
    );
}

#[tokio::test]
async fn lists_of_sizes_say_what_disks_on_the_node_hold() {
    let rig = Rig::new().await;
    let path = everywhere("Microsoft.Compute", "skus", "2021-07-01");
    let reply = rig
        .get(&format!("{path}&$filter=location eq 'eastus'").replace(' ', "%20"))
        .await
        .expect(200);
    let told = |size: &str, capability: &str| {
        let found = reply.items().iter().find(|item| item["name"] == size);
        let capabilities = found.expect(size)["capabilities"]
            .as_array()
            .expect("a list");
        let found = capabilities.iter().find(|one| one["name"] == capability);
        found.map(|one| one["value"].as_str().unwrap_or_default().to_owned())
    };
    let check = |size: &str, capability: &str, expected: Option<&str>| {
        assert_eq!(told(size, capability).as_deref(), expected, "{size}");
    };
    let places = "SupportedEphemeralOSDiskPlacements";
    check("Standard_D128ds_v6", places, Some("NvmeDisk"));
    check("Standard_D128ds_v6", "NvmeDiskSizeInMiB", Some("7208960"));
    check("Standard_D128ds_v6", "DiskControllerTypes", Some("NVMe"));
    check(
        "Standard_D16plds_v5",
        places,
        Some("ResourceDisk,CacheDisk"),
    );
    check(
        "Standard_D16plds_v5",
        "CachedDiskBytes",
        Some("429496729600"),
    );
    check("Standard_D16plds_v5", "MaxResourceVolumeMB", Some("614400"));
    check("Standard_D16plds_v5", "DiskControllerTypes", None);
    check("Standard_D2as_v6", places, None);
}
