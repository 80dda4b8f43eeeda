//! Quota counters of a region.

use model::{live::UsageFact, units::Region};
use serde_json::Value;

use crate::{client::Client, error::RequestError, versions};

/// Reads the counters that a provider has in a region.
pub(super) async fn read(
    client: &Client,
    provider: &str,
    region: &Region,
) -> Result<Vec<UsageFact>, RequestError> {
    let path = format!(
        "/subscriptions/{}/providers/{provider}/locations/{region}/usages",
        client.subscription()
    );
    let query = [(
        "api-version",
        versions::of_type(&format!("{provider}/locations")),
    )];
    let items = client.list(&path, &query).await?;
    Ok(items.iter().filter_map(usage).collect())
}

/// A counter; one without its numbers is left out, which makes it unknown, not zero.
pub(super) fn usage(item: &Value) -> Option<UsageFact> {
    let name = item.pointer("/name/value")?.as_str()?;
    let display_name = item.pointer("/name/localizedValue").and_then(Value::as_str);
    Some(UsageFact {
        name: name.to_owned(),
        display_name: display_name.unwrap_or(name).to_owned(),
        limit: item.get("limit")?.as_i64()?,
        used: item.get("currentValue")?.as_i64()?,
    })
}
