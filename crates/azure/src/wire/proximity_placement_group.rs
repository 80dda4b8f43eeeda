//! Proximity placement groups.

use model::{ids::ArmId, resource::ProximityPlacementGroup};
use serde_json::{Value, json};

use super::{
    DecodeError,
    fields::{id, location},
};

pub(super) fn encode(group: &ProximityPlacementGroup) -> Value {
    let ProximityPlacementGroup { location } = group;
    json!({ "location": location, "properties": { "proximityPlacementGroupType": "Standard" } })
}

pub(super) fn decode(body: &Value) -> Result<ProximityPlacementGroup, DecodeError> {
    Ok(ProximityPlacementGroup {
        location: location(body)?,
    })
}

/// The group that a machine or a scale set is in.
pub(super) fn of(body: &Value) -> Result<Option<ArmId>, DecodeError> {
    id(body, "/properties/proximityPlacementGroup/id")
}
