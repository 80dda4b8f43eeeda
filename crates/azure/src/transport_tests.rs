//! The pipeline at the wire: a scripted server and a clock that does not wait.

use std::time::Duration;

use azure_core::{Method, Url};
use serde_json::json;

use crate::{
    CredentialChoice, RequestFault,
    call::{Call, MachineAction},
    testing::{Act, Server},
};

const VM: &str =
    "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm";

fn call(client: &crate::Client, method: Method) -> Call {
    let query = [("api-version", "2024-07-01")];
    client.call_at(method, VM, &query).expect("a call")
}

#[tokio::test]
async fn each_request_has_a_token_and_an_id_and_connections_are_reused() {
    let server = Server::script(vec![Act::json(200, &json!({}))]).await;
    let (client, _) = server.client().await;
    for _ in 0..5 {
        let call = call(&client, Method::Get);
        client.send(&call).await.expect("an answer");
        let seen = server.seen().pop().expect("a request");
        assert_eq!(seen.header("authorization"), "Bearer sesame");
        assert_eq!(
            seen.header("x-ms-client-request-id"),
            call.client_request_id
        );
        assert!(seen.header("accept-encoding").contains("gzip"));
        assert!(seen.header("user-agent").contains("tensorform"));
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn typed_calls_share_the_pipeline() {
    let server = Server::script(vec![
        Act::error(500, "InternalServerError"),
        Act::empty(202),
    ])
    .await;
    let (client, clock) = server.client().await;
    let call = client
        .machine_call(MachineAction::Delete, &VM.parse().expect("an id"))
        .expect("a call");
    assert_eq!(client.send(&call).await.expect("an answer").status, 202);
    for seen in server.seen() {
        assert_eq!(seen.target, format!("{VM}?api-version=2024-07-01"));
        let id = seen.header("x-ms-client-request-id");
        assert_eq!(id, call.client_request_id);
    }
    assert_eq!(clock.seconds(), [1]);
    assert_eq!(
        client.requests().by_kind.get("virtualMachines/delete"),
        Some(&2)
    );
}

#[tokio::test]
async fn compressed_answers_are_read() {
    // `{"a":1}` compressed with gzip.
    let body = vec![
        0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0x02, 0xff, 0xab, 0x56, 0x4a, 0x54, 0xb2, 0x32, 0xac,
        0x05, 0x00, 0xaf, 0xac, 0x1b, 0x56, 0x07, 0x00, 0x00, 0x00,
    ];
    let act = Act::Answer {
        status: 200,
        headers: vec![("content-encoding".to_owned(), "gzip".to_owned())],
        body,
    };
    let server = Server::script(vec![act]).await;
    let (client, _) = server.client().await;
    let result = client.send(&call(&client, Method::Get)).await;
    assert_eq!(result.expect("an answer").body, json!({"a": 1}));
}

#[tokio::test]
async fn a_pause_is_kept_and_shared() {
    let throttled = Act::error(429, "TooManyRequests").with("retry-after", 17);
    let server = Server::script(vec![throttled, Act::json(200, &json!({}))]).await;
    let (client, clock) = server.client().await;
    client
        .send(&call(&client, Method::Get))
        .await
        .expect("an answer");
    client
        .send(&call(&client, Method::Get))
        .await
        .expect("an answer");
    assert_eq!(clock.seconds().first(), Some(&17));
    assert_eq!(server.seen().len(), 3);
    assert_eq!(client.requests().total, 3);
}

#[tokio::test]
async fn throttling_ends_with_the_patience() {
    let throttled = Act::error(429, "TooManyRequests").with("retry-after", 600);
    let server = Server::script(vec![throttled]).await;
    let (client, clock) = server
        .client_with(|settings| settings.limits.throttle_patience = Duration::from_secs(1_500))
        .await;
    let error = client
        .send(&call(&client, Method::Get))
        .await
        .expect_err("a refusal");
    assert_eq!(error.arm().map(|arm| arm.status), Some(429));
    assert_eq!(server.seen().len(), 3);
    assert_eq!(clock.seconds(), [600, 600]);
}

#[tokio::test]
async fn a_broken_connection_is_tried_again_and_said() {
    let server = Server::script(vec![Act::HangUp, Act::error(412, "PreconditionFailed")]).await;
    let (client, _) = server.client().await;
    let error = client
        .send(&call(&client, Method::Put))
        .await
        .expect_err("a refusal");
    let arm = error.arm().expect("an answer");
    assert_eq!((arm.status, arm.after_unanswered), (412, true));

    let server = Server::script(vec![Act::HangUp]).await;
    let (client, _) = server.client().await;
    let error = client
        .send(&call(&client, Method::Post))
        .await
        .expect_err("no answer");
    assert!(
        matches!(error.fault, RequestFault::Unanswered { .. }),
        "{error:?}"
    );
    assert_eq!(server.seen().len(), 1, "a POST is not sent twice");
}

#[tokio::test]
async fn nobody_listening_is_said_soon() {
    let server = Server::script(vec![Act::empty(200)]).await;
    // A port that was free a moment ago.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let (client, clock) = server
        .client_with(|settings| settings.endpoint = Some(format!("http://{address}")))
        .await;
    let error = client
        .send(&call(&client, Method::Post))
        .await
        .expect_err("nobody");
    assert!(
        matches!(error.fault, RequestFault::NotConnected { .. }),
        "{error:?}"
    );
    assert!(clock.waits().iter().sum::<Duration>() < Duration::from_secs(3));
}

#[tokio::test]
async fn the_token_goes_nowhere_else() {
    let server = Server::script(vec![Act::json(200, &json!({}))]).await;
    let (client, _) = server.client().await;
    for elsewhere in ["https://evil.test/poll", "http://127.0.0.1:1/poll"] {
        let url = Url::parse(elsewhere).expect("a url");
        let error = client
            .send(&Call::new(Method::Get, url))
            .await
            .expect_err("a refusal");
        assert!(
            matches!(error.fault, RequestFault::ForeignOrigin { .. }),
            "{error:?}"
        );
    }
    assert!(server.seen().is_empty());
    let mut settings = crate::Settings::new(std::collections::BTreeMap::new());
    settings.endpoint = Some("http://arm.test".to_owned());
    let error = crate::Client::connect(settings)
        .await
        .expect_err("a refusal");
    assert!(error.to_string().contains("plain http"), "{error}");
}

#[tokio::test]
async fn an_expired_token_is_renewed_once() {
    let server = Server::script(vec![Act::error(401, "ExpiredAuthenticationToken")]).await;
    let (client, _) = server.client().await;
    let error = client
        .send(&call(&client, Method::Get))
        .await
        .expect_err("a refusal");
    assert_eq!(
        error.arm().map(|arm| arm.code.as_str()),
        Some("ExpiredAuthenticationToken")
    );
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_refusal_keeps_what_a_support_ticket_needs() {
    let act = Act::error(403, "AuthorizationFailed")
        .with("x-ms-request-id", "r-1")
        .with("x-ms-correlation-request-id", "c-1");
    let server = Server::script(vec![act]).await;
    let (client, _) = server.client().await;
    let error = client
        .send(&call(&client, Method::Get))
        .await
        .expect_err("a refusal");
    assert_eq!(error.to_string(), format!("GET {VM} failed"));
    let arm = error.arm().expect("an answer");
    assert_eq!(arm.request_id.as_deref(), Some("r-1"));
    assert_eq!(arm.correlation_id.as_deref(), Some("c-1"));
    assert!(!format!("{error:?}").contains("sesame"));
}

#[tokio::test]
async fn pages_are_followed_and_a_page_that_is_none_is_an_error() {
    let server = Server::start(|seen| {
        let host = seen.header("host");
        if seen.target.contains("skiptoken") {
            Act::json(200, &json!({"value": [3]}))
        } else if seen.target.contains("broken") {
            Act::json(200, &json!({"items": []}))
        } else {
            let next = format!("http://{host}/x?%24skiptoken=a");
            Act::json(200, &json!({"value": [1, 2], "nextLink": next}))
        }
    })
    .await;
    let (client, _) = server.client().await;
    assert_eq!(client.list("/x", &[]).await.expect("a list"), [1, 2, 3]);
    let error = client.list("/broken", &[]).await.expect_err("no list");
    assert!(matches!(error.fault, RequestFault::Unreadable(_)));
}

#[tokio::test]
async fn the_users_limit_on_requests_is_kept() {
    let server = Server::script(vec![Act::json(200, &json!({}))]).await;
    let (client, clock) = server
        .client_with(|settings| settings.limits.requests_per_second = Some(10))
        .await;
    for _ in 0..11 {
        client
            .send(&call(&client, Method::Get))
            .await
            .expect("an answer");
    }
    assert!(clock.waits().iter().sum::<Duration>() >= Duration::from_secs(1));
}

#[tokio::test]
async fn an_answer_without_an_end_is_left() {
    let server = Server::script(vec![Act::json(200, &json!({"value": "x".repeat(2_000)}))]).await;
    let (client, _) = server
        .client_with(|settings| settings.limits.answer_bytes = 1_000)
        .await;
    let error = client
        .send(&call(&client, Method::Get))
        .await
        .expect_err("too long");
    let RequestFault::Unreadable(why) = error.fault else {
        panic!("{error:?}");
    };
    assert_eq!(why, "it has more than 1000 bytes");
    assert_eq!(server.seen().len(), 1, "the next answer would be as long");
}

#[tokio::test]
async fn a_token_that_cannot_stand_in_a_header_is_no_trouble_of_the_network() {
    let server = Server::script(vec![Act::json(200, &json!({}))]).await;
    let (client, clock) = server
        .client_with(|settings| settings.credential = CredentialChoice::Fixed("a\nb".to_owned()))
        .await;
    let error = client
        .send(&call(&client, Method::Get))
        .await
        .expect_err("no request");
    assert!(matches!(error.fault, RequestFault::Sdk(_)), "{error:?}");
    assert_eq!((server.connections(), clock.waits().len()), (0, 0));
}

/// Collects what our own code logs, whatever the level.
#[derive(Clone, Default)]
struct Logged(std::sync::Arc<std::sync::Mutex<String>>);

impl tracing::Subscriber for Logged {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("tensorform")
    }
    fn new_span(&self, _attributes: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _id: &tracing::span::Id, _values: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _id: &tracing::span::Id, _follows: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        struct Fields<'a>(&'a mut String);
        impl tracing::field::Visit for Fields<'_> {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                self.0.extend([field.name(), "=", &format!("{value:?} ")]);
            }
        }
        event.record(&mut Fields(&mut self.0.lock().expect("no thread panics")));
    }
    fn enter(&self, _id: &tracing::span::Id) {}
    fn exit(&self, _id: &tracing::span::Id) {}
}

#[tokio::test]
async fn nothing_secret_is_logged() {
    let logged = Logged::default();
    let _guard = tracing::subscriber::set_default(logged.clone());
    let server = Server::script(vec![
        Act::error(401, "ExpiredAuthenticationToken"),
        Act::error(503, "ServiceUnavailable"),
        Act::json(200, &json!({"password": "hunter2"})),
    ])
    .await;
    let (client, _) = server.client().await;
    let call = call(&client, Method::Put).body(json!({"password": "hunter2"}));
    client.send(&call).await.expect("an answer");
    let text = logged.0.lock().expect("no thread panics").clone();
    assert!(text.contains("virtualMachines/put"), "{text}");
    assert!(
        !text.contains("sesame") && !text.contains("hunter2"),
        "{text}"
    );
}
