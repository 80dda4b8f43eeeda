//! Scripted faults over the wire.

use std::time::Duration;

use serde_json::json;
use tensorform_emulator::Faults;

use crate::rig::{Rig, compute, group, id, machine, network, vm};

/// A rule about VMs of this name that are written.
fn rule(name: &str, then: &str) -> String {
    format!(
        "- match: {{method: PUT, type: Microsoft.Compute/virtualMachines, name: {name}}}\n  then: {then}\n"
    )
}

async fn with(rules: &[String]) -> (Rig, String) {
    let rig = Rig::faulty(&format!("rules:\n{}", rules.concat())).await;
    let subnet = rig.network().await;
    (rig, subnet)
}

#[tokio::test]
async fn a_request_is_refused_at_its_begin() {
    let (rig, subnet) = with(&[
        rule("a", "{fail_at_begin: {code: SkuNotAvailable}}"),
        rule(
            "b",
            "{fail_at_begin: {status: 403, code: RequestDisallowedByPolicy, message: no}}",
        ),
        rule("c", "{throttle: {retry_after: 7}}"),
        rule("d", "{fail_at_begin: {code: ServiceUnavailable}}"),
    ])
    .await;
    for (name, status, code) in [
        ("a", 409, "SkuNotAvailable"),
        ("b", 403, "RequestDisallowedByPolicy"),
        ("c", 429, "SubscriptionRequestsThrottled"),
        ("d", 503, ""),
    ] {
        let reply = rig
            .put(&vm(name), machine("Standard_D4s_v5", &subnet))
            .await
            .expect(status);
        assert_eq!(reply.code(), code);
        if name == "c" {
            assert_eq!(reply.header("retry-after"), "7");
        }
        rig.get(&vm(name)).await.expect(404);
    }
    rig.put(&vm("e"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(201);
}

#[tokio::test]
async fn a_vm_without_hardware_fails_and_keeps_its_interface_for_a_while() {
    let then = "{fail_in_operation: {code: AllocationFailed}}";
    let once = rule("vm1", then).replace("name: vm1", "name: vm1, count: 1");
    let (rig, subnet) = with(&[once]).await;
    let nic = network("networkInterfaces/own");
    let body = json!({"location": "eastus", "properties": {"ipConfigurations": [{
        "name": "ip", "properties": {"subnet": {"id": subnet}},
    }]}});
    rig.put(&nic, body).await.expect(201);
    let mut body = machine("Standard_D4s_v5", &subnet);
    *body
        .pointer_mut("/properties/networkProfile")
        .expect("a profile") = json!({"networkInterfaces": [{"id": id(&nic)}]});
    let begun = rig.put(&vm("vm1"), body.clone()).await.expect(201);
    rig.pass(8);
    let status = rig
        .follow(begun.header("azure-asyncoperation"))
        .await
        .expect(200);
    assert_eq!(status.text("/status"), "Failed");
    assert_eq!(status.code(), "AllocationFailed");
    let message = status.text("/error/message");
    assert!(
        message.contains("We do not have sufficient capacity"),
        "{message}"
    );
    let failed = rig
        .get(&format!("{}&$expand=instanceView", vm("vm1")))
        .await
        .expect(200);
    assert_eq!(failed.text("/properties/provisioningState"), "Failed");
    let code = failed.text("/properties/instanceView/statuses/0/code");
    assert_eq!(code, "ProvisioningState/failed/AllocationFailed");
    assert!(
        failed
            .body
            .pointer("/properties/instanceView/statuses/1")
            .is_none(),
        "no power state"
    );
    rig.delete(&vm("vm1")).await.expect(202);
    rig.pass(27);
    let reserved = rig.delete(&nic).await.expect(400);
    assert_eq!(reserved.code(), "NicReservedForAnotherVm");
    let other = rig.put(&vm("vm2"), body.clone()).await.expect(400);
    assert_eq!(other.code(), "NicReservedForAnotherVm");
    // The VM itself may have it back at once; others wait for 180 seconds.
    rig.put(&vm("vm1"), body).await.expect(201);
    rig.pass(8);
    assert_eq!(
        rig.get(&vm("vm1"))
            .await
            .text("/properties/provisioningState"),
        "Succeeded"
    );
    rig.delete(&vm("vm1")).await.expect(202);
    rig.pass(180);
    rig.delete(&nic).await.expect(202);
}

#[tokio::test]
async fn a_failed_vm_is_made_by_writing_it_again() {
    let then = "{fail_in_operation: {code: ZonalAllocationFailed}}";
    let (rig, subnet) = with(&[rule("vm1", then).replace("name: vm1", "name: vm1, nth: 1")]).await;
    rig.put(&vm("vm1"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(201);
    rig.pass(8);
    let failed = rig.get(&vm("vm1")).await.expect(200);
    assert_eq!(failed.text("/properties/provisioningState"), "Failed");
    rig.put(&vm("vm1"), failed.body).await.expect(200);
    rig.pass(8);
    let view = rig
        .get(&compute("virtualMachines/vm1/instanceView"))
        .await
        .expect(200);
    assert_eq!(view.text("/statuses/1/code"), "PowerState/running");
}

#[tokio::test]
async fn a_vm_whose_guest_fails_keeps_running() {
    let (rig, subnet) = with(&[
        rule(
            "slow",
            "{fail_in_operation: {code: OSProvisioningTimedOut}}",
        ),
        rule(
            "mute",
            "{fail_in_operation: {code: VMAgentStatusCommunicationError}}",
        ),
    ])
    .await;
    for name in ["slow", "mute"] {
        rig.put(&vm(name), machine("Standard_D4s_v5", &subnet))
            .await
            .expect(201);
        rig.pass(8);
        let failed = rig
            .get(&format!("{}&$expand=instanceView", vm(name)))
            .await
            .expect(200);
        assert_eq!(failed.text("/properties/provisioningState"), "Failed");
        let power = failed.text("/properties/instanceView/statuses/1/code");
        assert_eq!(power, "PowerState/running", "{name}");
    }
    let view = rig
        .get(&compute("virtualMachines/mute/instanceView"))
        .await
        .expect(200);
    assert_eq!(view.text("/vmAgent/statuses/0/displayStatus"), "Not Ready");
}

#[tokio::test]
async fn a_start_or_resize_can_fail() {
    let (rig, subnet) = with(&[
        "- match: {type: Microsoft.Compute/virtualMachines/start}\n  then: {fail_in_operation: {code: AllocationFailed}}\n".to_owned(),
        "- match: {method: PATCH}\n  then: {fail_in_operation: {code: OverconstrainedAllocationRequest}}\n".to_owned(),
        "- match: {method: DELETE, name: vm1}\n  then: {fail_in_operation: {code: InternalExecutionError}}\n".to_owned(),
    ])
    .await;
    rig.vm("vm1", &subnet).await;
    let size = json!({"properties": {"hardwareProfile": {"vmSize": "Standard_D8s_v5"}}});
    rig.patch(&vm("vm1"), size).await.expect(200);
    rig.pass(8);
    let shown = rig.get(&vm("vm1")).await;
    assert_eq!(shown.text("/properties/provisioningState"), "Failed");
    assert_eq!(
        shown.text("/properties/hardwareProfile/vmSize"),
        "Standard_D4s_v5"
    );
    rig.post(&compute("virtualMachines/vm1/deallocate"))
        .await
        .expect(202);
    rig.pass(24);
    rig.post(&compute("virtualMachines/vm1/start"))
        .await
        .expect(202);
    rig.pass(11);
    let view = rig.get(&compute("virtualMachines/vm1/instanceView")).await;
    assert_eq!(view.text("/statuses/1/code"), "PowerState/deallocated");
    rig.delete(&vm("vm1")).await.expect(202);
    rig.pass(27);
    let kept = rig.get(&vm("vm1")).await.expect(200);
    assert_eq!(kept.text("/properties/provisioningState"), "Failed");
}

#[tokio::test]
async fn a_failed_subnet_delete_frees_its_network() {
    let (rig, subnet) = with(&[
        "- match: {method: DELETE}\n  then: {fail_in_operation: {code: InternalExecutionError}}\n"
            .to_owned(),
    ])
    .await;
    let path = format!("{subnet}?api-version=2024-03-01");
    let begun = rig.delete(&path).await.expect(202);
    rig.pass(10);
    let status = rig.follow(begun.header("azure-asyncoperation")).await;
    assert_eq!(status.text("/status"), "Failed");
    let kept = rig.get(&path).await.expect(200);
    assert_eq!(kept.text("/properties/provisioningState"), "Failed");
    let second = network("virtualNetworks/net/subnets/second");
    let body = json!({"properties": {"addressPrefix": "10.40.4.0/24"}});
    rig.put(&second, body).await.expect(201);
}

#[tokio::test]
async fn connections_break_before_or_after_the_work() {
    let (rig, subnet) = with(&[
        rule("before", "drop_before"),
        rule("after", "drop_after_acceptance"),
    ])
    .await;
    let headers = [("authorization", "Bearer t")];
    for (name, there) in [("before", 404), ("after", 200)] {
        let body = machine("Standard_D4s_v5", &subnet).to_string();
        let reply = rig.try_send("PUT", &vm(name), &headers, Some(&body)).await;
        assert!(reply.is_none(), "{name}");
        rig.get(&vm(name)).await.expect(there);
    }
    let log = rig.sandbox.requests();
    let dropped: Vec<_> = log
        .iter()
        .filter(|record| record.status.is_none())
        .collect();
    assert_eq!(dropped.len(), 2);
    assert!(dropped.iter().all(|record| record.fault.is_some()));
}

#[tokio::test]
async fn a_slow_answer_takes_its_time() {
    let (rig, subnet) = with(&[rule("vm1", "{slow: {seconds: 30}}")]).await;
    let body = machine("Standard_D4s_v5", &subnet).to_string();
    let path = vm("vm1");
    let headers = [("authorization", "Bearer t")];
    let request = rig.try_send("PUT", &path, &headers, Some(&body));
    let waiting = async {
        // The rule has the request as soon as it says that it fired.
        while rig
            .get("/sandbox/faults")
            .await
            .body
            .pointer("/value/0/fired")
            != Some(&json!(1))
        {
            tokio::task::yield_now().await;
        }
        assert!(rig.get(&vm("vm1")).await.status == 404);
        rig.pass(30);
    };
    let (reply, ()) = tokio::join!(request, waiting);
    reply.expect("an answer").expect(201);
}

#[tokio::test]
async fn a_hanging_request_ends_when_the_sandbox_stops() {
    let (rig, _) = with(&[]).await;
    let hang = Faults::parse("rules: [{match: {method: GET}, then: hang}]", "f").expect("rules");
    rig.sandbox.set_faults(hang);
    let address = rig.sandbox.endpoint().to_owned();
    let request = tokio::spawn(async move {
        Rig::send_to(
            &address,
            "GET",
            &group("rg"),
            &[("authorization", "Bearer t")],
            None,
        )
        .await
    });
    while rig
        .get("/sandbox/faults")
        .await
        .body
        .pointer("/value/0/fired")
        != Some(&json!(1))
    {
        tokio::task::yield_now().await;
    }
    let stopped = tokio::time::timeout(Duration::from_secs(20), rig.sandbox.stop()).await;
    stopped.expect("the sandbox stops").expect("cleanly");
    assert!(request.await.expect("the client").is_none());
}

#[tokio::test]
async fn rules_change_while_the_sandbox_runs() {
    let rig = Rig::new().await;
    let rules = "rules: [{name: no groups, match: {type: Microsoft.Resources/resourceGroups}, then: {throttle: {}}}]";
    let headers = [("authorization", "Bearer t")];
    let put = async |text: &str| {
        let reply = rig
            .try_send("PUT", "/sandbox/faults", &headers, Some(text))
            .await;
        reply.expect("an answer")
    };
    put(rules).await.expect(204);
    let refused = rig.put(&group("rg"), json!({"location": "eastus"})).await;
    refused.expect(429);
    let fired = rig.get("/sandbox/faults").await.expect(200);
    assert_eq!(
        fired.body,
        json!({"value": [{"name": "no groups", "fired": 1}]})
    );
    let wrong = put("rules:\n  - match: {methd: PUT}\n    then: hang")
        .await
        .expect(400);
    assert!(
        wrong.text("/error/message").contains("faults:2:13: "),
        "{}",
        wrong.body
    );
    assert!(
        wrong.text("/error/message").contains("`method`"),
        "{}",
        wrong.body
    );
    rig.put(&group("rg"), json!({"location": "eastus"}))
        .await
        .expect(429);
    rig.delete("/sandbox/faults").await.expect(204);
    rig.put(&group("rg"), json!({"location": "eastus"}))
        .await
        .expect(201);
}
