//! Token services whose answers keep no promise: a token or an error, never a panic.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::testing::{odd, stage::Stage};

/// Each credential that asks a service, with what it needs.
const CREDENTIALS: [(CredentialName, &[(&str, &str)]); 4] = [
    (
        CredentialName::ClientSecret,
        &[("AZURE_CLIENT_SECRET", "s3cret")],
    ),
    (
        CredentialName::GithubActions,
        &[
            ("ACTIONS_ID_TOKEN_REQUEST_URL", "{server}/github"),
            ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "job"),
        ],
    ),
    (
        CredentialName::ManagedIdentity,
        &[
            ("IDENTITY_ENDPOINT", "{server}/msi"),
            ("IDENTITY_HEADER", "h"),
        ],
    ),
    (CredentialName::ManagedIdentity, &[]),
];

/// Bodies of token services, some of them good.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let harmed = odd::harmed(vec![
        json!({"token_type": "Bearer", "expires_in": 3599, "ext_expires_in": 3599, "access_token": "t", "value": "a",
            "expires_on": "4102444800", "resource": "r"}),
        json!({"error": "invalid_client", "error_description": "no", "error_codes": [7_000_215]}),
    ]);
    prop_oneof![
        3 => harmed.prop_map(|body| body.to_string().into_bytes()),
        1 => odd::body(),
    ]
}

/// What comes of a credential whose services all answer this.
async fn outcome(
    stage: &Stage,
    http: &Arc<dyn HttpClient>,
    (name, variables): (CredentialName, &[(&str, &str)]),
    status: u16,
    body: Vec<u8>,
) -> String {
    stage.answers(vec![Act::Answer {
        status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body,
    }]);
    let url = stage.server.url();
    let filled: Vec<(&str, String)> = variables
        .iter()
        .map(|(name, value)| (*name, value.replace("{server}", &url)))
        .collect();
    let mut all = vec![("AZURE_TENANT_ID", TENANT), ("AZURE_CLIENT_ID", CLIENT)];
    all.extend(filled.iter().map(|(name, value)| (*name, value.as_str())));
    match choose_over(&settings(name, &all), http, true).await {
        Ok(chosen) => chosen.name,
        Err(error) => error.to_string(),
    }
}

// Answers after which the library tries again would make it wait in earnest.
#[test]
fn any_answer_is_a_token_or_an_error() {
    let stage = Stage::new(|_| {});
    let http = redirect(&stage.server);
    let credential = proptest::sample::select(CREDENTIALS.to_vec());
    let status = proptest::sample::select(vec![200, 200, 200, 201, 204, 301, 400, 401, 403]);
    let cases = (credential, status, body());
    stage.holds(
        &cases,
        &async |stage: &Stage, (credential, status, body)| {
            let told = outcome(stage, &http, credential, status, body).await;
            assert!(!told.is_empty());
            assert!(!told.contains("s3cret"), "{told}");
        },
    );
}

/// What comes of one answer with a token.
fn token_of(credential: usize, body: &Value) -> String {
    let stage = Stage::new(|_| {});
    let http = redirect(&stage.server);
    let body = body.to_string().into_bytes();
    stage.wait_for(outcome(&stage, &http, CREDENTIALS[credential], 200, body))
}

#[test]
fn a_token_that_lives_for_ever_is_refused_and_ends_no_process() {
    for seconds in [i64::MAX, i64::MIN, -1, 400 * 24 * 3_600] {
        let body = json!({"token_type": "Bearer", "expires_in": seconds, "ext_expires_in": 0,
            "access_token": "t"});
        let told = token_of(0, &body);
        assert!(told.contains("sensible time"), "{seconds}: {told}");
    }
}

#[test]
fn the_end_of_a_token_may_be_any_number() {
    for end in [json!(i64::MAX), json!(i64::MIN), json!("0"), Value::Null] {
        let told = token_of(2, &json!({"access_token": "t", "expires_on": end.clone()}));
        assert!(!told.is_empty(), "{end}");
    }
}
