//! Snapshots, managed images, galleries, extensions and commands of VMs.

use serde_json::{Value, json};

use crate::rig::{Reply, Rig, compute, disk, id, machine, set, vm};

fn gallery(rest: &str) -> String {
    compute(rest).replace("2024-07-01", "2023-07-03")
}

fn snapshot(name: &str) -> String {
    compute(&format!("snapshots/{name}")).replace("2024-07-01", "2024-03-02")
}

async fn generalized(rig: &Rig, name: &str, subnet: &str) {
    rig.vm(name, subnet).await;
    rig.post(&compute(&format!("virtualMachines/{name}/deallocate")))
        .await
        .expect(202);
    rig.pass(24);
    rig.post(&compute(&format!("virtualMachines/{name}/generalize")))
        .await
        .expect(200);
}

fn from_image(subnet: &str, image: &str) -> Value {
    let mut body = machine("Standard_D4s_v5", subnet);
    set(
        &mut body,
        "/properties/storageProfile/imageReference",
        json!({"id": image}),
    );
    body
}

#[tokio::test]
async fn a_generalized_vm_becomes_an_image_and_the_image_vms() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("golden", &subnet).await;
    let image = compute("images/one");
    let source = json!({"location": "eastus", "properties": {
        "sourceVirtualMachine": {"id": id(&vm("golden"))}, "hyperVGeneration": "V2",
    }});
    assert_eq!(
        rig.put(&image, source.clone()).await.expect(409).code(),
        "OperationNotAllowed"
    );
    rig.delete(&vm("golden")).await.expect(202);
    rig.pass(27);
    generalized(&rig, "golden", &subnet).await;
    let view = rig
        .get(&compute("virtualMachines/golden/instanceView"))
        .await
        .expect(200);
    assert_eq!(view.text("/statuses/1/code"), "OSState/generalized");
    let start = rig
        .post(&compute("virtualMachines/golden/start"))
        .await
        .expect(409);
    assert!(start.text("/error/message").contains("is generalized"));
    let made = rig.put(&image, source.clone()).await.expect(201);
    assert_eq!(
        made.text("/properties/storageProfile/osDisk/osState"),
        "Generalized"
    );
    rig.pass(6);
    let mut first = source;
    set(&mut first, "/properties/hyperVGeneration", json!("V1"));
    let reply = rig.put(&compute("images/two"), first).await.expect(400);
    assert_eq!(reply.text("/error/target"), "hyperVGeneration");
    rig.put(&vm("copy"), from_image(&subnet, &id(&image)))
        .await
        .expect(201);
    let mut body = from_image(&subnet, &id(&image));
    set(
        &mut body,
        "/properties/securityProfile",
        json!({"securityType": "TrustedLaunch"}),
    );
    let reply = rig.put(&vm("trusted"), body).await.expect(400);
    assert_eq!(
        reply.text("/error/message"),
        "Managed Images are not supported for virtual machines with security type TrustedLaunch."
    );
    rig.delete(&image).await.expect(202);
    rig.pass(6);
    assert_eq!(
        rig.put(&vm("late"), from_image(&subnet, &id(&image)))
            .await
            .expect(404)
            .code(),
        "NotFound"
    );
}

async fn definition(rig: &Rig, name: &str, properties: Value) -> Reply {
    let mut body = json!({"location": "eastus", "properties": {
        "osType": "Linux", "osState": "Generalized", "hyperVGeneration": "V2",
        "identifier": {"publisher": "p", "offer": "o", "sku": name},
    }});
    for (member, value) in properties.as_object().into_iter().flatten() {
        set(&mut body, &format!("/properties/{member}"), value.clone());
    }
    rig.put(&gallery(&format!("galleries/shelf/images/{name}")), body)
        .await
}

