//! Every form of an error, and what is said of it.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{fault, testing::odd};

fn read(status: u16, body: &Value) -> ArmError {
    ArmError::read(status, &Headers::new(), body.to_string().as_bytes())
}

#[test]
fn every_form_of_an_error_is_read() {
    let check = |status: u16, body: Value, code: &str, innermost: &str| {
        let error = read(status, &body);
        assert_eq!(
            (error.code.as_str(), error.innermost().0),
            (code, innermost),
            "{body}"
        );
    };
    check(
        404,
        json!({"error": {"code": "ResourceNotFound", "message": "m"}}),
        "ResourceNotFound",
        "ResourceNotFound",
    );
    check(
        412,
        json!({"code": "PreconditionFailed", "message": "m"}),
        "PreconditionFailed",
        "PreconditionFailed",
    );
    check(
        429,
        json!({"error": {"code": "RetryableError", "message": "m",
            "details": [{"code": "ReferencedResourceNotProvisioned", "message": "d"}]}}),
        "RetryableError",
        "ReferencedResourceNotProvisioned",
    );
    let quota = json!({"code": "QuotaExceeded", "message": "too much"});
    let nested = json!({"error": {"code": "InvalidTemplateDeployment", "message": "m", "details": [
        {"code": "Inner", "message": json!({"error": quota}).to_string()}]}});
    check(400, nested, "InvalidTemplateDeployment", "QuotaExceeded");
}

#[test]
fn an_answer_without_an_error_still_has_a_code() {
    let headers = Headers::new();
    let empty = ArmError::read(503, &headers, b"");
    assert_eq!(empty.code, "ServiceUnavailable");
    assert_eq!(
        empty.to_string(),
        "ServiceUnavailable: Azure answered 503 without a body"
    );
    assert_eq!(ArmError::read(502, &headers, b"<html>").code, "BadGateway");
    assert_eq!(ArmError::read(404, &headers, b"{}").code, "NotFound");
}

#[test]
fn errors_inside_errors_do_not_recurse_without_end() {
    let mut body = json!({"code": "Deepest", "message": "m"});
    for _ in 0..20 {
        body = json!({"code": "C", "message": "m", "details": [body]});
    }
    assert_eq!(read(400, &json!({"error": body})).details.len(), NESTING);
}

#[test]
fn ids_are_kept_and_a_policy_tells_what_it_wants() {
    let mut headers = Headers::new();
    headers.insert("x-ms-request-id", "r");
    headers.insert("x-ms-correlation-request-id", "c");
    let body = json!({"error": {"code": "RequestDisallowedByPolicy", "message": "no", "target": "vm1",
        "additionalInfo": [{"type": "PolicyViolation", "info": {"evaluationDetails": {"evaluatedExpressions": [
            {"path": "properties.hardwareProfile.vmSize", "expressionValue": "Standard_D16_v4",
             "targetValue": ["Standard_B2ms"], "operator": "In"}]}}}]}});
    let error = ArmError::read(403, &headers, body.to_string().as_bytes());
    assert_eq!(error.request_id.as_deref(), Some("r"));
    assert_eq!(error.correlation_id.as_deref(), Some("c"));
    assert!(
        error
            .to_string()
            .contains("`properties.hardwareProfile.vmSize` is `Standard_D16_v4`"),
        "{error}"
    );
}

#[test]
fn signed_addresses_lose_their_signature() {
    let message = "see https://arm.test/operations/1?t=1&s=secret now, or https://aka.ms/x.";
    let body = json!({"error": {"code": "AnotherOperationInProgress", "message": message}});
    assert_eq!(
        read(409, &body).message,
        "see https://arm.test/operations/1?… now, or https://aka.ms/x."
    );
}

#[test]
fn a_missing_subscription_is_no_absent_resource() {
    let body = json!({"error": {"code": "SubscriptionNotFound", "message": "m"}});
    assert!(!read(404, &body).is_absence());
    let body = json!({"error": {"code": "ResourceGroupNotFound", "message": "m"}});
    assert!(read(404, &body).is_absence());
}

#[test]
fn a_chain_says_each_sentence_once() {
    let error = RequestError {
        method: "GET".to_owned(),
        target: "/x".to_owned(),
        fault: RequestFault::Refused(Box::new(ArmError {
            code: "A".to_owned(),
            message: "b".to_owned(),
            ..ArmError::default()
        })),
    };
    assert_eq!(chain(&error), "GET /x failed: A: b");
}

/// Error bodies, most of them with something wrong in them.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let inner = json!({"error": {"code": "QuotaExceeded", "message": "m"}}).to_string();
    let policy = json!({"info": {"policyDefinitionDisplayName": "no", "evaluationDetails":
        {"evaluatedExpressions": [{"path": "p", "expressionValue": 1, "operator": "In"}]}}});
    let harmed = odd::harmed(vec![
        json!({"error": {"code": "C", "message": "see https://a.test/o?sig=secret", "target": "t",
            "details": [{"code": "D", "message": inner}], "additionalInfo": [policy]}}),
        json!({"code": "OperationNotAllowed", "message": "Operation could not be completed as it \
            results in exceeding approved standardNDFamily Cores quota. Current Limit: 1"}),
        json!({"error": {"code": 7, "message": ["m"], "details": {"code": "D"}}}),
    ]);
    prop_oneof![
        3 => harmed.prop_map(|body| body.to_string().into_bytes()),
        1 => odd::body(),
    ]
}

proptest! {
    #[test]
    fn any_body_is_an_error_that_says_something(
        status in 300_u16..600, body in body(), spot: bool
    ) {
        let error = ArmError::read(status, &Headers::new(), &body);
        prop_assert_eq!(error.status, status);
        prop_assert!(error.details.len() <= NESTING);
        prop_assert!(!error.to_string().contains("sig=secret"), "{}", error);
        prop_assert!(error.to_string().len() > 1, "{:?}", error);
        let failure = fault::failure(&error, spot);
        prop_assert!(!failure.kind.is_empty());
        prop_assert!(!failure.code.is_empty() && !failure.message.is_empty(), "{:?}", failure);
    }
}
