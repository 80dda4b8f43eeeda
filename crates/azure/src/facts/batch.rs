//! What Batch says of a region, and of an account.

use std::collections::BTreeSet;

use model::{
    ids::ArmId,
    live::UsageFact,
    units::{Region, SizeName},
};
use serde_json::Value;

use crate::{client::Client, error::RequestError, versions, wire::batch::limits};

/// Reads which sizes pools can have in a region.
pub(super) async fn sizes(
    client: &Client,
    region: &Region,
) -> Result<BTreeSet<SizeName>, RequestError> {
    let path = format!(
        "/subscriptions/{}/providers/Microsoft.Batch/locations/{region}/virtualMachineSkus",
        client.subscription()
    );
    let query = [("api-version", versions::BATCH)];
    let items = client.list(&path, &query).await?;
    let names = items.iter().filter_map(|item| item.get("name")?.as_str());
    Ok(names.map(SizeName::from).collect())
}

/// Reads the limits of an account; none where it has none of its own.
pub(super) async fn quota(
    client: &Client,
    account: &ArmId,
) -> Result<Vec<UsageFact>, RequestError> {
    let found = client.get(account).await?;
    let body = found.map_or(Value::Null, |reply| reply.body);
    Ok(limits(&body))
}
