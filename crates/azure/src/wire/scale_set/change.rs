//! Changes of a live scale set.

use model::{plan::BOOTSTRAP, resource::ScaleSet};
use serde_json::{Value, json};

use super::{
    super::{EncodeError, identity, patch::Change},
    encode,
};

const PROFILE: &str = "virtualMachineProfile";

/// The body that writes all of a set over the live one, which keeps its identity and its plan.
pub(in crate::wire) fn over_live(set: &ScaleSet, live: &Value) -> Result<Value, EncodeError> {
    let mut body = encode(set)?;
    if let Some(plan) = live.get("plan").filter(|value| !value.is_null()) {
        body["plan"] = plan.clone();
    }
    if let Some(identity) = identity::over_live(&set.identities, live) {
        body["identity"] = identity;
    }
    Ok(body)
}

/// The writes that change these attributes of the live set: one.
pub(in crate::wire) fn changes(
    set: &ScaleSet,
    attributes: &[String],
    live: &Value,
) -> Result<Vec<Change>, EncodeError> {
    let encoded = encode(set)?;
    let mut body = json!({});
    for attribute in attributes {
        let place = match attribute.as_str() {
            "capacity" => {
                body["sku"] = encoded["sku"].clone();
                continue;
            }
            "identities" => {
                body["identity"] = identity::over_live(&set.identities, live).unwrap_or_default();
                continue;
            }
            "overprovision" => "/overprovision",
            "upgrade_policy" => "/upgradePolicy",
            "image.version" => "/virtualMachineProfile/storageProfile/imageReference",
            "reports_readiness" if !set.reports_readiness => {
                body["properties"][PROFILE]["extensionProfile"] = json!({ "extensions": [] });
                continue;
            }
            "reports_readiness" => "/virtualMachineProfile/extensionProfile",
            // Whoever sends the body adds it.
            BOOTSTRAP => continue,
            "priority.max_price" => "/virtualMachineProfile/billingProfile",
            _ => return Err(EncodeError::Unchangeable(attribute.clone())),
        };
        let value = encoded.pointer(&format!("/properties{place}")).cloned();
        let value = value.ok_or_else(|| EncodeError::Unchangeable(attribute.clone()))?;
        let properties = &mut body["properties"];
        match place.split('/').collect::<Vec<_>>().as_slice() {
            ["", PROFILE, part, member] => properties[PROFILE][*part][*member] = value,
            ["", PROFILE, part] => properties[PROFILE][*part] = value,
            [.., member] => properties[*member] = value,
            [] => {}
        }
    }
    Ok(vec![Change::Patch(body)])
}
