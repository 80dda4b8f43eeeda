//! The state of a live resource, from its body and from the instance view of a VM.

use model::{
    live::{Power, Provisioning, State},
    resource::{Tags, tags},
};
use serde_json::Value;

use super::{
    batch::{self, Resize},
    fields::{items, member, text},
    kubernetes, readiness,
};

/// The state that a body tells. A VM's power is in its instance view, which a list leaves out.
pub(crate) fn of_body(body: &Value) -> State {
    let mut state = State {
        provisioning: provisioning(body),
        ..State::default()
    };
    if let Some(view) = member(body, "/properties/instanceView") {
        apply_instance_view(&mut state, view);
    }
    state.evicted = is_evicted(body, &state);
    of_pool(&mut state, body);
    state
}

/// Adds what a pool of Batch or of Kubernetes tells of its nodes. While they come or go, it is being written.
fn of_pool(state: &mut State, body: &Value) {
    state.nodes = batch::nodes(body).or_else(|| kubernetes::nodes(body));
    if state.provisioning != Provisioning::Succeeded {
        return;
    }
    match batch::resize(body) {
        Some(Resize::Running) => state.provisioning = Provisioning::Updating,
        Some(Resize::Short { code, message }) => {
            state.provisioning = Provisioning::Failed;
            state.message = Some(format!("{code}: {message}"));
        }
        Some(Resize::Settled) | None => {}
    }
}

/// Adds what an instance view tells.
pub(crate) fn apply_instance_view(state: &mut State, view: &Value) {
    for status in items(view, "/statuses") {
        let code = text(status, "/code").unwrap_or_default();
        let mut parts = code.split('/');
        match (parts.next(), parts.next()) {
            (Some(kind), Some(word)) if kind.eq_ignore_ascii_case("PowerState") => {
                state.power = Some(power(word));
            }
            (Some(kind), Some(word))
                if kind.eq_ignore_ascii_case("ProvisioningState")
                    && word.eq_ignore_ascii_case("failed") =>
            {
                let message = text(status, "/message").map(str::trim).unwrap_or_default();
                let told = match parts.next() {
                    Some(code) if message.is_empty() => code.to_owned(),
                    Some(code) => format!("{code}: {message}"),
                    None => message.to_owned(),
                };
                state.message = Some(told).filter(|told| !told.is_empty());
            }
            _ => {}
        }
    }
    state.readiness = readiness::of_view(view);
    if let Some(agent) = view.get("vmAgent") {
        state.agent_ready = agent_ready(agent);
    }
}

/// Whether a VM is spot capacity that Azure took back: it is deallocated, and nobody asked us.
pub(crate) fn is_evicted(body: &Value, state: &State) -> bool {
    state.power == Some(Power::Deallocated) && may_be_evicted(body)
}

/// Whether a VM is spot capacity that nobody asked us to stop.
pub(crate) fn may_be_evicted(body: &Value) -> bool {
    let priority = text(body, "/properties/priority").unwrap_or_default();
    let spot = priority.eq_ignore_ascii_case("Spot") || priority.eq_ignore_ascii_case("Low");
    spot && !stopped_on_purpose(&super::tags_of(body))
}

fn stopped_on_purpose(tags: &Tags) -> bool {
    tags.get(tags::POWER)
        .is_some_and(|value| value.eq_ignore_ascii_case("stopped"))
}

fn provisioning(body: &Value) -> Provisioning {
    let Some(word) = text(body, "/properties/provisioningState") else {
        return Provisioning::Succeeded;
    };
    match word.to_lowercase().as_str() {
        "succeeded" => Provisioning::Succeeded,
        "failed" => Provisioning::Failed,
        "canceled" | "cancelled" => Provisioning::Canceled,
        "creating" => Provisioning::Creating,
        "updating" => Provisioning::Updating,
        "deleting" => Provisioning::Deleting,
        _ => Provisioning::Other,
    }
}

fn power(word: &str) -> Power {
    match word.to_lowercase().as_str() {
        "starting" => Power::Starting,
        "running" => Power::Running,
        "stopping" => Power::Stopping,
        "stopped" => Power::Stopped,
        "deallocating" => Power::Deallocating,
        "deallocated" => Power::Deallocated,
        _ => Power::Unknown,
    }
}

/// The agent's own word; `None` where it has not said anything.
fn agent_ready(agent: &Value) -> Option<bool> {
    let status = items(agent, "/statuses").next()?;
    let code = text(status, "/code")?;
    Some(code.eq_ignore_ascii_case("ProvisioningState/succeeded"))
}
