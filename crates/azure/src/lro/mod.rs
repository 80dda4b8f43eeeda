//! Long-running operations: what an answer says about one, as a state machine without a clock
//! or a network.
//!
//! Order of trust: the `Azure-AsyncOperation` address, else `Location`, else the resource's own
//! `provisioningState`. Addresses are followed as they are given, and only at the endpoint: the
//! transport refuses all others.

pub(crate) mod drive;

use std::time::Duration;

use azure_core::{Method, Url};
use serde_json::Value;

use crate::{
    call::Reply,
    error::{ArmError, RequestError},
    wire::batch::{self, Resize},
};

/// The longest of our own waits, where Azure names none.
/// The longest wait that Azure may ask for between two polls.
const LONGEST_ASKED: Duration = Duration::from_secs(600);
const LONGEST: Duration = Duration::from_secs(10);
/// The first wait where Azure says to wait for nothing; it doubles, so that an operation of
/// milliseconds and one of minutes both cost few polls.
const FLOOR: Duration = Duration::from_millis(20);
/// The longest wait where Azure says to wait for nothing.
const FLOOR_CAP: Duration = Duration::from_secs(2);
/// So many answers in a row that a resource, which was just written, is absent: with the waits
/// between them that is half a minute.
const ABSENCES: u32 = 5;
/// So many refusals in a row to tell about an operation, before its resource is asked instead.
const REFUSALS: u32 = 3;
/// A delete whose operation does not end is checked against the resource each so many polls.
const PEEK: u32 = 6;

/// What is known of an operation after an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Poll {
    /// Ask this address after a while.
    Wait {
        /// The address.
        url: Url,
        /// The while.
        after: Duration,
        /// What Azure says of the operation.
        state: String,
    },
    /// It ended well, perhaps with the resource.
    Done(Option<Value>),
    /// It ended badly.
    Failed(Box<ArmError>),
}

/// An operation under way.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    method: Method,
    resource: Url,
    style: Style,
    asked: Asked,
    polls: u32,
    absences: u32,
    refusals: u32,
    waits: u32,
}

/// Where an operation tells about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Style {
    Status(Url),
    Location(Url),
    Resource,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Operation,
    Resource,
}

/// What a state word means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Succeeded,
    Failed,
    Canceled,
    UnderWay,
}

fn meaning(state: &str) -> Meaning {
    match state.to_lowercase().as_str() {
        "succeeded" => Meaning::Succeeded,
        "failed" => Meaning::Failed,
        "canceled" | "cancelled" => Meaning::Canceled,
        _ => Meaning::UnderWay,
    }
}

fn provisioning_state(body: &Value) -> Option<&str> {
    body.pointer("/properties/provisioningState")
        .and_then(Value::as_str)
}

impl Operation {
    /// What the answer to a write starts.
    pub(crate) fn begin(method: Method, resource: Url, first: &Reply) -> (Self, Poll) {
        let status_url = address(first, "azure-asyncoperation", &resource);
        let location = address(first, "location", &resource).filter(|_| first.status == 202);
        let style = match (status_url, location) {
            (Some(url), _) => Style::Status(url),
            (None, Some(url)) => Style::Location(url),
            (None, None) => Style::Resource,
        };
        let mut operation = Self {
            method,
            resource,
            style,
            asked: Asked::Operation,
            polls: 0,
            absences: 0,
            refusals: 0,
            waits: 0,
        };
        let poll = match &operation.style {
            Style::Status(_) | Style::Location(_) => {
                operation.wait("Accepted", first.retry_after())
            }
            Style::Resource if first.status == 202 => {
                operation.wait("Accepted", first.retry_after())
            }
            Style::Resource => operation.after_resource(first),
        };
        (operation, poll)
    }

