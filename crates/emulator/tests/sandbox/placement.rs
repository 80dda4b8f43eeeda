//! Proximity placement groups, availability sets, capacity reservations and placement scores.

use serde_json::{Value, json};

use crate::{
    rig::{Rig, SUBSCRIPTION, compute, everywhere, id, machine, set, vm},
    scale_sets::{scale_set, uniform, usage},
};

#[tokio::test]
async fn a_placement_group_knows_who_is_in_it() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let group = compute("proximityPlacementGroups/near");
    rig.put(&group, json!({"location": "eastus"}))
        .await
        .expect(201);
    let mut body = machine("Standard_D4s_v5", &subnet);
    set(
        &mut body,
        "/properties/proximityPlacementGroup",
        json!({"id": id(&group)}),
    );
    rig.put(&vm("one"), body).await.expect(201);
    let mut body = uniform("Standard_D4s_v5", &subnet, 1);
    set(
        &mut body,
        "/properties/proximityPlacementGroup",
        json!({"id": id(&group)}),
    );
    rig.put(&scale_set("pool"), body).await.expect(201);
    let shown = rig.get(&group).await.expect(200);
    assert_eq!(
        shown.text("/properties/virtualMachines/0/id"),
        id(&vm("one"))
    );
    assert_eq!(
        shown.text("/properties/virtualMachineScaleSets/0/id"),
        id(&scale_set("pool"))
    );
    assert_eq!(
        rig.delete(&group).await.expect(409).code(),
        "OperationNotAllowed"
    );
    let reply = rig
        .put(&group, json!({"location": "eastus", "zones": ["2"]}))
        .await
        .expect(409);
    assert_eq!(reply.code(), "PropertyChangeNotAllowed");
    rig.delete(&scale_set("pool")).await.expect(202);
    rig.delete(&vm("one")).await.expect(202);
    rig.pass(30);
    rig.delete(&group).await.expect(200);
    rig.delete(&group).await.expect(204);
    let mut body = machine("Standard_D4s_v5", &subnet);
    set(
        &mut body,
        "/properties/proximityPlacementGroup",
        json!({"id": id(&group)}),
    );
    let reply = rig.put(&vm("two"), body).await.expect(404);
    assert_eq!(reply.text("/error/target"), "proximityPlacementGroup");
}

#[tokio::test]
async fn a_vm_changes_its_placement_group_without_hardware_alone() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let other = compute("proximityPlacementGroups/far");
    rig.put(&other, json!({"location": "eastus"}))
        .await
        .expect(201);
    rig.vm("one", &subnet).await;
    let moved = json!({"properties": {"proximityPlacementGroup": {"id": id(&other)}}});
    let reply = rig.patch(&vm("one"), moved.clone()).await.expect(409);
    assert_eq!(reply.text("/error/target"), "proximityPlacementGroup");
    let nowhere =
        json!({"properties": {"proximityPlacementGroup": {"id": format!("{}x", id(&other))}}});
    assert_eq!(
        rig.patch(&vm("one"), nowhere).await.expect(404).code(),
        "NotFound"
    );
    rig.post(&compute("virtualMachines/one/deallocate"))
        .await
        .expect(202);
    rig.pass(25);
    rig.patch(&vm("one"), moved).await.expect(200);
    rig.pass(8);
    let shown = rig.get(&other).await.expect(200);
    assert_eq!(
        shown.text("/properties/virtualMachines/0/id"),
        id(&vm("one"))
    );
}

#[tokio::test]
async fn an_availability_set_holds_vms_until_they_are_gone() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let path = compute("availabilitySets/pair");
    let body = json!({"location": "eastus", "sku": {"name": "Aligned"}});
    let made = rig.put(&path, body).await.expect(200);
    assert_eq!(
        made.body.pointer("/properties/platformUpdateDomainCount"),
        Some(&json!(5))
    );
    assert_eq!(usage(&rig, "availabilitySets").await, 1);
    let mut body = machine("Standard_D4s_v5", &subnet);
    set(
        &mut body,
        "/properties/availabilitySet",
        json!({"id": id(&path)}),
    );
    rig.put(&vm("one"), body.clone()).await.expect(201);
    let shown = rig.get(&path).await.expect(200);
    assert_eq!(
        shown.text("/properties/virtualMachines/0/id"),
        id(&vm("one"))
    );
    let reply = rig.delete(&path).await.expect(409);
    assert!(
        reply
            .text("/error/message")
            .contains("does not contain any VM")
    );
    set(&mut body, "/properties/priority", json!("Spot"));
    let reply = rig.put(&vm("spot"), body.clone()).await.expect(409);
    assert!(reply.text("/error/message").contains("Availability Set"));
    set(&mut body, "/properties/priority", json!("Regular"));
    set(&mut body, "/zones", json!(["1"]));
    assert_eq!(
        rig.put(&vm("zonal"), body).await.expect(400).code(),
        "BadRequest"
    );
    let bad = json!({"location": "eastus", "properties": {"platformFaultDomainCount": 4}});
    let reply = rig
        .put(&compute("availabilitySets/wide"), bad)
        .await
        .expect(400);
    assert_eq!(reply.text("/error/target"), "platformFaultDomainCount");
    let sizes = rig
        .get(&compute("availabilitySets/pair/vmSizes"))
        .await
        .expect(200);
    assert!(!sizes.items().is_empty());
}

