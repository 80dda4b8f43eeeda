//! Schedules that shut VMs down. They are kept and never act: no clock of theirs runs here.

use serde_json::{Value, json};

use super::serve::Draft;
use crate::{
    call::Call,
    error::ArmError,
    json::set,
    routes::common,
    store::{entry::Resource, world::World},
};

/// The body of a schedule.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the table of types wants this form"
)]
pub(super) fn build(world: &mut World, _: &Call<'_>, draft: &mut Draft) -> Result<Value, ArmError> {
    let mut body = json!({"properties": draft.given.get("properties")});
    let kept = |member: &str| draft.kept(&format!("/properties/{member}"));
    let created = kept("createdDate").unwrap_or_else(|| json!(world.now().precise()));
    let unique = kept("uniqueIdentifier").unwrap_or_else(|| json!(world.mint()));
    for (member, value) in [
        ("createdDate", created),
        ("provisioningState", json!("Succeeded")),
        ("uniqueIdentifier", unique),
    ] {
        set(&mut body, &format!("/properties/{member}"), value);
    }
    Ok(body)
}

/// The schedule as recorded answers show it: id and type in lower case.
pub(super) fn show(_: &World, call: &Call<'_>, schedule: &Resource) -> Value {
    let mut shown = common::base(schedule);
    if call.setup.quirks {
        let id = schedule
            .id
            .as_str()
            .replacen("/resourceGroups/", "/resourcegroups/", 1)
            .replacen("/Microsoft.DevTestLab/", "/microsoft.devtestlab/", 1);
        set(&mut shown, "/id", json!(id));
        set(&mut shown, "/type", json!("microsoft.devtestlab/schedules"));
    }
    shown
}
