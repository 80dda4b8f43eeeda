//! Bastion hosts.

use model::resource::BastionHost;
use serde_json::{Value, json};

use super::{
    DecodeError,
    fields::{location, member, required_id, text},
};

const CONFIGURATION: &str = "/properties/ipConfigurations/0/properties";

pub(super) fn encode(host: &BastionHost) -> Value {
    let BastionHost {
        location,
        sku,
        subnet,
        public_ip,
        tunneling,
    } = host;
    let configuration = json!({
        "name": "primary",
        "properties": {
            "subnet": { "id": subnet },
            "publicIPAddress": { "id": public_ip },
        },
    });
    json!({
        "location": location,
        "sku": { "name": sku },
        "properties": {
            "enableTunneling": tunneling,
            "ipConfigurations": [configuration],
        },
    })
}

pub(super) fn decode(body: &Value) -> Result<BastionHost, DecodeError> {
    Ok(BastionHost {
        location: location(body)?,
        // What Azure makes where nothing is said.
        sku: text(body, "/sku/name").unwrap_or("Basic").into(),
        subnet: required_id(body, &format!("{CONFIGURATION}/subnet/id"))?,
        public_ip: required_id(body, &format!("{CONFIGURATION}/publicIPAddress/id"))?,
        tunneling: member(body, "/properties/enableTunneling")
            .and_then(Value::as_bool)
            .unwrap_or(false),
    })
}
