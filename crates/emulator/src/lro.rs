//! Long-running operations: how they begin, and what their URLs answer.
//!
//! They end by time, never because somebody polls.

mod services;

use model::ids::ArmId;
use serde_json::{Value, json};

use crate::{
    call::Call,
    durations::Timing,
    error::ArmError,
    http::Answer,
    json::same,
    store::{
        entry::{Entry, Operation, Resource, State, Style, Work},
        world::World,
    },
    text::{Seeded, base64_decode, base64_url},
};

/// What an operation is going to be.
#[derive(Clone, Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) target: &'a ArmId,
    /// As the URL shows it; the client's spelling is kept.
    pub(crate) location: &'a str,
    pub(crate) style: Style,
    pub(crate) work: Work,
    /// `PutSubnetOperation`.
    pub(crate) title: &'a str,
    pub(crate) timing: Timing,
}

/// Begins an operation. It takes over the fault that was decided for the request.
pub(crate) fn begin(world: &mut World, call: &Call<'_>, plan: &Plan<'_>) -> Operation {
    let now = world.now();
    let takes = call.setup.pace.map_or(plan.timing.takes, |pace| pace.takes);
    let operation = Operation {
        id: world.mint(),
        number: world.next_number(),
        subscription: call.subscription().to_owned(),
        location: plan.location.replace(' ', ""),
        style: plan.style,
        target: plan.target.clone(),
        title: plan.title.to_owned(),
        started: now,
        ends: now.plus(call.setup.speed.shrink(takes)),
        state: State::Running,
        work: plan.work,
        failure: call.failure.clone(),
        old_size: None,
        output: None,
        instances: Vec::new(),
        unplaced: Vec::new(),
    };
    world.put(Entry::Operation(Box::new(operation.clone())));
    operation
}

/// The deletion that is under way on a resource, which a repeated delete follows.
pub(crate) fn deletion(world: &World, resource: &Resource) -> Option<Operation> {
    let running = world.operation(resource.operation.as_ref()?)?;
    (running.work == Work::Delete).then(|| running.clone())
}

/// Marks an operation as ended before its time by a newer one on the same VM.
pub(crate) fn preempt(world: &mut World, id: &str) {
    if let Some(mut operation) = world.operation(id).cloned()
        && operation.state == State::Running
    {
        operation.ends = world.now();
        operation.state = State::Failed {
            code: "OperationPreempted".to_owned(),
            message: "Operation execution has been preempted by a more recent operation."
                .to_owned(),
        };
        world.put(Entry::Operation(Box::new(operation)));
    }
}

/// Whether the first answer of an operation also names a `Location`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Twin {
    /// Deletes and actions.
    Yes,
    /// Writes that answer with the resource.
    No,
}

/// Adds the headers of an operation's first answer.
pub(crate) fn announce(
    answer: Answer,
    call: &Call<'_>,
    operation: &Operation,
    twin: Twin,
    retry_after: Option<u64>,
) -> Answer {
    let mut answer = answer;
    if !matches!(
        operation.style,
        Style::Group | Style::Batch | Style::Storage
    ) {
        answer = answer.with_header("Azure-AsyncOperation", url(call, operation, Page::Status));
    }
    if matches!(operation.style, Style::Compute | Style::Network) {
        answer = answer.with_header("Azure-AsyncNotification", "Enabled");
    }
    if twin == Twin::Yes {
        answer = answer.with_header("Location", url(call, operation, Page::Result));
    }
    match paced(call, retry_after) {
        Some(seconds) => answer.with_header(
            "Retry-After",
            call.setup.speed.retry_after(seconds).to_string(),
        ),
        None => answer,
    }
}

