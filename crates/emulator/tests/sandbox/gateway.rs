//! What ARM itself does: tokens, API versions, subscriptions, providers, absent things.

use serde_json::json;

use crate::rig::{Rig, SUBSCRIPTION, compute, everywhere, group, network, vm};

#[tokio::test]
async fn a_request_needs_a_token_that_has_not_expired() {
    let rig = Rig::faulty("expired_tokens: [old]\n").await;
    let path = group("rg");
    let bare = rig.try_send("GET", &path, &[], None).await;
    let bare = bare.expect("an answer").expect(401);
    assert_eq!(bare.code(), "AuthenticationFailed");
    assert!(bare.header("www-authenticate").starts_with("Bearer "));
    let old = [("authorization", "Bearer old")];
    let old = rig.try_send("GET", &path, &old, None).await;
    let old = old.expect("an answer").expect(401);
    assert_eq!(old.code(), "ExpiredAuthenticationToken");
    rig.get(&path).await.expect(200);
}

#[tokio::test]
async fn api_versions_are_required_and_checked_for_each_type() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let base = format!("/subscriptions/{SUBSCRIPTION}/resourceGroups/rg");
    let missing = rig.get(&base).await.expect(400);
    assert_eq!(missing.code(), "MissingApiVersionParameter");
    let unknown = rig.get(&format!("{base}?api-version=2021-04-02")).await;
    assert_eq!(unknown.expect(400).code(), "InvalidApiVersionParameter");
    let vms = format!("{base}/providers/Microsoft.Compute/virtualMachines");
    let unknown = rig
        .get(&format!("{vms}?api-version=2024-07-02"))
        .await
        .expect(400);
    assert_eq!(unknown.code(), "NoRegisteredProviderFound");
    let message = unknown.text("/error/message");
    assert!(
        message.contains("'2024-07-02' for type 'virtualMachines'"),
        "{message}"
    );
    assert!(message.contains("2024-07-01"), "{message}");
    for version in ["2015-06-15", "2022-03-01", "2024-07-01", "2024-11-01"] {
        rig.get(&format!("{vms}?api-version={version}"))
            .await
            .expect(200);
    }
}

#[tokio::test]
async fn subscriptions_are_known_or_refused() {
    let rig = Rig::new().await;
    let path = |id: &str| format!("/subscriptions/{id}?api-version=2022-12-01");
    let listed = rig
        .get("/subscriptions?api-version=2022-12-01")
        .await
        .expect(200);
    assert_eq!(listed.text("/value/0/subscriptionId"), SUBSCRIPTION);
    let tenants = rig.get("/tenants?api-version=2022-12-01").await.expect(200);
    assert_eq!(
        tenants.text("/value/0/tenantId"),
        tensorform_emulator::TENANT
    );
    let one = rig.get(&path(SUBSCRIPTION)).await.expect(200);
    assert_eq!(one.text("/state"), "Enabled");
    let other = "33333333-3333-3333-3333-333333333333";
    assert_eq!(
        rig.get(&path(other)).await.expect(404).code(),
        "SubscriptionNotFound"
    );
    assert_eq!(
        rig.get(&path("mine")).await.expect(400).code(),
        "InvalidSubscriptionId"
    );
    rig.put(
        &format!("/sandbox/subscriptions/{other}"),
        json!({"displayName": "Other"}),
    )
    .await
    .expect(204);
    assert_eq!(
        rig.get(&path(other)).await.expect(200).text("/displayName"),
        "Other"
    );
    let locations = format!("/subscriptions/{SUBSCRIPTION}/locations?api-version=2022-12-01");
    let locations = rig.get(&locations).await.expect(200);
    let names: Vec<&str> = locations
        .items()
        .iter()
        .filter_map(|region| region.get("name")?.as_str())
        .collect();
    assert!(
        names.contains(&"eastus") && names.contains(&"swedencentral"),
        "{names:?}"
    );
}

