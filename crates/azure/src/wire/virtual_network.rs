//! Virtual networks, without their subnets: a write carries the live ones beside this.

use model::resource::VirtualNetwork;
use serde_json::{Value, json};

use super::{
    DecodeError,
    fields::{location, texts},
};

pub(super) fn encode(network: &VirtualNetwork) -> Value {
    let VirtualNetwork {
        location,
        address_space,
    } = network;
    json!({
        "location": location,
        "properties": { "addressSpace": { "addressPrefixes": address_space } },
    })
}

pub(super) fn decode(body: &Value) -> Result<VirtualNetwork, DecodeError> {
    Ok(VirtualNetwork {
        location: location(body)?,
        address_space: texts(body, "/properties/addressSpace/addressPrefixes"),
    })
}
