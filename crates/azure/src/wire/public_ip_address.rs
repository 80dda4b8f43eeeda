//! Public addresses.

use model::resource::PublicIpAddress;
use serde_json::{Value, json};

use super::{
    DecodeError,
    fields::{location, text},
};

pub(super) fn encode(address: &PublicIpAddress) -> Value {
    let PublicIpAddress {
        location,
        sku,
        allocation,
    } = address;
    json!({
        "location": location,
        "sku": { "name": sku },
        "properties": {
            "publicIPAllocationMethod": allocation,
            "publicIPAddressVersion": "IPv4",
        },
    })
}

pub(super) fn decode(body: &Value) -> Result<PublicIpAddress, DecodeError> {
    Ok(PublicIpAddress {
        location: location(body)?,
        sku: text(body, "/sku/name").unwrap_or("Basic").into(),
        allocation: text(body, "/properties/publicIPAllocationMethod")
            .unwrap_or("Dynamic")
            .into(),
    })
}
