//! The table, row by row, and errors as people have reported them.

use serde_json::Value;

use super::*;
use crate::error::ArmDetail;

fn error(status: u16, code: &str, message: &str) -> ArmError {
    ArmError {
        status,
        code: code.to_owned(),
        message: message.to_owned(),
        ..ArmError::default()
    }
}

/// Every row can be reached: no row before it takes its errors away.
#[test]
fn each_row_is_found_by_its_own_code_and_words() {
    for row in ROWS {
        let found = classify(&error(400, row.code, row.tells), false);
        let expected = Fault::new(row.kind, row.scope, row.retry, row.advice);
        assert_eq!(found, expected, "{} {}", row.code, row.tells);
        let lower = classify(&error(400, &row.code.to_lowercase(), row.tells), false);
        assert_eq!(lower, expected, "codes compare without case");
    }
}

#[test]
fn reported_errors_are_understood() {
    let reported: Vec<Value> = serde_json::from_str(include_str!("reported.json")).expect("a list");
    assert_eq!(reported.len(), 18);
    for entry in reported {
        let body = entry["body"].clone();
        let status = entry["status"]
            .as_u64()
            .and_then(|status| u16::try_from(status).ok());
        let error = ArmError::from_document(status.expect("a status"), &body).expect("an error");
        let fault = classify(&error, false);
        assert_eq!(
            fault.kind.word(),
            entry["expected"].as_str().expect("a kind"),
            "{body}"
        );
    }
}

#[test]
fn meanings_that_share_a_code_are_told_apart() {
    let check = |code: &str, message: &str, expected: (FaultKind, FaultScope, Retry)| {
        let fault = classify(&error(409, code, message), false);
        assert_eq!(
            (fault.kind, fault.scope, fault.retry),
            expected,
            "{message}"
        );
    };
    let code = "OperationNotAllowed";
    let conflict = |retry| (FaultKind::Conflict, FaultScope::Resource, retry);
    let quota = |scope| (FaultKind::Quota, scope, Retry::Never);
    let of = |name: &str| format!("results in exceeding approved {name} quota.");
    check(
        code,
        &of("standardNDSH100v5Family Cores"),
        quota(FaultScope::Family),
    );
    check(code, &of("Total Regional Cores"), quota(FaultScope::Region));
    check(code, &of("LowPriorityCores"), quota(FaultScope::Region));
    let deleting = "Operation 'startVM' is not allowed since the VM is marked for deletion.";
    check(code, deleting, conflict(Retry::Soon));
    let resize = "Unable to resize the VM 'vm1' because the requested size is not available in the current hardware cluster.";
    check(code, resize, conflict(Retry::AfterDeallocate));
    check(code, "VM is generalized", conflict(Retry::Never));
    check(
        "Conflict",
        "The disk access is being created",
        conflict(Retry::Soon),
    );
    check(
        "Conflict",
        "the disk is attached to a running VM",
        conflict(Retry::AfterDeallocate),
    );
}

#[test]
fn an_extension_that_found_the_package_manager_busy_is_worth_another_try() {
    let code = "VMExtensionProvisioningError";
    let busy = "VM has reported a failure when processing extension 'ready'. Error message: \"E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1434 (apt-get)\".";
    let fault = classify(&error(200, code, busy), false);
    assert_eq!((fault.kind, fault.retry), (FaultKind::Guest, Retry::Later));
    assert!(
        fault.advice.contains("repairs the extension alone"),
        "{}",
        fault.advice
    );
    let other = classify(
        &error(200, code, "the script ended with exit status 1"),
        false,
    );
    assert!(!other.advice.contains("lock"), "{}", other.advice);
}

#[test]
fn a_size_without_room_differs_from_a_size_that_is_not_sold() {
    let error = error(
        409,
        "SkuNotAvailable",
        "currently not available in location 'eastus'",
    );
    let regular = classify(&error, false);
    let spot = classify(&error, true);
    assert_eq!(
        (regular.kind, regular.retry),
        (FaultKind::SkuUnavailable, Retry::Never)
    );
    assert_eq!((spot.kind, spot.retry), (FaultKind::Capacity, Retry::Later));
    assert_ne!(regular.advice, spot.advice);
    assert!(spot.believe < regular.believe);
}

#[test]
fn the_innermost_code_decides() {
    let mut outer = error(400, "InvalidTemplateDeployment", "see details");
    outer.details.push(ArmDetail {
        code: "QuotaExceeded".to_owned(),
        ..ArmDetail::default()
    });
    assert_eq!(classify(&outer, false).kind, FaultKind::Quota);
}

#[test]
fn unknown_codes_go_by_their_status() {
    let kind = |status: u16| classify(&error(status, "NeverSeen", ""), false).kind;
    let statuses = [400, 401, 403, 404, 409, 412, 429, 500, 503, 200];
    let kinds = statuses.map(|status| kind(status).word());
    assert_eq!(
        kinds,
        [
            "malformed",
            "denied",
            "denied",
            "not_found",
            "conflict",
            "conflict",
            "throttled",
            "service",
            "service",
            "unknown"
        ]
    );
}

#[test]
fn a_quota_refusal_is_read_to_its_numbers() {
    let message = "Operation could not be completed as it results in exceeding approved standardDASv5Family \
        Cores quota. Additional details - Deployment Model: Resource Manager, Location: eastus, Current Limit: 100, \
        Current Usage: 96, Additional Required: 64, (Minimum) New Limit Required: 160. Submit a request";
    let refusal = quota_refusal(message).expect("a quota refusal");
    assert_eq!(refusal.quota, "standardDASv5Family");
    assert_eq!(refusal.location, "eastus");
    let numbers = [
        refusal.limit,
        refusal.used,
        refusal.required,
        refusal.new_limit,
    ];
    assert_eq!(numbers, [100, 96, 64, 160]);
    let spot = message.replace("standardDASv5Family Cores", "LowPriorityCores");
    assert_eq!(
        quota_refusal(&spot).expect("a quota refusal").quota,
        "LowPriority"
    );
    assert_eq!(quota_refusal("no quota here"), None);
    assert_eq!(quota_refusal("exceeding approved x Cores quota"), None);
    let help = failure(&error(409, "OperationNotAllowed", message), false).help;
    assert!(help.expect("help").ends_with("so at least 160"));
}

#[test]
fn a_failure_keeps_what_a_support_ticket_needs() {
    let mut error = error(200, "AllocationFailed", "no room");
    error.request_id = Some("r".to_owned());
    error.correlation_id = Some("c".to_owned());
    let failure = failure(&error, false);
    assert_eq!(
        (failure.code.as_str(), failure.message.as_str()),
        ("AllocationFailed", "no room")
    );
    assert_eq!(
        (failure.kind.as_str(), failure.status),
        ("capacity", Some(200))
    );
    assert_eq!(failure.request_id.as_deref(), Some("r"));
    assert_eq!(failure.correlation_id.as_deref(), Some("c"));
}
