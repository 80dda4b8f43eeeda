//! Errors of requests, and what Azure says when it refuses one.

use azure_core::headers::{HeaderName, Headers};
use serde_json::Value;

/// How deep errors are looked for inside errors.
const NESTING: usize = 8;

/// What stands for a message that is none.
const NO_MESSAGE: &str = "Azure gave no message";

/// A header that [`crate::transport`] adds to answers: attempts before it that got no answer.
pub(crate) const UNANSWERED: HeaderName = HeaderName::from_static("x-tensorform-unanswered");

const REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-request-id");
const CORRELATION_ID: HeaderName = HeaderName::from_static("x-ms-correlation-request-id");
const FAILURE_CAUSE: HeaderName = HeaderName::from_static("x-ms-failure-cause");

/// An error that Azure reports, with everything a support ticket needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.describe())]
pub struct ArmError {
    /// The HTTP status; 200 for a failure inside a long-running operation.
    pub status: u16,
    /// The outermost code.
    pub code: String,
    /// The outermost message.
    pub message: String,
    /// What the error is about.
    pub target: Option<String>,
    /// Errors inside the error, the innermost last.
    pub details: Vec<ArmDetail>,
    /// What an Azure Policy demands, where one forbids the request.
    pub policy: Vec<String>,
    /// Azure's request id.
    pub request_id: Option<String>,
    /// Azure's correlation id.
    pub correlation_id: Option<String>,
    /// Whether ARM itself answered, and not the provider behind it.
    pub from_gateway: bool,
    /// Whether an earlier attempt at the same request may have been carried out unanswered.
    pub after_unanswered: bool,
}

/// An error inside an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArmDetail {
    /// Its code.
    pub code: String,
    /// Its message.
    pub message: String,
    /// What it is about.
    pub target: Option<String>,
}

impl ArmError {
    /// Reads an error answer, whatever form it has: wrapped in `error` or not, empty, or no JSON.
    pub(crate) fn read(status: u16, headers: &Headers, body: &[u8]) -> Self {
        let document: Value = serde_json::from_slice(body).unwrap_or_default();
        let mut error = Self::from_document(status, &document).unwrap_or_else(|| Self {
            code: status_code_name(status).to_owned(),
            message: if body.is_empty() {
                format!("Azure answered {status} without a body")
            } else {
                format!("Azure answered {status} with a body that describes no error")
            },
            status,
            ..Self::default()
        });
        let header = |name: &HeaderName| headers.get_optional_string(name);
        error.request_id = header(&REQUEST_ID);
        error.correlation_id = header(&CORRELATION_ID);
        error.from_gateway = header(&FAILURE_CAUSE).is_some_and(|cause| cause == "gateway");
        error.after_unanswered = header(&UNANSWERED).is_some();
        error
    }

    /// Reads the error in a document, which may be wrapped in `error` or be the error itself.
    pub(crate) fn from_document(status: u16, document: &Value) -> Option<Self> {
        let inner = unwrap_error(document)?;
        let (code, message, target) = parts(inner);
        let mut details = Vec::new();
        collect_details(inner, NESTING, &mut details);
        Some(Self {
            status,
            code: code?,
            message: message.unwrap_or_else(|| NO_MESSAGE.to_owned()),
            target,
            details,
            policy: policy_lines(inner),
            ..Self::default()
        })
    }

    /// The innermost code and message: what really went wrong.
    pub fn innermost(&self) -> (&str, &str) {
        self.details
            .last()
            .map_or((&self.code, &self.message), |detail| {
                (&detail.code, &detail.message)
            })
    }

    /// Whether the error or one inside it has this code, compared without case.
    pub fn has_code(&self, code: &str) -> bool {
        self.codes().any(|found| found.eq_ignore_ascii_case(code))
    }

    /// All codes, the innermost first.
    pub fn codes(&self) -> impl Iterator<Item = &str> {
        self.details
            .iter()
            .rev()
            .map(|detail| detail.code.as_str())
            .chain(std::iter::once(self.code.as_str()))
    }

