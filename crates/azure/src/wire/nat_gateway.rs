//! NAT gateways.

use model::resource::NatGateway;
use serde_json::{Value, json};

use super::{
    DecodeError,
    fields::{items, location, number, required_id},
};

/// What Azure takes where nothing is said.
const DEFAULT_IDLE_MINUTES: u32 = 4;

pub(super) fn encode(gateway: &NatGateway) -> Value {
    let NatGateway {
        location,
        public_ips,
        idle_timeout_minutes,
    } = gateway;
    let addresses: Vec<Value> = public_ips.iter().map(|id| json!({ "id": id })).collect();
    json!({
        "location": location,
        "sku": { "name": "Standard" },
        "properties": {
            "idleTimeoutInMinutes": idle_timeout_minutes,
            "publicIpAddresses": addresses,
        },
    })
}

pub(super) fn decode(body: &Value) -> Result<NatGateway, DecodeError> {
    let public_ips = items(body, "/properties/publicIpAddresses")
        .map(|address| required_id(address, "/id"))
        .collect::<Result<_, _>>()?;
    Ok(NatGateway {
        location: location(body)?,
        public_ips,
        idle_timeout_minutes: number(body, "/properties/idleTimeoutInMinutes")
            .unwrap_or(DEFAULT_IDLE_MINUTES),
    })
}
