//! Actions as verbs.

use model::plan::Action;

/// What is going on.
pub(super) fn doing(action: Action) -> &'static str {
    match action {
        Action::NoOp => "looking",
        Action::Create => "creating",
        Action::Update => "updating",
        Action::RestartUpdate => "updating with a restart",
        Action::StopUpdate => "deallocating to update",
        Action::Replace => "replacing",
        Action::Repair => "repairing",
        Action::Start => "starting",
        Action::Delete => "deleting",
    }
}

/// What was done.
pub(super) fn done(action: Action) -> &'static str {
    match action {
        Action::NoOp => "unchanged",
        Action::Create => "created",
        Action::Update => "updated",
        Action::RestartUpdate => "updated with a restart",
        Action::StopUpdate => "updated after deallocation",
        Action::Replace => "replaced",
        Action::Repair => "repaired",
        Action::Start => "started",
        Action::Delete => "deleted",
    }
}

/// What was to be done.
pub(super) fn to_do(action: Action) -> &'static str {
    match action {
        Action::NoOp => "look",
        Action::Create => "create",
        Action::Update => "update",
        Action::RestartUpdate => "update with a restart",
        Action::StopUpdate => "deallocate and update",
        Action::Replace => "replace",
        Action::Repair => "repair",
        Action::Start => "start",
        Action::Delete => "delete",
    }
}
