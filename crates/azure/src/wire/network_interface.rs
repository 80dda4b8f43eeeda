//! Interfaces that a VM left behind.

use model::resource::LooseInterface;
use serde_json::{Value, json};

use super::{DecodeError, fields::location};

pub(super) fn encode(interface: &LooseInterface) -> Value {
    let LooseInterface { location } = interface;
    json!({ "location": location })
}

pub(super) fn decode(body: &Value) -> Result<LooseInterface, DecodeError> {
    Ok(LooseInterface {
        location: location(body)?,
    })
}