    /// Whether the resource is absent, rather than the subscription or the permission.
    pub(crate) fn is_absence(&self) -> bool {
        const ABSENT: [&str; 6] = [
            "ResourceNotFound",
            "NotFound",
            "ResourceGroupNotFound",
            "ParentResourceNotFound",
            "ContainerNotFound",
            "RoleAssignmentNotFound",
        ];
        self.status == 404 && (ABSENT.iter().any(|code| self.has_code(code)) || self.code == "404")
    }

    fn describe(&self) -> String {
        let (code, message) = self.innermost();
        let mut text = if code.is_empty() {
            message.to_owned()
        } else {
            format!("{code}: {message}")
        };
        if code != self.code && !self.code.is_empty() {
            text.push_str(" (inside ");
            text.push_str(&self.code);
            text.push(')');
        }
        for line in &self.policy {
            text.push_str("; ");
            text.push_str(line);
        }
        text
    }
}

fn unwrap_error(document: &Value) -> Option<&Value> {
    let inner = match document.get("error") {
        Some(error) if error.is_object() => error,
        _ => document,
    };
    inner.get("code").is_some().then_some(inner)
}

fn parts(error: &Value) -> (Option<String>, Option<String>, Option<String>) {
    let text = |name: &str| match error.get(name) {
        Some(Value::String(text)) => Some(without_signatures(text)),
        Some(Value::Number(number)) => Some(number.to_string()),
        Some(_) | None => None,
    };
    let text = |name: &str| text(name).filter(|text| !text.trim().is_empty());
    (text("code"), text("message"), text("target"))
}

/// A text without the queries of addresses in it: those of operations are signed, and long.
fn without_signatures(text: &str) -> String {
    let mut rest = text;
    let mut clean = String::with_capacity(text.len());
    while let Some(at) = rest.find("://") {
        let (before, address) = rest.split_at(at);
        let end = address.find(char::is_whitespace).unwrap_or(address.len());
        let (address, after) = address.split_at(end);
        clean.push_str(before);
        match address.split_once('?') {
            Some((path, _)) => clean.extend([path, "?…"]),
            None => clean.push_str(address),
        }
        rest = after;
    }
    clean.push_str(rest);
    clean
}

/// Collects the first error of each level of `details`, and those that stand as JSON text in a
/// message.
fn collect_details(error: &Value, depth: usize, into: &mut Vec<ArmDetail>) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    if let Some(text) = error.get("message").and_then(Value::as_str)
        && text.trim_start().starts_with('{')
        && let Ok(document) = serde_json::from_str::<Value>(text)
        && let Some(inner) = unwrap_error(&document)
    {
        push_detail(inner, depth, into);
        return;
    }
    let first = error
        .get("details")
        .and_then(Value::as_array)
        .and_then(|details| details.iter().find(|detail| detail.get("code").is_some()));
    if let Some(detail) = first {
        push_detail(detail, depth, into);
    }
}

fn push_detail(detail: &Value, depth: usize, into: &mut Vec<ArmDetail>) {
    let (Some(code), message, target) = parts(detail) else {
        return;
    };
    into.push(ArmDetail {
        code,
        message: message.unwrap_or_else(|| NO_MESSAGE.to_owned()),
        target,
    });
    collect_details(detail, depth, into);
}

/// The expressions that a policy evaluated, in words.
fn policy_lines(error: &Value) -> Vec<String> {
    let infos = error.get("additionalInfo").and_then(Value::as_array);
    let mut lines = Vec::new();
    for info in infos
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.get("info"))
    {
        if let Some(name) = info
            .get("policyDefinitionDisplayName")
            .and_then(Value::as_str)
        {
            lines.push(format!("policy `{name}`"));
        }
        let expressions = info
            .pointer("/evaluationDetails/evaluatedExpressions")
            .and_then(Value::as_array);
        for expression in expressions.into_iter().flatten() {
            let word = |name: &str| match expression.get(name) {
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
                None => String::new(),
            };
            lines.push(format!(
                "`{}` is `{}`, the policy looks for `{}` {}",
                word("path"),
                word("expressionValue"),
                word("operator"),
                word("targetValue")
            ));
        }
    }
    lines
}

