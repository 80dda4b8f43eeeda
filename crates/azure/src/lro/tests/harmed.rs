//! Operations whose answers keep no promise: they end, and no token leaves for elsewhere.

use proptest::{prelude::*, test_runner::Config};

use super::*;
use crate::{
    lro::LONGEST_ASKED,
    testing::{odd, stage::Stage},
};

/// Addresses in headers; `{here}` and `{elsewhere}` stand for servers.
fn address() -> impl Strategy<Value = String> {
    proptest::sample::select(vec![
        "{here}/operations/1",
        "{here}/operations/2?t=1&s=signature",
        "/operations/3",
        "operations/4",
        "",
        "no address",
        "//{elsewhere}/operations/5",
        "http://{elsewhere}/operations/6",
        "https://{elsewhere}/operations/7",
        "http://127.0.0.1@{elsewhere}/operations/8",
        "ftp://127.0.0.1/operations/9",
        "data:operations/10",
    ])
    .prop_map(ToOwned::to_owned)
}

fn retry_after() -> impl Strategy<Value = String> {
    proptest::sample::select(vec![
        "0",
        "1",
        "17",
        "-5",
        "99999999",
        "18446744073709551615",
        "99999999999999999999999",
        "1e9",
        "0.5",
        "soon",
        "",
        "Wed, 21 Oct 2065 07:28:00 GMT",
    ])
    .prop_map(ToOwned::to_owned)
}

/// Headers by name.
fn headers() -> impl Strategy<Value = Vec<(&'static str, String)>> {
    let one = prop_oneof![
        address().prop_map(|value| ("azure-asyncoperation", value)),
        address().prop_map(|value| ("location", value)),
        retry_after().prop_map(|value| ("retry-after", value)),
    ];
    proptest::collection::vec(one, 0..4)
}

fn document() -> impl Strategy<Value = Value> {
    let failed = json!({"code": "AllocationFailed", "message": "full"});
    let harmed = odd::harmed(vec![
        json!({"status": "InProgress"}),
        json!({"status": "Succeeded", "properties": {"output": {}}}),
        json!({"status": "Failed", "error": failed}),
        json!({"id": RESOURCE, "properties": {"provisioningState": "Updating"}}),
        json!({"id": RESOURCE, "properties": {"provisioningState": "Succeeded"}}),
        json!({"error": failed}),
    ]);
    prop_oneof![3 => harmed, 1 => odd::json()]
}

#[derive(Clone, Debug)]
struct Told {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

fn told(statuses: Vec<u16>) -> impl Strategy<Value = Told> {
    let body = prop_oneof![
        4 => document().prop_map(|body| body.to_string().into_bytes()),
        1 => odd::body(),
        1 => Just(Vec::new()),
    ];
    (proptest::sample::select(statuses), headers(), body).prop_map(|(status, headers, body)| Told {
        status,
        headers,
        body,
    })
}

const GOOD: [u16; 4] = [200, 201, 202, 204];
const ALL: [u16; 14] = [
    200, 200, 201, 202, 202, 204, 301, 400, 404, 409, 410, 429, 500, 503,
];

fn method() -> impl Strategy<Value = Method> {
    proptest::sample::select(vec![
        Method::Put,
        Method::Patch,
        Method::Post,
        Method::Delete,
    ])
}

impl Told {
    /// With servers filled in.
    fn at(&self, here: &str, elsewhere: &str) -> Vec<(&'static str, String)> {
        let fill = |text: &String| {
            text.replace("{here}", here)
                .replace("{elsewhere}", elsewhere)
        };
        self.headers
            .iter()
            .map(|(name, value)| (*name, fill(value)))
            .collect()
    }

    /// As an answer without a network.
    fn answer(&self) -> Answer {
        let mut all = Headers::new();
        for (name, value) in self.at("https://arm.test", "evil.test") {
            all.insert(name, value);
        }
        let fault = match serde_json::from_slice(&self.body) {
            _ if self.status >= 300 => {
                RequestFault::Refused(Box::new(ArmError::read(self.status, &all, &self.body)))
            }
            Ok(body) => {
                return Ok(Reply {
                    status: self.status,
                    headers: all,
                    body,
                });
            }
            Err(error) => RequestFault::Unreadable(error.to_string()),
        };
        Err(RequestError {
            method: "GET".to_owned(),
            target: "/x".to_owned(),
            fault,
        })
    }