async fn reserve(rig: &Rig, size: &str, count: u64) -> String {
    let group = compute("capacityReservationGroups/kept");
    let body = json!({"location": "eastus", "tags": {"key": "val"}});
    let reply = rig.put(&group, body).await.expect(201);
    assert_eq!(reply.text("/properties/provisioningState"), "Creating");
    let path = compute("capacityReservationGroups/kept/capacityReservations/places");
    let body = json!({"location": "eastus", "sku": {"name": size, "capacity": count}});
    rig.put(&path, body).await.expect(201);
    rig.pass(4);
    id(&group)
}

fn in_group(body: &mut Value, place: &str, group: &str) {
    set(
        body,
        &format!("{place}/capacityReservation"),
        json!({"capacityReservationGroup": {"id": group}}),
    );
}

#[tokio::test]
async fn reserved_vms_draw_the_reservations_quota() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let group = reserve(&rig, "Standard_D4s_v5", 2).await;
    assert_eq!(usage(&rig, "cores").await, 8);
    assert_eq!(usage(&rig, "virtualMachines").await, 0);
    for (name, cores) in [("one", 8), ("two", 8), ("three", 12)] {
        let mut body = machine("Standard_D4s_v5", &subnet);
        in_group(&mut body, "/properties", &group);
        rig.put(&vm(name), body).await.expect(201);
        rig.pass(8);
        assert_eq!(usage(&rig, "cores").await, cores, "{name}");
    }
    let places = compute("capacityReservationGroups/kept/capacityReservations/places");
    let shown = rig
        .get(&format!("{places}&$expand=instanceView"))
        .await
        .expect(200);
    let used = shown
        .body
        .pointer("/properties/virtualMachinesAssociated")
        .and_then(Value::as_array);
    assert_eq!(used.map(Vec::len), Some(3));
    assert_eq!(
        shown
            .body
            .pointer("/properties/instanceView/utilizationInfo/currentCapacity"),
        Some(&json!(2))
    );
    assert_eq!(
        rig.delete(&places).await.expect(409).code(),
        "OperationNotAllowed"
    );
    let mut body = machine("Standard_D8s_v5", &subnet);
    in_group(&mut body, "/properties", &group);
    assert_eq!(
        rig.put(&vm("large"), body).await.expect(400).code(),
        "BadRequest"
    );
    let body = json!({"sku": {"name": "Standard_D4s_v5", "capacity": 5}});
    rig.patch(&places, body).await.expect(200);
    assert_eq!(usage(&rig, "cores").await, 24);
}

#[tokio::test]
async fn a_set_can_stand_in_a_reservation_but_not_in_one_placement_group() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let group = reserve(&rig, "Standard_D4s_v5", 2).await;
    let mut body = uniform("Standard_D4s_v5", &subnet, 3);
    in_group(&mut body, "/properties/virtualMachineProfile", &group);
    let reply = rig.put(&scale_set("pool"), body.clone()).await.expect(409);
    assert!(
        reply
            .text("/error/message")
            .contains("single placement group")
    );
    set(&mut body, "/properties/singlePlacementGroup", json!(false));
    rig.put(&scale_set("pool"), body).await.expect(201);
    rig.pass(48);
    // Two of the three have a place.
    assert_eq!(usage(&rig, "cores").await, 12);
}

