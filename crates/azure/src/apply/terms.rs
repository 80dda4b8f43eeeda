//! Accepting the terms of a purchase plan, unless somebody has.

use azure_core::Method;
use model::resource::{MarketplaceTerms, Properties};
use serde_json::{Value, json};

use super::{
    failure::{self, Stopped},
    step::Performer,
};
use crate::{facts::terms, versions};

impl Performer<'_> {
    /// Accepts terms. Who accepted them since the plan was made does not matter.
    pub(super) async fn accept_terms(&self) -> Result<(), Stopped> {
        let after = self.after()?;
        let Properties::MarketplaceTerms(MarketplaceTerms { plan, accepted: _ }) =
            &after.properties
        else {
            return Err(failure::ours(
                "PlanUnsound",
                "the step has no purchase plan",
            ));
        };
        let client = self.run.client;
        let looked = terms::look(client, plan).await;
        let (body, accepted) = looked.map_err(|error| failure::of_request(&error, false))?;
        if accepted {
            return Ok(());
        }
        let query = [("api-version", versions::TERMS)];
        let call = client
            .call_at(Method::Put, &terms::path(client, plan), &query)
            .map_err(|error| failure::of_request(&error, false))?;
        let sent = self.write(&call.body(accepting(&body))).await;
        sent.map(|_| ()).map_err(|error| error.failure(false))
    }
}

/// The terms that were read, accepted: the signature in them says which text is meant.
fn accepting(body: &Value) -> Value {
    let mut properties = body.get("properties").cloned().unwrap_or_else(|| json!({}));
    if let Some(members) = properties.as_object_mut() {
        members.insert("accepted".to_owned(), Value::Bool(true));
    }
    json!({ "properties": properties })
}