/// The seconds to ask for.
fn paced(call: &Call<'_>, usual: Option<u64>) -> Option<u64> {
    match call.setup.pace {
        Some(pace) => Some(pace.retry_after),
        None => usual,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    Status,
    Result,
}

/// The URL of an operation, absolute and signed as they are since 2023.
fn url(call: &Call<'_>, operation: &Operation, page: Page) -> String {
    let Operation {
        id,
        subscription,
        location,
        ..
    } = operation;
    let base = format!("{}/subscriptions/{subscription}", call.base());
    let version = &call.version;
    let monitor = if page == Page::Result {
        "&monitor=true"
    } else {
        ""
    };
    let mut stream = Seeded::of_text(call.setup.seed, &format!("{id} {}", call.polls));
    let path = match operation.style {
        Style::Compute => format!(
            "{base}/providers/Microsoft.Compute/locations/{location}/operations/{id}?p={}{monitor}&api-version={version}",
            Seeded::of_text(call.setup.seed, subscription).guid()
        ),
        Style::Gallery => format!(
            "{base}/providers/Microsoft.Compute/locations/{location}/capsOperations/{id}?p={}{monitor}&api-version={version}",
            Seeded::of_text(call.setup.seed, subscription).guid()
        ),
        Style::Disk => format!(
            "{base}/providers/Microsoft.Compute/locations/{location}/DiskOperations/{id}?p={}{monitor}&api-version={version}",
            Seeded::of_text(call.setup.seed, subscription).guid()
        ),
        Style::Network | Style::Hidden => {
            let kind = if page == Page::Result {
                "operationResults"
            } else {
                "operations"
            };
            format!(
                "{base}/providers/Microsoft.Network/locations/{location}/{kind}/{id}?api-version={version}"
            )
        }
        Style::Batch | Style::Cluster | Style::Storage => {
            format!("{base}{}", services::path(call, operation, page))
        }
        Style::Group => {
            let job = json!({
                "jobId": format!("RESOURCEGROUPDELETIONJOB-{}-{id}", operation.target.name().to_uppercase()),
                "jobLocation": location,
            });
            format!(
                "{base}/operationresults/{}?api-version={version}",
                base64_url(job.to_string().as_bytes())
            )
        }
    };
    format!(
        "{path}&t={}&c={}&s={}&h={}",
        638_000_000_000_000_000 + u64::try_from(call.now.unix_seconds()).unwrap_or(0),
        stream.base64(2_400),
        stream.base64(342),
        stream.base64(43)
    )
}

fn running(call: &Call<'_>, answer: Answer, retry_after: Option<u64>) -> Answer {
    match paced(call, retry_after) {
        Some(seconds) => answer.with_header(
            "Retry-After",
            call.setup.speed.retry_after(seconds).to_string(),
        ),
        None => answer,
    }
}

/// Network doubles its `Retry-After` from poll to poll, from 10 up to 160 seconds.
fn doubled(polls: u32) -> u64 {
    10u64 << polls.saturating_sub(1).min(4)
}

/// What an operation URL of a provider answers.
pub(crate) fn poll(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    // Some put the name of the target before the id, which has 36 characters.
    let name = call.path.last_name();
    let id = name
        .len()
        .checked_sub(36)
        .and_then(|start| name.get(start..))
        .unwrap_or(name);
    let found = world
        .operation(id)
        .filter(|operation| same(&operation.subscription, call.subscription()));
    let Some(operation) = found else {
        return Err(ArmError::new(
            404,
            "NotFound",
            "The entity was not found in this Azure location.",
        ));
    };
    match operation.style {
        Style::Compute | Style::Disk | Style::Gallery => Ok(poll_compute(call, operation)),
        Style::Batch | Style::Cluster | Style::Storage => {
            Ok(services::poll(world, call, operation))
        }
        Style::Network | Style::Hidden | Style::Group => Ok(poll_network(call, operation)),
    }
}

fn poll_compute(call: &Call<'_>, operation: &Operation) -> Answer {
    // Recorded: 35 s (sometimes 4 or 30) between polls of a VM's creation, 30 s of its deletion.
    let between = if operation.title.ends_with("VMScaleSet") {
        Some(match operation.title.as_str() {
            "CreateVMScaleSet" => 61,
            "UpdateVMScaleSet" => 37,
            _ => 10,
        })
    } else if operation.work == Work::CreateMachine {
        Some(35)
    } else if operation.work == Work::Delete && operation.style == Style::Compute {
        Some(30)
    } else {
        None
    };
    if same(call.query().get("monitor").unwrap_or_default(), "true") {
        return match &operation.state {
            State::Running => running(call, Answer::empty(202), between)
                .with_header("Location", url(call, operation, Page::Result)),
            State::Succeeded => match &operation.output {
                Some(output) if operation.style == Style::Compute => {
                    Answer::json(200, output.clone())
                }
                Some(_) | None => Answer::empty(200),
            },
            State::Failed { code, message } => ArmError::new(409, code, message.as_str()).into(),
        };
    }
    let mut body = json!({
        "startTime": operation.started.precise(),
        "status": status(&operation.state),
        "name": operation.id,
    });
    if operation.state != State::Running {
        crate::json::set(&mut body, "/endTime", json!(operation.ends.precise()));
    }
    if let State::Failed { code, message } = &operation.state {
        crate::json::set(
            &mut body,
            "/error",
            ArmError::new(0, code, message.as_str()).object(),
        );
    }
    if let (State::Succeeded, Some(output)) = (&operation.state, &operation.output) {
        crate::json::set(&mut body, "/properties/output", output.clone());
    }
    let answer = Answer::json(200, body);
    if operation.state == State::Running {
        running(call, answer, between)
    } else {
        answer
    }
}

fn poll_network(call: &Call<'_>, operation: &Operation) -> Answer {
    let again = Some(doubled(call.polls));
    if call.path.kind().ends_with("operationresults") {
        return match &operation.state {
            State::Running => running(call, Answer::empty(202), again)
                .with_header("Location", url(call, operation, Page::Result)),
            State::Succeeded => Answer::empty(204),
            State::Failed { code, message } => ArmError::network(code, message.as_str()).into(),
        };
    }
    let mut body = json!({"status": status(&operation.state)});
    if let State::Failed { code, message } = &operation.state {
        let error = ArmError::network(code, message.as_str()).object();
        crate::json::set(&mut body, "/error", error);
    }
    let answer = Answer::json(200, body);
    if operation.state == State::Running {
        running(call, answer, again)
    } else {
        answer
    }
}

fn status(state: &State) -> &'static str {
    match state {
        State::Running => "InProgress",
        State::Succeeded => "Succeeded",
        State::Failed { .. } => "Failed",
    }
}

/// What `/subscriptions/{s}/operationresults/{token}` answers.
pub(crate) fn poll_group(world: &World, call: &Call<'_>) -> Result<Answer, ArmError> {
    let token = call.path.last_name();
    let operation = base64_decode(token)
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .and_then(|job| {
            let id = job.get("jobId")?.as_str()?;
            // A GUID is 36 characters.
            id.get(id.len().checked_sub(36)?..).map(str::to_owned)
        })
        .and_then(|id| world.operation(&id));
    let Some(operation) = operation else {
        return Err(ArmError::gateway(
            404,
            "InvalidOperationResultToken",
            format!("The operation result token '{token}' is not known."),
        ));
    };
    Ok(match &operation.state {
        State::Running => running(call, Answer::empty(202), Some(15))
            .with_header("Location", url(call, operation, Page::Result)),
        State::Succeeded => Answer::empty(200),
        State::Failed { code, message } => ArmError::gateway(409, code, message.as_str()).into(),
    })
}

/// The URL that a refusal names when another operation is in the way.
pub(crate) fn status_url(call: &Call<'_>, operation: &Operation) -> String {
    url(call, operation, Page::Status)
}