/// Publishes four versions of an image.
async fn publish(rig: &Rig) {
    let version = |name: &str| gallery(&format!("galleries/shelf/images/hpc/versions/{name}"));
    for (name, regions, hidden) in [
        ("1.0.0", json!([]), false),
        ("1.0.10", json!([{"name": "East US"}]), false),
        ("1.1.0", json!([{"name": "West US"}]), false),
        ("2.0.0", json!([{"name": "East US"}]), true),
    ] {
        let body = json!({"location": "eastus", "properties": {
            "storageProfile": {"source": {"id": id(&vm("golden"))}},
            "publishingProfile": {"targetRegions": regions, "excludeFromLatest": hidden},
        }});
        rig.put(&version(name), body).await.expect(201);
    }
}

#[tokio::test]
async fn a_gallery_serves_its_newest_version_where_it_was_copied_to() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    generalized(&rig, "golden", &subnet).await;
    let shelf = gallery("galleries/shelf");
    let made = rig
        .put(&shelf, json!({"location": "eastus"}))
        .await
        .expect(201);
    assert!(
        made.text("/properties/identifier/uniqueName")
            .ends_with("-SHELF")
    );
    assert!(
        made.header("azure-asyncoperation")
            .contains("/capsOperations/")
    );
    definition(&rig, "hpc", json!({})).await.expect(201);
    publish(&rig).await;
    let image = id(&gallery("galleries/shelf/images/hpc"));
    let early = rig
        .put(&vm("early"), from_image(&subnet, &image))
        .await
        .expect(404);
    assert_eq!(early.code(), "GalleryImageNotFound");
    rig.pass(470);
    rig.put(&vm("newest"), from_image(&subnet, &image))
        .await
        .expect(201);
    let shown = rig.get(&vm("newest")).await.expect(200);
    assert_eq!(
        shown.text("/properties/storageProfile/imageReference/exactVersion"),
        "1.0.10"
    );
}

#[tokio::test]
async fn versions_are_found_by_name_and_region_and_hold_their_gallery() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    generalized(&rig, "golden", &subnet).await;
    let shelf = gallery("galleries/shelf");
    rig.put(&shelf, json!({"location": "eastus"}))
        .await
        .expect(201);
    definition(&rig, "hpc", json!({})).await.expect(201);
    publish(&rig).await;
    rig.pass(470);
    let version = |name: &str| gallery(&format!("galleries/shelf/images/hpc/versions/{name}"));
    let image = id(&gallery("galleries/shelf/images/hpc"));
    let named = format!("{image}/versions/2.0.0");
    rig.put(&vm("named"), from_image(&subnet, &named))
        .await
        .expect(201);
    let elsewhere = format!("{image}/versions/1.1.0");
    let reply = rig
        .put(&vm("far"), from_image(&subnet, &elsewhere))
        .await
        .expect(404);
    assert!(
        reply
            .text("/error/message")
            .contains("replicate to this region")
    );
    let state = rig
        .get(&format!("{}&$expand=ReplicationStatus", version("1.0.0")))
        .await;
    assert_eq!(
        state
            .expect(200)
            .text("/properties/replicationStatus/aggregatedState"),
        "Completed"
    );
    assert_eq!(
        rig.delete(&shelf).await.expect(409).code(),
        "CannotDeleteResource"
    );
    let versions = rig
        .get(&gallery("galleries/shelf/images/hpc/versions"))
        .await
        .expect(200);
    assert_eq!(versions.items().len(), 4);
    rig.put(&version("1.0"), json!({"location": "eastus"}))
        .await
        .expect(400);
}

