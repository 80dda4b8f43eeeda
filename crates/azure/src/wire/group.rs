//! Resource groups.

use model::resource::ResourceGroup;
use serde_json::{Value, json};

use super::{DecodeError, fields::location};

pub(super) fn encode(group: &ResourceGroup) -> Value {
    let ResourceGroup { location } = group;
    json!({ "location": location })
}

pub(super) fn decode(body: &Value) -> Result<ResourceGroup, DecodeError> {
    Ok(ResourceGroup {
        location: location(body)?,
    })
}
