//! Operations of the services beside Compute and Network: where they are polled, and what for.

use model::ids::ArmId;
use serde_json::json;

use super::{Page, running, status, url};
use crate::{
    call::Call,
    error::ArmError,
    http::Answer,
    routes::services,
    store::{
        entry::{Operation, State, Style, Work},
        world::World,
    },
};

/// The path of an operation's URL below its subscription, up to its API version.
pub(super) fn path(call: &Call<'_>, operation: &Operation, page: Page) -> String {
    let Operation {
        id,
        location,
        target,
        ..
    } = operation;
    let version = &call.version;
    match operation.style {
        Style::Batch if target.parent().is_some() => format!(
            "/resourceGroups/{}/providers/Microsoft.Batch/batchAccounts/{}/poolOperationResults/delete-{}-{id}?api-version={version}",
            target.group().unwrap_or_default(),
            target.parent().as_ref().map_or("", ArmId::name),
            target.name()
        ),
        Style::Batch if operation.work == Work::Delete => format!(
            "/providers/Microsoft.Batch/locations/{location}/accountOperationResults/{}-{id}?api-version={version}",
            target.name()
        ),
        Style::Batch => format!(
            "/resourceGroups/{}/providers/Microsoft.Batch/batchAccounts/{}/operationResults/{id}?api-version={version}",
            target.group().unwrap_or_default(),
            target.name()
        ),
        Style::Storage => format!(
            "/providers/Microsoft.Storage/locations/{location}/asyncoperations/{id}?monitor=true&api-version={version}"
        ),
        Style::Cluster
        | Style::Compute
        | Style::Disk
        | Style::Gallery
        | Style::Network
        | Style::Group
        | Style::Hidden => {
            let kind = if page == Page::Result {
                "operationresults"
            } else {
                "operations"
            };
            // Recorded: the version of the operation is never that of the request.
            format!(
                "/providers/Microsoft.ContainerService/locations/{location}/{kind}/{id}?api-version=2016-03-30"
            )
        }
    }
}

/// What the URL answers.
pub(super) fn poll(world: &World, call: &Call<'_>, operation: &Operation) -> Answer {
    match operation.style {
        Style::Batch => location_only(world, call, operation, 15),
        Style::Storage => location_only(world, call, operation, 17),
        Style::Cluster
        | Style::Compute
        | Style::Disk
        | Style::Gallery
        | Style::Network
        | Style::Group
        | Style::Hidden => cluster(call, operation),
    }
}

/// 202 while it runs; then the resource, or nothing where it is gone.
fn location_only(world: &World, call: &Call<'_>, operation: &Operation, again: u64) -> Answer {
    match &operation.state {
        State::Running => running(call, Answer::empty(202), Some(again))
            .with_header("Location", url(call, operation, Page::Result)),
        State::Succeeded => match world.resource(&operation.target) {
            Some(resource) => services::shown(world, call, 200, resource),
            None => Answer::empty(200),
        },
        State::Failed { code, message } => ArmError::new(409, code, message.as_str()).into(),
    }
}

fn cluster(call: &Call<'_>, operation: &Operation) -> Answer {
    if call.path.kind().ends_with("operationresults") {
        return match &operation.state {
            State::Running => {
                Answer::empty(202).with_header("Location", url(call, operation, Page::Result))
            }
            State::Succeeded => Answer::empty(204),
            State::Failed { code, message } => {
                ArmError::new(409, code, message.as_str()).bare().into()
            }
        };
    }
    let mut body = json!({
        "name": operation.id,
        "status": status(&operation.state),
        "startTime": operation.started.precise(),
    });
    if operation.state != State::Running {
        crate::json::set(&mut body, "/endTime", json!(operation.ends.precise()));
    }
    if let State::Failed { code, message } = &operation.state {
        let error = ArmError::new(0, code, message.as_str()).object();
        crate::json::set(&mut body, "/error", error);
    }
    Answer::json(200, body)
}
