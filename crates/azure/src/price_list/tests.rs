//! The price list at the wire.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::json;

use super::*;
use crate::{
    clock::testing::TestClock,
    error::RequestFault,
    testing::{Act, Seen, Server},
};

fn settings(server: &Server) -> (Settings, Arc<TestClock>) {
    let clock = Arc::new(TestClock::default());
    let mut settings = Settings::new(BTreeMap::new());
    settings.endpoint = Some(server.url());
    settings.clock = clock.clone();
    (settings, clock)
}

async fn machines(server: &Server) -> (Result<Vec<Value>, RequestError>, Arc<TestClock>) {
    let (settings, clock) = settings(server);
    let list = PriceList::new(&settings).expect("the endpoint is acceptable");
    (list.machines(&Region::new("eastus")).await, clock)
}

fn page(items: &Value, count: usize, next: Option<&str>) -> Act {
    let body =
        json!({"BillingCurrency": "USD", "Items": items, "Count": count, "NextPageLink": next});
    Act::json(200, &body)
}

fn two_pages(seen: &Seen) -> Act {
    if seen.target.contains("skip=2") {
        return page(&json!([3]), 1, None);
    }
    let next = format!("http://{}{PATH}?$skip=2", seen.header("host"));
    page(&json!([1, 2]), 2, Some(&next))
}

#[tokio::test]
async fn all_pages_are_read_and_nobody_is_told_who_asks() {
    let server = Server::start(two_pages).await;
    let (found, _) = machines(&server).await;
    assert_eq!(found.expect("the list"), [json!(1), json!(2), json!(3)]);
    let seen = server.seen();
    let targets: Vec<&str> = seen.iter().map(|seen| seen.target.as_str()).collect();
    let first = "/api/retail/prices?currencyCode=USD&%24filter=serviceName%20eq%20%27Virtual%20Machines%27%20and%20armRegionName%20eq%20%27eastus%27&api-version=2023-01-01-preview";
    assert_eq!(targets, [first, "/api/retail/prices?$skip=2"]);
    assert!(
        seen.iter()
            .all(|seen| seen.header("authorization").is_empty())
    );
}

#[tokio::test]
async fn a_throttled_page_is_asked_for_again_after_what_it_says() {
    let server = Server::script(vec![
        Act::error(429, "TooManyRequests").with("retry-after", 7),
        page(&json!([1]), 1, None),
    ])
    .await;
    let (found, clock) = machines(&server).await;
    assert_eq!(found.expect("the list"), [json!(1)]);
    assert_eq!(clock.seconds(), [7]);
}

#[tokio::test]
async fn a_page_that_breaks_off_is_an_error() {
    let cases = [
        (
            page(&json!([1]), 2, None),
            "it says that it has 2 items and has 1",
        ),
        (
            Act::json(200, &json!({"value": []})),
            "expected a list in `Items`",
        ),
        (
            page(&json!([1]), 1, Some("no address")),
            "`NextPageLink` is no address: relative URL without a base",
        ),
    ];
    for (act, expected) in cases {
        let server = Server::script(vec![act]).await;
        let (found, _) = machines(&server).await;
        let RequestFault::Unreadable(why) = found.expect_err("no list").fault else {
            panic!("expected an unreadable answer");
        };
        assert_eq!(why, expected);
    }
}

#[tokio::test]
async fn another_host_is_not_asked() {
    let elsewhere = Server::script(vec![page(&json!([2]), 1, None)]).await;
    let next = format!("{}{PATH}", elsewhere.url());
    let server = Server::script(vec![page(&json!([1]), 1, Some(&next))]).await;
    let (found, _) = machines(&server).await;
    let fault = found.expect_err("no list").fault;
    assert!(
        matches!(fault, RequestFault::ForeignOrigin { .. }),
        "{fault:?}"
    );
    assert_eq!(elsewhere.seen().len(), 0);
}

#[tokio::test]
async fn each_cloud_has_its_list_and_making_a_connection_sends_nothing() {
    for (cloud, endpoint) in [
        (Cloud::Public, "https://prices.azure.com/"),
        (Cloud::UsGovernment, "https://prices.azure.com/"),
        (Cloud::China, "https://prices.azure.cn/"),
    ] {
        let mut settings = Settings::new(BTreeMap::new());
        settings.cloud = cloud;
        let list = PriceList::new(&settings).expect("the endpoint is acceptable");
        assert_eq!((list.endpoint(), list.requests().total), (endpoint, 0));
    }
}

#[tokio::test]
async fn a_rate_that_is_given_holds() {
    let server = Server::start(two_pages).await;
    let (mut settings, clock) = settings(&server);
    settings.limits.requests_per_second = Some(1);
    let list = PriceList::new(&settings).expect("the endpoint is acceptable");
    list.machines(&Region::new("eastus"))
        .await
        .expect("the list");
    assert!(!clock.waits().is_empty());
}