#[tokio::test]
async fn what_cannot_be_reserved_is_refused() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    reserve(&rig, "Standard_D4s_v5", 1).await;
    let path = compute("capacityReservationGroups/kept/capacityReservations/more");
    let put = |body: Value| rig.put(&path, body);
    let reply = put(
        json!({"location": "eastus", "sku": {"name": "Standard_ND96isr_H100_v5", "capacity": 1}}),
    )
    .await;
    assert!([400, 409].contains(&reply.status), "{}", reply.body);
    let reply = put(json!({"location": "eastus", "sku": {"name": "Standard_D4s_v5"}})).await;
    assert_eq!(reply.expect(400).text("/error/target"), "sku.capacity");
    let reply = put(json!({"location": "eastus", "zones": ["1"], "sku": {"name": "Standard_D4s_v5", "capacity": 1}})).await;
    assert_eq!(reply.expect(400).text("/error/target"), "zones");
    let quota = format!("/sandbox/quota/{SUBSCRIPTION}/eastus");
    rig.put(&quota, json!({"cores": 10})).await.expect(204);
    let reply =
        put(json!({"location": "eastus", "sku": {"name": "Standard_D4s_v5", "capacity": 2}})).await;
    assert!(
        reply
            .expect(409)
            .text("/error/message")
            .contains("Additional Required: 8")
    );
    let group = compute("capacityReservationGroups/kept");
    assert_eq!(
        rig.delete(&group).await.expect(409).code(),
        "OperationNotAllowed"
    );
    let places = compute("capacityReservationGroups/kept/capacityReservations/places");
    rig.delete(&places).await.expect(202);
    rig.pass(1);
    rig.delete(&group).await.expect(202);
    assert_eq!(usage(&rig, "cores").await, 0);
}

#[tokio::test]
async fn placement_scores_follow_offers_restrictions_and_quota() {
    let rig = Rig::new().await;
    let restrictions = format!("/sandbox/restrictions/{SUBSCRIPTION}/eastus");
    let body = json!([{"size": "Standard_D4s_v5", "zones": ["1"], "reason": "NotAvailableForSubscription"}]);
    rig.put(&restrictions, body).await.expect(204);
    let path = everywhere(
        "Microsoft.Compute",
        "locations/eastus/placementScores/spot/generate",
        "2025-06-05",
    );
    let ask = |count: u64| {
        json!({
            "desiredLocations": ["eastus"], "desiredSizes": [{"sku": "Standard_D4s_v5"}],
            "desiredCount": count, "availabilityZones": true,
        })
    };
    let reply = rig.send("POST", &path, Some(ask(1))).await.expect(200);
    let scores: Vec<(&str, &str, bool)> = reply
        .body
        .pointer("/placementScores")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|one| {
            Some((
                one.get("availabilityZone")?.as_str()?,
                one.get("score")?.as_str()?,
                one.get("isQuotaAvailable")?.as_bool()?,
            ))
        })
        .collect();
    assert_eq!(
        scores,
        [
            ("1", "RestrictedSkuNotAvailable", true),
            ("2", "High", true),
            ("3", "High", true)
        ]
    );
    let reply = rig
        .send("POST", &path, Some(ask(1_000_000)))
        .await
        .expect(200);
    assert_eq!(
        reply.body.pointer("/placementScores/1/isQuotaAvailable"),
        Some(&json!(false))
    );
    let mut bad = ask(1);
    set(
        &mut bad,
        "/desiredLocations",
        json!(["a", "b", "c", "d", "e", "f", "g", "h", "i"]),
    );
    let reply = rig.send("POST", &path, Some(bad)).await.expect(400);
    assert_eq!(reply.text("/error/target"), "desiredLocations");
}

#[tokio::test]
async fn a_vm_joins_and_leaves_a_reservation_only_without_its_hardware() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let group = reserve(&rig, "Standard_D4s_v5", 1).await;
    rig.put(&vm("one"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(201);
    rig.pass(8);
    let change = |group: Value| json!({"properties": {"capacityReservation": {"capacityReservationGroup": {"id": group}}}});
    for (join, cores) in [(json!(group), 4), (Value::Null, 8)] {
        let reply = rig.patch(&vm("one"), change(join.clone())).await;
        assert_eq!(
            reply.expect(409).text("/error/target"),
            "capacityReservationGroup"
        );
        let stop = vm("one").replace('?', "/deallocate?");
        rig.post(&stop).await.expect(202);
        rig.pass(60);
        rig.patch(&vm("one"), change(join)).await.expect(200);
        rig.pass(8);
        let start = vm("one").replace('?', "/start?");
        rig.post(&start).await.expect(202);
        rig.pass(60);
        assert_eq!(usage(&rig, "cores").await, cores);
    }
    // What the group tells of its reservations at once.
    let path = compute("capacityReservationGroups/kept");
    let shown = rig
        .get(&format!("{path}&$expand=instanceView"))
        .await
        .expect(200);
    let view = "/properties/instanceView/capacityReservations/0";
    assert_eq!(shown.text(&format!("{view}/name")), "places");
    let info = shown.body.pointer(&format!("{view}/utilizationInfo"));
    assert_eq!(
        info,
        Some(&json!({"currentCapacity": 1, "virtualMachinesAllocated": []}))
    );
}
