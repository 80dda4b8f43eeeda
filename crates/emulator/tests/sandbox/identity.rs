//! Tokens, prices, and the sandbox's own paths.

use serde_json::{Value, json};
use tensorform_emulator::{Pages, RequestKind, TENANT};

use crate::rig::{Reply, Rig, SUBSCRIPTION, everywhere, group};

async fn form(rig: &Rig, path: &str, body: &str) -> Reply {
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    rig.try_send("POST", path, &headers, Some(body))
        .await
        .expect("an answer")
}

/// The claims of a token.
fn claims(token: &str) -> Value {
    let part = token.split('.').nth(1).expect("three parts");
    let mut bits = 0u32;
    let mut held = 0u32;
    let mut bytes = Vec::new();
    for letter in part.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'-' => 62,
            _ => 63,
        };
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xff).expect("a byte"));
        }
    }
    serde_json::from_slice(&bytes).expect("claims")
}

#[tokio::test]
async fn clients_find_the_token_endpoint_and_get_a_token() {
    let rig = Rig::new().await;
    let path = format!("/{TENANT}/v2.0/.well-known/openid-configuration");
    let found = rig
        .try_send("GET", &path, &[], None)
        .await
        .expect("an answer")
        .expect(200);
    let endpoint = found
        .text("/token_endpoint")
        .replace(rig.sandbox.endpoint(), "");
    let body = "grant_type=client_credentials&client_id=app&client_secret=s&scope=https%3A%2F%2Fmanagement.azure.com%2F.default";
    let given = form(&rig, &endpoint, body).await.expect(200);
    assert_eq!(given.text("/token_type"), "Bearer");
    let claims = claims(given.text("/access_token"));
    assert_eq!(claims.get("appid"), Some(&json!("app")));
    assert_eq!(claims.get("tid"), Some(&json!(TENANT)));
    assert_eq!(
        claims.get("aud"),
        Some(&json!("https://management.azure.com/"))
    );
    let bearer = format!("Bearer {}", given.text("/access_token"));
    let headers = [("authorization", bearer.as_str())];
    let subscriptions = rig
        .try_send(
            "GET",
            "/subscriptions?api-version=2022-12-01",
            &headers,
            None,
        )
        .await;
    subscriptions.expect("an answer").expect(200);
    for (body, error) in [
        ("client_id=app", "invalid_request"),
        ("grant_type=client_credentials", "invalid_request"),
        (
            "grant_type=client_credentials&client_id=app",
            "invalid_client",
        ),
        ("grant_type=magic&client_id=app", "unsupported_grant_type"),
    ] {
        assert_eq!(
            form(&rig, &endpoint, body).await.expect(400).text("/error"),
            error
        );
    }
}

#[tokio::test]
async fn managed_identities_get_tokens() {
    let rig = Rig::new().await;
    let resource = "resource=https%3A%2F%2Fmanagement.azure.com%2F";
    let imds = format!("/metadata/identity/oauth2/token?api-version=2018-02-01&{resource}");
    let bare = rig
        .try_send("GET", &imds, &[], None)
        .await
        .expect("an answer");
    assert_eq!(bare.expect(400).text("/error"), "invalid_request");
    let given = rig
        .try_send("GET", &imds, &[("metadata", "true")], None)
        .await;
    let given = given.expect("an answer").expect(200);
    assert_eq!(given.text("/resource"), "https://management.azure.com/");
    assert!(given.text("/expires_on").parse::<u64>().is_ok());
    let service = format!("/msi/token?api-version=2019-08-01&{resource}");
    let bare = rig
        .try_send("GET", &service, &[], None)
        .await
        .expect("an answer");
    bare.expect(400);
    let given = rig
        .try_send("GET", &service, &[("x-identity-header", "secret")], None)
        .await;
    let given = given.expect("an answer").expect(200);
    assert!(!given.text("/access_token").is_empty());
}

