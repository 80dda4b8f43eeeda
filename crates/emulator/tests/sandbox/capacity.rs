//! Hardware that is missing, machines that are taken back, answers that are behind: what the
//! documentation's examples leave out.

use serde_json::json;
use tensorform_emulator::Faults;

use crate::{
    rig::{Rig, SUBSCRIPTION, compute, group, machine, vm},
    transcript::hold,
};

#[tokio::test]
async fn vms_find_no_hardware_as_they_start_or_are_resized() {
    hold(
        "rules:
- {match: {size: Standard_D8s_v5, count: 1}, then: fail_allocation}
- {match: {size: Standard_D4s_v5, type: '*/start', count: 1}, then: fail_allocation}",
        "PUT vm/a → 201
wait 8
PATCH vm/a size=Standard_D8s_v5 → 200
wait 8
GET operation → 200 code=AllocationFailed
GET vm/a → 200 state=Failed size=Standard_D4s_v5 power=running
PATCH vm/a size=Standard_D8s_v5 → 200
wait 8
GET vm/a → 200 state=Succeeded size=Standard_D8s_v5 power=running
POST vm/a/deallocate → 202
wait 30
PATCH vm/a size=Standard_D4s_v5 → 200
wait 8
GET vm/a → 200 state=Succeeded size=Standard_D4s_v5 power=deallocated
POST vm/a/start → 202
wait 15
GET operation → 200 code=AllocationFailed
GET vm/a → 200 power=deallocated
POST vm/a/start → 202
wait 15
GET vm/a → 200 state=Succeeded power=running
POST vm/a/restart → 202
wait 40
GET vm/a → 200 state=Succeeded power=running",
    )
    .await;
}

#[tokio::test]
async fn codes_and_messages_follow_the_machine() {
    let all = "rules: [{match: {until: 1000}, then: fail_allocation}, {then: {fail_allocation: {code: SkuNotAvailable}}}]";
    let message = "message=Allocation_failed._VM(s)_with_the_following_constraints_cannot_be_allocated,_because_the_condition_is_too_restrictive._Please_remove_some_constraints_and_try_again._Constraints_applied_are:_";
    hold(
        all,
        &format!(
            "PUT ppg/p → 201
PUT vm/a ppg=p → 201
wait 8
GET operation → 200 code=OverconstrainedAllocationRequest {message}__-_VM_Size_
PUT vm/b ppg=p zone=2 → 201
wait 8
GET operation → 200 code=OverconstrainedZonalAllocationRequest {message}__-_Availability_Zone___-_VM_Size_
PUT vm/c zone=2 priority=Spot → 409 code=SkuNotAvailable
PUT disk/d → 202
wait 1000
PUT vm/e → 409 code=SkuNotAvailable
GET vm/e → 404"
        ),
    )
    .await;
}

#[tokio::test]
async fn a_spot_vm_that_starts_is_overconstrained() {
    hold(
        "rules: [{match: {type: '*/start', priority: spot}, then: fail_allocation}]",
        "PUT vm/a priority=Spot zone=1 → 201
wait 8
POST vm/a/deallocate → 202
wait 30
POST vm/a/start → 202
wait 15
GET operation → 200 code=OverconstrainedZonalAllocationRequest
GET vm/a → 200 power=deallocated",
    )
    .await;
}

#[tokio::test]
async fn scale_sets_get_a_part_or_nothing() {
    hold(
        "rules: [{match: {grouping: scale_set, until: 10000}, then: {fail_allocation: {available: 4}}}]",
        "PUT vmss/u capacity=3 → 201
wait 50
GET vmss/u → 200 state=Succeeded
GET vmss/u/instances → 200 count=3 failed=0
PUT vmss/one single=true capacity=2 → 201
wait 50
GET operation → 200 code=AllocationFailed
GET vmss/one/instances → 200 count=2 failed=2
PATCH vmss/u capacity=6 → 200
wait 50
GET vmss/u → 200 state=Failed capacity=6
GET vmss/u/instances → 200 count=6 failed=2
PUT vmss/f mode=Flexible capacity=2 → 201
wait 50
GET operation → 200 code=AllocationFailed
GET vmss/f → 200 state=Failed
GET vmss/f/instances → 200 count=2 failed=2
wait 10000
POST vmss/u/start → 202
wait 50
GET vmss/u/instances → 200 count=6 failed=0",
    )
    .await;
}

