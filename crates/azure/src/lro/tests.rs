//! Operations answer by answer, and at the wire.

mod harmed;

use std::time::Duration;

use azure_core::{Method, Url, headers::Headers};
use serde_json::{Value, json};

use super::{Operation, Poll, drive};
use crate::{
    call::Reply,
    error::{ArmError, RequestError, RequestFault},
    testing::{Act, Server},
};

const STATUS: &str = "https://arm.test/operations/1";
const RESOURCE: &str = "https://arm.test/vm";

type Answer = Result<Reply, RequestError>;

fn url(text: &str) -> Url {
    Url::parse(text).expect("a url")
}

fn reply(status: u16, headers: &[(&'static str, &str)], body: Value) -> Reply {
    let mut all = Headers::new();
    for (name, value) in headers {
        all.insert(*name, (*value).to_owned());
    }
    Reply {
        status,
        headers: all,
        body,
    }
}

fn refused(status: u16, code: &str) -> Answer {
    Err(RequestError {
        method: "GET".to_owned(),
        target: "/x".to_owned(),
        fault: RequestFault::Refused(Box::new(ArmError {
            status,
            code: code.to_owned(),
            ..ArmError::default()
        })),
    })
}

#[expect(clippy::unnecessary_wraps, reason = "answers to polls are results")]
fn answered(body: Value) -> Answer {
    Ok(reply(200, &[], body))
}

fn state(word: &str) -> Answer {
    answered(json!({ "status": word }))
}

fn resource(word: &str) -> Answer {
    answered(json!({"properties": {"provisioningState": word}}))
}

fn begin(method: Method, first: &Reply) -> (Operation, Poll) {
    Operation::begin(method, url(RESOURCE), first)
}

fn status_operation(method: Method) -> Operation {
    let first = reply(
        201,
        &[("azure-asyncoperation", STATUS), ("retry-after", "10")],
        json!({"properties": {"provisioningState": "Creating"}}),
    );
    begin(method, &first).0
}

/// Where the poll goes and after how many milliseconds; `None` at the end.
fn waits(poll: &Poll) -> Option<(&str, u64)> {
    match poll {
        Poll::Wait { url, after, .. } => {
            let milliseconds = u64::try_from(after.as_millis()).expect("a short wait");
            Some((url.as_str(), milliseconds))
        }
        Poll::Done(_) | Poll::Failed(_) => None,
    }
}

#[test]
fn the_status_address_is_trusted_before_all_others() {
    let first = reply(
        202,
        &[
            ("azure-asyncoperation", STATUS),
            ("location", "https://arm.test/monitor"),
            ("retry-after", "30"),
        ],
        Value::Null,
    );
    let (mut operation, poll) = begin(Method::Post, &first);
    assert_eq!(waits(&poll), Some((STATUS, 30_000)));
    for word in ["InProgress", "Running", "Accepted", "upgrading", ""] {
        assert!(waits(&operation.next(&state(word))).is_some(), "{word}");
    }
    assert_eq!(operation.next(&state("sUCCEEDED")), Poll::Done(None));
}

#[test]
fn a_write_ends_when_the_resource_says_so() {
    let mut operation = status_operation(Method::Put);
    assert_eq!(
        waits(&operation.next(&state("Succeeded"))),
        Some((RESOURCE, 0))
    );
    // A subnet said Updating after its operation had succeeded.
    assert!(waits(&operation.next(&resource("Updating"))).is_some());
    let Poll::Done(Some(body)) = operation.next(&resource("Succeeded")) else {
        panic!("the end");
    };
    assert_eq!(
        body.pointer("/properties/provisioningState"),
        Some(&json!("Succeeded"))
    );
}

#[test]
fn a_failed_operation_says_why() {
    for word in ["Failed", "canceled", "Cancelled"] {
        let mut operation = status_operation(Method::Put);
        let body =
            json!({"status": word, "error": {"code": "AllocationFailed", "message": "full"}});
        let Poll::Failed(error) = operation.next(&Ok(reply(200, &[], body))) else {
            panic!("a failure");
        };
        assert_eq!(
            (error.code.as_str(), error.message.as_str()),
            ("AllocationFailed", "full")
        );
        // An `error` beside another status means nothing.
        let mut operation = status_operation(Method::Put);
        let body =
            json!({"status": "InProgress", "error": {"code": "NotLatestOperation", "message": ""}});
        assert!(waits(&operation.next(&Ok(reply(200, &[], body)))).is_some());
    }
}

#[test]
fn a_location_is_followed_until_it_is_no_202() {
    let first = reply(
        202,
        &[("location", "https://arm.test/1"), ("retry-after", "15")],
        Value::Null,
    );
    let (mut operation, poll) = begin(Method::Delete, &first);
    assert_eq!(waits(&poll), Some(("https://arm.test/1", 15_000)));
    let next = reply(202, &[("location", "https://arm.test/2")], Value::Null);
    assert_eq!(
        waits(&operation.next(&Ok(next))).map(|(url, _)| url),
        Some("https://arm.test/2")
    );
    assert_eq!(
        operation.next(&Ok(reply(204, &[], Value::Null))),
        Poll::Done(None)
    );

    let (mut operation, _) = begin(Method::Post, &first);
    assert!(matches!(
        operation.next(&refused(409, "Conflict")),
        Poll::Failed(_)
    ));
}

#[test]
fn without_addresses_the_resource_tells() {
    let creating = json!({"properties": {"provisioningState": "Creating"}});
    let (mut operation, poll) = begin(Method::Put, &reply(201, &[], creating));
    assert_eq!(waits(&poll), Some((RESOURCE, 1_000)));
    assert!(matches!(
        operation.next(&resource("Succeeded")),
        Poll::Done(Some(_))
    ));
    let (_, poll) = begin(Method::Put, &reply(200, &[], json!({"location": "eastus"})));
    assert!(matches!(poll, Poll::Done(Some(_))), "no state means done");
    let (_, poll) = begin(Method::Delete, &reply(200, &[], Value::Null));
    assert_eq!(poll, Poll::Done(None));
    let (_, poll) = begin(Method::Put, &resource("Failed").expect("a reply"));
    assert!(matches!(poll, Poll::Failed(_)));
}

#[test]
fn a_delete_ends_when_the_resource_is_gone() {
    let (mut operation, poll) = begin(Method::Delete, &reply(202, &[], Value::Null));
    assert_eq!(waits(&poll).map(|(url, _)| url), Some(RESOURCE));
    assert!(waits(&operation.next(&resource("Deleting"))).is_some());
    assert_eq!(operation.next(&refused(404, "NotFound")), Poll::Done(None));
    // An operation that never ends is checked against the resource now and then.
    let first = reply(202, &[("azure-asyncoperation", STATUS)], Value::Null);
    let (mut operation, mut poll) = begin(Method::Delete, &first);
    for _ in 0..20 {
        let gone = waits(&poll).map(|(url, _)| url) == Some(RESOURCE);
        poll = operation.next(&if gone {
            refused(404, "NotFound")
        } else {
            state("InProgress")
        });
        if poll == Poll::Done(None) {
            return;
        }
    }
    panic!("nobody looked at the resource");
}

#[test]
fn a_lost_operation_is_judged_by_its_resource() {
    let mut operation = status_operation(Method::Put);
    assert_eq!(
        waits(&operation.next(&refused(404, "NotFound"))),
        Some((RESOURCE, 0))
    );
    assert!(matches!(
        operation.next(&resource("Succeeded")),
        Poll::Done(Some(_))
    ));
}

#[test]
fn a_resource_may_be_absent_for_a_moment_and_not_for_long() {
    let mut operation = status_operation(Method::Put);
    operation.next(&state("Succeeded"));
    assert!(waits(&operation.next(&refused(404, "ResourceNotFound"))).is_some());
    assert!(matches!(
        operation.next(&resource("Succeeded")),
        Poll::Done(_)
    ));

    let mut operation = status_operation(Method::Put);
    operation.next(&state("Succeeded"));
    let mut total = 0;
    let error = loop {
        match operation.next(&refused(404, "ResourceNotFound")) {
            Poll::Wait { after, .. } => total += after.as_secs(),
            Poll::Failed(error) => break error,
            Poll::Done(_) => panic!("it is gone"),
        }
    };
    assert_eq!((error.code.as_str(), total), ("ResourceVanished", 30));
}

#[test]
fn trouble_with_a_poll_says_nothing_about_the_operation() {
    let mut operation = status_operation(Method::Put);
    for status in [500, 502, 503, 504, 408, 429] {
        for _ in 0..10 {
            assert!(
                waits(&operation.next(&refused(status, "X"))).is_some(),
                "{status}"
            );
        }
    }
    // Refusals to tell lead to the resource.
    for _ in 0..2 {
        assert_eq!(
            waits(&operation.next(&refused(403, "X"))).map(|(url, _)| url),
            Some(STATUS)
        );
    }
    assert_eq!(
        waits(&operation.next(&refused(403, "X"))),
        Some((RESOURCE, 0))
    );
}

#[test]
fn waits_follow_the_service_or_back_off() {
    let mut operation = status_operation(Method::Post);
    let mut after = |header: Option<&'static str>| {
        let headers: Vec<(&'static str, &str)> =
            header.iter().map(|value| ("retry-after", *value)).collect();
        let poll = operation.next(&Ok(reply(200, &headers, json!({"status": "InProgress"}))));
        waits(&poll).expect("a wait").1
    };
    assert_eq!(after(Some("160")), 160_000);
    let own: Vec<u64> = (0..5).map(|_| after(None)).collect();
    assert_eq!(own, [4_000, 8_000, 10_000, 10_000, 10_000]);
    let mut operation = status_operation(Method::Post);
    let floors: Vec<u64> = (0..10)
        .map(|_| {
            let body = json!({"status": "InProgress"});
            let poll = operation.next(&Ok(reply(200, &[("retry-after", "0")], body)));
            waits(&poll).expect("a wait").1
        })
        .collect();
    assert_eq!(
        floors,
        [40, 80, 160, 320, 640, 1_280, 2_000, 2_000, 2_000, 2_000]
    );
}

async fn follow(acts: Vec<Act>, method: Method, deadline: u64) -> (Outcome, Server, Vec<u64>) {
    let server = Server::script(acts).await;
    let (client, clock) = server.client().await;
    let call = client.call_at(method, "/vm", &[]).expect("a call");
    let status = format!("{}/operations/1", server.url());
    let first = reply(202, &[("azure-asyncoperation", &status)], Value::Null);
    let mut states = Vec::new();
    let mut report = |state: &str| states.push(state.to_owned());
    let deadline = Duration::from_secs(deadline);
    let result = drive::follow(&client, &call, &first, deadline, &mut report).await;
    ((result, states), server, clock.seconds())
}

type Outcome = (Result<Option<Value>, drive::OperationError>, Vec<String>);

#[tokio::test]
async fn throttled_polls_come_no_sooner_than_asked() {
    let throttled = Act::error(429, "TooManyRequests").with("retry-after", 30);
    let acts = vec![
        throttled.clone(),
        throttled.clone(),
        throttled,
        Act::json(200, &json!({"status": "Succeeded"})),
    ];
    let ((result, _), server, seconds) = follow(acts, Method::Post, 3_600).await;
    assert!(result.is_ok());
    assert_eq!(server.seen().len(), 4);
    assert_eq!(
        seconds.iter().filter(|seconds| **seconds >= 30).count(),
        3,
        "{seconds:?}"
    );
}

#[tokio::test]
async fn an_operation_without_an_end_meets_the_deadline_and_is_reported_meanwhile() {
    let running = Act::json(200, &json!({"status": "InProgress"})).with("retry-after", 30);
    let ((result, states), server, _) = follow(vec![running], Method::Put, 300).await;
    let Err(drive::OperationError::Deadline { waited, state }) = result else {
        panic!("a deadline");
    };
    assert_eq!((waited.as_secs(), state.as_str()), (300, "InProgress"));
    assert!(server.seen().len() <= 11);
    assert!(
        states.len() >= 28,
        "a heartbeat each ten seconds: {}",
        states.len()
    );
}

#[tokio::test]
async fn an_address_elsewhere_is_refused() {
    let server = Server::script(vec![Act::json(200, &json!({"status": "Succeeded"}))]).await;
    let (client, _) = server.client().await;
    let call = client.call_at(Method::Put, "/vm", &[]).expect("a call");
    let first = reply(
        201,
        &[("azure-asyncoperation", "https://evil.test/1")],
        Value::Null,
    );
    let deadline = Duration::from_secs(60);
    let result = drive::follow(&client, &call, &first, deadline, &mut |_| {}).await;
    let Err(drive::OperationError::Request(error)) = result else {
        panic!("a refusal");
    };
    assert!(matches!(error.fault, RequestFault::ForeignOrigin { .. }));
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn an_operation_that_nobody_answers_for_is_given_up_long_before_its_deadline() {
    let ((result, _), _, seconds) = follow(vec![Act::HangUp], Method::Put, 86_400).await;
    let Err(drive::OperationError::Request(error)) = result else {
        panic!("no answer");
    };
    assert!(matches!(error.fault, RequestFault::Unanswered { .. }));
    let waited: u64 = seconds.iter().sum();
    assert!((250..400).contains(&waited), "{waited}");
}

#[tokio::test]
async fn a_network_that_comes_back_in_time_loses_nothing() {
    let answered = Act::json(200, &json!({"status": "InProgress"}));
    // Six attempts are one poll; three polls without an answer are less than the limit.
    let mut acts = Vec::new();
    for _ in 0..8 {
        acts.extend(vec![Act::HangUp; 18]);
        acts.push(answered.clone());
    }
    acts.push(Act::json(200, &json!({"status": "Succeeded"})));
    let ((result, _), _, _) = follow(acts, Method::Post, 86_400).await;
    assert!(result.is_ok(), "{result:?}");
}