#[tokio::test]
async fn absent_things_are_told_apart() {
    let rig = Rig::new().await;
    let none = rig.get(&vm("vm")).await.expect(404);
    assert_eq!(none.code(), "ResourceGroupNotFound");
    assert_eq!(none.header("x-ms-failure-cause"), "gateway");
    rig.group("rg").await;
    let none = rig.get(&vm("vm")).await.expect(404);
    assert_eq!(none.code(), "ResourceNotFound");
    assert_eq!(none.header("x-ms-failure-cause"), "gateway");
    let orphan = network("virtualNetworks/net/subnets/one");
    let none = rig
        .put(&orphan, json!({"properties": {}}))
        .await
        .expect(404);
    assert_eq!(none.code(), "ParentResourceNotFound");
    rig.delete(&vm("vm")).await.expect(204);
    rig.delete(&network("virtualNetworks/net"))
        .await
        .expect(204);
    let unknown = rig.get(&network("azureFirewalls/lb")).await.expect(404);
    assert_eq!(unknown.code(), "InvalidResourceType");
    assert_eq!(unknown.header("x-tensorform-sandbox"), "type not served");
    let unknown = rig
        .get(&everywhere("Microsoft.Nowhere", "things", "2024-01-01"))
        .await;
    assert_eq!(unknown.expect(404).code(), "InvalidResourceNamespace");
    let unserved = rig.post(&compute("virtualMachines/vm/capture")).await;
    assert_eq!(unserved.expect(404).code(), "ResourceNotFound");
}

#[tokio::test]
async fn what_is_not_served_says_so() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("vm1", &subnet).await;
    let unserved = rig
        .post(&compute("virtualMachines/vm1/assessPatches"))
        .await
        .expect(501);
    assert_eq!(unserved.code(), "NotServedBySandbox");
    assert_eq!(
        unserved.header("x-tensorform-sandbox"),
        "operation not served"
    );
}

#[tokio::test]
async fn a_namespace_is_registered_by_time() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    rig.put(
        &format!("/sandbox/providers/{SUBSCRIPTION}/Microsoft.Network"),
        json!({"registrationState": "NotRegistered"}),
    )
    .await
    .expect(204);
    let address = network("publicIPAddresses/ip");
    let refused = rig
        .put(&address, json!({"location": "eastus"}))
        .await
        .expect(409);
    assert_eq!(refused.code(), "MissingSubscriptionRegistration");
    assert_eq!(refused.text("/error/details/0/target"), "Microsoft.Network");
    let provider = |action: &str| {
        format!(
            "/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Network{action}?api-version=2021-04-01"
        )
    };
    let state = |reply: crate::rig::Reply| reply.text("/registrationState").to_owned();
    let begun = rig.post(&provider("/register")).await.expect(200);
    assert_eq!(state(begun), "Registering");
    rig.pass(70);
    assert_eq!(
        state(rig.get(&provider("")).await.expect(200)),
        "Registering"
    );
    rig.pass(1);
    assert_eq!(
        state(rig.get(&provider("")).await.expect(200)),
        "Registered"
    );
    rig.put(&address, json!({"location": "eastus"}))
        .await
        .expect(201);
}

#[tokio::test]
async fn ids_are_taken_in_any_case() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    rig.vm("Vm1", &subnet).await;
    let loud = vm("vm1")
        .to_uppercase()
        .replace("API-VERSION", "api-version");
    let found = rig.get(&loud).await.expect(200);
    assert_eq!(found.text("/name"), "Vm1");
    assert!(
        found
            .text("/id")
            .ends_with("/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/Vm1")
    );
}

#[tokio::test]
async fn bodies_are_checked_like_azure_checks_them() {
    let rig = Rig::new().await;
    let subnet = rig.ground().await;
    let mut body = crate::rig::machine("Standard_D4s_v5", &subnet);
    let profile = body
        .pointer_mut("/properties/hardwareProfile")
        .expect("a profile");
    *profile = json!({"vmSize": "Standard_D4s_v5", "vmsSize": 3});
    let refused = rig.put(&vm("vm1"), body).await.expect(400);
    assert_eq!(refused.code(), "BadRequest");
    let message = refused.text("/error/message");
    assert!(
        message.starts_with("Could not find member 'vmsSize' on object of type"),
        "{message}"
    );
    assert!(
        message.contains("Path 'properties.hardwareProfile.vmsSize', line 1, position"),
        "{message}"
    );
    let headers = [("authorization", "Bearer t")];
    let broken = rig
        .try_send("PUT", &vm("vm1"), &headers, Some("{\"location\": "))
        .await;
    assert_eq!(
        broken.expect("an answer").expect(400).code(),
        "InvalidRequestContent"
    );
    let name = rig
        .put(
            &vm("bad_name!"),
            crate::rig::machine("Standard_D4s_v5", &subnet),
        )
        .await;
    assert_eq!(name.expect(400).code(), "InvalidParameter");
    let nowhere = rig
        .put(
            &network("publicIPAddresses/ip"),
            json!({"location": "mars"}),
        )
        .await;
    assert_eq!(
        nowhere.expect(400).code(),
        "LocationNotAvailableForResourceType"
    );
    let none = rig.put(&network("publicIPAddresses/ip"), json!({})).await;
    assert_eq!(none.expect(400).code(), "LocationRequired");
}