#[tokio::test]
async fn prices_are_filtered_and_paged() {
    let rig = Rig::with(|options| tensorform_emulator::Options {
        pages: Pages {
            prices: 2,
            ..Pages::default()
        },
        ..options
    })
    .await;
    let filter = "$filter=serviceName%20eq%20'Virtual%20Machines'%20and%20armRegionName%20eq%20'eastus'%20and%20armSkuName%20eq%20'Standard_D4s_v5'";
    let path = format!("/api/retail/prices?currencyCode=USD&{filter}");
    let get = async |path: &str| {
        let reply = rig.try_send("GET", path, &[], None).await;
        reply.expect("an answer").expect(200)
    };
    let first = get(&path).await;
    let items = |reply: &Reply| {
        reply
            .body
            .get("Items")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    assert_eq!(items(&first).len(), 2);
    let next = first
        .text("/NextPageLink")
        .replace(rig.sandbox.endpoint(), "");
    let second = get(&next).await;
    assert_eq!(second.body.get("NextPageLink"), Some(&Value::Null));
    let all: Vec<Value> = items(&first).into_iter().chain(items(&second)).collect();
    for item in &all {
        assert_eq!(item.get("armSkuName"), Some(&json!("Standard_D4s_v5")));
        assert_eq!(item.get("currencyCode"), Some(&json!("USD")));
        assert!(
            item.get("retailPrice")
                .and_then(Value::as_f64)
                .is_some_and(|price| price > 0.0)
        );
    }
    let spot = |item: &Value| {
        item.get("skuName")
            .and_then(Value::as_str)
            .is_some_and(|name| name.ends_with(" Spot"))
    };
    assert_eq!(all.iter().filter(|item| spot(item)).count(), 1);
    let spots = format!("{path}%20and%20contains(skuName,'Spot')");
    assert_eq!(items(&get(&spots).await).len(), 1);
    let euro = rig
        .try_send("GET", "/api/retail/prices?currencyCode=EUR", &[], None)
        .await;
    euro.expect("an answer").expect(400);
}

#[tokio::test]
async fn the_log_and_the_counts_agree() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    let headers = [
        ("x-ms-client-request-id", "mine"),
        ("x-ms-return-client-request-id", "true"),
    ];
    let reply = rig
        .send_with("GET", &group("rg"), &headers, None)
        .await
        .expect(200);
    assert_eq!(reply.header("x-ms-client-request-id"), "mine");
    rig.get(&group("other")).await.expect(404);
    rig.get(&everywhere(
        "Microsoft.Compute",
        "virtualMachines",
        "2024-07-01",
    ))
    .await
    .expect(200);
    let records = rig.sandbox.requests();
    let kinds: Vec<RequestKind> = records.iter().map(|record| record.kind).collect();
    assert_eq!(
        kinds,
        [
            RequestKind::Write,
            RequestKind::Read,
            RequestKind::Read,
            RequestKind::List
        ]
    );
    let named = records.get(1).expect("the second");
    assert_eq!(named.client_request_id.as_deref(), Some("mine"));
    assert_eq!(named.resource_type, "Microsoft.Resources/resourceGroups");
    assert_eq!(named.status, Some(200));
    let counters = rig.sandbox.counters();
    assert_eq!(counters.arm(), 4);
    assert_eq!(counters.by_status.get(&404), Some(&1));
    let shown = rig.get("/sandbox/counters").await.expect(200);
    assert_eq!(
        shown.body.pointer("/byKind/read"),
        Some(&json!(2)),
        "{}",
        shown.body
    );
    let log = rig.get("/sandbox/log?since=2").await.expect(200);
    assert_eq!(log.items().len(), 2, "{}", log.body);
    let about = rig.get("/sandbox").await.expect(200);
    assert_eq!(
        about.body.get("subscriptions"),
        Some(&json!([SUBSCRIPTION]))
    );
    rig.delete("/sandbox/log").await.expect(204);
    assert_eq!(rig.sandbox.requests().len(), 0);
}

#[tokio::test]
async fn the_clock_can_be_moved_from_outside() {
    let rig = Rig::new().await;
    rig.group("rg").await;
    rig.delete(&group("rg")).await.expect(202);
    let headers = [("content-type", "application/json")];
    let moved = rig
        .try_send(
            "POST",
            "/sandbox/clock/advance",
            &headers,
            Some("{\"seconds\": 60}"),
        )
        .await;
    let moved = moved.expect("an answer").expect(200);
    assert!(
        moved.text("/now").starts_with("2026-08-01T00:01:00"),
        "{}",
        moved.body
    );
    rig.get(&group("rg")).await.expect(404);
}

#[tokio::test]
async fn the_cloud_is_one_or_a_list_by_version() {
    let rig = Rig::new().await;
    let get = async |version: &str| {
        let path = format!("/metadata/endpoints?api-version={version}");
        let reply = rig.try_send("GET", &path, &[], None).await;
        reply.expect("an answer").expect(200)
    };
    let endpoint = rig.sandbox.endpoint();
    let one = get("2022-09-01").await;
    assert_eq!(one.text("/resourceManager"), format!("{endpoint}/"));
    assert_eq!(one.text("/authentication/loginEndpoint"), endpoint);
    assert_eq!(one.text("/authentication/tenant"), "common");
    assert_eq!(one.text("/authentication/identityProvider"), "AAD");
    let list = get("2019-05-01").await;
    assert_eq!(list.text("/0/name"), "Sandbox");
}