/// A name for a status that came without a code.
fn status_code_name(status: u16) -> &'static str {
    match status {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        408 => "RequestTimeout",
        409 => "Conflict",
        412 => "PreconditionFailed",
        429 => "TooManyRequests",
        500 => "InternalServerError",
        502 => "BadGateway",
        503 => "ServiceUnavailable",
        504 => "GatewayTimeout",
        _ => "UnexpectedStatus",
    }
}

/// A request that did not do what it was sent for.
#[derive(Debug, thiserror::Error)]
#[error("{method} {target} failed")]
pub struct RequestError {
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub target: String,
    /// Why.
    #[source]
    pub fault: RequestFault,
}

impl RequestError {
    /// Why, without the request, for sentences that say what was wanted.
    pub fn reason(&self) -> String {
        match self.arm() {
            Some(arm) => arm.to_string(),
            None => chain(self),
        }
    }
}

/// Why a request did not do what it was sent for.
#[derive(Debug, thiserror::Error)]
pub enum RequestFault {
    /// Azure refused it.
    #[error(transparent)]
    Refused(Box<ArmError>),
    /// No connection could be made: the request was never sent.
    #[error("no connection to `{host}`")]
    NotConnected {
        /// The host.
        host: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection broke before the answer was complete: the request may have been carried out.
    #[error("no complete answer from `{host}`")]
    Unanswered {
        /// The host.
        host: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The credential gave no token.
    #[error("no access token")]
    Token(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The answer is not what the API promises.
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
    /// The token would have gone over a plain connection to another machine.
    #[error("refusing to send a token to `{0}` over plain http, which is for this machine only")]
    PlainHttp(String),
    /// The token would have gone elsewhere.
    #[error("refusing to send a token to `{found}`, which is not `{expected}`")]
    ForeignOrigin {
        /// Where it would have gone.
        found: String,
        /// Where it belongs.
        expected: String,
    },
    /// A name cannot stand in a path.
    #[error("`{0}` cannot be part of a request's path")]
    InvalidName(String),
    /// The SDK could not make the request.
    #[error("the request could not be made")]
    Sdk(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl RequestError {
    /// What Azure said, where it answered.
    pub fn arm(&self) -> Option<&ArmError> {
        match &self.fault {
            RequestFault::Refused(error) => Some(error),
            RequestFault::NotConnected { .. }
            | RequestFault::Unanswered { .. }
            | RequestFault::Token(_)
            | RequestFault::Unreadable(_)
            | RequestFault::PlainHttp(_)
            | RequestFault::ForeignOrigin { .. }
            | RequestFault::InvalidName(_)
            | RequestFault::Sdk(_) => None,
        }
    }

    /// Whether the resource is absent.
    pub(crate) fn is_absence(&self) -> bool {
        self.arm().is_some_and(ArmError::is_absence)
    }
}

/// Everything an error says, from the outside in, each sentence once.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut parts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(error) = source {
        let text = error.to_string();
        if parts.last() != Some(&text) {
            parts.push(text);
        }
        source = error.source();
    }
    parts.join(": ")
}

/// A read that failed. Nothing may be concluded from it, least of all that nothing exists.
#[derive(Debug, thiserror::Error)]
#[error("could not read {what}")]
pub struct ReadError {
    /// What was to be read.
    pub what: String,
    /// What to do about it, where that is known.
    pub help: Option<String>,
    /// Why it failed.
    #[source]
    pub source: RequestError,
}

/// An event that could not be written down.
#[derive(Debug, thiserror::Error)]
#[error("the event could not be recorded")]
pub struct SinkError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

#[cfg(test)]
mod tests;