    /// As an answer at the wire.
    fn act(&self, here: &str, elsewhere: &str) -> Act {
        let headers = self.at(here, elsewhere);
        Act::Answer {
            status: self.status,
            headers: headers
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            body: self.body.clone(),
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 64, ..Config::default() })]

    /// Whatever is answered, the next question goes to an address that was given or to the
    /// resource, and not later than is sensible.
    #[test]
    fn every_answer_leads_on_or_to_an_end(
        method in method(),
        first in told(GOOD.to_vec()),
        answers in proptest::collection::vec(told(ALL.to_vec()), 0..12),
    ) {
        let Ok(first) = first.answer() else { return Ok(()) };
        let (mut operation, mut poll) =
            Operation::begin(method, url(RESOURCE), &first);
        for answer in answers {
            match &poll {
                Poll::Wait { url, after, .. } => {
                    prop_assert!(*after <= LONGEST_ASKED, "{after:?}");
                    prop_assert!(url.path() == "/vm" || url.path().contains("operations"), "{url}");
                }
                Poll::Failed(error) => {
                    prop_assert!(!error.code.is_empty());
                    return Ok(());
                }
                Poll::Done(_) => return Ok(()),
            }
            poll = operation.next(&answer.answer());
        }
    }
}

/// At the wire every operation ends, and only the endpoint sees the token.
#[test]
fn every_operation_ends_and_no_token_leaves_for_elsewhere() {
    let stage = Stage::new(|settings| settings.limits.throttle_patience = Duration::from_secs(60));
    let answers = proptest::collection::vec(told(ALL.to_vec()), 1..12);
    stage.holds(
        &(method(), told(GOOD.to_vec()), answers),
        &async |stage: &Stage, (method, first, answers)| {
            let act = |told: &Told| told.act(&stage.server.url(), &stage.host_elsewhere());
            stage.answers(std::iter::once(&first).chain(&answers).map(act).collect());
            let call = stage.client.call_at(method, "/vm", &[]).expect("a call");
            let Ok(first) = stage.client.send(&call).await else {
                return;
            };
            let deadline = stage.client.clock().now() + Duration::from_secs(900);
            let ended = drive::follow(&stage.client, &call, &first, deadline, &mut |_| {}).await;
            assert!(ended.map_or_else(|error| !error.to_string().is_empty(), |_| true));
        },
    );
    assert_eq!(stage.elsewhere.connections(), 0, "somebody else was asked");
}

#[test]
fn a_wait_that_nobody_would_wait_is_cut() {
    let mut operation = status_operation(Method::Put);
    for asked in ["99999999", "18446744073709551615"] {
        let headers = [("retry-after", asked)];
        let poll = operation.next(&Ok(reply(200, &headers, json!({"status": "InProgress"}))));
        assert_eq!(waits(&poll), Some((STATUS, 600_000)), "{asked}");
    }
}

#[test]
fn an_address_that_is_none_does_not_lose_an_accepted_write() {
    let first = |address: &str| {
        reply(
            202,
            &[
                ("azure-asyncoperation", address),
                ("location", "no address"),
            ],
            Value::Null,
        )
    };
    let (_, poll) = begin(Method::Put, &first("no address either"));
    assert_eq!(waits(&poll).map(|(url, _)| url), Some(RESOURCE));
    let (_, poll) = begin(Method::Put, &first("/operations/1"));
    assert_eq!(waits(&poll).map(|(url, _)| url), Some(STATUS));
}

#[test]
fn an_operation_that_says_nothing_is_judged_by_its_resource() {
    for silent in [Value::Null, json!({}), json!({"status": 7}), json!([])] {
        for method in [Method::Post, Method::Delete] {
            let mut operation = status_operation(method);
            let poll = operation.next(&answered(silent.clone()));
            assert_eq!(waits(&poll), Some((RESOURCE, 0)), "{silent}");
        }
    }
    let mut operation = status_operation(Method::Delete);
    operation.next(&answered(json!({})));
    assert_eq!(operation.next(&refused(404, "NotFound")), Poll::Done(None));
}
