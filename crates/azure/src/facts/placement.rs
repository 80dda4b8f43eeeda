//! How likely Azure holds it that spot capacity is to be had.

use azure_core::Method;
use model::live::PlacementQuestion;
use serde_json::{Value, json};

use crate::{client::Client, error::RequestError, versions};

/// Asks for the placement score of a size in a region.
pub(super) async fn read(
    client: &Client,
    question: &PlacementQuestion,
) -> Result<Option<String>, RequestError> {
    let PlacementQuestion {
        location,
        size,
        count,
    } = question;
    let path = format!(
        "/subscriptions/{}/providers/Microsoft.Compute/locations/{location}/placementScores/spot/generate",
        client.subscription()
    );
    let body = json!({
        "desiredLocations": [location],
        "desiredSizes": [{"sku": size.as_str()}],
        "desiredCount": count,
        "availabilityZones": false,
    });
    let call = client
        .call_at(Method::Post, &path, &[("api-version", versions::PLACEMENT)])?
        .body(body);
    let reply = client.send(&call).await?;
    let score = reply.body.pointer("/placementScores/0/score");
    Ok(score.and_then(Value::as_str).map(ToOwned::to_owned))
}
