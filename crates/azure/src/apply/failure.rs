//! Failures of steps: Azure's and our own.

use model::plan::{Changed, Failure};
use serde_json::Value;

use crate::{
    error::{RequestError, RequestFault, chain},
    fault,
    lro::drive::OperationError,
    wire::EncodeError,
};

/// A failure that we ourselves find.
pub(super) fn ours(code: &str, message: impl Into<String>) -> Failure {
    Failure {
        code: code.to_owned(),
        message: message.into(),
        kind: "refused".to_owned(),
        ..Failure::default()
    }
}

fn with_help(failure: Failure, help: &str) -> Failure {
    Failure {
        help: Some(help.to_owned()),
        ..failure
    }
}

/// A request failed.
pub(super) fn of_request(error: &RequestError, spot: bool) -> Failure {
    let (code, kind) = match &error.fault {
        RequestFault::Refused(arm) => return fault::failure(arm, spot),
        RequestFault::NotConnected { .. } => ("NotConnected", "network"),
        RequestFault::Unanswered { .. } => ("Unanswered", "network"),
        RequestFault::Token(_) => ("NoToken", "denied"),
        RequestFault::Unreadable(_) => ("UnreadableAnswer", "service"),
        RequestFault::PlainHttp(_) | RequestFault::ForeignOrigin { .. } => {
            ("UntrustedAddress", "refused")
        }
        RequestFault::InvalidName(_) => ("InvalidName", "malformed"),
        RequestFault::Sdk(_) => ("RequestNotMade", "malformed"),
    };
    Failure {
        code: code.to_owned(),
        message: chain(error),
        kind: kind.to_owned(),
        help: Some(
            "plan and apply again: what was done stays, what was not is done then".to_owned(),
        ),
        ..Failure::default()
    }
}

/// An operation did not end well.
pub(super) fn of_operation(error: &OperationError, spot: bool) -> Failure {
    match error {
        OperationError::Failed(arm) => fault::failure(arm, spot),
        OperationError::Request(error) => of_request(error, spot),
        OperationError::Deadline { .. } => deadline(error.to_string()),
    }
}

/// A step ran out of time.
pub(super) fn deadline(message: String) -> Failure {
    Failure {
        kind: "deadline".to_owned(),
        ..with_help(
            ours("StepDeadline", message),
            "the operation may still end well: plan again later, or allow the step more time",
        )
    }
}

/// A body could not be made.
pub(super) fn of_encoding(error: &EncodeError) -> Failure {
    let code = match error {
        EncodeError::Unknown(_) => "ValueNotKnown",
        EncodeError::Invalid { .. } => "ValueNotValid",
        EncodeError::Unchangeable(_) => "NotChangeable",
    };
    ours(code, error.to_string())
}

/// The resource is not what the plan relied on.
pub(super) fn changed(changes: &[Changed]) -> Failure {
    let sentences: Vec<String> = changes.iter().map(sentence).collect();
    Failure {
        kind: "conflict".to_owned(),
        ..with_help(
            ours(
                "ChangedSincePlan",
                format!("changed since the plan: {}", sentences.join("; ")),
            ),
            "plan again: nothing was written to it",
        )
    }
}

fn sentence(changed: &Changed) -> String {
    let Changed {
        path,
        planned,
        found,
    } = changed;
    if !path.is_empty() {
        let word = |value: &Value| match value {
            Value::Null => "nothing".to_owned(),
            Value::String(text) => format!("`{text}`"),
            other => format!("`{other}`"),
        };
        return format!("`{path}` was {} and is {}", word(planned), word(found));
    }
    if found.is_null() {
        "the resource is gone".to_owned()
    } else {
        "the resource exists now".to_owned()
    }
}

/// A resource stands under the name that a step needs.
pub(super) fn occupied(by: &str) -> Failure {
    Failure {
        kind: "conflict".to_owned(),
        left_behind: true,
        ..with_help(
            ours(
                "AlreadyExists",
                format!("a resource with this name exists: {by}"),
            ),
            "plan again, or take it over with `--adopt`",
        )
    }
}

/// The step was left while it was under way.
pub(super) fn left_alone(accepted: bool) -> Failure {
    Failure {
        left_behind: accepted,
        kind: "interrupted".to_owned(),
        ..with_help(
            ours("Interrupted", "the run was left while this was under way"),
            "plan again: Azure goes on with what it accepted",
        )
    }
}

/// An event could not be recorded, so nothing may be written.
pub(super) fn journal(error: &crate::error::SinkError) -> Failure {
    ours("JournalFailed", chain(error))
}
