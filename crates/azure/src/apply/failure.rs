//! Failures of steps: Azure's and our own.

use model::{
    ids::ArmId,
    plan::{Changed, Failure},
};
use serde_json::Value;

use crate::{
    error::{ArmError, RequestError, RequestFault, chain},
    fault,
    lro::drive::OperationError,
    wire::EncodeError,
};

/// Nobody knows how a write ended that Azure accepted, or may have.
pub(super) fn unknown(mut failure: Stopped) -> Stopped {
    failure.unknown = true;
    failure.help = Some(
        "run `tensorform plan`: it reads what came of it, and says what is left to do".to_owned(),
    );
    failure
}

/// What stops a step. Boxed: it is large, and rare.
pub(super) type Stopped = Box<Failure>;

/// A failure that we ourselves find.
pub(super) fn ours(code: &str, message: impl Into<String>) -> Stopped {
    Box::new(Failure {
        code: code.to_owned(),
        message: message.into(),
        kind: "refused".to_owned(),
        ..Failure::default()
    })
}

fn of_kind(kind: &str, mut failure: Stopped, help: &str) -> Stopped {
    kind.clone_into(&mut failure.kind);
    failure.help = Some(help.to_owned());
    failure
}

/// A request failed.
pub(super) fn of_request(error: &RequestError, spot: bool) -> Stopped {
    let (code, kind) = match &error.fault {
        RequestFault::Refused(arm) => return Box::new(fault::failure(arm, spot)),
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
    of_kind(
        kind,
        ours(code, chain(error)),
        "plan and apply again: what was done stays, what was not is done then",
    )
}

/// An operation did not end well.
pub(super) fn of_operation(error: &OperationError, spot: bool) -> Stopped {
    match error {
        OperationError::Failed(arm) => Box::new(fault::failure(arm, spot)),
        OperationError::Request(error) => of_request(error, spot),
        OperationError::Deadline { .. } => deadline(error.to_string()),
    }
}

/// A step ran out of time.
fn deadline(message: String) -> Stopped {
    of_kind(
        "deadline",
        ours("StepDeadline", message),
        "the operation may still end well: plan again later, or allow the step more time",
    )
}

/// A body could not be made.
pub(super) fn of_encoding(error: &EncodeError) -> Stopped {
    let code = match error {
        EncodeError::Unknown(_) => "ValueNotKnown",
        EncodeError::Invalid { .. } => "ValueNotValid",
        EncodeError::Unchangeable(_) => "NotChangeable",
    };
    ours(code, error.to_string())
}

/// The resource is not what the plan relied on.
pub(super) fn changed(changes: &[Changed]) -> Stopped {
    let sentences: Vec<String> = changes.iter().map(sentence).collect();
    let message = format!("changed since the plan: {}", sentences.join("; "));
    of_kind(
        "conflict",
        ours("ChangedSincePlan", message),
        "plan again: nothing was written to it",
    )
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
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                format!("`{value}`")
            }
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
pub(super) fn occupied(by: &str) -> Stopped {
    let message = format!("a resource with this name exists: {by}");
    let mut failure = of_kind(
        "conflict",
        ours("AlreadyExists", message),
        "plan again, or take it over with `--adopt`",
    );
    failure.left_behind = true;
    failure
}

/// A group that is to be deleted has something in it.
pub(super) fn not_empty(remaining: &[String]) -> Stopped {
    let message = format!("the group is not empty: {}", remaining.join(", "));
    let mut failure = of_kind(
        "conflict",
        ours("GroupNotEmpty", message),
        "the group stays: what is in it is not ours, or is still being deleted",
    );
    failure.left_behind = true;
    failure
}

/// Something of others uses what is to be deleted: it stays for as long as that is so.
pub(super) fn used_by(error: &ArmError, stranger: &ArmId, spot: bool) -> Stopped {
    let mut failure = Box::new(fault::failure(error, spot));
    let help = format!(
        "`{}` ({} in `{}`) uses it and is not the stack's: delete or move that, then destroy once more",
        stranger.name(),
        stranger.resource_type(),
        stranger.group().unwrap_or_default()
    );
    failure.help = Some(help);
    failure
}

/// What is to be deleted is protected.
pub(super) fn protected() -> Stopped {
    let mut failure = of_kind(
        "protected",
        ours(
            "Protected",
            "the resource carries the tag `tensorform-protect`",
        ),
        "remove the tag, or set `protect: false` and apply, before deleting it",
    );
    failure.left_behind = true;
    failure
}

/// What was made was removed again.
pub(super) fn rolled_back() -> Stopped {
    of_kind(
        "capacity",
        ours(
            "RolledBack",
            "it was made, and removed again because the pool did not get enough of its nodes",
        ),
        "`on_partial: keep` keeps what there is room for",
    )
}

/// The step was left while it was under way.
pub(super) fn left_alone(accepted: bool) -> Stopped {
    let mut failure = of_kind(
        "interrupted",
        ours("Interrupted", "the run was left while this was under way"),
        "plan again: Azure goes on with what it accepted",
    );
    failure.left_behind = accepted;
    failure.unknown = true;
    failure
}

/// An event could not be recorded, so nothing may be written.
pub(super) fn journal(error: &crate::error::SinkError) -> Stopped {
    ours("JournalFailed", chain(error))
}
