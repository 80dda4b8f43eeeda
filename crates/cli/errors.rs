//! Errors of Azure as findings: one line, where it happened, and a way out.

use azure::{ConnectError, ReadError, RequestError, RequestFault, chain};
use model::{
    diag::{At, Code, Diagnostic},
    units::Region,
};

use crate::stop::Stop;

/// Why no connection could be made.
pub(crate) fn connect(error: &ConnectError) -> Stop {
    match error {
        ConnectError::NoCredential(none) => {
            let mut finding = Diagnostic::new(Code::NoCredential, At::Nowhere, "no credential gives a token for Azure");
            for attempt in &none.attempts {
                let verb = if attempt.tried { "failed" } else { "was not tried" };
                finding = finding.with_help(format!("`{}` {verb}: {}; to use it: {}", attempt.name, attempt.reason, attempt.fix));
            }
            finding.with_help("or try the tool without an account: add `--sandbox`").into()
        }
        ConnectError::Subscriptions(error) => request("the subscriptions could not be listed", error, None),
        ConnectError::NoSubscription { .. } => Stop::because(Code::SubscriptionNotFound, error.to_string())
            .help("give the identity a role on a subscription, such as Reader to plan and Contributor to apply"),
        ConnectError::ManySubscriptions { .. } => Stop::because(Code::SubscriptionNotFound, error.to_string())
            .help("choose one with `subscription:` in the spec, or with `--subscription`"),
        ConnectError::Endpoint { .. } => Stop::because(Code::Unreachable, error.to_string())
            .help("write it as `https://HOST` or `https://HOST:PORT`; plain http goes to this machine only, as in `http://127.0.0.1:8080`"),
        ConnectError::Http(_) => Stop::because(Code::Unreachable, chain(error))
            .help("install the operating system's trusted certificates (`ca-certificates`)"),
    }
}

/// Why something could not be read.
pub(crate) fn read(error: &ReadError) -> Stop {
    request(&error.to_string(), &error.source, error.help.as_deref())
}

/// Why the list prices of a region could not be read.
pub(crate) fn price_list(region: &Region, error: &RequestError) -> Stop {
    let what = format!("the list prices of {region} could not be read");
    let help = match &error.fault {
        RequestFault::Unreadable(_) => Some(
            "what answered is no Azure price list: check the proxy, and `--endpoint` if it is set",
        ),
        RequestFault::Refused(arm) => (arm.status < 429)
            .then_some("what answered knows no price list: check `--endpoint` if it is set"),
        RequestFault::Token(_)
        | RequestFault::NotConnected { .. }
        | RequestFault::Unanswered { .. }
        | RequestFault::PlainHttp(_)
        | RequestFault::ForeignOrigin { .. }
        | RequestFault::InvalidName(_)
        | RequestFault::Sdk(_) => None,
    };
    request(&what, error, help)
}

fn request(what: &str, error: &RequestError, help: Option<&str>) -> Stop {
    let stop = match &error.fault {
        RequestFault::Refused(arm) => {
            let (code, message) = arm.innermost();
            let id = arm.request_id.as_deref().unwrap_or("none");
            let sentence = format!(
                "{what}: {code}: {message} (HTTP {}, request id {id})",
                arm.status
            );
            Stop::because(
                code_of(arm.status, arm.has_code("SubscriptionNotFound")),
                sentence,
            )
        }
        RequestFault::Token(source) => Stop::because(
            Code::TokenRefused,
            format!("{what}: no access token: {}", chain(source.as_ref())),
        )
        .help("sign in again, or name another credential with `--credential`"),
        RequestFault::NotConnected { .. } => Stop::because(
            Code::Unreachable,
            format!("{what}: {}", chain(&error.fault)),
        )
        .help("check the network, the proxy, and `--endpoint` if it is set"),
        RequestFault::Unreadable(_) => Stop::because(
            Code::RequestFailed,
            format!("{what}: {}", chain(&error.fault)),
        )
        .help("what answered is no Azure Resource Manager: check the proxy, and `--endpoint` if it is set"),
        RequestFault::Unanswered { .. }
        | RequestFault::PlainHttp(_)
        | RequestFault::ForeignOrigin { .. }
        | RequestFault::InvalidName(_)
        | RequestFault::Sdk(_) => Stop::because(
            Code::RequestFailed,
            format!("{what}: {}", chain(&error.fault)),
        ),
    };
    match (help, &error.fault) {
        (Some(help), _) => stop.help(help),
        (None, RequestFault::Refused(arm)) => match arm.status {
            401 => stop.help("sign in again: the token is expired, or of another tenant"),
            403 => stop.help("the credential needs the Reader role on the subscription"),
            429 | 500.. => stop.help("try again later; <https://azure.status.microsoft> shows known troubles, and a support ticket needs the request id"),
            404 => stop.help("check the subscription's id, and that the credential may see it"),
            _ => stop,
        },
        (None, _) => stop,
    }
}

fn code_of(status: u16, no_subscription: bool) -> Code {
    match status {
        _ if no_subscription => Code::SubscriptionNotFound,
        401 => Code::TokenRefused,
        403 => Code::Forbidden,
        _ => Code::RequestFailed,
    }
}
