//! Instances of scale sets: a list a set, never one request an instance.

use model::{ids::ArmId, live::Instance};
use serde_json::Value;

use crate::{client::Client, error::RequestError, versions, wire};

/// The bodies of the instances of a Uniform set, with their views.
pub(super) async fn bodies(client: &Client, set: &ArmId) -> Result<Vec<Value>, RequestError> {
    list(client, set, &[("$expand", "instanceView")]).await
}

async fn list(
    client: &Client,
    set: &ArmId,
    query: &[(&str, &str)],
) -> Result<Vec<Value>, RequestError> {
    let path = format!("{set}/virtualMachines");
    let mut query = query.to_vec();
    query.push(("api-version", versions::COMPUTE));
    match client.list(&path, &query).await {
        Err(error) if error.is_absence() => Ok(Vec::new()),
        other => other,
    }
}

/// The instances of a set, without their power states.
pub(crate) async fn of_set(client: &Client, set: &ArmId) -> Result<Vec<Instance>, RequestError> {
    let bodies = list(client, set, &[]).await?;
    Ok(bodies.iter().filter_map(wire::instance_of_set).collect())
}