    /// An operation that somebody else started: only the resource tells about it.
    pub(crate) fn resume(method: Method, resource: Url) -> (Self, Poll) {
        let mut operation = Self {
            method,
            resource,
            style: Style::Resource,
            asked: Asked::Resource,
            polls: 0,
            absences: 0,
            refusals: 0,
            waits: 0,
        };
        let poll = operation.ask_resource("Reading");
        (operation, poll)
    }

    /// What an answer to a poll says.
    pub(crate) fn next(&mut self, answer: &Result<Reply, RequestError>) -> Poll {
        self.polls += 1;
        match answer {
            Ok(reply) => {
                self.refusals = 0;
                match (self.asked, self.style.clone()) {
                    (Asked::Resource, _) | (_, Style::Resource) => self.after_resource(reply),
                    (Asked::Operation, Style::Status(_)) => self.after_status(reply),
                    (Asked::Operation, Style::Location(_)) => self.after_location(reply),
                }
            }
            Err(error) => self.after_error(error),
        }
    }

    fn after_status(&mut self, reply: &Reply) -> Poll {
        let Some(state) = reply.body.get("status").and_then(Value::as_str) else {
            // It says nothing, least of all that it has ended well.
            self.style = Style::Resource;
            return self.ask_resource("Unknown");
        };
        match meaning(state) {
            Meaning::UnderWay => self.wait(state, reply.retry_after()),
            // What an action gives stands in the status.
            Meaning::Succeeded => {
                self.after_success(reply.body.pointer("/properties/output").cloned())
            }
            Meaning::Failed => failure(reply, "OperationFailed", "the operation failed"),
            Meaning::Canceled => failure(reply, "OperationCanceled", "the operation was cancelled"),
        }
    }

    fn after_location(&mut self, reply: &Reply) -> Poll {
        if reply.status != 202 {
            let body = Some(&reply.body).filter(|body| !body.is_null()).cloned();
            return self.after_success(body);
        }
        if let Some(url) = address(reply, "location", &self.resource) {
            self.style = Style::Location(url);
        }
        self.wait("InProgress", reply.retry_after())
    }

    /// The operation says it is done. After a PUT or PATCH the resource has the last word: it may
    /// still say that it is being changed.
    fn after_success(&mut self, body: Option<Value>) -> Poll {
        if !matches!(self.method, Method::Put | Method::Patch) {
            return Poll::Done(body);
        }
        self.style = Style::Resource;
        self.waits = 0;
        self.ask_resource("Succeeded")
    }

    fn after_resource(&mut self, reply: &Reply) -> Poll {
        self.absences = 0;
        if self.method == Method::Delete {
            return self.after_remnant(reply);
        }
        // A pool of Batch is there at once; its nodes are what somebody waits for.
        match batch::resize(&reply.body) {
            Some(Resize::Running) => return self.wait("Resizing", reply.retry_after()),
            Some(Resize::Short { code, message }) => return failure(reply, &code, &message),
            Some(Resize::Settled) | None => {}
        }
        let state = provisioning_state(&reply.body);
        match state.map_or(Meaning::Succeeded, meaning) {
            Meaning::UnderWay => self.wait(state.unwrap_or_default(), reply.retry_after()),
            Meaning::Succeeded => {
                Poll::Done(Some(&reply.body).filter(|body| !body.is_null()).cloned())
            }
            Meaning::Failed => failure(
                reply,
                "ProvisioningFailed",
                "the resource's provisioning state is `Failed`",
            ),
            Meaning::Canceled => failure(
                reply,
                "ProvisioningCanceled",
                "the resource's provisioning state is `Canceled`",
            ),
        }
    }

    /// A resource that is to be deleted was answered: the answer to the DELETE itself has no body.
    fn after_remnant(&mut self, reply: &Reply) -> Poll {
        if reply.body.is_null() && self.polls == 0 {
            return Poll::Done(None);
        }
        let state = provisioning_state(&reply.body).unwrap_or("Deleting");
        match (meaning(state), &self.style) {
            (Meaning::Failed, Style::Resource) => failure(
                reply,
                "ProvisioningFailed",
                "the resource's provisioning state is `Failed`",
            ),
            _ => self.wait(state, reply.retry_after()),
        }
    }