#[tokio::test]
async fn definitions_say_what_their_images_fit() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    generalized(&rig, "golden", &subnet).await;
    rig.put(&gallery("galleries/shelf"), json!({"location": "eastus"}))
        .await
        .expect(201);
    let trusted = json!({"features": [{"name": "SecurityType", "value": "TrustedLaunch"}]});
    definition(&rig, "trusted", trusted).await.expect(201);
    definition(&rig, "old", json!({"hyperVGeneration": "V1"}))
        .await
        .expect(201);
    let arm = json!({"architecture": "Arm64"});
    definition(&rig, "arm", arm).await.expect(201);
    let twice = json!({"identifier": {"publisher": "p", "offer": "o", "sku": "arm"}});
    assert_eq!(
        definition(&rig, "twice", twice).await.expect(409).code(),
        "Conflict"
    );
    let version = |name: &str| gallery(&format!("galleries/shelf/images/{name}/versions/1.0.0"));
    let body = json!({"location": "eastus", "properties": {
        "storageProfile": {"source": {"id": id(&vm("golden"))}},
    }});
    for name in ["trusted", "arm"] {
        rig.put(&version(name), body.clone()).await.expect(201);
    }
    assert_eq!(
        rig.put(&version("old"), body).await.expect(400).code(),
        "InvalidParameter"
    );
    rig.pass(470);
    let image = |name: &str| id(&gallery(&format!("galleries/shelf/images/{name}")));
    let reply = rig
        .put(&vm("plain"), from_image(&subnet, &image("trusted")))
        .await
        .expect(400);
    assert!(
        reply
            .text("/error/message")
            .contains("'TrustedLaunch' security type")
    );
    let mut body = from_image(&subnet, &image("trusted"));
    set(
        &mut body,
        "/properties/securityProfile",
        json!({"securityType": "TrustedLaunch"}),
    );
    rig.put(&vm("trusted"), body).await.expect(201);
    let reply = rig
        .put(&vm("arm"), from_image(&subnet, &image("arm")))
        .await
        .expect(400);
    assert!(reply.text("/error/message").contains("'Arm64'"));
    let changed = definition(&rig, "arm", json!({"hyperVGeneration": "V1"}))
        .await
        .expect(409);
    assert_eq!(changed.code(), "PropertyChangeNotAllowed");
}

#[tokio::test]
async fn snapshots_copy_disks_and_become_disks() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let empty = json!({"location": "eastus", "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 64}});
    rig.put(&disk("data"), empty).await.expect(202);
    rig.pass(1);
    let copy = |from: &str| {
        json!({"location": "eastus", "properties": {
            "creationData": {"createOption": "Copy", "sourceResourceId": from},
        }})
    };
    let reply = rig
        .put(&snapshot("kept"), copy(&id(&disk("data"))))
        .await
        .expect(202);
    assert_eq!(
        (
            reply.header("retry-after"),
            reply.text("/properties/provisioningState")
        ),
        ("2", "Updating")
    );
    rig.pass(1);
    let done = rig.follow(reply.header("azure-asyncoperation")).await;
    assert_eq!(done.text("/properties/output/name"), "kept");
    let shown = rig.get(&snapshot("kept")).await.expect(200);
    assert_eq!(
        shown.body.pointer("/properties/diskSizeGB"),
        Some(&json!(64))
    );
    rig.put(&disk("again"), copy(&id(&snapshot("kept"))))
        .await
        .expect(202);
    let shown = rig.get(&disk("again")).await.expect(200);
    assert_eq!(
        shown.body.pointer("/properties/diskSizeGB"),
        Some(&json!(64))
    );
    let reply = rig
        .put(&snapshot("none"), copy(&id(&disk("nothing"))))
        .await;
    assert_eq!(reply.expect(404).code(), "NotFound");
    rig.delete(&snapshot("kept")).await.expect(202);
    rig.pass(1);
    let gone = rig.get(&snapshot("kept")).await.expect(404);
    assert_eq!(gone.text("/error/message"), "Snapshot kept is not found.");
}

#[tokio::test]
async fn extensions_belong_to_their_vm() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("one", &subnet).await;
    let path = compute("virtualMachines/one/extensions/gpu");
    let body = json!({"location": "eastus", "properties": {
        "publisher": "Microsoft.HpcCompute", "type": "NvidiaGpuDriverLinux", "typeHandlerVersion": "1.9",
        "protectedSettings": {"secret": "s"},
    }});
    let reply = rig.put(&path, body.clone()).await.expect(201);
    assert_eq!(reply.body.pointer("/properties/protectedSettings"), None);
    rig.pass(21);
    let shown = rig.get(&vm("one")).await.expect(200);
    assert_eq!(shown.text("/resources/0/name"), "gpu");
    let view = rig
        .get(&compute("virtualMachines/one/instanceView"))
        .await
        .expect(200);
    assert_eq!(view.text("/extensions/0/name"), "gpu");
    let twice = rig
        .put(
            &compute("virtualMachines/one/extensions/again"),
            body.clone(),
        )
        .await;
    assert!(
        twice
            .expect(400)
            .text("/error/message")
            .contains("Multiple VMExtensions")
    );
    let list = rig
        .get(&compute("virtualMachines/one/extensions"))
        .await
        .expect(200);
    assert_eq!(list.items().len(), 1);
    let gone = rig
        .get(&compute("virtualMachines/one/extensions/none"))
        .await
        .expect(404);
    assert_eq!(gone.code(), "ResourceNotFound");
    assert!(
        gone.text("/error/message")
            .contains("virtualMachines/one/extensions/none")
    );
    rig.post(&compute("virtualMachines/one/deallocate"))
        .await
        .expect(202);
    rig.pass(24);
    let reply = rig
        .put(&compute("virtualMachines/one/extensions/late"), body)
        .await;
    assert_eq!(reply.expect(409).code(), "OperationNotAllowed");
    rig.delete(&vm("one")).await.expect(202);
    rig.pass(27);
    rig.get(&path).await.expect(404);
}

