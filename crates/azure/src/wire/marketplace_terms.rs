//! Terms of purchase plans.

use model::resource::{MarketplaceTerms, PurchasePlan};
use serde_json::{Value, json};

use super::{
    DecodeError,
    fields::{member, required},
};

pub(super) fn encode(terms: &MarketplaceTerms) -> Value {
    let MarketplaceTerms { plan, accepted } = terms;
    let PurchasePlan {
        publisher,
        product,
        name,
    } = plan;
    json!({"properties": {
        "publisher": publisher, "product": product, "plan": name, "accepted": accepted,
    }})
}

pub(super) fn decode(body: &Value) -> Result<MarketplaceTerms, DecodeError> {
    let part = |name: &str| required(body, &format!("/properties/{name}"));
    Ok(MarketplaceTerms {
        plan: PurchasePlan {
            publisher: part("publisher")?.into(),
            product: part("product")?.into(),
            name: part("plan")?.into(),
        },
        accepted: member(body, "/properties/accepted").and_then(Value::as_bool) == Some(true),
    })
}
