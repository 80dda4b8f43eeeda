//! Whether the terms of a purchase plan are accepted.

use azure_core::Method;
use model::{live::TermsFact, resource::PurchasePlan};
use serde_json::Value;

use crate::{client::Client, error::RequestError, versions};

/// Where the terms of a plan are.
pub(crate) fn path(client: &Client, plan: &PurchasePlan) -> String {
    format!(
        "/subscriptions/{}/providers/Microsoft.MarketplaceOrdering/offerTypes/virtualmachine\
         /publishers/{}/offers/{}/plans/{}/agreements/current",
        client.subscription(),
        plan.publisher,
        plan.product,
        plan.name
    )
}

/// Reads what the subscription has with the terms.
pub(super) async fn read(client: &Client, plan: &PurchasePlan) -> Result<TermsFact, RequestError> {
    let (body, accepted) = look(client, plan).await?;
    let link = body
        .pointer("/properties/marketplaceTermsLink")
        .or_else(|| body.pointer("/properties/licenseTextLink"));
    Ok(TermsFact {
        accepted,
        link: link.and_then(Value::as_str).map(ToOwned::to_owned),
    })
}

/// The terms as they are, and whether they are accepted. The newer version of the API has been
/// seen to deny what was accepted: a second look in the older one decides.
pub(crate) async fn look(
    client: &Client,
    plan: &PurchasePlan,
) -> Result<(Value, bool), RequestError> {
    let body = get(client, plan, versions::TERMS).await?;
    if is_accepted(&body) {
        return Ok((body, true));
    }
    // Where the older version is gone, the newer one's word stands.
    let again = get(client, plan, versions::TERMS_AGAIN).await;
    let accepted = again.is_ok_and(|body| is_accepted(&body));
    Ok((body, accepted))
}

async fn get(client: &Client, plan: &PurchasePlan, version: &str) -> Result<Value, RequestError> {
    let query = [("api-version", version)];
    let call = client.call_at(Method::Get, &path(client, plan), &query)?;
    Ok(client.send(&call).await?.body)
}

fn is_accepted(body: &Value) -> bool {
    body.pointer("/properties/accepted")
        .and_then(Value::as_bool)
        == Some(true)
}
