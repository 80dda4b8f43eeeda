//! Request buckets over the wire.

use serde_json::json;
use tensorform_emulator::{Clock, Options, Speed, World};

use crate::rig::{Reply, Rig, group, machine, vm};

/// Sends until a request is refused for its number; answers how many were not, and the refusal.
async fn until_refused(rig: &Rig, path: &str) -> (u32, Reply) {
    for served in 0..5_000 {
        let reply = rig.get(path).await;
        if reply.status == 429 {
            return (served, reply);
        }
    }
    panic!("never refused: {path}");
}

#[tokio::test]
async fn reads_of_one_vm_run_out_and_come_back() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("vm1", &subnet).await;
    let first = rig.get(&vm("vm1")).await.expect(200);
    let left = first.header("x-ms-ratelimit-remaining-resource");
    assert!(
        left.contains("Microsoft.Compute/LowCostGetResource;35"),
        "{left}"
    );
    let global = first.header("x-ms-ratelimit-remaining-subscription-global-reads");
    assert_eq!(global, "3749");
    let (served, refused) = until_refused(&rig, &vm("vm1")).await;
    assert_eq!(served, 35);
    assert_eq!(refused.code(), "OperationNotAllowed");
    assert_eq!(refused.text("/error/details/0/code"), "TooManyRequests");
    assert_eq!(
        refused.text("/error/details/0/target"),
        "LowCostGetResource"
    );
    assert_eq!(
        refused.text("/error/innererror/internalErrorCode"),
        "TooManyRequestsReceived"
    );
    let wait: u64 = refused.header("retry-after").parse().expect("seconds");
    assert_eq!(wait, 5);
    rig.pass(wait);
    rig.get(&vm("vm1")).await.expect(200);
    rig.get(&vm("vm1")).await.expect(429);
}

#[tokio::test]
async fn polls_are_counted_for_each_operation() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let begun = rig
        .put(&vm("vm1"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(201);
    let url = begun
        .header("azure-asyncoperation")
        .replace(rig.sandbox.endpoint(), "");
    let (served, refused) = until_refused(&rig, &url).await;
    assert_eq!(served, 45);
    assert_eq!(
        refused.text("/error/details/0/target"),
        "GetOperationResource"
    );
    let other = rig
        .put(&vm("vm2"), machine("Standard_D4s_v5", &subnet))
        .await
        .expect(201);
    rig.follow(other.header("azure-asyncoperation"))
        .await
        .expect(200);
}

#[tokio::test]
async fn arm_counts_a_principal_and_others_have_their_own() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let (served, refused) = until_refused(&rig, &group("rg")).await;
    assert_eq!(served, 250);
    assert_eq!(refused.code(), "SubscriptionRequestsThrottled");
    assert_eq!(refused.header("retry-after"), "1");
    let other = [("authorization", "Bearer another")];
    let reply = rig.try_send("GET", &group("rg"), &other, None).await;
    reply.expect("an answer").expect(200);
    rig.put(&group("rg"), json!({"location": "eastus"}))
        .await
        .expect(200);
    rig.pass(1);
    for _ in 0..25 {
        rig.get(&group("rg")).await.expect(200);
    }
    rig.get(&group("rg")).await.expect(429);
}

#[tokio::test]
async fn buckets_can_be_switched_off() {
    let rig = Rig::with(|options| Options {
        throttling: false,
        ..options
    })
    .await;
    rig.group("rg").await;
    for _ in 0..300 {
        rig.get(&group("rg")).await.expect(200);
    }
}

#[tokio::test]
async fn waits_are_told_in_the_clients_seconds() {
    let clock = Clock::real(Speed::new(1_000.0).expect("a speed"));
    let rig = Rig::serving(World::in_memory(1), clock, |options| options).await;
    rig.group("rg").await;
    let begun = rig.delete(&group("rg")).await.expect(202);
    assert_eq!(begun.header("retry-after"), "0");
}