#[tokio::test]
async fn commands_are_taken_and_nothing_is_run() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("one", &subnet).await;
    let path = compute("virtualMachines/one/runCommand");
    let body = json!({"commandId": "RunShellScript", "script": ["uname -a"]});
    let reply = rig
        .send("POST", &path, Some(body.clone()))
        .await
        .expect(202);
    rig.pass(17);
    let result = rig.follow(reply.header("location")).await.expect(200);
    assert!(result.text("/value/0/message").contains("no guest"));
    let command = compute("virtualMachines/one/runCommands/probe");
    let resource = json!({"location": "eastus", "properties": {"source": {"script": "true"}}});
    rig.put(&command, resource).await.expect(201);
    rig.pass(11);
    let shown = rig
        .get(&format!("{command}&$expand=instanceView"))
        .await
        .expect(200);
    assert_eq!(
        shown.text("/properties/instanceView/executionState"),
        "Unknown"
    );
    rig.delete(&command).await.expect(202);
    rig.post(&compute("virtualMachines/one/deallocate"))
        .await
        .expect(202);
    rig.pass(24);
    assert_eq!(
        rig.send("POST", &path, Some(body)).await.expect(409).code(),
        "OperationNotAllowed"
    );
    let reply = rig
        .post(&compute("virtualMachines/one/capture"))
        .await
        .expect(409);
    assert!(reply.text("/error/message").contains("blob based disks"));
}

#[tokio::test]
async fn boot_diagnostics_and_reimage_need_what_they_need() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let mut body = machine("Standard_D4s_v5", &subnet);
    set(
        &mut body,
        "/properties/diagnosticsProfile",
        json!({"bootDiagnostics": {"enabled": true}}),
    );
    rig.put(&vm("one"), body).await.expect(201);
    rig.pass(8);
    let path = compute("virtualMachines/one/retrieveBootDiagnosticsData");
    let reply = rig.post(&path).await.expect(200);
    assert!(
        reply
            .text("/serialConsoleLogBlobUri")
            .contains("sandbox.invalid")
    );
    rig.post(&compute("virtualMachines/one/reimage"))
        .await
        .expect(202);
    rig.pass(75);
    rig.vm("two", &subnet).await;
    let path = compute("virtualMachines/two/retrieveBootDiagnosticsData");
    assert_eq!(
        rig.post(&path).await.expect(409).code(),
        "OperationNotAllowed"
    );
    let mut arm = machine("Standard_D4s_v5", &subnet);
    set(
        &mut arm,
        "/properties/storageProfile/diskControllerType",
        json!("IDE"),
    );
    let reply = rig.put(&vm("ide"), arm).await.expect(400);
    assert_eq!(reply.text("/error/target"), "diskControllerType");
}