#[tokio::test]
async fn a_flexible_set_gets_a_part() {
    hold(
        "rules: [{then: {fail_allocation: {available: 2}}}]",
        "PUT vmss/f mode=Flexible capacity=3 → 201
wait 50
GET vmss/f → 200 state=Failed
GET vmss/f/instances → 200 count=3 failed=1
PUT vm/a → 201
wait 8
GET vm/a → 200 state=Failed power=-",
    )
    .await;
}

#[tokio::test]
async fn spot_sets_are_refused_whole() {
    hold(
        "rules: [{match: {priority: spot, count: 2}, then: {fail_allocation: {available: 2}}}]",
        "PUT vmss/u capacity=3 priority=Spot → 409 code=SkuNotAvailable
GET vmss/u → 404
PUT vmss/u capacity=2 priority=Spot → 201
PUT vmss/v capacity=1 priority=Spot → 409 code=SkuNotAvailable
PUT vmss/v capacity=1 priority=Spot → 201",
    )
    .await;
}

#[tokio::test]
async fn deployments_meet_the_same_rules() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let faults = Faults::parse(
        "rules:
- {name: full, match: {size: Standard_D4s_v5}, then: fail_allocation}
- {name: tags, then: {modify_tags: {set: {owner: finance}, later: 100}}}",
        "f",
    );
    rig.sandbox.set_faults(faults.expect("rules"));
    let mut resource = machine("Standard_D4s_v5", &subnet);
    resource["type"] = json!("Microsoft.Compute/virtualMachines");
    resource["apiVersion"] = json!("2024-07-01");
    resource["name"] = json!("vm1");
    let path = format!(
        "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.Resources/deployments/d?api-version=2021-04-01"
    );
    let template = json!({
        "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
        "contentVersion": "1.0.0.0",
        "resources": [resource],
    });
    let body = json!({"properties": {"mode": "Incremental", "template": template}});
    rig.put(&path, body).await.expect(201);
    rig.pass(20);
    let told = rig.get(&path).await.expect(200);
    assert_eq!(told.text("/properties/provisioningState"), "Failed");
    let whole = told.body.to_string();
    assert!(whole.contains("AllocationFailed"), "{whole}");
    let made = rig.get(&vm("vm1")).await.expect(200);
    assert_eq!(made.text("/tags/owner"), "finance");
    assert_eq!(made.text("/properties/provisioningState"), "Failed");
}

#[tokio::test]
async fn deletions_and_whole_subscriptions_are_seen_late() {
    hold(
        "rules: [{match: {method: GET}, then: {stale: {reads: 2}}}]",
        "PUT vm/a → 201
GET vm/a/instanceView → 404
GET vm/a/instanceView → 404
GET vm/a/instanceView → 200
GET vms → 200 count=0
GET vms → 200 count=0
GET vms → 200 count=1
GET all-vms → 200 count=0
GET all-vms → 200 count=0
GET all-vms → 200 count=1
wait 8
GET operation → 200
DELETE vm/a → 202
wait 30
GET vm/a → 200 state=Deleting
GET vm/a → 200 state=Deleting
GET vm/a → 404",
    )
    .await;
}

#[tokio::test]
async fn a_late_answer_leaves_the_world_as_it_is() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let stale = "rules: [{match: {method: GET, name: 'vm*'}, then: {stale: {seconds: 20}}}]";
    rig.sandbox
        .set_faults(Faults::parse(stale, "f").expect("rules"));
    for name in ["vm1", "vm2"] {
        rig.put(&vm(name), machine("Standard_D4s_v5", &subnet))
            .await
            .expect(201);
        rig.get(&vm(name)).await.expect(404);
    }
    let usages = compute("usages").replace("/resourceGroups/rg", "");
    let usages = usages.replace("Microsoft.Compute/", "Microsoft.Compute/locations/eastus/");
    let used = rig.get(&usages).await.expect(200);
    let cores = used
        .items()
        .iter()
        .find(|item| item["name"]["value"] == "cores");
    assert_eq!(cores.expect("a counter")["currentValue"], 8);
    rig.pass(21);
    let shown = rig.get(&vm("vm2")).await.expect(200);
    assert_eq!(shown.text("/properties/provisioningState"), "Creating");
    rig.sandbox.set_faults(Faults::none());
    let shown = rig.get(&vm("vm2")).await.expect(200);
    assert_eq!(shown.text("/properties/provisioningState"), "Succeeded");
}

