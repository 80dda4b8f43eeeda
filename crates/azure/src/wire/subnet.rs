//! Subnets.

use model::{ids::ArmId, resource::Subnet};
use serde_json::{Value, json};

use super::{
    DecodeError,
    fields::{id, items, required, text, unsupported},
};

const PREFIX: &str = "/properties/addressPrefix";
const PREFIXES: &str = "/properties/addressPrefixes";

pub(super) fn encode(subnet: &Subnet) -> Value {
    let Subnet {
        address_prefix,
        default_outbound_access,
        network_security_group,
        nat_gateway,
    } = subnet;
    let mut properties = json!({
        "addressPrefix": address_prefix,
        "defaultOutboundAccess": default_outbound_access,
    });
    let mut refer = |member: &str, id: Option<&ArmId>| {
        if let Some(id) = id {
            properties[member] = json!({ "id": id });
        }
    };
    refer("networkSecurityGroup", network_security_group.as_ref());
    refer("natGateway", nat_gateway.as_ref());
    json!({ "properties": properties })
}

pub(super) fn decode(body: &Value) -> Result<Subnet, DecodeError> {
    let address_prefix = match (text(body, PREFIX), items(body, PREFIXES).count()) {
        (Some(prefix), _) => prefix,
        (None, 1) => required(body, "/properties/addressPrefixes/0")?,
        (None, 0) => required(body, PREFIX)?,
        (None, _) => {
            let found = body.pointer(PREFIXES).cloned().unwrap_or_default();
            return Err(unsupported(PREFIXES, &found));
        }
    };
    Ok(Subnet {
        address_prefix: address_prefix.to_owned(),
        // Azure leaves it out where it has not been turned off.
        default_outbound_access: body
            .pointer("/properties/defaultOutboundAccess")
            .and_then(Value::as_bool)
            .unwrap_or(true),
        network_security_group: id(body, "/properties/networkSecurityGroup/id")?,
        nat_gateway: id(body, "/properties/natGateway/id")?,
    })
}
