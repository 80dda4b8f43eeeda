//! Lists of servers that keep no promise: they end, and only the endpoint is asked.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::testing::{Act, Server, odd, stage::Stage};

const PATH: &str = "/subscriptions/s/resources";

async fn read(server: &Server) -> Result<Vec<Value>, RequestError> {
    let (client, _) = server
        .client_with(|settings| settings.limits.pages = 20)
        .await;
    client.list(PATH, &[]).await
}

fn unreadable(result: Result<Vec<Value>, RequestError>) -> String {
    let error = result.expect_err("no list");
    let RequestFault::Unreadable(why) = error.fault else {
        panic!("{error:?}");
    };
    why
}

#[tokio::test]
async fn pages_that_go_round_in_circles_are_an_error() {
    let server = Server::start(|seen| {
        let other = if seen.target.ends_with("?b") {
            "a"
        } else {
            "b"
        };
        let next = format!("http://{}{PATH}?{other}", seen.header("host"));
        Act::json(200, &json!({"value": [1], "nextLink": next}))
    })
    .await;
    let why = unreadable(read(&server).await);
    assert!(why.contains("round in circles"), "{why}");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_list_without_an_end_is_an_error() {
    let pages = AtomicUsize::new(0);
    let server = Server::start(move |seen| {
        let page = pages.fetch_add(1, Ordering::SeqCst);
        let next = format!("http://{}{PATH}?page={page}", seen.header("host"));
        Act::json(200, &json!({"value": [], "nextLink": next}))
    })
    .await;
    let why = unreadable(read(&server).await);
    assert_eq!(
        why,
        "the list has no end: 20 pages were read, and there is one more"
    );
    assert_eq!(server.seen().len(), 20);
}

#[tokio::test]
async fn empty_pages_are_no_end() {
    let pages = AtomicUsize::new(0);
    let server = Server::start(move |seen| match pages.fetch_add(1, Ordering::SeqCst) {
        5 => Act::json(200, &json!({"value": ["last"], "nextLink": null})),
        page => {
            let next = format!("http://{}{PATH}?page={page}", seen.header("host"));
            Act::json(200, &json!({"value": [], "nextLink": next}))
        }
    })
    .await;
    assert_eq!(read(&server).await.expect("a list"), [json!("last")]);
}

/// Where a page says that the next one is.
fn next_link() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => (0..30).prop_map(|page| json!(format!("{{here}}{PATH}?page={page}"))),
        1 => Just(json!("")),
        1 => Just(json!("http://{elsewhere}/subscriptions")),
        1 => Just(json!("https://{elsewhere}/subscriptions")),
        1 => Just(json!("//{elsewhere}/subscriptions")),
        1 => Just(json!("http://127.0.0.1@{elsewhere}/subscriptions")),
        1 => odd::scalar(),
    ]
}

/// The body of a page.
fn page() -> impl Strategy<Value = Value> {
    let good = (proptest::collection::vec(odd::scalar(), 0..4), next_link())
        .prop_map(|(items, next)| json!({"value": items, "nextLink": next}));
    let good = good.boxed();
    prop_oneof![
        6 => good.clone(),
        1 => good.prop_flat_map(|page| odd::harmed(vec![page])),
        1 => odd::json(),
    ]
}

#[test]
fn every_list_ends_and_no_token_leaves_for_elsewhere() {
    let stage = Stage::new(|settings| settings.limits.pages = 20);
    let (here, elsewhere) = (stage.server.url(), stage.host_elsewhere());
    let act = |page: &Value| {
        let text = page.to_string().replace("{here}", &here);
        let text = text.replace("{elsewhere}", &elsewhere);
        Act::Answer {
            status: 200,
            headers: Vec::new(),
            body: text.into_bytes(),
        }
    };
    stage.holds(
        &proptest::collection::vec(page(), 1..6),
        &async |stage: &Stage, pages| {
            let before = stage.server.seen().len();
            stage.answers(pages.iter().map(act).collect());
            if let Err(error) = stage.client.list(PATH, &[]).await {
                assert!(!error.reason().is_empty());
            }
            let asked = stage.server.seen().len() - before;
            assert!(asked <= 20, "{asked} requests");
        },
    );
    assert_eq!(stage.elsewhere.connections(), 0, "somebody else was asked");
}