#[tokio::test]
async fn rules_that_are_added_count_their_seconds_from_then() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let post = async |text: &str| {
        let reply = rig
            .try_send("POST", "/sandbox/faults", &[], Some(text))
            .await;
        reply.expect("an answer").expect(204);
    };
    post("rules: [{name: early, match: {from: 10}, then: throttle}]").await;
    rig.pass(6);
    post("rules: [{name: late, match: {from: 10}, then: throttle}]").await;
    rig.get(&group("rg")).await.expect(200);
    rig.pass(4);
    rig.get(&group("rg")).await.expect(429);
    let fired = async || {
        let reply = rig.get("/sandbox/faults").await.expect(200);
        let fired = reply.items().iter().map(|rule| rule["fired"].as_u64());
        fired.collect::<Vec<_>>()
    };
    assert_eq!(fired().await, [Some(1), Some(0)]);
    let log = rig.sandbox.requests();
    assert_eq!(
        log.last().expect("a request").fault.as_deref(),
        Some("early")
    );
    rig.pass(6);
    rig.get(&group("rg")).await.expect(429);
    assert_eq!(fired().await, [Some(2), Some(0)]);
}

#[tokio::test]
async fn groups_have_policies_too() {
    hold(
        "rules: [{name: g, match: {type: Microsoft.Resources/resourceGroups}, then: {modify_tags: {add: {a: b}, later: [5, 10]}}}]",
        "PATCH group/rg tag.x=y → 200 tag.a=b tag.x=y
PUT group/rg/tags tag.z=1 → 200 tag.z=1 tag.a=b
GET group/rg → 200 tag.x=- tag.a=b",
    )
    .await;
}

#[tokio::test]
async fn evictions_leave_what_is_not_spot_and_what_holds_no_hardware() {
    hold(
        "rules: [{at: 100, then: {evict: {}}}, {at: 200, then: {evict: {zone: '2', group: r?, order: oldest, count: 2}}}]",
        "PUT vm/regular → 201
PUT vm/off priority=Spot → 201
PUT vmss/f mode=Flexible capacity=2 priority=Spot eviction=Delete → 201
wait 50
POST vm/off/deallocate → 202
wait 50
GET vm/regular → 200 power=running
GET vm/off → 200 power=deallocated
GET vmss/f/instances → 200 count=0
GET vmss/f → 200 capacity=0
PUT vm/z1 priority=Spot zone=1 → 201
PUT vm/z2 priority=Spot zone=2 → 201
wait 100
GET vm/z1 → 200 power=running
GET vm/z2 → 200 power=deallocated",
    )
    .await;
}

#[tokio::test]
async fn instances_that_get_another_size_need_hardware_for_it() {
    hold(
        "rules: [{match: {size: '*_D8s_*'}, then: {fail_allocation: {available: 1}}}]",
        "PUT vmss/u capacity=2 → 201
wait 50
PATCH vmss/u sku=Standard_D8s_v5 → 200
wait 50
GET vmss/u/instances → 200 count=2 failed=0
POST vmss/u/manualupgrade → 202
wait 50
GET operation → 200 code=AllocationFailed
GET vmss/u/instances → 200 count=2 failed=1
GET vmss/u/0 → 200 state=Succeeded power=running
GET vmss/u/1 → 200 state=Failed",
    )
    .await;
}

#[tokio::test]
async fn evicted_instances_stay_where_the_policy_says_so() {
    hold(
        "rules: [{at: '2026-08-01T00:10:00Z', then: {evict: {name: u_1}}}]",
        "PUT vmss/u capacity=2 priority=Spot eviction=Deallocate → 201
wait 500
GET vmss/u/1 → 200 power=running
wait 100
GET vmss/u/0 → 200 power=running
GET vmss/u/1 → 200 state=Succeeded power=deallocated
GET vmss/u → 200 capacity=2
POST vmss/u/start → 202
wait 50
GET vmss/u/1 → 200 state=Succeeded power=running",
    )
    .await;
}