    fn after_error(&mut self, error: &RequestError) -> Poll {
        let Some(arm) = error.arm() else {
            // No answer says nothing about the operation.
            return self.wait("Unknown", None);
        };
        match (arm.status, self.asked) {
            (404, Asked::Resource) => self.after_absence(arm),
            (404, Asked::Operation) => {
                // The operation's record is gone; what it was about tells how it ended.
                self.style = Style::Resource;
                self.ask_resource("Unknown")
            }
            (408 | 429 | 500.., _) => self.wait("Unknown", None),
            (_, Asked::Operation) if matches!(self.style, Style::Status(_)) => {
                self.refusals += 1;
                if self.refusals >= REFUSALS {
                    self.style = Style::Resource;
                    return self.ask_resource("Unknown");
                }
                self.wait("Unknown", None)
            }
            _ => Poll::Failed(Box::new(arm.clone())),
        }
    }

    fn after_absence(&mut self, arm: &ArmError) -> Poll {
        if self.method == Method::Delete {
            return Poll::Done(None);
        }
        self.absences += 1;
        if self.absences >= ABSENCES {
            return Poll::Failed(Box::new(ArmError {
                code: "ResourceVanished".to_owned(),
                message: "the resource was written and is absent now".to_owned(),
                details: Vec::new(),
                ..arm.clone()
            }));
        }
        let after = Duration::from_secs(1 << self.absences.min(6));
        Poll::Wait {
            url: self.resource.clone(),
            after,
            state: "Absent".to_owned(),
        }
    }

    fn ask_resource(&mut self, state: &str) -> Poll {
        self.asked = Asked::Resource;
        Poll::Wait {
            url: self.resource.clone(),
            after: Duration::ZERO,
            state: state.to_owned(),
        }
    }

    fn wait(&mut self, state: &str, retry_after: Option<u64>) -> Poll {
        let doubled = 1_u32 << self.waits.min(16);
        let after = match retry_after {
            Some(0) => FLOOR.saturating_mul(doubled).min(FLOOR_CAP),
            Some(seconds) => Duration::from_secs(seconds).min(LONGEST_ASKED),
            None => Duration::from_secs(1).saturating_mul(doubled).min(LONGEST),
        };
        self.waits += 1;
        let peek = self.method == Method::Delete && self.polls % PEEK == PEEK - 1;
        let (asked, url) = match &self.style {
            Style::Status(url) | Style::Location(url) if !peek => (Asked::Operation, url),
            Style::Status(_) | Style::Location(_) | Style::Resource => {
                (Asked::Resource, &self.resource)
            }
        };
        self.asked = asked;
        Poll::Wait {
            url: url.clone(),
            after,
            state: state.to_owned(),
        }
    }
}

/// The address in a header, whole or a path. One that is neither is left out: the write was
/// accepted, and its resource tells how it ends.
fn address(reply: &Reply, header: &'static str, resource: &Url) -> Option<Url> {
    let text = reply.header(header).filter(|text| !text.is_empty())?;
    let found = if text.starts_with('/') {
        resource.join(text)
    } else {
        Url::parse(text)
    };
    if found.is_err() {
        tracing::warn!(header, "no address");
    }
    found.ok()
}

/// The error in an answer, or one of our own where it names none.
fn failure(reply: &Reply, code: &str, message: &str) -> Poll {
    let mut error =
        ArmError::from_document(reply.status, &reply.body).unwrap_or_else(|| ArmError {
            status: reply.status,
            code: code.to_owned(),
            message: message.to_owned(),
            ..ArmError::default()
        });
    error.request_id = reply.request_id();
    error.correlation_id = reply
        .header("x-ms-correlation-request-id")
        .map(ToOwned::to_owned);
    Poll::Failed(Box::new(error))
}

#[cfg(test)]
mod tests;
